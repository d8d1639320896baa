/*
 * record.c - the head of a record: header and extents (docs/format.md 2.2).
 */
#include <string.h>

#include "base/hash.h"
#include "format/format_private.h"

#define CHECKED         56 /* header bytes before the checksum */
#define COPY_OF_PAYLOAD 64 /* a copy takes at most one part in so many of it */

uint64_t zmpi_record_size(const struct zmpi_record *r)
{
    return zmpi_record_head_size(r) + zmpi_pad8(r->payload_length);
}

uint64_t zmpi_record_tally(const struct zmpi_record *r)
{
    unsigned char b[16];
    zmpi_store64(b, r->offset);
    zmpi_store64(b + 8, r->order);
    return zmpi_hash(b, sizeof b, 0);
}

int zmpi_record_by_place(const void *a, const void *b)
{
    const struct zmpi_record *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Parity of a list (format.md 2.2): the record's header, a checksum, those of the list's sectors,
 * and the exclusive or of these. */
enum { SECTOR = 512, PARITY_CHECKED = 64, PARITY_SUMS = 72 };

static size_t parity_sums(size_t extents) /* their number; sectors are those of the file */
{
    return extents / SECTOR + 2;
}

static size_t parity_size(size_t extents)
{
    return PARITY_SUMS + zmpi_pad8(4 * parity_sums(extents)) + SECTOR;
}

uint64_t zmpi_record_stored(const struct zmpi_record *r)
{
    return zmpi_record_size(r) + zmpi_record_copy_size(r);
}

/* With exact data, head and copy leave enough that the file is at most 1 % larger than a plain one,
 * all included; with lossy data a copy takes little of what was gained. */
static bool has_short_head(const struct zmpi_record *r)
{
    const size_t head = zmpi_record_head_size(r);
    return head <= ZMPI_COPY_ALWAYS || (head <= r->extent.bytes / ZMPI_COPY_OF_DATA &&
                                        head <= r->payload_length / COPY_OF_PAYLOAD);
}

size_t zmpi_record_parity_size(const struct zmpi_record *r)
{
    return r->extent.levels == ZMPI_EXTENT_LIST ? parity_size(zmpi_pad8(r->extents_length)) : 0;
}

size_t zmpi_record_copy_size(const struct zmpi_record *r)
{
    if (r->extent.levels != ZMPI_EXTENT_LIST)
        return 0;
    return has_short_head(r) ? zmpi_record_head_size(r) : zmpi_record_parity_size(r);
}

size_t zmpi_record_head_size(const struct zmpi_record *r)
{
    return ZMPI_RECORD_HEADER_BYTES + zmpi_pad8(r->extents_length);
}

uint64_t zmpi_record_payload(const struct zmpi_record *r)
{
    return r->offset + zmpi_record_head_size(r);
}

int zmpi_record_compare(const struct zmpi_record *a, const struct zmpi_record *b)
{
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

bool zmpi_record_same(const struct zmpi_record *a, const struct zmpi_record *b)
{
    const struct zmpi_extent *x = &a->extent, *y = &b->extent;
    bool same = a->kind == b->kind && a->order == b->order && a->rank == b->rank &&
                a->offset == b->offset && a->payload_length == b->payload_length &&
                a->extents_length == b->extents_length && x->levels == y->levels &&
                x->lo == y->lo && x->hi == y->hi && x->bytes == y->bytes;
    if (!same || x->levels == ZMPI_EXTENT_LIST)
        return same;
    for (unsigned k = 0; k < x->levels; k++)
        same = same && x->count[k] == y->count[k] && x->stride[k] == y->stride[k];
    return same && x->run == y->run;
}

static uint64_t checksum(const unsigned char *head, size_t extents_length,
                         const unsigned char id[16], uint64_t offset)
{
    return zmpi_hash2(head, CHECKED, head + ZMPI_RECORD_HEADER_BYTES, extents_length,
                      zmpi_seed(id, offset));
}

void zmpi_record_encode(const struct zmpi_record *r, const unsigned char id[16],
                        const unsigned char *list_stream, unsigned char *dst)
{
    unsigned char *extents = dst + ZMPI_RECORD_HEADER_BYTES;
    zmpi_store32(dst, ZMPI_RECORD_MAGIC);
    zmpi_store16(dst + 4, (uint16_t)r->kind);
    zmpi_store16(dst + 6, (uint16_t)r->extent.levels);
    zmpi_store64(dst + 8, r->order);
    zmpi_store64(dst + 16, r->extent.lo);
    zmpi_store64(dst + 24, r->extent.hi);
    zmpi_store64(dst + 32, r->extent.bytes);
    zmpi_store64(dst + 40, r->payload_length);
    zmpi_store32(dst + 48, r->extents_length);
    zmpi_store32(dst + 52, r->rank);
    memset(extents, 0, zmpi_pad8(r->extents_length));
    if (r->extent.levels == ZMPI_EXTENT_LIST)
        memcpy(extents, list_stream, r->extents_length);
    else
        zmpi_extent_nest_encode(&r->extent, extents);
    zmpi_store64(dst + CHECKED, checksum(dst, r->extents_length, id, r->offset));
}

void zmpi_record_rebind(unsigned char *head, const unsigned char id[16], uint64_t new_offset)
{
    zmpi_store64(head + CHECKED, checksum(head, zmpi_load32(head + 48), id, new_offset));
}

/* The part of a list in one sector of the file. */
struct part {
    size_t begin, size; /* in the extents, padding included */
    size_t place;       /* in the sector */
};

/* Part k; size 0: behind the last. */
static struct part part_of(uint64_t offset, size_t extents, size_t k)
{
    const uint64_t from = offset + ZMPI_RECORD_HEADER_BYTES;
    const size_t first = SECTOR - (size_t)(from % SECTOR);
    struct part p = {.begin = k == 0 ? 0 : first + (k - 1) * SECTOR,
                     .place = k == 0 ? SECTOR - first : 0};
    const size_t most = SECTOR - p.place;
    p.begin = p.begin < extents ? p.begin : extents;
    p.size = extents - p.begin < most ? extents - p.begin : most;
    return p;
}

static uint64_t parity_checksum(const unsigned char *parity, size_t size)
{
    /* The record's own checksum, which is in the header, binds it to file and place. */
    return zmpi_hash2(parity, PARITY_CHECKED, parity + PARITY_SUMS, size - PARITY_SUMS, 0);
}

static void parity_encode(uint64_t offset, const unsigned char *head, size_t extents,
                          unsigned char *dst)
{
    const size_t size = parity_size(extents);
    const unsigned char *list = head + ZMPI_RECORD_HEADER_BYTES;
    unsigned char *sector = dst + size - SECTOR;
    memset(dst, 0, size);
    memcpy(dst, head, ZMPI_RECORD_HEADER_BYTES);
    zmpi_store32(dst, ZMPI_PARITY_MAGIC);
    for (size_t k = 0; k < parity_sums(extents); k++) {
        const struct part p = part_of(offset, extents, k);
        zmpi_store32(dst + PARITY_SUMS + 4 * k, (uint32_t)zmpi_hash(list + p.begin, p.size, 0));
        for (size_t i = 0; i < p.size; i++)
            sector[p.place + i] ^= list[p.begin + i];
    }
    zmpi_store64(dst + PARITY_CHECKED, parity_checksum(dst, size));
}

bool zmpi_record_is_parity(const unsigned char *parity, size_t size)
{
    return zmpi_load32(parity) == ZMPI_PARITY_MAGIC &&
           size == parity_size(zmpi_pad8(zmpi_load32(parity + 48))) &&
           zmpi_load64(parity + PARITY_CHECKED) == parity_checksum(parity, size);
}

bool zmpi_record_from_parity(uint64_t offset, const unsigned char *parity, unsigned char *head)
{
    const size_t extents = zmpi_pad8(zmpi_load32(parity + 48)), size = parity_size(extents);
    const unsigned char *sector = parity + size - SECTOR;
    unsigned char *list = head + ZMPI_RECORD_HEADER_BYTES;
    struct part bad = {0};
    for (size_t k = 0; k < parity_sums(extents); k++) {
        const struct part p = part_of(offset, extents, k);
        if (zmpi_load32(parity + PARITY_SUMS + 4 * k) ==
            (uint32_t)zmpi_hash(list + p.begin, p.size, 0))
            continue;
        if (bad.size != 0)
            return false;
        bad = p;
    }
    memcpy(list + bad.begin, sector + bad.place, bad.size);
    for (size_t k = 0; k < parity_sums(extents) && bad.size != 0; k++) {
        const struct part p = part_of(offset, extents, k);
        for (size_t i = 0; i < p.size && p.begin != bad.begin; i++)
            if (p.place + i >= bad.place && p.place + i < bad.place + bad.size)
                list[bad.begin + (p.place + i - bad.place)] ^= list[p.begin + i];
    }
    memcpy(head, parity, ZMPI_RECORD_HEADER_BYTES);
    zmpi_store32(head, ZMPI_RECORD_MAGIC);
    return true;
}

void zmpi_record_copy(const struct zmpi_record *r, const unsigned char *head, unsigned char *dst)
{
    if (r->extent.levels != ZMPI_EXTENT_LIST)
        return;
    if (!has_short_head(r)) {
        parity_encode(r->offset, head, zmpi_pad8(r->extents_length), dst);
        return;
    }
    memcpy(dst, head, zmpi_record_head_size(r));
    zmpi_store32(dst, ZMPI_COPY_MAGIC);
}

bool zmpi_record_from_copy(unsigned char *copy)
{
    const bool is_one = zmpi_load32(copy) == ZMPI_COPY_MAGIC;
    if (is_one)
        zmpi_store32(copy, ZMPI_RECORD_MAGIC);
    return is_one;
}

static bool data_is_right(const struct zmpi_record *r)
{
    const struct zmpi_extent *e = &r->extent;
    if (r->payload_length < ZMPI_STREAM_HEADER_BYTES || r->payload_length > ZMPI_SIZE_MAX / 2)
        return false;
    /* A stream decodes to at most so much for each chunk, and a chunk takes at least 12 bytes:
     * format.md 1.3. */
    uint64_t chunks = (r->payload_length - ZMPI_STREAM_HEADER_BYTES) / 12;
    if (e->bytes > e->hi - e->lo ||
        e->bytes / ZMPI_CHUNK_DECODED_MAX + (e->bytes % ZMPI_CHUNK_DECODED_MAX != 0) > chunks)
        return false;
    if (e->levels == ZMPI_EXTENT_LIST)
        return e->bytes > 0 && r->extents_length >= ZMPI_STREAM_HEADER_BYTES;
    return r->extents_length == zmpi_extent_nest_size(e->levels);
}

enum zmpi_status zmpi_record_check(const struct zmpi_record *r)
{
    const struct zmpi_extent *e = &r->extent;
    bool right = e->hi <= ZMPI_SIZE_MAX && e->lo <= e->hi;
    if (right && r->kind == ZMPI_RECORD_DATA)
        right = data_is_right(r);
    else
        right = right && r->kind == ZMPI_RECORD_SIZE && e->hi == e->lo && e->bytes == 0 &&
                e->levels == 0 && r->payload_length == 0 && r->extents_length == 0;
    return right ? ZMPI_OK : ZMPI_ERR_CORRUPT;
}

enum zmpi_status zmpi_record_decode(struct zmpi_record *r, const unsigned char id[16],
                                    uint64_t offset, const unsigned char *src, size_t size)
{
    if (size < 4)
        return ZMPI_ERR_TRUNCATED;
    if (zmpi_load32(src) != ZMPI_RECORD_MAGIC)
        return ZMPI_ERR_FORMAT;
    if (size < ZMPI_RECORD_HEADER_BYTES)
        return ZMPI_ERR_TRUNCATED;
    uint32_t extents_length = zmpi_load32(src + 48);
    if (size - ZMPI_RECORD_HEADER_BYTES < extents_length)
        return ZMPI_ERR_TRUNCATED;
    if (zmpi_load64(src + CHECKED) != checksum(src, extents_length, id, offset))
        return ZMPI_ERR_CHECKSUM;
    struct zmpi_record found = {
        .kind = (enum zmpi_record_kind)zmpi_load16(src + 4),
        .order = zmpi_load64(src + 8),
        .rank = zmpi_load32(src + 52),
        .offset = offset,
        .payload_length = zmpi_load64(src + 40),
        .extents_length = extents_length,
        .extent = {.levels = zmpi_load16(src + 6),
                   .lo = zmpi_load64(src + 16),
                   .hi = zmpi_load64(src + 24),
                   .bytes = zmpi_load64(src + 32)},
    };
    enum zmpi_status status = ZMPI_OK;
    if (found.extent.levels != ZMPI_EXTENT_LIST)
        status =
            zmpi_extent_nest_decode(&found.extent, src + ZMPI_RECORD_HEADER_BYTES, extents_length);
    if (status == ZMPI_OK)
        status = zmpi_record_check(&found);
    if (status == ZMPI_OK)
        *r = found;
    return status;
}

bool zmpi_record_likely(const unsigned char head[ZMPI_RECORD_LIKELY])
{
    const unsigned kind = zmpi_load16(head + 4), levels = zmpi_load16(head + 6);
    return zmpi_load32(head) == ZMPI_RECORD_MAGIC &&
           (kind == ZMPI_RECORD_DATA || kind == ZMPI_RECORD_SIZE) &&
           (levels <= ZMPI_EXTENT_LEVELS || levels == ZMPI_EXTENT_LIST);
}
