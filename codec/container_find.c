/*
 * container_find.c - which records cover a range: an interval tree laid over the records sorted by
 * lo.
 *
 * The tree is implicit: the root of by_lo[begin, end) is its middle, with the halves left and right
 * of it as subtrees. max_hi holds the largest hi in each subtree, so that a look-up takes O(log n)
 * steps for each record found, however long single records are.
 */
#include <stdlib.h>

#include "container_private.h"

/* One past the last byte of record i that later size records leave. */
static uint64_t visible_hi(const struct zmpi_container *c, size_t i)
{
    uint64_t hi = c->record[i].extent.hi;
    return hi < c->cut[i] ? hi : c->cut[i];
}

static uint64_t build(struct zmpi_container *c, size_t begin, size_t end)
{
    if (begin == end)
        return 0;
    size_t middle = begin + (end - begin) / 2;
    uint64_t hi = visible_hi(c, c->by_lo[middle]);
    uint64_t left = build(c, begin, middle), right = build(c, middle + 1, end);
    hi = left > hi ? left : hi;
    hi = right > hi ? right : hi;
    return c->max_hi[middle] = hi;
}

struct key {
    uint64_t lo;
    size_t number;
};

static int compare(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    return (x->lo > y->lo) - (x->lo < y->lo);
}

enum zmpi_status zmpi_container_find_build(struct zmpi_container *c)
{
    size_t n = c->count;
    struct key *key = malloc((n + 1) * sizeof *key);
    c->by_lo = malloc((n + 1) * sizeof *c->by_lo);
    c->max_hi = malloc((n + 1) * sizeof *c->max_hi);
    if (key == NULL || c->by_lo == NULL || c->max_hi == NULL) {
        free(key);
        return ZMPI_ERR_MEMORY;
    }
    for (size_t i = 0; i < n; i++)
        key[i] = (struct key){c->record[i].extent.lo, i};
    qsort(key, n, sizeof *key, compare);
    for (size_t i = 0; i < n; i++)
        c->by_lo[i] = key[i].number;
    free(key);
    build(c, 0, n);
    return ZMPI_OK;
}

static enum zmpi_status append(struct zmpi_numbers *found, size_t number)
{
    if (found->count == found->capacity) {
        size_t capacity = found->capacity * 2 + 64;
        size_t *grown = realloc(found->number, capacity * sizeof *grown);
        if (grown == NULL)
            return ZMPI_ERR_MEMORY;
        found->number = grown;
        found->capacity = capacity;
    }
    found->number[found->count++] = number;
    return ZMPI_OK;
}

struct query {
    const struct zmpi_container *c;
    uint64_t begin, end;
    struct zmpi_numbers *found;
};

static enum zmpi_status find(const struct query *q, size_t begin, size_t end)
{
    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;
        if (q->c->max_hi[middle] <= q->begin)
            return ZMPI_OK;
        enum zmpi_status status = find(q, begin, middle);
        if (status != ZMPI_OK)
            return status;
        size_t i = q->c->by_lo[middle];
        if (q->c->record[i].extent.lo >= q->end)
            return ZMPI_OK;
        if (q->c->record[i].kind == ZMPI_RECORD_DATA && visible_hi(q->c, i) > q->begin) {
            status = append(q->found, i);
            if (status != ZMPI_OK)
                return status;
        }
        begin = middle + 1;
    }
    return ZMPI_OK;
}

enum zmpi_status zmpi_container_find(const struct zmpi_container *c, uint64_t begin, uint64_t end,
                                     struct zmpi_numbers *found)
{
    struct query q = {c, begin, end, found};
    return find(&q, 0, c->count);
}
