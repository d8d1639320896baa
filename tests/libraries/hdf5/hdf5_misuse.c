/*
 * hdf5_misuse.c - CASE PATH [serial]: an HDF5 program, parallel or not, that does what few do. It
 * ends with status 0 if HDF5 answers as it does without zmpi, and if what it reads again is within
 * 1e-3.
 *
 * deleted  writes a dataset whose name is gone
 * room     deletes what one rank has written; fill values of a new dataset take its place
 * twice    has a file open twice, and writes and reads by both
 * inside   writes in the middle of HDF5's calls: in one that goes through a group, and in one that
 *          goes through another dataset's elements
 * bad      handles that are closed, or of something else; a buffer that is NULL
 * refusing a program's own filter, and zmpi's, refuse a type: mandatory, the dataset is not
 *          created; optional, it is, without the filter, also where zmpi's is behind or before it
 * freed    the buffer is overwritten and freed right after each call
 * racing   another thread changes the buffer meanwhile: only the other datasets must be right
 *
 * core, stdio, split, multi: other drivers, on one rank
 */
#include <hdf5.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

#include "../../mpi/check.h"

enum { ROWS = 64, COLUMNS = 300, ALL = ROWS * COLUMNS };

#define H5(call)                                                                                   \
    do {                                                                                           \
        if ((call) < 0)                                                                            \
            check_fail(__FILE__, __LINE__, "%s", #call);                                           \
    } while (0)

static int rank, ranks;
static hid_t access_list;

static double value(int set, int i)
{
    return 5 + set + 4 * sin(0.05 * (i / COLUMNS)) * cos(0.03 * (i % COLUMNS));
}

static double *make(int set)
{
    double *data = check_alloc(ALL * sizeof *data);
    for (int i = 0; i < ALL; i++)
        data[i] = value(set, i);
    return data;
}

static hid_t create(hid_t file, const char *name)
{
    const hid_t space = H5Screate_simple(2, (hsize_t[]){ROWS, COLUMNS}, NULL);
    const hid_t set =
        H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5(set);
    H5(H5Sclose(space));
    return set;
}

/* Only the last rank writes. */
static herr_t put(hid_t set, const double *data)
{
    const herr_t rc = rank == ranks - 1
                          ? H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data)
                          : 0;
    MPI_Barrier(MPI_COMM_WORLD);
    return rc;
}

static void write_set(hid_t set, int number)
{
    double *data = make(number);
    H5(put(set, data));
    free(data);
}

static void check_set(hid_t file, hid_t set, int number)
{
    double *data = check_alloc(ALL * sizeof *data);
    H5(H5Fflush(file, H5F_SCOPE_GLOBAL));
    H5(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
    for (int i = 0; i < ALL; i++)
        CHECK_SAY(fabs(data[i] - value(number, i)) <= 1e-3, "%d of %d: %.17g", i, number, data[i]);
    free(data);
    MPI_Barrier(MPI_COMM_WORLD); /* the others write only after this */
}

/* ---- cases ---- */

static void deleted(hid_t file, const char *path)
{
    (void)path;
    const hid_t set = create(file, "gone");
    write_set(set, 1);
    H5(H5Ldelete(file, "gone", H5P_DEFAULT));
    write_set(set, 2);
    check_set(file, set, 2);
    H5(H5Dclose(set));
}

static void room(hid_t file, const char *path)
{
    (void)path;
    const double fill = 17;
    const hid_t old = create(file, "old");
    write_set(old, 1);
    H5(H5Dclose(old));
    H5(H5Ldelete(file, "old", H5P_DEFAULT));
    const hid_t space = H5Screate_simple(1, (hsize_t[]){ALL}, NULL),
                list = H5Pcreate(H5P_DATASET_CREATE);
    H5(H5Pset_fill_value(list, H5T_NATIVE_DOUBLE, &fill));
    const hid_t set =
        H5Dcreate2(file, "new", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    H5(set);
    double *data = make(2);
    H5(H5Fflush(file, H5F_SCOPE_GLOBAL));
    H5(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
    for (int i = 0; i < ALL; i++)
        CHECK_SAY(data[i] == fill, "%d: %.17g", i, data[i]); // NOLINT
    free(data);
    H5(H5Dclose(set));
    H5(H5Pclose(list));
    H5(H5Sclose(space));
}

static void twice(hid_t file, const char *path)
{
    const hid_t set = create(file, "set");
    write_set(set, 1);
    H5(H5Fflush(file, H5F_SCOPE_GLOBAL));
    const hid_t other = H5Fopen(path, H5F_ACC_RDWR, access_list);
    H5(other);
    const hid_t same = H5Dopen2(other, "set", H5P_DEFAULT);
    H5(same);
    check_set(other, same, 1);
    write_set(same, 2);
    H5(H5Fflush(other, H5F_SCOPE_GLOBAL));
    check_set(file, set, 2);
    write_set(set, 3);
    H5(H5Fflush(file, H5F_SCOPE_GLOBAL));
    check_set(other, same, 3);
    H5(H5Dclose(same));
    H5(H5Fclose(other));
    check_set(file, set, 3);
    H5(H5Dclose(set));
}

static herr_t write_link(hid_t group, const char *name, const H5L_info_t *info, void *number)
{
    (void)info;
    const hid_t set = H5Dopen2(group, name, H5P_DEFAULT);
    H5(set);
    write_set(set, ++*(int *)number);
    H5(H5Dclose(set));
    return 0;
}

static hid_t inner;

static herr_t write_element(void *element, hid_t type, unsigned rank_of, const hsize_t *place,
                            void *context)
{
    (void)element, (void)type, (void)rank_of, (void)place, (void)context;
    write_set(inner, 7);
    return 1; /* ends the iteration */
}

static void inside(hid_t file, const char *path)
{
    (void)path;
    const char *const name[] = {"a", "b", "c"};
    int number = 0;
    for (int i = 0; i < 3; i++)
        H5(H5Dclose(create(file, name[i])));
    H5(H5Literate(file, H5_INDEX_NAME, H5_ITER_INC, NULL, write_link, &number));
    CHECK(number == 3);
    double *data = make(0);
    inner = create(file, "inner");
    const hid_t space = H5Dget_space(inner);
    H5(H5Diterate(data, H5T_NATIVE_DOUBLE, space, write_element, NULL));
    H5(H5Sclose(space));
    free(data);
    check_set(file, inner, 7);
    H5(H5Dclose(inner));
    for (int i = 0; i < 3; i++) {
        const hid_t set = H5Dopen2(file, name[i], H5P_DEFAULT);
        check_set(file, set, i + 1);
        H5(H5Dclose(set));
    }
}

static void bad(hid_t file, const char *path)
{
    (void)path;
    double *data = make(1);
    const hid_t set = create(file, "set"), closed = create(file, "closed"),
                type = H5T_NATIVE_DOUBLE, wrong[] = {-1, 0, closed, file, type, (hid_t)1 << 60};
    H5(H5Dclose(closed));
    H5(H5Eset_auto2(H5E_DEFAULT, NULL, NULL));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK(H5Dwrite(wrong[i], type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0);
        CHECK(wrong[i] == type || H5Dwrite(set, wrong[i], H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0);
        CHECK(wrong[i] == 0 || H5Dwrite(set, type, wrong[i], H5S_ALL, H5P_DEFAULT, data) < 0);
        CHECK(wrong[i] == 0 || H5Dwrite(set, type, H5S_ALL, wrong[i], H5P_DEFAULT, data) < 0);
        CHECK(wrong[i] == 0 || H5Dwrite(set, type, H5S_ALL, H5S_ALL, wrong[i], data) < 0);
        CHECK(wrong[i] == file || H5Dopen2(wrong[i], "set", H5P_DEFAULT) < 0);
    }
    CHECK(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, NULL) < 0);
    CHECK(H5Dopen2(file, "nothing", H5P_DEFAULT) < 0 && H5Oopen(file, "", H5P_DEFAULT) < 0);
    H5(put(set, data));
    check_set(file, set, 1);
    H5(H5Dclose(set));
    free(data);
}

/* ---- filters that refuse ---- */

static htri_t no_doubles(hid_t list, hid_t type, hid_t space)
{
    (void)list;
    (void)space;
    return H5Tequal(type, H5T_NATIVE_DOUBLE) > 0 ? 0 : 1;
}

static herr_t no_floats(hid_t list, hid_t type, hid_t space)
{
    (void)list;
    (void)space;
    return H5Tequal(type, H5T_NATIVE_FLOAT) > 0 ? -1 : 0;
}

static size_t as_it_is(unsigned flags, size_t count, const unsigned values[], size_t bytes,
                       size_t *buf_size, void **buf)
{
    (void)flags;
    (void)count;
    (void)values;
    (void)buf_size;
    (void)buf;
    return bytes;
}

enum { OWN_FILTER = 300, ZMPI_FILTER = 497 };

/* second: 0: none. It is mandatory if the first one is optional, and the other way round. */
static hid_t create_by(hid_t file, const char *name, hid_t type, int filter, unsigned flags,
                       int second)
{
    const hid_t space = H5Screate_simple(2, (hsize_t[]){ROWS, COLUMNS}, NULL),
                list = H5Pcreate(H5P_DATASET_CREATE);
    H5(H5Pset_chunk(list, 2, (hsize_t[]){ROWS, COLUMNS}));
    hid_t set = H5Pset_filter(list, filter, flags, 0, NULL);
    if (set >= 0 && second)
        set = H5Pset_filter(list, second, flags ^ H5Z_FLAG_OPTIONAL, 0, NULL);
    if (set >= 0)
        set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    H5(H5Pclose(list));
    H5(H5Sclose(space));
    return set;
}

static void refusing(hid_t file, const char *path)
{
    (void)path;
    const H5Z_class2_t own = {.version = H5Z_CLASS_T_VERS,
                              .id = OWN_FILTER,
                              .encoder_present = 1,
                              .decoder_present = 1,
                              .name = "refuses floats",
                              .can_apply = no_doubles,
                              .set_local = no_floats,
                              .filter = as_it_is};
    const hid_t text = H5Tcopy(H5T_C_S1), floats[] = {H5T_NATIVE_DOUBLE, H5T_NATIVE_FLOAT};
    H5(H5Tset_size(text, H5T_VARIABLE));
    H5(H5Zregister(&own));
    H5(H5Eset_auto2(H5E_DEFAULT, NULL, NULL));
    const hid_t plain = create(file, "plain");
    for (int i = 0; i < 2; i++)
        CHECK(create_by(file, "refused", floats[i], OWN_FILTER, H5Z_FLAG_MANDATORY, 0) < 0);
    CHECK(create_by(file, "refused", text, ZMPI_FILTER, H5Z_FLAG_MANDATORY, 0) < 0);
    CHECK(H5Lexists(file, "refused", H5P_DEFAULT) == 0);
    const hid_t optional =
        create_by(file, "optional", H5T_NATIVE_DOUBLE, OWN_FILTER, H5Z_FLAG_OPTIONAL, 0);
    const hid_t before = create_by(file, "before", H5T_NATIVE_DOUBLE, OWN_FILTER, H5Z_FLAG_OPTIONAL,
                                   ZMPI_FILTER),
                behind = create_by(file, "behind", H5T_NATIVE_DOUBLE, ZMPI_FILTER,
                                   H5Z_FLAG_MANDATORY, OWN_FILTER);
    const hid_t how = H5Pcreate(H5P_DATASET_XFER), sets[] = {plain, optional, before, behind};
    H5(H5Pset_dxpl_mpio(how, H5FD_MPIO_COLLECTIVE));
    for (int k = 0; k < 4; k++) {
        double *data = make(k);
        H5(sets[k]);
        const hid_t all = H5Dget_space(sets[k]);
        if (rank > 0)
            H5(H5Sselect_none(all));
        H5(H5Dwrite(sets[k], H5T_NATIVE_DOUBLE, all, all, how, data));
        free(data);
        H5(H5Sclose(all));
        check_set(file, sets[k], k);
        H5(H5Dclose(sets[k]));
    }
    H5(H5Pclose(how));
    H5(H5Tclose(text));
}

static void freed(hid_t file, const char *path)
{
    (void)path;
    hid_t set[4];
    for (int k = 0; k < 4; k++) {
        char name[10];
        snprintf(name, sizeof name, "set_%d", k);
        set[k] = create(file, name);
        double *data = make(k);
        H5(put(set[k], data));
        memset(data, 0x5a, ALL * sizeof *data);
        free(data);
    }
    for (int k = 0; k < 4; k++) {
        check_set(file, set[k], k);
        H5(H5Dclose(set[k]));
    }
}

static atomic_bool ends;

static void *change(void *data)
{
    volatile double *const v = data;
    for (int i = 0; !atomic_load(&ends); i = (i + 7) % ALL)
        v[i] = i % 3 == 0 ? 1e300 : i % 3 == 1 ? -v[i] : (double)NAN;
    return NULL;
}

static void racing(hid_t file, const char *path)
{
    (void)path;
    const hid_t set = create(file, "racing"), calm = create(file, "calm");
    double *data = make(1);
    pthread_t thread;
    write_set(calm, 2);
    CHECK(pthread_create(&thread, NULL, change, data) == 0);
    for (int i = 0; i < 20; i++)
        H5(put(set, data));
    atomic_store(&ends, true);
    pthread_join(thread, NULL);
    H5(H5Fflush(file, H5F_SCOPE_GLOBAL));
    H5(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
    check_set(file, calm, 2);
    free(data);
    write_set(set, 3);
    check_set(file, set, 3);
    H5(H5Dclose(set));
    H5(H5Dclose(calm));
}

/* ---- files of other drivers ---- */

static void exact(hid_t file, const char *path)
{
    (void)path;
    const hid_t set = create(file, "set");
    double *data = make(1), *read = make(2);
    H5(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
    H5(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, read));
    CHECK(memcmp(data, read, ALL * sizeof *data) == 0);
    H5(H5Dclose(set));
    free(data);
    free(read);
}

static const struct {
    const char *name;
    void (*run)(hid_t file, const char *path);
} cases[] = {{"room", room},  {"deleted", deleted},   {"twice", twice}, {"inside", inside},
             {"bad", bad},    {"refusing", refusing}, {"freed", freed}, {"racing", racing},
             {"core", exact}, {"stdio", exact},       {"split", exact}, {"multi", exact}};

static void set_driver(const char *name)
{
    if (strcmp(name, "core") == 0)
        H5(H5Pset_fapl_core(access_list, 1 << 20, true));
    else if (strcmp(name, "stdio") == 0)
        H5(H5Pset_fapl_stdio(access_list));
    else if (strcmp(name, "split") == 0)
        H5(H5Pset_fapl_split(access_list, ".meta", H5P_DEFAULT, ".raw", H5P_DEFAULT));
    else if (strcmp(name, "multi") == 0)
        H5(H5Pset_fapl_multi(access_list, NULL, NULL, NULL, NULL, true));
    else
        H5(H5Pset_fapl_mpio(access_list, MPI_COMM_WORLD, MPI_INFO_NULL));
}

int main(int argc, char **argv)
{
    int given;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &given);
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    const bool serial = argc == 4 && strcmp(argv[3], "serial") == 0;
    CHECK(argc == 3 || serial);
    bool found = false;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (strcmp(argv[1], cases[i].name) != 0)
            continue;
        access_list = H5Pcreate(H5P_FILE_ACCESS);
        if (!serial)
            set_driver(argv[1]);
        const hid_t file = H5Fcreate(argv[2], H5F_ACC_TRUNC, H5P_DEFAULT, access_list);
        H5(file);
        cases[i].run(file, argv[2]);
        H5(H5Fclose(file));
        H5(H5Pclose(access_list));
        found = true;
    }
    CHECK(found);
    MPI_Finalize();
    return 0;
}
