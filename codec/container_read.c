/*
 * container_read.c - the logical bytes of a container (docs/format.md 2.4).
 *
 * Records are tried from the newest to the oldest. Each serves those of its bytes that nothing
 * newer has served, so only visible bytes are read and decoded; what remains in the end are holes.
 */
#include <stdlib.h>
#include <string.h>

#include "container_private.h"

struct copies {
    struct zmpi_copy *copy;
    size_t count, capacity;
};

/* Append, or lengthen the last one if both sides continue it. */
static enum zmpi_status add_copy(struct copies *list, uint64_t from, uint64_t to, uint64_t length)
{
    if (list->count > 0) {
        struct zmpi_copy *last = &list->copy[list->count - 1];
        if (last->from + last->length == from && last->to + last->length == to) {
            last->length += length;
            return ZMPI_OK;
        }
    }
    if (list->count == list->capacity) {
        size_t capacity = list->capacity * 2 + 64;
        struct zmpi_copy *grown = realloc(list->copy, capacity * sizeof *grown);
        if (grown == NULL)
            return ZMPI_ERR_MEMORY;
        list->copy = grown;
        list->capacity = capacity;
    }
    list->copy[list->count++] = (struct zmpi_copy){from, to, length};
    return ZMPI_OK;
}

static uint64_t least(uint64_t a, uint64_t b, uint64_t c)
{
    b = c < b ? c : b;
    return b < a ? b : a;
}

/*
 * What the extent, up to logical byte `cut`, has of what remains: taken out of `remains` and added
 * to `copies`. Gaps on either side are jumped over by a search in the other.
 */
static enum zmpi_status intersect(const struct zmpi_extent *e, uint64_t cut,
                                  struct zmpi_remains *remains, struct copies *copies)
{
    struct zmpi_piece piece;
    uint64_t at = e->lo;                        /* all before is done */
    uint64_t i = 0, runs = zmpi_extent_runs(e); /* the first run that ends behind `at` */
    while (zmpi_remains_find(remains, at, &piece) && piece.offset < cut) {
        uint64_t begin = piece.offset > at ? piece.offset : at, position;
        if (begin > at)
            i = zmpi_extent_seek(e, begin);
        if (i >= runs)
            break;
        struct zmpi_run run = zmpi_extent_run(e, i, &position);
        begin = run.offset > begin ? run.offset : begin;
        if (begin >= cut)
            break;
        at = begin;
        if (begin >= piece.offset + piece.length)
            continue;
        uint64_t end = least(cut, run.offset + run.length, piece.offset + piece.length);
        enum zmpi_status status = add_copy(copies, position + (begin - run.offset),
                                           piece.position + (begin - piece.offset), end - begin);
        if (status == ZMPI_OK)
            status = zmpi_remains_cut(remains, begin, end);
        if (status != ZMPI_OK)
            return status;
        at = end;
        i += end == run.offset + run.length;
    }
    return ZMPI_OK;
}

static int newest_first(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x < y) - (x > y);
}

/* Records that may serve the request, newest first. */
static enum zmpi_status candidates(const struct zmpi_container *c,
                                   const struct zmpi_remains *remains, struct zmpi_numbers *found)
{
    uint64_t begin, end;
    zmpi_remains_range(remains, &begin, &end);
    enum zmpi_status status = zmpi_container_find(c, begin, end, found);
    if (status == ZMPI_OK && found->count > 0)
        qsort(found->number, found->count, sizeof *found->number, newest_first);
    return status;
}

static enum zmpi_status serve(struct zmpi_container *c, const struct zmpi_reader *in, size_t number,
                              struct zmpi_remains *remains, struct copies *copies,
                              unsigned char *dst)
{
    struct zmpi_record *r = &c->record[number];
    struct zmpi_piece piece;
    if (!zmpi_remains_find(remains, r->extent.lo, &piece) || piece.offset >= r->extent.hi)
        return ZMPI_OK;
    enum zmpi_status status = ZMPI_OK;
    if (r->extent.levels == ZMPI_EXTENT_LIST && r->extent.list == NULL)
        status = zmpi_record_load_list(r, c->header.id, in);
    copies->count = 0;
    if (status == ZMPI_OK)
        status = intersect(&r->extent, c->cut[number], remains, copies);
    if (status == ZMPI_OK && copies->count > 0)
        status = zmpi_record_read(r, c->header.id, in, copies->copy, copies->count, dst);
    return status;
}

static void zero_remains(const struct zmpi_remains *remains, unsigned char *dst)
{
    struct zmpi_piece piece;
    for (uint64_t at = 0; zmpi_remains_find(remains, at, &piece); at = piece.offset + piece.length)
        memset(dst + piece.position, 0, piece.length);
}

enum zmpi_status zmpi_container_read(struct zmpi_container *c, const struct zmpi_reader *in,
                                     const struct zmpi_run *runs, size_t n, void *dst,
                                     uint64_t *bad)
{
    struct zmpi_remains remains;
    struct zmpi_numbers found = {0};
    struct copies copies = {0};
    enum zmpi_status status = zmpi_container_seal(c);
    if (status == ZMPI_OK)
        status = zmpi_remains_init(&remains, runs, n);
    if (status != ZMPI_OK)
        return status;
    if (remains.count > 0)
        status = candidates(c, &remains, &found);
    for (size_t k = 0; status == ZMPI_OK && k < found.count && remains.count > 0; k++) {
        status = serve(c, in, found.number[k], &remains, &copies, dst);
        if (status != ZMPI_OK && bad != NULL)
            *bad = c->record[found.number[k]].offset;
    }
    if (status == ZMPI_OK)
        zero_remains(&remains, dst);
    zmpi_remains_free(&remains);
    free(found.number);
    free(copies.copy);
    return status;
}
