/* engine.c - the engine's streams are those of the CPU: every kind of data, shape and bound, with
 * sources and sinks that stall. */
#include <stdio.h>

#include "kit.h"

#include "engine_sim.h"

static const unsigned lanes[] = {1, 4, 32};

/* By the engine and by the CPU; the CPU decodes what the engine made. */
static void check(struct zmpi_rtl *rtl, const struct zmpi_array *a, struct zmpi_bound bound,
                  const void *data, const char *what)
{
    struct zmpi_range range;
    struct zmpi_job job;
    size_t capacity = zmpi_compress_capacity(a), size = 0;
    zmpi_range_of(a->type, data, kit_elements(a), &range);
    cr_assert_eq(zmpi_job_make(a, &bound, &range, &job), ZMPI_OK);
    struct kit_stream cpu = {malloc(capacity), 0};
    cr_assert_eq(zmpi_device_cpu()->compress(&job, cpu.data, capacity, data, &cpu.size), ZMPI_OK);
    struct kit_guarded out = kit_guard(capacity, true);
    enum zmpi_status status = zmpi_rtl_compress(rtl, &job, out.data, capacity, data, &size);
    cr_assert_eq(status, ZMPI_OK, "%s: %s", what, zmpi_strerror(status));
    size_t same = 0;
    while (same < size && same < cpu.size && out.data[same] == cpu.data[same])
        same++;
    cr_assert(size == cpu.size && same == size, "%s: %zu bytes, not %zu; they differ from byte %zu",
              what, size, cpu.size, same);
    struct kit_stream made = {out.data, size};
    void *back = kit_decompress(&made);
    kit_check(a, data, back, kit_abs_bound(&made), what);
    free(back);
    kit_unguard(&out);
    free(cpu.data);
}

static struct zmpi_rtl *open_engine(unsigned n)
{
    struct zmpi_rtl *rtl = zmpi_rtl_open(n);
    cr_assert_not_null(rtl, "no engine of %u lanes", n);
    return rtl;
}

Test(rtl, every_kind_of_data)
{
    static const size_t shape[][3] = {{1, 1, 8192}, {1, 1, 5000}, {1, 1, 17},
                                      {1, 90, 100}, {1, 7, 3},    {5, 30, 33}};
    static const double bound[] = {1e-3, 1e-1, 1e-6, 1e30};
    for (size_t l = 0; l < KIT_COUNT(lanes); l++) {
        struct zmpi_rtl *rtl = open_engine(lanes[l]);
        struct kit_random r = {lanes[l]};
        for (int kind = 0; kind < KIT_DATA_KINDS; kind++)
            for (size_t s = 0; s < KIT_COUNT(shape); s++) {
                struct zmpi_array a = kit_array(ZMPI_F32, shape[s][0], shape[s][1], shape[s][2]);
                void *data = kit_make(&r, &a, kind);
                char what[80];
                double b = bound[kit_below(&r, KIT_COUNT(bound))];
                snprintf(what, sizeof what, "%u lanes, data %d, shape %zu, bound %g", lanes[l],
                         kind, s, b);
                zmpi_rtl_stall(rtl, s % 2 ? 100 : 0, s % 3 ? 90 : 0, (unsigned)s + 1);
                check(rtl, &a, kit_abs(b), data, what);
                free(data);
            }
        zmpi_rtl_close(rtl);
    }
}

/* Several chunks, clipped ones among them; data that are multiples of a step already. */
Test(rtl, arrays)
{
    static const size_t shape[][3] = {{1, 1, 40000}, {1, 300, 300}, {40, 40, 20}};
    for (size_t l = 0; l < KIT_COUNT(lanes); l++) {
        struct zmpi_rtl *rtl = open_engine(lanes[l]);
        struct kit_random r = {7};
        for (size_t s = 0; s < KIT_COUNT(shape); s++) {
            struct zmpi_array a = kit_array(ZMPI_F32, shape[s][0], shape[s][1], shape[s][2]);
            void *data = kit_make(&r, &a, s == 1 ? KIT_PATCHES : KIT_SMOOTH);
            zmpi_rtl_stall(rtl, 20, 20, 5);
            check(rtl, &a, kit_rel(1e-3), data, "array");
            struct kit_stream once = kit_compress(&a, kit_rel(1e-3), data);
            void *again = kit_decompress(&once);
            check(rtl, &a, kit_abs(kit_abs_bound(&once)), again, "array again");
            free(again);
            free(once.data);
            free(data);
        }
        zmpi_rtl_close(rtl);
    }
}

Test(rtl, exact_types)
{
    static const enum zmpi_type type[] = {ZMPI_F32, ZMPI_I32, ZMPI_BYTES};
    struct zmpi_rtl *rtl = open_engine(4);
    struct kit_random r = {3};
    for (size_t t = 0; t < KIT_COUNT(type); t++)
        for (int kind = 0; kind < KIT_DATA_KINDS; kind++) {
            struct zmpi_array a = kit_array(type[t], 1, 1, 9001 + kit_below(&r, 8));
            void *data = kit_make(&r, &a, kind);
            check(rtl, &a, (struct zmpi_bound){ZMPI_LOSSLESS, 0}, data, "exact");
            free(data);
        }
    zmpi_rtl_close(rtl);
}

/* A beat a cycle while a chunk is encoded: what is more is told by docs/rtl.md. */
Test(rtl, cycles)
{
    for (size_t l = 0; l < KIT_COUNT(lanes); l++) {
        struct zmpi_rtl *rtl = open_engine(lanes[l]);
        struct kit_random r = {9};
        struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, 32 * 8192);
        void *data = kit_make(&r, &a, KIT_SMOOTH);
        zmpi_rtl_count(rtl);
        check(rtl, &a, kit_abs(1e-3), data, "long");
        struct zmpi_rtl_counts c = zmpi_rtl_count(rtl);
        size_t beats = 32 * 8192 / lanes[l];
        cr_log_info("%u lanes: %lu cycles for %zu beats", lanes[l], (unsigned long)c.cycles, beats);
        cr_assert_eq(c.beats_in, beats);
        cr_assert_eq(c.chunks, 32);
        cr_assert_leq(c.cycles, beats + 32 * 20 + 2 * 8192 / lanes[l] + 100);
        free(data);
        zmpi_rtl_close(rtl);
    }
}

Test(rtl, refuses_what_it_has_not)
{
    struct zmpi_rtl *rtl = open_engine(4);
    struct zmpi_array a = kit_array(ZMPI_F64, 1, 1, 4);
    struct zmpi_bound bound = kit_abs(1);
    struct zmpi_job job;
    unsigned char out[256];
    double data[4] = {1, 2, 3, 4};
    size_t size;
    cr_assert_null(zmpi_rtl_open(3));
    cr_assert_eq(zmpi_job_make(&a, &bound, NULL, &job), ZMPI_OK);
    cr_assert_eq(zmpi_rtl_compress(rtl, &job, out, sizeof out, data, &size), ZMPI_ERR_UNSUPPORTED);
    a = kit_array(ZMPI_I32, 1, 1, 8);
    cr_assert_eq(zmpi_job_make(&a, &bound, NULL, &job), ZMPI_OK);
    cr_assert_eq(zmpi_rtl_compress(rtl, &job, out, 100, data, &size), ZMPI_ERR_SPACE);
    cr_assert_eq(zmpi_rtl_compress(rtl, &job, out, sizeof out, data, &size), ZMPI_OK);
    zmpi_rtl_close(rtl);
}
