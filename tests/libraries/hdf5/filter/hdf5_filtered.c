/*
 * hdf5_filtered.c - write | read | twice | seen | alone | first | converted | faulty PATH: a
 * parallel HDF5 program, whose datasets go through the filter with ZMPI_HDF5=filter. `read` reads
 * all of them and compares nothing. `twice` writes into existing datasets. `seen` reads each new
 * one by independent transfers, before and after a write of all ranks, and must see what was
 * written. The others write one dataset and say whether that failed: `alone` by an independent
 * transfer, `first` by one of rank 0 while the others wait, `converted` from doubles to floats,
 * `faulty` by a collective transfer.
 */
#include <hdf5.h>
#include <math.h>

#include "../../../mpi/check.h"

#define FILL (-9.9e30)

#define H5(call)                                                                                   \
    do {                                                                                           \
        if ((call) < 0)                                                                            \
            check_fail(__FILE__, __LINE__, "%s", #call);                                           \
    } while (0)

enum kind { PLAIN, CHUNKED, GROWN, FILLED, GZIP, CONVERTED, STRIDED, ANONYMOUS, OLD };

static const struct set {
    const char *name;
    enum kind kind;
    int rank;
    hsize_t size[3];
} sets[] = {
    {"/rho", PLAIN, 2, {96, 200}},       {"/big", PLAIN, 3, {6, 500, 1000}},
    {"/line", PLAIN, 1, {700000}},       {"/fields/p", OLD, 2, {96, 200}},
    {"/chunked", CHUNKED, 2, {96, 200}}, {"/grown", GROWN, 2, {96, 200}},
    {"/filled", FILLED, 2, {96, 200}},   {"/gzip", GZIP, 2, {96, 200}},
    {"/strided", STRIDED, 2, {96, 200}}, {"/unnamed", ANONYMOUS, 2, {96, 200}},
    {"/small", PLAIN, 2, {10, 10}},      {"/fields/whole", PLAIN, 2, {96, 200}},
};
static const struct set converted_set = {"/converted", CONVERTED, 2, {96, 200}};
enum { SETS = sizeof sets / sizeof *sets };

static int rank, ranks;

static size_t points(const struct set *s)
{
    size_t all = 1;
    for (int i = 0; i < s->rank; i++)
        all *= s->size[i];
    return all;
}

/* The first plane or row varies a thousand times more than the last one. */
static double value(const struct set *s, size_t i)
{
    const double part = (double)i / (double)points(s);
    if (s->kind == FILLED && i % 7 == 0)
        return FILL;
    return pow(1000, 1 - part) * sin(0.01 * (double)i);
}

static hid_t open_file(const char *path, bool create)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), file;
    H5(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL));
    file = create ? H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access)
                  : H5Fopen(path, H5F_ACC_RDWR, access);
    H5(file);
    H5(H5Pclose(access));
    return file;
}

static hid_t create_set(hid_t file, const struct set *s)
{
    const hsize_t chunk[3] = {25, 200, 0}, most[3] = {H5S_UNLIMITED, 200, 0};
    hsize_t first[3] = {10, 200, 0};
    const double fill = FILL;
    const hid_t type = s->kind == CONVERTED || s->rank == 3 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
    hid_t list = H5Pcreate(H5P_DATASET_CREATE), set;
    hid_t space = s->kind == GROWN ? H5Screate_simple(2, first, most)
                                   : H5Screate_simple(s->rank, s->size, NULL);
    if (s->kind == CHUNKED || s->kind == GROWN || s->kind == GZIP)
        H5(H5Pset_chunk(list, 2, chunk));
    if (s->kind == GZIP)
        H5(H5Pset_deflate(list, 1));
    if (s->kind == FILLED)
        H5(H5Pset_fill_value(list, H5T_NATIVE_DOUBLE, &fill));
    if (s->kind == ANONYMOUS) {
        set = H5Dcreate_anon(file, type, space, list, H5P_DEFAULT);
        H5(set);
        H5(H5Olink(set, file, s->name, H5P_DEFAULT, H5P_DEFAULT));
    } else if (s->kind == OLD) {
        hid_t group = H5Gopen2(file, "fields", H5P_DEFAULT);
        set = H5Dcreate1(group, "p", type, space, H5P_DEFAULT);
        H5(H5Gclose(group));
    } else {
        set = H5Dcreate2(file, s->name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    }
    H5(set);
    if (s->kind == GROWN)
        H5(H5Dset_extent(set, s->size));
    H5(H5Pclose(list));
    H5(H5Sclose(space));
    return set;
}

/* Each rank writes its rows; the last one of several has none. `strided`: the data are every other
 * element in memory. */
static herr_t write_rows(hid_t set, const struct set *s, bool together)
{
    const hsize_t row = points(s) / s->size[0];
    const hsize_t writers = (hsize_t)(ranks == 1 ? 1 : ranks - 1), me = (hsize_t)rank;
    hsize_t start[3] = {me < writers ? s->size[0] * me / writers : 0, 0, 0};
    hsize_t count[3] = {me < writers ? s->size[0] * (me + 1) / writers - start[0] : 0, s->size[1],
                        s->size[2]};
    const hsize_t own = count[0] * row, step = s->kind == STRIDED ? 2 : 1;
    hsize_t capacity = own * step + 1, zero = 0;
    double *data = calloc(capacity, sizeof *data);
    for (hsize_t i = 0; i < own; i++)
        data[i * step] = value(s, start[0] * row + i);
    for (hsize_t i = 0; i < own && step > 1; i++)
        data[i * step + 1] = 1e300; /* the write leaves it out */
    hid_t place = H5Dget_space(set), how = H5Pcreate(H5P_DATASET_XFER);
    hid_t memory = H5Screate_simple(1, &capacity, NULL);
    H5(H5Pset_dxpl_mpio(how, together ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT));
    if (own) {
        H5(H5Sselect_hyperslab(place, H5S_SELECT_SET, start, NULL, count, NULL));
        H5(H5Sselect_hyperslab(memory, H5S_SELECT_SET, &zero, &step, &own, NULL));
    } else {
        H5(H5Sselect_none(place));
        H5(H5Sselect_none(memory));
    }
    if (s->rank == 3)
        for (hsize_t i = 0; i < own; i++) /* in place: no float overwrites a later double */
            ((float *)data)[i] = (float)data[i];
    const hid_t type = s->rank == 3 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
    const herr_t rc = H5Dwrite(set, type, memory, place, how, data);
    free(data);
    H5(H5Sclose(memory));
    H5(H5Sclose(place));
    H5(H5Pclose(how));
    return rc;
}

/* Must see fill values first, and then what all ranks have written, within 1. */
static void see_set(hid_t file, const struct set *s)
{
    double *data = malloc(points(s) * sizeof *data);
    hid_t set = create_set(file, s);
    CHECK(data);
    for (int written = 0; written < 2; written++) {
        if (written)
            H5(write_rows(set, s, true));
        H5(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
        for (size_t i = 0; i < points(s); i++)
            CHECK_SAY(fabs(data[i] - (written ? value(s, i) : 0)) <= 1, "%s, %zu: %g, not %g",
                      s->name, i, data[i], value(s, i));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    H5(H5Dclose(set));
    free(data);
}

static void read_set(hid_t file, const struct set *s)
{
    double *data = malloc(points(s) * sizeof *data);
    hid_t set = H5Dopen2(file, s->name, H5P_DEFAULT);
    H5(set);
    H5(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
    H5(H5Dclose(set));
    free(data);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    const char *what = argc == 3 ? argv[1] : "";
    const bool create = strcmp(what, "read") != 0 && strcmp(what, "twice") != 0;
    hid_t file = open_file(argv[2], create);
    if (create)
        H5(H5Gclose(H5Gcreate2(file, "/fields", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)));
    const bool first = strcmp(what, "first") == 0, converted = strcmp(what, "converted") == 0;
    const bool faulty = strcmp(what, "faulty") == 0;
    if (strcmp(what, "seen") == 0) {
        see_set(file, &sets[0]);
        see_set(file, &sets[3]);
        see_set(file, &sets[4]);
        see_set(file, &sets[9]);
    } else if (first || converted || faulty || strcmp(what, "alone") == 0) {
        const struct set *s = converted ? &converted_set : &sets[0];
        hid_t set = create_set(file, s);
        H5(H5Eset_auto2(H5E_DEFAULT, NULL, NULL));
        const herr_t rc = first && rank > 0 ? 0 : write_rows(set, s, converted || faulty);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            printf("%s: %s\n", what, rc < 0 ? "refused" : "written");
        H5(H5Dclose(set));
    } else {
        for (int i = 0; i < SETS; i++) {
            if (strcmp(what, "read") == 0) {
                read_set(file, &sets[i]);
                continue;
            }
            hid_t set =
                create ? create_set(file, &sets[i]) : H5Dopen2(file, sets[i].name, H5P_DEFAULT);
            H5(set);
            H5(write_rows(set, &sets[i], true));
            H5(H5Dclose(set));
        }
    }
    H5(H5Fclose(file));
    MPI_Finalize();
}
