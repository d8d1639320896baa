/* cases_fle.h - golden files of one stream by fle: types, bounds, exceptions. */
#ifndef GOLDEN_CASES_FLE_H
#define GOLDEN_CASES_FLE_H

#include "golden.h"

static inline void golden_f32_1d_abs(struct golden *g)
{
    static float src[8300];
    struct zmpi_array a = {ZMPI_F32, {1, 1, 8300}};
    golden_hilly(&a, -10, src);
    golden_one(g, 1, &a, "abs=1", src);
}

static inline void golden_f32_2d_rel_grid(struct golden *g)
{
    static float src[71 * 117];
    struct zmpi_array a = {ZMPI_F32, {1, 71, 117}};
    golden_hilly(&a, -10, src);
    golden_one(g, 2, &a, "rel=3e-2", src);
}

static inline void golden_f32_3d_abs(struct golden *g)
{
    static float src[9 * 25 * 37];
    struct zmpi_array a = {ZMPI_F32, {9, 25, 37}};
    golden_hilly(&a, -10, src);
    golden_one(g, 3, &a, "abs=0.25", src);
}

static inline void golden_f64_3d_rel_grid(struct golden *g)
{
    static double src[9 * 23 * 29];
    struct zmpi_array a = {ZMPI_F64, {9, 23, 29}};
    golden_hilly(&a, -40, src);
    golden_one(g, 4, &a, "rel=1e-2", src);
}

/* Exceptions that differ inside a block: NaN with payloads, infinities, -0, spikes. */
static inline void golden_f32_exceptions(struct golden *g)
{
    static uint32_t src[1501];
    static const uint32_t special[] = {0x7FC00000, 0xFF800001, 0x7F812345, 0x7F800000, 0xFF800000,
                                       0x80000000, 0x7149F2CA, 0x00000001, 0xF149F2CA};
    struct zmpi_array a = {ZMPI_F32, {1, 1, 1501}};
    golden_hilly(&a, -10, src);
    for (size_t i = 5; i < 1501; i += 11)
        src[i] = special[i % 9];
    golden_one(g, 5, &a, "abs=0.125", src);
}

/* Fill values: all exceptions of a block are the same. */
static inline void golden_f32_fill_grid(struct golden *g)
{
    static float src[30 * 70];
    struct zmpi_array a = {ZMPI_F32, {1, 30, 70}};
    golden_hilly(&a, -10, src);
    for (size_t i = 0; i < 30 * 70; i++)
        if (i % 70 < 6)
            src[i] = 1e20f;
    golden_one(g, 6, &a, "rel=1e-3", src);
}

static inline void golden_f64_exceptions(struct golden *g)
{
    static double src[1001];
    struct zmpi_array a = {ZMPI_F64, {1, 1, 1001}};
    golden_hilly(&a, -10, src);
    for (size_t i = 3; i < 1001; i += 13)
        src[i] = i % 2 != 0 ? -0.0 : ldexp(1, 900);
    for (size_t i = 640; i < 800; i += 10)
        src[i] = HUGE_VAL;
    golden_one(g, 7, &a, "abs=0.125", src);
}

static inline void golden_f32_lossless(struct golden *g)
{
    static float src[20 * 31];
    struct zmpi_array a = {ZMPI_F32, {1, 20, 31}};
    golden_hilly(&a, -10, src);
    for (size_t i = 0; i < 20 * 31; i++)
        src[i] += 256;
    src[100] = -0.0f;
    golden_one(g, 8, &a, "lossless", src);
}

static inline void golden_f64_lossless(struct golden *g)
{
    static double src[20 * 21];
    struct zmpi_array a = {ZMPI_F64, {1, 20, 21}};
    golden_hilly(&a, -10, src);
    for (size_t i = 0; i < 20 * 21; i++)
        src[i] += 256;
    golden_one(g, 9, &a, "lossless", src);
}

static inline void golden_stored(struct golden *g)
{
    static uint32_t src[201];
    struct zmpi_array a = {ZMPI_F32, {1, 1, 201}};
    for (uint32_t i = 0, state = 9; i < 201; i++)
        src[i] = golden_random(&state) ^ golden_random(&state) << 16;
    golden_one(g, 10, &a, "lossless", src);
}

/* A constant array is a zero chunk after the base; 0 is one too. */
static inline void golden_constant_whole(struct golden *g)
{
    static double src[20 * 40 * 50];
    struct zmpi_array a = {ZMPI_F64, {20, 40, 50}};
    for (size_t i = 0; i < 20 * 40 * 50; i++)
        src[i] = i / (40 * 50) < 10 ? 0 : 0.375;
    golden_one(g, 11, &a, "abs=0.001", src);
}

/* Counts, and one chunk in which a value is none. */
static inline void golden_f32_whole(struct golden *g)
{
    static float x[20000];
    struct zmpi_array a = {ZMPI_F32, {1, 1, 20000}};
    for (int i = 0; i < 20000; i++)
        x[i] = (float)(i * 7919 % 23 + i / 1000 % 5);
    x[9000] = 3.125F;
    golden_one(g, 42, &a, "rel=1e-3", x);
}

static inline void golden_i32(struct golden *g)
{
    static int32_t src[20 * 50];
    struct zmpi_array a = {ZMPI_I32, {1, 20, 50}};
    for (uint32_t i = 0, state = 3; i < 1000; i++)
        src[i] = golden_hills(&state, 0, i / 50, i % 50) - (i == 777 ? INT32_MAX / 2 : 0);
    golden_one(g, 12, &a, "lossless", src);
}

static inline void golden_i64(struct golden *g)
{
    static int64_t src[7 * 9 * 15];
    struct zmpi_array a = {ZMPI_I64, {7, 9, 15}};
    for (uint32_t i = 0, state = 4; i < 945; i++)
        src[i] =
            ((int64_t)1 << 50) * (i % 3 != 0) + golden_hills(&state, i / 135, i / 15 % 9, i % 15);
    src[77] = INT64_MIN;
    golden_one(g, 13, &a, "lossless", src);
}

static inline void golden_bytes(struct golden *g)
{
    static unsigned char src[2003];
    struct zmpi_array a = {ZMPI_BYTES, {1, 1, 2003}};
    for (uint32_t i = 0, state = 5; i < 2003; i++)
        src[i] = i < 1200 ? (unsigned char)(i / 64) : (unsigned char)(golden_random(&state) >> 24);
    golden_one(g, 14, &a, "abs=1", src);
}

/* Every binade, both signs, zeros, and what cannot be rounded: NaN, infinities, denormals, the
 * largest. */
static inline void golden_f32_pw_rel_16(struct golden *g)
{
    static uint32_t src[40 * 50];
    static const uint32_t special[] = {0x7FC00001, 0x7F800000, 0xFF800000, 0x80000000, 0x00000000,
                                       0x00000123, 0x7F7FFFFF, 0x80400000, 0xFF812345};
    struct zmpi_array a = {ZMPI_F32, {1, 40, 50}};
    golden_hilly(&a, -10, src);
    for (size_t i = 0; i < 40 * 50; i++)
        if (i > 1200)
            src[i] = (src[i] & 0x807FFFFF) | (uint32_t)(1 + i / 10) << 23;
    for (size_t i = 7; i < 40 * 50; i += 37)
        src[i] = special[i % 9];
    golden_one(g, 18, &a, "pw_rel=1e-3", src);
}

static inline void golden_f64_pw_rel_16(struct golden *g)
{
    static double src[5 * 17 * 19];
    struct zmpi_array a = {ZMPI_F64, {5, 17, 19}};
    golden_hilly(&a, -40, src);
    for (size_t i = 100; i < 5 * 17 * 19; i += 150)
        src[i] = i % 3 != 0 ? ldexp(1, -1030) : HUGE_VAL;
    golden_one(g, 19, &a, "pw_rel=1e-9", src);
}

/* The first bound does: errors are spread evenly. */
static inline void golden_f32_psnr_grid(struct golden *g)
{
    static float src[60 * 90];
    struct zmpi_array a = {ZMPI_F32, {1, 60, 90}};
    golden_hilly(&a, -10, src);
    golden_one(g, 20, &a, "psnr=50", src);
}

/* Only the last bound suffices: all errors are equal, and too large with the first two. */
static inline void golden_f32_psnr_worst_grid(struct golden *g)
{
    static float src[60 * 90];
    struct zmpi_array a = {ZMPI_F32, {1, 60, 90}};
    for (size_t i = 0; i < 60 * 90; i++)
        src[i] = 10;
    src[0] = 0;
    src[1] = 64;
    golden_one(g, 21, &a, "psnr=30", src);
}

#endif
