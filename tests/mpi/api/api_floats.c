/*
 * api_floats.c - a program that traps floating-point exceptions changes the bound of a file while
 * data with NaN and fill values are held back: they are coded in that call.
 *
 * zmpi-test: RANKS 1,2 ENV ZMPI_ERROR_BOUND=abs=1e-3 ZMPI_STAGING=4M
 */
#define _GNU_SOURCE // feenableexcept
#include "check.h"

#include <fenv.h>
#include <math.h>
#include <zmpi.h>

enum { N = 4000, CALLS = 20, TRAPS = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW };

static const char path[] = "api_floats.z";

int main(int argc, char **argv)
{
    static const char *const bounds[] = {"rel=1e-3", "psnr=60", "ratio=8", "pw_rel=1e-3"};
    static const float special[] = {NAN, INFINITY, 1e30F, -1e38F};
    static float data[N];
    MPI_File file;
    OK(MPI_Init(&argc, &argv));
    const int rank = check_rank(MPI_COMM_WORLD);
    for (int i = 0; i < N; i++)
        data[i] = i % 101 == 7 ? special[i / 101 % 4] : sinf((float)i * 1e-2F);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                     &file));
    feclearexcept(FE_ALL_EXCEPT);
    feenableexcept(TRAPS);
    const int traps = fegetexcept();
    MPI_Offset at = (MPI_Offset)rank * 4 * CALLS * N * 4;
    for (int k = 0; k < 4; k++) {
        check_say("%s", bounds[k]);
        OK(zmpi_file_set_bound(file, bounds[k])); /* what is held back: by the one before */
        for (int call = 0; call < CALLS; call++, at += N * 4)
            OK(MPI_File_write_at(file, at, data, N, MPI_FLOAT, MPI_STATUS_IGNORE));
    }
    OK(zmpi_file_set_bound(file, "abs=1e-3"));
    CHECK(fegetexcept() == traps);
    CHECK(fetestexcept(TRAPS) == 0);
    OK(MPI_File_close(&file));
    check_remove(path, MPI_COMM_WORLD);
    OK(MPI_Finalize());
    return 0;
}
