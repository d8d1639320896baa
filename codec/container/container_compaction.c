/*
 * container_compaction.c - finds records that no read can see any more, because newer records cover
 * all that size records have left of them.
 *
 * A record may be dropped only if the kept records give the same bytes and the same file size as
 * all records. This must also hold if some dropped records come back: a scan may find them again
 * (docs/format.md 2.7).
 */
#include <stdlib.h>
#include <string.h>

#include "container/container_private.h"

struct search {
    struct zmpi_container *c;
    const struct zmpi_reader *in;
    struct zmpi_record *record; /* newest last */
    bool *dead;
    struct zmpi_uncovered uncovered; /* logical bytes that no newer record has */
    uint64_t budget;                 /* steps that are left */
};

/* ---- records with the extent of a newer one ---- */

static int compare_words(const uint64_t *a, const uint64_t *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

static int compare_extents(const struct zmpi_extent *a, const struct zmpi_extent *b)
{
    const uint64_t x[4] = {a->lo, a->hi, a->levels, a->run};
    const uint64_t y[4] = {b->lo, b->hi, b->levels, b->run};
    int order = compare_words(x, y, 4);
    size_t levels = a->levels <= ZMPI_EXTENT_LEVELS ? a->levels : 0;
    if (order == 0)
        order = compare_words(a->count, b->count, levels);
    return order != 0 ? order : compare_words(a->stride, b->stride, levels);
}

static int compare(const void *a, const void *b)
{
    const struct zmpi_record *const *x = a, *const *y = b;
    int order = compare_extents(&(*x)->extent, &(*y)->extent);
    return order != 0 ? order : (*x > *y) - (*x < *y);
}

/* A program that writes the same arrays again writes the same pieces, however ragged these are.
 * Lists are not loaded here. */
static enum zmpi_status drop_repeated(struct search *s)
{
    size_t n = 0;
    const struct zmpi_record **data = malloc((s->c->count + 1) * sizeof *data);
    if (data == NULL)
        return ZMPI_ERR_MEMORY;
    for (size_t i = 0; i < s->c->count; i++)
        if (s->record[i].kind == ZMPI_RECORD_DATA && s->record[i].extent.levels != ZMPI_EXTENT_LIST)
            data[n++] = &s->record[i];
    qsort(data, n, sizeof *data, compare);
    for (size_t i = 0; i + 1 < n; i++)
        if (compare_extents(&data[i]->extent, &data[i + 1]->extent) == 0)
            s->dead[data[i] - s->record] = true;
    free(data);
    return ZMPI_OK;
}

/* ---- records that newer ones cover together ---- */

/* Takes [begin, end) out of the uncovered bytes. */
static enum zmpi_status take_run(struct search *s, uint64_t begin, uint64_t end, bool *any)
{
    struct zmpi_piece piece;
    while (begin < end && zmpi_uncovered_find(&s->uncovered, begin, &piece) && piece.offset < end) {
        uint64_t from = piece.offset > begin ? piece.offset : begin, to = piece.offset;
        to = piece.length < end - to ? to + piece.length : end;
        enum zmpi_status status = zmpi_uncovered_cut(&s->uncovered, from, to);
        if (status != ZMPI_OK)
            return status;
        *any = true;
        begin = to;
        s->budget -= s->budget > 0;
    }
    return ZMPI_OK;
}

/* Takes the runs of a record, up to `hi`, out of the uncovered bytes. *any: some of them were still
 * uncovered, or the budget is used up. */
static enum zmpi_status take(struct search *s, struct zmpi_record *r, uint64_t hi, bool *any)
{
    struct zmpi_piece piece;
    uint64_t at = r->extent.lo;
    enum zmpi_status status = ZMPI_OK;
    *any = false;
    if (r->extent.levels == ZMPI_EXTENT_LIST)
        status = zmpi_container_list(s->c, s->in, r);
    while (status == ZMPI_OK && zmpi_uncovered_find(&s->uncovered, at, &piece) &&
           piece.offset < hi) {
        uint64_t position;
        uint64_t k = zmpi_extent_seek(&r->extent, piece.offset > at ? piece.offset : at);
        if (k == zmpi_extent_runs(&r->extent))
            break;
        struct zmpi_run run = zmpi_extent_run(&r->extent, k, &position);
        if (run.offset >= hi)
            break;
        at = run.offset + run.length;
        status = take_run(s, run.offset, at < hi ? at : hi, any);
        s->budget -= s->budget > 0;
        if (s->budget == 0) {
            *any = true;
            break;
        }
    }
    return status;
}

/* Goes from the newest record to the oldest. */
static enum zmpi_status drop_covered(struct search *s)
{
    enum zmpi_status status = ZMPI_OK;
    for (size_t i = s->c->count; i-- > 0 && status == ZMPI_OK && s->budget > 0;) {
        struct zmpi_record *r = &s->record[i];
        bool any = true;
        if (s->dead[i] || r->kind != ZMPI_RECORD_DATA || r->extent.bytes == 0)
            continue;
        uint64_t cut = zmpi_container_cut(s->c, r);
        status = take(s, r, r->extent.hi < cut ? r->extent.hi : cut, &any);
        s->dead[i] = !any;
    }
    return status;
}

static int compare_places(const void *a, const void *b)
{
    const struct zmpi_run *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static enum zmpi_status keep(struct search *s, struct zmpi_compaction *out)
{
    enum zmpi_status status = ZMPI_OK;
    out->kept.header = s->c->header;
    out->gone = malloc((s->c->count + 1) * sizeof *out->gone);
    if (out->gone == NULL)
        return ZMPI_ERR_MEMORY;
    for (size_t i = 0; i < s->c->count && status == ZMPI_OK; i++) {
        const struct zmpi_record *r = &s->record[i];
        if (s->dead[i]) {
            out->dead += zmpi_record_stored(r);
            out->gone[out->dropped++] = (struct zmpi_run){r->offset, zmpi_record_size(r)};
        } else {
            out->live += zmpi_record_stored(r);
            status = zmpi_container_add(&out->kept, r);
        }
    }
    if (out->dropped > 0)
        qsort(out->gone, out->dropped, sizeof *out->gone, compare_places);
    if (status == ZMPI_OK)
        status = zmpi_container_seal(&out->kept, s->in);
    if (status == ZMPI_OK && out->kept.logical_size != s->c->logical_size)
        status = ZMPI_ERR_CORRUPT;
    return status;
}

void zmpi_compaction_free(struct zmpi_compaction *s)
{
    zmpi_container_free(&s->kept);
    free(s->gone);
    s->gone = NULL;
}

enum zmpi_status zmpi_container_plan_compaction(struct zmpi_container *c,
                                                const struct zmpi_reader *in, uint64_t budget,
                                                struct zmpi_compaction *out)
{
    struct search s = {.c = c, .in = in, .budget = budget};
    memset(out, 0, sizeof *out);
    zmpi_container_init(&out->kept);
    enum zmpi_status status = zmpi_container_seal(c, in);
    if (status == ZMPI_OK)
        status = zmpi_container_records(c, in, &s.record);
    if (status != ZMPI_OK)
        return status;
    s.dead = calloc(c->count + 1, sizeof *s.dead);
    const struct zmpi_run whole = {0, c->logical_size};
    status = s.dead == NULL ? ZMPI_ERR_MEMORY : zmpi_uncovered_init(&s.uncovered, &whole, 1);
    if (status == ZMPI_OK)
        status = drop_repeated(&s);
    if (status == ZMPI_OK)
        status = drop_covered(&s);
    if (status == ZMPI_OK)
        status = keep(&s, out);
    if (status != ZMPI_OK)
        zmpi_compaction_free(out);
    zmpi_uncovered_free(&s.uncovered);
    free(s.dead);
    free(s.record);
    return status;
}

/* ---- space between records ---- */

enum zmpi_status zmpi_container_gaps(struct zmpi_container *c, const struct zmpi_reader *in,
                                     uint64_t end, struct zmpi_run **gap, size_t *n)
{
    struct zmpi_record *record;
    enum zmpi_status status = zmpi_container_records(c, in, &record);
    if (status != ZMPI_OK)
        return status;
    *n = 0;
    *gap = malloc((c->count + 1) * sizeof **gap);
    if (*gap == NULL) {
        free(record);
        return ZMPI_ERR_MEMORY;
    }
    if (c->count > 0)
        qsort(record, c->count, sizeof *record, zmpi_record_by_place);
    uint64_t at = ZMPI_HEADER_BYTES;
    for (size_t i = 0; i <= c->count; i++) {
        uint64_t next = i < c->count ? record[i].offset : end;
        if (next > at)
            (*gap)[(*n)++] = (struct zmpi_run){at, next - at};
        uint64_t behind = next;
        if (i < c->count)
            behind +=
                zmpi_record_size(&record[i]) + zmpi_record_copied(&record[i], c->header.id, in);
        at = behind > at ? behind : at;
    }
    free(record);
    return ZMPI_OK;
}
