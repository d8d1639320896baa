/*
 * container_open.c - opening a container: header, index, and a scan of what the index does not know
 * (docs/format.md 2.5).
 */
#include <stdlib.h>
#include <string.h>

#include "container_private.h"

static enum zmpi_status read_header(struct zmpi_container *c, const struct zmpi_reader *in)
{
    unsigned char header[ZMPI_HEADER_BYTES] = {0};
    size_t size = in->file_size < sizeof header ? (size_t)in->file_size : sizeof header;
    enum zmpi_status status = in->read(in->context, 0, header, size);
    if (status != ZMPI_OK)
        return status;
    status = zmpi_header_decode(&c->header, header);
    /* A header cut short may have lost its other slot. */
    return status == ZMPI_ERR_CHECKSUM && size < sizeof header ? ZMPI_ERR_TRUNCATED : status;
}

/* Every record of the index must lie in the log, whose end the header tells. */
static bool records_fit(const struct zmpi_container *c)
{
    for (size_t i = 0; i < c->count; i++) {
        const struct zmpi_record *r = &c->record[i];
        if (!zmpi_fits(r->offset, zmpi_record_size(r), c->header.log_end))
            return false;
    }
    return true;
}

/*
 * All segments, or none. Only errors of the reader and of memory are returned; an index that is not
 * right sets index_damaged.
 */
static enum zmpi_status read_index(struct zmpi_container *c, const struct zmpi_reader *in)
{
    const struct zmpi_header *h = &c->header;
    if (h->index_offset == 0 && h->log_end <= ZMPI_HEADER_BYTES)
        return ZMPI_OK;
    c->index_damaged = true;
    if (h->log_end > in->file_size || h->index_length == 0 ||
        !zmpi_fits(h->index_offset, h->index_length, in->file_size))
        return ZMPI_OK;
    unsigned char *index = malloc(h->index_length);
    if (index == NULL)
        return ZMPI_ERR_MEMORY;
    enum zmpi_status status = in->read(in->context, h->index_offset, index, h->index_length);
    if (status == ZMPI_OK) {
        status = zmpi_index_decode(c, h->id, h->index_offset, index, h->index_length);
        if (status == ZMPI_OK && records_fit(c))
            c->index_damaged = false;
        else
            zmpi_container_truncate(c, 0);
        if (status != ZMPI_ERR_MEMORY)
            status = ZMPI_OK;
    }
    free(index);
    return status;
}

static enum zmpi_status finish(struct zmpi_container *c)
{
    for (size_t i = 0; i < c->count; i++) {
        uint64_t epoch = c->record[i].order >> 32;
        if (epoch >= c->header.next_epoch)
            c->header.next_epoch = epoch + 1;
    }
    return zmpi_container_seal(c);
}

static enum zmpi_status open_container(struct zmpi_container *c, const struct zmpi_reader *in,
                                       bool use_index)
{
    enum zmpi_status status = read_header(c, in);
    uint64_t from = ZMPI_HEADER_BYTES, skip = 0, skip_size = 0;
    if (status == ZMPI_OK && use_index)
        status = read_index(c, in);
    const struct zmpi_header *h = &c->header;
    if (status == ZMPI_OK && use_index && !c->index_damaged && h->index_offset != 0) {
        from = h->log_end > from ? h->log_end : from;
        skip = h->index_offset;
        skip_size = h->index_length;
    }
    if (status == ZMPI_OK)
        status = zmpi_container_scan_from(c, in, from, skip, skip_size);
    if (status == ZMPI_OK)
        status = finish(c);
    if (status != ZMPI_OK)
        zmpi_container_free(c);
    return status;
}

enum zmpi_status zmpi_container_open(struct zmpi_container *c, const struct zmpi_reader *in)
{
    return open_container(c, in, true);
}

enum zmpi_status zmpi_container_scan(struct zmpi_container *c, const struct zmpi_reader *in)
{
    return open_container(c, in, false);
}

enum zmpi_status zmpi_container_follow(struct zmpi_container *c, const struct zmpi_reader *in,
                                       uint64_t from)
{
    return zmpi_container_scan_from(c, in, from, 0, 0);
}

bool zmpi_container_whole(const struct zmpi_container *c)
{
    return !c->index_damaged || (c->damaged == 0 && c->logical_size >= c->header.logical_size);
}
