/*
 * kernels_sums.c - every set of kernels that this machine can run, against the scalar reference:
 * quantized integers near the base, as far from it as kernels that sum in 16 bits may take for
 * granted, and some beyond.
 */
#include "base/bytes.h"
#include "kernels_kit.h"

#define U     uint32_t
#define S     int32_t
#define WIDTH 4
#include "kernels/fle_t.h"

enum { WORDS = ZMPI_CHUNK_INPUT_BYTES / 4 };

TestSuite(kernels_sums, .init = make_work, .fini = free_work);

/* Integers of `width` bits and a sign, of which some are the largest ones. */
static void fill_near(struct kit_random *r, unsigned width, uint32_t *q, size_t n)
{
    const uint32_t most = UINT32_C(1) << width;
    const size_t often = 1 + kit_below(r, 40), near = 1 + kit_below(r, 2 * (size_t)most);
    for (size_t i = 0; i < n; i++) {
        q[i] = (uint32_t)kit_below(r, near) - (uint32_t)(near / 2);
        if (kit_below(r, often) == 0)
            q[i] = kit_below(r, 2) ? most - 1 : 0 - most;
    }
}

/* One that is just beyond, or far, or beyond in 16 bits alone. */
static uint32_t beyond(struct kit_random *r, unsigned width)
{
    const uint32_t most = UINT32_C(1) << width;
    const uint32_t u[] = {most,          most + 1,       0x7FFF,  0x8000,
                          0xFFFF - most, 0x10000 - most, 0x10000, 0x1FFFF};
    const uint32_t v = u[kit_below(r, KIT_COUNT(u))];
    return kit_below(r, 3) ? 0 - v - (uint32_t)kit_below(r, 2) : v;
}

/* The chunk with these integers, relative to the base; returns its size. */
static size_t make_chunk(const struct shape *s, const uint32_t *q, uint32_t base, unsigned axes,
                         unsigned char *coded)
{
    static uint32_t r[WORDS + ZMPI_BLOCK];
    const float step = 0.37F;
    const size_t nb = (s->blocks + 3) / 4 * 4;
    residuals_of(s, q, 0, axes, r);
    memset(coded, 0, 12 + nb);
    coded[1] = (unsigned char)axes;
    memcpy(coded + 4, &step, 4);
    memcpy(coded + 8, &base, 4);
    unsigned char *at = coded + 12 + nb;
    for (size_t b = 0; b < s->blocks; b++) {
        const unsigned length = block_encode(r + b * ZMPI_BLOCK, block_words(s, b), at);
        coded[12 + b] = (unsigned char)length;
        at += length ? 4 * (size_t)(length + 1) : 0;
    }
    return (size_t)(at - coded);
}

static void compare_chunk(const struct zmpi_kernels *k, const size_t extent[3], size_t gap_x,
                          size_t gap_y, const unsigned char *coded, size_t size, const char *what)
{
    const struct tile t = tile_make(ZMPI_F32, extent, gap_x, gap_y);
    struct kit_guarded out = kit_guard(t.bytes, true);
    unsigned char *reference = malloc(t.bytes);
    memset(reference, 0xA5, t.bytes);
    cr_assert_eq(decode(&zmpi_kernels_scalar, &t, coded, size, reference, false), ZMPI_OK);
    for (int past = 0; past < 2; past++) {
        memset(out.data, 0xA5, t.bytes);
        work->far = 0;
        cr_assert_eq(decode(k, &t, coded, size, out.data, past), ZMPI_OK);
        cr_assert(memcmp(reference, out.data, t.bytes) == 0, "%s: %s", k->name, what);
    }
    free(reference);
    kit_unguard(&out);
}

static void check_halves(const struct zmpi_kernels *k)
{
    static const size_t shapes[][3] = {{1, 1, 8192}, {1, 1, 700},  {5, 9, 100}, {9, 9, 100},
                                       {8, 8, 128},  {1, 32, 250}, {4, 2, 999}, {2, 1, 4096},
                                       {1, 2, 4000}, {40, 7, 7},   {17, 53, 3}, {9, 11, 31},
                                       {8, 30, 33},  {30, 2, 16},  {100, 3, 3}, {60, 1, 64}};
    static unsigned char coded[ZMPI_CHUNK_CAPACITY];
    static uint32_t q[WORDS];
    struct kit_random r = {1};
    for (unsigned i = 0; i < 8 * KIT_COUNT(shapes) * 24; i++) {
        const unsigned axes = i % 8, width = 15 - (unsigned)__builtin_popcount(axes);
        const size_t *extent = shapes[i / 8 % KIT_COUNT(shapes)];
        const struct shape s = shape_of(extent);
        const bool outside = kit_below(&r, 2);
        const uint32_t base = kit_below(&r, 2) ? (uint32_t)kit_next(&r) : 0;
        char what[99];
        snprintf(what, sizeof what, "%zu x %zu x %zu, axes %u%s, case %u", extent[0], extent[1],
                 extent[2], axes, outside ? ", one is beyond" : "", i);
        fill_near(&r, width - (unsigned)kit_below(&r, 2), q, s.count);
        if (outside)
            q[kit_below(&r, 3) ? kit_below(&r, s.count) : s.count - 1] = beyond(&r, width);
        const size_t size = make_chunk(&s, q, base, axes, coded);
        compare_chunk(k, extent, kit_below(&r, 3), kit_below(&r, 3), coded, size, what);
    }
}

Test(kernels_sums, limits)
{
    const struct zmpi_kernels *k;
    for (size_t i = 0; (k = next_kernels(&i)) != NULL;)
        check_halves(k);
}
