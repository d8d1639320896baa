/*
 * extents.c - which logical bytes are covered: finding the structure of runs, and its arithmetic.
 */
#include <stdlib.h>
#include <string.h>

#include "format/extents.h"

#define OFFSET_MAX ((uint64_t)INT64_MAX)

void zmpi_extent_free(struct zmpi_extent *e)
{
    free(e->list);
    e->list = NULL;
    e->list_position = NULL;
    e->list_count = 0;
}

/* ---- arithmetic ---- */

uint64_t zmpi_extent_runs(const struct zmpi_extent *e)
{
    if (e->levels == ZMPI_EXTENT_LIST)
        return e->list_count;
    if (e->bytes == 0)
        return 0;
    uint64_t runs = 1;
    for (unsigned k = 0; k < e->levels; k++)
        runs *= e->count[k];
    return runs;
}

struct zmpi_run zmpi_extent_run(const struct zmpi_extent *e, uint64_t i, uint64_t *position)
{
    if (e->levels == ZMPI_EXTENT_LIST) {
        if (position != NULL)
            *position = e->list_position[i];
        return e->list[i];
    }
    if (position != NULL)
        *position = i * e->run;
    uint64_t offset = e->lo;
    for (unsigned k = 0; k < e->levels; k++) {
        offset += i % e->count[k] * e->stride[k];
        i /= e->count[k];
    }
    return (struct zmpi_run){offset, e->run};
}

static uint64_t list_seek(const struct zmpi_extent *e, uint64_t offset)
{
    size_t begin = 0, end = e->list_count;
    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;
        if (e->list[middle].offset + e->list[middle].length > offset)
            end = middle;
        else
            begin = middle + 1;
    }
    return begin;
}

/*
 * From the outermost level inwards: the offset falls into one of the level's repetitions, or behind
 * the bytes of that repetition and so before the next one.
 */
static uint64_t nest_seek(const struct zmpi_extent *e, uint64_t offset)
{
    uint64_t runs = 1;             /* of one repetition of this level */
    uint64_t span = e->hi - e->lo; /* of the same; at most the stride of the level above */
    uint64_t rest = offset - e->lo;
    uint64_t first = 0;
    for (unsigned k = 0; k < e->levels; k++)
        runs *= e->count[k];
    if (rest >= span)
        return runs;
    for (unsigned k = e->levels; k-- > 0;) {
        uint64_t i = rest / e->stride[k];
        runs /= e->count[k];
        span -= (e->count[k] - 1) * e->stride[k];
        rest -= i * e->stride[k];
        first += i * runs;
        if (rest >= span)
            return first + runs;
    }
    return first;
}

uint64_t zmpi_extent_seek(const struct zmpi_extent *e, uint64_t offset)
{
    if (e->levels == ZMPI_EXTENT_LIST)
        return list_seek(e, offset);
    if (e->bytes == 0 || offset < e->lo)
        return 0;
    return nest_seek(e, offset);
}

/* ---- structure of given runs ---- */

static enum zmpi_status check_runs(const struct zmpi_run *runs, size_t n, size_t *merged,
                                   uint64_t *bytes)
{
    uint64_t end = 0;
    if (n == 0)
        return ZMPI_ERR_ARG;
    *merged = 0;
    *bytes = 0;
    for (size_t i = 0; i < n; i++) {
        if (runs[i].length == 0 || (i > 0 && runs[i].offset < end))
            return ZMPI_ERR_ARG;
        if (runs[i].offset > OFFSET_MAX || runs[i].length > OFFSET_MAX - runs[i].offset)
            return ZMPI_ERR_SIZE;
        *merged += i == 0 || runs[i].offset != end;
        *bytes += runs[i].length;
        end = runs[i].offset + runs[i].length;
    }
    return ZMPI_OK;
}

static void merge_runs(struct zmpi_run *dst, const struct zmpi_run *runs, size_t n)
{
    size_t last = 0;
    dst[0] = runs[0];
    for (size_t i = 1; i < n; i++) {
        if (runs[i].offset == dst[last].offset + dst[last].length)
            dst[last].length += runs[i].length;
        else
            dst[++last] = runs[i];
    }
}

/*
 * A level is the longest prefix of equal distances; what follows must repeat it. The longest prefix
 * is right: if a level's stride continues the one below, the two are one level.
 */
static bool find_nest(struct zmpi_extent *e, const struct zmpi_run *runs, size_t n)
{
    e->levels = 0;
    e->run = runs[0].length;
    for (size_t step = 1; step < n;) {
        if (e->levels == ZMPI_EXTENT_LEVELS)
            return false;
        size_t repetitions = n / step, count = 2;
        uint64_t stride = runs[step].offset - runs[0].offset;
        while (count < repetitions &&
               runs[count * step].offset - runs[(count - 1) * step].offset == stride)
            count++;
        if (repetitions % count != 0)
            return false;
        e->count[e->levels] = count;
        e->stride[e->levels++] = stride;
        step *= count;
    }
    for (size_t i = 0; i < n; i++) {
        struct zmpi_run run = zmpi_extent_run(e, i, NULL);
        if (run.offset != runs[i].offset || run.length != runs[i].length)
            return false;
    }
    return true;
}

/* Takes `list`, which has room for n positions behind its n runs. */
static void set_list(struct zmpi_extent *e, struct zmpi_run *list, size_t n)
{
    uint64_t position = 0;
    e->levels = ZMPI_EXTENT_LIST;
    e->run = 0;
    memset(e->count, 0, sizeof e->count);
    memset(e->stride, 0, sizeof e->stride);
    e->list = list;
    e->list_count = n;
    e->list_position = (uint64_t *)(void *)(list + n);
    for (size_t i = 0; i < n; i++) {
        e->list_position[i] = position;
        position += list[i].length;
    }
}

enum zmpi_status zmpi_extent_from_runs(struct zmpi_extent *e, const struct zmpi_run *runs, size_t n)
{
    struct zmpi_extent found = {0};
    size_t merged;
    enum zmpi_status status = check_runs(runs, n, &merged, &found.bytes);
    if (status != ZMPI_OK)
        return status;
    found.lo = runs[0].offset;
    found.hi = runs[n - 1].offset + runs[n - 1].length;
    if (merged == 1) {
        found.run = found.bytes;
    } else if (merged != n || !find_nest(&found, runs, n)) {
        /* Merged runs, or only the runs as given, may be regular: try both. */
        if (merged > SIZE_MAX / (sizeof *runs + sizeof(uint64_t)))
            return ZMPI_ERR_SIZE;
        struct zmpi_run *list = malloc(merged * (sizeof *list + sizeof(uint64_t)));
        if (list == NULL)
            return ZMPI_ERR_MEMORY;
        merge_runs(list, runs, n);
        if (merged != n && (find_nest(&found, list, merged) || find_nest(&found, runs, n)))
            free(list);
        else
            set_list(&found, list, merged);
    }
    *e = found;
    return ZMPI_OK;
}
