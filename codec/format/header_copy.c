/*
 * header_copy.c - a copy of the header behind the index (docs/format.md 2.8). Both slots and the
 * file's id lie in one sector, without which no record can be checked: where that is damaged, or
 * the newer slot, the copy stands for it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "format/format_private.h"

#define CHECKED   128
#define TALLY     120
#define SLOT_FROM 8 /* of the slot; its magic and checksum are not there */
#define SLOT_TO   120

#define WINDOW ((size_t)1 << 20)

void zmpi_header_copy(const struct zmpi_header *h, unsigned char dst[ZMPI_HEADER_COPY_BYTES])
{
    unsigned char slot[ZMPI_SLOT_BYTES];
    zmpi_header_encode(h, slot);
    zmpi_store32(dst, ZMPI_HEADER_COPY_MAGIC);
    zmpi_store32(dst + 4, h->tallied);
    memcpy(dst + SLOT_FROM, slot + SLOT_FROM, SLOT_TO - SLOT_FROM);
    zmpi_store64(dst + TALLY, h->tallied ? h->tally : 0);
    zmpi_store64(dst + CHECKED,
                 zmpi_hash(dst, CHECKED, zmpi_seed(h->id, h->log_end - ZMPI_HEADER_COPY_BYTES)));
}

static bool decode(struct zmpi_header *h, const unsigned char *src, uint64_t offset)
{
    struct zmpi_header found = {.tallied = zmpi_load32(src + 4) != 0,
                                .tally = zmpi_load64(src + TALLY)};
    if (zmpi_load32(src) != ZMPI_HEADER_COPY_MAGIC || zmpi_load32(src + 4) > 1 ||
        zmpi_slot_fields(&found, src) != ZMPI_OK ||
        found.log_end != offset + ZMPI_HEADER_COPY_BYTES ||
        zmpi_load64(src + CHECKED) != zmpi_hash(src, CHECKED, zmpi_seed(found.id, offset)))
        return false;
    *h = found;
    return true;
}

static bool is_newer(const struct zmpi_header *h, const struct zmpi_header *old)
{
    return old == NULL ||
           (memcmp(h->id, old->id, sizeof h->id) == 0 && h->generation > old->generation);
}

/* The last one that ends within [from, to), which are in `bytes`. */
static bool find_last(const struct zmpi_header *old, const unsigned char *bytes, uint64_t from,
                      uint64_t to, struct zmpi_header *h)
{
    struct zmpi_header found;
    if (to - from < ZMPI_HEADER_COPY_BYTES)
        return false;
    for (uint64_t at = (to - ZMPI_HEADER_COPY_BYTES) & ~(uint64_t)7;; at -= 8) {
        if (at < from)
            return false;
        if (decode(&found, bytes + (at - from), at) && is_newer(&found, old)) {
            *h = found;
            return true;
        }
        if (at - from < 8)
            return false;
    }
}

bool zmpi_header_find_copy(const struct zmpi_reader *in, uint64_t within,
                           const struct zmpi_header *newer_than, struct zmpi_header *h)
{
    const uint64_t size = in->file_size;
    const uint64_t least =
        size > within + ZMPI_HEADER_BYTES ? size - within : (uint64_t)ZMPI_HEADER_BYTES;
    bool found = false;
    unsigned char *window = malloc(WINDOW + ZMPI_HEADER_COPY_BYTES);
    uint64_t to = size;
    for (size_t most = ZMPI_COPY_AT_END; window != NULL && to > least && !found; most = WINDOW) {
        const uint64_t from = to - least > most ? to - most : least;
        /* One that begins in this window may end in the one behind it. */
        const uint64_t end =
            to + (size - to < ZMPI_HEADER_COPY_BYTES ? size - to : ZMPI_HEADER_COPY_BYTES);
        if (in->read(in->context, from, window, (size_t)(end - from)) == ZMPI_OK)
            found = find_last(newer_than, window, from, end, h);
        to = from;
    }
    free(window);
    return found;
}

bool zmpi_header_copy_before(const struct zmpi_reader *in, uint64_t *place)
{
    struct zmpi_reader front = *in;
    struct zmpi_header h;
    const uint64_t passed = in->file_size - *place;
    front.file_size = *place;
    if (passed >= ZMPI_COPY_BEHIND ||
        !zmpi_header_find_copy(&front, ZMPI_COPY_BEHIND - passed, NULL, &h))
        return false;
    *place = h.log_end - ZMPI_HEADER_COPY_BYTES;
    return true;
}
