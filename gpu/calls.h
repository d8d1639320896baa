/* calls.h - one call of the device (call_*.c). */
#ifndef ZMPI_GPU_CALLS_H
#define ZMPI_GPU_CALLS_H

#include "gpu.h"

/* Did the kernels start? */
#define STARTED(call) gpu_ok((cudaError_t)(call), #call)

/* Sets *typical to false if the call's time says nothing about the next call from host memory. */
enum zmpi_status gpu_compress(const struct zmpi_job *job, void *dst, size_t dst_capacity,
                              const void *src, size_t *size, bool *typical);
/* *bytes: the number decoded. */
enum zmpi_status gpu_decompress(void *dst, size_t dst_capacity, const void *src, size_t src_size,
                                const unsigned char *need, size_t *bytes, bool *typical);
enum zmpi_status gpu_range(enum zmpi_type type, const void *src, size_t count, double threshold,
                           struct zmpi_range *range);

#endif
