/*
 * netcdf_filter.c - PATH: a netCDF-4 program that asks for zmpi's filter itself, by
 * nc_def_var_filter, as docs/guide.md says. HDF5_PLUGIN_PATH names the filter's folder. All ranks
 * write, together; what is read must be within 1e-3 of the range, and not exact.
 */
#include <math.h>
#include <netcdf.h>
#include <netcdf_filter.h>
#include <netcdf_par.h>

#include "../mpi/check.h"

enum { NY = 80, NX = 200, ID = 497 };

static void nc(const char *file, int line, int status)
{
    if (status != NC_NOERR)
        check_fail(file, line, "%s", nc_strerror(status));
}
#define NC(call) nc(__FILE__, __LINE__, call)

int main(int argc, char **argv)
{
    static float data[NY * NX], back[NY * NX];
    int file, axes[2], rho;
    MPI_Init(&argc, &argv);
    const size_t rank = (size_t)check_rank(MPI_COMM_WORLD);
    const size_t ranks = (size_t)check_ranks(MPI_COMM_WORLD);
    const size_t start[2] = {rank * NY, 0}, count[2] = {NY, NX}, chunk[2] = {NY, NX};
    CHECK(argc == 2);
    for (int i = 0; i < NY * NX; i++)
        data[i] = (float)(5 * sin(0.01 * i));
    check_remove(argv[1], MPI_COMM_WORLD);
    NC(nc_create_par(argv[1], NC_NETCDF4 | NC_CLOBBER, MPI_COMM_WORLD, MPI_INFO_NULL, &file));
    NC(nc_def_dim(file, "y", NY * ranks, &axes[0]));
    NC(nc_def_dim(file, "x", NX, &axes[1]));
    NC(nc_def_var(file, "rho", NC_FLOAT, 2, axes, &rho));
    NC(nc_def_var_chunking(file, rho, NC_CHUNKED, chunk));
    NC(nc_def_var_fill(file, rho, NC_NOFILL, NULL));
    NC(nc_def_var_filter(file, rho, ID, 3, (unsigned[]){2, 1, 3}));
    NC(nc_enddef(file));
    NC(nc_var_par_access(file, rho, NC_COLLECTIVE));
    NC(nc_put_vara_float(file, rho, start, count, data));
    NC(nc_close(file));

    unsigned id;
    size_t parameters;
    double largest = 0;
    NC(nc_open_par(argv[1], NC_NOWRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &file));
    NC(nc_inq_varid(file, "rho", &rho));
    NC(nc_inq_var_filter(file, rho, &id, &parameters, NULL));
    CHECK_EQUAL(id, ID);
    NC(nc_get_vara_float(file, rho, start, count, back));
    NC(nc_close(file));
    for (int i = 0; i < NY * NX; i++)
        largest = fmax(largest, fabs((double)back[i] - (double)data[i]));
    CHECK_SAY(largest > 0 && largest <= 1e-2, "largest error %g", largest);
    MPI_Finalize();
    return 0;
}
