/*
 * kernels_edges.c - what random arrays rarely are: empty or one element, many chunks, parts of a
 * stream, buffers that are too small, values at the limits, psnr bounds that the first try misses,
 * the range.
 */
#include <float.h>
#include <stdio.h>

#include "bound/errors.h"
#include "kernel_kit.h"

#include "../../gpu/kernels/blocks.h"

static void check(const struct zmpi_array *a, struct zmpi_bound bound, const void *data,
                  const char *what)
{
    struct zmpi_job job = kk_job(a, bound, 0, data);
    kk_check(&job, data, what);
}

static const struct zmpi_bound bounds[] = {
    {ZMPI_ABS, 1e-3}, {ZMPI_REL, 1e-3}, {ZMPI_LOSSLESS, 0}, {ZMPI_PW_REL, 1e-3}, {ZMPI_PSNR, 70}};

Test(kernels_edges, sizes)
{
    static const size_t size[] = {0, 1, 2, 3, 5, 31, 32, 33, 511, 512, 513, 8191, 8192, 8193};
    struct kit_random r = {1};
    for (enum zmpi_type type = ZMPI_F32; type <= ZMPI_BYTES; type++)
        for (size_t i = 0; i < KIT_COUNT(size); i++) {
            struct zmpi_array a = kit_array(type, 1, 1, size[i]);
            void *data = kit_make(&r, &a, i % 2 != 0 ? KIT_SPECIAL : KIT_SMOOTH);
            char what[80];
            snprintf(what, sizeof what, "type %d, %zu elements", type, size[i]);
            check(&a, bounds[i % KIT_COUNT(bounds)], data, what);
            free(data);
        }
}

Test(kernels_edges, empty)
{
    struct zmpi_array a = kit_array(ZMPI_F64, 3, 0, 7);
    check(&a, kit_abs(1), "", "3 x 0 x 7");
}

/* Two warps and more of predecessors to look back over. */
Test(kernels_edges, many_chunks)
{
    struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, 66 * 8192 + 5);
    struct kit_random r = {2};
    float *data = kit_make(&r, &a, KIT_CONSTANT);
    data[50 * 8192] = 1;
    check(&a, kit_abs(1e-3), data, "67 chunks");
    free(data);
}

/* ---- parts ---- */

Test(kernels_edges, parts)
{
    struct zmpi_array a = kit_array(ZMPI_F32, 1, 200, 300);
    struct kit_random r = {3};
    float *data = kit_make(&r, &a, KIT_SMOOTH);
    struct zmpi_job job = kk_job(&a, kit_abs(1e-3), 0, data);
    struct kit_stream s = kk_cpu(&job, data);
    struct zmpi_stream parsed;
    cr_assert_eq(zmpi_stream_parse(&parsed, s.data, s.size), ZMPI_OK);
    cr_assert_gt(parsed.info.chunks, 5);
    for (unsigned turn = 0; turn < 6; turn++) {
        struct kit_guarded need = kit_guard(parsed.info.chunks, true);
        unsigned char *expected = malloc(kit_bytes(&a)), *out = malloc(kit_bytes(&a) + 16);
        for (size_t k = 0; k < parsed.info.chunks; k++)
            need.data[k] = turn > 0 && kit_below(&r, 3) == 0;
        memset(expected, 0x5A, kit_bytes(&a));
        memset(out, 0x5A, kit_bytes(&a) + 16);
        kk_turn(turn);
        cr_assert_eq(zmpi_stream_decode(&parsed, need.data, 1, expected, NULL), ZMPI_OK);
        /* At an address that 16 does not divide, now and then. */
        cr_assert_eq(kk_decode(&s, need.data, out + turn % 3 * 4, NULL), ZMPI_OK);
        cr_assert(memcmp(out + turn % 3 * 4, expected, kit_bytes(&a)) == 0, "turn %u", turn);
        free(expected);
        free(out);
        kit_unguard(&need);
    }
    free(s.data);
    free(data);
}

Test(kernels_edges, capacity)
{
    struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, 30000);
    struct kit_random r = {4};
    float *data = kit_make(&r, &a, KIT_SMOOTH);
    struct zmpi_job job = kk_job(&a, kit_abs(1e-3), 0, data);
    struct kit_stream cpu = kk_cpu(&job, data), gpu;
    const size_t head = 80 + 8 * 4;
    for (size_t less = 0; less < 6; less++) {
        size_t capacity = less == 5 ? head : cpu.size / 16 * 16 - 4096 * less;
        kk_turn(less);
        cr_assert_eq(kk_gpu(&job, data, capacity, &gpu), ZMPI_ERR_SPACE, "%zu", capacity);
    }
    cr_assert_eq(kk_gpu(&job, data, cpu.size, &gpu), ZMPI_OK);
    cr_assert(gpu.size == cpu.size && memcmp(gpu.data, cpu.data, cpu.size) == 0);
    free(gpu.data);
    free(cpu.data);
    free(data);
}

/* Arrays that begin at addresses with any alignment, or none. */
Test(kernels_edges, unaligned)
{
    struct kit_random r = {5};
    for (size_t shift = 0; shift < 8; shift++) {
        struct zmpi_array a = kit_array(ZMPI_BYTES, 1, 1, 33000 + shift);
        unsigned char *data = kit_make(&r, &a, KIT_SMOOTH), *raw = malloc(kit_bytes(&a) + 16);
        unsigned char *at = (unsigned char *)((uintptr_t)raw + (8 - (uintptr_t)raw % 8)) + shift;
        memcpy(at, data, kit_bytes(&a));
        struct zmpi_job job = kk_job(&a, kit_abs(1), 0, data);
        struct kit_stream cpu = kk_cpu(&job, data), gpu;
        kk_turn(shift);
        cr_assert_eq(kk_gpu(&job, at, zmpi_compress_capacity(&a), &gpu), ZMPI_OK);
        cr_assert(gpu.size == cpu.size && memcmp(gpu.data, cpu.data, cpu.size) == 0, "%zu", shift);
        memset(at, 0, kit_bytes(&a));
        cr_assert_eq(kk_decode(&gpu, NULL, at, NULL), ZMPI_OK);
        cr_assert(memcmp(at, data, kit_bytes(&a)) == 0, "%zu", shift);
        free(gpu.data);
        free(cpu.data);
        free(data);
        free(raw);
    }
}

/* ---- values ---- */

/* At the limits of all levels of the step, and half-way between its multiples. */
static void limits(enum zmpi_type type, double bound, uint64_t seed)
{
    struct zmpi_array a = kit_array(type, 1, 40, 250);
    struct kit_random r = {seed};
    double *values = malloc(kit_elements(&a) * sizeof *values);
    void *data = malloc(kit_bytes(&a));
    struct zmpi_job job = {.array = a,
                           .bound = {ZMPI_ABS, bound},
                           .abs_bound = bound,
                           .keep = seed % 2 != 0 ? 1e20 : (double)INFINITY,
                           .encoder = 1,
                           .threads = 1};
    struct zmpi_cuda_plan plan;
    cr_assert_eq(zmpi_cuda_plan_make(&job, &plan), ZMPI_OK);
    for (size_t i = 0; i < kit_elements(&a); i++) {
        const size_t l = kit_below(&r, 3);
        const double step = plan.rule.level[l].step, limit = plan.rule.level[l].limit;
        const double m = (double)kit_below(&r, 1000), sign = kit_below(&r, 2) ? 1 : -1;
        const double of[] = {limit,
                             nextafterf((float)limit, INFINITY),
                             nextafter(limit, 0),
                             (m + 0.5) * step,
                             nextafter((m + 0.5) * step, 0),
                             kit_special(&r, type)};
        double v = i / 5000 % 2 != 0 ? m * plan.rule.level[0].step : m * step;
        kit_put(type, data, i, sign * (kit_below(&r, 12) ? v : of[kit_below(&r, 6)]));
    }
    char what[80];
    snprintf(what, sizeof what, "limits, type %d, bound %g", type, bound);
    kk_check(&job, data, what);
    free(values);
    free(data);
}

Test(kernels_edges, limits)
{
    static const float bound[] = {1e-3F, 0.7F, 1e-6F, 1e3F, 1e10F};
    for (uint64_t i = 0; i < KK_CASES(9); i++) {
        limits(ZMPI_F32, (double)bound[i % 5], i);
        limits(ZMPI_F64, (double)bound[i % 5], i);
    }
}

/* Residuals of every length, with either sign. */
Test(kernels_edges, lengths)
{
    struct kit_random r = {6};
    for (enum zmpi_type type = ZMPI_I32; type <= ZMPI_I64; type++) {
        struct zmpi_array a = kit_array(type, 1, 1, 130 * 32);
        const unsigned width = (unsigned)zmpi_type_size(type);
        unsigned char *data = malloc(kit_bytes(&a));
        uint64_t sum = 0;
        for (size_t i = 0; i < kit_elements(&a); i++) {
            unsigned length = (unsigned)(i / 32) % (8 * width + 1);
            uint64_t u = length ? kit_next(&r) >> (64 - length) : 0;
            sum += kit_below(&r, 2) ? 0 - u : u;
            memcpy(data + i * width, &sum, width);
        }
        check(&a, kit_abs(1), data, "lengths");
        free(data);
    }
}

/* Rows, or planes, so far apart that 32 bits cannot hold the distance: their words go one by one.
 */
Test(kernels_edges, far_apart)
{
    static const struct {
        uint64_t words[3];
        uint32_t vector;
    } of[] = {{{1, 64, UINT64_C(1) << 30}, 1},
              {{1, 64, (UINT64_C(1) << 30) + 256}, 0},
              {{16, UINT64_C(1) << 20, 1024}, 1},
              {{16, (UINT64_C(1) << 20) + 16, 1024}, 0},
              {{1, (UINT64_C(1) << 20) + 16, 1024}, 1}};
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        const uint64_t *w = of[i].words, tiles = w[1] / 16 * (w[2] / 256);
        const struct zmpi_cuda_tiles t = {.words = {w[0], w[1], w[2]},
                                          .grid = {1, w[1] / 16, w[2] / 256},
                                          .tile = {2, 16, 256},
                                          .width = 4,
                                          .bytes = 4 * w[0] * w[1] * w[2],
                                          .chunks = tiles};
        struct tile c;
        tile_of(&t, 0, NULL, &c);
        cr_assert_eq(c.vector, of[i].vector, "%zu", i);
    }
}

/* A residual of -2^63 beside an exception: a length byte cannot tell both. */
Test(kernels_edges, longest_residual_beside_exception)
{
    enum { N = 64 };
    struct zmpi_array a = kit_array(ZMPI_F64, 1, N, N);
    const double below = 2 - 0x1p-51;
    struct kit_random r = {8};
    double row[N], column[N], *data = malloc(kit_bytes(&a));
    for (size_t i = 0; i < N; i++) {
        row[i] = (double)kit_below(&r, 100000);
        column[i] = (double)kit_below(&r, 100000);
    }
    for (size_t i = 0; i < N * N; i++) /* differences go along x and y */
        data[i] = 1 + (row[i / N] + column[i % N]) * 0x1p-45;
    data[30 * N + 10] = data[31 * N + 11] = 2;
    data[30 * N + 11] = data[31 * N + 10] = -below;
    data[31 * N + 14] = (double)NAN;
    check(&a, (struct zmpi_bound){ZMPI_PW_REL, 3e-16}, data, "longest residual");
    free(data);
}

/* All errors are as large as allowed: neither the first bound nor the second suffices. */
Test(kernels_edges, psnr)
{
    for (enum zmpi_type type = ZMPI_F32; type <= ZMPI_F64; type++)
        for (int kind = 0; kind < 2; kind++) {
            struct zmpi_array a = kit_array(type, 1, 1, 9000);
            void *data = malloc(kit_bytes(&a));
            struct zmpi_job job;
            struct zmpi_range range = {0, 1000, (double)INFINITY};
            struct zmpi_bound bound = {ZMPI_PSNR, 60};
            struct zmpi_cuda_plan plan;
            cr_assert_eq(zmpi_job_make(&a, &bound, &range, &job), ZMPI_OK);
            cr_assert_eq(zmpi_cuda_plan_make(&job, &plan), ZMPI_OK);
            for (size_t i = 0; i < 9000; i++)
                kit_put(type, data, i,
                        plan.rule.level[0].step * ((double)(i % 300) + (kind ? 0.4999 : 0.46)));
            kk_check(&job, data, kind ? "psnr, worst" : "psnr, bad");
            free(data);
        }
}

/* The errors themselves: those of the CPU, of exact, ordinary, special and fill values. */
static void check_errors(enum zmpi_type type, enum kit_data kind)
{
    struct zmpi_array a = kit_array(type, 1, 70, 211);
    struct kit_random r = {(uint64_t)kind};
    void *data = kit_make(&r, &a, kind);
    const size_t width = zmpi_type_size(type);
    for (size_t i = 0; i < kit_elements(&a); i += 3)
        kit_put(type, data, i, 2);
    struct zmpi_job job = kk_job(&a, (struct zmpi_bound){ZMPI_PSNR, 50}, 0, data);
    struct zmpi_cuda_plan plan;
    struct zmpi_cuda_result result;
    size_t capacity = zmpi_compress_capacity(&a), bytes = kit_bytes(&a);
    cr_assert_eq(zmpi_cuda_plan_make(&job, &plan), ZMPI_OK);
    cr_assert_gt(plan.rmse, 0);
    struct kit_guarded dst = kit_guard((capacity + 15) / 16 * 16, true);
    struct kit_guarded work = kit_guard((zmpi_cuda_compress_workspace(&plan) + 15) / 16 * 16, true);
    kk_turn((uint64_t)kind);
    cr_assert_eq(zmpi_cuda_compress(&plan, data, dst.data, capacity, work.data, NULL), 0, "%s",
                 zmpi_emu_message());
    memcpy(&result, work.data, sizeof result);
    zmpi_cuda_header(&plan, result.length, dst.data);
    unsigned char *decoded = malloc(bytes);
    cr_assert_eq(zmpi_decompress(decoded, bytes, dst.data, result.length), ZMPI_OK);
    struct zmpi_errors e = {0, 0};
    struct zmpi_rows rows = {.at = data, .row = 211 * width, .plane = 0};
    zmpi_errors_add(&e, type, &rows, (size_t[]){1, 70, 211}, decoded, job.abs_bound, job.keep);
    cr_assert(e.squares > 0 && e.count > 0);
    cr_assert(result.squares == e.squares && result.count == e.count, "type %d, data %d", type,
              kind);
    free(decoded);
    free(data);
    kit_unguard(&dst);
    kit_unguard(&work);
}

Test(kernels_edges, errors)
{
    for (enum zmpi_type type = ZMPI_F32; type <= ZMPI_F64; type++) {
        check_errors(type, KIT_SMOOTH);
        check_errors(type, KIT_SPECIAL);
        check_errors(type, KIT_PATCHES);
    }
}

/* ---- the range ---- */

static void check_range(enum zmpi_type type, size_t n, size_t shift, int kind, double threshold)
{
    struct zmpi_array a = kit_array(type, 1, 1, n);
    struct kit_random r = {n + shift};
    const size_t width = zmpi_type_size(type);
    unsigned char *data = kit_make(&r, &a, (enum kit_data)kind);
    struct kit_guarded src = kit_guard(n * width + shift * width, true);
    _Alignas(16) unsigned char work[ZMPI_CUDA_RANGE_WORKSPACE];
    struct zmpi_range expected, got;
    memcpy(src.data + shift * width, data, n * width);
    memset(work, 0xA5, sizeof work);
    zmpi_range_scan(type, data, n, threshold, 1, &expected);
    cr_assert_eq(zmpi_cuda_range(type, src.data + shift * width, n, threshold, work, NULL), 0, "%s",
                 zmpi_emu_message());
    memcpy(&got, work, sizeof got);
    cr_assert(got.min == expected.min && got.max == expected.max && got.fill == expected.fill,
              "type %d, %zu elements, data %d, threshold %g: %g %g %g, not %g %g %g", type, n, kind,
              threshold, got.min, got.max, got.fill, expected.min, expected.max, expected.fill);
    kit_unguard(&src);
    free(data);
}

Test(kernels_edges, range)
{
    static const size_t size[] = {0, 1, 3, 33, 2000, 20000};
    for (enum zmpi_type type = ZMPI_F32; type <= ZMPI_F64; type++)
        for (size_t i = 0; i < KIT_COUNT(size); i++)
            for (int kind = 0; kind < KIT_DATA_KINDS; kind++) {
                kk_turn((uint64_t)kind);
                check_range(type, size[i], 0, kind, kind % 2 != 0 ? 0 : 6.1);
                check_range(type, size[i] % 5000, i % 4, kind, 0);
                check_range(type, size[i] % 3000, 0, kind, 1e20);
            }
}
