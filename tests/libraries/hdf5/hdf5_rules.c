/*
 * hdf5_rules.c - write | errors PATH: a parallel HDF5 program with datasets that rules name.
 * `errors` prints the largest error of each dataset, and that of its fill values.
 */
#include <hdf5.h>
#include <math.h>

#include "../../mpi/check.h"

enum { ROWS = 64, COLUMNS = 200, CHUNK = 16 };

#define FILL 0.7123 /* lies between the other values */

#define H5(call)                                                                                   \
    do {                                                                                           \
        if ((call) < 0)                                                                            \
            check_fail(__FILE__, __LINE__, "%s", #call);                                           \
    } while (0)

static const char *const names[] = {
    "/fields/rho", "/fields/rho_old", "/fields/p", "/grid/x",  "/filled",
    "/chunks",     "/ratio",          "/alone",    "/alone_p", NULL};

static int rank, ranks;

static bool is_filled(const char *name, int row, int column)
{
    return strcmp(name, "/filled") == 0 && (row * COLUMNS + column) % 7 == 0;
}

static double value(const char *name, int row, int column)
{
    if (is_filled(name, row, column))
        return FILL;
    return 5 + 4 * sin(0.05 * row) * cos(0.03 * column) + 0.1 * (double)strlen(name);
}

static hid_t open_file(const char *path, bool create)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), file;
    H5(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL));
    file = create ? H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access)
                  : H5Fopen(path, H5F_ACC_RDONLY, access);
    H5(file);
    H5(H5Pclose(access));
    return file;
}

static hid_t create_set(hid_t file, const char *name)
{
    const hsize_t size[2] = {ROWS, COLUMNS}, chunk[2] = {CHUNK, COLUMNS};
    const double fill = FILL;
    hid_t list = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(2, size, NULL);
    if (strcmp(name, "/filled") == 0)
        H5(H5Pset_fill_value(list, H5T_NATIVE_DOUBLE, &fill));
    if (strcmp(name, "/chunks") == 0) {
        H5(H5Pset_chunk(list, 2, chunk));
        H5(H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY));
    }
    hid_t set = H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    H5(set);
    H5(H5Pclose(list));
    H5(H5Sclose(space));
    return set;
}

/* Writes whole chunks as they will be in the file: zmpi cannot know what is in them. */
static void write_chunks(hid_t set, const double *data)
{
    for (hsize_t row = 0; row < ROWS; row += CHUNK) {
        const hsize_t at[2] = {row, 0};
        if ((int)(row / CHUNK) % ranks == rank)
            H5(H5Dwrite_chunk(set, H5P_DEFAULT, 0, at, CHUNK * COLUMNS * sizeof *data,
                              data + row * COLUMNS));
    }
}

/* All ranks write together, each its rows, and the last one none; only the first rank writes
 * "/alone...". */
static void write_rows(hid_t set, bool together, const double *data)
{
    const int writers = !together || ranks == 1 ? 1 : ranks - 1;
    const int first = ROWS * rank / writers, end = ROWS * (rank + 1) / writers;
    hsize_t start[2] = {(hsize_t)first, 0}, count[2] = {(hsize_t)(end - first), COLUMNS};
    hid_t place = H5Dget_space(set), how = H5Pcreate(H5P_DATASET_XFER);
    H5(H5Pset_dxpl_mpio(how, together ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT));
    hid_t memory = H5Screate_simple(2, count, NULL);
    if (rank < writers) {
        H5(H5Sselect_hyperslab(place, H5S_SELECT_SET, start, NULL, count, NULL));
    } else {
        H5(H5Sselect_none(place));
        H5(H5Sselect_none(memory));
    }
    if (together || rank == 0)
        H5(H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, place, how,
                    data + (rank < writers ? first * COLUMNS : 0)));
    H5(H5Sclose(memory));
    H5(H5Sclose(place));
    H5(H5Pclose(how));
}

static void write_set(hid_t file, const char *name, double *data)
{
    for (int i = 0; i < ROWS * COLUMNS; i++)
        data[i] = value(name, i / COLUMNS, i % COLUMNS);
    hid_t set = create_set(file, name);
    if (strcmp(name, "/chunks") == 0)
        write_chunks(set, data);
    else
        write_rows(set, strncmp(name, "/alone", 6) != 0, data);
    H5(H5Dclose(set));
}

static void tell_errors(hid_t file, const char *name, double *data)
{
    double largest = 0, of_fill = 0;
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
    H5(set);
    H5(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        const double error = fabs(data[i] - value(name, i / COLUMNS, i % COLUMNS));
        if (is_filled(name, i / COLUMNS, i % COLUMNS))
            of_fill = fmax(of_fill, error);
        else
            largest = fmax(largest, error);
    }
    if (rank == 0)
        printf("%s %.3g %.3g\n", name, largest, of_fill);
    H5(H5Dclose(set));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    const bool create = argc == 3 && strcmp(argv[1], "write") == 0;
    double *data = malloc(ROWS * COLUMNS * sizeof *data);
    hid_t file = open_file(argv[2], create);
    if (create) {
        H5(H5Gclose(H5Gcreate2(file, "/fields", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)));
        H5(H5Gclose(H5Gcreate2(file, "/grid", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)));
    }
    for (int i = 0; names[i]; i++) {
        if (create)
            write_set(file, names[i], data);
        else
            tell_errors(file, names[i], data);
    }
    H5(H5Fclose(file));
    free(data);
    MPI_Finalize();
}
