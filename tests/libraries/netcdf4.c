/*
 * netcdf4.c - write PATH | read PATH BOUND: a parallel netCDF-4 program: a field in slabs, one that
 * grows step by step, one in chunks by independent access, integers, attributes and a fill value.
 * `read` finds floats within the bound, and all else as it was written.
 */
#include <math.h>
#include <netcdf.h>
#include <netcdf_par.h>

#include "../mpi/check.h"

enum { NZ = 16, NY = 60, NX = 120, STEPS = 3 };

#define FILL (-9.5f)

static int rank, ranks;
static double bound;

static void nc(const char *file, int line, int status)
{
    if (status != NC_NOERR)
        check_fail(file, line, "%s", nc_strerror(status));
}
#define NC(call) nc(__FILE__, __LINE__, call)

static double value(size_t i, int step)
{
    const double z = (double)(i / (NY * NX)) + rank * NZ, y = (double)(i / NX % NY),
                 x = (double)(i % NX);
    return 280 + 20 * sin(0.1 * z + 0.3 * step) * cos(0.07 * y) + 3 * sin(0.05 * x);
}

static bool is_missing(size_t i)
{
    return i % NX < 10;
}

/* What rank `rank` has of each variable. */
static float field[NZ * NY * NX];
static double wide[NZ * NY * NX];
static int names[NZ];

static void fill(int step, bool missing)
{
    for (size_t i = 0; i < NZ * NY * NX; i++) {
        wide[i] = value(i, step);
        field[i] = missing && is_missing(i) ? FILL : (float)wide[i];
    }
    for (int i = 0; i < NZ; i++)
        names[i] = rank * NZ + i;
}

struct variables {
    int field, steps, chunked, names;
};

static int define(int file, struct variables *v)
{
    const size_t chunk[3] = {8, NY, NX};
    const float missing = FILL;
    int dim[4];
    NC(nc_def_dim(file, "time", NC_UNLIMITED, &dim[0]));
    NC(nc_def_dim(file, "z", (size_t)(NZ * ranks), &dim[1]));
    NC(nc_def_dim(file, "y", NY, &dim[2]));
    NC(nc_def_dim(file, "x", NX, &dim[3]));
    NC(nc_def_var(file, "field", NC_FLOAT, 3, dim + 1, &v->field));
    NC(nc_def_var_fill(file, v->field, 0, &missing));
    NC(nc_put_att_text(file, v->field, "units", 1, "K"));
    NC(nc_def_var(file, "steps", NC_DOUBLE, 4, dim, &v->steps));
    NC(nc_def_var(file, "chunked", NC_DOUBLE, 3, dim + 1, &v->chunked));
    NC(nc_def_var_chunking(file, v->chunked, NC_CHUNKED, chunk));
    NC(nc_def_var(file, "names", NC_INT, 1, dim + 1, &v->names));
    return nc_enddef(file);
}

static void find(int file, struct variables *v)
{
    NC(nc_inq_varid(file, "field", &v->field));
    NC(nc_inq_varid(file, "steps", &v->steps));
    NC(nc_inq_varid(file, "chunked", &v->chunked));
    NC(nc_inq_varid(file, "names", &v->names));
}

static void access_all(int file, const struct variables *v)
{
    NC(nc_var_par_access(file, v->field, NC_COLLECTIVE));
    NC(nc_var_par_access(file, v->steps, NC_COLLECTIVE));
    NC(nc_var_par_access(file, v->names, NC_COLLECTIVE));
    NC(nc_var_par_access(file, v->chunked, NC_INDEPENDENT));
}

static void write_file(const char *path)
{
    struct variables v;
    size_t start[4] = {0, (size_t)(rank * NZ), 0, 0}, count[4] = {1, NZ, NY, NX};
    int file;
    NC(nc_create_par(path, NC_NETCDF4 | NC_CLOBBER, MPI_COMM_WORLD, MPI_INFO_NULL, &file));
    NC(define(file, &v));
    access_all(file, &v);
    fill(0, true);
    NC(nc_put_vara_float(file, v.field, start + 1, count + 1, field));
    NC(nc_put_vara_double(file, v.chunked, start + 1, count + 1, wide));
    NC(nc_put_vara_int(file, v.names, start + 1, count + 1, names));
    for (int step = 0; step < STEPS; step++) {
        start[0] = (size_t)step;
        fill(step, false);
        NC(nc_put_vara_double(file, v.steps, start, count, wide));
        NC(nc_sync(file));
    }
    NC(nc_close(file));
}

static void check_doubles(const double *is, const char *what)
{
    double largest = 0;
    for (size_t i = 0; i < NZ * NY * NX; i++)
        largest = fmax(largest, fabs(is[i] - wide[i]));
    CHECK_SAY(largest <= bound && (largest > 0) == (bound > 0), "%s: error %g", what, largest);
}

static void read_file(const char *path)
{
    static double is[NZ * NY * NX];
    static float narrow[NZ * NY * NX];
    int names_read[NZ], file;
    struct variables v;
    size_t start[4] = {0, (size_t)(rank * NZ), 0, 0}, count[4] = {1, NZ, NY, NX};
    NC(nc_open_par(path, NC_NOWRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &file));
    find(file, &v);
    access_all(file, &v);
    fill(0, true);
    NC(nc_get_vara_float(file, v.field, start + 1, count + 1, narrow));
    for (size_t i = 0; i < NZ * NY * NX; i++)
        CHECK_SAY(fabs((double)narrow[i] - (double)field[i]) <= (is_missing(i) ? 0 : bound),
                  "field: %.9g, written %.9g", (double)narrow[i], (double)field[i]);
    NC(nc_get_vara_double(file, v.chunked, start + 1, count + 1, is));
    check_doubles(is, "chunked");
    NC(nc_get_vara_int(file, v.names, start + 1, count + 1, names_read));
    CHECK_BYTES(names_read, names, sizeof names);
    for (int step = 0; step < STEPS; step++) {
        start[0] = (size_t)step;
        fill(step, false);
        NC(nc_get_vara_double(file, v.steps, start, count, is));
        check_doubles(is, "steps");
    }
    NC(nc_close(file));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    bound = argc > 3 ? strtod(argv[3], NULL) : 0;
    if (strcmp(argv[1], "write") == 0)
        write_file(argv[2]);
    else
        read_file(argv[2]);
    MPI_Finalize();
}
