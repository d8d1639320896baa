/*
 * field FIELD NZ NY NX PATH: a raw field of floats as a variable of a netCDF file, written
 * together, each rank a slab: by netCDF-4, or, compiled with -DPNETCDF, by PnetCDF.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef PNETCDF
#include <pnetcdf.h>
#define NC(name) ncmpi_##name
typedef MPI_Offset size;
#else
#include <netcdf.h>
#include <netcdf_par.h>
#define NC(name) nc_##name
typedef size_t size;
#endif

static void ok(int status, const char *call)
{
    if (status != NC_NOERR) {
        fprintf(stderr, "field: %s: %s\n", call, NC(strerror)(status));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}
#define OK(call) ok(call, #call)

static float *read_slab(const char *path, size first, size count)
{
    float *data = malloc((size_t)count * sizeof *data);
    FILE *from = fopen(path, "rb");
    if (!data || !from || fseek(from, (long)((size_t)first * sizeof *data), SEEK_SET) ||
        fread(data, sizeof *data, (size_t)count, from) != (size_t)count) {
        fprintf(stderr, "field: cannot read %s\n", path);
        MPI_Abort(MPI_COMM_WORLD, 1);
        exit(1);
    }
    fclose(from);
    return data;
}

int main(int argc, char **argv)
{
    int rank, ranks, file, axes[3], variable;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 6)
        MPI_Abort(MPI_COMM_WORLD, 2);
    const size nz = atoi(argv[2]), ny = atoi(argv[3]), nx = atoi(argv[4]);
    const size from = nz * (size)rank / (size)ranks, to = nz * (size)(rank + 1) / (size)ranks;
    const size start[3] = {from, 0, 0}, count[3] = {to - from, ny, nx};
    float *const data = read_slab(argv[1], from * ny * nx, (to - from) * ny * nx);

#ifdef PNETCDF
    OK(ncmpi_create(MPI_COMM_WORLD, argv[5], NC_CLOBBER, MPI_INFO_NULL, &file));
#else
    OK(nc_create_par(argv[5], NC_CLOBBER | NC_NETCDF4, MPI_COMM_WORLD, MPI_INFO_NULL, &file));
#endif
    OK(NC(def_dim)(file, "z", nz, &axes[0]));
    OK(NC(def_dim)(file, "y", ny, &axes[1]));
    OK(NC(def_dim)(file, "x", nx, &axes[2]));
    OK(NC(def_var)(file, "field", NC_FLOAT, 3, axes, &variable));
    OK(NC(enddef)(file));
#ifdef PNETCDF
    OK(ncmpi_put_vara_float_all(file, variable, start, count, data));
#else
    OK(nc_var_par_access(file, variable, NC_COLLECTIVE));
    OK(nc_put_vara_float(file, variable, start, count, data));
#endif
    OK(NC(close)(file));
    free(data);
    MPI_Finalize();
    return 0;
}
