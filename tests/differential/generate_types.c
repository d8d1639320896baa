/* generate_types.c - random datatypes: for the elements of a view, for its file, for memory. */
#include "differential.h"

#include <stdlib.h>
#include <string.h>

/* Ids are given in order; *id is -1 if there is no room or the type makes no sense. */
static int64_t add(struct program *p, struct model *m, int n, const int64_t *a)
{
    struct line l = {LINE_TYPE, n + 1, {0}};
    int64_t id = 0;
    while (id < TYPES && type_get(&m->types, id))
        id++;
    if (id == TYPES || n + 1 > ARGUMENTS)
        return -1;
    l.a[0] = id;
    memcpy(l.a + 1, a, (size_t)n * sizeof *a);
    if (!type_define(&m->types, &l))
        return -1;
    program_add(p, &l);
    return id;
}

#define ADD(...)                                                                                   \
    add(p, m, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]){__VA_ARGS__})

static int64_t basic(struct program *p, struct model *m, int which)
{
    for (int64_t id = 0; id < TYPES; id++) {
        const struct type *t = type_get(&m->types, id);
        if (t && line_arg(t->line, 1) == T_BASIC && line_arg(t->line, 2) == which)
            return id;
    }
    return ADD(T_BASIC, which);
}

int64_t generate_etype(struct program *p, struct model *m, struct chance *c)
{
    static const int often[] = {0, 0, 3, 5, 5, 6, 6, 1, 2, 4};
    int64_t b =
        basic(p, m, chance_of(c, 85) ? often[chance_below(c, 10)] : (int)chance_below(c, BASICS));
    if (b < 0 || chance_of(c, 75))
        return b;
    const struct type *t = type_get(&m->types, b);
    const int64_t e = t->extent;
    switch (chance_below(c, 4)) {
    case 0:
        return ADD(T_CONTIGUOUS, b, 1 + chance_below(c, 4));
    case 1: /* a hole inside */
        return ADD(T_STRUCT, 0, 4 * e, 2, b, 1, 0, b, 1, 2 * e);
    case 2: /* several kinds */
        return ADD(T_STRUCT, 0, 16, 3, basic(p, m, 6), 1, 0, basic(p, m, 3), 1, 8, basic(p, m, 1),
                   2, 12);
    default:
        return ADD(T_DUP, b);
    }
}

/* Blocks at rising places, of `width` elements each at most. */
static int64_t blocks(struct program *p, struct model *m, struct chance *c, int64_t child,
                      enum combiner combiner, bool shuffled)
{
    const int64_t e = type_get(&m->types, child)->extent;
    const int64_t unit = combiner == T_HINDEXED || combiner == T_HINDEXED_BLOCK ? e : 1;
    const int64_t n = 1 + chance_below(c, 6), even = 1 + chance_below(c, 3);
    int64_t a[ARGUMENTS], length[8], place[8], at = chance_below(c, 3);
    const bool is_even = combiner == T_INDEXED_BLOCK || combiner == T_HINDEXED_BLOCK;
    for (int i = 0; i < n; i++) {
        length[i] = is_even ? even : chance_below(c, 4);
        place[i] = at * unit;
        at += length[i] + chance_below(c, 4);
    }
    for (int i = 0; i < n && shuffled; i++) { /* for memory, where any order will do */
        int64_t k = chance_below(c, n), l = length[i], q = place[i];
        length[i] = length[k], place[i] = place[k];
        length[k] = l, place[k] = q;
    }
    a[0] = combiner;
    a[1] = child;
    a[2] = n;
    a[3] = even;
    for (int i = 0; i < n; i++) {
        if (is_even) {
            a[4 + i] = place[i];
        } else {
            a[3 + 2 * i] = length[i];
            a[4 + 2 * i] = place[i];
        }
    }
    return add(p, m, (int)(is_even ? 4 + n : 3 + 2 * n), a);
}

static int64_t structure(struct program *p, struct model *m, struct chance *c, int64_t child)
{
    const int64_t e = type_get(&m->types, child)->extent, n = 1 + chance_below(c, 4);
    int64_t a[ARGUMENTS] = {T_STRUCT}, at = chance_below(c, 3);
    a[3] = n;
    for (int i = 0; i < n; i++) {
        a[4 + 3 * i] = child;
        a[5 + 3 * i] = 1 + chance_below(c, 3);
        a[6 + 3 * i] = at * e;
        at += a[5 + 3 * i] + chance_below(c, 3);
    }
    /* Bounds inside, outside and beside the data; tiles do not overlap. */
    a[1] = e * (chance_below(c, 5) - 2);
    a[2] = e * (at + chance_below(c, 4));
    return add(p, m, (int)(4 + 3 * n), a);
}

/* A part of an array of one to three dimensions; cut: along this dimension the ranks share it. */
static int64_t subarray(struct program *p, struct model *m, struct chance *c, int64_t child,
                        int rank, int ranks)
{
    const int dimensions = 1 + (int)chance_below(c, DIMENSIONS_MAX);
    const int cut = (int)chance_below(c, dimensions);
    int64_t a[ARGUMENTS] = {T_SUBARRAY, child, chance_below(c, 2), dimensions};
    for (int d = 0; d < dimensions; d++) {
        int64_t size = 1 + chance_below(c, 6), part = 1 + chance_below(c, size),
                start = chance_below(c, size - part + 1);
        a[4 + 3 * d] = d == cut ? part * ranks : size;
        a[5 + 3 * d] = part;
        a[6 + 3 * d] = d == cut ? part * rank : start;
    }
    return add(p, m, 4 + 3 * dimensions, a);
}

static int64_t darray(struct program *p, struct model *m, struct chance *c, int64_t child, int rank,
                      int ranks)
{
    const int dimensions = 1 + (int)chance_below(c, DIMENSIONS_MAX);
    int64_t a[ARGUMENTS] = {T_DARRAY, child, chance_below(c, 2), ranks, rank, dimensions};
    int64_t left = ranks;
    for (int d = 0; d < dimensions; d++) {
        int64_t grid = d == dimensions - 1 ? left : left % 2 == 0 && chance_of(c, 50) ? 2 : 1;
        int64_t size = 1 + chance_below(c, 8), how = chance_below(c, grid == 1 ? 3 : 2);
        left /= grid;
        a[6 + 4 * d] = size;
        a[7 + 4 * d] = how;
        a[8 + 4 * d] = how == BLOCK ? (size + grid - 1) / grid : 1 + chance_below(c, 3);
        a[9 + 4 * d] = grid;
    }
    return add(p, m, 6 + 4 * dimensions, a);
}

static int64_t filetype(struct program *p, struct model *m, struct chance *c, int64_t child,
                        int rank, int ranks, int64_t kind)
{
    const int64_t e = type_get(&m->types, child)->extent, n = 1 + chance_below(c, 5),
                  width = 1 + chance_below(c, 4), stride = width + chance_below(c, 4);
    switch (kind) {
    case 0:
        return child;
    case 1:
        return ADD(T_CONTIGUOUS, child, n);
    case 2:
        return ADD(T_VECTOR, child, n, width, stride);
    case 3:
        return ADD(T_HVECTOR, child, n, width, stride * e);
    case 4:
        return blocks(p, m, c, child, T_INDEXED, false);
    case 5:
        return blocks(p, m, c, child, T_HINDEXED, false);
    case 6:
        return blocks(p, m, c, child, T_INDEXED_BLOCK, false);
    case 7:
        return blocks(p, m, c, child, T_HINDEXED_BLOCK, false);
    case 8:
        return structure(p, m, c, child);
    case 9:
        return ADD(T_RESIZED, child, e * (chance_below(c, 5) - 2), e * (1 + chance_below(c, 5)));
    case 10:
    case 11:
        return subarray(p, m, c, child, rank, ranks);
    case 12:
    case 13:
        return darray(p, m, c, child, rank, ranks);
    default:
        return ADD(T_DUP, child);
    }
}

enum { KINDS = 15 };

int64_t generate_filetype(struct program *p, struct model *m, struct chance *c, int64_t etype,
                          int rank, int ranks, uint64_t pattern)
{
    const int64_t size = type_get(&m->types, etype)->size;
    if (chance_of(c, 2)) /* nothing at all */
        return ADD(T_CONTIGUOUS, etype, 0);
    for (int attempt = 0; attempt < 10; attempt++) {
        /* Ranks with the same pattern get the same, but for their place in arrays. */
        struct chance same = {pattern + (uint64_t)attempt};
        int64_t id = filetype(p, m, &same, etype, rank, ranks, chance_below(&same, KINDS));
        if (id >= 0 && chance_of(&same, 30))
            id = filetype(p, m, &same, id, rank, ranks, chance_below(&same, KINDS));
        const struct type *t = type_get(&m->types, id);
        if (t && t->rising && t->size > 0 && t->size % size == 0 && t->extent < 1 << 14)
            return id;
    }
    return etype;
}

/* A type in memory that holds `wanted` etypes, or about as many. */
int64_t generate_memory(struct program *p, struct model *m, struct chance *c, int64_t etype,
                        bool writes, int64_t wanted)
{
    const int64_t e = type_get(&m->types, etype)->extent;
    int64_t id = -1;
    if (wanted < 2 || chance_of(c, 30))
        return etype;
    switch (chance_below(c, 9)) {
    case 0:
        return basic(p, m, 0);
    case 1:
        id = ADD(T_CONTIGUOUS, etype, wanted);
        break;
    case 2:
        id = ADD(T_VECTOR, etype, wanted / 2, 2, 2 + chance_below(c, 3));
        break;
    case 3: /* backwards */
        id = ADD(T_HVECTOR, etype, wanted, 1, -e * (1 + chance_below(c, 2)));
        break;
    case 4:
        id = blocks(p, m, c, etype, T_INDEXED + (enum combiner)chance_below(c, 4), true);
        break;
    case 5:
        id = structure(p, m, c, etype);
        break;
    case 6:
        id = subarray(p, m, c, etype, 0, 1);
        break;
    case 7:
        id = ADD(T_RESIZED, etype, e * (chance_below(c, 3) - 1), e * (1 + chance_below(c, 3)));
        break;
    default: /* the same memory twice: only to write from */
        id = writes ? ADD(T_HVECTOR, etype, 3, 2, e) : ADD(T_DUP, etype);
    }
    return id < 0 ? etype : id;
}
