/* calls.c - the public calls that compress and decompress one array. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/cpus.h"
#include "base/floats.h"
#include "bound/fill.h"
#include "device/offload.h"

/* As ZMPI_THREADS allows. */
#define THREADS_MOST 1024
/* Of the first version. */
#define OPTIONS_LEAST offsetof(struct zmpi_codec_options, fills)

/* Members that this version does not know must be 0: otherwise the caller wants what this version
 * cannot do. (Not inline: gcc takes structures of our own for shorter than they say.) */
__attribute__((noinline)) static enum zmpi_status take(const struct zmpi_codec_options *given,
                                                       struct zmpi_codec_options *o)
{
    const unsigned char *bytes = (const unsigned char *)given;
    *o = (struct zmpi_codec_options){0};
    if (!given)
        return ZMPI_OK;
    if (given->size < OPTIONS_LEAST)
        return ZMPI_ERR_ARG;
    for (size_t i = sizeof *o; i < given->size; i++)
        if (bytes[i])
            return ZMPI_ERR_UNSUPPORTED;
    memcpy(o, given, given->size < sizeof *o ? given->size : sizeof *o);
    return ZMPI_OK;
}

static enum zmpi_status check(const struct zmpi_codec_options *given, struct zmpi_codec_options *o)
{
    const char *why;
    const enum zmpi_status status = take(given, o);
    if (status)
        return status;
    if (o->encoder < 0 || o->encoder > ZMPI_ENCODERS || o->threads < 0 ||
        o->threads > THREADS_MOST || !(o->threshold >= 0) || isinf(o->threshold) || o->fills < 0 ||
        o->fills > ZMPI_FILLS)
        return ZMPI_ERR_ARG;
    o->encoder = o->encoder ? o->encoder : ZMPI_FLE;
    o->threads = o->threads ? o->threads : zmpi_cpus_count();
    o->device = o->device ? o->device : zmpi_device_cpu()->name;
    return zmpi_device_find(o->device, NULL, &why) ? ZMPI_OK : ZMPI_ERR_DEVICE;
}

static struct zmpi_offload offload(const struct zmpi_codec_options *o, const char *call)
{
    return (struct zmpi_offload){.what = call, .name = o->device};
}

static enum zmpi_status compress(const struct zmpi_codec_options *o, const struct zmpi_array *array,
                                 const struct zmpi_bound *bound, const struct zmpi_range *range,
                                 void *dst, size_t dst_capacity, const void *src, size_t *size)
{
    struct zmpi_fills fills = {.count = o->fills, .value = {o->fill[0], o->fill[1]}};
    struct zmpi_offload by = offload(o, "zmpi_compress_with");
    struct zmpi_range own = ZMPI_RANGE_EMPTY;
    struct zmpi_job job;
    size_t count;
    enum zmpi_status status = zmpi_array_count(array, &count);
    if (status)
        return status;
    const bool scan = !range && zmpi_bound_needs_range(bound);
    if (scan)
        zmpi_fill_range(array->type, src, count, o->threshold, &fills, o->threads, &own);
    status = zmpi_job_make(array, bound, range ? range : &own, &job);
    if (status)
        return status;
    if (scan)
        job.read = count * zmpi_type_size(array->type);
    job.encoder = o->encoder;
    job.threads = o->threads;
    zmpi_job_threshold(&job, o->threshold);
    zmpi_job_fills(&job, &fills);
    job.rewritten = !o->rewritten                 ? ZMPI_NEW
                    : o->rewritten == ZMPI_INTERP ? ZMPI_REWRITTEN_BY_ANY
                    : o->encoder == ZMPI_INTERP   ? ZMPI_REWRITTEN_BY_STEPS
                                                  : ZMPI_REWRITTEN;
    return zmpi_offload_compress(&by, &job, NULL, dst, dst_capacity, src, size);
}

enum zmpi_status zmpi_compress_with(const struct zmpi_codec_options *options,
                                    const struct zmpi_array *array, const struct zmpi_bound *bound,
                                    const struct zmpi_range *range, void *dst, size_t dst_capacity,
                                    const void *src, size_t *size)
{
    struct zmpi_codec_options o;
    const struct zmpi_floats program = zmpi_floats_begin();
    enum zmpi_status status = check(options, &o);
    if (!status)
        status = compress(&o, array, bound, range, dst, dst_capacity, src, size);
    zmpi_floats_end(program);
    return status;
}

enum zmpi_status zmpi_compress(const struct zmpi_array *array, const struct zmpi_bound *bound,
                               const struct zmpi_range *range, void *dst, size_t dst_capacity,
                               const void *src, size_t *size)
{
    const struct zmpi_codec_options alone = {.size = sizeof alone, .threads = 1};
    return zmpi_compress_with(&alone, array, bound, range, dst, dst_capacity, src, size);
}

enum zmpi_status zmpi_decompress_with(const struct zmpi_codec_options *options, void *dst,
                                      size_t dst_capacity, const void *src, size_t src_size)
{
    struct zmpi_codec_options o;
    const struct zmpi_floats program = zmpi_floats_begin();
    enum zmpi_status status = check(options, &o);
    if (!status) {
        struct zmpi_offload by = offload(&o, "zmpi_decompress_with");
        status = zmpi_offload_decompress(&by, NULL, dst, dst_capacity, src, src_size, o.threads);
    }
    zmpi_floats_end(program);
    return status;
}

enum zmpi_status zmpi_decompress(void *dst, size_t dst_capacity, const void *src, size_t src_size)
{
    const struct zmpi_codec_options alone = {.size = sizeof alone, .threads = 1};
    return zmpi_decompress_with(&alone, dst, dst_capacity, src, src_size);
}
