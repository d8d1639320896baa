/*
 * hdf5_lossy.c - write | rewrite | read PATH BOUND [together]: a parallel HDF5 program with all
 * kinds of datasets. Floats in /lossy may differ by the bound after they were written; everything
 * else is exact. Any number of ranks writes the same file. Each rank writes a part of the metadata,
 * or all write them by collective calls. (If only the root writes them, HDF5 1.10.8 hangs.)
 */
#include <hdf5.h>
#include <math.h>

#include "../../mpi/check.h"

enum { NZ = 24, NY = 30, NX = 80, GHOST = 2, STEPS = 3, ATTRIBUTES = 150 };

#define H5(call)                                                                                   \
    do {                                                                                           \
        if ((call) < 0)                                                                            \
            check_fail(__FILE__, __LINE__, "%s", #call);                                           \
    } while (0)

enum layout { CONTIGUOUS, CHUNKED, UNEVEN, FILTERED };
enum cut { PLANES, COLUMNS, GHOSTS, POINTS };

/* The datasets: their types in the file and in memory, their layouts, and how ranks write them. */
struct set {
    const char *name;
    hid_t file, memory;
    enum layout layout;
    enum cut cut;
    bool collective;
};

static int rank, ranks;
static double bound;         /* of the values that are read */
static const char *how_meta; /* how ranks write metadata */

static double value(int z, int y, int x, int step)
{
    return 10 * sin(0.1 * z + 0.3 * step) + 3 * cos(0.07 * y) * sin(0.05 * x) + 0.01 * x;
}

/* Keeps so little metadata in memory that ranks read again what others wrote. */
static void small_cache(hid_t access)
{
    H5AC_cache_config_t config = {.version = H5AC__CURR_CACHE_CONFIG_VERSION};
    H5(H5Pget_mdc_config(access, &config));
    config.set_initial_size = true;
    config.initial_size = config.min_size = config.max_size = 8192;
    config.incr_mode = H5C_incr__off;
    config.flash_incr_mode = H5C_flash_incr__off;
    config.decr_mode = H5C_decr__off;
    config.dirty_bytes_threshold = 4096;
    H5(H5Pset_mdc_config(access, &config));
}

static hid_t open_file(const char *path, bool create, bool write)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), file;
    H5(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL));
    small_cache(access);
    if (strcmp(how_meta, "together") == 0) {
        H5(H5Pset_all_coll_metadata_ops(access, true));
        H5(H5Pset_coll_metadata_write(access, true));
    }
    file = create ? H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access)
                  : H5Fopen(path, write ? H5F_ACC_RDWR : H5F_ACC_RDONLY, access);
    H5(file);
    H5(H5Pclose(access));
    return file;
}

/* ---- one rank's part ---- */

/* Finds this rank's part of n elements. */
static void share(int n, hsize_t *start, hsize_t *count)
{
    *start = (hsize_t)(n * rank / ranks);
    *count = (hsize_t)(n * (rank + 1) / ranks) - *start;
}

struct part {
    hsize_t start[3], count[3];
    hsize_t held[3]; /* extents of the buffer, with ghost cells */
    hsize_t ghost;
};

static struct part part_of(const struct set *s)
{
    struct part p = {{0, 0, 0}, {NZ, NY, NX}, {0, 0, 0}, s->cut == GHOSTS ? GHOST : 0};
    if (s->cut == COLUMNS)
        share(NX, &p.start[2], &p.count[2]);
    else
        share(NZ, &p.start[0], &p.count[0]);
    for (int i = 0; i < 3; i++)
        p.held[i] = p.count[i] + 2 * p.ghost;
    return p;
}

static hid_t memory_of(const struct set *s, const struct part *p)
{
    hsize_t ghost[3] = {p->ghost, p->ghost, p->ghost};
    hid_t memory = H5Screate_simple(3, p->held, NULL);
    H5(memory);
    if (s->cut == GHOSTS)
        H5(H5Sselect_hyperslab(memory, H5S_SELECT_SET, ghost, NULL, p->count, NULL));
    if (p->count[0] * p->count[2] == 0)
        H5(H5Sselect_none(memory));
    return memory;
}

static hid_t place_of(hid_t set, const struct set *s, const struct part *p)
{
    hid_t place = H5Dget_space(set);
    H5(place);
    if (p->count[0] * p->count[2] == 0) {
        H5(H5Sselect_none(place));
        return place;
    }
    H5(H5Sselect_hyperslab(place, H5S_SELECT_SET, p->start, NULL, p->count, NULL));
    if (s->cut != POINTS)
        return place;
    hsize_t(*point)[3] = malloc((size_t)(p->count[0] * NY * NX) * sizeof *point);
    size_t n = 0;
    for (hsize_t z = 0; z < p->count[0]; z++)
        for (hsize_t y = 0; y < NY; y++)
            for (hsize_t x = 0; x < NX; x++, n++) {
                point[n][0] = p->start[0] + z;
                point[n][1] = y;
                point[n][2] = x;
            }
    H5(H5Sselect_elements(place, H5S_SELECT_SET, n, &point[0][0]));
    free(point);
    return place;
}

static void put(hid_t type, void *data, size_t i, double v)
{
    if (H5Tequal(type, H5T_NATIVE_FLOAT) > 0)
        ((float *)data)[i] = (float)v;
    else if (H5Tequal(type, H5T_NATIVE_DOUBLE) > 0)
        ((double *)data)[i] = v;
    else
        ((int *)data)[i] = (int)(1000 * v);
}

static double get(hid_t type, const void *data, size_t i)
{
    return H5Tequal(type, H5T_NATIVE_FLOAT) > 0    ? (double)((const float *)data)[i]
           : H5Tequal(type, H5T_NATIVE_DOUBLE) > 0 ? ((const double *)data)[i]
                                                   : (double)((const int *)data)[i];
}

static void each(const struct set *s, const struct part *p, void *data, int step, bool write)
{
    const bool lossy = strncmp(s->name, "/lossy/", 7) == 0;
    for (hsize_t z = 0; z < p->held[0]; z++)
        for (hsize_t y = 0; y < p->held[1]; y++)
            for (hsize_t x = 0; x < p->held[2]; x++) {
                double one[1], v = value((int)(p->start[0] + z - p->ghost), (int)(y - p->ghost),
                                         (int)(p->start[2] + x - p->ghost), step);
                const size_t i = (size_t)((z * p->held[1] + y) * p->held[2] + x);
                const bool inside = z >= p->ghost && z < p->held[0] - p->ghost && y >= p->ghost &&
                                    y < p->held[1] - p->ghost && x >= p->ghost &&
                                    x < p->held[2] - p->ghost;
                if (write) {
                    put(s->memory, data, i, v);
                    continue;
                }
                put(s->memory, one, 0, v);
                if (H5Tget_size(s->file) == 4 && H5Tget_class(s->file) == H5T_FLOAT)
                    v = (double)(float)get(s->memory, one, 0);
                else
                    v = get(s->memory, one, 0);
                if (inside)
                    CHECK_SAY(fabs(get(s->memory, data, i) - v) <= (lossy ? bound : 0),
                              "%s: %.9g, written %.9g", s->name, get(s->memory, data, i), v);
            }
}

static void transfer(hid_t set, const struct set *s, int step, bool write)
{
    struct part p = part_of(s);
    void *data = calloc((size_t)(p.held[0] * p.held[1] * p.held[2]) + 1, sizeof(double));
    hid_t memory = memory_of(s, &p), how = H5Pcreate(H5P_DATASET_XFER);
    p.start[0] += (hsize_t)(step * NZ);
    hid_t place = place_of(set, s, &p);
    p.start[0] -= (hsize_t)(step * NZ);
    H5(H5Pset_dxpl_mpio(how, s->collective ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT));
    each(s, &p, data, step, true);
    if (write) {
        H5(H5Dwrite(set, s->memory, memory, place, how, data));
    } else {
        H5(H5Dread(set, s->memory, memory, place, how, data));
        each(s, &p, data, step, false);
    }
    H5(H5Pclose(how));
    H5(H5Sclose(place));
    H5(H5Sclose(memory));
    free(data);
}

/* ---- datasets ---- */

static hid_t creation(const struct set *s)
{
    hsize_t chunk[3] = {NZ / 4, NY / 2, NX / 2}, uneven[3] = {5, 17, 33};
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    if (s->layout != CONTIGUOUS)
        H5(H5Pset_chunk(list, 3, s->layout == UNEVEN ? uneven : chunk));
    if (s->layout == FILTERED)
        H5(H5Pset_deflate(list, 1));
    return list;
}

static void one_set(hid_t file, const struct set *s, bool create, bool write)
{
    hsize_t size[3] = {NZ, NY, NX};
    hid_t set, space = H5Screate_simple(3, size, NULL), list = creation(s);
    check_say("%s", s->name);
    if (create)
        set = H5Dcreate2(file, s->name, s->file, space, H5P_DEFAULT, list, H5P_DEFAULT);
    else
        set = H5Dopen2(file, s->name, H5P_DEFAULT);
    H5(set);
    transfer(set, s, 0, write);
    H5(H5Dclose(set));
    H5(H5Sclose(space));
    H5(H5Pclose(list));
}

/* Two numbers in each element: complex, or a number and a name, which is a compound as well. */
static void pair_set(hid_t file, const char *name, bool complex, bool create)
{
    struct pair {
        double real;
        union {
            double imaginary;
            int64_t name;
        } is;
    } *data = calloc(NY * NX, sizeof *data);
    hsize_t size[2] = {12, NY * NX}, start[2] = {0, 0}, count[2] = {0, NY * NX};
    hid_t type = H5Tcreate(H5T_COMPOUND, sizeof *data), space = H5Screate_simple(2, size, NULL);
    check_say("%s", name);
    H5(H5Tinsert(type, "r", 0, H5T_NATIVE_DOUBLE));
    H5(H5Tinsert(type, "i", 8, complex ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64));
    hid_t set = create ? H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)
                       : H5Dopen2(file, name, H5P_DEFAULT);
    H5(set);
    for (hsize_t z = (hsize_t)rank; z < size[0]; z += (hsize_t)ranks) {
        start[0] = z;
        count[0] = 1;
        hid_t memory = H5Screate_simple(1, &count[1], NULL);
        H5(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL));
        for (int i = 0; i < NY * NX && create; i++) {
            data[i].real = value((int)z, i / NX, i % NX, 0);
            if (complex)
                data[i].is.imaginary = value((int)z, i / NX, i % NX, 1);
            else
                data[i].is.name = i;
        }
        if (create)
            H5(H5Dwrite(set, type, memory, space, H5P_DEFAULT, data));
        else
            H5(H5Dread(set, type, memory, space, H5P_DEFAULT, data));
        for (int i = 0; i < NY * NX; i++) {
            CHECK(fabs(data[i].real - value((int)z, i / NX, i % NX, 0)) <= (complex ? bound : 0));
            CHECK(complex || data[i].is.name == i);
        }
        H5(H5Sclose(memory));
    }
    H5(H5Dclose(set));
    H5(H5Sclose(space));
    H5(H5Tclose(type));
    free(data);
}

/* Writes two datasets by one call, if HDF5 has that call. */
static void two_sets(hid_t file, bool create)
{
    const struct set one = {"/lossy/two_1", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT,
                            CONTIGUOUS,     PLANES,         true},
                     other = {"/lossy/two_2", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT,
                              CHUNKED,        PLANES,         true};
#if H5_VERSION_GE(1, 14, 0)
    if (create) {
        const struct set *const set[2] = {&one, &other};
        hid_t sets[2], memory[2], place[2], type[2], how = H5Pcreate(H5P_DATASET_XFER);
        const void *data[2];
        void *owned[2];
        hsize_t size[3] = {NZ, NY, NX};
        H5(H5Pset_dxpl_mpio(how, H5FD_MPIO_COLLECTIVE));
        for (int i = 0; i < 2; i++) {
            struct part p = part_of(set[i]);
            hid_t space = H5Screate_simple(3, size, NULL), list = creation(set[i]);
            sets[i] =
                H5Dcreate2(file, set[i]->name, set[i]->file, space, H5P_DEFAULT, list, H5P_DEFAULT);
            H5(sets[i]);
            H5(H5Pclose(list));
            H5(H5Sclose(space));
            type[i] = set[i]->memory;
            memory[i] = memory_of(set[i], &p);
            place[i] = place_of(sets[i], set[i], &p);
            data[i] = owned[i] = calloc(NZ * NY * NX + 1, sizeof(float));
            each(set[i], &p, owned[i], 0, true);
        }
        H5(H5Dwrite_multi(2, sets, type, memory, place, how, data));
        for (int i = 0; i < 2; i++) {
            free(owned[i]);
            H5(H5Sclose(memory[i]));
            H5(H5Sclose(place[i]));
            H5(H5Dclose(sets[i]));
        }
        H5(H5Pclose(how));
        return;
    }
#endif
    one_set(file, &one, create, create);
    one_set(file, &other, create, create);
}

/* The dataset grows step by step, and is read back in between. */
static void growing_set(hid_t file, const char *name, bool collective, bool write)
{
    const struct set s = {name, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, CHUNKED, PLANES, collective};
    hsize_t size[3] = {0, NY, NX}, most[3] = {H5S_UNLIMITED, NY, NX};
    hid_t set, space = H5Screate_simple(3, size, most), list = creation(&s);
    check_say("%s", name);
    if (write)
        set = H5Dcreate2(file, name, s.file, space, H5P_DEFAULT, list, H5P_DEFAULT);
    else
        set = H5Dopen2(file, name, H5P_DEFAULT);
    H5(set);
    for (int step = 0; step < STEPS; step++) {
        size[0] = (hsize_t)((step + 1) * NZ);
        if (write) {
            H5(H5Dset_extent(set, size));
            transfer(set, &s, step, true);
        }
        transfer(set, &s, step, false);
    }
    H5(H5Dclose(set));
    H5(H5Sclose(space));
    H5(H5Pclose(list));
}

static void attributes(hid_t file, bool write)
{
    hsize_t n = 8;
    double data[8], is[8];
    char name[40];
    hid_t space = H5Screate_simple(1, &n, NULL), group, attribute;
    group = write ? H5Gcreate2(file, "/exact/about", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)
                  : H5Gopen2(file, "/exact/about", H5P_DEFAULT);
    H5(group);
    for (int k = 0; k < ATTRIBUTES; k++) {
        snprintf(name, sizeof name, "attribute_%d", k);
        check_say("%s", name);
        for (int i = 0; i < 8; i++)
            data[i] = k + value(i, k, 1, 0);
        if (write) {
            attribute = H5Acreate2(group, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT);
            H5(attribute);
            H5(H5Awrite(attribute, H5T_NATIVE_DOUBLE, data));
        } else {
            attribute = H5Aopen(group, name, H5P_DEFAULT);
            H5(attribute);
            H5(H5Aread(attribute, H5T_NATIVE_DOUBLE, is));
            CHECK_BYTES(is, data, sizeof data);
        }
        H5(H5Aclose(attribute));
        if (write && k == 50)
            H5(H5Fflush(file, H5F_SCOPE_GLOBAL));
    }
    H5(H5Gclose(group));
    H5(H5Sclose(space));
}

/* Many groups and small datasets: all ranks write their metadata. */
static void small_sets(hid_t file, bool write)
{
    hsize_t n = 40;
    char name[60];
    float data[40], is[40];
    hid_t space = H5Screate_simple(1, &n, NULL), set, group;
    for (int k = 0; k < ATTRIBUTES; k++) {
        snprintf(name, sizeof name, "/exact/group_%d", k);
        check_say("%s", name);
        group = write ? H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)
                      : H5Gopen2(file, name, H5P_DEFAULT);
        H5(group);
        set = write ? H5Dcreate2(group, "small", H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT,
                                 H5P_DEFAULT)
                    : H5Dopen2(group, "small", H5P_DEFAULT);
        H5(set);
        for (int i = 0; i < 40; i++)
            data[i] = (float)value(k, i, i, 0);
        if (write && rank == k % ranks)
            H5(H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
        if (!write) {
            H5(H5Dread(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, is));
            CHECK_BYTES(is, data, sizeof data);
        }
        H5(H5Dclose(set));
        H5(H5Gclose(group));
    }
    H5(H5Sclose(space));
}

static void all(hid_t file, bool create, bool write)
{
    const hid_t f32 = H5T_IEEE_F32LE, f64 = H5T_IEEE_F64LE, real = H5T_NATIVE_FLOAT,
                two = H5T_NATIVE_DOUBLE;
    const struct set sets[] = {
        {"/lossy/planes_f32", f32, real, CONTIGUOUS, PLANES, true},
        {"/lossy/planes_f64", f64, two, CONTIGUOUS, PLANES, true},
        {"/lossy/columns_f32", f32, real, CONTIGUOUS, COLUMNS, true},
        {"/lossy/columns_f64", f64, two, CONTIGUOUS, COLUMNS, false},
        {"/lossy/ghosts_f32", f32, real, CONTIGUOUS, GHOSTS, false},
        {"/lossy/ghosts_f64", f64, two, CHUNKED, GHOSTS, true},
        {"/lossy/chunked_f32", f32, real, CHUNKED, PLANES, true},
        {"/lossy/chunked_f64", f64, two, CHUNKED, COLUMNS, false},
        {"/lossy/uneven_f32", f32, real, UNEVEN, PLANES, false},
        {"/lossy/uneven_f64", f64, two, UNEVEN, COLUMNS, true},
        {"/lossy/points_f32", f32, real, CONTIGUOUS, POINTS, true},
        {"/exact/integers", H5T_STD_I32LE, H5T_NATIVE_INT, CONTIGUOUS, PLANES, true},
        {"/exact/integers_chunked", H5T_STD_I32LE, H5T_NATIVE_INT, CHUNKED, COLUMNS, false},
        {"/exact/converted", f32, two, CONTIGUOUS, PLANES, true},
        {"/exact/big_endian", H5T_IEEE_F64BE, two, CHUNKED, PLANES, false},
        {"/exact/filtered", f32, real, FILTERED, PLANES, true},
    };
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        one_set(file, &sets[i], create, write);
    if (write && !create)
        return;
    two_sets(file, create);
    pair_set(file, "/lossy/complex", true, create);
    pair_set(file, "/exact/mixed", false, create);
    growing_set(file, "/lossy/growing", true, write);
    growing_set(file, "/lossy/growing_alone", false, write);
    attributes(file, write);
    small_sets(file, write);
    attributes(file, false);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    const bool create = strcmp(argv[1], "write") == 0,
               write = create || strcmp(argv[1], "rewrite") == 0;
    bound = strtod(argv[3], NULL);
    how_meta = argc > 4 ? argv[4] : "";
    hid_t file = open_file(argv[2], create, write);
    if (create) {
        H5(H5Gclose(H5Gcreate2(file, "/lossy", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)));
        H5(H5Gclose(H5Gcreate2(file, "/exact", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)));
    }
    all(file, create, write);
    H5(H5Fclose(file));
    MPI_Finalize();
}
