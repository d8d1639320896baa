/*
 * rewrite.c - a file that is written over and over under one name takes no more and more room, and
 * always has what was written last: as read by any number of ranks, and as a scan finds it when the
 * index is damaged. What a scan does not find is an error.
 *
 *     zmpi-test: RANKS 1,2,3 ENV ZMPI_ERROR_BOUND=lossless ZMPI_STAGING=1M ZMPI_REPORT_TEXT=off ZMPI_LOG=error
 *     zmpi-test: holes RANKS 2 ANYIO PRELOAD damage_holes ENV ZMPI_ERROR_BOUND=lossless ZMPI_STAGING=1M ZMPI_REPORT_TEXT=off ZMPI_LOG=error
 */
#define _GNU_SOURCE // fallocate
#include "check.h"

#include <math.h>

enum { ROWS = 240, COLUMNS = 500, ELEMENTS = ROWS * COLUMNS, SESSIONS = 20 };

/* How a session writes: whole rows of each rank, in one call or several of its own; columns of each
 * rank, by a view; a third of the rows, another one each time; rows here and there; each second
 * row by a call of all, which leaves dead records that are too short for holes among others. */
enum way { COLLECTIVE, INDEPENDENT, VIEW, THIRD, LIST, SECOND, WAYS };

static const char path[] = "rewrite.z", copy[] = "rewrite_copy.z";
static int rank, ranks;
static double tolerance;
static double model[ELEMENTS], mine[ELEMENTS];

static double value(int session, int i)
{
    return check_unit((uint64_t)session, (uint64_t)i);
}

static int first_row(int r)
{
    return ROWS * r / ranks;
}

static bool is_written(enum way way, int session, int row)
{
    if (way == THIRD)
        return row / 80 == session % 3;
    if (way == SECOND)
        return session == 0 || row % 2;
    return way != LIST || session == 0 || check_mix((uint64_t)session, (uint64_t)row) % 2;
}

static void write_rows(MPI_File file, enum way way, int session)
{
    for (int row = first_row(rank); row < first_row(rank + 1); row++)
        if (is_written(way, session, row))
            OK(MPI_File_write_at(file, (MPI_Offset)row * COLUMNS * 8, model + row * COLUMNS,
                                 COLUMNS, MPI_DOUBLE, MPI_STATUS_IGNORE));
}

/* The first rows become records by themselves. */
static void write_rows_together(MPI_File file, enum way way, int session)
{
    for (int row = 0; row < ROWS; row++)
        if (is_written(way, session, row)) {
            OK(MPI_File_write_at_all(file, (MPI_Offset)row * COLUMNS * 8, model + row * COLUMNS,
                                     row % ranks == rank ? COLUMNS : 0, MPI_DOUBLE,
                                     MPI_STATUS_IGNORE));
            if (row < 40)
                OK(MPI_File_sync(file));
        }
}

/* Every rank has some columns of all rows. */
static void write_columns(MPI_File file)
{
    int sizes[2] = {ROWS, COLUMNS}, from[2] = {0, COLUMNS * rank / ranks}, n = 0;
    int part[2] = {ROWS, COLUMNS * (rank + 1) / ranks - from[1]};
    MPI_Datatype type;
    OK(MPI_Type_create_subarray(2, sizes, part, from, MPI_ORDER_C, MPI_DOUBLE, &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_File_set_view(file, 0, MPI_DOUBLE, type, "native", MPI_INFO_NULL));
    for (int row = 0; row < ROWS; row++)
        for (int i = 0; i < part[1]; i++)
            mine[n++] = model[row * COLUMNS + from[1] + i];
    OK(MPI_File_write_all(file, mine, n, MPI_DOUBLE, MPI_STATUS_IGNORE));
    OK(MPI_Type_free(&type));
}

static void write_session(enum way way, int session, const char *bound, const char *trim)
{
    MPI_File file;
    MPI_Info info;
    check_say("way %d, %s, session %d", (int)way, bound, session);
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "zmpi_error_bound", bound));
    OK(MPI_Info_set(info, "zmpi_trim", trim));
    const int mode = session % 2 ? MPI_MODE_RDWR : MPI_MODE_WRONLY;
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | mode, info, &file));
    OK(MPI_Info_free(&info));
    for (int i = 0; i < ELEMENTS; i++)
        if (is_written(way, session, i / COLUMNS))
            model[i] = value(session, i);
    const int from = first_row(rank) * COLUMNS, to = first_row(rank + 1) * COLUMNS;
    if (way == COLLECTIVE)
        OK(MPI_File_write_at_all(file, (MPI_Offset)from * 8, model + from, to - from, MPI_DOUBLE,
                                 MPI_STATUS_IGNORE));
    else if (way == VIEW)
        write_columns(file);
    else if (way == SECOND)
        write_rows_together(file, way, session);
    else
        write_rows(file, way, session);
    OK(MPI_File_close(&file));
}

static void check_values(const double *is, const double *should)
{
    for (int i = 0; i < ELEMENTS; i++)
        CHECK_SAY(fabs(is[i] - should[i]) <= tolerance, "element %d is %g, not %g", i, is[i],
                  should[i]);
}

static void read_by(MPI_Comm comm, const char *name)
{
    MPI_File file;
    MPI_Offset size;
    OK(MPI_File_open(comm, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    OK(MPI_File_get_size(file, &size));
    CHECK_EQUAL(size, ELEMENTS * 8);
    OK(MPI_File_read_at_all(file, 0, mine, ELEMENTS, MPI_DOUBLE, MPI_STATUS_IGNORE));
    check_values(mine, model);
    OK(MPI_File_close(&file));
}

/* Rank 0: the file without its holes, with a directory that is damaged, and the byte at `also`. */
static void copy_damaged(size_t also)
{
    uint64_t slot[2][16];
    struct stat s;
    int in = open(path, O_RDONLY), out = open(copy, O_RDWR | O_CREAT | O_TRUNC, 0666);
    CHECK(in >= 0 && out >= 0 && fstat(in, &s) == 0);
    char *bytes = check_alloc((size_t)s.st_size);
    CHECK_EQUAL(pread(in, bytes, (size_t)s.st_size, 0), s.st_size);
    memcpy(slot[0], bytes, sizeof slot[0]);
    memcpy(slot[1], bytes + 256, sizeof slot[1]);
    const uint64_t *newer = slot[slot[1][4] > slot[0][4]];
    CHECK(newer[6] != 0);
    bytes[newer[6] + 30] ^= 0x55;
    bytes[also] ^= 0x55;
    CHECK_EQUAL(pwrite(out, bytes, (size_t)s.st_size, 0), s.st_size);
    free(bytes);
    close(in);
    close(out);
}

/* By all, by each alone, by fewer; and from the log. */
static void read_back(void)
{
    MPI_Comm half;
    read_by(MPI_COMM_WORLD, path);
    read_by(MPI_COMM_SELF, path);
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half));
    read_by(half, path);
    OK(MPI_Comm_free(&half));
    if (rank == 0)
        copy_damaged(200); /* nobody's */
    MPI_Barrier(MPI_COMM_WORLD);
    read_by(MPI_COMM_WORLD, copy);
    check_remove(copy, MPI_COMM_WORLD);
}

/* Where a scan does not find all that there was, that is an error, and no zeros. */
static void read_incomplete(void)
{
    MPI_File file;
    write_session(COLLECTIVE, 0, "lossless", "on");
    if (rank == 0)
        copy_damaged((size_t)check_first_record(path) + 200); /* in the first record */
    MPI_Barrier(MPI_COMM_WORLD);
    check_say("index and record are damaged");
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, copy, MPI_MODE_RDONLY, MPI_INFO_NULL, &file),
                MPI_ERR_IO);
    check_remove(copy, MPI_COMM_WORLD);
    check_remove(path, MPI_COMM_WORLD);
}

static long long space_used(void)
{
    struct stat s;
    CHECK(stat(path, &s) == 0);
    return (long long)s.st_blocks * 512;
}

static long long length(void)
{
    struct stat s;
    CHECK(stat(path, &s) == 0);
    return (long long)s.st_size;
}

/* Room is used again, on any file system: as `ls -l` tells. */
static void check_length(long long once)
{
    CHECK_SAY(length() <= once * 22 / 10 + (1 << 20), "%lld bytes, %lld at first", length(), once);
}

static bool gives_back(void)
{
    int fd = open(path, O_RDWR);
    bool can = fd >= 0 && fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)1 << 30,
                                    1 << 16) == 0;
    close(fd);
    return can;
}

static void again_and_again(enum way way, const char *bound)
{
    long long once = 0, most = 0, now, first = 0;
    tolerance = strcmp(bound, "lossless") == 0 ? 0 : 1.001e-3;
    for (int session = 0; session < SESSIONS; session++) {
        write_session(way == THIRD && session == 0 ? COLLECTIVE : way, session, bound, "on");
        MPI_Barrier(MPI_COMM_WORLD);
        now = space_used();
        once = session == 0 ? now : once;
        first = session == 0 ? length() : first;
        if (way == COLLECTIVE || way == INDEPENDENT || way == VIEW)
            check_length(first);
        most = now > most ? now : most;
        if (session % 7 == 5 || session == SESSIONS - 1)
            read_back();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK(check_is_container(path) && check_has_index(path));
    /* What covers a part of newer data stays, until that is covered too. */
    const long long factor = way == LIST ? 8 : 3;
    if (gives_back())
        CHECK_SAY(most <= factor * once + (256 << 10), "%lld bytes of room, %lld at first", most,
                  once);
    check_remove(path, MPI_COMM_WORLD);
}

/* One place, while what was written there before is still held back: as a header is, with the
 * number of the last step. */
static void one_place(void)
{
    enum { COUNT = 8000, TIMES = 200 };
    double is[COUNT];
    MPI_File file;
    const MPI_Offset at = rank * (MPI_Offset)sizeof is;
    check_say("one place %d times", TIMES);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    for (int k = 0; k < TIMES; k++) {
        for (int i = 0; i < COUNT; i++)
            mine[i] = value(k, i);
        OK(MPI_File_write_at(file, at, mine, COUNT, MPI_DOUBLE, MPI_STATUS_IGNORE));
    }
    OK(MPI_File_read_at(file, at, is, COUNT, MPI_DOUBLE, MPI_STATUS_IGNORE));
    CHECK_BYTES(is, mine, sizeof is);
    OK(MPI_File_close(&file));
    check_remove(path, MPI_COMM_WORLD);
}

/* Somebody has the file open: what was there stays readable, and is given back later. */
static void read_meanwhile(void)
{
    static double old[ELEMENTS], is[ELEMENTS];
    MPI_File file;
    tolerance = 0;
    write_session(COLLECTIVE, 0, "lossless", "on");
    MPI_Barrier(MPI_COMM_WORLD);
    const long long once = space_used();
    memcpy(old, model, sizeof old);
    OK(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int session = 1; session < 4; session++)
        write_session(COLLECTIVE, session, "lossless", "on");
    OK(MPI_File_read_at(file, 0, is, ELEMENTS, MPI_DOUBLE, MPI_STATUS_IGNORE));
    check_values(is, old);
    OK(MPI_File_close(&file));
    MPI_Barrier(MPI_COMM_WORLD);
    const long long before = space_used();
    CHECK(before > 3 * once);
    MPI_Barrier(MPI_COMM_WORLD);
    write_session(COLLECTIVE, 4, "lossless", "off");
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(space_used() > before);
    MPI_Barrier(MPI_COMM_WORLD);
    write_session(COLLECTIVE, 5, "lossless", "on");
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(!gives_back() || space_used() < 2 * once);
    read_back();
    check_remove(path, MPI_COMM_WORLD);
}

/* What is still read lies between what is not. */
static void between(void)
{
    static const int thirds[] = {0, 1, 2, 3, 5, 6, 8, 9, 11};
    const int n = sizeof thirds / sizeof *thirds;
    long long once = 0;
    tolerance = 0;
    for (int i = 0; i < ELEMENTS; i++)
        model[i] = 0;
    for (int k = 0; k < n; k++) {
        write_session(THIRD, thirds[k], "lossless", k < n - 1 ? "off" : "on");
        MPI_Barrier(MPI_COMM_WORLD);
        once = k == 2 ? space_used() : once;
    }
    if (gives_back())
        CHECK_SAY(space_used() < 3 * once / 2, "%lld bytes of room, %lld at first", space_used(),
                  once);
    read_back();
    check_remove(path, MPI_COMM_WORLD);
}

/* A program that never closes its file, by calls of all and of its own; another one looks at it,
 * and a third has it open for a while, whose data stay. */
static void stays_open(bool collective)
{
    static double old[ELEMENTS], is[ELEMENTS];
    MPI_File file, reader = MPI_FILE_NULL;
    long long first = 0;
    tolerance = 0;
    const int from = first_row(rank) * COLUMNS, to = first_row(rank + 1) * COLUMNS;
    check_say("stays open, %s", collective ? "collective" : "independent");
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    for (int k = 0; k < 2 * SESSIONS; k++) {
        for (int i = 0; i < ELEMENTS; i++)
            model[i] = value(k, i);
        OK((collective ? MPI_File_write_at_all : MPI_File_write_at)(
            file, (MPI_Offset)from * 8, model + from, to - from, MPI_DOUBLE, MPI_STATUS_IGNORE));
        OK(MPI_File_sync(file));
        MPI_Barrier(MPI_COMM_WORLD);
        first = k == 0 ? length() : first;
        if (k < SESSIONS)
            check_length(first);
        if (k == SESSIONS) {
            memcpy(old, model, sizeof old);
            OK(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &reader));
        }
        if (k >= SESSIONS && k < SESSIONS + 6) {
            OK(MPI_File_read_at(reader, 0, is, ELEMENTS, MPI_DOUBLE, MPI_STATUS_IGNORE));
            check_values(is, old);
        }
        if (k == SESSIONS + 6)
            OK(MPI_File_close(&reader));
        if (k % 5 == 0)
            read_by(MPI_COMM_SELF, path);
        OK(MPI_File_read_at_all(file, 0, is, ELEMENTS, MPI_DOUBLE, MPI_STATUS_IGNORE));
        check_values(is, model);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    OK(MPI_File_close(&file));
    read_back();
    check_remove(path, MPI_COMM_WORLD);
}

/* All in one session, and sizes that are set on the way. */
static void one_session(void)
{
    MPI_File file;
    tolerance = 0;
    check_say("one session");
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    const int from = first_row(rank) * COLUMNS, to = first_row(rank + 1) * COLUMNS;
    for (int k = 0; k < 6; k++) {
        for (int i = 0; i < ELEMENTS; i++)
            model[i] = value(k, i);
        OK(MPI_File_write_at_all(file, (MPI_Offset)from * 8, model + from, to - from, MPI_DOUBLE,
                                 MPI_STATUS_IGNORE));
        if (k == 3)
            OK(MPI_File_set_size(file, 1000 * 8));
    }
    OK(MPI_File_set_size(file, 2000 * 8));
    OK(MPI_File_set_size(file, ELEMENTS * 8));
    for (int i = 2000; i < ELEMENTS; i++)
        model[i] = 0;
    OK(MPI_File_close(&file));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(!gives_back() || space_used() < 2 * ELEMENTS * 8);
    read_back();
    check_remove(path, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    close(STDIN_FILENO); /* a file's descriptor may be 0 */
    check_remove(path, MPI_COMM_WORLD);
    for (int way = 0; way < WAYS; way++) {
        again_and_again((enum way)way, "lossless");
        again_and_again((enum way)way, "rel=1e-3");
    }
    read_incomplete();
    read_meanwhile();
    between();
    one_session();
    stays_open(true);
    stays_open(false);
    one_place();
    MPI_Finalize();
    return 0;
}
