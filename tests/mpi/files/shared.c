/*
 * shared.c - the shared file pointer, ordered access, and split collectives.
 *
 * zmpi-test: RANKS 1,2,3,4 ENV ZMPI_ERROR_BOUND=lossless ZMPI_FILES=*
 */
#include "check.h"

enum { N = 300, TIMES = 20 };

static const char path[] = "shared.z";

static void fill(int *p, int n, int seed)
{
    for (int i = 0; i < n; i++)
        p[i] = seed * 1000 + i;
}

static MPI_Offset position(MPI_File file)
{
    MPI_Offset at;
    OK(MPI_File_get_position_shared(file, &at));
    return at;
}

/* Every rank writes records at the shared pointer: all of them are there, each whole, whatever
 * their order. */
static void independent(MPI_File file, int rank, int ranks)
{
    int record[N];
    MPI_Request request;
    check_say("independent");
    for (int k = 0; k < TIMES; k++) {
        fill(record, N, rank * TIMES + k);
        if (k % 2) {
            OK(MPI_File_write_shared(file, record, N, MPI_INT, MPI_STATUS_IGNORE));
        } else {
            OK(MPI_File_iwrite_shared(file, record, N, MPI_INT, &request));
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQUAL(position(file), ranks * TIMES * N);
    check_sync(file, MPI_COMM_WORLD);
    char *seen = calloc((size_t)(ranks * TIMES), 1);
    for (int k = 0; k < ranks * TIMES; k++) {
        int should[N];
        OK(MPI_File_read_at(file, (MPI_Offset)k * N, record, N, MPI_INT, MPI_STATUS_IGNORE));
        int seed = record[0] / 1000;
        CHECK(seed >= 0 && seed < ranks * TIMES && !seen[seed]);
        seen[seed] = 1;
        fill(should, N, seed);
        CHECK_BYTES(record, should, sizeof record);
    }
    free(seen);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* All records are read once by somebody, and then there is no more. */
static void reading(MPI_File file, int rank, int ranks)
{
    int record[N], got, mine = 0, all = 0;
    MPI_Status status;
    (void)rank;
    check_say("reading");
    OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    for (;;) {
        if (mine % 2) {
            OK(MPI_File_read_shared(file, record, N, MPI_INT, &status));
        } else { /* which is done when it can be cancelled */
            MPI_Request request;
            int cancelled;
            OK(MPI_File_iread_shared(file, record, N, MPI_INT, &request));
            OK(MPI_Cancel(&request));
            OK(MPI_Wait(&request, &status));
            OK(MPI_Test_cancelled(&status, &cancelled));
            CHECK(!cancelled);
        }
        MPI_Get_count(&status, MPI_INT, &got);
        if (got == 0)
            break;
        CHECK_EQUAL(got, N);
        mine++;
    }
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQUAL(all, ranks * TIMES);
    OK(MPI_File_seek_shared(file, -N, MPI_SEEK_END));
    CHECK_EQUAL(position(file), (ranks * TIMES - 1) * N);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_seek_shared(file, -N, MPI_SEEK_CUR));
    CHECK_EQUAL(position(file), (ranks * TIMES - 2) * N);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank r gives r + 1 elements each time; they lie in rank order. */
static void ordered(MPI_File file, int rank, int ranks)
{
    int out[64], in[64], round = ranks * (ranks + 1) / 2, mine = rank * (rank + 1) / 2, got;
    MPI_Status status;
    check_say("ordered");
    OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    for (int k = 0; k < 3; k++) {
        fill(out, rank + 1, rank * 10 + k);
        if (k == 1) {
            OK(MPI_File_write_ordered_begin(file, out, rank + 1, MPI_INT));
            OK(MPI_File_write_ordered_end(file, out, &status));
        } else {
            OK(MPI_File_write_ordered(file, out, rank + 1, MPI_INT, &status));
        }
        MPI_Get_count(&status, MPI_INT, &got);
        CHECK_EQUAL(got, rank + 1);
    }
    CHECK_EQUAL(position(file), 3 * round);
    check_sync(file, MPI_COMM_WORLD);
    for (int k = 0; k < 3; k++) {
        OK(MPI_File_read_at(file, k * round + mine, in, rank + 1, MPI_INT, MPI_STATUS_IGNORE));
        fill(out, rank + 1, rank * 10 + k);
        CHECK_BYTES(in, out, (size_t)(rank + 1) * sizeof *in);
    }
    OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    OK(MPI_File_read_ordered(file, in, rank + 1, MPI_INT, MPI_STATUS_IGNORE));
    fill(out, rank + 1, rank * 10);
    CHECK_BYTES(in, out, (size_t)(rank + 1) * sizeof *in);
    OK(MPI_File_read_ordered_begin(file, in, rank + 1, MPI_INT));
    OK(MPI_File_read_ordered_end(file, in, MPI_STATUS_IGNORE));
    fill(out, rank + 1, rank * 10 + 1);
    CHECK_BYTES(in, out, (size_t)(rank + 1) * sizeof *in);
}

/* Rank 0 is at the next set_view, which resets the pointer, before the others have used it. */
static void late(MPI_File file, int rank, int ranks)
{
    const int from = 1000;
    int mine[N], is[N], should[N], found = 0;
    check_say("late");
    OK(MPI_File_seek_shared(file, from, MPI_SEEK_SET));
    if (rank > 0)
        usleep(50000);
    fill(mine, N, rank + 70);
    OK(MPI_File_write_shared(file, mine, N, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    CHECK_EQUAL(position(file), 0);
    check_sync(file, MPI_COMM_WORLD);
    for (int k = 0; k < ranks; k++) {
        OK(MPI_File_read_at(file, from + k * N, is, N, MPI_INT, MPI_STATUS_IGNORE));
        for (int r = 0; r < ranks; r++) {
            fill(should, N, r + 70);
            found += memcmp(is, should, sizeof is) == 0;
        }
    }
    CHECK_EQUAL(found, ranks);
}

/* A split call does what the whole one does, has its status at the end, and excludes another. */
static void split(MPI_File file, int rank, int ranks)
{
    int out[N], in[N], got;
    MPI_Status status;
    check_say("split");
    OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    CHECK_EQUAL(position(file), 0);
    fill(out, N, rank + 40);
    OK(MPI_File_write_at_all_begin(file, rank * N, out, N, MPI_INT));
    CHECK(MPI_File_read_all_begin(file, in, N, MPI_INT) != MPI_SUCCESS);
    CHECK(MPI_File_write_all_end(file, out, &status) != MPI_SUCCESS);
    OK(MPI_File_write_at_all_end(file, out, &status));
    MPI_Get_count(&status, MPI_INT, &got);
    CHECK_EQUAL(got, N);
    check_sync(file, MPI_COMM_WORLD);
    int next = (rank + 1) % ranks;
    OK(MPI_File_read_at_all_begin(file, next * N, in, N, MPI_INT));
    OK(MPI_File_read_at_all_end(file, in, MPI_STATUS_IGNORE));
    fill(out, N, next + 40);
    CHECK_BYTES(in, out, sizeof in);
    OK(MPI_File_seek(file, rank * N, MPI_SEEK_SET));
    OK(MPI_File_write_all_begin(file, out, N, MPI_INT));
    OK(MPI_File_write_all_end(file, out, MPI_STATUS_IGNORE));
    OK(MPI_File_seek(file, rank * N, MPI_SEEK_SET));
    OK(MPI_File_read_all_begin(file, in, N, MPI_INT));
    OK(MPI_File_read_all_end(file, in, MPI_STATUS_IGNORE));
    CHECK_BYTES(in, out, sizeof in);
}

/* A file of records in sequence, and appending where it ended. */
static void sequential(int rank, int ranks)
{
    int record[N];
    MPI_File file;
    check_say("sequential");
    check_remove(path, MPI_COMM_WORLD);
    for (int times = 1; times <= 2; times++) {
        OK(MPI_File_open(MPI_COMM_WORLD, path,
                         MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_SEQUENTIAL | MPI_MODE_APPEND,
                         MPI_INFO_NULL, &file));
        fill(record, N, rank);
        OK(MPI_File_write_shared(file, record, N, MPI_INT, MPI_STATUS_IGNORE));
        MPI_Barrier(MPI_COMM_WORLD);
        /* A view from where the file stands: nothing more is written. */
        OK(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native",
                             MPI_INFO_NULL));
        MPI_Offset disp;
        MPI_Datatype etype, filetype;
        char representation[MPI_MAX_DATAREP_STRING];
        OK(MPI_File_get_view(file, &disp, &etype, &filetype, representation));
        CHECK_EQUAL(disp, times * ranks * (long long)sizeof record);
        OK(MPI_File_close(&file));
        OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
        MPI_Offset size;
        OK(MPI_File_get_size(file, &size));
        CHECK_EQUAL(size, times * ranks * (long long)sizeof record);
        OK(MPI_File_close(&file));
    }
}

/* What MPI forbids has its class, and moves nothing. */
static void wrong(MPI_File file)
{
    int one = 1;
    check_say("wrong arguments");
    const MPI_Offset before = position(file);
    CHECK(MPI_File_seek_shared(file, 0, 12345) != MPI_SUCCESS);
    CHECK(MPI_File_seek_shared(file, -1, MPI_SEEK_SET) != MPI_SUCCESS);
    CHECK(MPI_File_seek_shared(file, (MPI_Offset)1 << 62, MPI_SEEK_CUR) != MPI_SUCCESS);
    CHECK(MPI_File_write_shared(file, &one, -1, MPI_INT, MPI_STATUS_IGNORE) != MPI_SUCCESS);
    CHECK_EQUAL(position(file), before);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_File file;
    MPI_Init(&argc, &argv);
    int rank = check_rank(MPI_COMM_WORLD), ranks = check_ranks(MPI_COMM_WORLD);
    check_remove(path, MPI_COMM_WORLD);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    independent(file, rank, ranks);
    reading(file, rank, ranks);
    ordered(file, rank, ranks);
    late(file, rank, ranks);
    split(file, rank, ranks);
    wrong(file);
    OK(MPI_File_close(&file));
    sequential(rank, ranks);
    check_remove(path, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
