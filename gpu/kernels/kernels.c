/*
 * kernels.c - the kernels for both word sizes, and their launches. nvcc compiles it for CUDA
 * (kernels.cu), a host compiler for the emulator.
 *
 * The issue of instructions should limit their speed (docs/internals/cuda_kernels.md has counts).
 */
#include "kernels.h"

#include <cuda_runtime.h>
#include <float.h>
#include <math.h>
#include <stdint.h>

#include "device_code.h"

#include "blocks.h"
#include "xxh3.h"

/* ---- what the range kernels have in common (format.md 4.1, 4.2) ---- */

#define ZMPI_CUDA_FLT_MAX FLT_MAX

struct range_state {
    struct zmpi_range range;
    uint64_t key[3]; /* ~least, greatest, ~least fill value: the largest of what blocks found */
    uint32_t done;   /* blocks */
};

ZD_CONST float fill_values[] = {1e20F, 1e21F, 1e22F, 1e23F,     1e24F,       1e25F,  1e26F, 1e27F,
                                1e28F, 1e29F, 1e30F, 1e31F,     1e32F,       1e33F,  1e34F, 1e35F,
                                1e36F, 1e37F, 1e38F, 9.999e20F, 9.96921e36F, FLT_MAX};

/* Orders as the numbers do. */
ZD_FN uint64_t range_key(double x)
{
    const uint64_t u = zd_f64_bits(x), sign = (uint64_t)1 << 63;
    return u & sign ? ~u : u | sign;
}

ZD_FN double range_value(uint64_t key)
{
    const uint64_t sign = (uint64_t)1 << 63;
    return zd_bits_f64(key & sign ? key & ~sign : ~key);
}

struct clear_args {
    uint64_t *at, words;
};

KERNEL(clear, struct clear_args, a)
{
    for (uint64_t i = (uint64_t)zd_bid() * THREADS + zd_tid(); i < a.words;
         i += (uint64_t)zd_gdim() * THREADS)
        zd_st_u64(a.at + i, 0);
}

/* ---- workspaces: the answer, the ticket, the states of the look-back ---- */

enum { TICKET_AT = 64, STATE_AT = 128 };

/* The number of blocks of threads that clear so many words. */
static unsigned clear_blocks(uint64_t words)
{
    const uint64_t blocks = words / (4 * THREADS) + 1;
    return (unsigned)(blocks < 256 ? blocks : 256);
}

static zmpi_cuda_error clear_words(void *at, uint64_t words, cudaStream_t stream)
{
    struct clear_args a;
    a.at = (uint64_t *)at;
    a.words = words;
    return LAUNCH(clear, clear_blocks(words), THREADS, 0, stream, a);
}

#define JOIN(a, b)  JOIN_(a, b)
#define JOIN_(a, b) a##b

/* ---- 4 bytes ---- */

#define WIDTH      4
#define U          uint32_t
#define S          int32_t
#define T          float
#define FABS(x)    zd_fabs(x)
#define MAGIC      12582912.0F
#define QUAD       zd_u32x4
#define LOAD_QUAD  zd_ld_stream_u32x4
#define STORE_QUAD zd_st_stream_u32x4
#define F(name)    JOIN(name, 32)

#define bits32(x)       zd_f32_bits(x)
#define value32(u)      zd_bits_f32(u)
#define zd_st32         zd_st_u32
#define zd_shfl32       zd_shfl_u32
#define zd_shfl_up32    zd_shfl_up_u32
#define zd_shfl_xor32   zd_shfl_xor_u32
#define zd_shfl_float32 zd_shfl_xor_f32

#include "words_t.h"
#include "passes_t.h"
#include "quant_t.h"
#include "residual_t.h"
#include "integers_t.h"
#include "encode_t.h"
#include "sample_t.h"
#include "decode_t.h"
#include "range_t.h"
#include "start_t.h"

#undef WIDTH
#undef U
#undef S
#undef T
#undef FABS
#undef MAGIC
#undef QUAD
#undef LOAD_QUAD
#undef STORE_QUAD
#undef F
#undef VALUES
#undef BLOCKS
#undef IN_QUAD
#undef LEVELS
#undef EACH
#undef PART
#undef PARTS
#undef ORIGIN
#undef PASS
#undef SIGN
#undef NORMAL
#undef SAME

/* ---- 8 bytes ---- */

#define WIDTH      8
#define U          uint64_t
#define S          int64_t
#define T          double
#define FABS(x)    zd_dabs(x)
#define MAGIC      6755399441055744.0
#define QUAD       zd_u64x2
#define LOAD_QUAD  zd_ld_stream_u64x2
#define STORE_QUAD zd_st_stream_u64x2
#define F(name)    JOIN(name, 64)

#define bits64(x)       zd_f64_bits(x)
#define value64(u)      zd_bits_f64(u)
#define zd_st64         zd_st_u64
#define zd_shfl64       zd_shfl_u64
#define zd_shfl_up64    zd_shfl_up_u64
#define zd_shfl_xor64   zd_shfl_xor_u64
#define zd_shfl_float64 zd_shfl_xor_f64

#include "words_t.h"
#include "passes_t.h"
#include "quant_t.h"
#include "residual_t.h"
#include "integers_t.h"
#include "encode_t.h"
#include "sample_t.h"
#include "decode_t.h"
#include "range_t.h"
#include "start_t.h"

/* ---- starting ---- */

zmpi_cuda_error zmpi_cuda_range(enum zmpi_type type, const void *src, size_t count,
                                double threshold, void *workspace, zmpi_cuda_stream stream)
{
    const zmpi_cuda_error error =
        clear_words(workspace, sizeof(struct range_state) / 8, (cudaStream_t)stream);
    if (error)
        return error;
    return type == ZMPI_F64 ? start_range64((const double *)src, count, threshold, workspace,
                                            (cudaStream_t)stream)
                            : start_range32((const float *)src, count, threshold, workspace,
                                            (cudaStream_t)stream);
}

size_t zmpi_cuda_compress_workspace(const struct zmpi_cuda_plan *plan)
{
    return STATE_AT + 8 * plan->layout.chunks;
}

size_t zmpi_cuda_end_at(size_t chunks)
{
    return STATE_AT + 8 * (chunks - 1);
}

uint64_t zmpi_cuda_end(const struct zmpi_cuda_plan *plan, uint64_t word)
{
    return zmpi_plan_head(&plan->layout) + (word & (((uint64_t)1 << 62) - 1));
}

zmpi_cuda_error zmpi_cuda_compress_begin(const struct zmpi_cuda_plan *plan, const void *src,
                                         int axes, void *workspace, zmpi_cuda_stream stream)
{
    return plan->layout.width == 4
               ? start_sample32(plan, src, axes, workspace, (cudaStream_t)stream)
               : start_sample64(plan, src, axes, workspace, (cudaStream_t)stream);
}

zmpi_cuda_error zmpi_cuda_compress_some(const struct zmpi_cuda_plan *plan, const void *src,
                                        void *dst, size_t capacity, size_t chunks, void *workspace,
                                        zmpi_cuda_stream stream)
{
    if (chunks == 0)
        return 0;
    return plan->layout.width == 4
               ? start_compress32(plan, src, dst, capacity, chunks, workspace, (cudaStream_t)stream)
               : start_compress64(plan, src, dst, capacity, chunks, workspace,
                                  (cudaStream_t)stream);
}

zmpi_cuda_error zmpi_cuda_compress(const struct zmpi_cuda_plan *plan, const void *src, void *dst,
                                   size_t capacity, void *workspace, zmpi_cuda_stream stream)
{
    const zmpi_cuda_error error =
        zmpi_cuda_compress_begin(plan, src, zmpi_cuda_axes_given(plan), workspace, stream);
    return error ? error
                 : zmpi_cuda_compress_some(plan, src, dst, capacity, plan->layout.chunks, workspace,
                                           stream);
}

size_t zmpi_cuda_decompress_workspace(const struct zmpi_cuda_decode_plan *plan)
{
    return STATE_AT + 8 * plan->tiles.chunks;
}

zmpi_cuda_error zmpi_cuda_decompress_begin(const struct zmpi_cuda_decode_plan *plan,
                                           void *workspace, zmpi_cuda_stream stream)
{
    return clear_words(workspace, zmpi_cuda_decompress_workspace(plan) / 8, (cudaStream_t)stream);
}

zmpi_cuda_error zmpi_cuda_decompress_some(const struct zmpi_cuda_decode_plan *plan, const void *src,
                                          const unsigned char *need, void *dst, size_t chunks,
                                          void *workspace, zmpi_cuda_stream stream)
{
    if (chunks == 0)
        return 0;
    return plan->tiles.width == 4
               ? start_decompress32(plan, src, need, dst, chunks, workspace, (cudaStream_t)stream)
               : start_decompress64(plan, src, need, dst, chunks, workspace, (cudaStream_t)stream);
}

zmpi_cuda_error zmpi_cuda_decompress(const struct zmpi_cuda_decode_plan *plan, const void *src,
                                     const unsigned char *need, void *dst, void *workspace,
                                     zmpi_cuda_stream stream)
{
    const zmpi_cuda_error error = zmpi_cuda_decompress_begin(plan, workspace, stream);
    return error ? error
                 : zmpi_cuda_decompress_some(plan, src, need, dst, plan->tiles.chunks, workspace,
                                             stream);
}
