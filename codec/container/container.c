/*
 * container.c - the set of records of a file, in memory (docs/format.md 2.4).
 */
#include <stdlib.h>
#include <string.h>

#include "container/container_private.h"

#define TAIL_RECORDS 4096

void zmpi_container_init(struct zmpi_container *c)
{
    memset(c, 0, sizeof *c);
}

void zmpi_container_free(struct zmpi_container *c)
{
    zmpi_segments_free(&c->all);
    zmpi_container_forget_lists(c);
    free(c->tail);
    free(c->cut);
    free(c->by_lo);
    free(c->max_hi);
    zmpi_container_init(c);
}

/* ---- places in the order ---- */

struct zmpi_mark zmpi_mark_of(const struct zmpi_record *r)
{
    return (struct zmpi_mark){r->order, r->offset, r->extent.lo, r->rank};
}

int zmpi_mark_compare(const void *a, const void *b)
{
    const struct zmpi_mark *x = a, *y = b;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static enum zmpi_status reserve_cut(struct zmpi_container *c)
{
    if (c->cuts < c->cut_capacity)
        return ZMPI_OK;
    size_t capacity = 2 * c->cut_capacity + 16;
    struct zmpi_mark *grown = realloc(c->cut, capacity * sizeof *grown);
    if (grown == NULL)
        return ZMPI_ERR_MEMORY;
    c->cut = grown;
    c->cut_capacity = capacity;
    return ZMPI_OK;
}

static enum zmpi_status add_cut(struct zmpi_container *c, const struct zmpi_mark *mark)
{
    enum zmpi_status status = reserve_cut(c);
    if (status != ZMPI_OK)
        return status;
    c->cut[c->cuts++] = *mark;
    c->sealed = false;
    return ZMPI_OK;
}

uint64_t zmpi_container_cut(const struct zmpi_container *c, const struct zmpi_record *r)
{
    struct zmpi_mark mark = zmpi_mark_of(r);
    size_t begin = 0, end = c->cuts; /* the first that is later than the record */
    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;
        if (zmpi_mark_compare(&c->cut[middle], &mark) > 0)
            end = middle;
        else
            begin = middle + 1;
    }
    return begin < c->cuts && c->cut[begin].size < c->logical_size ? c->cut[begin].size
                                                                   : c->logical_size;
}

/* ---- adding ---- */

/* Records mostly come in their order; then the logical size is always known. */
static void follow_size(struct zmpi_container *c, const struct zmpi_record *r)
{
    struct zmpi_mark mark = zmpi_mark_of(r);
    bool is_last = c->count == 0 || zmpi_mark_compare(&mark, &c->last) > 0;
    if (r->kind == ZMPI_RECORD_SIZE && is_last) {
        c->logical_size = r->extent.lo;
        c->last_size = mark;
    } else if (r->kind == ZMPI_RECORD_SIZE || zmpi_mark_compare(&mark, &c->last_size) < 0) {
        c->size_unknown = true;
    } else if (r->extent.hi > c->logical_size) {
        c->logical_size = r->extent.hi;
    }
    if (is_last)
        c->last = mark;
}

enum zmpi_status zmpi_container_push(struct zmpi_container *c, const struct zmpi_record *r)
{
    enum zmpi_status status = ZMPI_OK;
    if (c->tail == NULL) {
        c->tail = malloc(TAIL_RECORDS * sizeof *c->tail);
        if (c->tail == NULL)
            return ZMPI_ERR_MEMORY;
    }
    if (c->tail_count == TAIL_RECORDS)
        status = zmpi_runs_flush(c);
    if (status == ZMPI_OK) {
        c->tail[c->tail_count] = *r;
        c->tail[c->tail_count].extent.list = NULL;
        c->tail[c->tail_count++].extent.list_count = 0;
    }
    return status;
}

enum zmpi_status zmpi_container_add(struct zmpi_container *c, const struct zmpi_record *r)
{
    struct zmpi_mark mark = zmpi_mark_of(r);
    const bool size = r->kind == ZMPI_RECORD_SIZE;
    enum zmpi_status status = size ? reserve_cut(c) : ZMPI_OK;
    if (status == ZMPI_OK)
        status = zmpi_container_push(c, r);
    if (status == ZMPI_OK && size)
        status = add_cut(c, &mark);
    if (status == ZMPI_OK) {
        follow_size(c, r);
        c->count++;
    }
    return status;
}

enum zmpi_status zmpi_container_add_entries(struct zmpi_container *c, const unsigned char *src,
                                            size_t size)
{
    const unsigned char *end = src + size;
    enum zmpi_status status = ZMPI_OK;
    struct zmpi_chain chain = {0};
    for (const unsigned char *at = src; at < end && status == ZMPI_OK;)
        status = zmpi_entry_decode(&chain, &at, end);
    memset(&chain, 0, sizeof chain);
    for (const unsigned char *at = src; at < end && status == ZMPI_OK;) {
        status = zmpi_entry_decode(&chain, &at, end);
        if (status == ZMPI_OK)
            status = zmpi_container_add(c, &chain.last);
    }
    return status;
}

enum zmpi_status zmpi_container_new_entries(const struct zmpi_container *c,
                                            struct zmpi_entries *out)
{
    struct zmpi_walk walk = {.segment = c->all.segment, .next = c->indexed, .end = c->all.count};
    const struct zmpi_record *r;
    enum zmpi_status status = ZMPI_OK;
    while (status == ZMPI_OK && (r = zmpi_walk_next(&walk)) != NULL)
        status = zmpi_entries_add(out, r);
    for (size_t i = 0; i < c->tail_count && status == ZMPI_OK; i++)
        status = zmpi_entries_add(out, &c->tail[i]);
    return status;
}

/* ---- the index ---- */

enum zmpi_status zmpi_container_add_index(struct zmpi_container *c,
                                          const struct zmpi_segment *segment, size_t n)
{
    c->all.segment = malloc((n + 1) * sizeof *segment);
    if (c->all.segment == NULL)
        return ZMPI_ERR_MEMORY;
    c->all.capacity = n + 1;
    c->all.count = c->indexed = n;
    c->tally = c->header.tally;
    c->tallied = c->header.tallied;
    for (size_t k = 0; k < n; k++) {
        c->all.segment[k] = segment[k];
        c->all.segment[k].entries = NULL;
        c->count += segment[k].count;
        c->last.order = segment[k].newest > c->last.order ? segment[k].newest : c->last.order;
    }
    if (n > 0) { /* records that follow are later than all of the index; if the index gives no size,
                    it must be found again */
        c->last.rank = UINT32_MAX;
        c->last.offset = UINT64_MAX;
        c->last_size = c->last;
        c->logical_size = c->header.logical_size;
    }
    c->sealed = false;
    return ZMPI_OK;
}

/* Every record of the index must lie in the log, whose end the header gives. Each segment's records
 * must be sorted by lo. */
static enum zmpi_status check_entries(const struct zmpi_container *c, const struct zmpi_segment *s,
                                      const unsigned char *src)
{
    struct zmpi_segment found = {.lo = UINT64_MAX};
    struct zmpi_chain chain = {0};
    const struct zmpi_record *r = &chain.last;
    const unsigned char *end = src + s->size;
    for (uint64_t lo = 0; src < end; lo = r->extent.lo) {
        enum zmpi_status status = zmpi_entry_decode(&chain, &src, end);
        if (status != ZMPI_OK)
            return status;
        if (r->extent.lo < lo || !zmpi_fits(r->offset, zmpi_record_size(r), c->header.log_end))
            return ZMPI_ERR_CORRUPT;
        found.lo = r->extent.lo < found.lo ? r->extent.lo : found.lo;
        found.hi = r->extent.hi > found.hi ? r->extent.hi : found.hi;
        found.newest = r->order > found.newest ? r->order : found.newest;
        found.sizes += r->kind == ZMPI_RECORD_SIZE;
        found.count++;
    }
    bool same = found.lo == s->lo && found.hi == s->hi && found.newest == s->newest &&
                found.sizes == s->sizes && found.count == s->count;
    return same ? ZMPI_OK : ZMPI_ERR_CORRUPT;
}

enum zmpi_status zmpi_container_take(struct zmpi_container *c, size_t k, const unsigned char *src,
                                     size_t size)
{
    struct zmpi_segment *s = &c->all.segment[k];
    if (size != s->size)
        return ZMPI_ERR_TRUNCATED;
    enum zmpi_status status = check_entries(c, s, src);
    if (status != ZMPI_OK)
        return status;
    unsigned char *entries = malloc(size);
    if (entries == NULL)
        return ZMPI_ERR_MEMORY;
    memcpy(entries, src, size);
    s->entries = entries;
    struct zmpi_walk walk = {.segment = s, .end = s->sizes > 0};
    const struct zmpi_record *r;
    while (status == ZMPI_OK && (r = zmpi_walk_next(&walk)) != NULL) {
        struct zmpi_mark mark = zmpi_mark_of(r);
        if (r->kind == ZMPI_RECORD_SIZE)
            status = add_cut(c, &mark);
    }
    return status;
}
