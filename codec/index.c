/*
 * index.c - the list of all records: entries, and segments of entries in the file
 * (docs/format.md 2.3).
 */
#include <stdlib.h>
#include <string.h>

#include "container_private.h"
#include "hash.h"

#define CHECKED 16 /* segment header bytes before the checksum */

/* ---- entries ---- */

static size_t nest_bytes(unsigned levels)
{
    return levels == ZMPI_EXTENT_LIST ? 0 : zmpi_extent_nest_size(levels);
}

size_t zmpi_entries_size(const struct zmpi_record *record, size_t n)
{
    size_t size = 0;
    for (size_t i = 0; i < n; i++)
        size += ZMPI_ENTRY_BYTES + nest_bytes(record[i].extent.levels);
    return size;
}

static size_t entry_encode(const struct zmpi_record *r, unsigned char *dst)
{
    const struct zmpi_extent *e = &r->extent;
    zmpi_store16(dst, (uint16_t)r->kind);
    zmpi_store16(dst + 2, (uint16_t)e->levels);
    zmpi_store32(dst + 4, r->extents_length);
    zmpi_store64(dst + 8, r->order);
    zmpi_store64(dst + 16, e->lo);
    zmpi_store64(dst + 24, e->hi);
    zmpi_store64(dst + 32, e->bytes);
    zmpi_store64(dst + 40, r->payload_length);
    zmpi_store32(dst + 48, r->rank);
    zmpi_store32(dst + 52, 0);
    zmpi_store64(dst + 56, r->offset);
    if (e->levels != ZMPI_EXTENT_LIST)
        zmpi_extent_nest_encode(e, dst + ZMPI_ENTRY_BYTES);
    return ZMPI_ENTRY_BYTES + nest_bytes(e->levels);
}

void zmpi_entries_encode(const struct zmpi_record *record, size_t n, unsigned char *dst)
{
    for (size_t i = 0; i < n; i++)
        dst += entry_encode(&record[i], dst);
}

/* Decode the entry at src; *used is its size. */
static enum zmpi_status entry_decode(struct zmpi_record *r, const unsigned char *src, size_t size,
                                     size_t *used)
{
    if (size < ZMPI_ENTRY_BYTES)
        return ZMPI_ERR_TRUNCATED;
    *r = (struct zmpi_record){
        .kind = (enum zmpi_record_kind)zmpi_load16(src),
        .order = zmpi_load64(src + 8),
        .rank = zmpi_load32(src + 48),
        .offset = zmpi_load64(src + 56),
        .payload_length = zmpi_load64(src + 40),
        .extents_length = zmpi_load32(src + 4),
        .extent = {.levels = zmpi_load16(src + 2),
                   .lo = zmpi_load64(src + 16),
                   .hi = zmpi_load64(src + 24),
                   .bytes = zmpi_load64(src + 32)},
    };
    unsigned levels = r->extent.levels;
    if (zmpi_load32(src + 52) != 0 || (levels > ZMPI_EXTENT_LEVELS && levels != ZMPI_EXTENT_LIST))
        return ZMPI_ERR_CORRUPT;
    *used = ZMPI_ENTRY_BYTES + nest_bytes(levels);
    if (size < *used)
        return ZMPI_ERR_TRUNCATED;
    return zmpi_record_check(r, src + ZMPI_ENTRY_BYTES);
}

enum zmpi_status zmpi_entries_decode(struct zmpi_container *c, const unsigned char *src,
                                     size_t size)
{
    size_t before = c->count, used = 0;
    for (size_t at = 0; at < size; at += used) {
        struct zmpi_record r;
        enum zmpi_status status = entry_decode(&r, src + at, size - at, &used);
        if (status == ZMPI_OK)
            status = zmpi_container_add(c, &r);
        if (status != ZMPI_OK) {
            zmpi_container_truncate(c, before);
            return status;
        }
    }
    return ZMPI_OK;
}

/* ---- segments ---- */

size_t zmpi_index_size(const struct zmpi_record *record, size_t n)
{
    return ZMPI_SEGMENT_HEADER_BYTES + zmpi_pad8(zmpi_entries_size(record, n));
}

enum zmpi_status zmpi_index_encode(const struct zmpi_record *record, size_t n,
                                   const unsigned char id[16], uint64_t offset, unsigned char **out,
                                   size_t *size)
{
    if (n > UINT32_MAX)
        return ZMPI_ERR_SIZE;
    for (size_t i = 0; i < n; i++)
        if (record[i].offset >= ZMPI_OFFSET_MEMORY)
            return ZMPI_ERR_ARG;
    size_t length = zmpi_entries_size(record, n), total = zmpi_index_size(record, n);
    unsigned char *segment = calloc(1, total);
    if (segment == NULL)
        return ZMPI_ERR_MEMORY;
    zmpi_store32(segment, ZMPI_SEGMENT_MAGIC);
    zmpi_store32(segment + 4, (uint32_t)n);
    zmpi_store64(segment + 8, length);
    zmpi_entries_encode(record, n, segment + ZMPI_SEGMENT_HEADER_BYTES);
    zmpi_store64(segment + CHECKED,
                 zmpi_hash2(segment, CHECKED, segment + ZMPI_SEGMENT_HEADER_BYTES, length,
                            zmpi_seed(id, offset)));
    *out = segment;
    *size = total;
    return ZMPI_OK;
}

/* Check the segment at src and add its entries; *used is its size with padding. */
static enum zmpi_status segment_decode(struct zmpi_container *c, const unsigned char id[16],
                                       uint64_t offset, const unsigned char *src, size_t size,
                                       size_t *used)
{
    if (size < ZMPI_SEGMENT_HEADER_BYTES)
        return ZMPI_ERR_TRUNCATED;
    if (zmpi_load32(src) != ZMPI_SEGMENT_MAGIC)
        return ZMPI_ERR_FORMAT;
    uint64_t length = zmpi_load64(src + 8), room = size - ZMPI_SEGMENT_HEADER_BYTES;
    if (length > room || zmpi_pad8(length) > room)
        return ZMPI_ERR_TRUNCATED;
    const unsigned char *entries = src + ZMPI_SEGMENT_HEADER_BYTES;
    if (zmpi_load64(src + CHECKED) !=
        zmpi_hash2(src, CHECKED, entries, length, zmpi_seed(id, offset)))
        return ZMPI_ERR_CHECKSUM;
    size_t before = c->count, n = zmpi_load32(src + 4);
    if (n > length / ZMPI_ENTRY_BYTES)
        return ZMPI_ERR_CORRUPT;
    enum zmpi_status status = zmpi_container_reserve(c, n);
    if (status == ZMPI_OK)
        status = zmpi_entries_decode(c, entries, length);
    if (status == ZMPI_OK && c->count - before != n)
        status = ZMPI_ERR_CORRUPT;
    *used = ZMPI_SEGMENT_HEADER_BYTES + zmpi_pad8(length);
    return status;
}

enum zmpi_status zmpi_index_decode(struct zmpi_container *c, const unsigned char id[16],
                                   uint64_t offset, const unsigned char *src, size_t size)
{
    size_t before = c->count, used = 0;
    for (size_t at = 0; at < size; at += used) {
        enum zmpi_status status = segment_decode(c, id, offset + at, src + at, size - at, &used);
        if (status != ZMPI_OK) {
            zmpi_container_truncate(c, before);
            return status;
        }
    }
    return ZMPI_OK;
}
