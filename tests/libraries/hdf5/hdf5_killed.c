/*
 * hdf5_killed.c - write PATH POINT [once]: a parallel HDF5 program that is killed (SIGKILL) behind
 * its POINT-th call of HDF5: all ranks, or, if POINT is even, the last one, and the launcher ends
 * the others. `once`: no chunk is written twice, as HDF5 wants it from parallel programs if
 * datasets have a filter.
 *
 * read WITHIN PATH...: says what files hold, a line for each row that is as it was written once:
 * POINT NAME ROW VERSION, where POINT stands behind the last dot of the file's name, and the
 * version is the step that wrote the row, 0 for fill values. Floats may differ by WITHIN. `wrong`
 * is a row that is no version, `unreadable` one that cannot be read. Files and datasets that cannot
 * be opened have no lines.
 */
#include <hdf5.h>
#include <math.h>
#include <signal.h>

#include "../../mpi/check.h"

#define H5(call)                                                                                   \
    do {                                                                                           \
        if ((call) < 0)                                                                            \
            check_fail(__FILE__, __LINE__, "%s", #call);                                           \
    } while (0)

enum { STEPS = 3, ROWS = 24, COLUMNS = 100, MORE = 6 }; /* MORE: rows of a chunk, and of a step */

static int rank, ranks, calls, point;
static bool once;

static void called(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (++calls != point)
        return;
    if (point % 2 || rank == ranks - 1)
        raise(SIGKILL);
    sleep(60);
}

static double value(int version, hsize_t row, int column)
{
    return version ? (double)(float)(100 * version + 10 * sin(0.03 * column + 0.2 * (double)row))
                   : 0;
}

static hid_t transfer(bool together)
{
    const hid_t how = H5Pcreate(H5P_DATASET_XFER);
    H5(H5Pset_dxpl_mpio(how, together ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT));
    return how;
}

/* Writes whole rows; each rank has some of them. */
static void write_rows(hid_t set, hid_t type, int version, hsize_t from, hsize_t to, bool together)
{
    const hsize_t low = from + (to - from) * (hsize_t)rank / (hsize_t)ranks,
                  high = from + (to - from) * (hsize_t)(rank + 1) / (hsize_t)ranks;
    const hsize_t start[] = {low, 0}, count[] = {high - low, COLUMNS};
    double *data = check_alloc((size_t)(high - low + 1) * COLUMNS * sizeof *data);
    for (hsize_t i = low; i < high; i++)
        for (int j = 0; j < COLUMNS; j++) {
            const hsize_t at = (i - low) * COLUMNS + (hsize_t)j;
            if (type == H5T_NATIVE_FLOAT)
                ((float *)data)[at] = (float)value(version, i, j);
            else if (type == H5T_NATIVE_INT)
                ((int *)data)[at] = (int)value(version, i, j);
            else
                data[at] = value(version, i, j);
        }
    const hid_t place = H5Dget_space(set), memory = H5Screate_simple(2, count, NULL),
                how = transfer(together);
    H5(H5Sselect_hyperslab(place, H5S_SELECT_SET, start, NULL, count, NULL));
    H5(H5Dwrite(set, type, memory, place, how, data));
    H5(H5Pclose(how));
    H5(H5Sclose(memory));
    H5(H5Sclose(place));
    free(data);
    called();
}

static hid_t create(hid_t file, const char *name, hid_t type, hsize_t rows, bool chunks)
{
    const hsize_t size[] = {rows, COLUMNS}, most[] = {H5S_UNLIMITED, COLUMNS},
                  chunk[] = {MORE, COLUMNS};
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE),
                space = H5Screate_simple(2, size, chunks ? most : NULL);
    if (chunks)
        H5(H5Pset_chunk(list, 2, chunk));
    const hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    H5(set);
    H5(H5Sclose(space));
    H5(H5Pclose(list));
    called();
    return set;
}

static void write_note(hid_t file, int version)
{
    const hid_t space = H5Screate(H5S_SCALAR),
                at = version == 1
                         ? H5Acreate2(file, "step", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT)
                         : H5Aopen(file, "step", H5P_DEFAULT);
    H5(at);
    H5(H5Awrite(at, H5T_NATIVE_INT, &version));
    H5(H5Aclose(at));
    H5(H5Sclose(space));
    called();
}

/* Each step writes some datasets again, lets one grow, and makes a new one. */
static void write_file(const char *path)
{
    hid_t file, first, chunked, grown, counts, access = H5Pcreate(H5P_FILE_ACCESS);
    H5(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL));
    H5(file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access));
    first = create(file, "first", H5T_NATIVE_DOUBLE, ROWS, false);
    chunked = create(file, "chunked", H5T_NATIVE_FLOAT, ROWS, true);
    grown = create(file, "grown", H5T_NATIVE_DOUBLE, MORE, true);
    counts = create(file, "counts", H5T_NATIVE_INT, ROWS, false);
    for (int step = 1; step <= STEPS; step++) {
        char name[20];
        const hsize_t grow[] = {(hsize_t)step * MORE, COLUMNS};
        snprintf(name, sizeof name, "step_%d", step);
        const hid_t set = create(file, name, H5T_NATIVE_FLOAT, ROWS, false);
        write_rows(set, H5T_NATIVE_FLOAT, step, 0, ROWS, true);
        H5(H5Dclose(set));
        H5(H5Dset_extent(grown, grow));
        called();
        write_rows(grown, H5T_NATIVE_DOUBLE, step, grow[0] - MORE, grow[0], true);
        if (!once || step == 1) {
            write_rows(first, H5T_NATIVE_DOUBLE, step, 0, ROWS, true);
            write_rows(counts, H5T_NATIVE_INT, step, 0, ROWS, true);
            write_rows(chunked, H5T_NATIVE_FLOAT, step, (hsize_t)step, ROWS - 3, once);
        }
        write_note(file, step);
        H5(H5Fflush(file, H5F_SCOPE_GLOBAL));
        called();
    }
    H5(H5Dclose(first));
    H5(H5Dclose(chunked));
    H5(H5Dclose(grown));
    H5(H5Dclose(counts));
    H5(H5Fclose(file));
    H5(H5Pclose(access));
    called();
}

/* The newest version that all values of a row are; -1: none. */
static int version_of(const double *data, hsize_t row, bool whole, double within)
{
    for (int version = STEPS; version >= 0; version--) {
        int column = 0;
        while (column < COLUMNS) {
            const double v = value(version, row, column);
            if (!(fabs(data[column] - (whole ? floor(v) : v)) <= (whole ? 0 : within)))
                break;
            column++;
        }
        if (column == COLUMNS)
            return version;
    }
    return -1;
}

static void read_set(hid_t file, const char *file_point, const char *name, double within)
{
    hsize_t size[2] = {0};
    const hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
    if (set < 0)
        return;
    const hid_t space = H5Dget_space(set);
    H5(H5Sget_simple_extent_dims(space, size, NULL));
    double *data = check_alloc(size[0] * COLUMNS * sizeof *data);
    for (hsize_t row = 0; row < size[0]; row++) {
        const hsize_t start[] = {row, 0}, count[] = {1, COLUMNS};
        const hid_t memory = H5Screate_simple(2, count, NULL);
        H5(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL));
        const herr_t rc = H5Dread(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, data);
        const int version =
            rc < 0 ? -2 : version_of(data, row, strcmp(name, "counts") == 0, within);
        if (version == -2)
            printf("%s %s %d unreadable\n", file_point, name, (int)row);
        else if (version == -1)
            printf("%s %s %d wrong\n", file_point, name, (int)row);
        else
            printf("%s %s %d %d\n", file_point, name, (int)row, version);
        H5(H5Sclose(memory));
    }
    free(data);
    H5(H5Sclose(space));
    H5(H5Dclose(set));
}

static void read_file(const char *path, double within)
{
    static const char *const names[] = {"first",  "chunked", "grown", "counts",
                                        "step_1", "step_2",  "step_3"};
    const char *const file_point = strrchr(path, '.') + 1;
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    int step = 0;
    H5(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL));
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, access);
    H5(H5Pclose(access));
    if (file < 0)
        return;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        read_set(file, file_point, names[i], within);
    const hid_t at = H5Aopen(file, "step", H5P_DEFAULT);
    if (at >= 0 && H5Aread(at, H5T_NATIVE_INT, &step) >= 0)
        printf("%s note 0 %d\n", file_point, step);
    if (at >= 0)
        H5(H5Aclose(at));
    H5(H5Fclose(file));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    CHECK(argc >= 4);
    if (strcmp(argv[1], "write") == 0) {
        point = atoi(argv[3]);
        once = argc > 4;
        write_file(argv[2]);
        puts("not killed");
    } else {
        H5(H5Eset_auto2(H5E_DEFAULT, NULL, NULL));
        for (int i = 3; i < argc; i++)
            read_file(argv[i], atof(argv[2]));
    }
    MPI_Finalize();
    return 0;
}
