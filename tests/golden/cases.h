/*
 * cases.h - how the golden files are made. make.c writes them; tests/unit/stream/golden.c makes
 * them again and compares.
 *
 * All data come from integers, scaled by powers of two, so that every machine makes the same. Cases
 * are only added: a file here is a promise to everybody who has one like it.
 */
#ifndef GOLDEN_CASES_H
#define GOLDEN_CASES_H

#define GOLDEN_CASES_H

#include "golden.h"

/* ---- one function per file ---- */

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

/* Contiguous, a nest of one and of two levels, a list, an overlap, a cut and growth behind it. */
static inline void golden_records(struct golden *g, unsigned char id)
{
    static float src[4096];
    struct zmpi_array a = {ZMPI_F32, {1, 1, 256}}, b = {ZMPI_F32, {6, 5, 8}};
    struct zmpi_run nest[30], list[3] = {{12000, 4}, {12007, 60}, {13000, 192}};
    struct zmpi_extent extent;
    golden_begin(g, id);
    golden_must(zmpi_bound_parse("abs=0.0625", &g->bound) == ZMPI_OK, "bound");
    golden_hilly(&a, -6, src);
    golden_data(g, &a, src, (struct zmpi_extent){.lo = 0, .hi = 1024, .bytes = 1024, .run = 1024});
    golden_data(g, &a, src, golden_runs(3000, 32, 80, 32));
    golden_hilly(&b, -6, src);
    for (size_t i = 0; i < 30; i++)
        nest[i] = (struct zmpi_run){7000 + i / 5 * 800 + i % 5 * 64, 32};
    golden_must(zmpi_extent_from_runs(&extent, nest, 30) == ZMPI_OK, "nest");
    golden_data(g, &b, src, extent);
    golden_must(zmpi_extent_from_runs(&extent, list, 3) == ZMPI_OK, "list");
    a.extent[2] = 64;
    golden_data(g, &a, src, extent);
    golden_data(g, &a, src, golden_runs(900, 256, 256, 1));
    golden_size(g, 13100);
    golden_data(g, &a, src + 64, golden_runs(14000, 8, 24, 32));
}

static inline void golden_indexed(struct golden *g)
{
    golden_records(g, 15);
    golden_end(g);
}

/* As after a crash: nothing but the first header, then the records, the last one incomplete. */
static inline void golden_unclosed(struct golden *g)
{
    golden_records(g, 16);
    g->size -= 8;
}

/* Closed, then appended to with gaps between and not closed; written by two ranks out of order. */
static inline void golden_appended(struct golden *g)
{
    static int32_t src[100];
    struct zmpi_array a = {ZMPI_I32, {1, 1, 100}};
    golden_begin(g, 17);
    for (int32_t i = 0; i < 100; i++)
        src[i] = i * i - 7;
    golden_data(g, &a, src, golden_whole(400));
    golden_end(g);
    for (unsigned k = 0; k < 3; k++) {
        /* A gap that looks like a record but is none. */
        memcpy(g->data + g->size, "ZREC\1\0\0\0ZIDX\1\0\0\0ZREC", 20);
        g->size += 24;
        struct zmpi_extent extent = golden_runs(300 + 100 * k, 400, 400, 1);
        src[0] = (int32_t)k;
        g->records = 1 + k;
        struct zmpi_record *r = golden_record(g, ZMPI_RECORD_DATA, extent);
        size_t size = 0;
        static unsigned char payload[1000];
        golden_must(zmpi_compress(&a, &g->bound, NULL, payload, 1000, src, &size) == ZMPI_OK,
                    "compress");
        r->order = (uint64_t)2 << 32 | (k == 0 ? 1 : 0);
        r->rank = 2 - k;
        r->payload_length = size;
        golden_put(g, r, NULL, payload);
    }
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

/* Two dimensions, from coarse to fine. */
static inline void golden_interp_f32_fine(struct golden *g)
{
    static float src[83 * 121];
    struct zmpi_array a = {ZMPI_F32, {1, 83, 121}};
    golden_hilly(&a, -10, src);
    golden_by(g, ZMPI_INTERP, 43, &a, "abs=0.01", src);
}

/* Three dimensions; fill values, and others that are exact. */
static inline void golden_interp_f64_fine(struct golden *g)
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
static inline void golden_interp_lorenzo_yx(struct golden *g)
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
static inline void golden_interp_planes(struct golden *g)
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
static inline void golden_interp_rest_lorenzo(struct golden *g)
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
static inline void golden_interp_flare(struct golden *g)
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
static inline void golden_interp_books(struct golden *g)
{
    static float src[26 * 50 * 40];
    struct zmpi_array a = {ZMPI_F32, {26, 50, 40}};
    golden_hilly(&a, -10, src);
    for (size_t i = 0; i < 26 * 50 * 40; i++)
        src[i] = i / 2000 < 9 ? 0.25F : i % 1013 == 5 ? 900 : src[i];
    src[17] = -0.0F;
    golden_way(g, ZMPI_INTERP, ZMPI_VARIANT_BOOKS, 61, &a, "abs=0.001", src);
}

/* ---- the table ---- */

/* f32 and f64 that are big-endian when they are decoded, with exceptions, in rows that chunks cut.
 */
static inline void golden_big_endian(struct golden *g)
{
    struct zmpi_array narrow = {ZMPI_F32, {1, 90, 101}}, wide = {ZMPI_F64, {1, 1, 700}};
    static float f32[90 * 101];
    static double f64[700];
    for (int i = 0; i < 90 * 101; i++)
        f32[i] = (float)((i % 101) * (i / 101) - 7 * (i % 13)) / 64;
    for (int i = 0; i < 700; i++)
        f64[i] = (double)(i * i % 1009) / 256;
    const uint32_t narrow_nan = 0x7FC0ABCD;
    const uint64_t wide_nan = 0xFFF800000000ABCD;
    memcpy(&f32[500], &narrow_nan, sizeof narrow_nan);
    memcpy(&f64[77], &wide_nan, sizeof wide_nan);
    golden_begin(g, 46);
    g->big_endian = true;
    g->encoder = ZMPI_FLE;
    g->bound = (struct zmpi_bound){ZMPI_ABS, 0.0625};
    golden_data(g, &narrow, f32, golden_runs(0, sizeof f32, 0, 1));
    g->encoder = ZMPI_HUFFMAN;
    golden_data(g, &wide, f64, golden_runs(sizeof f32, sizeof f64, 0, 1));
    g->bound = (struct zmpi_bound){ZMPI_LOSSLESS, 0};
    golden_data(g, &wide, f64, golden_runs(sizeof f32 + sizeof f64, sizeof f64, 0, 1));
    golden_end(g);
}

/* Component c of `points` points of n doubles each, from `lo` on. */
static inline struct zmpi_extent golden_component(uint64_t lo, size_t points, size_t n, size_t c)
{
    struct zmpi_extent e = {.lo = lo + 8 * c, .run = 8, .levels = 1};
    e.count[0] = points;
    e.stride[0] = 8 * n;
    golden_must(zmpi_extent_close(&e) == ZMPI_OK, "extent");
    return e;
}

/* Density, velocity and pressure that take turns, by encoders 1 and 2, each with its own bound and
 * exceptions; then the velocity of some points again. */
static inline void golden_components(struct golden *g)
{
    enum { POINTS = 21 * 33, N = 3 };
    static const char *const bounds[N] = {"abs=0.001", "rel=1e-3", "abs=100"};
    static double src[POINTS];
    struct zmpi_array a = {ZMPI_F64, {1, 21, 33}}, again = {ZMPI_F64, {1, 1, 64}};
    uint64_t order = 0;
    golden_begin(g, 47);
    for (size_t c = 0; c < N; c++) {
        golden_hilly(&a, c == 0 ? -20 : c == 1 ? -10 : 8, src);
        for (size_t i = c; i < POINTS; i += 50)
            src[i] = c == 0 ? 1e20 : c == 1 ? -0.0 : HUGE_VAL;
        g->encoder = c == 1 ? ZMPI_HUFFMAN : ZMPI_FLE;
        golden_must(zmpi_bound_parse(bounds[c], &g->bound) == ZMPI_OK, "bound");
        if (c > 0) /* those of one piece have one order */
            g->order = order;
        golden_data(g, &a, src, golden_component(40, POINTS, N, c));
        order = g->record[0].order;
    }
    g->encoder = 0;
    g->order = 0;
    for (size_t i = 0; i < 64; i++)
        src[i] = (double)(i * i) / 64;
    golden_data(g, &again, src, golden_component(40 + 8 * 3 * 100, 64, N, 1));
    golden_end(g);
}

struct golden_case {
    const char *name;
    void (*make)(struct golden *g); /* NULL: as an encoder made it once */
    uint64_t size, hash;            /* of the logical bytes; XXH3 */
};

static const struct golden_case golden_cases[] = {
    {"f32_1d_abs", golden_f32_1d_abs, 33200, UINT64_C(0x28683C0E35C91674)},
    {"f32_2d_rel", NULL, 33228, UINT64_C(0xF4D72EDA1FFACAD9)},
    {"f32_3d_abs", golden_f32_3d_abs, 33300, UINT64_C(0x854FD72C009B4309)},
    {"f64_3d_rel", NULL, 48024, UINT64_C(0x079F4DEED04654AB)},
    {"f32_exceptions", golden_f32_exceptions, 6004, UINT64_C(0x9DC980AE6A5198DE)},
    {"f32_fill", NULL, 8400, UINT64_C(0x7619B33D2CF503B7)},
    {"f64_exceptions", golden_f64_exceptions, 8008, UINT64_C(0xD90F2E92003E6380)},
    {"f32_lossless", golden_f32_lossless, 2480, UINT64_C(0x7E49FF9C7581E8F6)},
    {"f64_lossless", golden_f64_lossless, 3360, UINT64_C(0x5F4D962D6CF1EE1F)},
    {"stored", golden_stored, 804, UINT64_C(0x48B2BA45B1A5B6D1)},
    {"constant", NULL, 320000, UINT64_C(0xEAF53BC4FC8F330C)},
    {"i32", golden_i32, 4000, UINT64_C(0xD712F01675B74D20)},
    {"i64", golden_i64, 7560, UINT64_C(0xA142FA8C13728638)},
    {"bytes", golden_bytes, 2003, UINT64_C(0xF9278F6AA25BB1D0)},
    {"indexed", golden_indexed, 14752, UINT64_C(0xBA5664545E94F8C1)},
    {"unclosed", golden_unclosed, 13100, UINT64_C(0xE3EF7D860720AB10)},
    {"appended", golden_appended, 900, UINT64_C(0xC76392E783158440)},
    {"f32_pw_rel", NULL, 8000, UINT64_C(0xDAA6F1C5FE0C423C)},
    {"f64_pw_rel", NULL, 12920, UINT64_C(0xB6CEDE6D43D7B24D)},
    {"f32_psnr", NULL, 21600, UINT64_C(0xD685A44352EC83A5)},
    {"f32_psnr_worst", NULL, 21600, UINT64_C(0x6464CB0FC86FF894)},
    {"huffman_f32", NULL, 108540, UINT64_C(0xC79057829E9B1AAB)},
    {"huffman_f64", NULL, 2880, UINT64_C(0x8C3AD3CC09EA226D)},
    {"huffman_i64", golden_huffman_i64, 48000, UINT64_C(0xD6F3F5A09D652935)},
    {"huffman_f32_short", golden_huffman_f32_short, 108540, UINT64_C(0xC79057829E9B1AAB)},
    {"huffman_f64_short", golden_huffman_f64_short, 2880, UINT64_C(0x8C3AD3CC09EA226D)},
    {"huffman_once", NULL, 44556, UINT64_C(0xC289804113B4A1CB)},
    {"huffman_rest", golden_huffman_rest, 131072, UINT64_C(0x01C43043D0AAF2C5)},
    {"f32_pw_rel_16", golden_f32_pw_rel_16, 8000, UINT64_C(0xDAA6F1C5FE0C423C)},
    {"f64_pw_rel_16", golden_f64_pw_rel_16, 12920, UINT64_C(0xB6CEDE6D43D7B24D)},
    {"f32_2d_rel_grid", golden_f32_2d_rel_grid, 33228, UINT64_C(0xBF1D8E84914F7237)},
    {"f32_fill_grid", golden_f32_fill_grid, 8400, UINT64_C(0xD47C5271464BB30A)},
    {"f32_psnr_grid", golden_f32_psnr_grid, 21600, UINT64_C(0x3AAB3A626233E15F)},
    {"f32_psnr_worst_grid", golden_f32_psnr_worst_grid, 21600, UINT64_C(0x2C0B7DBD770493F9)},
    {"f64_3d_rel_grid", golden_f64_3d_rel_grid, 48024, UINT64_C(0x9C3832620E51BA54)},
    {"constant_whole", golden_constant_whole, 320000, UINT64_C(0xEAF53BC4FC8F330C)},
    {"f32_whole", golden_f32_whole, 80000, UINT64_C(0x34A853CA257C1744)},
    {"interp_f32", NULL, 40172, UINT64_C(0x29E2D9648AF6A255)},
    {"interp_f64", NULL, 92352, UINT64_C(0xA4D4F00DB20CEE7F)},
    {"interp_lorenzo", NULL, 88000, UINT64_C(0x5B5C7376B82C07F5)},
    {"interp_rest", NULL, 1200000, UINT64_C(0x5F6BD6CDC5893BEB)},
    {"interp_flare", golden_interp_flare, 117600, UINT64_C(0x4BB0BD6132223F0A)},
    {"big_endian", golden_big_endian, 47560, UINT64_C(0x4FF3B1FF0271F2CA)},
    {"components", golden_components, 16672, UINT64_C(0x3C79926200B03E5C)},
    {"interp_f32_fine", golden_interp_f32_fine, 40172, UINT64_C(0x093410FED6432758)},
    {"interp_f64_fine", golden_interp_f64_fine, 92352, UINT64_C(0xB90FD44A5194710A)},
    {"interp_lorenzo_yx", golden_interp_lorenzo_yx, 88000, UINT64_C(0x5B5C7376B82C07F5)},
    {"interp_rest_lorenzo", golden_interp_rest_lorenzo, 1200000, UINT64_C(0x5F6BD6CDC5893BEB)},
    {"interp_planes", golden_interp_planes, 60480, UINT64_C(0xF1D998F63C2239FE)},
    {"huffman_once_grid", golden_huffman_once_grid, 44556, UINT64_C(0xA4FCB82F6FB258B4)},
    {"interp_books", golden_interp_books, 208000, UINT64_C(0x1A2B57F2F08BC168)},
};

#define GOLDEN_COUNT (sizeof golden_cases / sizeof golden_cases[0])

static inline void golden_free(struct golden *g)
{
    for (size_t i = 0; i < g->records; i++)
        zmpi_extent_free(&g->record[i].extent);
}

#endif
