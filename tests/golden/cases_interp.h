/* cases_interp.h - golden files of one stream by interp and its profiles. */
#ifndef GOLDEN_CASES_INTERP_H
#define GOLDEN_CASES_INTERP_H

#include "golden.h"

/* Two dimensions, from coarse to fine. */
static inline void golden_interp_f32_tables(struct golden *g)
{
    static float src[83 * 121];
    struct zmpi_array a = {ZMPI_F32, {1, 83, 121}};
    golden_hilly(&a, -10, src);
    golden_by(g, ZMPI_INTERP, 43, &a, "abs=0.01", src);
}

/* Three dimensions; fill values, and others that are exact. */
static inline void golden_interp_f64_tables(struct golden *g)
{
    static double src[13 * 24 * 37];
    struct zmpi_array a = {ZMPI_F64, {13, 24, 37}};
    golden_hilly(&a, -10, src);
    for (size_t i = 0; i < 13 * 24 * 37; i++)
        if (i % 37 < i / 37 % 24 / 4)
            src[i] = 1e20;
    for (size_t i = 3; i < 13 * 24 * 37; i += 1013)
        src[i] = i % 2 != 0 ? -0.0 : HUGE_VAL;
    golden_by(g, ZMPI_INTERP, 44, &a, "abs=0.1", src);
}

/* Steps, which are best predicted from neighbours; escapes. */
static inline void golden_interp_lorenzo_tables(struct golden *g)
{
    static float src[11 * 40 * 50];
    struct zmpi_array a = {ZMPI_F32, {11, 40, 50}};
    uint32_t state = 7;
    for (size_t i = 0; i < 11 * 40 * 50; i++) {
        const size_t x = i % 50, y = i / 50 % 40, z = i / 2000;
        const uint32_t noise = golden_random(&state) >> 24 == 0 ? golden_random(&state) >> 20 : 0;
        src[i] = (float)ldexp((double)((x / 9 * 13 + y / 11 * 29 + z / 4 * 57) % 31 + noise), -6);
    }
    golden_by(g, ZMPI_INTERP, 45, &a, "abs=0.01", src);
}

/* Planes like those two before, some of them like none; a fill value. */
static inline void golden_interp_planes_tables(struct golden *g)
{
    static float src[24 * 21 * 30];
    struct zmpi_array a = {ZMPI_F32, {24, 21, 30}};
    for (size_t i = 0; i < 24 * 21 * 30; i++) {
        const size_t z = i / 630;
        uint32_t state = (uint32_t)(1 + i % 630 + z % 2 * 630);
        const double rough = (double)(golden_random(&state) >> 20);
        const double v = z % 7 == 6 ? (double)(i % 30 * 40 + z) : rough + (double)(i % 11) / 8;
        src[i] = i % 30 > i / 30 % 21 + 5 ? 1e20F : (float)ldexp(v, -6);
    }
    golden_by(g, ZMPI_INTERP, 51, &a, "abs=0.05", src);
}

/* Several chunks at rest, and what no integer reaches. */
static inline void golden_interp_rest_runs(struct golden *g)
{
    static float src[300 * 1000];
    struct zmpi_array a = {ZMPI_F32, {1, 300, 1000}};
    for (size_t i = 0; i < 300 * 1000; i++)
        src[i] = i < 150 * 1000 ? 0.375F : -3e5F;
    src[777] = -0.0F;
    src[299999] = 1e9F;
    golden_by(g, ZMPI_INTERP, 46, &a, "abs=0.0001", src);
}

/* The profile FLARE: two batches, three levels, blocks that the array clips; escapes of codes and
 * of an anchor, fill values. */
static inline void golden_interp_flare_runs(struct golden *g)
{
    static float src[35 * 21 * 40];
    struct zmpi_array a = {ZMPI_F32, {35, 21, 40}};
    golden_hilly(&a, -10, src);
    for (size_t i = 0; i < 35 * 21 * 40; i++)
        if (i % 1013 == 5)
            src[i] = i % 2 != 0 ? 900 : -0.0F;
    src[8] = -5e3F;
    for (size_t i = 0; i < 200; i++)
        src[4000 + i] = 1e20F;
    golden_way(g, ZMPI_INTERP, ZMPI_VARIANT_FLARE, 60, &a, "abs=0.001", src);
}

/* Huffman codes: several books, runs, escapes, exceptions. */
static inline void golden_interp_books_groups(struct golden *g)
{
    static float src[26 * 50 * 40];
    struct zmpi_array a = {ZMPI_F32, {26, 50, 40}};
    golden_hilly(&a, -10, src);
    for (size_t i = 0; i < 26 * 50 * 40; i++)
        src[i] = i / 2000 < 9 ? 0.25F : i % 1013 == 5 ? 900 : src[i];
    src[17] = -0.0F;
    golden_way(g, ZMPI_INTERP, ZMPI_VARIANT_BOOKS, 61, &a, "abs=0.001", src);
}

#endif
