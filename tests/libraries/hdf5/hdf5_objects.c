/*
 * hdf5_objects.c - PATH: a parallel HDF5 program that reads all metadata collectively. It gets each
 * dataset in another way, and its last rank alone writes it, right after a flush. If zmpi made HDF5
 * read metadata for such a write, that rank would wait for the others. Prints the largest error of
 * each dataset.
 */
#include <hdf5.h>
#include <math.h>

#include "../../mpi/check.h"

enum { ROWS = 32, COLUMNS = 200, TIMES = 2 };

#define H5(call)                                                                                   \
    do {                                                                                           \
        if ((call) < 0)                                                                            \
            check_fail(__FILE__, __LINE__, "%s", #call);                                           \
    } while (0)

static double data[ROWS * COLUMNS];

static double value(int set, int time, int i)
{
    return 5 + set + time + 4 * sin(0.05 * (i / COLUMNS)) * cos(0.03 * (i % COLUMNS));
}

/* ---- ways to a dataset that is there ---- */

static hid_t open_1(hid_t file, const char *name)
{
    return H5Dopen1(file, name);
}

static hid_t open_2(hid_t file, const char *name)
{
    return H5Dopen2(file, name, H5P_DEFAULT);
}

static hid_t open_object(hid_t file, const char *name)
{
    return H5Oopen(file, name, H5P_DEFAULT);
}

/* In its own group. */
static hid_t open_by_index(hid_t file, const char *name)
{
    char group[20];
    snprintf(group, sizeof group, "%s", name);
    *strrchr(group, '/') = 0;
    return H5Oopen_by_idx(file, group, H5_INDEX_NAME, H5_ITER_INC, 0, H5P_DEFAULT);
}

static hid_t open_by_place(hid_t file, const char *name)
{
#if H5_VERSION_GE(1, 12, 0)
    H5O_info2_t info;
    H5(H5Oget_info_by_name3(file, name, &info, H5O_INFO_BASIC, H5P_DEFAULT));
    return H5Oopen_by_token(file, info.token);
#else
    H5O_info_t info;
    H5(H5Oget_info_by_name(file, name, &info, H5P_DEFAULT));
    return H5Oopen_by_addr(file, info.addr);
#endif
}

static hid_t open_by_reference_1(hid_t file, const char *name)
{
    hobj_ref_t reference;
    H5(H5Rcreate(&reference, file, name, H5R_OBJECT, -1));
    return H5Rdereference1(file, H5R_OBJECT, &reference);
}

static hid_t open_by_reference_2(hid_t file, const char *name)
{
    hobj_ref_t reference;
    H5(H5Rcreate(&reference, file, name, H5R_OBJECT, -1));
    return H5Rdereference2(file, H5P_DEFAULT, H5R_OBJECT, &reference);
}

#if H5_VERSION_GE(1, 12, 0)
static hid_t open_by_reference_3(hid_t file, const char *name)
{
    H5R_ref_t reference;
    H5(H5Rcreate_object(file, name, H5P_DEFAULT, &reference));
    const hid_t set = H5Ropen_object(&reference, H5P_DEFAULT, H5P_DEFAULT);
    H5(H5Rdestroy(&reference));
    return set;
}
#endif

#if H5_VERSION_GE(1, 14, 0)
static hid_t open_async(hid_t file, const char *name)
{
    return H5Dopen_async(file, name, H5P_DEFAULT, H5ES_NONE);
}

static hid_t open_object_async(hid_t file, const char *name)
{
    return H5Oopen_async(file, name, H5P_DEFAULT, H5ES_NONE);
}
#endif

static hid_t (*const ways[])(hid_t, const char *) = {
    NULL /* keeps the handle from its creation */,
    open_1,
    open_2,
    open_object,
    open_by_index,
    open_by_place,
    open_by_reference_1,
    open_by_reference_2,
#if H5_VERSION_GE(1, 12, 0)
    open_by_reference_3,
#endif
#if H5_VERSION_GE(1, 14, 0)
    open_async,
    open_object_async,
#endif
};

enum { WAYS = sizeof ways / sizeof *ways };

/* ---- the program ---- */

static hid_t get(hid_t file, int way)
{
    char name[20];
    snprintf(name, sizeof name, "/way_%d", way);
    const hid_t group = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                space = H5Screate_simple(2, (hsize_t[]){ROWS, COLUMNS}, NULL);
    hid_t set =
        H5Dcreate2(group, "set", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5(set);
    if (ways[way]) {
        H5(H5Dclose(set));
        strcat(name, "/set");
        set = ways[way](file, name);
        H5(set);
    }
    H5(H5Sclose(space));
    H5(H5Gclose(group));
    return set;
}

static void write_alone(hid_t file, int way, bool writes)
{
    const hid_t set = get(file, way);
    for (int time = 0; time < TIMES; time++) {
        H5(H5Fflush(file, H5F_SCOPE_GLOBAL));
        for (int i = 0; i < ROWS * COLUMNS; i++)
            data[i] = value(way, time, i);
        if (writes)
            H5(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    H5(H5Dclose(set));
}

static void tell_error(hid_t file, int way, bool tells)
{
    char name[20];
    double largest = 0;
    snprintf(name, sizeof name, "/way_%d/set", way);
    const hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
    H5(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
    for (int i = 0; i < ROWS * COLUMNS; i++)
        largest = fmax(largest, fabs(data[i] - value(way, TIMES - 1, i)));
    if (tells)
        printf("%s %.3g\n", name, largest);
    H5(H5Dclose(set));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    const int rank = check_rank(MPI_COMM_WORLD), ranks = check_ranks(MPI_COMM_WORLD);
    CHECK(argc == 2);
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL));
    H5(H5Pset_all_coll_metadata_ops(access, true));
    hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5(file);
    for (int way = 0; way < WAYS; way++)
        write_alone(file, way, rank == ranks - 1);
    H5(H5Fclose(file));
    file = H5Fopen(argv[1], H5F_ACC_RDONLY, access);
    H5(file);
    for (int way = 0; way < WAYS; way++)
        tell_error(file, way, rank == 0);
    H5(H5Fclose(file));
    H5(H5Pclose(access));
    MPI_Finalize();
    return 0;
}
