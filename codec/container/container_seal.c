/*
 * container_seal.c - goes through all records of a file in their order, for its logical size and
 * the tables that reads use (docs/format.md 2.4).
 */
#include <stdlib.h>
#include <string.h>

#include "container/container_private.h"

/* Goes through all records: the last size record, and the data records after it. */
static enum zmpi_status find_size(struct zmpi_container *c, const struct zmpi_reader *in)
{
    enum zmpi_status status = zmpi_container_load(c, in, 0, c->indexed);
    if (status != ZMPI_OK)
        return status;
    c->last_size = (struct zmpi_mark){0};
    for (size_t i = 0; i < c->cuts; i++)
        if (zmpi_mark_compare(&c->cut[i], &c->last_size) >= 0)
            c->last_size = c->cut[i];
    c->logical_size = c->last_size.size;
    struct zmpi_walk walk = {.segment = c->all.segment, .end = c->all.count};
    const struct zmpi_record *r;
    for (size_t i = 0; (r = i < c->tail_count ? &c->tail[i] : zmpi_walk_next(&walk)) != NULL; i++) {
        struct zmpi_mark mark = zmpi_mark_of(r);
        if (zmpi_mark_compare(&mark, &c->last_size) > 0)
            c->logical_size = r->extent.hi > c->logical_size ? r->extent.hi : c->logical_size;
    }
    c->size_unknown = false;
    return ZMPI_OK;
}

static void sort_cuts(struct zmpi_container *c)
{
    if (c->cuts == 0)
        return;
    qsort(c->cut, c->cuts, sizeof *c->cut, zmpi_mark_compare);
    for (size_t i = c->cuts - 1; i-- > 0;)
        if (c->cut[i + 1].size < c->cut[i].size)
            c->cut[i].size = c->cut[i + 1].size;
}

enum zmpi_status zmpi_container_seal(struct zmpi_container *c, const struct zmpi_reader *in)
{
    enum zmpi_status status = ZMPI_OK;
    for (size_t k = 0; k < c->indexed && status == ZMPI_OK; k++)
        if (c->all.segment[k].sizes > 0)
            status = zmpi_container_load(c, in, k, k + 1);
    if (status == ZMPI_OK && c->size_unknown)
        status = find_size(c, in);
    if (status != ZMPI_OK || c->sealed)
        return status;
    sort_cuts(c);
    status = zmpi_container_find_build(c);
    c->sealed = status == ZMPI_OK;
    return status;
}

static int compare_records(const void *a, const void *b)
{
    return zmpi_record_compare(a, b);
}

enum zmpi_status zmpi_container_records(struct zmpi_container *c, const struct zmpi_reader *in,
                                        struct zmpi_record **record)
{
    enum zmpi_status status = zmpi_container_load(c, in, 0, c->indexed);
    if (status != ZMPI_OK)
        return status;
    struct zmpi_record *all = malloc((c->count + 1) * sizeof *all);
    if (all == NULL)
        return ZMPI_ERR_MEMORY;
    struct zmpi_walk walk = {.segment = c->all.segment, .end = c->all.count};
    const struct zmpi_record *r;
    size_t n = 0;
    while ((r = zmpi_walk_next(&walk)) != NULL)
        all[n++] = *r;
    if (c->tail_count > 0)
        memcpy(all + n, c->tail, c->tail_count * sizeof *all);
    if (c->count > 0)
        qsort(all, c->count, sizeof *all, compare_records);
    *record = all;
    return ZMPI_OK;
}
