/* offload.c - arrays to the device that is best for them, and to the CPU if that fails. */
#include "device/offload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/decimal.h"
#include "base/log.h"
#include "bound/ratio.h"
#include "stream/compress_job.h"

/* One line for the first failure. What a device cannot do is none: the CPU does it. */
static void note_failure(struct zmpi_offload *o, const struct zmpi_device *device,
                         enum zmpi_status status, const char *problem)
{
    if (status == ZMPI_ERR_UNSUPPORTED || o->failed)
        return;
    o->failed = true;
    if (!problem && device->problem)
        problem = device->problem();
    zmpi_log(ZMPI_LOG_WARN, "%s: device %s: %s; using the CPU from here on", o->what, device->name,
             problem ? problem : zmpi_strerror(status));
}

/* The device for an array in memory of `holder`; NULL: the CPU. */
static const struct zmpi_device *
choose(const struct zmpi_offload *o, const struct zmpi_device *holder, const struct zmpi_work *work)
{
    const char *why;
    const struct zmpi_device *cpu = zmpi_device_cpu(), *found = holder;
    if (o->failed || strcmp(o->name, cpu->name) == 0)
        return NULL;
    if (!holder)
        found = zmpi_device_find(o->name, work, &why);
    if (!found || found == cpu || zmpi_device_for(found, work->encoder) != found)
        return NULL;
    return holder || (found->memory & ZMPI_MEMORY_HOST) ? found : NULL;
}

static void note_expected(struct zmpi_use *use, const struct zmpi_device *device,
                          const struct zmpi_work *work)
{
    const struct zmpi_device *cpu = zmpi_device_cpu();
    const double by_cpu = 1e3 * cpu->cost(work);
    const locale_t program = zmpi_decimal_begin();
    if (device == cpu)
        snprintf(use->why, sizeof use->why, "%zu bytes: %.3g ms expected", work->bytes, by_cpu);
    else
        snprintf(use->why, sizeof use->why, "%zu bytes: %.3g ms expected, on the CPU %.3g ms",
                 work->bytes, 1e3 * device->cost(work), by_cpu);
    zmpi_decimal_end(program);
}

static void note_choice(struct zmpi_offload *o, const struct zmpi_device *device, bool held,
                        const struct zmpi_work *work)
{
    const struct zmpi_device *cpu = zmpi_device_cpu();
    struct zmpi_use *use = work->decompress ? &o->decoded : &o->coded;
    if (device != cpu)
        use->bytes += work->bytes;
    if (device == use->last)
        return;
    use->last = device;
    if (o->failed && device == cpu)
        snprintf(use->why, sizeof use->why, "another device failed");
    else if (held)
        snprintf(use->why, sizeof use->why, "the data are in its memory");
    else if (strcmp(o->name, "auto") != 0)
        snprintf(use->why, sizeof use->why, "ZMPI_DEVICE=%.32s%s", o->name,
                 strcmp(o->name, device->name) != 0 ? ", which did not take it" : "");
    else
        note_expected(use, device, work);
}

/* Codes by the CPU; data of a device are copied to the host first. */
static enum zmpi_status on_cpu(const struct zmpi_job *job, const struct zmpi_device *holder,
                               void *dst, size_t capacity, const void *src, size_t bytes,
                               size_t *size)
{
    const struct zmpi_device *cpu = zmpi_device_cpu();
    if (!holder)
        return zmpi_job_compress(cpu, job, dst, capacity, src, size);
    void *copy = malloc(bytes ? bytes : 1);
    if (!copy)
        return ZMPI_ERR_MEMORY;
    enum zmpi_status status = zmpi_device_move(holder, copy, src, bytes);
    if (!status)
        status = zmpi_job_compress(cpu, job, dst, capacity, copy, size);
    free(copy);
    return status;
}

/* No device codes whole numbers and fill values that a user names. A bound that is still open is
 * found on the host, too. */
static bool belongs_here(const struct zmpi_job *job, const struct zmpi_device *holder,
                         const void *src)
{
    struct zmpi_job used = *job;
    if (!zmpi_job_open(job))
        zmpi_job_look(&used, src);
    else if (holder)
        return true;
    return zmpi_job_is_for_cpu(&used);
}

enum zmpi_status zmpi_offload_compress(struct zmpi_offload *o, const struct zmpi_job *job,
                                       const struct zmpi_device *holder, void *dst, size_t capacity,
                                       const void *src, size_t *size)
{
    struct zmpi_work work = {.encoder = job->encoder};
    enum zmpi_status status = zmpi_array_bytes(&job->array, &work.bytes);
    if (status)
        return status;
    const struct zmpi_device *device =
        belongs_here(job, holder, src) ? NULL : choose(o, holder, &work);
    if (device) {
        status = zmpi_job_compress(device, job, dst, capacity, src, size);
        /* All devices make the same bytes: if the stream does not fit the destination, the CPU's
         * does not either. */
        if (!status ||
            (status == ZMPI_ERR_SPACE && capacity < zmpi_compress_capacity(&job->array))) {
            note_choice(o, device, holder != NULL, &work);
            return status;
        }
        note_failure(o, device, status, NULL);
    }
    status = on_cpu(job, holder, dst, capacity, src, work.bytes, size);
    if (!status)
        note_choice(o, zmpi_device_cpu(), false, &work);
    return status;
}

struct zmpi_write_request *zmpi_offload_submit(struct zmpi_offload *o, const struct zmpi_job *job,
                                               const void *src, const char *path,
                                               const unsigned char id[16],
                                               const struct zmpi_device **device)
{
    struct zmpi_work work = {.encoder = job->encoder};
    struct zmpi_job used = *job;
    if (zmpi_array_bytes(&job->array, &work.bytes) || zmpi_job_open(job))
        return NULL;
    zmpi_job_look(&used, src);
    if (zmpi_job_is_for_cpu(&used))
        return NULL;
    *device = choose(o, NULL, &work);
    if (!*device || !(*device)->writer)
        return NULL;
    struct zmpi_write_request *request = (*device)->writer->submit(&used, src, path, id);
    if (request)
        note_choice(o, *device, false, &work);
    return request;
}

/* ---- decoding ---- */

/* One chunk in so many is decoded on the CPU too, and compared. */
enum { SAMPLED = 64 };

bool zmpi_offload_whole(const struct zmpi_stream *s, const unsigned char *need)
{
    size_t n = 0, bytes = 0, all = 0;
    for (size_t k = 0; need && k < s->info.chunks; k++) {
        const size_t size = zmpi_load32(s->table + 8 * k);
        all += size;
        n += need[k] != 0;
        bytes += need[k] ? size : 0;
    }
    return !need || (n >= s->info.chunks - s->info.chunks / 8 && bytes >= all - all / 4);
}

/* Decodes all of it. Damaged chunks, and those that cannot be compared, are left to the CPU. */
static enum zmpi_status by_device(const struct zmpi_device *device, const struct zmpi_stream *s,
                                  int threads, void *dst, const char **problem)
{
    if (!zmpi_stream_intact(s))
        return ZMPI_ERR_UNSUPPORTED;
    enum zmpi_status status =
        device->decompress(dst, s->info.decoded_bytes, s->src, s->info.length, NULL, threads);
    if (status)
        return status;
    status = zmpi_stream_compare(s, dst, 1 + s->info.chunks / SAMPLED);
    if (status == ZMPI_ERR_DEVICE)
        *problem = "it has decoded something else than the CPU";
    return status == ZMPI_ERR_MEMORY ? ZMPI_ERR_UNSUPPORTED : status;
}

enum zmpi_status zmpi_offload_decode(struct zmpi_offload *o, const struct zmpi_stream *s,
                                     const unsigned char *need, int threads, void *dst)
{
    const struct zmpi_work work = {s->info.decoded_bytes, s->info.encoder, true};
    const char *problem = NULL;
    enum zmpi_status there = ZMPI_ERR_UNSUPPORTED;
    const struct zmpi_device *device = NULL;
    if (o && work.bytes > 0 && !s->info.big_endian && !s->enhanced && strcmp(o->name, "cpu") != 0 &&
        zmpi_offload_whole(s, need))
        device = choose(o, NULL, &work);
    if (device)
        there = by_device(device, s, threads, dst, &problem);
    if (!there) {
        note_choice(o, device, false, &work);
        return ZMPI_OK;
    }
    /* Decodes by the CPU what the device failed at: if the CPU fails too, the data are damaged. */
    enum zmpi_status status = zmpi_cpu_decode(s, device ? NULL : need, threads, dst);
    if (!status && device)
        note_failure(o, device, there, problem);
    if (status && device && need)
        status = zmpi_cpu_decode(s, need, threads, dst);
    if (!status && o &&
        (o->failed || o->decoded.bytes == 0)) /* it does parts along with a device */
        note_choice(o, zmpi_device_cpu(), false, &work);
    return status;
}

/* Decodes to memory of the holder: by the holder, or on the host and then copied. */
static enum zmpi_status to_holder(struct zmpi_offload *o, const struct zmpi_device *holder,
                                  void *dst, size_t capacity, const void *src, size_t src_size,
                                  int threads)
{
    const struct zmpi_device *cpu = zmpi_device_cpu();
    const struct zmpi_work work = {capacity, ZMPI_FLE, true};
    enum zmpi_status status, there = ZMPI_ERR_UNSUPPORTED;
    const bool swapped = src_size >= ZMPI_STREAM_HEADER_BYTES &&
                         ((const unsigned char *)src)[5] & ZMPI_STREAM_BIG_ENDIAN;
    if (!swapped && choose(o, holder, &work))
        there = holder->decompress(dst, capacity, src, src_size, NULL, threads);
    if (!there) {
        note_choice(o, holder, true, &work);
        return there;
    }
    void *copy = malloc(capacity ? capacity : 1);
    if (!copy)
        return ZMPI_ERR_MEMORY;
    status = cpu->decompress(copy, capacity, src, src_size, NULL, threads);
    if (!status)
        note_failure(o, holder, there, NULL); /* else the data are damaged */
    if (!status)
        status = zmpi_device_move(holder, dst, copy, capacity);
    if (!status)
        note_choice(o, cpu, false, &work);
    free(copy);
    return status;
}

enum zmpi_status zmpi_offload_decompress(struct zmpi_offload *o, const struct zmpi_device *holder,
                                         void *dst, size_t capacity, const void *src,
                                         size_t src_size, int threads)
{
    struct zmpi_stream s;
    if (holder)
        return to_holder(o, holder, dst, capacity, src, src_size, threads);
    enum zmpi_status status = zmpi_stream_parse(&s, src, src_size);
    if (status)
        return status;
    return capacity < s.info.decoded_bytes ? ZMPI_ERR_SPACE
                                           : zmpi_offload_decode(o, &s, NULL, threads, dst);
}

const struct zmpi_device *zmpi_use_device(const struct zmpi_use *use)
{
    return use->last ? use->last : zmpi_device_cpu();
}
