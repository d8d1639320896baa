/*
 * extents_code.c - extents as bytes of a record (docs/format.md 2.2).
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "format/extents.h"

#define OFFSET_MAX ((uint64_t)INT64_MAX)

size_t zmpi_extent_nest_size(unsigned levels)
{
    return levels == 0 ? 0 : 8 + 16 * (size_t)levels;
}

void zmpi_extent_nest_encode(const struct zmpi_extent *e, unsigned char *dst)
{
    if (e->levels == 0)
        return;
    zmpi_store64(dst, e->run);
    for (unsigned k = 0; k < e->levels; k++) {
        zmpi_store64(dst + 8 + 16 * k, e->count[k]);
        zmpi_store64(dst + 16 + 16 * k, e->stride[k]);
    }
}

/* One level on top of `bytes` and `span` so far; false if the rules of format.md 2.2 are broken or
 * a number leaves 63 bits. */
static bool add_level(uint64_t count, uint64_t stride, uint64_t *bytes, uint64_t *span)
{
    uint64_t reach;
    if (count < 2 || stride < *span || __builtin_mul_overflow(count - 1, stride, &reach) ||
        __builtin_add_overflow(reach, *span, span) || __builtin_mul_overflow(*bytes, count, bytes))
        return false;
    return *span <= OFFSET_MAX && *bytes <= OFFSET_MAX;
}

/* Computes bytes and hi from runs, counts and strides. */
static bool measure(const struct zmpi_extent *e, uint64_t *bytes, uint64_t *span)
{
    *bytes = *span = e->run;
    if (e->run > OFFSET_MAX || e->levels > ZMPI_EXTENT_LEVELS || (e->levels > 0 && e->run == 0))
        return false;
    for (unsigned k = 0; k < e->levels; k++)
        if (!add_level(e->count[k], e->stride[k], bytes, span))
            return false;
    return true;
}

enum zmpi_status zmpi_extent_close(struct zmpi_extent *e)
{
    uint64_t span;
    if (!measure(e, &e->bytes, &span) || e->lo > OFFSET_MAX - span)
        return ZMPI_ERR_CORRUPT;
    e->hi = e->lo + span;
    return ZMPI_OK;
}

enum zmpi_status zmpi_extent_nest_decode(struct zmpi_extent *e, const unsigned char *src,
                                         size_t size)
{
    uint64_t bytes, span;
    if (e->levels > ZMPI_EXTENT_LEVELS || size != zmpi_extent_nest_size(e->levels))
        return ZMPI_ERR_CORRUPT;
    if (e->lo > e->hi || e->hi > OFFSET_MAX)
        return ZMPI_ERR_CORRUPT;
    e->run = e->levels == 0 ? e->bytes : zmpi_load64(src);
    for (unsigned k = 0; k < e->levels; k++) {
        e->count[k] = zmpi_load64(src + 8 + 16 * k);
        e->stride[k] = zmpi_load64(src + 16 + 16 * k);
    }
    return measure(e, &bytes, &span) && bytes == e->bytes && span == e->hi - e->lo
               ? ZMPI_OK
               : ZMPI_ERR_CORRUPT;
}

/* The array that is coded: all gaps, then all lengths. */
static uint64_t *list_numbers(const struct zmpi_extent *e)
{
    size_t n = e->list_count;
    uint64_t *numbers = n > SIZE_MAX / 16 ? NULL : malloc(16 * n);
    uint64_t end = e->lo;
    for (size_t i = 0; numbers != NULL && i < n; i++) {
        numbers[i] = e->list[i].offset - end;
        numbers[n + i] = e->list[i].length;
        end = e->list[i].offset + e->list[i].length;
    }
    return numbers;
}

enum zmpi_status zmpi_extent_list_encode(const struct zmpi_extent *e, unsigned char **out,
                                         size_t *size)
{
    if (e->levels != ZMPI_EXTENT_LIST || e->list == NULL || e->list_count == 0)
        return ZMPI_ERR_ARG;
    struct zmpi_array array = {ZMPI_I64, {1, 2, e->list_count}};
    struct zmpi_bound bound = {ZMPI_LOSSLESS, 0};
    size_t capacity = zmpi_compress_capacity(&array);
    if (capacity == 0)
        return ZMPI_ERR_SIZE;
    enum zmpi_status status = ZMPI_ERR_MEMORY;
    uint64_t *numbers = list_numbers(e);
    unsigned char *stream = malloc(capacity);
    if (numbers != NULL && stream != NULL)
        status = zmpi_compress(&array, &bound, NULL, stream, capacity, numbers, size);
    free(numbers);
    if (status != ZMPI_OK) {
        free(stream);
        return status;
    }
    unsigned char *shrunk = realloc(stream, *size);
    *out = shrunk != NULL ? shrunk : stream;
    return ZMPI_OK;
}

/* Is this the stream of a list? Then *n is its number of runs. An array (1, 2, 1) is coded as (1,
 * 1, 2): format.md 4.3. */
static enum zmpi_status list_shape(const unsigned char *src, size_t size, size_t *n)
{
    struct zmpi_stream_info info;
    enum zmpi_status status = zmpi_stream_info(src, size, &info);
    if (status != ZMPI_OK)
        return status;
    const size_t *extent = info.array.extent;
    *n = extent[1] == 2 ? extent[2] : 1;
    if (info.length != size || info.array.type != ZMPI_I64 || extent[0] != 1 || *n == 0 ||
        (extent[1] != 2 && (extent[1] != 1 || extent[2] != 2)))
        return ZMPI_ERR_CORRUPT;
    if (*n > SIZE_MAX / (sizeof(struct zmpi_run) + sizeof(uint64_t)))
        return ZMPI_ERR_SIZE;
    return ZMPI_OK;
}

/* Numbers to runs; format.md 2.2: the first gap is 0, lengths are at least 1, and all add up. */
static bool fill_list(const struct zmpi_extent *e, const uint64_t *numbers, size_t n,
                      struct zmpi_run *list, uint64_t *position)
{
    uint64_t end = e->lo, bytes = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t gap = numbers[i], length = numbers[n + i];
        if ((i == 0 && gap != 0) || gap > e->hi - end || length == 0 || length > e->hi - end - gap)
            return false;
        list[i] = (struct zmpi_run){end + gap, length};
        position[i] = bytes;
        bytes += length;
        end += gap + length;
    }
    return end == e->hi && bytes == e->bytes;
}

enum zmpi_status zmpi_extent_list_decode(struct zmpi_extent *e, const unsigned char *src,
                                         size_t size)
{
    size_t n;
    if (e->levels != ZMPI_EXTENT_LIST || e->lo > e->hi || e->hi > OFFSET_MAX)
        return ZMPI_ERR_CORRUPT;
    enum zmpi_status status = list_shape(src, size, &n);
    if (status != ZMPI_OK)
        return status;
    uint64_t *numbers = malloc(16 * n);
    struct zmpi_run *list = malloc(n * (sizeof *list + sizeof(uint64_t)));
    uint64_t *position = list == NULL ? NULL : (uint64_t *)(void *)(list + n);
    if (numbers == NULL || list == NULL)
        status = ZMPI_ERR_MEMORY;
    else
        status = zmpi_decompress(numbers, 16 * n, src, size);
    if (status == ZMPI_OK && !fill_list(e, numbers, n, list, position))
        status = ZMPI_ERR_CORRUPT;
    free(numbers);
    if (status != ZMPI_OK) {
        free(list);
        return status;
    }
    free(e->list);
    e->list = list;
    e->list_count = n;
    e->list_position = position;
    return ZMPI_OK;
}
