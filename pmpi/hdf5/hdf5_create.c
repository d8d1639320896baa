/*
 * hdf5_create.c - H5Dcreate with ZMPI_HDF5=filter: a new dataset of floats that has a bound gets
 * chunks and zmpi's filter, in a copy of its creation list.
 */
#include <stdlib.h>
#include <string.h>

#include "hdf5/hdf5_filter.h"
#include "hdf5/hdf5_parameters.h"
#include "hdf5/hdf5_selection.h"
#include "hdf5/hdf5_several.h"
#include "mpi/runtime.h"

/* Bytes of a chunk, at most. HDF5 reads and decodes a whole chunk to get one element. */
#define CHUNK_MOST ((hsize_t)4 << 20)

/* What a program creates, and where. name: NULL for a dataset without a name. */
struct created {
    hid_t place, type, space, list;
    const char *name;
};

/* ---- which datasets ---- */

static char *path_of_file(const struct zhdf5 *h, hid_t place)
{
    const zssize_t length = h->H5Fget_name(place, NULL, 0);
    char *path = length >= 0 ? calloc(1, (size_t)length + 1) : NULL;
    if (path && length)
        h->H5Fget_name(place, path, (size_t)length + 1);
    return path;
}

/* The dataset's path; "" where it has none. */
static char *path_of_set(const struct zhdf5 *h, const struct created *c)
{
    const char *name = c->name ? c->name : "";
    const bool whole = !*name || *name == '/';
    const zssize_t length = whole ? 0 : h->H5Iget_name(c->place, NULL, 0);
    if (length < 0)
        return NULL;
    char *path = calloc(1, (size_t)length + strlen(name) + 2);
    if (!path)
        return NULL;
    if (length)
        h->H5Iget_name(c->place, path, (size_t)length + 1);
    if (!whole && (length == 0 || path[length - 1] != '/'))
        strcat(path, "/");
    return strcat(path, name);
}

/* From the rules for the dataset, or else the bound of its file. */
static bool find_bound(const struct zhdf5 *h, const struct created *c, struct zmpi_options *o,
                       struct zmpi_bound *bound)
{
    char message[256];
    char *file = path_of_file(h, c->place), *set = file ? path_of_set(h, c) : NULL;
    bool found = set && zmpi_options_for_file(o, file, message) == ZMPI_OK;
    if (found && !zmpi_rules_dataset(o, set, bound)) {
        *bound = o->bound;
        found = o->bound_set;
    }
    free(set);
    free(file);
    return found && o->hdf5 == ZMPI_HDF5_FILTER;
}

/* ---- their chunks ---- */

/* A chunk is whole rows, as many as fit. All chunks have about the same size. */
static void find_chunk(const hsize_t *extent, int rank, hsize_t width, hsize_t *chunk)
{
    hsize_t bytes = width;
    for (int i = rank - 1; i >= 0; i--) {
        const hsize_t most = CHUNK_MOST / bytes ? CHUNK_MOST / bytes : 1;
        const hsize_t parts = (extent[i] + most - 1) / most;
        chunk[i] = (extent[i] + parts - 1) / parts;
        bytes *= chunk[i];
    }
}

/* The elements of the dataset, or of one chunk if it has chunks. 0: there is nothing to filter. */
static hsize_t elements_of(const struct zhdf5 *h, const struct created *c, int layout,
                           hsize_t *extent, int *rank)
{
    hsize_t all = 1;
    *rank = h->H5Sget_simple_extent_dims(c->space, extent, NULL);
    if (*rank < 1 || *rank > ZH5S_MAX_RANK)
        return 0;
    if (layout == ZH5D_CHUNKED && h->H5Pget_chunk(c->list, ZH5S_MAX_RANK, extent) != *rank)
        return 0;
    for (int i = 0; i < *rank; i++)
        if (__builtin_mul_overflow(all, extent[i], &all))
            return 0;
    return all;
}

static bool can_be_filtered(const struct zhdf5 *h, const struct created *c, hid_t list, int layout)
{
    return (layout == ZH5D_CONTIGUOUS && h->H5Pget_external_count(list) == 0) ||
           (layout == ZH5D_CHUNKED && h->H5Pget_nfilters(list) == 0 && c->list != ZH5P_DEFAULT);
}

/* The creation list: a copy with chunks and filter, which the caller closes, or the program's own.
 * It calls HDF5 only with handles of the right kind, so that HDF5 reports no error. */
static hid_t list_of(const struct zhdf5 *h, const struct created *c)
{
    enum zmpi_type element = ZMPI_BYTES;
    hsize_t extent[ZH5S_MAX_RANK], chunk[ZH5S_MAX_RANK];
    struct zmpi_bound bound;
    unsigned value[ZHDF5_PARAMETERS];
    enum zmpi_variant variant;
    int rank;
    if (!zhdf5_filter_is_used() || !zhdf5_is_known(h) || h->H5Iget_type(c->type) != ZH5I_DATATYPE ||
        h->H5Iget_type(c->space) != ZH5I_DATASPACE)
        return c->list;
    const size_t numbers = zhdf5_floats(h, c->type, &element);
    struct zmpi_options o = *zruntime_options();
    /* Most datasets are small, and have no creation list. */
    if (c->list == ZH5P_DEFAULT &&
        h->H5Sget_simple_extent_npoints(c->space) * (hssize_t)numbers <= (hssize_t)o.exact_below)
        return c->list;
    if (numbers == 0 || !find_bound(h, c, &o, &bound))
        return c->list;
    const hid_t copy =
        h->H5Pcopy(c->list == ZH5P_DEFAULT ? *h->H5P_LST_DATASET_CREATE_ID_g : c->list);
    if (copy < 0)
        return c->list;
    const int layout = h->H5Pget_layout(copy);
    const hsize_t elements =
        can_be_filtered(h, c, copy, layout) ? elements_of(h, c, layout, extent, &rank) : 0;
    bool done = elements > (hsize_t)o.exact_below / numbers;
    if (done && layout == ZH5D_CONTIGUOUS) {
        find_chunk(extent, rank, numbers * zmpi_type_size(element), chunk);
        done = h->H5Pset_chunk(copy, rank, chunk) >= 0;
    }
    zhdf5_parameters(&bound, (unsigned)zmpi_options_encoder(&o, &variant), value);
    done = done && h->H5Pset_filter(copy, ZHDF5_FILTER, 0, ZHDF5_PARAMETERS, value) >= 0;
    if (!done)
        h->H5Pclose(copy);
    return done ? copy : c->list;
}

/* The property lists that HDF5 gets, each the program's or a copy. */
struct lists {
    hid_t creation, access;
};

/* Switches off the chunk cache. In parallel HDF5 an independent read keeps a filtered chunk there
 * and finds it again, even if all ranks have written it anew meanwhile. */
static hid_t access_of(const struct zhdf5 *h, const struct created *c, hid_t access)
{
    if (!h->H5Pset_chunk_cache || !h->H5P_LST_DATASET_ACCESS_ID_g ||
        !zhdf5_several_have(h, c->place))
        return access;
    const hid_t copy =
        h->H5Pcopy(access == ZH5P_DEFAULT ? *h->H5P_LST_DATASET_ACCESS_ID_g : access);
    if (copy >= 0)
        h->H5Pset_chunk_cache(copy, 0, 0, 1);
    return copy >= 0 ? copy : access;
}

static struct lists lists_of(const struct zhdf5 *h, const struct created *c, hid_t access)
{
    const hid_t list = list_of(h, c);
    return (struct lists){list, list == c->list ? access : access_of(h, c, access)};
}

/* dataset: the new one, or an error. access: the program's list. Closes the copies. */
static hid_t created(const struct zhdf5 *h, const struct created *c, struct lists lists,
                     hid_t access, hid_t dataset)
{
    zhdf5_dataset_created(h, dataset, c->type, c->space, lists.creation, c->name);
    if (lists.creation != c->list)
        h->H5Pclose(lists.creation);
    if (lists.access != access)
        h->H5Pclose(lists.access);
    return dataset;
}

/* ---- what programs call ---- */

ZHDF5_SHOWN hid_t H5Dcreate1(hid_t place, const char *name, hid_t type, hid_t space, hid_t creation)
{
    ZHDF5_BEHIND(h, H5Dcreate1)
    const struct created c = {place, type, space, creation, name};
    const struct lists l = lists_of(h, &c, ZH5P_DEFAULT);
    return created(h, &c, l, ZH5P_DEFAULT,
                   l.access == ZH5P_DEFAULT ? h->H5Dcreate1(place, name, type, space, l.creation)
                                            : h->H5Dcreate2(place, name, type, space, ZH5P_DEFAULT,
                                                            l.creation, l.access));
}

ZHDF5_SHOWN hid_t H5Dcreate2(hid_t place, const char *name, hid_t type, hid_t space, hid_t link,
                             hid_t creation, hid_t access)
{
    ZHDF5_BEHIND(h, H5Dcreate2)
    const struct created c = {place, type, space, creation, name};
    const struct lists l = lists_of(h, &c, access);
    return created(h, &c, l, access,
                   h->H5Dcreate2(place, name, type, space, link, l.creation, l.access));
}

ZHDF5_SHOWN hid_t H5Dcreate_anon(hid_t place, hid_t type, hid_t space, hid_t creation, hid_t access)
{
    ZHDF5_BEHIND(h, H5Dcreate_anon)
    const struct created c = {place, type, space, creation, NULL};
    const struct lists l = lists_of(h, &c, access);
    return created(h, &c, l, access, h->H5Dcreate_anon(place, type, space, l.creation, l.access));
}

ZHDF5_SHOWN hid_t H5Dcreate_async(const char *from, const char *function, unsigned line,
                                  hid_t place, const char *name, hid_t type, hid_t space,
                                  hid_t link, hid_t creation, hid_t access, hid_t events)
{
    ZHDF5_BEHIND(h, H5Dcreate_async)
    const struct created c = {place, type, space, creation, name};
    const struct lists l = lists_of(h, &c, access);
    return created(h, &c, l, access,
                   h->H5Dcreate_async(from, function, line, place, name, type, space, link,
                                      l.creation, l.access, events));
}
