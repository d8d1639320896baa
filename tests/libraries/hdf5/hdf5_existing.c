/*
 * hdf5_existing.c - create | change | read PATH WITHIN [filter]: datasets that several ranks open
 * and change.
 *
 * `create` writes a part of each dataset. `change` opens them, twice, and writes other parts, by
 * collective and by independent transfers that share chunks, lets them grow and makes them smaller.
 * All read everything by both kinds of transfers after each, as `read` does, on any number of
 * ranks. `filter`: only what parallel HDF5 can do with datasets that have a filter: each chunk is
 * written by one collective transfer.
 */
#include <hdf5.h>
#include <math.h>

#include "../../mpi/check.h"

#define H5(call)                                                                                   \
    do {                                                                                           \
        if ((call) < 0)                                                                            \
            check_fail(__FILE__, __LINE__, "%s", #call);                                           \
    } while (0)

enum { ROWS = 90, MOST_ROWS = 200, COLUMNS = 64, CHUNK_ROWS = 15, CHUNK_COLUMNS = 20, SETS = 3 };

static const char *const names[SETS] = {"plain", "chunked", "growing"};
static int rank, ranks;
static bool filter, replay; /* replay: only the model changes */
static double within;
static hid_t set[SETS];
static hsize_t rows[SETS];
static double model[SETS][MOST_ROWS][COLUMNS];

/* Rows [low, high) and columns [left, right), every step-th row. */
struct block {
    hsize_t low, high, step, left, right;
};

static double value(int salt, hsize_t row, hsize_t column)
{
    return (double)(float)(50 * salt + 20 * sin(0.05 * (double)column + 0.01 * salt * (double)row));
}

static hid_t type_of(int k)
{
    return k == 1 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
}

static hsize_t rows_of(const struct block *b)
{
    return b->low < b->high ? (b->high - b->low + b->step - 1) / b->step : 0;
}

static void note(int k, const struct block *b, int salt)
{
    for (hsize_t i = 0; i < rows_of(b); i++)
        for (hsize_t j = b->left; j < b->right; j++)
            model[k][b->low + i * b->step][j] = value(salt, b->low + i * b->step, j);
}

static void write_block(int k, const struct block *b, int salt, bool together)
{
    const hsize_t n = rows_of(b), width = b->right - b->left, start[] = {b->low, b->left},
                  step[] = {b->step, 1}, count[] = {n, width};
    double *data = check_alloc((size_t)(n * width + 1) * sizeof *data);
    for (hsize_t i = 0; i < n; i++)
        for (hsize_t j = 0; j < width; j++) {
            const double v = value(salt, b->low + i * b->step, b->left + j);
            if (k == 1)
                ((float *)data)[i * width + j] = (float)v;
            else
                data[i * width + j] = v;
        }
    const hid_t place = H5Dget_space(set[k]), how = H5Pcreate(H5P_DATASET_XFER),
                memory = H5Screate_simple(2, count, NULL);
    H5(H5Pset_dxpl_mpio(how, together ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT));
    if (n)
        H5(H5Sselect_hyperslab(place, H5S_SELECT_SET, start, step, count, NULL));
    else
        H5(H5Sselect_none(place));
    H5(H5Dwrite(set[k], type_of(k), memory, place, how, data));
    H5(H5Pclose(how));
    H5(H5Sclose(memory));
    H5(H5Sclose(place));
    free(data);
}

/* Rank r writes its part of rows [low, high): a block, or every ranks-th row. */
static void write_all(int k, hsize_t low, hsize_t high, hsize_t left, hsize_t right, int salt,
                      bool scattered, bool together)
{
    const hsize_t all = (hsize_t)ranks;
    for (hsize_t r = 0; r < all; r++) {
        const struct block b = {scattered ? low + r : low + (high - low) * r / all,
                                scattered ? high : low + (high - low) * (r + 1) / all,
                                scattered ? all : 1, left, right};
        note(k, &b, salt);
        if (r == (hsize_t)rank && !replay)
            write_block(k, &b, salt, together);
    }
    /* Others may write there next. */
    if (!replay && !together)
        H5(H5Fflush(set[k], H5F_SCOPE_GLOBAL));
    MPI_Barrier(MPI_COMM_WORLD);
}

static void resize(int k, hsize_t to)
{
    if (!replay)
        H5(H5Dset_extent(set[k], (hsize_t[]){to, COLUMNS}));
    for (hsize_t i = to < rows[k] ? to : rows[k]; i < MOST_ROWS; i++)
        memset(model[k][i], 0, sizeof model[k][i]);
    rows[k] = to;
}

static hid_t open_file(const char *path, bool create, bool write)
{
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL));
    const hid_t file = create ? H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access)
                              : H5Fopen(path, write ? H5F_ACC_RDWR : H5F_ACC_RDONLY, access);
    H5(file);
    H5(H5Pclose(access));
    for (int k = 0; k < SETS && !create; k++)
        H5(set[k] = H5Dopen2(file, names[k], H5P_DEFAULT));
    return file;
}

static void close_file(hid_t file)
{
    for (int k = 0; k < SETS; k++)
        H5(H5Dclose(set[k]));
    H5(H5Fclose(file));
}

/* Writes the first half of the rows. */
static void create(const char *path)
{
    const hsize_t most[] = {H5S_UNLIMITED, COLUMNS};
    const hid_t file = replay ? 0 : open_file(path, true, true);
    for (int k = 0; k < SETS; k++) {
        rows[k] = k == 2 ? ROWS / 2 : ROWS;
        const hsize_t size[] = {rows[k], COLUMNS},
                      chunk[] = {CHUNK_ROWS, k == 1 ? CHUNK_COLUMNS : COLUMNS};
        const hid_t list = H5Pcreate(H5P_DATASET_CREATE),
                    space = H5Screate_simple(2, size, k == 2 ? most : NULL);
        if (k > 0 || filter)
            H5(H5Pset_chunk(list, 2, chunk));
        if (!replay)
            H5(set[k] =
                   H5Dcreate2(file, names[k], type_of(k), space, H5P_DEFAULT, list, H5P_DEFAULT));
        H5(H5Sclose(space));
        H5(H5Pclose(list));
        write_all(k, 0, ROWS / 2, 0, COLUMNS, 1, k == 1, true);
    }
    if (!replay)
        close_file(file);
}

/* Chunks that nobody has written. */
static void change_chunks(int which)
{
    const hsize_t half = ROWS / 2, low = half * (hsize_t)which, high = low + half;
    if (which == 1) {
        write_all(0, half, ROWS, 0, COLUMNS, 2, true, true);
        write_all(1, half, ROWS, 0, COLUMNS, 3, false, true);
    }
    resize(2, high);
    write_all(2, low, high, 0, COLUMNS, which + 3, which == 1, true);
}

/* Parts of rows and chunks, some by each rank alone. */
static void change_parts(int which)
{
    write_all(0, 3, ROWS - 7, 10, 51, which + 1, true, true);
    write_all(0, 20, 77, 0, 30, which + 2, false, false);
    write_all(1, 5, ROWS, 7, 33, which + 3, false, false);
    write_all(1, 11, 52, 3, COLUMNS, which + 4, true, true);
    MPI_Barrier(MPI_COMM_WORLD);
    resize(2, 101);
    write_all(2, 40, 101, 2, 50, which + 5, false, true);
    write_all(2, 60, 95, 1, COLUMNS, which + 6, true, false);
    resize(2, 80);
    resize(2, 130);
    write_all(2, 90, 130, 0, COLUMNS, which + 7, false, which == 1);
}

static void read_all(const char *path)
{
    const hid_t file = open_file(path, false, false);
    for (int k = 0; k < SETS; k++)
        for (int together = 0; together < 2; together++) {
            static double data[MOST_ROWS][COLUMNS];
            const hid_t how = H5Pcreate(H5P_DATASET_XFER), space = H5Dget_space(set[k]);
            hsize_t size[2];
            H5(H5Sget_simple_extent_dims(space, size, NULL));
            CHECK_EQUAL(size[0], rows[k]);
            H5(H5Pset_dxpl_mpio(how, together ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT));
            H5(H5Dread(set[k], H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, how, data));
            for (hsize_t i = 0; i < size[0]; i++)
                for (hsize_t j = 0; j < COLUMNS; j++)
                    CHECK_SAY(fabs(data[i][j] - model[k][i][j]) <= within,
                              "%s %d %d: %.9g, not %.9g", names[k], (int)i, (int)j, data[i][j],
                              model[k][i][j]);
            H5(H5Sclose(space));
            H5(H5Pclose(how));
        }
    close_file(file);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    CHECK(argc >= 4);
    const char *const what = argv[1], *const path = argv[2];
    within = atof(argv[3]);
    filter = argc > 4;
    replay = strcmp(what, "create") != 0;
    create(path);
    for (int which = 1; which <= 2 && strcmp(what, "create") != 0; which++) {
        replay = strcmp(what, "read") == 0;
        const hid_t file = replay ? 0 : open_file(path, false, true);
        if (filter)
            change_chunks(which);
        else
            change_parts(which);
        if (!replay) {
            close_file(file);
            read_all(path);
        }
    }
    read_all(path);
    MPI_Finalize();
    return 0;
}
