/* The operations of device_code.h in CUDA, for sm_75 and later. */
#ifndef ZMPI_DEVICE_CUDA_H
#define ZMPI_DEVICE_CUDA_H

#include <cuda_runtime.h>
#include <string.h>

#define ZD_FULL 0xffffffffu

/* Turing has 1024. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define ZD_RESIDENT 1024
#else
#define ZD_RESIDENT 1536
#endif

/* ---- declarations ---- */

#define ZD_KERNEL(name, type, a) static __global__ void name(const __grid_constant__ type a)
#define ZD_KERNEL_BOUNDED(name, type, a, threads, blocks)                                          \
    static __global__ void __launch_bounds__(threads, blocks) name(const __grid_constant__ type a)
#define ZD_FN       static __device__ __forceinline__
#define ZD_CONST    static __device__ const
#define ZD_RESTRICT __restrict__
#define ZD_UNROLL   _Pragma("unroll")
#define ZD_KEEP(v)  asm volatile("" : "+r"(v))
#define ZD_SHARED(type, p)                                                                         \
    __shared__ type p##_storage;                                                                   \
    type *const p = &p##_storage
#define ZD_SHARED_DYNAMIC(type, p)                                                                 \
    extern __shared__ uint4 zd_dynamic_shared[];                                                   \
    type *const p = (type *)zd_dynamic_shared

/* Not by <<<>>>: its error would have to be read as the last error, which may be an older one. */
#define ZD_LAUNCH(kernel, grid, block, shared_bytes, stream, args)                                 \
    zd_launch((const void *)(kernel), (grid), (block), (shared_bytes), (stream), &(args))
static inline cudaError_t zd_launch(const void *kernel, unsigned grid, unsigned block,
                                    size_t shared_bytes, cudaStream_t stream, const void *args)
{
    void *list[] = {(void *)args};
    return cudaLaunchKernel(kernel, dim3(grid), dim3(block), list, shared_bytes, stream);
}
#define ZD_ALLOW_SHARED(kernel, shared_bytes)                                                      \
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)(shared_bytes))
#define ZD_OCCUPANCY(blocks, kernel, block, shared_bytes)                                          \
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, (int)(block), shared_bytes)

typedef uint4 zd_u32x4;
typedef ulonglong2 zd_u64x2;

/* ---- where a thread is, barriers ---- */

#define zd_tid()  ((uint32_t)threadIdx.x)
#define zd_bid()  ((uint32_t)blockIdx.x)
#define zd_bdim() ((uint32_t)blockDim.x)
#define zd_gdim() ((uint32_t)gridDim.x)
#define zd_lane() ((uint32_t)threadIdx.x % ZD_WARP)
#define zd_warp() ((uint32_t)threadIdx.x / ZD_WARP)

#define ZD_SYNC()           __syncthreads()
#define zd_sync_or(pred)    ((uint32_t)__syncthreads_or(pred))
#define zd_sync_and(pred)   ((uint32_t)__syncthreads_and(pred))
#define zd_sync_count(pred) ((uint32_t)__syncthreads_count(pred))

/* ---- warp operations ---- */

#define ZD_SHUFFLES(T, type, wide)                                                                 \
    ZD_FN type zd_shfl_##T(type v, uint32_t lane)                                                  \
    {                                                                                              \
        return (type)__shfl_sync(ZD_FULL, (wide)v, (int)lane);                                     \
    }                                                                                              \
    ZD_FN type zd_shfl_up_##T(type v, uint32_t n)                                                  \
    {                                                                                              \
        return (type)__shfl_up_sync(ZD_FULL, (wide)v, n);                                          \
    }                                                                                              \
    ZD_FN type zd_shfl_down_##T(type v, uint32_t n)                                                \
    {                                                                                              \
        return (type)__shfl_down_sync(ZD_FULL, (wide)v, n);                                        \
    }                                                                                              \
    ZD_FN type zd_shfl_xor_##T(type v, uint32_t mask)                                              \
    {                                                                                              \
        return (type)__shfl_xor_sync(ZD_FULL, (wide)v, (int)mask);                                 \
    }
ZD_SHUFFLES(u32, uint32_t, unsigned)
ZD_SHUFFLES(u64, uint64_t, unsigned long long)
ZD_SHUFFLES(f32, float, float)
ZD_SHUFFLES(f64, double, double)
#undef ZD_SHUFFLES

#define zd_ballot(pred) ((uint32_t)__ballot_sync(ZD_FULL, (pred)))
#define zd_any(pred)    (__any_sync(ZD_FULL, (pred)) != 0)
#define zd_all(pred)    (__all_sync(ZD_FULL, (pred)) != 0)
#define zd_syncwarp()   __syncwarp()

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define ZD_REDUX            1
#define zd_redux_or_u32(v)  ((uint32_t)__reduce_or_sync(ZD_FULL, (v)))
#define zd_redux_add_u32(v) ((uint32_t)__reduce_add_sync(ZD_FULL, (v)))
#else
#define ZD_REDUX            0
#define zd_redux_or_u32(v)  (v)
#define zd_redux_add_u32(v) (v)
#endif

/* ---- global memory ---- */

#define ZD_PLAIN(T, type)                                                                          \
    ZD_FN type zd_ld_##T(const type *p)                                                            \
    {                                                                                              \
        return *p;                                                                                 \
    }                                                                                              \
    ZD_FN void zd_st_##T(type *p, type v)                                                          \
    {                                                                                              \
        *p = v;                                                                                    \
    }
/* The same for a type of our own and the type that CUDA's cache hints take. */
#define ZD_STREAM(T, type, known)                                                                  \
    ZD_FN type zd_ld_stream_##T(const type *p)                                                     \
    {                                                                                              \
        return (type)__ldcs((const known *)p);                                                     \
    }                                                                                              \
    ZD_FN void zd_st_stream_##T(type *p, type v)                                                   \
    {                                                                                              \
        __stcs((known *)p, (known)v);                                                              \
    }
#define ZD_MEMORY(T, type, known) ZD_PLAIN(T, type) ZD_STREAM(T, type, known)
ZD_MEMORY(u8, uint8_t, unsigned char)
ZD_MEMORY(u16, uint16_t, unsigned short)
ZD_MEMORY(u32, uint32_t, unsigned)
ZD_MEMORY(u64, uint64_t, unsigned long long)
ZD_MEMORY(f32, float, float)
ZD_MEMORY(f64, double, double)
ZD_MEMORY(u32x4, zd_u32x4, uint4)
ZD_MEMORY(u64x2, zd_u64x2, ulonglong2)
#undef ZD_MEMORY
#undef ZD_STREAM
#undef ZD_PLAIN

#define ZD_ORDERED(T, type, bits, reg)                                                             \
    ZD_FN type zd_ld_relaxed_##T(const type *p)                                                    \
    {                                                                                              \
        type v;                                                                                    \
        asm volatile("ld.relaxed.gpu." bits " %0, [%1];" : "=" reg(v) : "l"(p) : "memory");        \
        return v;                                                                                  \
    }                                                                                              \
    ZD_FN type zd_ld_acquire_##T(const type *p)                                                    \
    {                                                                                              \
        type v;                                                                                    \
        asm volatile("ld.acquire.gpu." bits " %0, [%1];" : "=" reg(v) : "l"(p) : "memory");        \
        return v;                                                                                  \
    }                                                                                              \
    ZD_FN void zd_st_relaxed_##T(type *p, type v)                                                  \
    {                                                                                              \
        asm volatile("st.relaxed.gpu." bits " [%0], %1;" ::"l"(p), reg(v) : "memory");             \
    }                                                                                              \
    ZD_FN void zd_st_release_##T(type *p, type v)                                                  \
    {                                                                                              \
        asm volatile("st.release.gpu." bits " [%0], %1;" ::"l"(p), reg(v) : "memory");             \
    }
ZD_ORDERED(u32, uint32_t, "u32", "r")
ZD_ORDERED(u64, uint64_t, "u64", "l")
#undef ZD_ORDERED

#define zd_fence() __threadfence()
#define ZD_SPIN()  __nanosleep(20)

/* ---- atomics ---- */

#define ZD_ATOMIC(T, type, wide, name, cuda)                                                       \
    ZD_FN type zd_atomic_##name##_##T(type *p, type v)                                             \
    {                                                                                              \
        return (type)cuda((wide *)p, (wide)v);                                                     \
    }
#define ZD_ATOMICS(T, type, wide)                                                                  \
    ZD_ATOMIC(T, type, wide, add, atomicAdd)                                                       \
    ZD_ATOMIC(T, type, wide, max, atomicMax)                                                       \
    ZD_ATOMIC(T, type, wide, min, atomicMin)                                                       \
    ZD_ATOMIC(T, type, wide, or, atomicOr)                                                         \
    ZD_ATOMIC(T, type, wide, and, atomicAnd)                                                       \
    ZD_ATOMIC(T, type, wide, exch, atomicExch)                                                     \
    ZD_FN type zd_atomic_cas_##T(type *p, type expected, type v)                                   \
    {                                                                                              \
        return (type)atomicCAS((wide *)p, (wide)expected, (wide)v);                                \
    }
ZD_ATOMICS(u32, uint32_t, unsigned)
ZD_ATOMICS(u64, uint64_t, unsigned long long)
#undef ZD_ATOMICS
#undef ZD_ATOMIC

/* ---- bits ---- */

#define zd_popc32(x)                   ((uint32_t)__popc(x))
#define zd_popc64(x)                   ((uint32_t)__popcll(x))
#define zd_clz32(x)                    ((uint32_t)__clz((int)(x)))
#define zd_clz64(x)                    ((uint32_t)__clzll((long long)(x)))
#define zd_ffs32(x)                    ((uint32_t)__ffs((int)(x)))
#define zd_ffs64(x)                    ((uint32_t)__ffsll((long long)(x)))
#define zd_brev32(x)                   ((uint32_t)__brev(x))
#define zd_brev64(x)                   ((uint64_t)__brevll(x))
#define zd_funnel_l(lo, hi, n)         ((uint32_t)__funnelshift_l((lo), (hi), (n)))
#define zd_funnel_r(lo, hi, n)         ((uint32_t)__funnelshift_r((lo), (hi), (n)))
#define zd_byte_perm(lo, hi, selector) ((uint32_t)__byte_perm((lo), (hi), (selector)))
#define zd_mulhi32(a, b)               ((uint32_t)__umulhi((a), (b)))
#define zd_mulhi64(a, b)               ((uint64_t)__umul64hi((a), (b)))
#define zd_f32_bits(x)                 ((uint32_t)__float_as_uint(x))
#define zd_bits_f32(x)                 __uint_as_float(x)
#define zd_f64_bits(x)                 ((uint64_t)__double_as_longlong(x))
#define zd_bits_f64(x)                 __longlong_as_double((long long)(x))

/* ---- floating point ---- */

#define zd_fadd(a, b) __fadd_rn((a), (b))
#define zd_fsub(a, b) __fsub_rn((a), (b))
#define zd_fmul(a, b) __fmul_rn((a), (b))
#define zd_fdiv(a, b) __fdiv_rn((a), (b))
#define zd_fsqrt(a)   __fsqrt_rn(a)
#define zd_fabs(a)    fabsf(a)
#define zd_frint(a)   rintf(a)
#define zd_dadd(a, b) __dadd_rn((a), (b))
#define zd_dsub(a, b) __dsub_rn((a), (b))
#define zd_dmul(a, b) __dmul_rn((a), (b))
#define zd_ddiv(a, b) __ddiv_rn((a), (b))
#define zd_dsqrt(a)   __dsqrt_rn(a)
#define zd_dabs(a)    fabs(a)
#define zd_drint(a)   rint(a)

#define zd_f2i_rn(a)   ((int32_t)__float2int_rn(a))
#define zd_f2ll_rn(a)  ((int64_t)__float2ll_rn(a))
#define zd_d2i_rn(a)   ((int32_t)__double2int_rn(a))
#define zd_d2ll_rn(a)  ((int64_t)__double2ll_rn(a))
#define zd_i2f_rn(a)   __int2float_rn(a)
#define zd_i2d_rn(a)   __int2double_rn(a)
#define zd_ll2f_rn(a)  __ll2float_rn((long long)(a))
#define zd_ll2d_rn(a)  __ll2double_rn((long long)(a))
#define zd_ull2f_rn(a) __ull2float_rn((unsigned long long)(a))
#define zd_ull2d_rn(a) __ull2double_rn((unsigned long long)(a))
#define zd_d2f_rn(a)   __double2float_rn(a)

#endif
