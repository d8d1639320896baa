/*
 * kernels_blocks.c - every set of kernels that this machine can run, against the scalar reference:
 * blocks of each length, one after another in any order, with residuals at the edges of what a
 * length holds; and quantized integers that are larger than an encoder makes.
 */
#include "base/bytes.h"
#include "kernels_kit.h"

enum { BLOCKS = 64, WORDS = BLOCKS * ZMPI_BLOCK };

TestSuite(kernels_blocks, .init = make_work, .fini = free_work);

/* Words of `width` bytes. */
static void compare_decoded(const struct zmpi_kernels *k, size_t width, bool is_float,
                            const size_t extent[3], const unsigned char *coded, size_t size)
{
    static unsigned char expected[WORDS * 8], got[WORDS * 8];
    const struct zmpi_kernels *s = &zmpi_kernels_scalar;
    struct zmpi_rows rows = {.row = extent[2] * width, .plane = extent[1] * extent[2] * width};
    rows.at = expected;
    cr_assert_eq(
        (width == 4 ? s->decode32 : s->decode64)(is_float, extent, coded, size, &rows, work),
        ZMPI_OK);
    rows.at = got;
    for (int stream = 0; stream < 2; stream++) {
        rows.stream = stream;
        memset(got, 0xA5, sizeof got);
        cr_assert_eq(
            (width == 4 ? k->decode32 : k->decode64)(is_float, extent, coded, size, &rows, work),
            ZMPI_OK);
        cr_assert(memcmp(expected, got, WORDS * width) == 0, "%s: decoded, width %zu", k->name,
                  width);
    }
}

/* ---- residuals of integers ---- */

/* 2^length - 1 and its neighbours, and what is below. */
static uint64_t residual(struct kit_random *r, unsigned length, size_t edges)
{
    const uint64_t most = length ? UINT64_MAX >> (64 - length) : 0;
    uint64_t m = most & kit_next(r);
    if (edges && kit_below(r, edges) == 0)
        m = most - 1 + kit_below(r, 3) % (length < 64 ? 3 : 2);
    return kit_below(r, 2) ? 0 - m : m;
}

static void fill_blocks(struct kit_random *r, size_t width, unsigned axes, unsigned char *data)
{
    uint64_t sum = 0;
    unsigned length = 0;
    for (size_t i = 0; i < WORDS; i++) {
        static const unsigned nearby[] = {5, 6, 7, 8, 9, 13, 14, 15, 16, 17, 30, 31, 32, 33};
        if (i % ZMPI_BLOCK == 0 && kit_below(r, 3))
            length = kit_below(r, 2) ? nearby[kit_below(r, KIT_COUNT(nearby))]
                                     : (unsigned)kit_below(r, 65);
        if (length > 8 * width)
            length = (unsigned)(8 * width);
        const size_t edges = i / ZMPI_BLOCK % 3 * 20; /* none, some, fewer */
        const uint64_t u = i ? residual(r, length, edges) : 0;
        sum = axes ? sum + u : u;
        memcpy(data + i * width, &sum, width);
    }
}

static void check_residuals(const struct zmpi_kernels *k, size_t width, unsigned axes)
{
    static unsigned char data[WORDS * 8], expected[ZMPI_CHUNK_CAPACITY], got[ZMPI_CHUNK_CAPACITY];
    const struct zmpi_kernels *s = &zmpi_kernels_scalar;
    const size_t extent[3] = {1, 1, WORDS};
    const struct zmpi_rows rows = {.at = data, .row = WORDS * width, .plane = WORDS * width};
    struct zmpi_chunk_rule rule;
    struct kit_random r = {width + axes};
    for (int i = 0; i < 200; i++) {
        zmpi_chunk_rule_make(&rule, width == 4 ? ZMPI_I32 : ZMPI_I64, 0, (double)INFINITY);
        rule.axes = axes;
        fill_blocks(&r, width, axes, data);
        const size_t size =
            (width == 4 ? s->encode32 : s->encode64)(&rule, extent, &rows, expected, work);
        cr_assert_eq((width == 4 ? k->encode32 : k->encode64)(&rule, extent, &rows, got, work),
                     size);
        cr_assert(memcmp(expected, got, size) == 0, "%s: width %zu axes %u case %d", k->name, width,
                  axes, i);
        compare_decoded(k, width, false, extent, expected, size);
    }
}

Test(kernels_blocks, residuals)
{
    const struct zmpi_kernels *k;
    for (size_t i = 0; (k = next_kernels(&i)) != NULL;)
        for (unsigned axes = 0; axes < 2; axes++) {
            check_residuals(k, 4, axes);
            check_residuals(k, 8, axes);
        }
}

/* ---- quantized integers of any size ---- */

/* A chunk whose blocks are at most `longest` long; returns its size. */
static size_t make_quantized(struct kit_random *r, size_t width, unsigned axes, unsigned longest,
                             uint64_t base, unsigned char *coded)
{
    const double step = 0.37;
    const float narrow = 0.37F;
    unsigned char *at = coded;
    memset(at, 0, 4);
    at[1] = (unsigned char)axes;
    if (width == 4)
        memcpy(at + 4, &narrow, 4);
    else
        memcpy(at + 4, &step, 8);
    memcpy(at + 4 + width, &base, width);
    unsigned char *lengths = at + 4 + 2 * width;
    at = lengths + BLOCKS;
    for (size_t b = 0; b < BLOCKS; b++) {
        const unsigned length = kit_below(r, 2) ? longest : (unsigned)kit_below(r, longest + 1);
        const uint32_t same = kit_below(r, 2) ? UINT32_MAX : 0; /* the largest, all of one sign */
        lengths[b] = (unsigned char)length;
        for (unsigned i = 0; length && i <= length; i++, at += 4)
            zmpi_store32(at, (uint32_t)kit_next(r) | same);
    }
    return (size_t)(at - coded);
}

static void check_quantized(const struct zmpi_kernels *k, size_t width)
{
    static const size_t shapes[][3] = {{1, 1, WORDS}, {1, 32, 64},  {4, 16, 32}, {4, 8, 64},
                                       {2, 1, 1024},  {1, 1024, 2}, {8, 64, 4}};
    static unsigned char coded[ZMPI_CHUNK_CAPACITY];
    struct kit_random r = {width};
    for (unsigned i = 0; i < 8 * 65 * 2; i++) {
        const unsigned axes = i % 8, longest = i / 8 % 65;
        if (longest > 8 * width)
            continue;
        const unsigned bits = (unsigned)kit_below(&r, 65);
        uint64_t base = bits ? kit_next(&r) >> (64 - bits) : 0;
        if (kit_below(&r, 4) == 0)
            base = (UINT64_C(1) << 50) - kit_below(&r, 3);
        base = kit_below(&r, 2) ? 0 - base : base;
        const size_t size = make_quantized(&r, width, axes, longest, base, coded);
        for (size_t j = 0; j < KIT_COUNT(shapes); j++)
            compare_decoded(k, width, true, shapes[j], coded, size);
    }
}

Test(kernels_blocks, quantized)
{
    const struct zmpi_kernels *k;
    for (size_t i = 0; (k = next_kernels(&i)) != NULL;) {
        check_quantized(k, 4);
        check_quantized(k, 8);
    }
}
