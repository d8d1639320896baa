/* hdf5_selection.c - from the arguments of H5Dwrite to a range of memory and the shape of its
 * elements. */
#include "hdf5/hdf5_selection.h"

/* A trailing extent below this is no row. It may be the components of a point, which zmpi finds
 * better in the data. */
#define SHORT_ROW 16

/* ---- types ---- */

/* How many numbers of the native type an element has: one; two if it is complex, which h5py stores
 * as a compound of two such numbers; else 0. */
static int numbers_of(const struct zhdf5 *h, hid_t type, hid_t native)
{
    if (h->H5Tequal(type, native) > 0)
        return 1;
    if (h->H5Tget_class(type) != ZH5T_COMPOUND || h->H5Tget_nmembers(type) != 2 ||
        h->H5Tget_size(type) != 2 * h->H5Tget_size(native))
        return 0;
    int alike = 0;
    for (unsigned i = 0; i < 2; i++) {
        const hid_t member = h->H5Tget_member_type(type, i);
        alike += member >= 0 && h->H5Tequal(member, native) > 0;
        if (member >= 0)
            h->H5Tclose(member);
    }
    return alike == 2 ? 2 : 0;
}

size_t zhdf5_floats(const struct zhdf5 *h, hid_t type, enum zmpi_type *element)
{
    const hid_t native[2] = {*h->H5T_NATIVE_FLOAT_g, *h->H5T_NATIVE_DOUBLE_g};
    int numbers = 0;
    for (int i = 0; i < 2 && numbers == 0 && native[i] > 0; i++) {
        numbers = numbers_of(h, type, native[i]);
        *element = i == 0 ? ZMPI_F32 : ZMPI_F64;
    }
    return (size_t)numbers;
}

/* Is the memory's type the dataset's? It calls HDF5 only with handles of the right kind, so that
 * HDF5 reports no error. Two complex types may have unlike members. */
static bool has_type_of(const struct zhdf5 *h, const struct zhdf5_transfer *t,
                        const struct zhdf5_dataset *d)
{
    if (h->H5Iget_type(t->dataset) != ZH5I_DATASET || h->H5Iget_type(t->type) != ZH5I_DATATYPE)
        return false;
    if (d->numbers == 1)
        return h->H5Tequal(t->type, d->element == ZMPI_F32 ? *h->H5T_NATIVE_FLOAT_g
                                                           : *h->H5T_NATIVE_DOUBLE_g) > 0;
    const hid_t file = h->H5Dget_type(t->dataset);
    const bool same = file >= 0 && h->H5Tequal(t->type, file) > 0;
    if (file >= 0)
        h->H5Tclose(file);
    return same;
}

/* ---- selections ---- */

/* A selection: which elements of an array, in the order in which they are written. */
struct selection {
    int rank;
    hsize_t extent[ZH5S_MAX_RANK]; /* of the array */
    hsize_t first[ZH5S_MAX_RANK], last[ZH5S_MAX_RANK];
    hsize_t count[ZH5S_MAX_RANK]; /* elements in each dimension, if `regular` */
    bool regular, solid;          /* regular: a grid; solid: a grid without gaps */
    hsize_t points;
    hsize_t all; /* elements of the array */
};

static void find_grid(const struct zhdf5 *h, hid_t space, int how, struct selection *s)
{
    hsize_t start[ZH5S_MAX_RANK], stride[ZH5S_MAX_RANK], count[ZH5S_MAX_RANK], block[ZH5S_MAX_RANK];
    s->regular = s->solid = how == ZH5S_SEL_ALL || s->rank == 0;
    for (int i = 0; i < s->rank; i++)
        s->count[i] = s->extent[i];
    if (how != ZH5S_SEL_HYPERSLAB || h->H5Sis_regular_hyperslab(space) <= 0 ||
        h->H5Sget_regular_hyperslab(space, start, stride, count, block) < 0)
        return;
    s->regular = s->solid = true;
    for (int i = 0; i < s->rank; i++) {
        s->count[i] = count[i] * block[i];
        s->solid = s->solid && (count[i] == 1 || stride[i] == block[i]);
    }
}

/* False: HDF5 cannot tell, or nothing is selected. */
static bool look(const struct zhdf5 *h, hid_t space, struct selection *s)
{
    if (h->H5Iget_type(space) != ZH5I_DATASPACE)
        return false;
    const int how = h->H5Sget_select_type(space);
    const hssize_t points = how > ZH5S_SEL_NONE ? h->H5Sget_select_npoints(space) : 0;
    if (points <= 0)
        return false;
    s->points = (hsize_t)points;
    s->rank = h->H5Sget_simple_extent_dims(space, s->extent, NULL);
    if (s->rank < 0 || s->rank > ZH5S_MAX_RANK ||
        (s->rank > 0 && h->H5Sget_select_bounds(space, s->first, s->last) < 0))
        return false;
    s->all = 1;
    for (int i = 0; i < s->rank; i++)
        if (__builtin_mul_overflow(s->all, s->extent[i], &s->all))
            return false;
    find_grid(h, space, how, s);
    return true;
}

/* *first: the first element that is selected; the other: one behind the last. */
static bool find_bounds(const struct selection *s, uint64_t *first, uint64_t *end)
{
    *first = *end = 0;
    for (int i = 0; i < s->rank; i++)
        if (s->last[i] >= s->extent[i] || s->first[i] > s->last[i] ||
            __builtin_mul_overflow(*first, s->extent[i], first) ||
            __builtin_mul_overflow(*end, s->extent[i], end) ||
            __builtin_add_overflow(*first, s->first[i], first) ||
            __builtin_add_overflow(*end, s->last[i], end))
            return false;
    *end += 1;
    return true;
}

/* ---- shape ---- */

/* Elements in each dimension of what HDF5 writes in one piece: the selection's, or a chunk's; 0:
 * the pieces differ. */
static void find_parts(const struct zhdf5_dataset *d, const struct selection *s,
                       hsize_t part[ZH5S_MAX_RANK])
{
    const bool chunked = d->layout == ZH5D_CHUNKED;
    const bool known = !chunked || (d->chunk_rank == s->rank && s->solid);
    for (int i = 0; i < s->rank; i++) {
        const hsize_t chunk = d->chunk[i];
        part[i] = known && s->regular ? s->count[i] : 0;
        if (!chunked || part[i] == 0 || s->first[i] / chunk == s->last[i] / chunk)
            continue;
        const bool whole = s->first[i] % chunk == 0 && s->count[i] % chunk == 0;
        part[i] = whole ? chunk : 0;
    }
}

static void find_rows(const struct selection *s, const hsize_t part[ZH5S_MAX_RANK], size_t numbers,
                      struct zknown *known)
{
    int i = s->rank - 1;
    while (i >= 0 && part[i] == 1)
        i--;
    if (i < 0 || part[i] < SHORT_ROW)
        return;
    known->row = part[i] * numbers;
    known->rows = i > 0 ? part[i - 1] : 0;
}

/* ---- all of it ---- */

/* The file's selection: the whole dataset if the program gives none. If it gives none for the
 * memory either, the memory's is the same. */
static hid_t space_of_file(const struct zhdf5 *h, const struct zhdf5_transfer *t, hid_t *opened)
{
    *opened = t->file == ZH5S_ALL ? h->H5Dget_space(t->dataset) : -1;
    return t->file == ZH5S_ALL ? *opened : t->file;
}

static bool find_memory(const struct zhdf5 *h, const struct zhdf5_transfer *t,
                        const struct selection *file, size_t numbers, struct zknown *known)
{
    struct selection own;
    const struct selection *memory = file;
    const size_t width = numbers * zmpi_type_size(known->element);
    uint64_t first = 0, end = file->points;
    if (t->memory != ZH5S_ALL && t->memory != ZH5S_BLOCK) {
        if (!look(h, t->memory, &own))
            return false;
        memory = &own;
    }
    if (t->memory != ZH5S_BLOCK && !find_bounds(memory, &first, &end))
        return false;
    const uintptr_t buf = (uintptr_t)t->buf;
    return !__builtin_mul_overflow(first, width, &first) &&
           !__builtin_mul_overflow(end, width, &end) &&
           !__builtin_add_overflow(buf, first, &known->begin) &&
           !__builtin_add_overflow(buf, end, &known->end);
}

/* Does the file get the elements' own bytes? Filters change them, and data in an object's header or
 * in other files are not written by themselves. */
static bool is_plain(const struct zhdf5_dataset *d)
{
    return d->numbers > 0 && !d->filtered &&
           (d->layout == ZH5D_CONTIGUOUS || d->layout == ZH5D_CHUNKED);
}

bool zhdf5_select(const struct zhdf5 *h, const struct zhdf5_transfer *t,
                  const struct zhdf5_dataset *d, struct zknown *known)
{
    struct selection file;
    hsize_t part[ZH5S_MAX_RANK];
    hid_t opened;
    *known = (struct zknown){.element = d->element};
    if (!t->buf || !is_plain(d) || !has_type_of(h, t, d))
        return false;
    const hid_t space = space_of_file(h, t, &opened);
    const bool found = look(h, space, &file) && find_memory(h, t, &file, d->numbers, known);
    if (opened >= 0)
        h->H5Sclose(opened);
    if (found) {
        find_parts(d, &file, part);
        known->written = file.points * d->numbers;
        known->all = file.all * d->numbers;
        find_rows(&file, part, d->numbers, known);
    }
    return found;
}
