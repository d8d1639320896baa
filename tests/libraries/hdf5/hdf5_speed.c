/*
 * hdf5_speed.c - what scripts/bench/bench_hdf5.sh measures.
 *
 *   hdf5_speed few FILE COUNT           COUNT datasets of ten doubles, each with an attribute
 *   hdf5_speed both FILE COUNT          the same, but every hundredth has 10,000
 *   hdf5_speed attributes FILE COUNT    a dataset with COUNT attributes
 *   hdf5_speed flush FILE COUNT         a dataset in COUNT rows, written together, each flushed
 *   hdf5_speed large FILE MIB [FIELD]   a dataset of floats, which all ranks write together:
 * FIELD's, again and again
 *
 * Prints the seconds until the file is closed, as the slowest rank has them.
 */
#include <hdf5.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;

static void check(int fine, const char *what)
{
    if (fine)
        return;
    fprintf(stderr, "hdf5_speed: %s failed\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* ---- many ---- */

enum { FEW = 10, MANY = 10000, EACH = 100 };

static void write_one(hid_t file, int i, hsize_t count, double *value)
{
    char name[32];
    const hid_t space = H5Screate_simple(1, &count, NULL), scalar = H5Screate(H5S_SCALAR);
    for (hsize_t k = 0; k < count; k++)
        value[k] = i + sin((double)k * 0.01);
    snprintf(name, sizeof name, "%s%05d", count == FEW ? "few" : "many", i);
    const hid_t set =
        H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t time = H5Acreate2(set, "time", H5T_NATIVE_DOUBLE, scalar, H5P_DEFAULT, H5P_DEFAULT);
    check(H5Awrite(time, H5T_NATIVE_DOUBLE, value) >= 0, "H5Awrite");
    H5Aclose(time);
    if (rank == 0) /* one rank only, so that ranks do not write the same bytes */
        check(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, value) >= 0,
              "H5Dwrite");
    H5Dclose(set);
    H5Sclose(space);
    H5Sclose(scalar);
}

static void write_small(hid_t file, int count, int each)
{
    double *value = malloc(MANY * sizeof *value);
    check(value != NULL, "malloc");
    for (int i = 0; i < count; i++)
        write_one(file, i, each && i % each == each - 1 ? MANY : FEW, value);
    free(value);
}

/* ---- attributes, and flushes ---- */

static void write_attributes(hid_t file, int count)
{
    const hid_t scalar = H5Screate(H5S_SCALAR);
    const hid_t set =
        H5Dcreate2(file, "set", H5T_NATIVE_DOUBLE, scalar, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    for (int i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "attribute%05d", i);
        const hid_t at = H5Acreate2(set, name, H5T_NATIVE_DOUBLE, scalar, H5P_DEFAULT, H5P_DEFAULT);
        check(H5Awrite(at, H5T_NATIVE_DOUBLE, &(double){i}) >= 0, "H5Awrite");
        H5Aclose(at);
    }
    H5Dclose(set);
    H5Sclose(scalar);
}

static void write_and_flush(hid_t file, int count)
{
    double value[EACH];
    const hsize_t extent[2] = {(hsize_t)count, EACH * (hsize_t)ranks}, own[2] = {1, EACH};
    const hid_t space = H5Screate_simple(2, extent, NULL), memory = H5Screate_simple(2, own, NULL);
    const hid_t how = H5Pcreate(H5P_DATASET_XFER);
    const hid_t set =
        H5Dcreate2(file, "rows", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Pset_dxpl_mpio(how, H5FD_MPIO_COLLECTIVE);
    for (int i = 0; i < count; i++) {
        const hsize_t start[2] = {(hsize_t)i, EACH * (hsize_t)rank};
        for (int k = 0; k < EACH; k++)
            value[k] = i + sin(k * 0.01);
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, own, NULL);
        check(H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, how, value) >= 0, "H5Dwrite");
        check(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0, "H5Fflush");
    }
    H5Dclose(set);
    H5Pclose(how);
    H5Sclose(memory);
    H5Sclose(space);
}

/* ---- large ---- */

/* The planes of les_wmag. */
enum { SIDE = 91, PLANE = SIDE * SIDE };

/* Takes floats from the file, or makes a smooth field with some noise. */
static float *field(const char *path, size_t *count)
{
    FILE *f = path ? fopen(path, "rb") : NULL;
    *count = (size_t)1 << 20;
    if (f) {
        fseek(f, 0, SEEK_END);
        *count = (size_t)ftell(f) / sizeof(float);
        rewind(f);
    }
    float *value = malloc(*count * sizeof *value);
    check(value && (!path || f), "reading the field");
    uint32_t noise = 1;
    for (size_t i = 0; i < *count && !f; i++) {
        noise = noise * 1664525u + 1013904223u;
        value[i] = (float)(sin((double)i * 1e-3) + 1e-2 * noise / UINT32_MAX);
    }
    if (f) {
        check(fread(value, sizeof *value, *count, f) == *count, "reading the field");
        fclose(f);
    }
    return value;
}

static float *repeat(const char *path, size_t count)
{
    size_t have;
    float *one = field(path, &have), *all = malloc(count * sizeof *all);
    check(all != NULL, "malloc");
    for (size_t at = 0; at < count; at += have)
        memcpy(all + at, one, (count - at < have ? count - at : have) * sizeof *all);
    free(one);
    return all;
}

/* Each rank writes its planes. */
static void write_large(hid_t file, const float *value, size_t count)
{
    const hsize_t planes = count / PLANE, extent[3] = {planes * (hsize_t)ranks, SIDE, SIDE};
    const hsize_t own[3] = {planes, SIDE, SIDE}, start[3] = {planes * (hsize_t)rank, 0, 0};
    const hid_t space = H5Screate_simple(3, extent, NULL), memory = H5Screate_simple(3, own, NULL);
    const hid_t how = H5Pcreate(H5P_DATASET_XFER);
    const hid_t set =
        H5Dcreate2(file, "rho", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Pset_dxpl_mpio(how, H5FD_MPIO_COLLECTIVE);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, own, NULL);
    check(H5Dwrite(set, H5T_NATIVE_FLOAT, memory, space, how, value) >= 0, "H5Dwrite");
    H5Dclose(set);
    H5Pclose(how);
    H5Sclose(memory);
    H5Sclose(space);
}

/* ---- all ---- */

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    check(argc > 3 && atoi(argv[3]) > 0, "the command line");
    const bool large = strcmp(argv[1], "large") == 0;
    const size_t count = large ? ((size_t)atoi(argv[3]) << 18) / (size_t)ranks / PLANE * PLANE : 0;
    float *value = large ? repeat(argc > 4 ? argv[4] : NULL, count) : NULL;
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    const hid_t file = H5Fcreate(argv[2], H5F_ACC_TRUNC, H5P_DEFAULT, access);
    check(file >= 0, "H5Fcreate");
    if (large)
        write_large(file, value, count);
    else if (strcmp(argv[1], "attributes") == 0)
        write_attributes(file, atoi(argv[3]));
    else if (strcmp(argv[1], "flush") == 0)
        write_and_flush(file, atoi(argv[3]));
    else
        write_small(file, atoi(argv[3]), strcmp(argv[1], "both") == 0 ? EACH : 0);
    check(H5Fclose(file) >= 0, "H5Fclose");
    H5Pclose(access);
    double mine = MPI_Wtime() - start, all = 0;
    MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.4f\n", all);
    free(value);
    MPI_Finalize();
    return 0;
}
