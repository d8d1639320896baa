/*
 * h5zmpi.c - HDF5's dynamic filter. Each chunk of a dataset of floats becomes a stream. Any program
 * that has HDF5 can read the dataset, if HDF5 finds this plug-in (HDF5_PLUGIN_PATH).
 */
#include <stdbool.h>

#include "hosts/hdf5/h5.h"
#include "hosts/hdf5/h5zmpi.h"

#define SHOWN __attribute__((visibility("default")))

static void say(const struct h5 *h, unsigned line, const char *text)
{
    if (h->error_class > 0)
        h->H5Epush2(0, "h5zmpi.c", "zmpi", line, h->error_class, h->error_major, h->error_minor,
                    "%s", text);
}

/* ---- type and shape of a chunk ---- */

/* How many numbers of the native type an element has: one; two if it is complex, as h5py stores it;
 * else 0. */
static size_t numbers_of(const struct h5 *h, hid_t type, hid_t native)
{
    if (h->H5Tequal(type, native) > 0)
        return 1;
    if (h->H5Tget_class(type) != H5T_COMPOUND || h->H5Tget_nmembers(type) != 2 ||
        h->H5Tget_size(type) != 2 * h->H5Tget_size(native))
        return 0;
    size_t alike = 0;
    for (unsigned i = 0; i < 2; i++) {
        const hid_t member = h->H5Tget_member_type(type, i);
        alike += member >= 0 && h->H5Tequal(member, native) > 0;
        if (member >= 0)
            h->H5Tclose(member);
    }
    return alike == 2 ? 2 : 0;
}

static enum zmpi_type type_of(const struct h5 *h, hid_t type, size_t *numbers)
{
    const size_t size = h->H5Tget_size(type);
    const bool integer = h->H5Tget_class(type) == H5T_INTEGER;
    *numbers = numbers_of(h, type, h->native_float);
    if (*numbers)
        return ZMPI_F32;
    *numbers = numbers_of(h, type, h->native_double);
    if (*numbers)
        return ZMPI_F64;
    *numbers = integer && (size == 4 || size == 8) ? 1 : size;
    return *numbers != 1 || size == 1 ? ZMPI_BYTES : size == 4 ? ZMPI_I32 : ZMPI_I64;
}

/* A filter in front of this one changes the data, so that they are no floats any more. */
static bool is_first(const struct h5 *h, hid_t creation)
{
    unsigned flags, config;
    size_t none = 0;
    return h->H5Pget_nfilters(creation) > 0 &&
           h->H5Pget_filter2(creation, 0, &flags, &none, NULL, 0, NULL, &config) == H5ZMPI_ID;
}

/* The chunk's extents in three dimensions: extents of 1 are left out, and all but the last two
 * become one. False: too large. */
static bool find_extents(const hsize_t *chunk, int rank, size_t numbers, unsigned extent[3])
{
    hsize_t e[3] = {1, 1, 1};
    int at = 2;
    for (int i = rank - 1; i >= 0; i--) {
        if (chunk[i] == 1)
            continue;
        if (__builtin_mul_overflow(e[at], chunk[i], &e[at]))
            return false;
        at -= at > 0;
    }
    if (__builtin_mul_overflow(e[2], numbers, &e[2]))
        return false;
    for (int i = 0; i < 3; i++) {
        if (e[i] > UINT32_MAX)
            return false;
        extent[i] = (unsigned)e[i];
    }
    return true;
}

/* ---- what HDF5 calls ---- */

/* Elements that lie outside the chunk (strings of variable length): the filter would see their
 * addresses. */
static htri_t can_apply(hid_t creation, hid_t type, hid_t space)
{
    struct h5 h;
    (void)creation;
    (void)space;
    if (!h5_find(&h, __builtin_return_address(0)))
        return -1;
    return h.H5Tdetect_class(type, H5T_VLEN) == 0 && h.H5Tdetect_class(type, H5T_REFERENCE) == 0 &&
           h.H5Tis_variable_str(type) == 0;
}

static herr_t set_local(hid_t creation, hid_t type, hid_t space)
{
    struct h5 h;
    struct zmpi_bound bound;
    unsigned values[H5ZMPI_COUNT] = {0}, flags, config;
    hsize_t chunk[H5S_MAX_RANK];
    size_t count = H5ZMPI_GIVEN, numbers;
    (void)space;
    if (!h5_find(&h, __builtin_return_address(0)) ||
        h.H5Pget_filter_by_id2(creation, H5ZMPI_ID, &flags, &count, values, 0, NULL, &config) < 0)
        return -1;
    if (!h5zmpi_bound(values, &bound)) {
        say(&h, __LINE__,
            "zmpi: parameters are MODE,MANTISSA,EXPONENT,ENCODER (rel=1e-3: 2,1,3; no parameter: "
            "lossless), and the bound one of " ZMPI_BOUNDS);
        return -1;
    }
    const int rank = h.H5Pget_chunk(creation, H5S_MAX_RANK, chunk);
    enum zmpi_type element = type_of(&h, type, &numbers);
    if (!is_first(&h, creation)) {
        element = ZMPI_BYTES;
        numbers = h.H5Tget_size(type);
    }
    values[H5ZMPI_TYPE] = element;
    if (rank < 1 || !find_extents(chunk, rank, numbers, values + H5ZMPI_EXTENT))
        return -1;
    return h.H5Pmodify_filter(creation, H5ZMPI_ID, flags, H5ZMPI_COUNT, values);
}

static const struct H5Z_class2 filter = {
    .version = H5Z_CLASS_T_VERS,
    .id = H5ZMPI_ID,
    .encoder_present = 1,
    .decoder_present = 1,
    .name = "zmpi: error-bounded compression of floats",
    .can_apply = can_apply,
    .set_local = set_local,
    .filter = h5zmpi_filter,
};

SHOWN int H5PLget_plugin_type(void);
SHOWN const void *H5PLget_plugin_info(void);

int H5PLget_plugin_type(void)
{
    return H5PL_TYPE_FILTER;
}

const void *H5PLget_plugin_info(void)
{
    return &filter;
}
