/*
 * call_rules.c - rules that name single write calls: coordinates exact, one field finer than the
 * others. Collective calls are counted for themselves, independent ones for each rank.
 *
 * zmpi-test: RANKS 1,3
 */
#include "check.h"

#include <math.h>

enum { N = 20000, CALLS = 6 };

static const char path[] = "call_rules.z";
static int rank, ranks;

static double value(int call, int i)
{
    return 10 * call + sin(i * 1e-3) + 0.01 * check_unit((uint64_t)(call + 1), (uint64_t)i);
}

/* Settings are read in MPI_Init, by each rank. */
static void set_rules(void)
{
    char name[64];
    snprintf(name, sizeof name, "call_rules.%d.ini", (int)getpid());
    FILE *f = fopen(name, "w");
    CHECK(f != NULL);
    fputs("[call_rules.z]\nerror_bound = abs=0.1\n[call_*.z #1-2]\nerror_bound = lossless\n"
          "[call_rules.z #4]\nerror_bound = abs=0.001\n"
          "[only_*.z #2]\nerror_bound = abs=0.1\n",
          f);
    CHECK(fclose(f) == 0);
    CHECK(setenv("ZMPI_CONFIG", name, 1) == 0);
}

/* Bounds of calls 1 to 6, of the first and the second file. */
static double bound_of(const char *file, int call)
{
    if (file[0] == 'o')
        return call == 2 ? 0.1 : 0;
    return call <= 2 ? 0 : call == 4 ? 0.001 : 0.1;
}

/* What a program is told of a file and gives back is no hint of its own. */
static void give_back(MPI_File f)
{
    MPI_Info info;
    OK(MPI_File_get_info(f, &info));
    OK(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", info));
    OK(MPI_Info_free(&info));
}

static void check_calls(const char *file, bool collective)
{
    double *data = check_alloc(N * 8), *back = check_alloc(N * 8);
    MPI_File f;
    OK(MPI_File_open(MPI_COMM_WORLD, file, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
    for (int call = 1; call <= CALLS; call++) {
        const MPI_Offset at = (MPI_Offset)(call * ranks + rank) * N * 8;
        if (call == 1 || call == 3)
            give_back(f);
        for (int i = 0; i < N; i++)
            data[i] = value(call, i);
        if (collective)
            OK(MPI_File_write_at_all(f, at, data, N, MPI_DOUBLE, MPI_STATUS_IGNORE));
        else
            OK(MPI_File_write_at(f, at, data, N, MPI_DOUBLE, MPI_STATUS_IGNORE));
    }
    check_sync(f, MPI_COMM_WORLD);
    for (int call = 1; call <= CALLS; call++) {
        const double bound = bound_of(file, call);
        double worst = 0;
        OK(MPI_File_read_at(f, (MPI_Offset)(call * ranks + rank) * N * 8, back, N, MPI_DOUBLE,
                            MPI_STATUS_IGNORE));
        for (int i = 0; i < N; i++)
            worst = fmax(worst, fabs(back[i] - value(call, i)));
        check_say("%s, %s, call %d", file, collective ? "collective" : "independent", call);
        CHECK_SAY(worst <= bound && worst >= bound / 4, "off by %g, bound %g", worst, bound);
    }
    OK(MPI_File_close(&f));
    check_remove(file, MPI_COMM_WORLD);
    free(data);
    free(back);
}

int main(int argc, char **argv)
{
    set_rules();
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    for (int collective = 0; collective < 2; collective++) {
        check_calls(path, collective);
        check_calls("only_calls.z", collective);
    }
    remove(getenv("ZMPI_CONFIG"));
    OK(MPI_Finalize());
    return 0;
}
