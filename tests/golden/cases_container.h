/* cases_container.h - golden files of several records: places, crashes, byte order, components. */
#ifndef GOLDEN_CASES_CONTAINER_H
#define GOLDEN_CASES_CONTAINER_H

#include "golden.h"

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

#endif
