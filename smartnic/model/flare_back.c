/*
 * flare_back.c - our RTL in cycles when it decompresses (docs/flare.md 4.2): it decodes a section
 * while the one before goes out, code by code, to the arrays whose turn it is.
 */
#include "flare_model.h"

enum {
    ANCHORS = 8,
    HEAD = 3, /* a section's sizes, before its first word */
    SLICES = 32 + 3,
    START = 4,
    STEP = 64 /* codes that are looked at together */
};

struct back {
    const struct flare_core *core;
    const size_t *extent;
    struct flare_slab slab[7];
    size_t slabs, current;                 /* the slab of the next block */
    size_t at[3];                          /* its first point */
    double now;                            /* the last code went to its array */
    double free[FLARE_ARRAYS_MOST], begin; /* of arrays; of the slab */
    unsigned array;
    uint64_t left[3]; /* codes of the block's directions */
    int direction;
};

static double latest(const struct back *k)
{
    double last = k->begin;
    for (unsigned a = 0; a < k->core->arrays; a++)
        last = k->free[a] > last ? k->free[a] : last;
    return last;
}

/* Finds the next block's place; false if there is none. */
static bool next_place(struct back *k)
{
    const size_t side = (size_t)FLARE_SIDE << (k->slab[k->current].level - 1);
    k->at[2] += side;
    if (k->at[2] < k->extent[2])
        return true;
    k->at[2] = 0;
    k->at[1] += side;
    if (k->at[1] < k->extent[1])
        return true;
    k->at[1] = 0;
    k->begin = latest(k) + (k->slab[k->current].level == 1 ? SLICES : 1);
    if (++k->current == k->slabs)
        return false;
    k->at[0] = k->slab[k->current].plane;
    return true;
}

/* A code goes to the array that is free first. */
static void begin_block(struct back *k)
{
    size_t n[3];
    flare_block_sides(k->extent, k->at, (size_t)1 << (k->slab[k->current].level - 1), n);
    const uint64_t half[3] = {(n[0] + 1) / 2, (n[1] + 1) / 2, (n[2] + 1) / 2};
    k->left[0] = n[2] / 2 * half[1] * half[0];
    k->left[1] = n[2] * (n[1] / 2) * half[0];
    k->left[2] = n[2] * n[1] * (n[0] / 2);
    k->array = 0;
    for (unsigned a = 1; a < k->core->arrays; a++)
        k->array = k->free[a] < k->free[k->array] ? a : k->array;
    const double from = k->free[k->array] > k->begin ? k->free[k->array] : k->begin;
    const double loaded = from + (double)(half[0] * half[1] * half[2]) + FLARE_RTL_BEGIN;
    k->free[k->array] = loaded;
    k->direction = 0;
    if (k->left[0] + k->left[1] + k->left[2])
        k->now = k->now > loaded ? k->now : loaded;
}

/* Takes n codes, the last of which is decoded at `there`. */
static void give(struct back *k, uint64_t n, double there)
{
    while (n > 0) {
        while (k->direction < 3 && !k->left[k->direction])
            k->direction++;
        if (k->direction == 3) {
            if (!next_place(k))
                return;
            begin_block(k);
            continue;
        }
        uint64_t *left = &k->left[k->direction];
        const uint64_t some = n < *left ? n : *left;
        k->now = k->now + (double)some > there ? k->now + (double)some : there;
        *left -= some;
        n -= some;
        if (*left)
            continue;
        k->free[k->array] = k->now + k->core->drain;
        if ((k->direction < 1 && k->left[1]) || (k->direction < 2 && k->left[2]))
            k->now += k->core->drain; /* the next direction needs all of this one */
    }
}

double flare_back_time(const struct flare_core *core, const size_t extent[3],
                       const struct flare_section *section, size_t sections)
{
    struct back k = {.core = core, .extent = extent};
    size_t anchors = 1;
    double ready = START, gone[2] = {0, 0};
    k.slabs = flare_schedule(extent, 3, k.slab, 7);
    if (k.slabs > 7)
        return 0;
    for (int i = 0; i < 3; i++)
        anchors *= (extent[i] + ANCHORS - 1) / ANCHORS;
    k.begin = START + (double)anchors + 2;
    begin_block(&k);
    for (size_t s = 0; s < sections; s++) {
        if (section[s].begins_batch)
            ready += FLARE_RTL_TABLE;
        double word = (ready > gone[s % 2] ? ready : gone[s % 2]) + HEAD;
        ready = word;
        for (int i = 0; i < 4; i++) {
            const struct flare_stream *t = &section[s].stream[i];
            const double cost = 3.0 * (double)t->symbols + (double)t->codes + (double)t->words + 2;
            for (uint64_t from = 0; from < t->codes; from += STEP) {
                const uint64_t n = t->codes - from < STEP ? t->codes - from : STEP;
                give(&k, n, word + cost * (double)(from + n) / (double)t->codes);
            }
            ready = word + cost > ready ? word + cost : ready;
            word += (double)t->words + 1;
        }
        gone[s % 2] = k.now;
    }
    const bool ranges = k.slab[k.slabs - 1].level == 1;
    return latest(&k) + (ranges ? SLICES : 0);
}
