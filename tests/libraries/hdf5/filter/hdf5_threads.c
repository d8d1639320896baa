/*
 * hdf5_threads.c - FOLDER BOUND [rel]: several threads write datasets at once, each in a file of
 * its own and in a file that all share, by HDF5's serial library, which is thread-safe on Debian.
 * They read them back: values must be within the bound, or that part of a dataset's range. Ends
 * with 77 where HDF5 is not thread-safe.
 */
#include <hdf5.h>
#include <math.h>
#include <pthread.h>

#include "../../../mpi/check.h"

#define H5(call)                                                                                   \
    do {                                                                                           \
        if ((call) < 0)                                                                            \
            check_fail(__FILE__, __LINE__, "%s", #call);                                           \
    } while (0)

enum { THREADS = 4, ROUNDS = 6, PLANES = 8, ROWS = 60, POINTS = 90 };
enum { PLANE = ROWS * POINTS, ALL = PLANES * PLANE };

static const char *folder;
static double bound;
static bool relative;
static hid_t shared;

/* Datasets have very different ranges. */
static double size_of(int thread, int round)
{
    return pow(10, (thread + round) % 4);
}

static double value(int thread, int round, size_t i)
{
    return size_of(thread, round) * sin(0.01 * (double)i + thread + 0.1 * round);
}

/* Writes planes from `first` on. */
static void write_planes(hid_t set, hid_t type, hsize_t first, hsize_t count, const void *data)
{
    const hsize_t start[3] = {first, 0, 0}, size[3] = {count, ROWS, POINTS};
    hid_t place = H5Dget_space(set), memory = H5Screate_simple(3, size, NULL);
    H5(H5Sselect_hyperslab(place, H5S_SELECT_SET, start, NULL, size, NULL));
    H5(H5Dwrite(set, type, memory, place, H5P_DEFAULT, data));
    H5(H5Sclose(memory));
    H5(H5Sclose(place));
}

/* In chunks of its own, or in those that the filter gets by itself. Odd rounds write parts of
 * chunks. */
static void write_set(hid_t file, const char *name, int thread, int round)
{
    const hsize_t size[3] = {PLANES, ROWS, POINTS}, chunk[3] = {PLANES / 2, ROWS, POINTS};
    const bool f32 = round % 3 == 1;
    const hid_t type = f32 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
    const size_t width = f32 ? sizeof(float) : sizeof(double);
    char *data = check_alloc(ALL * sizeof(double));
    for (size_t i = 0; i < ALL; i++)
        if (f32)
            ((float *)data)[i] = (float)value(thread, round, i);
        else
            ((double *)data)[i] = value(thread, round, i);
    hid_t list = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(3, size, NULL);
    if (round % 2)
        H5(H5Pset_chunk(list, 3, chunk));
    hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    H5(set);
    if (relative || round % 2 == 0) {
        H5(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
    } else {
        write_planes(set, type, 3, PLANES - 3, data + 3 * PLANE * width);
        write_planes(set, type, 0, 3, data);
    }
    H5(H5Pclose(list));
    H5(H5Sclose(space));
    H5(H5Dclose(set));
    free(data);
}

static void read_set(hid_t file, const char *name, int thread, int round)
{
    double *data = check_alloc(ALL * sizeof *data), worst = 0;
    const double most = bound * (relative ? 2 * size_of(thread, round) : 1) +
                        (round % 3 == 1 ? size_of(thread, round) * 0x1p-24 : 0);
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT), list;
    H5(set);
    list = H5Dget_create_plist(set);
    H5(list);
    CHECK_SAY(H5Pget_nfilters(list) == 1, "%s has no filter", name);
    H5(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
    for (size_t i = 0; i < ALL; i++)
        worst = fmax(worst, fabs(data[i] - value(thread, round, i)));
    CHECK_SAY(worst <= most, "%s: error %g, bound %g", name, worst, most);
    CHECK_SAY(worst > 0, "%s is exact", name);
    H5(H5Pclose(list));
    H5(H5Dclose(set));
    free(data);
}

static void *work(void *argument)
{
    const int thread = *(const int *)argument;
    char path[400], name[40];
    snprintf(path, sizeof path, "%s/own_%d.h5", folder, thread);
    for (int round = 0; round < ROUNDS; round++) {
        hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        H5(file);
        write_set(file, "/rho", thread, round);
        snprintf(name, sizeof name, "/rho_%d_%d", thread, round);
        write_set(shared, name, thread, round);
        H5(H5Fclose(file));
        file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
        H5(file);
        read_set(file, "/rho", thread, round);
        read_set(shared, name, thread, round);
        H5(H5Fclose(file));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int given, number[THREADS];
    pthread_t thread[THREADS];
    hbool_t safe = false;
    char path[400];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
    CHECK(argc >= 3);
    folder = argv[1];
    bound = strtod(argv[2], NULL);
    relative = argc > 3;
    H5(H5is_library_threadsafe(&safe));
    if (!safe) {
        puts("HDF5 is not thread-safe");
        MPI_Finalize();
        return 77;
    }
    snprintf(path, sizeof path, "%s/shared.h5", folder);
    shared = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    H5(shared);
    for (int i = 0; i < THREADS; i++) {
        number[i] = i;
        CHECK(pthread_create(&thread[i], NULL, work, &number[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    H5(H5Fclose(shared));
    MPI_Finalize();
}
