/*
 * sizes.c - the size of a file: appending, set_size in both directions, preallocation, holes, the
 * end of the file, empty files.
 *
 * zmpi-test: RANKS 1,2,3,4 ENV ZMPI_ERROR_BOUND=lossless ZMPI_LOG=quiet
 */
#include "check.h"

enum { N = 500 };

static const char path[] = "sizes.z";

static MPI_File open_file(int mode)
{
    MPI_File file;
    OK(MPI_File_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &file));
    return file;
}

static long long size_of(MPI_File file)
{
    MPI_Offset size;
    OK(MPI_File_get_size(file, &size));
    return size;
}

/* The whole file is exactly these ints. */
static void check_content(const int *should, int n)
{
    MPI_File file = open_file(MPI_MODE_RDONLY);
    int *is = check_alloc(((size_t)n + 10) * sizeof *is), got = 0;
    MPI_Status status;
    CHECK_EQUAL(size_of(file), n * (long long)sizeof *is);
    if (n > 0) { /* an empty file is a plain one, and what ROMIO says of its end is not ours */
        OK(MPI_File_read_all(file, is, n + 10, MPI_INT, &status));
        MPI_Get_count(&status, MPI_INT, &got);
        CHECK_EQUAL(got, n);
    }
    CHECK_BYTES(is, should, (size_t)n * sizeof *is);
    OK(MPI_File_close(&file));
    free(is);
}

/* Opened again and again, each time a rank appends. */
static void append(int rank, int ranks)
{
    enum { TIMES = 8, PIECE = 100 };
    int all[TIMES * PIECE];
    check_remove(path, MPI_COMM_WORLD);
    for (int k = 0; k < TIMES; k++) {
        check_say("append %d", k);
        for (int i = 0; i < PIECE; i++)
            all[k * PIECE + i] = k * 1000 + i;
        MPI_File file = open_file(MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_APPEND);
        MPI_Offset at;
        OK(MPI_File_get_position(file, &at));
        CHECK_EQUAL(at, k * PIECE * (long long)sizeof *all);
        if (rank == k % ranks)
            OK(MPI_File_write(file, all + k * PIECE, PIECE, MPI_INT, MPI_STATUS_IGNORE));
        OK(MPI_File_close(&file));
        check_content(all, (k + 1) * PIECE);
    }
}

/* The same, all ranks together, at offsets. */
static void reopen_and_extend(int rank, int ranks)
{
    enum { TIMES = 5, PIECE = 50 };
    int *all = check_alloc((size_t)(TIMES * PIECE * ranks) * sizeof *all);
    check_remove(path, MPI_COMM_WORLD);
    for (int k = 0; k < TIMES; k++) {
        check_say("extension %d", k);
        MPI_File file = open_file(MPI_MODE_RDWR | MPI_MODE_CREATE);
        int first = k * PIECE * ranks;
        for (int i = 0; i < PIECE * ranks; i++)
            all[first + i] = first + i;
        first += rank * PIECE;
        OK(MPI_File_write_at_all(file, first * (MPI_Offset)sizeof *all, all + first, PIECE, MPI_INT,
                                 MPI_STATUS_IGNORE));
        OK(MPI_File_close(&file));
        check_content(all, (k + 1) * PIECE * ranks);
    }
    free(all);
}

static void shrink(int rank, int ranks)
{
    int all[N], minus[N];
    for (int i = 0; i < N; i++) {
        all[i] = i + 1;
        minus[i] = -1 - i;
    }
    check_remove(path, MPI_COMM_WORLD);
    MPI_File file = open_file(MPI_MODE_RDWR | MPI_MODE_CREATE);
    if (rank == 0)
        OK(MPI_File_write_at(file, 0, all, N, MPI_INT, MPI_STATUS_IGNORE));

    check_say("shrunk, then grown: what was cut off is gone");
    OK(MPI_File_set_size(file, 300 * 4));
    CHECK_EQUAL(size_of(file), 300 * 4);
    OK(MPI_File_set_size(file, N * 4));
    CHECK_EQUAL(size_of(file), N * 4);
    memset(all + 300, 0, (N - 300) * sizeof *all);
    OK(MPI_File_close(&file));
    check_content(all, N);

    check_say("written after shrinking, in the same epoch or later");
    file = open_file(MPI_MODE_RDWR);
    if (rank == ranks - 1)
        OK(MPI_File_write_at(file, 200 * 4, minus, 100, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_set_size(file, 250 * 4));
    if (rank == 0)
        OK(MPI_File_write_at(file, 270 * 4, minus, 10, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    memcpy(all + 200, minus, 50 * sizeof *all);
    memset(all + 250, 0, 20 * sizeof *all);
    memcpy(all + 270, minus, 10 * sizeof *all);
    check_content(all, 280);

    check_say("cut inside an element");
    file = open_file(MPI_MODE_RDWR);
    OK(MPI_File_set_size(file, 10 * 4 + 1));
    OK(MPI_File_set_size(file, 12 * 4));
    OK(MPI_File_close(&file));
    memset((unsigned char *)all + 41, 0, 7);
    check_content(all, 12);
}

/* What is there before does not matter. */
static void make_empty(int rank, int ranks)
{
    const int all[4 * N] = {0}, mine = -1 - rank;
    int *ones = check_alloc((size_t)ranks * sizeof *ones);
    for (int i = 0; i < ranks; i++)
        ones[i] = -1 - i;

    check_say("emptied while open, then used");
    MPI_File file = open_file(MPI_MODE_RDWR);
    OK(MPI_File_set_size(file, 0));
    CHECK_EQUAL(size_of(file), 0);
    int back, got;
    MPI_Status status;
    OK(MPI_File_read_at(file, 0, &back, 1, MPI_INT, &status));
    MPI_Get_count(&status, MPI_INT, &got);
    CHECK_EQUAL(got, 0);
    OK(MPI_File_write_at_all(file, rank * (MPI_Offset)4, &mine, 1, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    check_content(ones, ranks);

    check_say("emptied");
    file = open_file(MPI_MODE_RDWR);
    OK(MPI_File_set_size(file, 0));
    OK(MPI_File_close(&file));
    check_content(all, 0);

    check_say("a size alone");
    file = open_file(MPI_MODE_RDWR);
    OK(MPI_File_set_size(file, 4 * N * 4));
    OK(MPI_File_close(&file));
    check_content(all, 4 * N);
    free(ones);
}

static void preallocate(int rank)
{
    int all[N] = {0};
    check_say("preallocate");
    check_remove(path, MPI_COMM_WORLD);
    MPI_File file = open_file(MPI_MODE_RDWR | MPI_MODE_CREATE);
    OK(MPI_File_preallocate(file, N * 4));
    CHECK_EQUAL(size_of(file), N * 4);
    all[7] = 77;
    if (rank == 0)
        OK(MPI_File_write_at(file, 7 * 4, all + 7, 1, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_preallocate(file, 4)); /* never makes a file smaller, never touches data */
    OK(MPI_File_preallocate(file, N * 4));
    OK(MPI_File_close(&file));
    check_content(all, N);
}

/* Bytes never written are zeros; far offsets cost no space. */
static void holes(int rank, int ranks)
{
    const MPI_Offset far = (MPI_Offset)1 << 40;
    double values[4] = {1, 2, 3, 4}, back[6];
    int got;
    MPI_Status status;
    check_say("holes");
    check_remove(path, MPI_COMM_WORLD);
    MPI_File file = open_file(MPI_MODE_RDWR | MPI_MODE_CREATE);
    OK(MPI_File_write_at(file, far * (rank + 1), values, 4, MPI_DOUBLE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    CHECK(check_disk_size(path) < 200000 + (long long)ranks * 40000);
    file = open_file(MPI_MODE_RDONLY);
    CHECK_EQUAL(size_of(file), far * ranks + 32);
    for (int r = 0; r < ranks; r++) {
        OK(MPI_File_read_at_all(file, far * (r + 1) - 8, back, 6, MPI_DOUBLE, &status));
        MPI_Get_count(&status, MPI_DOUBLE, &got);
        CHECK_EQUAL(got, r == ranks - 1 ? 5 : 6);
        CHECK(back[0] == 0 && (r == ranks - 1 || back[5] == 0));
        CHECK_BYTES(back + 1, values, sizeof values);
    }
    OK(MPI_File_close(&file));
}

/* Reads that begin before, at and behind the end. */
static void end_of_file(int rank, int ranks)
{
    char back[20];
    MPI_Status status;
    int got;
    check_say("end of file");
    check_remove(path, MPI_COMM_WORLD);
    MPI_File file = open_file(MPI_MODE_RDWR | MPI_MODE_CREATE);
    OK(MPI_File_write_at_all(file, 10 * rank, "0123456789", 10, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Offset end = 10 * ranks, at;
    for (int past = -10; past < 10; past += 3) {
        memset(back, '?', sizeof back);
        OK(MPI_File_read_at_all(file, end + past, back, 20, MPI_BYTE, &status));
        MPI_Get_count(&status, MPI_BYTE, &got);
        CHECK_EQUAL(got, past < 0 ? -past : 0);
        for (int i = 0; i < 20; i++)
            CHECK_EQUAL(back[i], i < got ? '0' + i + 10 + past : '?');
    }
    OK(MPI_File_seek(file, -4, MPI_SEEK_END));
    OK(MPI_File_read(file, back, 20, MPI_BYTE, &status));
    OK(MPI_File_get_position(file, &at));
    CHECK_EQUAL(at, end);
    CHECK_CLASS(MPI_File_seek(file, -end - 1, MPI_SEEK_END), MPI_ERR_ARG);
    OK(MPI_File_close(&file));
}

/* Nothing written: nothing stored. A rank without data, a call without data. */
static void empty(int rank, int ranks)
{
    int value = 5, all[1] = {5};
    MPI_Status status;
    int got = -1;
    check_say("empty file");
    check_remove(path, MPI_COMM_WORLD);
    MPI_File file = open_file(MPI_MODE_RDWR | MPI_MODE_CREATE);
    OK(MPI_File_write_at_all(file, 100, &value, 0, MPI_INT, &status));
    MPI_Get_count(&status, MPI_INT, &got);
    CHECK_EQUAL(got, 0);
    OK(MPI_File_write_at(file, 100, NULL, 0, MPI_INT, &status));
    OK(MPI_File_sync(file));
    CHECK_EQUAL(size_of(file), 0);
    OK(MPI_File_close(&file));
    CHECK_EQUAL(check_disk_size(path), 0);
    MPI_Barrier(MPI_COMM_WORLD);

    check_say("one rank writes, alone and together with others that have nothing");
    for (int collective = 0; collective < 2; collective++) {
        file = open_file(MPI_MODE_RDWR);
        int n = rank == ranks - 1;
        OK(collective ? MPI_File_write_at_all(file, 0, &value, n, MPI_INT, &status)
                      : MPI_File_write_at(file, 0, &value, n, MPI_INT, &status));
        MPI_Get_count(&status, MPI_INT, &got);
        CHECK_EQUAL(got, n);
        OK(MPI_File_close(&file));
        check_content(all, 1);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank = check_rank(MPI_COMM_WORLD), ranks = check_ranks(MPI_COMM_WORLD);
    empty(rank, ranks);
    append(rank, ranks);
    CHECK(check_is_container(path));
    reopen_and_extend(rank, ranks);
    shrink(rank, ranks);
    make_empty(rank, ranks);
    preallocate(rank);
    holes(rank, ranks);
    end_of_file(rank, ranks);
    check_remove(path, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
