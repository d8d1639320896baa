/*
 * flare_levels.c - blocks, levels and their order (format.md 1.6). FLARE's systolic array does
 * predict() and quantize(); the other code decides which point is next.
 */
#include <string.h>

#include "interp/flare/flare.h"

enum { BLOCK = ZMPI_FLARE_BLOCK, STEP_BITS = ZMPI_INTERP_STEP_BITS };

size_t zmpi_flare_anchors(const size_t extent[3])
{
    size_t n = 1;
    for (int i = 0; i < 3; i++)
        n *= (extent[i] + ZMPI_FLARE_ANCHORS - 1) / ZMPI_FLARE_ANCHORS;
    return n;
}

/* ---- one point ---- */

struct run {
    struct zmpi_interp_work *w;
    const size_t *extent;
    struct zmpi_flare_codes *c;
    bool encode;
};

/* Predicts from the points at -3, -1, 1 and 3, as far as the block has them. i: the point's place
 * among n along the axis; d: the distance between points in memory. Sums are modulo 2^32. */
static inline int32_t predict(const int32_t *p, ptrdiff_t d, int i, int n)
{
    const uint32_t b = (uint32_t)p[-d];
    uint32_t sum;
    if (i + 1 >= n) { /* no point follows */
        sum = i >= 3 ? 24 * b - 8 * (uint32_t)p[-3 * d] : 16 * b;
    } else {
        const uint32_t c = (uint32_t)p[d];
        const bool left = i >= 3, right = i + 3 < n;
        if (left && right)
            sum = 9 * (b + c) - (uint32_t)p[-3 * d] - (uint32_t)p[3 * d];
        else if (left)
            sum = 12 * b + 6 * c - 2 * (uint32_t)p[-3 * d];
        else if (right)
            sum = 6 * b + 12 * c - 2 * (uint32_t)p[3 * d];
        else
            sum = 8 * (b + c);
    }
    return (int32_t)(sum + 8) >> 4;
}

/* The code for which prediction + code * 2^8 is nearest to the value. */
static inline int32_t quantize(int32_t value, int32_t predicted)
{
    if (value == NO_VALUE)
        return 0;
    return (int32_t)((uint32_t)value - (uint32_t)predicted + (1U << (STEP_BITS - 1))) >> STEP_BITS;
}

static inline int32_t rebuild(int32_t predicted, int32_t code)
{
    return (int32_t)((uint32_t)predicted + ((uint32_t)code << STEP_BITS));
}

/* Codes have 24 bits, because values and predictions have 32. */
static void put_escape(struct zmpi_flare_codes *c, int32_t code)
{
    uint32_t n = code < 0 ? ~((uint32_t)code << 1) : (uint32_t)code << 1;
    for (; n >= 128; n >>= 7)
        c->escape[c->escapes++] = (unsigned char)(n | 128);
    c->escape[c->escapes++] = (unsigned char)n;
}

static int32_t take_escape(struct zmpi_flare_codes *c)
{
    uint32_t n = 0;
    for (unsigned shift = 0; shift < 28 && c->escapes < c->most; shift += 7) {
        const unsigned char byte = c->escape[c->escapes++];
        n |= (uint32_t)(byte & 127) << shift;
        if (byte < 128)
            return n & 1 ? (int32_t) ~(n >> 1) : (int32_t)(n >> 1);
    }
    c->over = true;
    return 0;
}

static inline void do_point(struct zmpi_flare_codes *c, bool encode, int32_t *p, int32_t predicted)
{
    int32_t code;
    if (encode) {
        code = quantize(*p, predicted);
        const bool fits = code > ZMPI_FLARE_ESCAPE && code <= INT8_MAX;
        c->code[c->codes] = (signed char)(fits ? code : ZMPI_FLARE_ESCAPE);
        if (!fits)
            put_escape(c, code);
    } else {
        code = c->code[c->codes];
        if (code == ZMPI_FLARE_ESCAPE)
            code = take_escape(c);
    }
    c->codes++;
    *p = rebuild(predicted, code);
}

/* ---- a block ---- */

/* Takes the points at odd places along the axis, and at even places along the axes that come
 * later. */
static void do_direction(struct run *r, int32_t *block, const int n[3], const ptrdiff_t d[3],
                         int axis)
{
    struct zmpi_flare_codes c = *r->c; /* a local copy stays in registers */
    int first[3], step[3];
    for (int i = 0; i < 3; i++) {
        first[i] = i == axis;
        step[i] = i <= axis ? 2 : 1;
    }
    for (int z = first[0]; z < n[0]; z += step[0])
        for (int y = first[1]; y < n[1]; y += step[1]) {
            int32_t *row = block + z * d[0] + y * d[1];
            for (int x = first[2]; x < n[2]; x += step[2])
                do_point(&c, r->encode, row + x * d[2],
                         predict(row + x * d[2], d[axis],
                                 axis == 2   ? x
                                 : axis == 1 ? y
                                             : z,
                                 n[axis]));
        }
    *r->c = c;
}

/* stride: that of the level's points; at: the block's first point. */
static void do_block(struct run *r, size_t stride, const size_t at[3])
{
    const struct cells *flat = &r->w->flat;
    const ptrdiff_t s = (ptrdiff_t)stride;
    const ptrdiff_t d[3] = {s * (ptrdiff_t)flat->plane, s * (ptrdiff_t)flat->row, s};
    int n[3];
    for (int i = 0; i < 3; i++) {
        const size_t left = (r->extent[i] - at[i] - 1) / stride + 1;
        n[i] = (int)(left < BLOCK ? left : BLOCK);
    }
    for (int axis = 2; axis >= 0; axis--)
        do_direction(r, flat->value + at[0] * flat->plane + at[1] * flat->row + at[2], n, d, axis);
}

/* ---- the order ---- */

/* Takes the blocks of a level's slices from z on, one beside the other; then the finer level's
 * blocks in their lower half, down to the finest level; only then those in the upper half. */
static void look_ahead(struct run *r, size_t stride, size_t z,
                       void block(struct run *r, size_t stride, const size_t at[3]))
{
    const size_t side = BLOCK * stride;
    for (size_t y = 0; y < r->extent[1]; y += side)
        for (size_t x = 0; x < r->extent[2]; x += side)
            block(r, stride, (const size_t[3]){z, y, x});
    if (stride == 1) {
        r->c->end[r->c->batches++] = r->c->codes;
        return;
    }
    if (stride == 2 && z == 0)
        r->c->coarse = r->c->codes;
    look_ahead(r, stride / 2, z, block);
    if (z + side / 2 < r->extent[0])
        look_ahead(r, stride / 2, z + side / 2, block);
}

/* Each anchor is predicted by the one before. */
static void do_anchors(struct run *r)
{
    enum { EACH = ZMPI_FLARE_ANCHORS };
    const struct cells *flat = &r->w->flat;
    struct zmpi_flare_codes *c = r->c;
    int32_t before = 0;
    for (size_t z = 0; z < r->extent[0]; z += EACH)
        for (size_t y = 0; y < r->extent[1]; y += EACH)
            for (size_t x = 0; x < r->extent[2]; x += EACH) {
                int32_t *p = flat->value + z * flat->plane + y * flat->row + x, code;
                if (r->encode) {
                    code = quantize(*p, before);
                    const bool fits = code > ZMPI_FLARE_ANCHOR_ESCAPE && code <= INT16_MAX;
                    c->anchor[c->anchors++] = (int16_t)(fits ? code : ZMPI_FLARE_ANCHOR_ESCAPE);
                    if (!fits)
                        put_escape(c, code);
                } else {
                    code = c->anchor[c->anchors++];
                    if (code == ZMPI_FLARE_ANCHOR_ESCAPE)
                        code = take_escape(c);
                }
                *p = before = rebuild(before, code);
            }
}

void zmpi_flare_predict(struct zmpi_interp_work *w, const size_t extent[3],
                        struct zmpi_flare_codes *c)
{
    struct run r = {.w = w, .extent = extent, .c = c, .encode = w->mode == ENCODE};
    c->codes = c->anchors = c->escapes = c->batches = 0;
    do_anchors(&r);
    look_ahead(&r, ZMPI_FLARE_ANCHORS / 2, 0, do_block);
}

/* Counts the points that are new on this level. */
static void count_block(struct run *r, size_t stride, const size_t at[3])
{
    size_t all = 1, old = 1;
    for (int i = 0; i < 3; i++) {
        const size_t left = (r->extent[i] - at[i] - 1) / stride + 1,
                     n = left < BLOCK ? left : BLOCK;
        all *= n;
        old *= (n + 1) / 2;
    }
    r->c->codes += all - old;
}

void zmpi_flare_plan(const size_t extent[3], struct zmpi_flare_codes *c)
{
    struct run r = {.extent = extent, .c = c};
    c->codes = c->batches = 0;
    look_ahead(&r, ZMPI_FLARE_ANCHORS / 2, 0, count_block);
}
