/* cases_huffman.h - golden files of one stream by huffman. */
#ifndef GOLDEN_CASES_HUFFMAN_H
#define GOLDEN_CASES_HUFFMAN_H

#include "golden.h"

/* Several chunks, a book of the stream's own, four streams of bits. */
static inline void golden_huffman_f32_short(struct golden *g)
{
    static float src[9 * 45 * 67];
    struct zmpi_array a = {ZMPI_F32, {9, 45, 67}};
    golden_hilly(&a, -10, src);
    golden_by(g, ZMPI_HUFFMAN, 22, &a, "abs=0.002", src);
}

/* An offline book, one stream of bits, runs, exceptions. */
static inline void golden_huffman_f64_short(struct golden *g)
{
    static double src[12 * 30];
    struct zmpi_array a = {ZMPI_F64, {1, 12, 30}};
    golden_hilly(&a, -10, src);
    for (size_t i = 0; i < 100; i++)
        src[i] = src[0];
    for (size_t i = 3; i < 12 * 30; i += 113)
        src[i] = i % 2 != 0 ? -0.0 : HUGE_VAL;
    golden_by(g, ZMPI_HUFFMAN, 23, &a, "abs=0.001", src);
}

/* Residuals of all widths. */
static inline void golden_huffman_i64(struct golden *g)
{
    static int64_t src[6000];
    struct zmpi_array a = {ZMPI_I64, {1, 1, 6000}};
    uint64_t value = (uint64_t)-5; /* wraps around */
    for (uint32_t i = 0, state = 6; i < 6000; i++) {
        if (i % 40 == 0) {
            const uint64_t step = golden_random(&state);
            value += step << (golden_random(&state) >> 27);
        } else if (golden_random(&state) >> 31) {
            value += (uint64_t)(golden_random(&state) >> 29) - 4;
        }
        src[i] = (int64_t)value;
    }
    golden_by(g, ZMPI_HUFFMAN, 24, &a, "lossless", src);
}

/* One value for all exceptions; blocks of nothing else, the last one shorter; one where there are
 * no other residuals than 0. */
static inline void golden_huffman_once_grid(struct golden *g)
{
    static float src[79 * 141];
    struct zmpi_array a = {ZMPI_F32, {1, 79, 141}};
    golden_hilly(&a, -10, src);
    for (size_t y = 0; y < 79; y++)
        for (size_t x = 0; x < 141; x++)
            if (x < y || y > 76 || (y > 60 && x % 32 == 7))
                src[141 * y + x] = 9.96921e36f;
    golden_by(g, ZMPI_HUFFMAN, 25, &a, "rel=1e-3", src);
}

/* Chunks at rest, whose bases fit 4 bytes and do not, and one by another level. */
static inline void golden_huffman_rest(struct golden *g)
{
    static const double value[] = {0.375, -3e5, -2e6, 6e6};
    static double src[4 * 4096];
    struct zmpi_array a = {ZMPI_F64, {1, 1, 4 * 4096}};
    for (size_t i = 0; i < 4 * 4096; i++)
        src[i] = value[i / 4096];
    golden_by(g, ZMPI_HUFFMAN, 26, &a, "abs=0.0001", src);
}

#endif
