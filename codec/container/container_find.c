/*
 * container_find.c - which records cover a request. An interval tree over the segments, sorted by
 * lo, finds segments; these are then decoded.
 *
 * The tree is implicit: the root of by_lo[begin, end) is its middle, and the halves left and right
 * of it are its subtrees. max_hi holds the largest hi in each subtree, so that a look-up takes
 * O(log n) steps for each segment that it finds, however long single records are.
 */
#include <stdlib.h>

#include "container/container_private.h"

static uint64_t build(struct zmpi_container *c, size_t begin, size_t end)
{
    if (begin == end)
        return 0;
    size_t middle = begin + (end - begin) / 2;
    uint64_t hi = c->all.segment[c->by_lo[middle]].hi;
    uint64_t left = build(c, begin, middle), right = build(c, middle + 1, end);
    hi = left > hi ? left : hi;
    hi = right > hi ? right : hi;
    return c->max_hi[middle] = hi;
}

struct key {
    uint64_t lo;
    size_t number;
};

static int compare_keys(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    return (x->lo > y->lo) - (x->lo < y->lo);
}

enum zmpi_status zmpi_container_find_build(struct zmpi_container *c)
{
    size_t n = c->all.count;
    struct key *key = malloc((n + 1) * sizeof *key);
    size_t *by_lo = realloc(c->by_lo, (n + 1) * sizeof *by_lo);
    c->by_lo = by_lo != NULL ? by_lo : c->by_lo;
    uint64_t *max_hi = realloc(c->max_hi, (n + 1) * sizeof *max_hi);
    c->max_hi = max_hi != NULL ? max_hi : c->max_hi;
    if (key == NULL || by_lo == NULL || max_hi == NULL) {
        free(key);
        return ZMPI_ERR_MEMORY;
    }
    for (size_t i = 0; i < n; i++)
        key[i] = (struct key){c->all.segment[i].lo, i};
    qsort(key, n, sizeof *key, compare_keys);
    for (size_t i = 0; i < n; i++)
        c->by_lo[i] = key[i].number;
    free(key);
    build(c, 0, n);
    return ZMPI_OK;
}

struct query {
    struct zmpi_container *c;
    const struct zmpi_uncovered *uncovered;
    uint64_t begin, end;
    size_t *number; /* of segments */
    size_t count;
    struct zmpi_finds *finds;
};

/* Lists the segments that touch [begin, end). The list is large enough for all. */
static void find_segments(struct query *q, size_t begin, size_t end)
{
    const struct zmpi_container *c = q->c;
    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;
        if (c->max_hi[middle] <= q->begin)
            return;
        find_segments(q, begin, middle);
        size_t i = c->by_lo[middle];
        if (c->all.segment[i].lo >= q->end)
            return;
        if (c->all.segment[i].hi > q->begin)
            q->number[q->count++] = i;
        begin = middle + 1;
    }
}

static enum zmpi_status append(struct zmpi_finds *finds, const struct zmpi_found *found)
{
    if (finds->count == finds->limit)
        return ZMPI_ERR_SPACE;
    if (finds->count == finds->capacity) {
        size_t capacity = finds->capacity * 2 + 64;
        struct zmpi_found *grown = realloc(finds->found, capacity * sizeof *grown);
        if (grown == NULL)
            return ZMPI_ERR_MEMORY;
        finds->found = grown;
        finds->capacity = capacity;
    }
    finds->found[finds->count++] = *found;
    return ZMPI_OK;
}

/* Does the record have any requested byte that no later size record has cut off? */
static enum zmpi_status consider(const struct query *q, const struct zmpi_record *r)
{
    const struct zmpi_extent *e = &r->extent;
    struct zmpi_piece piece;
    if (r->kind != ZMPI_RECORD_DATA || e->lo >= q->end || e->hi <= q->begin)
        return ZMPI_OK;
    struct zmpi_found found = {*r, zmpi_container_cut(q->c, r)};
    uint64_t hi = e->hi < found.cut ? e->hi : found.cut;
    if (!zmpi_uncovered_find(q->uncovered, e->lo, &piece) || piece.offset >= hi)
        return ZMPI_OK;
    return append(q->finds, &found);
}

static int compare_numbers(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* Sorts by place, so that neighbours are read together. */
static enum zmpi_status load_segments(struct query *q, const struct zmpi_reader *in, uint64_t *bad)
{
    enum zmpi_status status = ZMPI_OK;
    if (q->count > 0)
        qsort(q->number, q->count, sizeof *q->number, compare_numbers);
    for (size_t i = 0, end; i < q->count && status == ZMPI_OK; i = end) {
        for (end = i + 1; end < q->count && q->number[end] == q->number[end - 1] + 1;)
            end++;
        size_t first = q->number[i], last = q->number[end - 1] + 1;
        first = first < q->c->indexed ? first : q->c->indexed;
        last = last < q->c->indexed ? last : q->c->indexed;
        status = zmpi_container_load_some(q->c, in, first, last, bad);
    }
    return status;
}

static enum zmpi_status find_records(struct query *q)
{
    enum zmpi_status status = ZMPI_OK;
    const struct zmpi_record *r;
    for (size_t i = 0; i < q->count && status == ZMPI_OK; i++) {
        struct zmpi_walk walk = {
            .segment = q->c->all.segment, .next = q->number[i], .end = q->number[i] + 1};
        while (status == ZMPI_OK && (r = zmpi_walk_next(&walk)) != NULL && r->extent.lo < q->end)
            status = consider(q, r);
    }
    for (size_t i = 0; i < q->c->tail_count && status == ZMPI_OK; i++)
        status = consider(q, &q->c->tail[i]);
    return status;
}

enum zmpi_status zmpi_container_find(struct zmpi_container *c, const struct zmpi_reader *in,
                                     const struct zmpi_uncovered *uncovered,
                                     struct zmpi_finds *finds, uint64_t *bad)
{
    struct query q = {.c = c, .uncovered = uncovered, .finds = finds};
    zmpi_uncovered_range(uncovered, &q.begin, &q.end);
    q.number = malloc((c->all.count + 1) * sizeof *q.number);
    if (q.number == NULL)
        return ZMPI_ERR_MEMORY;
    find_segments(&q, 0, c->all.count);
    enum zmpi_status status = load_segments(&q, in, bad);
    finds->count = 0;
    if (status == ZMPI_OK)
        status = find_records(&q);
    free(q.number);
    return status;
}
