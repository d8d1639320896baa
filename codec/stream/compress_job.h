/* compress_job.h - a device compresses a job, after a look at its data. */
#ifndef ZMPI_COMPRESS_JOB_H
#define ZMPI_COMPRESS_JOB_H

#include "device.h"

/* Finds out what the data are like, once the bound is known: whether they were decoded before, have
 * fill values, or are whole numbers. */
void zmpi_job_look(struct zmpi_job *job, const void *src);
/* Can only the CPU do the job? It has a unit, or fill values that a user names. */
bool zmpi_job_is_for_cpu(const struct zmpi_job *job);

/*
 * Compresses on a device. A job without a bound gets one by a search of src (zmpi_ratio_compress).
 */
enum zmpi_status zmpi_job_compress(const struct zmpi_device *device, const struct zmpi_job *job,
                                   void *dst, size_t dst_capacity, const void *src, size_t *size);

#endif
