/* filter.c - one chunk to a stream and back. A stream tells by itself what is in it. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "hosts/hdf5/h5.h"
#include "hosts/hdf5/h5zmpi.h"

/* HDF5's own limit of a chunk. */
#define CHUNK_MOST ((size_t)UINT32_MAX)

int h5zmpi_bound(const unsigned values[H5ZMPI_GIVEN], struct zmpi_bound *bound)
{
    static const char *const names[] = {
        [ZMPI_LOSSLESS] = "lossless", [ZMPI_ABS] = "abs",     [ZMPI_REL] = "rel",
        [ZMPI_PSNR] = "psnr",         [ZMPI_RATIO] = "ratio", [ZMPI_PW_REL] = "pw_rel"};
    char text[64];
    const unsigned mode = values[H5ZMPI_MODE];
    if (mode >= sizeof names / sizeof *names || values[H5ZMPI_ENCODER] > ZMPI_INTERP)
        return 0;
    snprintf(text, sizeof text, mode == ZMPI_LOSSLESS ? "%s" : "%s=%ue%lld", names[mode],
             values[H5ZMPI_MANTISSA], -(long long)(int)values[H5ZMPI_EXPONENT]);
    return zmpi_bound_parse(text, bound) == ZMPI_OK;
}

static _Thread_local const struct zmpi_range *whole;
static _Thread_local enum zmpi_status failed;
static atomic_bool decoded; /* some chunk: a program may have changed a part of it */

void h5zmpi_set_range(const struct zmpi_range *range)
{
    whole = range;
}

const char *h5zmpi_error(void)
{
    const enum zmpi_status s = failed;
    failed = ZMPI_OK;
    return s == ZMPI_OK ? NULL : zmpi_strerror(s);
}

/* The chunk as set_local saw it; bytes where a filter in front has made it another one. */
static struct zmpi_array array_of(size_t count, const unsigned values[], size_t bytes)
{
    struct zmpi_array a = {ZMPI_BYTES, {1, 1, bytes}};
    size_t is;
    if (count < H5ZMPI_COUNT)
        return a;
    struct zmpi_array given = {
        (enum zmpi_type)values[H5ZMPI_TYPE],
        {values[H5ZMPI_EXTENT], values[H5ZMPI_EXTENT + 1], values[H5ZMPI_EXTENT + 2]}};
    return zmpi_array_bytes(&given, &is) == ZMPI_OK && is == bytes ? given : a;
}

/* 0: failed. *to is the caller's then. */
static size_t encode(size_t count, const unsigned values[], const void *src, size_t bytes,
                     size_t *capacity, void **to)
{
    unsigned given[H5ZMPI_GIVEN] = {0};
    struct zmpi_bound bound;
    for (size_t i = 0; i < count && i < H5ZMPI_GIVEN; i++)
        given[i] = values[i];
    const struct zmpi_array array = array_of(count, values, bytes);
    const struct zmpi_codec_options how = {.size = sizeof how,
                                           .encoder = (int)given[H5ZMPI_ENCODER],
                                           .threads = 1,
                                           .rewritten = atomic_load(&decoded)};
    size_t size;
    *capacity = zmpi_compress_capacity(&array);
    const int known = h5zmpi_bound(given, &bound);
    *to = known ? malloc(*capacity) : NULL;
    failed = !known ? ZMPI_ERR_BOUND
             : !*to ? ZMPI_ERR_MEMORY
                    : zmpi_compress_with(&how, &array, &bound, whole, *to, *capacity, src, &size);
    return failed == ZMPI_OK ? size : 0;
}

static size_t decode(const void *src, size_t bytes, size_t *capacity, void **to)
{
    struct zmpi_stream_info info;
    if (zmpi_stream_info(src, bytes, &info) || info.decoded_bytes == 0 ||
        info.decoded_bytes > CHUNK_MOST)
        return 0;
    atomic_store(&decoded, 1);
    *capacity = info.decoded_bytes;
    *to = malloc(*capacity);
    return *to && zmpi_decompress(*to, *capacity, src, bytes) == ZMPI_OK ? *capacity : 0;
}

size_t h5zmpi_filter(unsigned flags, size_t count, const unsigned values[], size_t bytes,
                     size_t *buf_size, void **buf)
{
    void *made = NULL;
    size_t capacity = 0;
    const size_t size = flags & H5Z_FLAG_REVERSE
                            ? decode(*buf, bytes, &capacity, &made)
                            : encode(count, values, *buf, bytes, &capacity, &made);
    if (size == 0) {
        free(made);
        return 0;
    }
    free(*buf);
    *buf = made;
    *buf_size = capacity;
    return size;
}
