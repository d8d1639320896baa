/*
 * hdf5_calls.c - async|multi|multi_async PATH: a parallel HDF5 program that writes four datasets by
 * calls that came after HDF5 1.10 (hdf5_newer.c), opens the file again, and prints the largest
 * error of each. It writes /a and /b in one call, and /c and /d in one; with "async" each in a call
 * of its own. Status 2: HDF5 refuses the first of these calls. Without arguments: status 0 if HDF5
 * has these calls, else 1.
 */
#define _GNU_SOURCE // RTLD_DEFAULT
#include <dlfcn.h>
#include <hdf5.h>
#include <math.h>

#include "../../mpi/check.h"

enum { ROWS = 64, COLUMNS = 200, SETS = 4 };

#define H5(call)                                                                                   \
    do {                                                                                           \
        if ((call) < 0)                                                                            \
            check_fail(__FILE__, __LINE__, "%s", #call);                                           \
    } while (0)

static const char *const names[SETS] = {"/a", "/b", "/c", "/d"};
static hid_t (*create_file)(const char *, const char *, unsigned, const char *, unsigned, hid_t,
                            hid_t, hid_t);
static hid_t (*open_file)(const char *, const char *, unsigned, const char *, unsigned, hid_t,
                          hid_t);
static herr_t (*write_async)(const char *, const char *, unsigned, hid_t, hid_t, hid_t, hid_t,
                             hid_t, const void *, hid_t);
static herr_t (*write_multi)(size_t, hid_t *, hid_t *, hid_t *, hid_t *, hid_t, const void **);
static herr_t (*write_multi_async)(const char *, const char *, unsigned, size_t, hid_t *, hid_t *,
                                   hid_t *, hid_t *, hid_t, const void **, hid_t);

static int rank, ranks;
static hid_t events; /* 0: this HDF5 is too old to have event sets */
static double data[SETS][ROWS * COLUMNS];

static void find(void *function, const char *name)
{
    void *symbol = dlsym(RTLD_DEFAULT, name);
    if (!symbol)
        check_fail(__FILE__, __LINE__, "no %s", name);
    memcpy(function, &symbol, sizeof symbol);
}

static double value(int set, int i)
{
    return 5 + set + 4 * sin(0.05 * (i / COLUMNS)) * cos(0.03 * (i % COLUMNS));
}

/* ---- sets of events ---- */

static bool is_newer(void)
{
    unsigned major = 0, minor = 0, release = 0;
    H5(H5get_libversion(&major, &minor, &release));
    return major > 1 || minor >= 14;
}

static void begin_events(void)
{
    hid_t (*make)(void);
    if (!is_newer())
        return;
    find(&make, "H5EScreate");
    events = make();
    H5(events);
}

static void end_events(void)
{
    herr_t (*wait)(hid_t, uint64_t, size_t *, hbool_t *);
    herr_t (*end)(hid_t);
    size_t left = 1;
    hbool_t failed = true;
    if (!events)
        return;
    find(&wait, "H5ESwait");
    find(&end, "H5ESclose");
    H5(wait(events, UINT64_MAX, &left, &failed));
    CHECK(left == 0 && !failed);
    H5(end(events));
}

/* ---- the program ---- */

/* All ranks write together, each its rows. */
static void write_sets(const char *how, const hid_t *set)
{
    const int first = ROWS * rank / ranks, end = ROWS * (rank + 1) / ranks;
    const hsize_t start[2] = {(hsize_t)first, 0}, count[2] = {(hsize_t)(end - first), COLUMNS};
    hid_t place = H5Dget_space(set[0]), memory = H5Screate_simple(2, count, NULL);
    hid_t together = H5Pcreate(H5P_DATASET_XFER);
    H5(H5Pset_dxpl_mpio(together, H5FD_MPIO_COLLECTIVE));
    H5(H5Sselect_hyperslab(place, H5S_SELECT_SET, start, NULL, count, NULL));
    hid_t type[2] = {H5T_NATIVE_DOUBLE, H5T_NATIVE_DOUBLE}, in[2] = {memory, memory},
          to[2] = {place, place};
    for (int i = 0; i < SETS; i += 2) {
        hid_t two[2] = {set[i], set[i + 1]};
        const void *from[2] = {data[i] + first * COLUMNS, data[i + 1] + first * COLUMNS};
        if (strcmp(how, "multi") == 0)
            H5(write_multi(2, two, type, in, to, together, from));
        else if (strcmp(how, "multi_async") == 0)
            H5(write_multi_async("", "", 0, 2, two, type, in, to, together, from, events));
        for (int k = 0; k < 2 && strcmp(how, "async") == 0; k++)
            H5(write_async("", "", 0, two[k], type[k], memory, place, together, from[k], events));
    }
    end_events();
    H5(H5Pclose(together));
    H5(H5Sclose(memory));
    H5(H5Sclose(place));
}

static void tell_errors(hid_t file)
{
    for (int k = 0; k < SETS; k++) {
        double largest = 0;
        hid_t set = H5Dopen2(file, names[k], H5P_DEFAULT);
        H5(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data[k]));
        for (int i = 0; i < ROWS * COLUMNS; i++)
            largest = fmax(largest, fabs(data[k][i] - value(k, i)));
        if (rank == 0)
            printf("%s %.3g\n", names[k], largest);
        H5(H5Dclose(set));
    }
}

int main(int argc, char **argv)
{
    if (argc == 1)
        return is_newer() ? 0 : 1;
    MPI_Init(&argc, &argv);
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    const char *how = argc == 3 ? argv[1] : "";
    const hsize_t size[2] = {ROWS, COLUMNS};
    hid_t set[SETS];
    find(&create_file, "H5Fcreate_async");
    find(&open_file, "H5Fopen_async");
    find(&write_async, "H5Dwrite_async");
    find(&write_multi, "H5Dwrite_multi");
    find(&write_multi_async, "H5Dwrite_multi_async");
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), space = H5Screate_simple(2, size, NULL);
    H5(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL));
    hid_t file = create_file("", "", 0, argv[2], H5F_ACC_TRUNC, H5P_DEFAULT, access, 0);
    if (file < 0) {
        MPI_Finalize();
        return 2;
    }
    for (int k = 0; k < SETS; k++) {
        set[k] = H5Dcreate2(file, names[k], H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT,
                            H5P_DEFAULT);
        for (int i = 0; i < ROWS * COLUMNS; i++)
            data[k][i] = value(k, i);
    }
    begin_events();
    write_sets(how, set);
    for (int k = 0; k < SETS; k++)
        H5(H5Dclose(set[k]));
    H5(H5Fclose(file));
    file = open_file("", "", 0, argv[2], H5F_ACC_RDONLY, access, 0);
    H5(file);
    tell_errors(file);
    H5(H5Fclose(file));
    H5(H5Sclose(space));
    H5(H5Pclose(access));
    MPI_Finalize();
    return 0;
}
