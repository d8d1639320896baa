/*
 * container_open.c - opens a container: reads header and index, and scans for records that the
 * index does not list (docs/format.md 2.5).
 */
#include <stdlib.h>
#include <string.h>

#include "container/container_private.h"

static bool is_zero(const unsigned char *p, size_t n)
{
    return *p == 0 && memcmp(p, p + 1, n - 1) == 0;
}

/* For a header whose slots are both damaged. src is NULL if they could not be read. */
static bool use_copy(struct zmpi_container *c, const struct zmpi_reader *in,
                     const unsigned char *src)
{
    struct zmpi_header *h = &c->header;
    if (!zmpi_header_find_copy(in, ZMPI_COPY_BEHIND, NULL, h))
        return false;
    c->copied = c->header_lost = true;
    c->overwritten = src != NULL && !zmpi_is_container(src, ZMPI_HEADER_BYTES) &&
                     !is_zero(src, ZMPI_HEADER_BYTES);
    h->outdated = src != NULL && zmpi_header_is_outdated(h, src);
    return true;
}

/* For a header whose older slot is right. The next header goes to the place of the damaged newer
 * one. */
static void use_newer_copy(struct zmpi_container *c, const struct zmpi_reader *in)
{
    const uint64_t generation = c->header.generation;
    c->torn = true;
    c->copied = zmpi_header_find_copy(in, ZMPI_COPY_BEHIND, &c->header, &c->header);
    c->header.generation = generation;
}

static enum zmpi_status read_header(struct zmpi_container *c, const struct zmpi_reader *in)
{
    unsigned char header[ZMPI_HEADER_BYTES] = {0};
    size_t size = in->file_size < sizeof header ? (size_t)in->file_size : sizeof header;
    enum zmpi_status status = in->read(in->context, 0, header, size);
    if (status != ZMPI_OK)
        return status == ZMPI_ERR_IO && use_copy(c, in, NULL) ? ZMPI_OK : status;
    status = zmpi_header_decode(&c->header, header);
    c->cut_short = size < sizeof header;
    /* A header that is cut short may lack its other slot. */
    if (c->cut_short)
        return status == ZMPI_ERR_CHECKSUM ? ZMPI_ERR_TRUNCATED : status;
    if (status == ZMPI_OK && zmpi_header_newer_torn(&c->header, header))
        use_newer_copy(c, in);
    const bool damaged =
        status == ZMPI_ERR_FORMAT || status == ZMPI_ERR_CHECKSUM || status == ZMPI_ERR_CORRUPT;
    return damaged && use_copy(c, in, header) ? ZMPI_OK : status;
}

/* Reads the directory. Returns only errors of the reader and of memory; a damaged index sets
 * index_damaged. */
static enum zmpi_status read_directory(struct zmpi_container *c, const struct zmpi_reader *in)
{
    const struct zmpi_header *h = &c->header;
    struct zmpi_segment *segment = NULL;
    size_t n;
    if (h->index_offset == 0 && h->log_end <= ZMPI_HEADER_BYTES)
        return ZMPI_OK;
    c->index_damaged = true;
    if (h->log_end > in->file_size || h->index_length == 0 ||
        !zmpi_fits(h->index_offset, h->index_length, h->log_end))
        return ZMPI_OK;
    unsigned char *src = malloc(h->index_length);
    if (src == NULL)
        return ZMPI_ERR_MEMORY;
    enum zmpi_status status = in->read(in->context, h->index_offset, src, h->index_length);
    if (status == ZMPI_OK) {
        status = zmpi_directory_decode(h, src, h->index_length, &segment, &n);
        c->index_damaged = status != ZMPI_OK;
        if (status == ZMPI_OK)
            status = zmpi_container_add_index(c, segment, n);
        else if (status != ZMPI_ERR_MEMORY)
            status = ZMPI_OK;
        free(segment);
    }
    free(src);
    return status;
}

/* ---- opening ---- */

static enum zmpi_status finish(struct zmpi_container *c, const struct zmpi_reader *in)
{
    if (c->count > 0 && c->last.order >> 32 >= c->header.next_epoch)
        c->header.next_epoch = (c->last.order >> 32) + 1;
    return zmpi_container_seal(c, in);
}

enum zmpi_status zmpi_container_scan(struct zmpi_container *c, const struct zmpi_reader *in)
{
    enum zmpi_status status = read_header(c, in);
    if (status == ZMPI_OK)
        status = zmpi_container_scan_from(c, in, ZMPI_HEADER_BYTES);
    if (status == ZMPI_OK)
        status = finish(c, in);
    if (status != ZMPI_OK)
        zmpi_container_free(c);
    return status;
}

/* Scans if the index turns out to be damaged. */
static enum zmpi_status or_scan(struct zmpi_container *c, const struct zmpi_reader *in,
                                enum zmpi_status status)
{
    bool damaged =
        status == ZMPI_ERR_CHECKSUM || status == ZMPI_ERR_CORRUPT || status == ZMPI_ERR_TRUNCATED;
    if (!damaged || c->indexed == 0)
        return status;
    zmpi_container_free(c);
    status = zmpi_container_scan(c, in);
    c->index_damaged = status == ZMPI_OK;
    return status;
}

enum zmpi_status zmpi_container_open_lazily(struct zmpi_container *c, const struct zmpi_reader *in)
{
    enum zmpi_status status = read_header(c, in);
    if (status == ZMPI_OK)
        status = read_directory(c, in);
    if (status == ZMPI_OK)
        status =
            zmpi_container_scan_from(c, in, c->indexed > 0 ? c->header.log_end : ZMPI_HEADER_BYTES);
    if (status == ZMPI_OK)
        status = or_scan(c, in, finish(c, in)); /* this reads the segments of size records */
    if (status != ZMPI_OK)
        zmpi_container_free(c);
    return status;
}

enum zmpi_status zmpi_container_read_index(struct zmpi_container *c, const struct zmpi_reader *in)
{
    return or_scan(c, in, zmpi_container_load(c, in, 0, c->indexed));
}

enum zmpi_status zmpi_container_open(struct zmpi_container *c, const struct zmpi_reader *in)
{
    enum zmpi_status status = zmpi_container_open_lazily(c, in);
    if (status != ZMPI_OK || c->indexed == 0)
        return status;
    status = zmpi_container_read_index(c, in);
    c->size_unknown = true; /* the header's size was right when it was written */
    if (status == ZMPI_OK)
        status = zmpi_container_seal(c, in);
    if (status != ZMPI_OK)
        zmpi_container_free(c);
    return status;
}

enum zmpi_status zmpi_container_follow(struct zmpi_container *c, const struct zmpi_reader *in,
                                       uint64_t from)
{
    return zmpi_container_scan_from(c, in, from);
}

/* Is the index intact, or did the scan find all of its records? */
static bool has_indexed(const struct zmpi_container *c)
{
    const struct zmpi_header *h = &c->header;
    if (!c->index_damaged)
        return true;
    return h->tallied ? h->tally == c->recovered
                      : c->damaged == 0 && c->logical_size >= h->logical_size;
}

/* The newer slot is damaged. Were all records found that its index lists? */
static bool has_newer(const struct zmpi_container *c)
{
    const struct zmpi_header *h = &c->header;
    const bool listed = !c->index_damaged && h->index_offset != 0;
    if (!h->outdated || (listed && !h->tallied))
        return c->damaged == 0 && has_indexed(c);
    const uint64_t before = listed ? h->tally : 0;
    return before + c->found == h->newer || before + c->found_indexed == h->newer;
}

bool zmpi_container_whole(const struct zmpi_container *c)
{
    const struct zmpi_header *h = &c->header;
    if (c->cut_short || c->overwritten || (h->outdated && (c->count == 0 || c->header_lost)))
        return false;
    if (c->torn && !c->copied)
        return has_newer(c);
    return has_indexed(c);
}
