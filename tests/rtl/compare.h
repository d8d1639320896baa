/* compare.h - what the tests of the simulated engine share: its streams against those of the CPU.
 */
#ifndef ZMPI_RTL_COMPARE_H
#define ZMPI_RTL_COMPARE_H

#include "kit.h"

#include "engine_sim.h"

static inline struct zmpi_rtl *open_engine(unsigned n)
{
    struct zmpi_rtl *rtl = zmpi_rtl_open(n);
    cr_assert_not_null(rtl, "no engine of %u lanes", n);
    return rtl;
}

static inline struct zmpi_job make_job(const struct zmpi_array *a, struct zmpi_bound bound,
                                       int encoder, const void *data)
{
    struct zmpi_range range;
    struct zmpi_job job;
    zmpi_range_of(a->type, data, kit_elements(a), &range);
    cr_assert_eq(zmpi_job_make(a, &bound, &range, &job), ZMPI_OK);
    job.encoder = encoder;
    return job;
}

/* By the engine and by the CPU; the CPU decodes what the engine made. Returns the stream. */
static inline struct kit_stream check_job(struct zmpi_rtl *rtl, const struct zmpi_job *job,
                                          const void *data, const char *what)
{
    const struct zmpi_array *a = &job->array;
    size_t capacity = zmpi_compress_capacity(a), size = 0;
    struct kit_stream cpu = {malloc(capacity), 0};
    cr_assert_eq(zmpi_device_cpu()->compress(job, cpu.data, capacity, data, &cpu.size), ZMPI_OK);
    struct kit_guarded out = kit_guard(capacity, true);
    enum zmpi_status status = zmpi_rtl_compress(rtl, job, out.data, capacity, data, &size);
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
    return cpu;
}

static inline struct kit_stream check_encoder(struct zmpi_rtl *rtl, const struct zmpi_array *a,
                                              struct zmpi_bound bound, int encoder,
                                              const void *data, const char *what)
{
    const struct zmpi_job job = make_job(a, bound, encoder, data);
    return check_job(rtl, &job, data, what);
}

#endif
