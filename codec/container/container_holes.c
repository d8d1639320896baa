/* container_holes.c - the logical bytes that no record has. */
#include <stdlib.h>

#include "container/container_private.h"

/* Takes a record's run out of the uncovered bytes. */
static enum zmpi_status cut_run(struct zmpi_uncovered *s, uint64_t begin, uint64_t end)
{
    struct zmpi_piece piece;
    enum zmpi_status status = ZMPI_OK;
    while (status == ZMPI_OK && zmpi_uncovered_find(s, begin, &piece) && piece.offset < end) {
        const uint64_t piece_end = piece.offset + piece.length;
        const uint64_t from = piece.offset > begin ? piece.offset : begin;
        begin = piece_end < end ? piece_end : end;
        status = zmpi_uncovered_cut(s, from, begin);
    }
    return status;
}

static enum zmpi_status cut_record(struct zmpi_container *c, const struct zmpi_reader *in,
                                   struct zmpi_found *f, struct zmpi_uncovered *s)
{
    enum zmpi_status status = zmpi_container_list(c, in, &f->record);
    const struct zmpi_extent *e = &f->record.extent;
    const uint64_t runs = status == ZMPI_OK ? zmpi_extent_runs(e) : 0;
    for (uint64_t i = 0; i < runs && status == ZMPI_OK; i++) {
        uint64_t position;
        const struct zmpi_run run = zmpi_extent_run(e, i, &position);
        const uint64_t end = run.offset + run.length < f->cut ? run.offset + run.length : f->cut;
        if (run.offset < end)
            status = cut_run(s, run.offset, end);
    }
    return status;
}

static enum zmpi_status list(const struct zmpi_uncovered *s, struct zmpi_run **hole, size_t *count)
{
    struct zmpi_piece piece;
    size_t capacity = 0;
    for (uint64_t at = 0; zmpi_uncovered_find(s, at, &piece); at = piece.offset + piece.length) {
        if (*count == capacity) {
            capacity = capacity * 2 + 16;
            struct zmpi_run *grown = realloc(*hole, capacity * sizeof *grown);
            if (grown == NULL)
                return ZMPI_ERR_MEMORY;
            *hole = grown;
        }
        (*hole)[(*count)++] = (struct zmpi_run){piece.offset, piece.length};
    }
    return ZMPI_OK;
}

enum zmpi_status zmpi_container_holes(struct zmpi_container *c, const struct zmpi_reader *in,
                                      uint64_t end, uint64_t after, struct zmpi_run **hole,
                                      size_t *count)
{
    const struct zmpi_run all = {0, end};
    struct zmpi_uncovered s;
    struct zmpi_finds finds = {.limit = SIZE_MAX};
    uint64_t bad;
    *hole = NULL;
    *count = 0;
    enum zmpi_status status = zmpi_container_seal(c, in);
    if (status != ZMPI_OK)
        return status;
    status = zmpi_uncovered_init(&s, &all, 1);
    if (status == ZMPI_OK && s.count > 0)
        status = zmpi_container_find(c, in, &s, &finds, &bad);
    for (size_t k = 0; k < finds.count && status == ZMPI_OK; k++)
        if (finds.found[k].record.order > after)
            status = cut_record(c, in, &finds.found[k], &s);
    if (status == ZMPI_OK)
        status = list(&s, hole, count);
    free(finds.found);
    zmpi_uncovered_free(&s);
    return status;
}
