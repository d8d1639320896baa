/*
 * container.c - the set of records of a file, in memory (docs/format.md 2.4).
 */
#include <stdlib.h>
#include <string.h>

#include "container_private.h"

void zmpi_container_init(struct zmpi_container *c)
{
    memset(c, 0, sizeof *c);
}

static void unseal(struct zmpi_container *c)
{
    free(c->cut);
    free(c->by_lo);
    free(c->max_hi);
    c->cut = NULL;
    c->by_lo = NULL;
    c->max_hi = NULL;
    c->sealed = false;
}

void zmpi_container_truncate(struct zmpi_container *c, size_t count)
{
    unseal(c);
    while (c->count > count)
        zmpi_extent_free(&c->record[--c->count].extent);
}

void zmpi_container_free(struct zmpi_container *c)
{
    zmpi_container_truncate(c, 0);
    free(c->record);
    zmpi_container_init(c);
}

enum zmpi_status zmpi_container_reserve(struct zmpi_container *c, size_t n)
{
    if (n <= c->capacity - c->count)
        return ZMPI_OK;
    if (n > SIZE_MAX / 2 / sizeof *c->record - c->count)
        return ZMPI_ERR_SIZE;
    size_t capacity = c->capacity + c->capacity / 2 + 16;
    if (capacity < c->count + n)
        capacity = c->count + n;
    struct zmpi_record *record = realloc(c->record, capacity * sizeof *record);
    if (record == NULL)
        return ZMPI_ERR_MEMORY;
    c->record = record;
    c->capacity = capacity;
    return ZMPI_OK;
}

static uint64_t size_after(uint64_t size, const struct zmpi_record *r)
{
    if (r->kind == ZMPI_RECORD_SIZE || r->extent.hi > size)
        return r->extent.hi;
    return size;
}

enum zmpi_status zmpi_container_add(struct zmpi_container *c, const struct zmpi_record *r)
{
    enum zmpi_status status = zmpi_container_reserve(c, 1);
    if (status != ZMPI_OK)
        return status;
    unseal(c);
    c->record[c->count++] = *r;
    c->logical_size = size_after(c->logical_size, r);
    return ZMPI_OK;
}

uint64_t zmpi_container_end(const struct zmpi_container *c)
{
    uint64_t end = ZMPI_HEADER_BYTES;
    for (size_t i = 0; i < c->count; i++) {
        const struct zmpi_record *r = &c->record[i];
        if (r->offset < ZMPI_OFFSET_MEMORY && r->offset + zmpi_record_size(r) > end)
            end = r->offset + zmpi_record_size(r);
    }
    /* The index in force stays whole until the header points to the next one: format.md 2.1. */
    const struct zmpi_header *h = &c->header;
    if (h->index_offset != 0 && !c->index_damaged && h->index_offset + h->index_length > end)
        end = zmpi_pad8(h->index_offset + h->index_length);
    return end;
}

/* ---- sealing ---- */

/* format.md 2.4: the order in which records win. */
static int compare(const void *a, const void *b)
{
    const struct zmpi_record *x = a, *y = b;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static bool is_sorted(const struct zmpi_container *c)
{
    for (size_t i = 1; i < c->count; i++)
        if (compare(&c->record[i - 1], &c->record[i]) > 0)
            return false;
    return true;
}

/* cut[i]: the smallest size set by a record later than i. Of record i only the bytes below it are
 * left. */
static enum zmpi_status find_cuts(struct zmpi_container *c)
{
    c->cut = malloc((c->count + 1) * sizeof *c->cut);
    if (c->cut == NULL)
        return ZMPI_ERR_MEMORY;
    uint64_t cut = ZMPI_SIZE_MAX;
    for (size_t i = c->count; i-- > 0;) {
        c->cut[i] = cut;
        if (c->record[i].kind == ZMPI_RECORD_SIZE && c->record[i].extent.lo < cut)
            cut = c->record[i].extent.lo;
    }
    return ZMPI_OK;
}

enum zmpi_status zmpi_container_seal(struct zmpi_container *c)
{
    if (c->sealed)
        return ZMPI_OK;
    unseal(c);
    if (c->count > 0 && !is_sorted(c))
        qsort(c->record, c->count, sizeof *c->record, compare);
    enum zmpi_status status = find_cuts(c);
    if (status == ZMPI_OK)
        status = zmpi_container_find_build(c);
    if (status != ZMPI_OK) {
        unseal(c);
        return status;
    }
    c->logical_size = 0;
    for (size_t i = 0; i < c->count; i++)
        c->logical_size = size_after(c->logical_size, &c->record[i]);
    c->sealed = true;
    return ZMPI_OK;
}
