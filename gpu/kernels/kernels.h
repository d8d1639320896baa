/*
 * kernels.h - compression and decompression on a CUDA device: parameters, answers and launches.
 *
 * Functions that take a stream only start work on it; they neither allocate nor wait. `src`, `dst`,
 * `need` and `workspace` point to device memory that must stay until the work is done. A workspace
 * is aligned to 16 bytes and needs no preparation; the next work of the same stream may use it
 * again. The answer is at its start: copy it to the host.
 *
 *     zmpi_cuda_plan_make(job, &plan);
 *     do {
 *         zmpi_cuda_compress(&plan, src, dst, capacity, workspace, stream);
 *         copy sizeof(struct zmpi_cuda_result) bytes from workspace, wait;
 *         status = zmpi_cuda_judge(&plan, &result, &again);
 *     } while (!status && again);
 *     copy result.length bytes from dst to the host, wait;
 *     zmpi_cuda_header(&plan, result.length, host);    writes the first 80 bytes
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
/* A cudaError_t; 0: the work was started. */
typedef int zmpi_cuda_error;

/* ---- the layout ---- */

/* An array cut into tiles. Extents are in words of `width` bytes, in the order z, y, x. */
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

/* As zmpi_range_scan, for f32 or f64 elements, aligned to their size. The answer is a struct
 * zmpi_range. threshold 0: none. */
zmpi_cuda_error zmpi_cuda_range(enum zmpi_type type, const void *src, size_t count,
                                double threshold, void *workspace, zmpi_cuda_stream stream);

/* ---- compression ---- */

/* What a bound allows: all that the kernels see of the rule in codec/layout/chunk.h. */
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
    int finer;   /* how many bounds of job.finer were used */
    double rmse; /* psnr: the limit for the errors; 0: errors are not added up */
    struct zmpi_cuda_rule rule;
};

struct zmpi_cuda_result {
    uint64_t length;         /* of the stream */
    uint64_t full;           /* not 0 if dst was too small */
    uint64_t squares, count; /* psnr: struct zmpi_errors */
    uint32_t axes;           /* of the differences */
    uint32_t reserved;
};

/* Returns ZMPI_ERR_UNSUPPORTED if the kernels cannot do the job and the CPU can. */
enum zmpi_status zmpi_cuda_plan_make(const struct zmpi_job *job, struct zmpi_cuda_plan *plan);
size_t zmpi_cuda_compress_workspace(const struct zmpi_cuda_plan *plan);
/* dst is aligned to 16 bytes and has room for at least zmpi_plan_head(&plan->layout) bytes;
 * zmpi_compress_capacity bytes always suffice. src need not be aligned. */
zmpi_cuda_error zmpi_cuda_compress(const struct zmpi_cuda_plan *plan, const void *src, void *dst,
                                   size_t capacity, void *workspace, zmpi_cuda_stream stream);

/* The same in parts, one after the other on one stream, so that each part starts as soon as its
 * input is there. First the beginning: it chooses the axes from all of src, or gets them and reads
 * nothing. Then some chunks at a time, in order, until there are no more. */
#define ZMPI_CUDA_CHOOSE (-1)
zmpi_cuda_error zmpi_cuda_compress_begin(const struct zmpi_cuda_plan *plan, const void *src,
                                         int axes, void *workspace, zmpi_cuda_stream stream);
zmpi_cuda_error zmpi_cuda_compress_some(const struct zmpi_cuda_plan *plan, const void *src,
                                        void *dst, size_t capacity, size_t chunks, void *workspace,
                                        zmpi_cuda_stream stream);
/* The job's axes, or ZMPI_CUDA_CHOOSE. */
int zmpi_cuda_axes_given(const struct zmpi_cuda_plan *plan);
/* Chooses the axes for an array in host memory. */
int zmpi_cuda_axes(const struct zmpi_cuda_plan *plan, const void *src);
/* The offset in the workspace of a uint64_t that holds, when the first `chunks` > 0 chunks are
 * done, where they end in dst. zmpi_cuda_end decodes it. */
size_t zmpi_cuda_end_at(size_t chunks);
uint64_t zmpi_cuda_end(const struct zmpi_cuda_plan *plan, uint64_t word);

/* Returns ZMPI_ERR_SPACE if dst was too small. Sets *again if the errors are too large for a psnr
 * bound; then the plan has a finer one, and the caller compresses once more. */
enum zmpi_status zmpi_cuda_judge(struct zmpi_cuda_plan *plan, const struct zmpi_cuda_result *result,
                                 bool *again);
/* Writes the first 80 bytes of the stream, which the device does not write. head is host memory,
 * and the chunk table lies behind them there. */
void zmpi_cuda_header(const struct zmpi_cuda_plan *plan, uint64_t length, void *head);

/* ---- decompression ---- */

struct zmpi_cuda_decode_plan {
    struct zmpi_cuda_tiles tiles;
    int is_float;
    uint64_t length; /* of the stream */
};

/* stream: zmpi_stream_parse has parsed it on the host and checked header and table. The chunks need
 * not be in host memory. ZMPI_ERR_UNSUPPORTED as above. */
enum zmpi_status zmpi_cuda_decode_plan_make(const struct zmpi_stream *stream,
                                            struct zmpi_cuda_decode_plan *plan);
size_t zmpi_cuda_decompress_workspace(const struct zmpi_cuda_decode_plan *plan);
/* src: the whole stream, aligned to 16 bytes. need: as for zmpi_stream_decode, in device memory;
 * NULL: all chunks. dst need not be aligned. The answer is a uint64_t for zmpi_cuda_verdict. */
zmpi_cuda_error zmpi_cuda_decompress(const struct zmpi_cuda_decode_plan *plan, const void *src,
                                     const unsigned char *need, void *dst, void *workspace,
                                     zmpi_cuda_stream stream);
/* The same in parts, as above. A part needs header, table and the bytes of its chunks. */
zmpi_cuda_error zmpi_cuda_decompress_begin(const struct zmpi_cuda_decode_plan *plan,
                                           void *workspace, zmpi_cuda_stream stream);
zmpi_cuda_error zmpi_cuda_decompress_some(const struct zmpi_cuda_decode_plan *plan, const void *src,
                                          const unsigned char *need, void *dst, size_t chunks,
                                          void *workspace, zmpi_cuda_stream stream);
/* *bad_chunk (may be NULL) gets the first damaged chunk. */
enum zmpi_status zmpi_cuda_verdict(uint64_t answer, size_t *bad_chunk);

#ifdef __cplusplus
}
#endif

#endif
