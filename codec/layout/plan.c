/* plan.c - the layout of a stream to be written (format.md 1.1, 4.3). */
#include "layout/plan.h"

#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "layout/chunk.h"
#include "layout/tile.h"

enum zmpi_status zmpi_plan_make(const struct zmpi_array *array, struct zmpi_plan *p)
{
    enum zmpi_status status = zmpi_array_bytes(array, &p->bytes);
    if (status)
        return status;
    p->type = array->type;
    p->width = p->type == ZMPI_F64 || p->type == ZMPI_I64 ? 8 : 4;
    memcpy(p->elements, array->extent, sizeof p->elements);
    if (p->type == ZMPI_BYTES) { /* bytes have no shape: they are a string of words */
        p->elements[0] = p->elements[1] = 1;
        p->elements[2] = p->bytes;
    }
    p->dimensions = zmpi_tile_normalize(p->elements);
    memcpy(p->words, p->elements, sizeof p->words);
    if (p->type == ZMPI_BYTES)
        p->words[2] = p->bytes / 4 + (p->bytes % 4 != 0);
    zmpi_tile_choose(p->words, p->width, p->tile);
    p->chunks = 1;
    for (int i = 0; i < 3; i++) {
        p->grid[i] = p->words[i] / p->tile[i] + (p->words[i] % p->tile[i] != 0);
        p->chunks *= p->grid[i]; /* at most the number of words */
    }
    return ZMPI_OK;
}

size_t zmpi_plan_head(const struct zmpi_plan *p)
{
    return ZMPI_STREAM_HEADER_BYTES + 8 * p->chunks;
}

size_t zmpi_compress_capacity(const struct zmpi_array *array)
{
    struct zmpi_plan p;
    if (zmpi_plan_make(array, &p))
        return 0;
    size_t capacity = zmpi_plan_head(&p) + 4 * p.chunks + (p.bytes + 3) / 4 * 4;
    return capacity > (size_t)INT64_MAX ? 0 : capacity;
}

size_t zmpi_plan_samples(const struct zmpi_plan *p, size_t *chunks)
{
    /* Few enough to take less than 2 % of the time of a long array, and of a short one not most. */
    enum { SHORT = 16384, WORDS_FOR_EACH = 4096 * ZMPI_BLOCK };
    const size_t words = p->bytes / p->width, n = words / WORDS_FOR_EACH;
    const size_t least = words <= SHORT ? 16 : 32;
    *chunks = p->chunks - (p->bytes % p->width != 0); /* whole words only */
    return n < least ? least : n > 128 ? 128 : n;
}

void zmpi_plan_rule(const struct zmpi_job *job, struct zmpi_chunk_rule *rule)
{
    if (job->bound.mode == ZMPI_PW_REL && job->abs_bound > 0)
        zmpi_chunk_rule_relative(rule, job->array.type, job->bound.value, job->keep);
    else
        zmpi_chunk_rule_make(rule, job->array.type, job->abs_bound, job->keep);
}

void zmpi_plan_header(const struct zmpi_plan *p, const struct zmpi_job *job, size_t books,
                      size_t length, unsigned char *dst)
{
    memset(dst, 0, ZMPI_STREAM_HEADER_BYTES);
    memcpy(dst, "ZSTR", 4);
    dst[4] = 1;
    dst[5] = (unsigned char)(p->type | (job->big_endian ? ZMPI_STREAM_BIG_ENDIAN : 0));
    dst[6] = (unsigned char)p->dimensions;
    dst[7] = (unsigned char)job->bound.mode;
    zmpi_store32(dst + 8, (uint32_t)job->encoder | (uint32_t)(books / 4) << 8);
    for (int i = 0; i < 3; i++) {
        zmpi_store32(dst + 12 + 4 * i, (uint32_t)p->tile[i]);
        zmpi_store64(dst + 24 + 8 * i, p->elements[i]);
    }
    zmpi_storef64(dst + 48, job->bound.value);
    zmpi_storef64(dst + 56, job->abs_bound);
    zmpi_store64(dst + 64, length);
    zmpi_store64(dst + 72,
                 zmpi_hash2(dst, 72, dst + ZMPI_STREAM_HEADER_BYTES, 8 * p->chunks + books, 0));
}
