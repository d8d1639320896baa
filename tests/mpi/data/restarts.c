/*
 * restarts.c - a program that reads what it wrote and writes it again, 50 times: nothing changes
 * after the first time, whatever the bound; nor do the variables of a state that take turns.
 *
 * zmpi-test: RANKS 1,3 ENV ZMPI_COLLECTIVE_MIN=1K
 */
#include "check.h"

#include <math.h>

enum { Z = 24, Y = 20, X = 36, CYCLES = 50, VARIABLES = 5 };

static const char path[] = "restarts.z";
static int rank, ranks;

/* Planes [first, first + count) are this rank's. */
static int first, count;

/* Density, velocities, pressure of each point; some pressures are missing. */
static double state(int at)
{
    static const double least[VARIABLES] = {1, 0, -5, 5, 1e5};
    const int point = at / VARIABLES, c = at % VARIABLES;
    if (c == VARIABLES - 1 && point % 101 == 7)
        return -9999;
    return least[c] * (1 + 0.1 * sin(point * 0.01 + c)) + 0.01 * check_unit((uint64_t)at, 3);
}

static void fill(void *dst, bool wide, bool points)
{
    for (int i = 0; i < count * Y * X; i++) {
        const int at = first * Y * X + i;
        const double x =
            points ? state(at)
                   : 300 + 20 * sin(at * 1e-3) + 7 * cos(at * 0.11) + check_unit((uint64_t)at, 3);
        if (wide)
            ((double *)dst)[i] = x;
        else
            ((float *)dst)[i] = (float)x;
    }
}

static MPI_File open_file(const char *bound, MPI_Datatype type, int mode)
{
    const int sizes[3] = {Z, Y, X}, part[3] = {count, Y, X}, start[3] = {first, 0, 0};
    MPI_Datatype view;
    MPI_Info info;
    MPI_File f;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "zmpi_error_bound", bound));
    OK(MPI_File_open(MPI_COMM_WORLD, path, mode, info, &f));
    OK(MPI_Type_create_subarray(3, sizes, part, start, MPI_ORDER_C, type, &view));
    OK(MPI_Type_commit(&view));
    OK(MPI_File_set_view(f, 0, type, view, "native", MPI_INFO_NULL));
    OK(MPI_Type_free(&view));
    OK(MPI_Info_free(&info));
    return f;
}

/* One cycle: src to the file, and back to dst. */
static void cycle(const char *bound, MPI_Datatype type, const void *src, void *dst)
{
    const int n = count * Y * X;
    MPI_File f = open_file(bound, type, MPI_MODE_CREATE | MPI_MODE_WRONLY);
    OK(MPI_File_write_all(f, src, n, type, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&f));
    f = open_file(bound, type, MPI_MODE_RDONLY);
    OK(MPI_File_read_all(f, dst, n, type, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&f));
    if (rank == 0)
        OK(MPI_File_delete(path, MPI_INFO_NULL));
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void restart(const char *bound, bool wide, bool points)
{
    const MPI_Datatype type = wide ? MPI_DOUBLE : MPI_FLOAT;
    const size_t bytes = (size_t)(count * Y * X) * (wide ? 8 : 4);
    void *source = check_alloc(bytes), *once = check_alloc(bytes), *now = check_alloc(bytes);
    fill(source, wide, points);
    cycle(bound, type, source, once);
    CHECK_SAY(memcmp(source, once, bytes) != 0, "nothing was lossy");
    memcpy(now, once, bytes);
    for (int i = 1; i < CYCLES; i++) {
        cycle(bound, type, now, now);
        check_say("%s, %s%s, cycle %d", bound, wide ? "f64" : "f32", points ? " points" : "", i);
        CHECK_BYTES(now, once, bytes);
    }
    free(source);
    free(once);
    free(now);
}

int main(int argc, char **argv)
{
    static const char *const bounds[] = {"abs=1e-2",    "rel=1e-2", "rel=1e-4", "psnr=60",
                                         "pw_rel=1e-3", "ratio=6",  "ratio=12"};
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    first = Z * rank / ranks;
    count = Z * (rank + 1) / ranks - first;
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        restart(bounds[i], false, false);
        restart(bounds[i], true, false);
        restart(bounds[i], i % 2, true);
    }
    OK(MPI_Finalize());
    return 0;
}
