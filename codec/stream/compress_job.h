/* compress_job.h - a job after a look at its data, coded by a device. */
#ifndef ZMPI_COMPRESS_JOB_H
#define ZMPI_COMPRESS_JOB_H

#include "device.h"

/* What the data are like, where the bound is known: decoded before, fill values, whole numbers. */
void zmpi_job_look(struct zmpi_job *job, const void *src);
/* Is the job for the CPU: one with a unit, or with fill values that a user names? */
bool zmpi_job_is_for_cpu(const struct zmpi_job *job);

/*
 * Compress on a device. An open job gets a bound by a search of src (zmpi_ratio_compress).
 */
enum zmpi_status zmpi_job_compress(const struct zmpi_device *device, const struct zmpi_job *job,
                                   void *dst, size_t dst_capacity, const void *src, size_t *size);

#endif
