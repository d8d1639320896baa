/*
 * hdf5_odd.c - PATH: creates and writes datasets with arguments that make little sense, or none:
 * types, spaces, selections, lists and handles of every kind. Prints what HDF5 answers to each, and
 * what is there then: both must be the same with zmpi and without.
 */
#include <hdf5.h>
#include <math.h>

#include "../../mpi/check.h"

enum { ROWS = 40, COLUMNS = 60, ALL = ROWS * COLUMNS };

static double data[2 * ALL], back[2 * ALL];
static hid_t file, group, written;

static void say(const char *what, int i, int k, long long result)
{
    printf("%s %d %d: %lld\n", what, i, k, result);
}

static int sign(long long result)
{
    return result < 0 ? -1 : 0;
}

/* ---- types ---- */

static hid_t pair_of(hid_t first, hid_t second, size_t size)
{
    const hid_t type = H5Tcreate(H5T_COMPOUND, size);
    H5Tinsert(type, "r", 0, first);
    H5Tinsert(type, "i", H5Tget_size(first), second);
    return type;
}

static hid_t triple(void)
{
    const hid_t type = H5Tcreate(H5T_COMPOUND, 24);
    for (size_t i = 0; i < 3; i++)
        H5Tinsert(type, i == 0 ? "x" : i == 1 ? "y" : "z", 8 * i, H5T_NATIVE_DOUBLE);
    return type;
}

static hid_t type_of(int i)
{
    switch (i) {
    case 0:
        return H5Tcopy(H5T_NATIVE_DOUBLE);
    case 1:
        return H5Tcopy(H5T_NATIVE_FLOAT);
    case 2:
        return pair_of(H5T_NATIVE_DOUBLE, H5T_NATIVE_DOUBLE, 16);
    case 3:
        return pair_of(H5T_NATIVE_FLOAT, H5T_NATIVE_FLOAT, 8);
    case 4:
        return pair_of(H5T_NATIVE_DOUBLE, H5T_NATIVE_INT64, 16);
    case 5:
        return pair_of(H5T_NATIVE_FLOAT, H5T_NATIVE_INT32, 8);
    case 6:
        return pair_of(H5T_NATIVE_DOUBLE, H5T_NATIVE_FLOAT, 12);
    case 7:
        return triple();
    case 8:
        return H5Tcopy(H5T_IEEE_F64BE);
    case 9:
        return H5Tcopy(H5T_NATIVE_INT);
    case 10:
        return H5Tarray_create2(H5T_NATIVE_DOUBLE, 1, (hsize_t[]){2});
    default:
        return -1;
    }
}

enum { TYPES = 12 };

/* ---- spaces of ALL elements or fewer, and what is selected of them ---- */

static hid_t part_of(int rank, const hsize_t *extent, const hsize_t *first, const hsize_t *stride,
                     const hsize_t *count, const hsize_t *block)
{
    const hid_t space = H5Screate_simple(rank, extent, NULL);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, first, stride, count, block);
    return space;
}

static hid_t space_of(int i)
{
    const hsize_t two[] = {ROWS, COLUMNS}, huge[] = {(hsize_t)1 << 40, (hsize_t)1 << 40},
                  long_rows[] = {4, (hsize_t)1 << 61}, zero[] = {0, 0}, one[] = {1, 1};
    hid_t space;
    switch (i) {
    case 0:
        return H5S_ALL;
    case 1:
        return H5Screate_simple(2, two, NULL);
    case 2:
        return H5Screate(H5S_SCALAR);
    case 3:
        return H5Screate(H5S_NULL);
    case 4:
        return H5Screate_simple(1, (hsize_t[]){ALL}, NULL);
    case 5:
        return H5Screate_simple(2, (hsize_t[]){0, COLUMNS}, NULL);
    case 6: /* the right number of elements, from a much longer row */
        return part_of(2, huge, zero, NULL, (hsize_t[]){1, ALL}, NULL);
    case 7:
        return part_of(2, long_rows, zero, NULL, (hsize_t[]){1, ALL}, NULL);
    case 8: /* every other row */
        return part_of(2, two, zero, (hsize_t[]){2, 1}, (hsize_t[]){ROWS / 2, COLUMNS}, NULL);
    case 9: /* blocks that touch each other, and blocks that do not */
        return part_of(2, two, zero, (hsize_t[]){4, 20}, (hsize_t[]){10, 3}, (hsize_t[]){4, 10});
    case 10:
        return part_of(2, two, (hsize_t[]){7, 11}, NULL, one, (hsize_t[]){20, 30});
    case 11: /* an edge of two slabs */
        space = part_of(2, two, zero, NULL, one, (hsize_t[]){20, 30});
        H5Sselect_hyperslab(space, H5S_SELECT_OR, (hsize_t[]){10, 20}, NULL, one,
                            (hsize_t[]){20, 30});
        return space;
    case 12:
        space = H5Screate_simple(2, two, NULL);
        H5Sselect_none(space);
        return space;
    case 13:
        space = H5Screate_simple(2, two, NULL);
        H5Sselect_elements(space, H5S_SELECT_SET, 3, (const hsize_t[]){1, 2, 39, 59, 0, 0});
        return space;
    case 14: /* beyond the end */
        return part_of(2, two, (hsize_t[]){30, 0}, NULL, one, (hsize_t[]){20, 60});
    case 15: /* moved to before its beginning */
        space = part_of(2, two, zero, NULL, one, (hsize_t[]){20, 60});
        H5Soffset_simple(space, (const hssize_t[]){-1, 0});
        return space;
    case 16:
        return H5Tcopy(H5T_NATIVE_DOUBLE);
    default:
        return -1;
    }
}

enum { SPACES = 18 };

/* ---- lists ---- */

static hid_t list_of(int i)
{
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    const double fills[] = {0, NAN, INFINITY, 1e-320, -7.25};
    if (i >= 1 && i <= 5)
        H5Pset_fill_value(list, H5T_NATIVE_DOUBLE, &fills[i - 1]);
    else if (i == 6)
        H5Pset_fill_value(list, H5T_NATIVE_DOUBLE, NULL); /* undefined */
    else if (i == 7)
        H5Pset_layout(list, H5D_COMPACT);
    else if (i == 8)
        H5Pset_chunk(list, 2, (hsize_t[]){7, 11});
    else if (i == 9)
        H5Pset_chunk(list, 2, (hsize_t[]){10, 60});
    else if (i == 10)
        H5Pset_chunk(list, 1, (hsize_t[]){100});
    else if (i == 11)
        H5Pset_external(list, "odd_external.bin", 0, sizeof data);
    else if (i == 12) {
        H5Pset_chunk(list, 2, (hsize_t[]){10, 20});
        H5Pset_shuffle(list);
        H5Pset_deflate(list, 1);
    }
    if (i != 13)
        return list;
    H5Pclose(list);
    return H5Pcreate(H5P_FILE_ACCESS); /* of another class */
}

enum { LISTS = 14 };

/* ---- what is done with them ---- */

static int close_any(hid_t any)
{
    return any > 0 && H5Iis_valid(any) > 0 ? H5Idec_ref(any) : 0;
}

static long long sum_of(const void *bytes, size_t size)
{
    const unsigned char *b = bytes;
    uint64_t sum = 0;
    for (size_t i = 0; i < size; i++)
        sum = check_mix(sum, b[i]);
    return (long long)(sum >> 1);
}

/* Prints the dataset's bytes, as doubles if they are doubles. */
static void say_content(const char *what, int i, int k, hid_t set)
{
    memset(back, 0, sizeof back);
    const int rc = H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, back);
    say(what, i, k, rc < 0 ? -1 : sum_of(back, sizeof back));
}

static void try_types(void)
{
    const hid_t space = H5Screate_simple(2, (hsize_t[]){ROWS, COLUMNS}, NULL);
    for (int i = 0; i < TYPES; i++)
        for (int k = 0; k < TYPES; k++) {
            const hid_t of_file = type_of(i), of_memory = type_of(k);
            const hid_t set = H5Dcreate_anon(file, of_file, space, H5P_DEFAULT, H5P_DEFAULT);
            say("type", i, k, sign(set));
            /* The buffer is too short for larger elements. */
            if (set >= 0 && (of_memory < 0 || H5Tget_size(of_memory) <= 16))
                say("written", i, k, H5Dwrite(set, of_memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
            if (set >= 0)
                say_content("type has", i, k, set);
            close_any(set);
            close_any(of_file);
            close_any(of_memory);
        }
    H5Sclose(space);
}

static void try_spaces(void)
{
    const hid_t whole = H5Screate_simple(2, (hsize_t[]){ROWS, COLUMNS}, NULL);
    for (int i = 0; i < SPACES; i++)
        for (int k = 0; k < SPACES; k = k == 1 ? 8 : k + 1) /* HDF5 1.10 crashes with others */
            for (int list = 0; list <= 9; list += 9) {
                const hid_t creation = list_of(list);
                const hid_t set =
                    H5Dcreate_anon(group, H5T_NATIVE_DOUBLE, whole, creation, H5P_DEFAULT);
                const hid_t of_memory = space_of(i), of_file = space_of(k);
                say("space", i, k,
                    H5Dwrite(set, H5T_NATIVE_DOUBLE, of_memory, of_file, H5P_DEFAULT, data));
                say_content("space has", i, k, set);
                close_any(of_memory);
                close_any(of_file);
                H5Dclose(set);
                H5Pclose(creation);
            }
    H5Sclose(whole);
}

static void try_lists(void)
{
    for (int i = 0; i < LISTS; i++)
        for (int k = 1; k <= 5; k++) { /* types by spaces */
            const hid_t list = list_of(i), space = space_of(k), type = type_of(k % 4);
            const hid_t set = H5Dcreate_anon(file, type, space, list, H5P_DEFAULT);
            say("list", i, k, sign(set));
            if (set >= 0) {
                say("written", i, k, H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
                say_content("list has", i, k, set);
            }
            close_any(set);
            close_any(type);
            close_any(space);
            close_any(list);
        }
}

static void try_names(void)
{
    static const char *const names[] = {"/absolute", "relative", "", ".", "/", "absent/x", NULL};
    const hid_t space = H5Screate_simple(1, (hsize_t[]){ALL}, NULL);
    const hid_t places[] = {file, group, written, space, -1};
    for (int i = 0; i < 7; i++)
        for (int k = 0; k < 5; k++) {
            const hid_t set = H5Dcreate2(places[k], names[i], H5T_NATIVE_DOUBLE, space, H5P_DEFAULT,
                                         H5P_DEFAULT, H5P_DEFAULT);
            say("name", i, k, sign(set));
            if (set >= 0) {
                say("written", i, k,
                    H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
                say_content("name has", i, k, set);
                H5Dclose(set);
            }
        }
    H5Sclose(space);
}

/* Passes handles that are not a dataset, type, space or list, and no data. */
static void try_handles(void)
{
    const hid_t space = H5Screate_simple(2, (hsize_t[]){ROWS, COLUMNS}, NULL);
    const hid_t any[] = {-1, 0, file, group, written, space, H5T_NATIVE_DOUBLE, H5P_DATASET_XFER};
    const hid_t gone = H5Screate(H5S_SCALAR);
    H5Sclose(gone);
    for (int i = 0; i < 8; i++) {
        const hid_t x = any[i], d = H5P_DEFAULT;
        say("dataset", i, 0, H5Dwrite(x, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, d, data));
        say("type", i, 0, H5Dwrite(written, x, H5S_ALL, H5S_ALL, d, data));
        say("memory", i, 0, H5Dwrite(written, H5T_NATIVE_DOUBLE, x, H5S_ALL, d, data));
        say("file", i, 0, H5Dwrite(written, H5T_NATIVE_DOUBLE, H5S_ALL, x, d, data));
        say("transfer", i, 0, H5Dwrite(written, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, x, data));
        say("creation", i, 0, sign(H5Dcreate_anon(file, H5T_NATIVE_DOUBLE, space, x, d)));
        say("space", i, 0, sign(H5Dcreate_anon(file, H5T_NATIVE_DOUBLE, x, d, d)));
        say("created type", i, 0, sign(H5Dcreate_anon(file, x, space, d, d)));
    }
    say("gone", 0, 0, H5Dwrite(written, H5T_NATIVE_DOUBLE, gone, gone, H5P_DEFAULT, data));
    say("nothing", 0, 0, H5Dwrite(written, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, NULL));
    say_content("handles left", 0, 0, written);
    H5Sclose(space);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    CHECK(argc == 2);
    for (int i = 0; i < 2 * ALL; i++)
        data[i] = 3 + sin(0.01 * i);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    CHECK(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL) >= 0);
    CHECK((file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, access)) >= 0);
    CHECK((group = H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)) >= 0);
    const hid_t whole = H5Screate_simple(2, (hsize_t[]){ROWS, COLUMNS}, NULL);
    written = H5Dcreate2(group, "written", H5T_NATIVE_DOUBLE, whole, H5P_DEFAULT, H5P_DEFAULT,
                         H5P_DEFAULT);
    CHECK(written >= 0);
    CHECK(H5Dwrite(written, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    try_types();
    try_spaces();
    try_lists();
    try_names();
    try_handles();
    H5Dclose(written);
    H5Sclose(whole);
    H5Gclose(group);
    H5Pclose(access);
    say("closed", 0, 0, H5Fclose(file));
    MPI_Finalize();
    return 0;
}
