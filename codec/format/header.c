/*
 * header.c - the two header slots of a container (docs/format.md 2.1).
 */
#include <string.h>

#include "base/hash.h"
#include "format/format_private.h"

#define SLOT_CHECKED 120
#define SECOND_SLOT  256
#define TALLIES      128 /* one behind the other, in the slots' order */

static const unsigned char magic[8] = {0x89, 'Z', 'M', 'P', 'I', '\r', '\n', 0x1a};

static bool has_magic(const unsigned char *slot)
{
    return memcmp(slot, magic, sizeof magic) == 0;
}

bool zmpi_is_container(const void *src, size_t size)
{
    const unsigned char *p = src;
    return (size >= sizeof magic && has_magic(p)) ||
           (size >= SECOND_SLOT + sizeof magic && has_magic(p + SECOND_SLOT));
}

/* Or with the copy of the header behind it. */
static bool ends_with_directory(const unsigned char *end, size_t size)
{
    if (size >= ZMPI_HEADER_COPY_BYTES &&
        zmpi_load32(end - ZMPI_HEADER_COPY_BYTES) == ZMPI_HEADER_COPY_MAGIC)
        return true;
    for (size_t n = 1;; n++) {
        const size_t entries = n * ZMPI_DIRECTORY_ENTRY_BYTES;
        if (ZMPI_SEGMENT_HEADER_BYTES + entries > size)
            return false;
        const unsigned char *frame = end - entries - ZMPI_SEGMENT_HEADER_BYTES;
        if (zmpi_load32(frame) == ZMPI_DIRECTORY_MAGIC && zmpi_load32(frame + 4) == n &&
            zmpi_load64(frame + 8) == entries)
            return true;
    }
}

static bool is_zero(const unsigned char *p, size_t n)
{
    return *p == 0 && memcmp(p, p + 1, n - 1) == 0;
}

/* Does a record seem to begin at `at`? */
static bool has_record(const unsigned char *head, size_t size, size_t at)
{
    return size >= at + ZMPI_RECORD_LIKELY && zmpi_record_likely(head + at);
}

bool zmpi_was_container(const unsigned char *head, size_t head_size, const unsigned char *tail,
                        size_t tail_size)
{
    if (head_size < SECOND_SLOT + sizeof magic || has_magic(head))
        return false;
    return has_magic(head + SECOND_SLOT) || has_record(head, head_size, ZMPI_HEADER_BYTES) ||
           (has_record(head, head_size, ZMPI_FIRST_PAGE) && !is_zero(head, ZMPI_HEADER_BYTES)) ||
           ends_with_directory(tail + tail_size, tail_size);
}

uint64_t zmpi_header_slot(uint64_t generation)
{
    return generation % 2 != 0 ? 0 : SECOND_SLOT;
}

void zmpi_header_encode(const struct zmpi_header *h, unsigned char dst[128])
{
    memset(dst, 0, ZMPI_SLOT_BYTES);
    memcpy(dst, magic, sizeof magic);
    zmpi_store16(dst + 8, 1);
    memcpy(dst + 16, h->id, sizeof h->id);
    zmpi_store64(dst + 32, h->generation);
    zmpi_store64(dst + 40, h->logical_size);
    zmpi_store64(dst + 48, h->index_offset);
    zmpi_store64(dst + 56, h->index_length);
    zmpi_store64(dst + 64, h->log_end);
    zmpi_store64(dst + 72, h->next_epoch);
    zmpi_store64(dst + 120, zmpi_hash(dst, SLOT_CHECKED, 0));
}

static uint64_t tally_place(uint64_t generation)
{
    return TALLIES + (zmpi_header_slot(generation) ? ZMPI_TALLY_BYTES : 0);
}

uint64_t zmpi_header_tally(const struct zmpi_header *h, unsigned char dst[ZMPI_TALLY_BYTES])
{
    memset(dst, 0, ZMPI_TALLY_BYTES);
    if (h->tallied) {
        zmpi_store64(dst, h->generation);
        zmpi_store64(dst + 8, h->tally);
        zmpi_store64(dst + 16, zmpi_hash(dst, 16, 0));
    }
    return tally_place(h->generation);
}

void zmpi_header_parts(const struct zmpi_header *h, struct zmpi_header_part part[2])
{
    part[0].size = ZMPI_TALLY_BYTES;
    part[0].offset = zmpi_header_tally(h, part[0].bytes);
    part[1].size = ZMPI_SLOT_BYTES;
    part[1].offset = zmpi_header_slot(h->generation);
    zmpi_header_encode(h, part[1].bytes);
}

void zmpi_header_put(const struct zmpi_header *h, unsigned char dst[ZMPI_HEADER_BYTES])
{
    struct zmpi_header_part part[2];
    zmpi_header_parts(h, part);
    for (int i = 0; i < 2; i++)
        memcpy(dst + part[i].offset, part[i].bytes, part[i].size);
}

static bool tally_find(const unsigned char *src, uint64_t generation, uint64_t *tally)
{
    const unsigned char *at = src + tally_place(generation);
    *tally = zmpi_load64(at + 8);
    return zmpi_load64(at + 16) == zmpi_hash(at, 16, 0) && zmpi_load64(at) == generation;
}

/* h: all other fields. The tally of a slot is written before the slot, and reveals a damaged one.
 */
static void tally_decode(struct zmpi_header *h, const unsigned char *src)
{
    h->outdated = tally_find(src, h->generation + 1, &h->newer) && h->newer != 0;
    h->tallied = tally_find(src, h->generation, &h->tally);
    if (!h->tallied)
        h->tally = 0;
}

static bool reserved_is_zero(const unsigned char *slot)
{
    unsigned any = 0;
    for (size_t i = 10; i < 16; i++)
        any |= slot[i];
    for (size_t i = 80; i < SLOT_CHECKED; i++)
        any |= slot[i];
    return any == 0;
}

enum zmpi_status zmpi_slot_fields(struct zmpi_header *h, const unsigned char *slot)
{
    if (zmpi_load16(slot + 8) != 1)
        return ZMPI_ERR_VERSION;
    if (!reserved_is_zero(slot))
        return ZMPI_ERR_CORRUPT;
    memcpy(h->id, slot + 16, sizeof h->id);
    h->generation = zmpi_load64(slot + 32);
    h->logical_size = zmpi_load64(slot + 40);
    h->index_offset = zmpi_load64(slot + 48);
    h->index_length = zmpi_load64(slot + 56);
    h->log_end = zmpi_load64(slot + 64);
    h->next_epoch = zmpi_load64(slot + 72);
    return ZMPI_OK;
}

/* The slot at `place` of a header. */
static enum zmpi_status slot_decode(struct zmpi_header *h, const unsigned char *src, uint64_t place)
{
    const unsigned char *slot = src + place;
    if (!has_magic(slot))
        return ZMPI_ERR_FORMAT;
    if (zmpi_load64(slot + 120) != zmpi_hash(slot, SLOT_CHECKED, 0))
        return ZMPI_ERR_CHECKSUM;
    const enum zmpi_status status = zmpi_slot_fields(h, slot);
    return status == ZMPI_OK && zmpi_header_slot(h->generation) != place ? ZMPI_ERR_CORRUPT
                                                                         : status;
}

enum zmpi_status zmpi_header_decode(struct zmpi_header *h,
                                    const unsigned char src[ZMPI_HEADER_BYTES])
{
    struct zmpi_header first, second;
    enum zmpi_status status = slot_decode(&first, src, 0);
    enum zmpi_status other = slot_decode(&second, src, SECOND_SLOT);
    if (status != ZMPI_OK && other != ZMPI_OK) /* of two errors, the more specific one */
        return status != ZMPI_ERR_FORMAT ? status : other;
    const bool is_second =
        other == ZMPI_OK && (status != ZMPI_OK || second.generation > first.generation);
    *h = is_second ? second : first;
    tally_decode(h, src);
    return ZMPI_OK;
}

bool zmpi_header_torn(const struct zmpi_header *h, const unsigned char src[ZMPI_HEADER_BYTES])
{
    struct zmpi_header other;
    const uint64_t place = zmpi_header_slot(h->generation + 1);
    unsigned any = h->generation > 1; /* the first session leaves one */
    for (size_t i = 0; i < ZMPI_SLOT_BYTES; i++)
        any |= src[place + i];
    return any != 0 && slot_decode(&other, src, place) != ZMPI_OK;
}

/* A slot's tally is written before it. One of zeros alone, whose tally tells nothing, may never
 * have reached the disk. */
bool zmpi_header_newer_torn(const struct zmpi_header *h, const unsigned char src[ZMPI_HEADER_BYTES])
{
    const unsigned char *slot = src + zmpi_header_slot(h->generation + 1);
    uint64_t tally;
    unsigned any = h->outdated && h->generation > 1;
    for (size_t i = 0; i < ZMPI_SLOT_BYTES; i++)
        any |= slot[i];
    return any != 0 && zmpi_header_torn(h, src) && !tally_find(src, h->generation - 1, &tally);
}

bool zmpi_header_is_outdated(const struct zmpi_header *h,
                             const unsigned char src[ZMPI_HEADER_BYTES])
{
    for (const unsigned char *at = src + TALLIES; at < src + TALLIES + 2 * ZMPI_TALLY_BYTES;
         at += ZMPI_TALLY_BYTES)
        if (zmpi_load64(at + 16) == zmpi_hash(at, 16, 0) && zmpi_load64(at) > h->generation)
            return true;
    return false;
}
