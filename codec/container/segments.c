/*
 * segments.c - records that are kept coded in memory. They are sorted so far that a look-up decodes
 * few of them.
 *
 * New records gather in a tail. A full tail is sorted by lo, coded, and becomes a run of segments.
 * Runs of equal size are merged once there are enough of them. So there are never many runs, and
 * each record is coded only a few times.
 */
#include <stdlib.h>
#include <string.h>

#include "container/container_private.h"

#define MERGED 8 /* runs that are merged at a time */

void zmpi_segments_free(struct zmpi_segments *s)
{
    for (size_t i = 0; i < s->count; i++)
        free(s->segment[i].entries);
    free(s->segment);
    memset(s, 0, sizeof *s);
}

static enum zmpi_status reserve(struct zmpi_segments *s, size_t n)
{
    if (n <= s->capacity - s->count)
        return ZMPI_OK;
    size_t capacity = s->count + n + s->count / 2;
    struct zmpi_segment *grown = realloc(s->segment, capacity * sizeof *grown);
    if (grown == NULL)
        return ZMPI_ERR_MEMORY;
    s->segment = grown;
    s->capacity = capacity;
    return ZMPI_OK;
}

/* ---- building ---- */

enum zmpi_status zmpi_builder_finish(struct zmpi_builder *b)
{
    struct zmpi_entries *e = &b->open;
    if (e->count == 0)
        return ZMPI_OK;
    enum zmpi_status status = reserve(&b->out, 1);
    if (status != ZMPI_OK)
        return status;
    unsigned char *entries = realloc(e->data, e->size);
    b->out.segment[b->out.count++] = (struct zmpi_segment){
        .lo = e->lo,
        .hi = e->hi,
        .newest = e->newest,
        .size = (uint32_t)e->size,
        .count = e->count,
        .sizes = e->sizes,
        .entries = entries != NULL ? entries : e->data,
    };
    memset(e, 0, sizeof *e);
    return ZMPI_OK;
}

enum zmpi_status zmpi_builder_add(struct zmpi_builder *b, const struct zmpi_record *r)
{
    bool other_kind = b->open.count > 0 && (b->open.sizes > 0) != (r->kind == ZMPI_RECORD_SIZE);
    if (b->open.count == ZMPI_SEGMENT_RECORDS || other_kind) {
        enum zmpi_status status = zmpi_builder_finish(b);
        if (status != ZMPI_OK)
            return status;
    }
    return zmpi_entries_add(&b->open, r);
}

void zmpi_builder_free(struct zmpi_builder *b)
{
    zmpi_segments_free(&b->out);
    zmpi_entries_free(&b->open);
}

const struct zmpi_record *zmpi_walk_next(struct zmpi_walk *w)
{
    while (w->at == w->stop) {
        if (w->next == w->end)
            return NULL;
        const struct zmpi_segment *s = &w->segment[w->next++];
        memset(&w->chain, 0, sizeof w->chain);
        w->at = s->entries;
        w->stop = s->entries + s->size;
    }
    return zmpi_entry_decode(&w->chain, &w->at, w->stop) == ZMPI_OK ? &w->chain.last : NULL;
}

/* ---- runs ---- */

/* Size records come first, then all by lo. */
static int compare(const void *a, const void *b)
{
    const struct zmpi_record *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind == ZMPI_RECORD_SIZE ? -1 : 1;
    if (x->extent.lo != y->extent.lo)
        return x->extent.lo < y->extent.lo ? -1 : 1;
    return zmpi_record_compare(x, y);
}

/* Replaces the segments of c from number `first` on (counted behind the index) by those of b. */
static enum zmpi_status replace(struct zmpi_container *c, size_t first, struct zmpi_builder *b)
{
    struct zmpi_segments *all = &c->all;
    enum zmpi_status status = zmpi_builder_finish(b);
    if (status == ZMPI_OK)
        status = reserve(all, b->out.count);
    if (status == ZMPI_OK) {
        while (all->count > c->indexed + first)
            free(all->segment[--all->count].entries);
        memcpy(all->segment + all->count, b->out.segment, b->out.count * sizeof *all->segment);
        all->count += b->out.count;
        b->out.count = 0;
        c->sealed = false;
    }
    zmpi_builder_free(b);
    return status;
}

struct cursor {
    struct zmpi_walk walk;
    const struct zmpi_record *record; /* the run's next record */
};

static struct zmpi_walk run_walk(const struct zmpi_container *c, size_t k)
{
    size_t end = k + 1 < c->runs ? c->indexed + c->run[k + 1].first : c->all.count;
    return (struct zmpi_walk){
        .segment = c->all.segment, .next = c->indexed + c->run[k].first, .end = end};
}

static enum zmpi_status merge_into(struct zmpi_builder *b, struct cursor *cursor, size_t n)
{
    enum zmpi_status status = ZMPI_OK;
    while (status == ZMPI_OK) {
        struct cursor *least = NULL;
        for (size_t i = 0; i < n; i++)
            if (cursor[i].record != NULL &&
                (least == NULL || compare(cursor[i].record, least->record) < 0))
                least = &cursor[i];
        if (least == NULL)
            break;
        status = zmpi_builder_add(b, least->record);
        least->record = zmpi_walk_next(&least->walk);
    }
    return status;
}

/* Merges the runs from number `from` on into one. */
static enum zmpi_status merge(struct zmpi_container *c, size_t from)
{
    struct zmpi_builder b = {0};
    size_t n = c->runs - from;
    struct cursor *cursor = malloc(n * sizeof *cursor);
    if (cursor == NULL)
        return ZMPI_ERR_MEMORY;
    for (size_t i = 0; i < n; i++) {
        cursor[i].walk = run_walk(c, from + i);
        cursor[i].record = zmpi_walk_next(&cursor[i].walk);
    }
    enum zmpi_status status = merge_into(&b, cursor, n);
    free(cursor);
    if (status != ZMPI_OK) {
        zmpi_builder_free(&b);
        return status;
    }
    status = replace(c, c->run[from].first, &b);
    if (status == ZMPI_OK) {
        c->run[from].level++;
        c->runs = from + 1;
    }
    return status;
}

static bool merge_is_due(const struct zmpi_container *c)
{
    if (c->runs < MERGED)
        return false;
    for (size_t i = 1; i < MERGED; i++)
        if (c->run[c->runs - 1 - i].level != c->run[c->runs - 1].level)
            return false;
    return true;
}

enum zmpi_status zmpi_runs_flush(struct zmpi_container *c)
{
    struct zmpi_builder b = {0};
    enum zmpi_status status = ZMPI_OK;
    size_t first = c->all.count - c->indexed;
    if (c->tail_count == 0)
        return ZMPI_OK;
    qsort(c->tail, c->tail_count, sizeof *c->tail, compare);
    for (size_t i = 0; i < c->tail_count && status == ZMPI_OK; i++)
        status = zmpi_builder_add(&b, &c->tail[i]);
    if (status != ZMPI_OK)
        zmpi_builder_free(&b);
    else
        status = replace(c, first, &b);
    if (status != ZMPI_OK)
        return status;
    c->tail_count = 0;
    c->run[c->runs].first = first;
    c->run[c->runs++].level = 0;
    while (status == ZMPI_OK && merge_is_due(c))
        status = merge(c, c->runs - MERGED);
    return status;
}

enum zmpi_status zmpi_runs_merge_all(struct zmpi_container *c)
{
    enum zmpi_status status = zmpi_runs_flush(c);
    return status == ZMPI_OK && c->runs > 1 ? merge(c, 0) : status;
}
