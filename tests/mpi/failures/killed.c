/*
 * killed.c - processes that are killed between two writes, or that end without closing their file,
 * for tests/cli/killed.sh; by itself it is not killed.
 *
 *     killed write  collective|independent|slab VICTIM FILE    VICTIM: a rank, or -1 for all
 *     killed left   collective|independent|slab RANKS  FILE    the file stays open
 *     killed check  collective|independent|slab RANKS  FILE    what RANKS ranks wrote
 *     killed peek   collective|independent|slab RANKS  FILE    the same, and the file stays open
 *
 * zmpi-test: RANKS 1,3 ARGS both collective ENV ZMPI_ERROR_BOUND=lossless ZMPI_STAGING=1M
 */
#include "check.h"

#include <signal.h>

enum { STEPS = 6, SMALL = 5000, LARGE = 100000 };

static int count_of(const char *kind)
{
    return strcmp(kind, "slab") == 0 ? LARGE : SMALL;
}

static double value(int owner, int step, int i)
{
    return step + 1 + owner * 0.25 + 1e-9 * i;
}

static MPI_Offset place(int owner, int ranks, int step, int n)
{
    return ((MPI_Offset)step * ranks + owner) * n * (MPI_Offset)sizeof(double);
}

enum end { CLOSED, LEFT, KILLED };

/* STEPS steps; unless the end is CLOSED the file stays open, and if it is KILLED the victims die.
 */
static void write_steps(const char *kind, int victim, const char *path, enum end end)
{
    int rank = check_rank(MPI_COMM_WORLD), ranks = check_ranks(MPI_COMM_WORLD), n = count_of(kind);
    double *data = check_alloc((size_t)n * sizeof *data);
    MPI_File file;
    check_remove(path, MPI_COMM_WORLD);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    for (int step = 0; step < STEPS; step++) {
        MPI_Offset at = place(rank, ranks, step, n);
        for (int i = 0; i < n; i++)
            data[i] = value(rank, step, i);
        if (strcmp(kind, "collective") == 0)
            OK(MPI_File_write_at_all(file, at, data, n, MPI_DOUBLE, MPI_STATUS_IGNORE));
        else
            OK(MPI_File_write_at(file, at, data, n, MPI_DOUBLE, MPI_STATUS_IGNORE));
        if (strcmp(kind, "collective") != 0 && step == STEPS - 2)
            OK(MPI_File_sync(file));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (end == KILLED && (victim == rank || victim < 0))
        raise(SIGKILL);
    if (end == KILLED) { /* the others are still there, and will be stopped */
        sleep(1);
        abort();
    }
    if (end == CLOSED)
        OK(MPI_File_close(&file));
    free(data);
}

/*
 * All steps that were placed (collective) or synchronised (else: all but the last) are there, all
 * else is either what was written or zeros.
 */
static void check_steps(const char *kind, int writers, const char *path, enum end end)
{
    int n = count_of(kind), got;
    double *is = check_alloc((size_t)n * sizeof *is);
    const int sure = strcmp(kind, "collective") == 0 ? STEPS : STEPS - 1;
    MPI_File file;
    MPI_Offset size;
    MPI_Status status;
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    OK(MPI_File_get_size(file, &size));
    CHECK(size >= place(0, writers, sure, n) && size <= place(0, writers, STEPS, n));
    for (int step = 0; step < STEPS; step++)
        for (int r = 0; r < writers; r++) {
            check_say("step %d of rank %d", step, r);
            OK(MPI_File_read_at_all(file, place(r, writers, step, n), is, n, MPI_DOUBLE, &status));
            MPI_Get_count(&status, MPI_DOUBLE, &got);
            CHECK(got == n || step >= sure);
            for (int i = 0; i < got; i++)
                CHECK(is[i] == value(r, step, i) || (step >= sure && is[i] == 0));
        }
    if (end == CLOSED)
        OK(MPI_File_close(&file));
    free(is);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    const char *how = argc == 5 ? argv[1] : "";
    if (strcmp(how, "write") == 0) {
        write_steps(argv[2], atoi(argv[3]), argv[4], KILLED);
    } else if (strcmp(how, "left") == 0) {
        write_steps(argv[2], -1, argv[4], LEFT);
    } else if (argc == 5) {
        check_steps(argv[2], atoi(argv[3]), argv[4], strcmp(how, "peek") == 0 ? LEFT : CLOSED);
    } else {
        write_steps("collective", -1, "killed.z", CLOSED);
        check_steps("collective", check_ranks(MPI_COMM_WORLD), "killed.z", CLOSED);
        check_remove("killed.z", MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
