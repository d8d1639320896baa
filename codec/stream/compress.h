/* compress.h - an array to a stream by encoder 1 or 2 (format.md parts 1 and 4). */
#ifndef ZMPI_COMPRESS_H
#define ZMPI_COMPRESS_H

#include "layout/plan.h"

/* encoder replaces the job's; p is the plan of the job's array. *size: bytes of the stream in dst;
 * ZMPI_ERR_SPACE if they exceed dst_capacity. Uses job->threads threads; may be called from any
 * thread. */
enum zmpi_status zmpi_chunks_compress(int encoder, const struct zmpi_plan *p,
                                      const struct zmpi_job *job, void *dst, size_t dst_capacity,
                                      const void *src, size_t *size);

#endif
