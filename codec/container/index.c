/*
 * index.c - makes the index of a file: new segments for some records, and the directory of all
 * segments (docs/format.md 2.3).
 */
#include <stdlib.h>
#include <string.h>

#include "container/container_private.h"

void zmpi_index_tally(const struct zmpi_container *c, uint64_t fresh, struct zmpi_header *h)
{
    h->tallied = c->indexed == 0 || c->tallied;
    h->tally = c->indexed == 0 ? fresh : c->tally + fresh;
}

/* Takes segment k out of the index, once its records are in the tail. */
static enum zmpi_status dissolve(struct zmpi_container *c, size_t k)
{
    struct zmpi_segment old = c->all.segment[k];
    struct zmpi_walk walk = {.segment = &old, .end = 1};
    const struct zmpi_record *r;
    memmove(&c->all.segment[k], &c->all.segment[k + 1],
            (c->all.count - k - 1) * sizeof *c->all.segment);
    c->all.count--;
    c->indexed--;
    c->sealed = false;
    enum zmpi_status status = ZMPI_OK;
    while (status == ZMPI_OK && (r = zmpi_walk_next(&walk)) != NULL) {
        status = zmpi_container_push(c, r);
        c->tally -= zmpi_record_tally(r);
    }
    free(old.entries);
    return status;
}

static bool is_small(const struct zmpi_segment *s)
{
    return s->count < ZMPI_SEGMENT_RECORDS / 2;
}

/* Small segments that cannot be read stay where they are, for a later repair. */
static enum zmpi_status merge_small(struct zmpi_container *c, const struct zmpi_reader *in)
{
    enum zmpi_status status = ZMPI_OK;
    for (size_t k = 0; k < c->indexed && status == ZMPI_OK;) {
        size_t end = k;
        while (end < c->indexed && is_small(&c->all.segment[end]))
            end++;
        if (end > k)
            zmpi_container_load(c, in, k, end);
        if (end > k && c->all.segment[k].entries != NULL)
            status = dissolve(c, k);
        else
            k++;
    }
    return status;
}

enum zmpi_status zmpi_index_collect(struct zmpi_container *c, const struct zmpi_reader *in,
                                    bool merge, zmpi_wanted *wanted, const void *context,
                                    struct zmpi_segments *out)
{
    struct zmpi_builder b = {0};
    uint64_t tally = 0;
    enum zmpi_status status = merge ? merge_small(c, in) : ZMPI_OK;
    if (status == ZMPI_OK)
        status = zmpi_runs_merge_all(c);
    struct zmpi_walk walk = {.segment = c->all.segment, .next = c->indexed, .end = c->all.count};
    const struct zmpi_record *r;
    while (status == ZMPI_OK && (r = zmpi_walk_next(&walk)) != NULL)
        if (wanted == NULL || wanted(context, r)) {
            status = zmpi_builder_add(&b, r);
            tally += zmpi_record_tally(r);
        }
    if (status == ZMPI_OK)
        status = zmpi_builder_finish(&b);
    if (status == ZMPI_OK) {
        *out = b.out;
        out->tally = tally;
        memset(&b.out, 0, sizeof b.out);
    }
    zmpi_builder_free(&b);
    return status;
}

/* The directory of the index's segments and of `fresh` ones, to the end of dst. */
static enum zmpi_status put_all(const struct zmpi_container *c, struct zmpi_segments *fresh,
                                uint64_t offset, size_t size, unsigned char *dst)
{
    size_t n = c->indexed + fresh->count;
    struct zmpi_segment *all = malloc(n * sizeof *all);
    if (all == NULL)
        return ZMPI_ERR_MEMORY;
    zmpi_index_put_segments(fresh->segment, fresh->count, c->header.id, offset, dst);
    if (c->indexed > 0)
        memcpy(all, c->all.segment, c->indexed * sizeof *all);
    if (fresh->count > 0)
        memcpy(all + c->indexed, fresh->segment, fresh->count * sizeof *all);
    size_t before = size - zmpi_index_directory_size(n);
    zmpi_index_put_directory(all, n, c->header.id, offset + before, dst + before);
    free(all);
    return ZMPI_OK;
}

enum zmpi_status zmpi_index_make(struct zmpi_container *c, const struct zmpi_reader *in,
                                 uint64_t offset, uint64_t generation, unsigned char **out,
                                 size_t *size)
{
    struct zmpi_segments fresh = {0};
    enum zmpi_status status = zmpi_index_collect(c, in, true, NULL, NULL, &fresh);
    if (status != ZMPI_OK)
        return status;
    const uint64_t tally = fresh.tally;
    size_t n = c->indexed + fresh.count, directory = zmpi_index_directory_size(n);
    *size = n == 0 ? 0 : zmpi_index_segments_size(fresh.segment, fresh.count) + directory;
    const size_t copy = n > 0 && generation > 0 ? ZMPI_HEADER_COPY_BYTES : 0;
    *out = malloc(*size + copy + 1);
    if (*out == NULL)
        status = ZMPI_ERR_MEMORY;
    else if (n > 0)
        status = put_all(c, &fresh, offset, *size, *out);
    zmpi_segments_free(&fresh);
    if (status != ZMPI_OK) {
        free(*out);
        return status;
    }
    struct zmpi_header *h = &c->header;
    h->logical_size = c->logical_size;
    h->index_offset = n == 0 ? 0 : offset + *size - directory;
    h->index_length = n == 0 ? 0 : directory;
    h->log_end = n == 0 ? ZMPI_HEADER_BYTES : offset + *size + copy;
    zmpi_index_tally(c, tally, h);
    if (copy > 0) {
        struct zmpi_header next = *h;
        next.generation = generation;
        zmpi_header_copy(&next, *out + *size);
        *size += copy;
    }
    return ZMPI_OK;
}
