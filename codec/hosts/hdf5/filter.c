/* filter.c - one chunk to a stream and back. A stream describes its own contents. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
/* Which lossy chunks were decoded, so that a program may have changed a part of one: none, 1, or
 * ZMPI_INTERP as zmpi_compress_with takes it. */
static atomic_int decoded;

void h5zmpi_set_range(const struct zmpi_range *range)
{
    whole = range;
}

/* The chunk's array as set_local saw it, and true. If a filter in front has changed its size, the
 * array is bytes. */
static int find_array(size_t count, const unsigned values[], size_t bytes, struct zmpi_array *array)
{
    size_t is;
    *array = (struct zmpi_array){ZMPI_BYTES, {1, 1, bytes}};
    if (count < H5ZMPI_COUNT)
        return 0;
    const struct zmpi_array given = {
        (enum zmpi_type)values[H5ZMPI_TYPE],
        {values[H5ZMPI_EXTENT], values[H5ZMPI_EXTENT + 1], values[H5ZMPI_EXTENT + 2]}};
    if (zmpi_array_bytes(&given, &is) || is != bytes)
        return 0;
    *array = given;
    return 1;
}

/* If there is no memory to compress a chunk, it is stored as it is. A filter that fails on one rank
 * would make parallel HDF5 let the others wait for ever. */
static size_t keep(size_t bytes)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&told))
        fprintf(stderr,
                "zmpi: HDF5 filter: no memory to compress a chunk of %zu bytes: it is written "
                "uncompressed, and so may be others\n",
                bytes);
    return bytes;
}

/* No stream begins like such a chunk. */
static int is_kept(size_t count, const unsigned values[], const void *src, size_t bytes)
{
    struct zmpi_stream_info info;
    struct zmpi_array array;
    return find_array(count, values, bytes, &array) &&
           zmpi_stream_info(src, bytes, &info) == ZMPI_ERR_FORMAT;
}

/* Most likely a chunk of fill values: every rank codes it, and HDF5 relies on the same size from
 * all. (Elements of any type repeat after the first 16 bytes.) */
static int is_constant(const void *src, size_t bytes)
{
    return bytes > 16 && memcmp(src, (const char *)src + 16, bytes - 16) == 0;
}

/* Remembers that a chunk of this stream was decoded. */
static void remember(const struct zmpi_stream_info *info)
{
    const int by_steps = info->family == 0 || info->family == H5ZMPI_LORENZO;
    int none = 0;
    if (info->abs_bound == 0)
        return;
    if (by_steps)
        atomic_compare_exchange_strong(&decoded, &none, 1);
    else
        atomic_store(&decoded, ZMPI_INTERP);
}

/* Memory for a stream; less if the chunk compresses well. */
static void *room_for(const struct zmpi_array *array, size_t bytes, int constant, size_t *capacity)
{
    *capacity = zmpi_compress_capacity(array);
    void *to = malloc(*capacity);
    if (to || !constant)
        return to;
    *capacity = bytes / 32 + 65536;
    return malloc(*capacity);
}

/* Returns 0 if it failed. The caller frees *to; NULL: the chunk stays as it is. */
static size_t encode(size_t count, const unsigned values[], const void *src, size_t bytes,
                     size_t *capacity, void **to)
{
    unsigned given[H5ZMPI_GIVEN] = {0};
    struct zmpi_bound bound;
    struct zmpi_array array;
    for (size_t i = 0; i < count && i < H5ZMPI_GIVEN; i++)
        given[i] = values[i];
    const int whole_chunk = find_array(count, values, bytes, &array);
    const int constant = is_constant(src, bytes);
    const struct zmpi_codec_options how = {.size = sizeof how,
                                           .encoder = (int)given[H5ZMPI_ENCODER],
                                           .threads = 1,
                                           .rewritten = atomic_load(&decoded)};
    size_t size;
    if (!h5zmpi_bound(given, &bound))
        return 0;
    if (constant) /* exact, at no cost: parts of it may get values later */
        bound = (struct zmpi_bound){ZMPI_LOSSLESS, 0};
    *to = room_for(&array, bytes, constant, capacity);
    enum zmpi_status status = ZMPI_ERR_MEMORY;
    if (*to)
        status = zmpi_compress_with(&how, &array, &bound, whole, *to, *capacity, src, &size);
    if (status == ZMPI_OK)
        return size;
    free(*to);
    *to = NULL;
    return status == ZMPI_ERR_MEMORY && whole_chunk && !constant ? keep(bytes) : 0;
}

static size_t decode(const void *src, size_t bytes, size_t *capacity, void **to)
{
    struct zmpi_stream_info info;
    if (zmpi_stream_info(src, bytes, &info) || info.decoded_bytes == 0 ||
        info.decoded_bytes > CHUNK_MOST)
        return 0;
    remember(&info);
    *capacity = info.decoded_bytes;
    *to = malloc(*capacity);
    return *to && zmpi_decompress(*to, *capacity, src, bytes) == ZMPI_OK ? *capacity : 0;
}

size_t h5zmpi_filter(unsigned flags, size_t count, const unsigned values[], size_t bytes,
                     size_t *buf_size, void **buf)
{
    void *made = NULL;
    size_t capacity = 0, size = bytes;
    if (!(flags & H5Z_FLAG_REVERSE))
        size = encode(count, values, *buf, bytes, &capacity, &made);
    else if (!is_kept(count, values, *buf, bytes))
        size = decode(*buf, bytes, &capacity, &made);
    if (size == 0)
        free(made);
    if (size == 0 || !made)
        return size;
    free(*buf);
    *buf = made;
    *buf_size = capacity;
    return size;
}
