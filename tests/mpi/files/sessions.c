/*
 * sessions.c - one file, open in several communicators at the same time: their writes do not
 * destroy each other, sync-barrier-sync shows them, and the last one that closes leaves an index.
 *
 * zmpi-test: RANKS 1,2,3,4 ENV ZMPI_ERROR_BOUND=lossless ZMPI_STAGING=1M
 */
#include "check.h"

enum { N = 3000, ROUNDS = 5, BIG = 400000 };

static const char path[] = "sessions.z";
static int rank, ranks;

static MPI_File open_on(MPI_Comm comm, int mode)
{
    MPI_File file;
    OK(MPI_File_open(comm, path, mode, MPI_INFO_NULL, &file));
    return file;
}

static void fill(int *data, int n, int owner, int round)
{
    for (int i = 0; i < n; i++)
        data[i] = (int)check_mix((uint64_t)(owner * 100 + round), (uint64_t)i);
}

static MPI_Offset place(int owner, int round)
{
    return ((MPI_Offset)round * ranks + owner) * N * (MPI_Offset)sizeof(int);
}

static void expect(MPI_File file, int owner, int round, int written_in)
{
    int should[N], is[N];
    fill(should, N, owner, written_in);
    OK(MPI_File_read_at(file, place(owner, round), is, N, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_BYTES(is, should, sizeof is);
}

static void expect_all(MPI_File file, int rounds)
{
    for (int round = 0; round < rounds; round++)
        for (int r = 0; r < ranks; r++)
            expect(file, r, round, round);
}

static void sync_all(MPI_File file)
{
    OK(MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_sync(file));
}

/* The file as it was left: an index, so that nothing must be scanned, and everything in it. */
static void check_closed(int rounds)
{
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(check_is_container(path));
    MPI_File file = open_on(MPI_COMM_WORLD, MPI_MODE_RDONLY);
    MPI_Offset size;
    OK(MPI_File_get_size(file, &size));
    CHECK_EQUAL(size, place(0, rounds));
    expect_all(file, rounds);
    OK(MPI_File_close(&file));
    if (rank == 0)
        CHECK(check_has_index(path));
    check_remove(path, MPI_COMM_WORLD);
}

/* Every rank for itself, on MPI_COMM_SELF; closed in any order. */
static void alone_together(bool create_first)
{
    int data[N];
    check_say("alone together%s", create_first ? ", a file that is there" : "");
    check_remove(path, MPI_COMM_WORLD);
    if (create_first) {
        MPI_File first = open_on(MPI_COMM_WORLD, MPI_MODE_WRONLY | MPI_MODE_CREATE);
        fill(data, N, rank, 0);
        OK(MPI_File_write_at_all(first, place(rank, 0), data, N, MPI_INT, MPI_STATUS_IGNORE));
        OK(MPI_File_close(&first));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_File file = open_on(MPI_COMM_SELF, MPI_MODE_RDWR | MPI_MODE_CREATE);
    for (int round = 0; round < ROUNDS; round++) {
        fill(data, N, rank, round);
        if (round % 2)
            OK(MPI_File_write_at_all(file, place(rank, round), data, N, MPI_INT,
                                     MPI_STATUS_IGNORE));
        else
            OK(MPI_File_write_at(file, place(rank, round), data, N, MPI_INT, MPI_STATUS_IGNORE));
        expect(file, rank, round, round); /* at once, its own */
        if (round == 2) {
            sync_all(file);
            expect_all(file, 3);
        }
    }
    OK(MPI_File_close(&file));
    check_closed(ROUNDS);
}

/* Ranks take turns on the same bytes: the last that synced wins, whoever opened first. */
static void turns(void)
{
    int data[N], is[N];
    check_say("turns");
    MPI_File file = open_on(MPI_COMM_SELF, MPI_MODE_RDWR | MPI_MODE_CREATE);
    for (int turn = 0; turn < 3 * ranks; turn++) {
        fill(data, N, turn, 0);
        if (turn % ranks == rank)
            OK(MPI_File_write_at(file, turn % 2 * 40, data, N, MPI_INT, MPI_STATUS_IGNORE));
        sync_all(file);
        OK(MPI_File_read_at(file, turn % 2 * 40, is, N, MPI_INT, MPI_STATUS_IGNORE));
        CHECK_BYTES(is, data, sizeof is);
        MPI_Barrier(MPI_COMM_WORLD); /* the next turn's data may be seen by a sync of this one */
    }
    OK(MPI_File_set_size(file, 40));
    MPI_Offset size;
    sync_all(file);
    OK(MPI_File_get_size(file, &size));
    CHECK_EQUAL(size, 40);
    OK(MPI_File_close(&file));
    check_remove(path, MPI_COMM_WORLD);
}

/* All ranks write together while each also writes alone, without any order between the two. */
static void both_ways(void)
{
    int data[N], *big = check_alloc(BIG * sizeof *big), *is = check_alloc(BIG * sizeof *is);
    const MPI_Offset far = place(0, ROUNDS);
    check_say("both ways");
    MPI_File together = open_on(MPI_COMM_WORLD, MPI_MODE_RDWR | MPI_MODE_CREATE);
    MPI_File alone = open_on(MPI_COMM_SELF, MPI_MODE_RDWR);
    fill(big, BIG, rank, 50);
    for (int round = 0; round < ROUNDS; round++) {
        fill(data, N, rank, round);
        MPI_File first = (rank + round) % 2 ? together : alone;
        if (first == alone)
            OK(MPI_File_write_at(alone, place(rank, round), data, N, MPI_INT, MPI_STATUS_IGNORE));
        OK(MPI_File_write_at_all(together, far + rank * BIG * (MPI_Offset)sizeof *big, big, BIG,
                                 MPI_INT, MPI_STATUS_IGNORE));
        if (first == together)
            OK(MPI_File_write_at(alone, place(rank, round), data, N, MPI_INT, MPI_STATUS_IGNORE));
    }
    OK(MPI_File_sync(alone));
    sync_all(together);
    expect_all(together, ROUNDS);
    OK(MPI_File_sync(alone));
    for (int r = 0; r < ranks; r++) {
        fill(big, BIG, r, 50);
        OK(MPI_File_read_at(alone, far + r * BIG * (MPI_Offset)sizeof *big, is, BIG, MPI_INT,
                            MPI_STATUS_IGNORE));
        CHECK_BYTES(is, big, BIG * sizeof *is);
    }
    OK(MPI_File_set_size(together, place(0, ROUNDS)));
    if (rank % 2) { /* closed in different orders */
        OK(MPI_File_close(&alone));
        OK(MPI_File_close(&together));
    } else {
        OK(MPI_File_close(&together));
        OK(MPI_File_close(&alone));
    }
    check_closed(ROUNDS);
    free(big);
    free(is);
}

/* Halves of the ranks. */
static void halves(void)
{
    MPI_Comm half;
    int data[N];
    check_say("halves");
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_File file = open_on(half, MPI_MODE_RDWR | MPI_MODE_CREATE);
    for (int round = 0; round < ROUNDS; round++) {
        fill(data, N, rank, round);
        OK(MPI_File_write_at_all(file, place(rank, round), data, N, MPI_INT, MPI_STATUS_IGNORE));
    }
    sync_all(file);
    expect_all(file, ROUNDS);
    OK(MPI_File_close(&file));
    MPI_Comm_free(&half);
    check_closed(ROUNDS);
}

/* One who only reads sees what was synced, and the file growing. */
static void reader(void)
{
    int data[N];
    check_say("reader");
    MPI_File writer = open_on(MPI_COMM_WORLD, MPI_MODE_WRONLY | MPI_MODE_CREATE);
    OK(MPI_File_sync(writer));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File file = open_on(MPI_COMM_SELF, MPI_MODE_RDONLY);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Offset size;
        fill(data, N, rank, round);
        OK(MPI_File_write_at(writer, place(rank, round), data, N, MPI_INT, MPI_STATUS_IGNORE));
        OK(MPI_File_sync(writer));
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_File_sync(file); /* some MPI libraries refuse it to readers, after we have looked */
        OK(MPI_File_get_size(file, &size));
        CHECK_EQUAL(size, place(0, round + 1));
        expect_all(file, round + 1);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    OK(MPI_File_close(&writer));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(file);
    expect_all(file, ROUNDS);
    OK(MPI_File_close(&file));
    check_closed(ROUNDS);
}

/* One who came when the file was empty sees what others write then. */
static void early_reader(void)
{
    MPI_Offset size;
    int data[N];
    check_say("reader of an empty file");
    check_remove(path, MPI_COMM_WORLD);
    MPI_File writer = open_on(MPI_COMM_WORLD, MPI_MODE_WRONLY | MPI_MODE_CREATE);
    OK(MPI_File_close(&writer));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQUAL(check_disk_size(path), 0);
    MPI_File file = open_on(MPI_COMM_SELF, MPI_MODE_RDONLY);
    MPI_Barrier(MPI_COMM_WORLD);
    writer = open_on(MPI_COMM_WORLD, MPI_MODE_WRONLY);
    OK(MPI_File_get_size(file, &size));
    CHECK_EQUAL(size, 0);
    fill(data, N, rank, 0);
    OK(MPI_File_write_at(writer, place(rank, 0), data, N, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&writer));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(file);
    OK(MPI_File_get_size(file, &size));
    CHECK_EQUAL(size, place(0, 1));
    expect_all(file, 1);
    OK(MPI_File_close(&file));
    check_closed(1);
}

/* The directory of the index, which the second slot tells of, and the first record. */
static void damage(void)
{
    uint64_t slot[16];
    const int fd = open(path, O_RDWR);
    CHECK(fd >= 0 && pread(fd, slot, sizeof slot, 256) == sizeof slot);
    CHECK(slot[4] == 2 && slot[6] > 512);
    CHECK(pwrite(fd, "damaged", 8, (off_t)slot[6] + 24) == 8);
    CHECK(pwrite(fd, "damaged", 8, check_first_record(path) + 8) == 8);
    close(fd);
}

/* The last to leave makes no index of what is left, which would hide that something is missing. */
static void damaged_meanwhile(void)
{
    int data[N], class[2];
    MPI_File file[2];
    check_say("damaged meanwhile");
    if (rank == 0) {
        fill(data, N, 0, 0);
        file[0] = open_on(MPI_COMM_SELF, MPI_MODE_CREATE | MPI_MODE_RDWR);
        OK(MPI_File_write_at(file[0], place(0, 0), data, N, MPI_INT, MPI_STATUS_IGNORE));
        OK(MPI_File_close(&file[0]));
        for (int i = 0; i < 2; i++)
            file[i] = open_on(MPI_COMM_SELF, MPI_MODE_RDWR);
        damage();
        for (int i = 0; i < 2; i++)
            MPI_Error_class(MPI_File_close(&file[i]), &class[i]);
        CHECK(class[0] == MPI_SUCCESS && class[1] == MPI_ERR_IO);
        CHECK_CLASS(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file[0]),
                    MPI_ERR_IO);
    }
    check_remove(path, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    close(STDIN_FILENO); /* a file's descriptor may be 0 */
    check_remove(path, MPI_COMM_WORLD);
    alone_together(false);
    const int before = check_open_files();
    alone_together(true);
    turns();
    both_ways();
    halves();
    reader();
    early_reader();
    damaged_meanwhile();
    check_say("at the end");
    CHECK_SAY(check_open_files() < before + 4, "%d files are open, not %d", check_open_files(),
              before);
    MPI_Finalize();
    return 0;
}
