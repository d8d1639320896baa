/* huffman_head.c - heads of chunks in a stream of encoder 2: steps that the bound tells, bases that
 * fit 4 bytes (format.md 1.4, 4.9). */
#include <string.h>

#include "base/bytes.h"
#include "huffman/huffman.h"

enum { MAP_HEAD = 4 };

size_t zmpi_head_bytes(size_t width, const unsigned char *chunk)
{
    return chunk[0] == ZMPI_MAP_STORED      ? MAP_HEAD
           : chunk[0] == ZMPI_MAP_QUANTIZED ? MAP_HEAD + 2 * width
                                            : MAP_HEAD + width;
}

static void store_step(size_t width, double step, unsigned char *dst)
{
    const float narrow = (float)step; /* exact */
    if (width == 4)
        zmpi_copy_elements(dst, &narrow, sizeof narrow, width);
    else
        zmpi_copy_elements(dst, &step, sizeof step, width);
}

static bool has_step(const struct zmpi_step *l, size_t width, const unsigned char *at)
{
    unsigned char step[8];
    store_step(width, l->step, step);
    return memcmp(step, at, width) == 0;
}

static bool fits_narrow(const unsigned char *base)
{
    const int64_t value = (int64_t)zmpi_load64(base);
    return value >= INT32_MIN && value <= INT32_MAX;
}

size_t zmpi_head_shorten(const struct zmpi_chunk_rule *rule, size_t width,
                         const unsigned char *chunk, unsigned char *dst)
{
    const unsigned char *step = chunk + MAP_HEAD, *base = step + width;
    int i = 0;
    memcpy(dst, chunk, MAP_HEAD);
    while (chunk[0] == ZMPI_MAP_QUANTIZED && i < rule->levels &&
           !has_step(&rule->level[i], width, step))
        i++;
    if (chunk[0] != ZMPI_MAP_QUANTIZED || i == rule->levels) {
        const size_t size = zmpi_head_bytes(width, chunk);
        memcpy(dst, chunk, size);
        return size;
    }
    const bool narrow = width == 8 && fits_narrow(base);
    dst[2] |= narrow ? ZMPI_CHUNK_NARROW : 0;
    dst[3] = (unsigned char)rule->level[i].bits;
    memcpy(dst + MAP_HEAD, base, narrow ? 4 : width); /* little-endian */
    return MAP_HEAD + (narrow ? 4 : width);
}

size_t zmpi_head_lengthen(const struct zmpi_chunk_rule *rule, size_t width,
                          const unsigned char *chunk, size_t size, unsigned char *dst)
{
    const bool narrow = chunk[2] & ZMPI_CHUNK_NARROW;
    const size_t base = narrow ? 4 : width;
    int i = 0;
    while (i < rule->levels && rule->level[i].bits != chunk[3])
        i++;
    if (i == rule->levels || (narrow && width != 8) || size < MAP_HEAD + base)
        return 0;
    memcpy(dst, chunk, MAP_HEAD);
    dst[2] &= (unsigned char)~ZMPI_CHUNK_NARROW;
    dst[3] = 0;
    store_step(width, rule->level[i].step, dst + MAP_HEAD);
    if (narrow)
        zmpi_store64(dst + MAP_HEAD + width, (uint64_t)(int32_t)zmpi_load32(chunk + MAP_HEAD));
    else
        memcpy(dst + MAP_HEAD + width, chunk + MAP_HEAD, width);
    return MAP_HEAD + base;
}
