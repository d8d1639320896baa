/*
 * writer.c - a seeded program of MPI-IO calls, which says in the trace (trace.h) what it does, for
 * tests/cli/power.py; it is no test by itself.
 *
 *     writer SEED SESSION FILE close|kill|one [there]
 *
 * there: first, as operation 0, one rank writes the whole file without MPI: it is plain.
 * Independent calls keep to a part of the file, of which each rank has one until the next
 * collective call. `kill`: all ranks die after some operation; `one`: after the first, which writes
 * a record of many pages that cannot be compressed.
 */
#include "../../mpi/check.h"

#include <fcntl.h>
#include <signal.h>

#include "model.h"
#include "trace.h"

enum { RUNS_MOST = 2048 };

static int rank, ranks;
static uint64_t seed;
static unsigned op, phase;
static MPI_File file;
static uint64_t value[PLACES];

/* Of this rank; the same on all ranks. */
static uint64_t below(uint64_t n, uint64_t what)
{
    return check_mix(seed * 31 + (uint64_t)rank, (uint64_t)op * 16 + what) % n;
}

static uint64_t below_all(uint64_t n, uint64_t what)
{
    return check_mix(~seed, (uint64_t)op * 16 + what) % n;
}

/* ---- what the trace is told ---- */

static void mark(enum mark_kind kind, uint64_t size)
{
    const struct mark m = {.kind = kind, .op = op, .rank = (uint32_t)rank, .size = size};
    trace_mark(&m, sizeof m);
}

/* The values of these places, one run behind the other; their number. */
static int begin_write(const struct mark_run *run, uint32_t runs)
{
    static unsigned char bytes[sizeof(struct mark) + RUNS_MOST * sizeof *run];
    const struct mark m = {.kind = MARK_WRITE, .op = op, .rank = (uint32_t)rank, .runs = runs};
    int n = 0;
    memcpy(bytes, &m, sizeof m);
    memcpy(bytes + sizeof m, run, runs * sizeof *run);
    for (uint32_t i = 0; i < runs; i++)
        for (uint32_t p = run[i].begin; p < run[i].end; p++)
            value[n++] = model_value(op, p);
    trace_mark(bytes, sizeof m + runs * sizeof *run);
    return n;
}

/* ---- operations ---- */

/* This rank's part of the file. */
static uint32_t part_begin(void)
{
    return (uint32_t)(PLACES / ranks * ((rank + (int)phase) % ranks));
}

static uint32_t part_size(void)
{
    return (uint32_t)(PLACES / ranks);
}

static void write_at(uint64_t n)
{
    const uint32_t at = part_begin() + (uint32_t)below(part_size() - n, 1);
    const struct mark_run run = {at, at + (uint32_t)n};
    begin_write(&run, 1);
    OK(MPI_File_write_at(file, (MPI_Offset)8 * at, value, (int)n,
                         below(2, 2) ? MPI_INT64_T : MPI_DOUBLE, MPI_STATUS_IGNORE));
}

/* A few single values far from each other: they become one record with a list. */
static void write_few(void)
{
    struct mark_run run[8];
    const uint32_t n = 2 + (uint32_t)below(6, 0), step = part_size() / n;
    for (uint32_t i = 0; i < n; i++) {
        run[i].begin = part_begin() + i * step + (uint32_t)below(step - 2, 1 + i);
        run[i].end = run[i].begin + 1;
    }
    begin_write(run, n);
    for (uint32_t i = 0; i < n; i++)
        OK(MPI_File_write_at(file, (MPI_Offset)8 * run[i].begin, value + i, 1, MPI_INT64_T,
                             MPI_STATUS_IGNORE));
}

/* A list in a view, short or so long that there is no copy of it behind its record. */
static void write_list(bool collective)
{
    static struct mark_run run[RUNS_MOST];
    static int length[RUNS_MOST], place[RUNS_MOST];
    const uint32_t most = below(3, 0) == 0 ? RUNS_MOST / (uint32_t)ranks : 40;
    uint32_t n = 0, at = part_begin() + (uint32_t)below(50, 1);
    const uint32_t end = part_begin() + part_size(), wide = part_size() / most;
    for (; n < most && at + wide < end; n++) {
        length[n] = 1 + (int)(check_mix(seed + op, n * 2) % (wide > 20 ? 20 : wide / 2));
        place[n] = (int)at;
        run[n] = (struct mark_run){at, at + (uint32_t)length[n]};
        at += (uint32_t)length[n] + 1 + (uint32_t)(check_mix(seed + op, n * 2 + 1) % (wide - 1));
    }
    MPI_Datatype type;
    OK(MPI_Type_indexed((int)n, length, place, MPI_INT64_T, &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_File_set_view(file, 0, MPI_INT64_T, type, "native", MPI_INFO_NULL));
    const int count = begin_write(run, n);
    OK((collective ? MPI_File_write_all : MPI_File_write)(file, value, count, MPI_INT64_T,
                                                          MPI_STATUS_IGNORE));
    OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    OK(MPI_Type_free(&type));
}

static void write_all(bool whole)
{
    const uint32_t n = whole ? part_size() : 1 + (uint32_t)below(3000, 0);
    const uint32_t at = part_begin() + (whole ? 0 : (uint32_t)below(part_size() - n, 1));
    const struct mark_run run = {at, at + n};
    begin_write(&run, 1);
    OK(MPI_File_write_at_all(file, (MPI_Offset)8 * at, value, (int)n, MPI_INT64_T,
                             MPI_STATUS_IGNORE));
}

static void resize(void)
{
    const uint64_t n = below_all(3, 0) ? below_all(PLACES, 1) : 0;
    const bool grow = below_all(2, 2);
    mark(grow ? MARK_GROW : MARK_SIZE, n);
    OK((grow ? MPI_File_preallocate : MPI_File_set_size)(file, (MPI_Offset)(8 * n)));
}

static bool is_atomic(void)
{
    return seed / SESSIONS % 8 == 5;
}

static void open_file(const char *path)
{
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    if (is_atomic())
        OK(MPI_File_set_atomicity(file, 1));
}

static void sync_file(void)
{
    OK(MPI_File_sync(file));
    mark(MARK_SYNCED, 0);
}

static void do_op(char kind, const char *path)
{
    const bool collective = kind >= 'A' && kind <= 'Z';
    if (collective && is_atomic()) /* records have their order as they come */
        MPI_Barrier(MPI_COMM_WORLD);
    switch (kind) {
    case 's':
        write_at(1 + below(300, 0));
        break;
    case 'f':
        write_few();
        break;
    case 'l':
    case 'L':
        write_list(kind == 'L');
        break;
    case 'C':
    case 'W':
        write_all(kind == 'W');
        break;
    case 'Z':
        resize();
        break;
    case 'r': /* what is staged leaves the process */
        OK(MPI_File_read_at(file, 0, &(uint64_t){0}, 8, MPI_BYTE, MPI_STATUS_IGNORE));
        break;
    case 'X':
        OK(MPI_File_close(&file));
        open_file(path);
        break;
    default:
        sync_file();
    }
    if (collective && is_atomic())
        MPI_Barrier(MPI_COMM_WORLD);
    phase += collective;
    op++;
}

/* ---- the program ---- */

/* A plain file of all places, and on the disk. */
static void make_plain(const char *path)
{
    const struct mark_run all = {0, PLACES};
    if (rank == 0) {
        const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
        CHECK(fd >= 0);
        begin_write(&all, 1);
        CHECK(pwrite(fd, value, sizeof value, 0) == (ssize_t)sizeof value && fsync(fd) == 0);
        close(fd);
    }
    op++;
    if (rank == 0)
        mark(MARK_SYNCED, 0);
}

static unsigned generate(char kinds[OPS_OF_SESSION])
{
    static const char *const parts[] = {"s", "f", "fs", "C", "L", "l", "Y", "Y", "Y", "X", "rfs",
                                        "sC", "WWW", "sY", "Z", "lY",
                                        /* over and over: room is used again */
                                        "WYWYW", "WYWYWYs", "WXWXWXW"};
    unsigned n = 0;
    const unsigned length = 12 + (unsigned)(check_mix(seed, 1) % (OPS_OF_SESSION - 12));
    for (unsigned i = 0; n < length; i++)
        for (const char *p = parts[check_mix(seed, 100 + i) % (sizeof parts / sizeof *parts)];
             *p && n < length; p++)
            kinds[n++] = *p;
    return n;
}

int main(int argc, char **argv)
{
    char kinds[OPS_OF_SESSION];
    MPI_Init(&argc, &argv);
    CHECK_SAY(argc == 5 || argc == 6, "writer SEED SESSION FILE close|kill|one [there]");
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    const unsigned session = (unsigned)atoi(argv[2]);
    seed = strtoull(argv[1], NULL, 10) * SESSIONS + session;
    op = session * OPS_OF_SESSION;
    const unsigned first = op;
    unsigned n = generate(kinds);
    const bool one = strcmp(argv[4], "one") == 0, killed = one || strcmp(argv[4], "kill") == 0;
    if (one)
        strcpy(kinds, "-W"); /* operation 0 writes what can be compressed */
    else if (killed)
        n = 1 + n / 2 + (unsigned)(check_mix(seed, 2) % (n / 2));
    if (rank == 0)
        mark(MARK_OPENED, 0);
    if (argc == 6)
        make_plain(argv[3]);
    MPI_Barrier(MPI_COMM_WORLD);
    open_file(argv[3]);
    op += one;
    while (op - first < (one ? 2 : n))
        do_op(kinds[op - first], argv[3]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (killed)
        raise(SIGKILL);
    OK(MPI_File_close(&file));
    if (rank == 0)
        mark(MARK_CLOSED, 0);
    MPI_Finalize();
    return 0;
}
