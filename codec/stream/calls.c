/* calls.c - the public calls that compress and decompress one array, on the CPU. */
#include <math.h>

#include "base/cpus.h"
#include "base/floats.h"
#include "bound/fill.h"
#include "bound/ratio.h"
#include "stream/compress_job.h"

/* As ZMPI_THREADS allows. */
#define THREADS_MOST 1024

static enum zmpi_status check(const struct zmpi_codec_options *given, struct zmpi_codec_options *o)
{
    *o = (struct zmpi_codec_options){0};
    if (given && given->size < sizeof *o)
        return ZMPI_ERR_ARG;
    if (given)
        *o = *given;
    if (o->encoder < 0 || o->encoder > ZMPI_ENCODERS || o->threads < 0 ||
        o->threads > THREADS_MOST || !(o->threshold >= 0) || isinf(o->threshold))
        return ZMPI_ERR_ARG;
    o->encoder = o->encoder ? o->encoder : ZMPI_FLE;
    o->threads = o->threads ? o->threads : zmpi_cpus_count();
    return ZMPI_OK;
}

static enum zmpi_status compress(const struct zmpi_codec_options *o, const struct zmpi_array *array,
                                 const struct zmpi_bound *bound, const struct zmpi_range *range,
                                 void *dst, size_t dst_capacity, const void *src, size_t *size)
{
    struct zmpi_range own = ZMPI_RANGE_EMPTY;
    struct zmpi_job job;
    size_t count;
    enum zmpi_status status = zmpi_array_count(array, &count);
    if (status)
        return status;
    const bool scan = !range && zmpi_bound_needs_range(bound);
    if (scan)
        zmpi_fill_range(array->type, src, count, o->threshold, NULL, o->threads, &own);
    status = zmpi_job_make(array, bound, range ? range : &own, &job);
    if (status)
        return status;
    if (scan)
        job.read = count * zmpi_type_size(array->type);
    job.encoder = o->encoder;
    job.threads = o->threads;
    zmpi_job_threshold(&job, o->threshold);
    return zmpi_job_compress(zmpi_device_cpu(), &job, dst, dst_capacity, src, size);
}

enum zmpi_status zmpi_compress_with(const struct zmpi_codec_options *options,
                                    const struct zmpi_array *array, const struct zmpi_bound *bound,
                                    const struct zmpi_range *range, void *dst, size_t dst_capacity,
                                    const void *src, size_t *size)
{
    struct zmpi_codec_options o;
    const struct zmpi_floats program = zmpi_floats_hold();
    enum zmpi_status status = check(options, &o);
    if (!status)
        status = compress(&o, array, bound, range, dst, dst_capacity, src, size);
    zmpi_floats_release(program);
    return status;
}

enum zmpi_status zmpi_compress(const struct zmpi_array *array, const struct zmpi_bound *bound,
                               const struct zmpi_range *range, void *dst, size_t dst_capacity,
                               const void *src, size_t *size)
{
    const struct zmpi_codec_options alone = {.size = sizeof alone, .threads = 1};
    return zmpi_compress_with(&alone, array, bound, range, dst, dst_capacity, src, size);
}

static enum zmpi_status decompress(int threads, void *dst, size_t dst_capacity, const void *src,
                                   size_t src_size)
{
    struct zmpi_stream s;
    enum zmpi_status status = zmpi_stream_parse(&s, src, src_size);
    if (status)
        return status;
    if (dst_capacity < s.info.decoded_bytes)
        return ZMPI_ERR_SPACE;
    return zmpi_stream_decode(&s, NULL, threads, dst, NULL);
}

enum zmpi_status zmpi_decompress_with(const struct zmpi_codec_options *options, void *dst,
                                      size_t dst_capacity, const void *src, size_t src_size)
{
    struct zmpi_codec_options o;
    const struct zmpi_floats program = zmpi_floats_hold();
    enum zmpi_status status = check(options, &o);
    if (!status)
        status = decompress(o.threads, dst, dst_capacity, src, src_size);
    zmpi_floats_release(program);
    return status;
}

enum zmpi_status zmpi_decompress(void *dst, size_t dst_capacity, const void *src, size_t src_size)
{
    const struct zmpi_codec_options alone = {.size = sizeof alone, .threads = 1};
    return zmpi_decompress_with(&alone, dst, dst_capacity, src, src_size);
}
