/* container_load.c - reads segments of the index when they are needed (docs/format.md 2.3). */
#include <stdlib.h>

#include "container/container_private.h"

#define LOADED_AT_ONCE ((uint64_t)1 << 20)

/* Loads segments [first, last), which lie one behind the other and have `size` bytes. */
static enum zmpi_status load_adjacent(struct zmpi_container *c, const struct zmpi_reader *in,
                                      size_t first, size_t last, size_t size, uint64_t *bad)
{
    const struct zmpi_segment *s = c->all.segment;
    unsigned char *src = malloc(size);
    if (src == NULL)
        return ZMPI_ERR_MEMORY;
    enum zmpi_status status = in->read(in->context, s[first].offset, src, size);
    const unsigned char *at = src;
    size_t k = first;
    for (; k < last && status == ZMPI_OK; k++) {
        status = zmpi_segment_check(&s[k], c->header.id, at);
        if (status == ZMPI_OK && s[k].entries == NULL)
            status = zmpi_container_take(c, k, at + ZMPI_SEGMENT_HEADER_BYTES, s[k].size);
        at += zmpi_segment_extent(&s[k]);
    }
    if (status != ZMPI_OK && bad != NULL)
        *bad = s[k > first ? k - 1 : first].offset;
    free(src);
    return status == ZMPI_ERR_FORMAT ? ZMPI_ERR_CHECKSUM : status;
}

enum zmpi_status zmpi_container_load_some(struct zmpi_container *c, const struct zmpi_reader *in,
                                          size_t first, size_t last, uint64_t *bad)
{
    const struct zmpi_segment *s = c->all.segment;
    enum zmpi_status status = ZMPI_OK;
    for (size_t end; first < last && status == ZMPI_OK; first = end) {
        end = first + 1;
        if (s[first].entries != NULL)
            continue;
        uint64_t size = zmpi_segment_extent(&s[first]);
        while (end < last && s[end].offset == s[first].offset + size && size < LOADED_AT_ONCE)
            size += zmpi_segment_extent(&s[end++]);
        status = load_adjacent(c, in, first, end, size, bad);
    }
    return status;
}

enum zmpi_status zmpi_container_load(struct zmpi_container *c, const struct zmpi_reader *in,
                                     size_t first, size_t last)
{
    return zmpi_container_load_some(c, in, first, last, NULL);
}
