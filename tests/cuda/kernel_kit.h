/*
 * kernel_kit.h - arrays through the kernels of gpu/ in the emulator, compared with the CPU's codec.
 * Device memory is the test's own here, between guard pages; a launch runs at once.
 */
#ifndef ZMPI_TESTS_CUDA_KERNEL_KIT_H
#define ZMPI_TESTS_CUDA_KERNEL_KIT_H

#include <cuda_runtime.h>

#include "../../gpu/kernels/kernels.h"
#include "../unit/kit.h"
#include "base/bytes.h"
#include "device.h"
#include "emulator.h"

/* Sanitizers take three times as long. */
#ifdef __SANITIZE_ADDRESS__
#define KK_CASES(n) ((n) / 3)
#else
#define KK_CASES(n) (n)
#endif

static struct zmpi_emu_config kk_config;
static bool kk_failed; /* a launch */
static bool kk_parts;  /* several launches, one after the other, for some chunks each */

/* Replaces the emulator's function, which queues launches. */
int zmpi_emu_launch(const struct zmpi_emu_grid *grid, struct zmpi_emu_stream *stream)
{
    (void)stream;
    if (zmpi_emu_run(&kk_config, grid) == 0)
        return cudaSuccess;
    kk_failed = true;
    cr_log_error("%s", zmpi_emu_message());
    return cudaErrorLaunchFailure;
}

/* Another order of execution for each turn. */
static void kk_turn(uint64_t turn)
{
    static const unsigned resident[] = {1, 2, 3, 8};
    zmpi_emu_defaults(&kk_config);
    kk_config.resident = resident[turn % 4];
    kk_config.seed = turn * 7919 + 1;
    kk_config.store_buffer = 1;
    kk_config.delay = turn % 3 ? 16 : 0;
    kk_parts = turn % 5 < 2;
}

static struct zmpi_job kk_job(const struct zmpi_array *a, struct zmpi_bound bound, double threshold,
                              const void *src)
{
    struct zmpi_job job;
    struct zmpi_range range;
    zmpi_range_scan(a->type, src, kit_elements(a), threshold, 1, &range);
    cr_assert_eq(zmpi_job_make(a, &bound, &range, &job), ZMPI_OK);
    zmpi_job_threshold(&job, threshold);
    return job;
}

static struct kit_stream kk_cpu(const struct zmpi_job *job, const void *src)
{
    size_t capacity = zmpi_compress_capacity(&job->array);
    struct kit_stream s = {malloc(capacity), 0};
    cr_assert_eq(zmpi_device_cpu()->compress(job, s.data, capacity, src, &s.size), ZMPI_OK);
    return s;
}

/* Takes half of what is left each time; the states of the look-back connect the launches. */
static int kk_compress(const struct zmpi_cuda_plan *plan, const void *src, void *dst,
                       size_t capacity, unsigned char *work)
{
    size_t left = plan->layout.chunks;
    if (!kk_parts)
        return zmpi_cuda_compress(plan, src, dst, capacity, work, NULL);
    const int given = zmpi_cuda_axes_given(plan);
    int error = zmpi_cuda_compress_begin(
        plan, src, given == ZMPI_CUDA_CHOOSE ? zmpi_cuda_axes(plan, src) : given, work, NULL);
    for (uint64_t end = zmpi_plan_head(&plan->layout), next; left > 0 && !error; end = next) {
        const size_t some = (left + 1) / 2;
        error = zmpi_cuda_compress_some(plan, src, dst, capacity, some, work, NULL);
        left -= some;
        next =
            zmpi_cuda_end(plan, zmpi_load64(work + zmpi_cuda_end_at(plan->layout.chunks - left)));
        cr_assert(error || next >= end + 4 * some, "chunks end at %zu", (size_t)next);
        if (left == 0 && !error)
            cr_assert_eq(zmpi_load64(work), next);
    }
    return error;
}

static int kk_decompress(const struct zmpi_cuda_decode_plan *plan, const void *src,
                         const unsigned char *need, void *dst, void *work)
{
    size_t left = plan->tiles.chunks;
    if (!kk_parts)
        return zmpi_cuda_decompress(plan, src, need, dst, work, NULL);
    int error = zmpi_cuda_decompress_begin(plan, work, NULL);
    for (size_t some; left > 0 && !error; left -= some) {
        some = (left + 1) / 2;
        error = zmpi_cuda_decompress_some(plan, src, need, dst, some, work, NULL);
    }
    return error;
}

/* By the kernels; s->data is malloc'ed on ZMPI_OK. */
static enum zmpi_status kk_gpu(const struct zmpi_job *job, const void *src, size_t capacity,
                               struct kit_stream *s)
{
    struct zmpi_cuda_plan plan;
    struct zmpi_cuda_result result;
    bool again = true;
    enum zmpi_status status = zmpi_cuda_plan_make(job, &plan);
    struct kit_guarded dst = kit_guard((capacity + 15) / 16 * 16, true);
    struct kit_guarded work = kit_guard((zmpi_cuda_compress_workspace(&plan) + 15) / 16 * 16, true);
    memset(work.data, 0xA5, zmpi_cuda_compress_workspace(&plan));
    while (!status && again) {
        int error = kk_compress(&plan, src, dst.data, capacity, work.data);
        cr_assert_eq(error, 0, "%s", zmpi_emu_message());
        memcpy(&result, work.data, sizeof result);
        status = zmpi_cuda_judge(&plan, &result, &again);
    }
    if (!status) {
        zmpi_cuda_header(&plan, result.length, dst.data);
        s->size = result.length;
        s->data = malloc(s->size);
        memcpy(s->data, dst.data, s->size);
    }
    kit_unguard(&dst);
    kit_unguard(&work);
    return status;
}

/* Decodes by the kernels to dst, whose other bytes must stay. shift: added to dst's address. */
static enum zmpi_status kk_decode(const struct kit_stream *s, const unsigned char *need,
                                  unsigned char *dst, size_t *bad)
{
    struct zmpi_stream parsed;
    struct zmpi_cuda_decode_plan plan = {0};
    struct kit_guarded src = kit_guard((s->size + 15) / 16 * 16, true);
    unsigned char *at = src.data; /* 16-byte aligned; what lies behind the stream is never read */
    memcpy(at, s->data, s->size);
    enum zmpi_status status = zmpi_stream_parse(&parsed, at, s->size);
    if (!status)
        status = zmpi_cuda_decode_plan_make(&parsed, &plan);
    if (!status) {
        struct kit_guarded work =
            kit_guard((zmpi_cuda_decompress_workspace(&plan) + 15) / 16 * 16, true);
        uint64_t answer;
        memset(work.data, 0xA5, zmpi_cuda_decompress_workspace(&plan));
        int error = kk_decompress(&plan, at, need, dst, work.data);
        cr_assert_eq(error, 0, "%s", zmpi_emu_message());
        memcpy(&answer, work.data, sizeof answer);
        status = zmpi_cuda_verdict(answer, bad);
        kit_unguard(&work);
    }
    kit_unguard(&src);
    return status;
}

/* What lies behind a buffer that begins its page. */
static inline size_t kk_behind(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (page - bytes % page) % page;
}

/* One array: the same bytes as the CPU's, and decoded the same. */
static inline void kk_check(const struct zmpi_job *asked, const void *data, const char *what)
{
    static unsigned turn;
    struct zmpi_job along = *asked;
    const struct zmpi_job *job = &along;
    const size_t bytes = kit_bytes(&job->array), size = zmpi_type_size(job->array.type);
    kk_turn(++turn);
    along.axes = turn % 3 ? 0 : ZMPI_AXES_GIVEN | turn / 3 % 8;
    const bool src_ends = turn % 2 != 0, out_ends = turn % 4 < 2;
    /* An address that is aligned as the type needs, and sometimes no better. */
    struct kit_guarded src = kit_guard(bytes, src_ends), out = kit_guard(bytes, out_ends);
    memcpy(src.data, data, bytes);
    memset(src.data + bytes, 0xEE, src_ends ? 0 : kk_behind(bytes));
    memset(out.data + bytes, 0xEE, out_ends ? 0 : kk_behind(bytes));
    struct kit_stream cpu = kk_cpu(job, src.data), gpu = {NULL, 0};
    cr_assert_eq(kk_gpu(job, src.data, zmpi_compress_capacity(&job->array), &gpu), ZMPI_OK, "%s",
                 what);
    size_t same = 0;
    while (same < cpu.size && same < gpu.size && cpu.data[same] == gpu.data[same])
        same++;
    cr_assert(gpu.size == cpu.size && same == cpu.size,
              "%s: %zu bytes, not %zu; the first %zu are the same", what, gpu.size, cpu.size, same);
    unsigned char *expected = malloc(bytes + 1);
    cr_assert_eq(zmpi_decompress(expected, bytes, cpu.data, cpu.size), ZMPI_OK);
    size_t bad = 0;
    enum zmpi_status status = kk_decode(&gpu, NULL, out.data, &bad);
    cr_assert_eq(status, ZMPI_OK, "%s: decode: %s, chunk %zu", what, zmpi_strerror(status), bad);
    for (same = 0; same < bytes && expected[same] == out.data[same];)
        same++;
    cr_assert_eq(same, bytes, "%s: decoded element %zu differs", what, same / size);
    for (size_t i = 0; !out_ends && i < kk_behind(bytes); i++)
        cr_assert_eq(out.data[bytes + i], 0xEE, "%s: byte %zu behind the array", what, i);
    free(expected);
    free(cpu.data);
    free(gpu.data);
    kit_unguard(&src);
    kit_unguard(&out);
}

#endif
