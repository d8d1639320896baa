/*
 * kernels.h - compression and decompression on a CUDA device: what the kernels are told, what they
 * answer, and how they are started.
 *
 * Everything here that takes a stream only starts work on it: no allocation, no waiting. Pointers
 * called `src`, `dst`, `need`, `workspace` are device memory that must stay until the work is done.
 * A workspace is aligned to 16 bytes, needs no preparation, and may be used again by the next work
 * of the same stream. The answer lies at its start: copy that to the host.
 *
 *     zmpi_cuda_plan_make(job, &plan);
 *     do {
 *         zmpi_cuda_compress(&plan, src, dst, capacity, workspace, stream);
 *         copy sizeof(struct zmpi_cuda_result) bytes from workspace, wait;
 *         status = zmpi_cuda_judge(&plan, &result, &again);
 *     } while (!status && again);
 *     copy result.length bytes from dst to the host, wait;
 *     zmpi_cuda_header(&plan, result.length, host);   the first 80 bytes, from the table behind
 * them
 */
#ifndef ZMPI_GPU_KERNELS_H
#define ZMPI_GPU_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "layout/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

struct zmpi_stream;

/* A cudaStream_t. */
typedef void *zmpi_cuda_stream;
/* A cudaError_t; 0: started. */
typedef int zmpi_cuda_error;

/* ---- the layout ---- */

/* An array cut into tiles, in words of `width` bytes: z, y, x. */
struct zmpi_cuda_tiles {
    uint64_t words[3], grid[3];
    uint32_t tile[3];
    uint32_t width;
    uint64_t bytes; /* of the array */
    uint64_t chunks;
};

struct zmpi_cuda_tiles zmpi_cuda_tiles_of(const struct zmpi_plan *layout);

/* ---- the range ---- */

#define ZMPI_CUDA_RANGE_WORKSPACE 256

/* As zmpi_range_scan, of f32 or f64 elements (aligned to their size). The answer is a struct
 * zmpi_range. threshold 0: none. */
zmpi_cuda_error zmpi_cuda_range(enum zmpi_type type, const void *src, size_t count,
                                double threshold, void *workspace, zmpi_cuda_stream stream);

/* ---- compression ---- */

/* What a bound allows: codec/layout/chunk.h's rule, of which the kernels see nothing else. */
struct zmpi_cuda_rule {
    int is_float, levels;
    double abs_bound;
    struct {
        double step, inverse, limit;
    } level[3];
    uint32_t shift;
    uint64_t magnitudes;
};

struct zmpi_cuda_plan {
    struct zmpi_plan layout;
    struct zmpi_job job;
    int finer;   /* bounds of job.finer that were used up */
    double rmse; /* psnr: what the errors are compared with; 0: they are not added up */
    struct zmpi_cuda_rule rule;
};

struct zmpi_cuda_result {
    uint64_t length;         /* of the stream */
    uint64_t full;           /* not 0: dst was too small */
    uint64_t squares, count; /* psnr: struct zmpi_errors */
    uint32_t axes;           /* along which differences were taken */
    uint32_t reserved;
};

/* ZMPI_ERR_UNSUPPORTED: not by the kernels; the CPU can. */
enum zmpi_status zmpi_cuda_plan_make(const struct zmpi_job *job, struct zmpi_cuda_plan *plan);
size_t zmpi_cuda_compress_workspace(const struct zmpi_cuda_plan *plan);
/* dst is aligned to 16 bytes. Any capacity will do that is at least zmpi_plan_head(&plan->layout)
 * bytes; with zmpi_compress_capacity bytes dst is never too small. src need not be aligned. */
zmpi_cuda_error zmpi_cuda_compress(const struct zmpi_cuda_plan *plan, const void *src, void *dst,
                                   size_t capacity, void *workspace, zmpi_cuda_stream stream);

/* The same by parts, one after the other on one stream: each starts as soon as what it reads is
 * there. A beginning, which chooses the axes from all of src, or is told them and reads nothing;
 * then some chunks at a time, in order, until there are no more. */
#define ZMPI_CUDA_CHOOSE (-1)
zmpi_cuda_error zmpi_cuda_compress_begin(const struct zmpi_cuda_plan *plan, const void *src,
                                         int axes, void *workspace, zmpi_cuda_stream stream);
zmpi_cuda_error zmpi_cuda_compress_some(const struct zmpi_cuda_plan *plan, const void *src,
                                        void *dst, size_t capacity, size_t chunks, void *workspace,
                                        zmpi_cuda_stream stream);
/* Those of the job, or ZMPI_CUDA_CHOOSE. */
int zmpi_cuda_axes_given(const struct zmpi_cuda_plan *plan);
/* The axes for the array at src in host memory. */
int zmpi_cuda_axes(const struct zmpi_cuda_plan *plan, const void *src);
/* When the first `chunks` > 0 chunks are done: where in the workspace is the uint64_t that says
 * where they end in dst, which zmpi_cuda_end reads. */
size_t zmpi_cuda_end_at(size_t chunks);
uint64_t zmpi_cuda_end(const struct zmpi_cuda_plan *plan, uint64_t word);

/* ZMPI_ERR_SPACE if dst was too small. *again: the errors are too large for a psnr bound; the plan
 * has a finer one now: compress once more. */
enum zmpi_status zmpi_cuda_judge(struct zmpi_cuda_plan *plan, const struct zmpi_cuda_result *result,
                                 bool *again);
/* Write the first 80 bytes of the stream, which the device leaves alone, to head (host memory that
 * holds the chunk table behind them). */
void zmpi_cuda_header(const struct zmpi_cuda_plan *plan, uint64_t length, void *head);

/* ---- decompression ---- */

struct zmpi_cuda_decode_plan {
    struct zmpi_cuda_tiles tiles;
    int is_float;
    uint64_t length; /* of the stream */
};

/* stream: parsed on the host by zmpi_stream_parse (its header and table are checked; the chunks
 * need not be in host memory). ZMPI_ERR_UNSUPPORTED as above. */
enum zmpi_status zmpi_cuda_decode_plan_make(const struct zmpi_stream *stream,
                                            struct zmpi_cuda_decode_plan *plan);
size_t zmpi_cuda_decompress_workspace(const struct zmpi_cuda_decode_plan *plan);
/* src: the whole stream, aligned to 16 bytes. need: as for zmpi_stream_decode, in device memory;
 * NULL: all. dst need not be aligned. The answer is a uint64_t for zmpi_cuda_verdict. */
zmpi_cuda_error zmpi_cuda_decompress(const struct zmpi_cuda_decode_plan *plan, const void *src,
                                     const unsigned char *need, void *dst, void *workspace,
                                     zmpi_cuda_stream stream);
/* The same by parts, as above: some chunks need header and table, and their own bytes. */
zmpi_cuda_error zmpi_cuda_decompress_begin(const struct zmpi_cuda_decode_plan *plan,
                                           void *workspace, zmpi_cuda_stream stream);
zmpi_cuda_error zmpi_cuda_decompress_some(const struct zmpi_cuda_decode_plan *plan, const void *src,
                                          const unsigned char *need, void *dst, size_t chunks,
                                          void *workspace, zmpi_cuda_stream stream);
/* *bad_chunk (may be NULL): the first damaged chunk. */
enum zmpi_status zmpi_cuda_verdict(uint64_t answer, size_t *bad_chunk);

#ifdef __cplusplus
}
#endif

#endif
