/*
 * segment.c - the list of all records in the file: segments, and the directory that tells of them
 * (docs/format.md 2.3).
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "format/entries.h"
#include "format/format_private.h"

#define FRAME   ZMPI_SEGMENT_HEADER_BYTES
#define CHECKED 16 /* bytes of it before the checksum */

/* ---- frames: what segments and directory begin with ---- */

static void put_frame(unsigned char *dst, uint32_t magic, uint32_t count, size_t size,
                      const unsigned char id[16], uint64_t offset)
{
    zmpi_store32(dst, magic);
    zmpi_store32(dst + 4, count);
    zmpi_store64(dst + 8, size);
    zmpi_store64(dst + CHECKED, zmpi_hash2(dst, CHECKED, dst + FRAME, size, zmpi_seed(id, offset)));
}

static enum zmpi_status check_frame(const unsigned char *src, uint32_t magic, uint32_t count,
                                    size_t size, const unsigned char id[16], uint64_t offset)
{
    if (zmpi_load32(src) != magic)
        return ZMPI_ERR_FORMAT;
    if (zmpi_load32(src + 4) != count || zmpi_load64(src + 8) != size)
        return ZMPI_ERR_CORRUPT;
    return zmpi_load64(src + CHECKED) ==
                   zmpi_hash2(src, CHECKED, src + FRAME, size, zmpi_seed(id, offset))
               ? ZMPI_OK
               : ZMPI_ERR_CHECKSUM;
}

/* ---- segments ---- */

uint64_t zmpi_segment_extent(const struct zmpi_segment *s)
{
    return FRAME + zmpi_pad8(s->size);
}

enum zmpi_status zmpi_segment_check(const struct zmpi_segment *s, const unsigned char id[16],
                                    const unsigned char *src)
{
    return check_frame(src, ZMPI_SEGMENT_MAGIC, s->count, s->size, id, s->offset);
}

size_t zmpi_index_segments_size(const struct zmpi_segment *segment, size_t n)
{
    size_t size = 0;
    for (size_t k = 0; k < n; k++)
        size += zmpi_segment_extent(&segment[k]);
    return size;
}

void zmpi_index_put_segments(struct zmpi_segment *segment, size_t n, const unsigned char id[16],
                             uint64_t offset, unsigned char *dst)
{
    for (size_t k = 0; k < n; k++) {
        struct zmpi_segment *s = &segment[k];
        size_t extent = zmpi_segment_extent(s);
        memset(dst + extent - 8, 0, 8);
        memcpy(dst + FRAME, s->entries, s->size);
        put_frame(dst, ZMPI_SEGMENT_MAGIC, s->count, s->size, id, offset);
        s->offset = offset;
        dst += extent;
        offset += extent;
    }
}

/* ---- the directory ---- */

size_t zmpi_index_directory_size(size_t n)
{
    return FRAME + n * ZMPI_DIRECTORY_ENTRY_BYTES;
}

void zmpi_index_put_directory(const struct zmpi_segment *segment, size_t n,
                              const unsigned char id[16], uint64_t offset, unsigned char *dst)
{
    unsigned char *p = dst + FRAME;
    for (size_t k = 0; k < n; k++, p += ZMPI_DIRECTORY_ENTRY_BYTES) {
        zmpi_store64(p, segment[k].offset);
        zmpi_store64(p + 8, segment[k].lo);
        zmpi_store64(p + 16, segment[k].hi);
        zmpi_store64(p + 24, segment[k].newest);
        zmpi_store32(p + 32, segment[k].size);
        zmpi_store32(p + 36, segment[k].count);
        zmpi_store32(p + 40, segment[k].sizes);
        zmpi_store32(p + 44, 0);
    }
    put_frame(dst, ZMPI_DIRECTORY_MAGIC, (uint32_t)n, n * ZMPI_DIRECTORY_ENTRY_BYTES, id, offset);
}

static bool entry_is_right(const struct zmpi_segment *s, uint64_t least, uint64_t log_end)
{
    return s->count > 0 && s->count <= ZMPI_SEGMENT_RECORDS_LIMIT && s->sizes <= s->count &&
           s->size >= s->count && s->size <= s->count * ZMPI_ENTRY_MAX && s->lo <= s->hi &&
           s->hi <= ZMPI_SIZE_MAX && s->offset >= least &&
           zmpi_fits(s->offset, zmpi_segment_extent(s), log_end);
}

enum zmpi_status zmpi_directory_decode(const struct zmpi_header *h, const unsigned char *src,
                                       size_t size, struct zmpi_segment **segment, size_t *n)
{
    *n = size < FRAME ? 0 : (size - FRAME) / ZMPI_DIRECTORY_ENTRY_BYTES;
    if (*n == 0 || *n > UINT32_MAX || size != zmpi_index_directory_size(*n))
        return ZMPI_ERR_CORRUPT;
    enum zmpi_status status =
        check_frame(src, ZMPI_DIRECTORY_MAGIC, (uint32_t)*n, size - FRAME, h->id, h->index_offset);
    if (status != ZMPI_OK)
        return status;
    struct zmpi_segment *found = calloc(*n, sizeof *found);
    if (found == NULL)
        return ZMPI_ERR_MEMORY;
    uint64_t least = ZMPI_HEADER_BYTES;
    const unsigned char *p = src + FRAME;
    for (size_t k = 0; k < *n; k++, p += ZMPI_DIRECTORY_ENTRY_BYTES) {
        struct zmpi_segment *s = &found[k];
        s->offset = zmpi_load64(p);
        s->lo = zmpi_load64(p + 8);
        s->hi = zmpi_load64(p + 16);
        s->newest = zmpi_load64(p + 24);
        s->size = zmpi_load32(p + 32);
        s->count = zmpi_load32(p + 36);
        s->sizes = zmpi_load32(p + 40);
        if (zmpi_load32(p + 44) != 0 || !entry_is_right(s, least, h->log_end)) {
            free(found);
            return ZMPI_ERR_CORRUPT;
        }
        least = s->offset + zmpi_segment_extent(s);
    }
    *segment = found;
    return ZMPI_OK;
}
