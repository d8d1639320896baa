/* compress.h - an array to a stream by encoder 1 or 2 (format.md parts 1 and 4). */
#ifndef ZMPI_COMPRESS_H
#define ZMPI_COMPRESS_H

#include "layout/plan.h"

/* encoder: in place of the job's; p: of the job's array. *size: bytes of the stream in dst, which
 * never are more than dst_capacity: ZMPI_ERR_SPACE. Uses job->threads threads; from any thread. */
enum zmpi_status zmpi_chunks_compress(int encoder, const struct zmpi_plan *p,
                                      const struct zmpi_job *job, void *dst, size_t dst_capacity,
                                      const void *src, size_t *size);

#endif
