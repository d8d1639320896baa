/*
 * atomic.c - atomic mode (MPI 3.1, 13.6.1): what overlaps is seen whole, and at once.
 *
 * zmpi-test: RANKS 1,2,3,4 ENV ZMPI_ERROR_BOUND=lossless
 */
#define _GNU_SOURCE // F_OFD_SETLK
#include "check.h"
#include "container/container.h"

enum { N = 20000, ROUNDS = 40, LARGE = 3 << 20 };

static const char path[] = "atomic.z";
static int rank, ranks;

static MPI_File open_atomic(void)
{
    MPI_File file;
    int flag = 0;
    check_remove(path, MPI_COMM_WORLD);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    OK(MPI_File_get_atomicity(file, &flag));
    CHECK_EQUAL(flag, 0);
    OK(MPI_File_set_atomicity(file, 1));
    OK(MPI_File_get_atomicity(file, &flag));
    CHECK_EQUAL(flag, 1);
    return file;
}

/* All elements must have one value. */
static int whole(const int *data, int n)
{
    for (int i = 1; i < n; i++)
        if (data[i] != data[0])
            check_fail(__FILE__, __LINE__, "element %d is %d, the first %d", i, data[i], data[0]);
    return data[0];
}

static void set_all(int *data, int n, int value)
{
    for (int i = 0; i < n; i++)
        data[i] = value;
}

/* Everybody writes and reads the same bytes at the same time; n ints, in pieces inside if large. */
static void fight(int n, int rounds, bool collective)
{
    int *data = check_alloc((size_t)n * sizeof *data), seen;
    check_say("%d ints, %s", n, collective ? "collective" : "independent");
    MPI_File file = open_atomic();
    set_all(data, n, -1);
    if (rank == 0)
        OK(MPI_File_write_at(file, 0, data, n, MPI_INT, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int k = 0; k < rounds; k++) {
        set_all(data, n, k * ranks + rank);
        if (collective)
            OK(MPI_File_write_at_all(file, 0, data, n, MPI_INT, MPI_STATUS_IGNORE));
        else
            OK(MPI_File_write_at(file, 0, data, n, MPI_INT, MPI_STATUS_IGNORE));
        OK(MPI_File_read_at(file, 0, data, n, MPI_INT, MPI_STATUS_IGNORE));
        seen = whole(data, n);
        CHECK_SAY(seen >= 0 && seen < rounds * ranks, "nobody wrote %d", seen);
        if (seen % ranks == rank)
            CHECK_EQUAL(seen, k * ranks + rank);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_read_at(file, 0, data, n, MPI_INT, MPI_STATUS_IGNORE));
    seen = whole(data, n);
    int first = seen;
    MPI_Bcast(&first, 1, MPI_INT, 0, MPI_COMM_WORLD);
    CHECK_EQUAL(seen, first);
    OK(MPI_File_close(&file));
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    OK(MPI_File_read_at(file, 0, data, n, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_EQUAL(whole(data, n), first);
    OK(MPI_File_close(&file));
    CHECK(check_is_container(path));
    free(data);
}

/* A write with holes is one write too. */
static void fight_with_holes(void)
{
    enum { PIECES = 200, LONG = 7, STRIDE = 13 };
    int data[PIECES * LONG];
    MPI_Datatype comb;
    check_say("with holes");
    MPI_File file = open_atomic();
    MPI_Type_vector(PIECES, LONG, STRIDE, MPI_INT, &comb);
    MPI_Type_commit(&comb);
    OK(MPI_File_set_view(file, 4, MPI_INT, comb, "native", MPI_INFO_NULL));
    for (int k = 0; k < ROUNDS; k++) {
        set_all(data, PIECES * LONG, k * ranks + rank);
        OK(MPI_File_write_at(file, 0, data, PIECES * LONG, MPI_INT, MPI_STATUS_IGNORE));
        OK(MPI_File_read_at(file, 0, data, PIECES * LONG, MPI_INT, MPI_STATUS_IGNORE));
        whole(data, PIECES * LONG);
    }
    MPI_Type_free(&comb);
    OK(MPI_File_close(&file));
}

/* What one rank wrote the next sees after no more than a message; the size too. */
static void relay(void)
{
    int value = -1;
    MPI_Offset size;
    check_say("relay");
    MPI_File file = open_atomic();
    for (int turn = 0; turn < 4 * ranks; turn++) {
        if (turn % ranks == rank) {
            if (turn)
                OK(MPI_File_read_at(file, (turn - 1) * 4, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
            CHECK_EQUAL(value, turn - 1);
            OK(MPI_File_get_size(file, &size));
            CHECK_EQUAL(size, turn * 4);
            OK(MPI_File_write_at(file, turn * 4, &turn, 1, MPI_INT, MPI_STATUS_IGNORE));
            value = turn;
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    OK(MPI_File_set_size(file, 8));
    OK(MPI_File_get_size(file, &size));
    CHECK_EQUAL(size, 8);
    OK(MPI_File_set_atomicity(file, 0));
    /* As before from here on: what was written is known to all. */
    OK(MPI_File_read_at(file, 4, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_EQUAL(value, 4 * ranks > 1 ? 1 : -1);
    OK(MPI_File_write_at(file, 8 + rank * 4, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
    check_sync(file, MPI_COMM_WORLD);
    for (int r = 0; r < ranks; r++) {
        OK(MPI_File_read_at(file, 8 + r * 4, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
        CHECK_EQUAL(value, r);
    }
    OK(MPI_File_close(&file));
}

/* The shared pointer, and a nonblocking write. */
static void shared_pointer(void)
{
    int value = rank;
    bool there[64] = {false};
    MPI_Request request;
    check_say("shared pointer");
    MPI_File file = open_atomic();
    OK(MPI_File_write_shared(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int r = 0; r < ranks; r++) {
        OK(MPI_File_read_at(file, r * 4, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
        CHECK_SAY(value >= 0 && value < ranks && !there[value], "value %d", value);
        there[value] = true;
    }
    OK(MPI_File_iwrite_at(file, 4 * (ranks + rank), &rank, 1, MPI_INT, &request));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int r = 0; r < ranks; r++) {
        OK(MPI_File_read_at(file, 4 * (ranks + r), &value, 1, MPI_INT, MPI_STATUS_IGNORE));
        CHECK_EQUAL(value, r);
    }
    OK(MPI_File_close(&file));
}

/* Only the rank that wrote knows how long the file has become: all must decide alike whether it
 * grows. */
static void resize(void)
{
    const int last = ranks - 1;
    MPI_Offset size;
    check_say("preallocate and set_size");
    MPI_File file = open_atomic();
    if (rank == last)
        OK(MPI_File_write_at(file, 1000, &last, 1, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_preallocate(file, 500));
    OK(MPI_File_set_size(file, 1000 + sizeof last));
    OK(MPI_File_get_size(file, &size));
    CHECK_EQUAL(size, 1000 + sizeof last);
    OK(MPI_File_set_size(file, 700));
    OK(MPI_File_preallocate(file, 900));
    OK(MPI_File_get_size(file, &size));
    CHECK_EQUAL(size, 900);
    OK(MPI_File_close(&file));
}

/* ---- the log's lock ---- */

enum act { READS, WRITES, CLOSES, OPENS };

static void act_on(MPI_File *file, enum act act)
{
    int value = 7;
    if (act == READS)
        OK(MPI_File_read_at(*file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    else if (act == WRITES)
        OK(MPI_File_write_at(*file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    else if (act == CLOSES)
        OK(MPI_File_close(file));
    else
        OK(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR, MPI_INFO_NULL, file));
}

/* Rank 1 has the lock, and rank 0 does something: must it wait? Who waits is given a while in which
 * it does not come. */
static void meet_lock(MPI_File *file, short type, enum act act, bool waits)
{
    struct flock lock = {
        .l_type = type, .l_whence = SEEK_SET, .l_start = ZMPI_LOCK_LOG, .l_len = 1};
    int fd = -1, came = 0;
    check_say("lock of type %d, act %d", (int)type, (int)act);
    if (rank == 1) {
        fd = open(path, O_RDWR);
        CHECK(fd >= 0 && fcntl(fd, F_OFD_SETLK, &lock) == 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        act_on(file, act);
        MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
        for (int k = 0; waits && k < 20; k++) {
            MPI_Iprobe(0, 0, MPI_COMM_WORLD, &came, MPI_STATUS_IGNORE);
            CHECK(!came);
            usleep(1000);
        }
        if (waits)
            close(fd);
        MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!waits)
            close(fd);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void locks(void)
{
    MPI_File file = MPI_FILE_NULL;
    check_remove(path, MPI_COMM_WORLD);
    if (rank == 0) {
        OK(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL,
                         &file));
        OK(MPI_File_set_atomicity(file, 1));
        act_on(&file, WRITES);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    meet_lock(&file, F_RDLCK, READS, false);
    meet_lock(&file, F_WRLCK, READS, true);
    meet_lock(&file, F_RDLCK, WRITES, true);
    meet_lock(&file, F_RDLCK, CLOSES, true);
    meet_lock(&file, F_RDLCK, OPENS, true);
    meet_lock(&file, F_RDLCK, WRITES, false); /* into its memory */
    meet_lock(&file, F_RDLCK, CLOSES, true);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    fight(N, ROUNDS, false);
    fight(N, ROUNDS, true);
    fight(LARGE, 3, false);
    fight_with_holes();
    relay();
    shared_pointer();
    resize();
    if (ranks == 2)
        locks();
    check_remove(path, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
