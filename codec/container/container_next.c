/*
 * container_next.c - the next logical byte that a record covers; the bytes before it are a hole.
 *
 * A file may claim 2^60 bytes and hold eight. A copy jumps from one covered byte to the next. It
 * looks at ranges that double in length, so that it takes O(log size) look-ups.
 */
#include <stdlib.h>

#include "container/container_private.h"

#define WINDOW_FIRST ((uint64_t)16 << 20)
#define WINDOW_LEAST ((uint64_t)64 << 10)
#define RECORDS_MOST 65536

/* The first byte of a record's extent in [at, end); UINT64_MAX: none. */
static uint64_t first_of(const struct zmpi_extent *e, uint64_t at, uint64_t end)
{
    uint64_t i = zmpi_extent_seek(e, at), position;
    if (i >= zmpi_extent_runs(e))
        return UINT64_MAX;
    const struct zmpi_run run = zmpi_extent_run(e, i, &position);
    const uint64_t first = run.offset > at ? run.offset : at;
    return first < end ? first : UINT64_MAX;
}

/* The first such byte over all records that were found. If a record's list cannot be read, its
 * whole range counts, so that a read fails there; a reader that continues after damage skips it. */
static enum zmpi_status first_of_all(struct zmpi_container *c, const struct zmpi_reader *in,
                                     struct zmpi_finds *finds, uint64_t at, uint64_t end,
                                     uint64_t *first)
{
    *first = UINT64_MAX;
    for (size_t k = 0; k<finds->count && * first> at; k++) {
        struct zmpi_record *r = &finds->found[k].record;
        const uint64_t limit = finds->found[k].cut < end ? finds->found[k].cut : end;
        uint64_t begin = r->extent.lo > at ? r->extent.lo : at;
        enum zmpi_status status = zmpi_container_list(c, in, r);
        if (status == ZMPI_ERR_MEMORY)
            return status;
        if (status == ZMPI_OK)
            begin = first_of(&r->extent, at, limit);
        else if (in->losses != NULL)
            continue;
        if (begin < limit && begin < *first)
            *first = begin;
    }
    return ZMPI_OK;
}

/* Where no record has a byte of [at, end), an unreadable record may have had some. */
static enum zmpi_status add_unreadable(struct zmpi_container *c, const struct zmpi_reader *in,
                                       struct zmpi_finds *finds, uint64_t at, uint64_t end)
{
    enum zmpi_status status = ZMPI_OK;
    for (size_t k = 0; k < finds->count && status == ZMPI_OK && in->losses != NULL; k++) {
        struct zmpi_record *r = &finds->found[k].record;
        const uint64_t begin = r->extent.lo > at ? r->extent.lo : at;
        uint64_t stop = r->extent.hi < end ? r->extent.hi : end;
        stop = finds->found[k].cut < stop ? finds->found[k].cut : stop;
        if (begin >= stop)
            continue;
        const enum zmpi_status why = zmpi_container_list(c, in, r);
        if (why != ZMPI_OK)
            status = zmpi_losses_add(in->losses, &(struct zmpi_loss){begin, stop - begin, r->offset,
                                                                     why, ZMPI_LOSS_DOUBTFUL});
    }
    return status;
}

static enum zmpi_status look(struct zmpi_container *c, const struct zmpi_reader *in, uint64_t at,
                             uint64_t length, uint64_t *first)
{
    struct zmpi_uncovered uncovered;
    struct zmpi_finds finds = {.limit = length > WINDOW_LEAST ? RECORDS_MOST : SIZE_MAX};
    const struct zmpi_run run = {at, length};
    enum zmpi_status status = zmpi_uncovered_init(&uncovered, &run, 1);
    if (status != ZMPI_OK)
        return status;
    status = zmpi_container_find(c, in, &uncovered, &finds, NULL);
    if (status == ZMPI_OK)
        status = first_of_all(c, in, &finds, at, at + length, first);
    if (status == ZMPI_OK)
        status = add_unreadable(c, in, &finds, at, *first < at + length ? *first : at + length);
    zmpi_uncovered_free(&uncovered);
    free(finds.found);
    return status;
}

enum zmpi_status zmpi_container_next(struct zmpi_container *c, const struct zmpi_reader *in,
                                     uint64_t at, uint64_t end, uint64_t *next)
{
    enum zmpi_status status = zmpi_container_seal(c, in);
    uint64_t length = WINDOW_FIRST;
    *next = end;
    end = end < c->logical_size ? end : c->logical_size;
    while (status == ZMPI_OK && at < end) {
        uint64_t first;
        length = length < end - at ? length : end - at;
        status = look(c, in, at, length, &first);
        if (status == ZMPI_ERR_SPACE) { /* too many records to look at together */
            length /= 2;
            status = ZMPI_OK;
            continue;
        }
        if (status == ZMPI_OK && first != UINT64_MAX) {
            *next = first;
            break;
        }
        at += length;
        length *= 2;
    }
    return status;
}
