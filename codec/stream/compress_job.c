/* compress_job.c - a device compresses a job, after a look at its data. */
#include "stream/compress_job.h"

#include "bound/bound.h"
#include "bound/fill.h"
#include "bound/ratio.h"
#include "bound/steady.h"
#include "bound/whole.h"

static enum zmpi_status compress_open(const struct zmpi_device *device, const struct zmpi_job *job,
                                      void *dst, size_t capacity, const void *src, size_t *size)
{
    struct zmpi_ratio_search s;
    zmpi_ratio_search_begin(&s, job, false);
    do
        zmpi_ratio_search_add(&s, &job->array, src);
    while (zmpi_ratio_search_next(&s));
    return zmpi_ratio_compress(&s, device, job, dst, capacity, src, size);
}

void zmpi_job_look(struct zmpi_job *job, const void *src)
{
    struct zmpi_taken taken;
    size_t count;
    zmpi_steady_finer(job, src);
    job->unit = 0;
    if (zmpi_array_count(&job->array, &count) || !(job->abs_bound > 0))
        return;
    struct zmpi_sample s = zmpi_sample_call(job->array.type, src, count);
    if (job->bound.mode == ZMPI_ABS || zmpi_device_holding(src)) { /* else a few are read */
        zmpi_sample_take(&taken, job->array.type, src, count);
        zmpi_fill_keep(job, &taken);
        s = zmpi_taken_sample(&taken);
    }
    job->unit = zmpi_whole_unit(job, &s);
}

bool zmpi_job_is_for_cpu(const struct zmpi_job *job)
{
    return job->unit > 0 || job->fills.count > 0 || job->big_endian || job->rewritten;
}

enum zmpi_status zmpi_job_compress(const struct zmpi_device *device, const struct zmpi_job *job,
                                   void *dst, size_t dst_capacity, const void *src, size_t *size)
{
    if (zmpi_job_open(job))
        return compress_open(device, job, dst, dst_capacity, src, size);
    struct zmpi_job used = *job;
    zmpi_job_look(&used, src);
    /* A caller whose data a device holds has asked this already (offload.c). */
    if (zmpi_job_is_for_cpu(&used) && !zmpi_device_holding(src))
        device = zmpi_device_cpu();
    return device->compress(&used, dst, dst_capacity, src, size);
}
