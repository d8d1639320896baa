/* offload.c - arrays to the device that is best for them, and to the CPU if that fails. */
#include "offload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decimal.h"
#include "log.h"
#include "ratio.h"

/* One line for the first failure. What a device cannot do is none: the CPU does it. */
static void note_failure(struct zmpi_offload *o, const struct zmpi_device *device,
                         enum zmpi_status status)
{
    const char *problem = device->problem ? device->problem() : NULL;
    if (status == ZMPI_ERR_UNSUPPORTED || o->failed)
        return;
    o->failed = true;
    zmpi_log(ZMPI_LOG_WARN, "%s: device %s: %s; using the CPU from here on", o->what, device->name,
             problem ? problem : zmpi_strerror(status));
}

/* The device for an array in memory of `holder`; NULL: the CPU. */
static const struct zmpi_device *choose(const struct zmpi_offload *o,
                                        const struct zmpi_device *holder, size_t bytes, int encoder)
{
    const char *why;
    const struct zmpi_device *cpu = zmpi_device_cpu(), *found = holder;
    if (o->failed || strcmp(o->name, cpu->name) == 0)
        return NULL;
    if (!holder)
        found = zmpi_device_find(o->name, bytes, &why);
    return !found || found == cpu || zmpi_device_for(found, encoder) != found ? NULL : found;
}

static void note_expected(struct zmpi_offload *o, const struct zmpi_device *device, size_t bytes)
{
    const struct zmpi_device *cpu = zmpi_device_cpu();
    const double by_cpu = 1e3 * cpu->cost(bytes, false);
    const locale_t program = zmpi_decimal_begin();
    if (device == cpu)
        snprintf(o->why, sizeof o->why, "%zu bytes: %.3g ms expected", bytes, by_cpu);
    else
        snprintf(o->why, sizeof o->why, "%zu bytes: %.3g ms expected, on the CPU %.3g ms", bytes,
                 1e3 * device->cost(bytes, false), by_cpu);
    zmpi_decimal_end(program);
}

static void note_choice(struct zmpi_offload *o, const struct zmpi_device *device, bool held,
                        size_t bytes)
{
    const struct zmpi_device *cpu = zmpi_device_cpu();
    if (device != cpu)
        o->bytes += bytes;
    if (device == o->last)
        return;
    o->last = device;
    if (o->failed && device == cpu)
        snprintf(o->why, sizeof o->why, "another device failed");
    else if (held)
        snprintf(o->why, sizeof o->why, "the data are in its memory");
    else if (strcmp(o->name, "auto") != 0)
        snprintf(o->why, sizeof o->why, "ZMPI_DEVICE=%.32s", o->name);
    else
        note_expected(o, device, bytes);
}

/* By the CPU; data of a device come to the host first. */
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

enum zmpi_status zmpi_offload_compress(struct zmpi_offload *o, const struct zmpi_job *job,
                                       const struct zmpi_device *holder, void *dst, size_t capacity,
                                       const void *src, size_t *size)
{
    size_t bytes;
    enum zmpi_status status = zmpi_array_bytes(&job->array, &bytes);
    if (status)
        return status;
    /* A bound that is to be found is found on the host. */
    const struct zmpi_device *device =
        holder && zmpi_job_open(job) ? NULL : choose(o, holder, bytes, job->encoder);
    if (device) {
        status = zmpi_job_compress(device, job, dst, capacity, src, size);
        /* All devices make the same bytes: where there may be no room there is none for the CPU's
         * either. */
        if (!status ||
            (status == ZMPI_ERR_SPACE && capacity < zmpi_compress_capacity(&job->array))) {
            note_choice(o, device, holder != NULL, bytes);
            return status;
        }
        note_failure(o, device, status);
    }
    status = on_cpu(job, holder, dst, capacity, src, bytes, size);
    if (!status)
        note_choice(o, zmpi_device_cpu(), false, bytes);
    return status;
}

struct zmpi_handed *zmpi_offload_hand(struct zmpi_offload *o, const struct zmpi_job *job,
                                      const void *src, const char *path, const unsigned char id[16],
                                      const struct zmpi_device **device)
{
    size_t bytes;
    if (zmpi_array_bytes(&job->array, &bytes) || zmpi_job_open(job))
        return NULL;
    *device = choose(o, NULL, bytes, job->encoder);
    if (!*device || !(*device)->through)
        return NULL;
    struct zmpi_handed *handed = (*device)->through->hand(job, src, path, id);
    if (handed)
        note_choice(o, *device, false, bytes);
    return handed;
}

enum zmpi_status zmpi_offload_decompress(struct zmpi_offload *o, const struct zmpi_device *holder,
                                         void *dst, size_t capacity, const void *src,
                                         size_t src_size, int threads)
{
    const struct zmpi_device *cpu = zmpi_device_cpu();
    if (!holder)
        return cpu->decompress(dst, capacity, src, src_size, NULL, threads);
    enum zmpi_status status, there = ZMPI_ERR_UNSUPPORTED;
    if (choose(o, holder, capacity, ZMPI_FLE))
        there = holder->decompress(dst, capacity, src, src_size, NULL, threads);
    if (!there)
        return there;
    void *copy = malloc(capacity ? capacity : 1);
    if (!copy)
        return ZMPI_ERR_MEMORY;
    status = cpu->decompress(copy, capacity, src, src_size, NULL, threads);
    if (!status)
        note_failure(o, holder, there); /* else the data are damaged, and the device was right */
    if (!status)
        status = zmpi_device_move(holder, dst, copy, capacity);
    free(copy);
    return status;
}

const struct zmpi_device *zmpi_offload_device(const struct zmpi_offload *o)
{
    return o->last ? o->last : zmpi_device_cpu();
}
