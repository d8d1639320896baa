/* hdf5.c - write PATH | read PATH: a parallel HDF5 program: a 2-D float array in blocks of columns,
 * an attribute, a chunked array that grows. */
#include <hdf5.h>

#include "../mpi/check.h"

enum { ROWS = 120, COLUMNS = 50 };

#define H5(call)                                                                                   \
    do {                                                                                           \
        if ((call) < 0)                                                                            \
            check_fail(__FILE__, __LINE__, "%s", #call);                                           \
    } while (0)

static int rank, ranks;

static float value(int row, int column, int round)
{
    return (float)(0.1 * row - 0.003 * column * column + round);
}

static hid_t open_file(const char *path, bool write)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), file;
    H5(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL));
    file = write ? H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access)
                 : H5Fopen(path, H5F_ACC_RDWR, access);
    H5(file);
    H5(H5Pclose(access));
    return file;
}

/* The data of `round` to or from this rank's columns. */
static void transfer(hid_t set, int round, bool write)
{
    float data[ROWS * COLUMNS] = {0};
    hsize_t start[2] = {(hsize_t)(round * ROWS), (hsize_t)(rank * COLUMNS)},
            count[2] = {ROWS, COLUMNS};
    hid_t memory = H5Screate_simple(2, count, NULL), place = H5Dget_space(set);
    hid_t how = H5Pcreate(H5P_DATASET_XFER);
    H5(H5Sselect_hyperslab(place, H5S_SELECT_SET, start, NULL, count, NULL));
    H5(H5Pset_dxpl_mpio(how, H5FD_MPIO_COLLECTIVE));
    for (int i = 0; i < ROWS * COLUMNS && write; i++)
        data[i] = value(i / COLUMNS, rank * COLUMNS + i % COLUMNS, round);
    if (write)
        H5(H5Dwrite(set, H5T_NATIVE_FLOAT, memory, place, how, data));
    else
        H5(H5Dread(set, H5T_NATIVE_FLOAT, memory, place, how, data));
    for (int i = 0; i < ROWS * COLUMNS; i++)
        CHECK(data[i] == value(i / COLUMNS, rank * COLUMNS + i % COLUMNS, round));
    H5(H5Pclose(how));
    H5(H5Sclose(place));
    H5(H5Sclose(memory));
}

static void write_file(const char *path)
{
    hid_t file = open_file(path, true);
    hsize_t size[2] = {ROWS, (hsize_t)(ranks * COLUMNS)}, most[2] = {H5S_UNLIMITED, size[1]},
            chunk[2] = {ROWS / 2, COLUMNS};
    hid_t fixed = H5Screate_simple(2, size, NULL), growing = H5Screate_simple(2, size, most);
    hid_t chunked = H5Pcreate(H5P_DATASET_CREATE);
    H5(H5Pset_chunk(chunked, 2, chunk));
    hid_t field =
        H5Dcreate2(file, "field", H5T_IEEE_F32LE, fixed, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t steps =
        H5Dcreate2(file, "steps", H5T_IEEE_F32LE, growing, H5P_DEFAULT, chunked, H5P_DEFAULT);
    transfer(field, 0, true);
    for (int round = 0; round < 3; round++) {
        size[0] = (hsize_t)(ROWS * (round + 1));
        H5(H5Dset_extent(steps, size));
        transfer(steps, round, true);
        transfer(steps, round, false);
    }
    double dt = 0.125;
    hid_t scalar = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(field, "dt", H5T_IEEE_F64LE, scalar, H5P_DEFAULT, H5P_DEFAULT);
    H5(H5Awrite(attribute, H5T_NATIVE_DOUBLE, &dt));
    H5(H5Aclose(attribute));
    H5(H5Sclose(scalar));
    H5(H5Pclose(chunked));
    H5(H5Sclose(fixed));
    H5(H5Sclose(growing));
    H5(H5Dclose(field));
    H5(H5Dclose(steps));
    H5(H5Fclose(file));
}

static void read_file(const char *path)
{
    hid_t file = open_file(path, false);
    hid_t field = H5Dopen2(file, "field", H5P_DEFAULT),
          steps = H5Dopen2(file, "steps", H5P_DEFAULT);
    transfer(field, 0, false);
    for (int round = 0; round < 3; round++)
        transfer(steps, round, false);
    double dt = 0;
    hid_t attribute = H5Aopen(field, "dt", H5P_DEFAULT);
    H5(H5Aread(attribute, H5T_NATIVE_DOUBLE, &dt));
    CHECK(dt == 0.125);
    H5(H5Aclose(attribute));
    H5(H5Dclose(field));
    H5(H5Dclose(steps));
    H5(H5Fclose(file));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    if (strcmp(argv[1], "write") == 0)
        write_file(argv[2]);
    else
        read_file(argv[2]);
    MPI_Finalize();
}
