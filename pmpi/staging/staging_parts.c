/*
 * staging_parts.c - takes the pieces of a batch apart into parts that lie regularly in the file:
 * rows, planes of rows, and such blocks at equal distances, as the cells of a rank lie in each step
 * that a solver writes.
 */
#include "staging/staging_parts.h"

#include <stdlib.h>
#include <string.h>

/* Blocks of so many kinds may take turns. */
enum { TURNS_MOST = 16 };

/* Patches that follow one another in the file and are regular by themselves. */
struct block {
    const struct zpatch *patch;
    size_t count;
};

/* Do n patches from p on lie as those from `first` on do? */
static bool lie_alike(const struct zpatch *first, const struct zpatch *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i].length != first[i].length ||
            p[i].offset - p[0].offset != first[i].offset - first[0].offset)
            return false;
    return true;
}

/* Does patch i lie behind the one before it as the rows from p on do? */
static bool goes_on(const struct zpatch *p, size_t i)
{
    return p[i].length == p[0].length && p[i].offset - p[i - 1].offset == p[1].offset - p[0].offset;
}

/* Returns how many patches from p on are rows, or planes of as many rows. A batch may begin inside
 * a plane: its rows are not as many as those of the next plane, which go on. */
static size_t regular(const struct zpatch *p, size_t count)
{
    size_t rows = 1, planes = 1;
    while (rows < count && goes_on(p, rows))
        rows++;
    if (rows == count || (rows > 1 && 2 * rows < count && goes_on(p, 2 * rows)))
        return rows;
    const uint64_t step = p[rows].offset - p[0].offset;
    while ((planes + 1) * rows <= count && lie_alike(p, p + planes * rows, rows) &&
           p[planes * rows].offset - p[(planes - 1) * rows].offset == step)
        planes++;
    return planes * rows;
}

/* Returns the bytes of a row, if all patches are whole rows of the calls; else 0. */
static uint64_t row_of(const struct zbatch *b)
{
    const uint64_t row = b->row * zmpi_type_size(b->element);
    for (size_t i = 0; i < b->count && row; i++)
        if (b->patch[i].length % row)
            return 0;
    return row;
}

/* Lists the patches row by row: where rows happen to touch, they are one patch. NULL: no memory. */
static struct zpatch *rows_of(const struct zbatch *b, size_t *count)
{
    const uint64_t row = row_of(b);
    struct zpatch *p = malloc((row ? b->used / row : b->count) * sizeof *p);
    *count = 0;
    for (size_t i = 0; p && i < b->count; i++) {
        const struct zpatch *from = &b->patch[i];
        const uint64_t each = row ? row : from->length;
        for (uint64_t at = 0; at < from->length; at += each)
            p[(*count)++] = (struct zpatch){from->offset + at, each, from->at + at};
    }
    return p;
}

static size_t blocks_of(const struct zpatch *p, size_t count, struct block *block)
{
    size_t blocks = 0;
    for (size_t at = 0, n; at < count; at += n) {
        n = regular(p + at, count - at);
        block[blocks++] = (struct block){p + at, n};
    }
    return blocks;
}

/* Returns how many times blocks of `kinds` kinds come, always in this order and at one distance. */
static size_t times_of(const struct block *block, size_t blocks, size_t kinds)
{
    size_t times = 1;
    while ((times + 1) * kinds <= blocks) {
        const struct block *next = block + times * kinds;
        const uint64_t step = block[kinds].patch->offset - block->patch->offset;
        for (size_t i = 0; i < kinds; i++)
            if (next[i].count != block[i].count ||
                next[i].patch->offset - (next - kinds)[i].patch->offset != step ||
                !lie_alike(block[i].patch, next[i].patch, block[i].count))
                return times;
        times++;
    }
    return times;
}

/* Finds the number of kinds with which most blocks take turns. */
static size_t kinds_of(const struct block *block, size_t blocks, size_t *times)
{
    size_t kinds = 1, most = 1;
    *times = 1;
    for (size_t k = 1; k <= TURNS_MOST && 2 * k <= blocks; k++) {
        const size_t found = times_of(block, blocks, k);
        if (found > 1 && found * k > most) {
            most = found * k;
            kinds = k;
            *times = found;
        }
    }
    return kinds;
}

/* Adds a part of every `kinds`-th block. */
static bool add_part(struct zparts *parts, size_t *used, const struct block *block, size_t kinds,
                     size_t times)
{
    if (parts->count == ZPARTS_MOST)
        return false;
    struct zpart *part = &parts->part[parts->count++];
    part->first = *used;
    for (size_t i = 0; i < times; i++) {
        memcpy(parts->patch + *used, block[i * kinds].patch,
               block[i * kinds].count * sizeof *parts->patch);
        *used += block[i * kinds].count;
    }
    part->count = *used - part->first;
    return true;
}

static bool find(const struct zpatch *p, size_t count, struct block *block, struct zparts *parts)
{
    const size_t blocks = blocks_of(p, count, block);
    size_t used = 0, times;
    for (size_t at = 0, kinds; at < blocks; at += kinds * times) {
        kinds = kinds_of(block + at, blocks - at, &times);
        for (size_t k = 0; k < kinds; k++)
            if (!add_part(parts, &used, block + at + k, kinds, times))
                return false;
    }
    return true;
}

/* Finds where the parts lie. */
static bool place(struct zparts *parts, struct zmpi_run *runs)
{
    for (size_t k = 0; k < parts->count; k++) {
        struct zpart *part = &parts->part[k];
        for (size_t i = 0; i < part->count; i++)
            runs[i] = (struct zmpi_run){parts->patch[part->first + i].offset,
                                        parts->patch[part->first + i].length};
        if (zmpi_extent_from_runs(&part->extent, runs, part->count))
            return false;
        if (part->extent.levels >= ZMPI_EXTENT_LEVELS) {
            zmpi_extent_free(&part->extent);
            return false;
        }
    }
    return true;
}

bool zparts_find(const struct zbatch *b, struct zparts *parts)
{
    size_t count;
    struct zpatch *rows = rows_of(b, &count);
    struct block *block = malloc(count * sizeof *block);
    struct zmpi_run *runs = malloc(count * sizeof *runs);
    parts->count = 0;
    parts->patches = count;
    parts->patch = malloc(count * sizeof *parts->patch);
    const bool found = rows && block && runs && parts->patch && find(rows, count, block, parts) &&
                       place(parts, runs);
    free(rows);
    free(block);
    free(runs);
    if (!found)
        zparts_free(parts);
    return found;
}

void zparts_free(struct zparts *parts)
{
    free(parts->patch);
    parts->patch = NULL;
    parts->count = 0;
}
