/*
 * small_reads.c - small reads that follow one another, which are served from what was decoded for
 * those before: few of them read the file, and none gets what was there before a write, a sync, a
 * change of the size or an access in atomic mode. What cannot be read ahead of them is no error.
 *
 * zmpi-test: RANKS 1,2,3 ENV ZMPI_ERROR_BOUND=lossless ZMPI_STAGING=1M
 */
#include "../mpi/check.h"

#include <errno.h>

#include "shim.h"

enum { PIECE = 256, PIECES = 2048, N = PIECE * PIECES, BYTES = PIECE * 4 };

static const char path[] = "small.z";
static int rank, ranks;
static int model[N]; /* what the file holds; the same on all ranks */

static void change(int from, int n, int version)
{
    for (int i = from; i < from + n; i++)
        model[i] = (int)(check_mix((uint64_t)version, (uint64_t)i) >> 44) + i;
}

static MPI_File open_on(MPI_Comm comm, int mode)
{
    MPI_File file;
    OK(MPI_File_open(comm, path, mode, MPI_INFO_NULL, &file));
    return file;
}

/* All of it, of each rank a part, as a record of each. */
static void write_all_of(MPI_File file, int version)
{
    int first = N / ranks * rank, n = rank == ranks - 1 ? N - first : N / ranks;
    change(0, N, version);
    OK(MPI_File_write_at_all(file, first * 4, model + first, n, MPI_INT, MPI_STATUS_IGNORE));
}

static MPI_File begin(int version)
{
    check_remove(path, MPI_COMM_WORLD);
    MPI_File file = open_on(MPI_COMM_WORLD, MPI_MODE_RDWR | MPI_MODE_CREATE);
    write_all_of(file, version);
    return file;
}

static void end(MPI_File file)
{
    OK(MPI_File_close(&file));
    CHECK(check_is_container(path));
}

static void expect(MPI_File file, int piece)
{
    int is[PIECE];
    OK(MPI_File_read_at(file, (MPI_Offset)piece * BYTES, is, PIECE, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_BYTES(is, model + (size_t)piece * PIECE, BYTES);
}

/* What may be known already, and enough of them that the last ones are not read from the file. */
static void warm(MPI_File file, int piece)
{
    expect(file, piece + 10);
    for (int k = 0; k < 20; k++)
        expect(file, piece + k);
}

/* ---- few reads of the file ---- */

enum way { FORWARD, BACKWARD, STRIDED, POINTER, SHARED, VIEW, WAYS };

/* Whose turn it is nobody knows. */
static void check_is_a_piece(const int *is)
{
    int piece = 0;
    while (piece < PIECES && memcmp(model + (size_t)piece * PIECE, is, BYTES) != 0)
        piece++;
    CHECK(piece < PIECES);
}

static void read_one(MPI_File file, enum way way, int k)
{
    int is[PIECE], piece = way == BACKWARD ? PIECES - 1 - k : way == STRIDED ? k * 7 % PIECES : k;
    MPI_Status status;
    if (way == POINTER) {
        OK(MPI_File_read(file, is, PIECE, MPI_INT, &status));
        CHECK_BYTES(is, model + (size_t)piece * PIECE, BYTES);
    } else if (way == SHARED) {
        OK(MPI_File_read_shared(file, is, PIECE, MPI_INT, &status));
        check_is_a_piece(is);
    } else if (way == VIEW) { /* every second int */
        OK(MPI_File_read_at(file, (MPI_Offset)k * PIECE / 2, is, PIECE / 2, MPI_INT, &status));
        for (int i = 0; i < PIECE / 2; i++)
            CHECK_EQUAL(is[i], model[k * PIECE + 2 * i]);
    } else {
        expect(file, piece);
    }
}

static void sequence(enum way way)
{
    static const char *const name[] = {"forward", "backward",       "strided",
                                       "pointer", "shared pointer", "view with holes"};
    static const struct fault count = {.file = path, .calls = FAULT_READ, .act = FAULT_NONE};
    MPI_Datatype second;
    MPI_File file = begin(1);
    check_say("%s", name[way]);
    end(file);
    file = open_on(MPI_COMM_WORLD, MPI_MODE_RDONLY);
    MPI_Type_create_resized(MPI_INT, 0, 8, &second);
    MPI_Type_commit(&second);
    if (way == VIEW)
        OK(MPI_File_set_view(file, 0, MPI_INT, second, "native", MPI_INFO_NULL));
    fault_set(&count);
    int n = way == SHARED ? PIECES / ranks : PIECES;
    for (int k = 0; k < n; k++)
        read_one(file, way, k);
    long reads = fault_count();
    fault_set(NULL);
    /* A rank's share, too, lies all over the file. */
    CHECK_SAY(reads > 0 && reads < PIECES / 16, "%ld reads of the file for %d small ones", reads,
              n);
    MPI_Type_free(&second);
    end(file);
}

/* ---- nothing that is not there any more ---- */

/* `count` pieces from `piece` on by one rank, large or small, are seen by it at once. */
static void own_writes(void)
{
    check_say("own writes");
    MPI_File file = begin(2);
    for (int count = 1, version = 3; count <= 1024; count *= 32, version++) {
        warm(file, 100);
        warm(file, 1500);
        if (rank == 0) {
            change(110 * PIECE, count * PIECE, version);
            OK(MPI_File_write_at(file, 110 * BYTES, model + 110 * PIECE, count * PIECE, MPI_INT,
                                 MPI_STATUS_IGNORE));
            for (int k = 105; k < 125; k++)
                expect(file, k);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        OK(MPI_File_sync(file));
        change(110 * PIECE, count * PIECE, version);
        warm(file, 100);
        warm(file, 1500);
    }
    end(file);
}

static void collective_writes(void)
{
    check_say("collective writes");
    MPI_File file = begin(6);
    for (int version = 7; version < 10; version++) {
        int writer = version % ranks, n = rank == writer ? 5 * PIECE : 0;
        warm(file, 300);
        change(318 * PIECE, 5 * PIECE, version);
        OK(MPI_File_write_at_all(file, 318 * BYTES, model + 318 * PIECE, n, MPI_INT,
                                 MPI_STATUS_IGNORE));
        for (int k = 315; k < 330; k++)
            expect(file, k);
    }
    end(file);
}

/* Zeros where the file was shorter for a while; other data behind a new beginning, as many records
 * of the same size. */
static void sizes(void)
{
    check_say("sizes");
    MPI_File file = begin(10);
    warm(file, 1000);
    OK(MPI_File_set_size(file, 1010 * BYTES));
    OK(MPI_File_set_size(file, N * 4));
    memset(model + 1010 * PIECE, 0, (N - 1010 * PIECE) * sizeof *model);
    warm(file, 1000);
    for (int version = 11; version < 14; version++) {
        OK(MPI_File_set_size(file, 0));
        write_all_of(file, version);
        warm(file, 1000);
    }
    end(file);
}

/* A rank that has the file open for itself sees at its sync what the others wrote, in the log or in
 * a new one. */
static void other_communicators(int mode)
{
    MPI_Comm others;
    check_say("other communicators, mode %d", mode);
    MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &others);
    if (rank == 0)
        unlink(path);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File writer = MPI_FILE_NULL, reader = MPI_FILE_NULL;
    if (rank == 0)
        writer = open_on(MPI_COMM_SELF, MPI_MODE_RDWR | MPI_MODE_CREATE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank > 0)
        reader = open_on(others, mode);
    for (int version = 20; version < 26; version++) {
        change(0, N, version);
        if (rank == 0) {
            if (version % 2)
                OK(MPI_File_set_size(writer, 0));
            OK(MPI_File_write_at(writer, 0, model, N, MPI_INT, MPI_STATUS_IGNORE));
            OK(MPI_File_sync(writer));
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank > 0) {
            MPI_File_sync(reader); /* MPI libraries refuse it to readers, after we have looked */
            warm(reader, 500);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0)
        OK(MPI_File_close(&writer));
    else
        OK(MPI_File_close(&reader));
    MPI_Comm_free(&others);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void atomic_mode(void)
{
    check_say("atomic mode");
    MPI_File file = begin(30);
    OK(MPI_File_set_atomicity(file, 1));
    for (int version = 31; version < 37; version++) {
        warm(file, 700);
        MPI_Barrier(MPI_COMM_WORLD);
        change(719 * PIECE, 3 * PIECE, version);
        if (rank == version % ranks)
            OK(MPI_File_write_at(file, 719 * BYTES, model + 719 * PIECE, 3 * PIECE, MPI_INT,
                                 MPI_STATUS_IGNORE));
        MPI_Barrier(MPI_COMM_WORLD);
        for (int k = 715; k < 730; k++)
            expect(file, k);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    end(file);
}

/* Lossy data that are held back when they are read. */
static void lossy(void)
{
    float data[PIECE], is[PIECE];
    MPI_Info info;
    MPI_File file;
    check_say("lossy");
    check_remove(path, MPI_COMM_WORLD);
    MPI_Info_create(&info);
    MPI_Info_set(info, "zmpi_error_bound", "abs=0.25");
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, info, &file));
    const MPI_Offset mine = (MPI_Offset)rank * 64 * BYTES;
    for (int round = 0; round < 3; round++)
        for (int k = 0; k < 64; k++) {
            for (int i = 0; i < PIECE; i++)
                data[i] = (float)(1000 * round + k);
            OK(MPI_File_write_at(file, mine + k * BYTES, data, PIECE, MPI_FLOAT,
                                 MPI_STATUS_IGNORE));
            for (int back = k > 3 ? k - 3 : 0; back <= k; back++) {
                OK(MPI_File_read_at(file, mine + back * BYTES, is, PIECE, MPI_FLOAT,
                                    MPI_STATUS_IGNORE));
                CHECK(is[0] > (float)(1000 * round + back) - 0.5F);
                CHECK(is[PIECE - 1] < (float)(1000 * round + back) + 0.5F);
            }
        }
    MPI_Info_free(&info);
    end(file);
}

/* ---- what lies ahead cannot be read ---- */

static int raised;

static void count_errors(MPI_File *file, int *error, ...)
{
    (void)file;
    (void)error;
    raised++;
}

/* One read of the file fails: reads that get what they ask for raise nothing. Returns how many
 * raised an error. */
static int read_past_failure(MPI_File file, long at)
{
    const struct fault fail = {
        .file = path, .calls = FAULT_READ, .act = FAULT_ERROR, .error = EIO, .at = at, .times = 1};
    int is[PIECE], failed = 0;
    raised = 0;
    fault_set(&fail);
    for (int k = 0; k < 8; k++) {
        int rc = MPI_File_read_at(file, (MPI_Offset)(1500 + k) * BYTES, is, PIECE, MPI_INT,
                                  MPI_STATUS_IGNORE);
        failed += rc != MPI_SUCCESS;
        if (rc == MPI_SUCCESS)
            CHECK_BYTES(is, model + (size_t)(1500 + k) * PIECE, BYTES);
    }
    fault_set(NULL);
    CHECK(failed > 0 || raised == 0);
    return failed;
}

static void unreadable_ahead(void)
{
    MPI_Errhandler handler, still;
    int failed = 0, times = 0;
    end(begin(40));
    OK(MPI_File_create_errhandler(count_errors, &handler));
    for (long at = 1; at <= 12; at++, times++) {
        check_say("unreadable ahead, call %ld", at);
        MPI_File file = open_on(MPI_COMM_WORLD, MPI_MODE_RDONLY);
        OK(MPI_File_set_errhandler(file, handler));
        failed += read_past_failure(file, at) > 0;
        OK(MPI_File_get_errhandler(file, &still));
        CHECK(still == handler);
        OK(MPI_Errhandler_free(&still));
        end(file);
    }
    CHECK(failed > 0 && failed < times);
    OK(MPI_Errhandler_free(&handler));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    for (int way = 0; way < WAYS; way++)
        sequence((enum way)way);
    own_writes();
    collective_writes();
    sizes();
    other_communicators(MPI_MODE_RDONLY);
    other_communicators(MPI_MODE_RDWR);
    atomic_mode();
    lossy();
    unreadable_ahead();
    check_remove(path, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
