/*
 * device_code.h - the operations that kernels are written with. Under nvcc they are CUDA's
 * intrinsics. Under a host compiler they are the emulator's (gpu/emulator), which runs the same
 * source and checks it.
 *
 *   struct scale_args { const float *in; float *out; uint64_t n; float by; };
 *   ZD_KERNEL(scale, struct scale_args, a)
 *   {
 *       const uint64_t i = (uint64_t)zd_bid() * zd_bdim() + zd_tid();
 *       if (i < a.n)
 *           zd_st_f32(&a.out[i], zd_fmul(a.in[i], a.by));
 *   }
 *   cudaError_t e = ZD_LAUNCH(scale, blocks, 256, 0, stream, args);
 *
 * Rules for kernels, which the emulator checks where it can:
 * - A kernel takes one struct. Grids and blocks have one dimension. The number of threads in a
 *   block is a multiple of 32.
 * - All 32 lanes of a warp reach the same warp operation, and all threads of a block the same
 *   barrier. None of them may have returned before.
 * - A kernel stores to global memory by zd_st_*, never by assignment. It reads memory that it also
 *   stores to by zd_ld_*, and may read other memory plainly. It assigns to shared memory plainly.
 * - Other threads of the block see a plain store after a barrier. Threads of other blocks see it
 *   after zd_fence() or a release, followed by an acquire on their side. Of the warp operations
 *   only zd_syncwarp() orders memory.
 * - A loop that waits for another thread calls ZD_SPIN() in each turn.
 * - The floating-point functions zd_f* and zd_d* round once, to nearest even, and are never
 *   contracted.
 */
#ifndef ZMPI_DEVICE_CODE_H
#define ZMPI_DEVICE_CODE_H

#include <stddef.h>
#include <stdint.h>

#define ZD_WARP 32u /* lanes */

#ifdef __CUDACC__
#include "device_cuda.h"
#else
#include "device_host.h"
#endif

/*
 * Both headers define:
 *
 * Declarations
 *   ZD_KERNEL(name, type, a)             a kernel with the argument `const type a`
 *   ZD_KERNEL_BOUNDED(name, type, a, threads, blocks)    with __launch_bounds__(threads, blocks)
 *   ZD_FN                                in front of a function that kernels call: static, inlined
 *   ZD_CONST                             in front of a file-level table that kernels read
 *   ZD_RESTRICT, ZD_UNROLL               restrict; unroll the loop that follows
 *   ZD_RESIDENT                          a constant: the threads that fit a multiprocessor at least
 *   ZD_KEEP(v)                           keep the uint32_t v in a register, do not recompute it
 *   ZD_SHARED(type, p)                   type *p: one object of the block, not initialised
 *   ZD_SHARED_DYNAMIC(type, p)           type *p: the launch's shared_bytes, aligned to 16
 *
 * On the host, each of type cudaError_t
 *   ZD_LAUNCH(kernel, grid, block, shared_bytes, stream, args)
 *   ZD_ALLOW_SHARED(kernel, shared_bytes)    needed once for over 48 KiB of dynamic shared memory
 *   ZD_OCCUPANCY(int *blocks, kernel, block, shared_bytes)    resident blocks of a multiprocessor
 *
 * Where a thread is
 *   uint32_t zd_tid() zd_bid() zd_bdim() zd_gdim() zd_lane() zd_warp()
 *
 * Barriers of the block
 *   ZD_SYNC()
 *   zd_sync_or(pred) zd_sync_and(pred) zd_sync_count(pred)    also combine all threads' predicates
 *
 * Warp operations, by all lanes; T: u32 u64 f32 f64
 *   zd_shfl_T(v, lane) zd_shfl_up_T(v, n) zd_shfl_down_T(v, n) zd_shfl_xor_T(v, mask)
 *   zd_ballot(pred) zd_any(pred) zd_all(pred) zd_syncwarp()
 *   zd_redux_or_u32(v) zd_redux_add_u32(v)    over all lanes; only where ZD_REDUX is not 0
 *
 * Global memory; T: u8 u16 u32 u64 f32 f64 u32x4 u64x2 (the last two aligned to 16 bytes)
 *   zd_ld_T(p) zd_st_T(p, v)             plain
 *   zd_ld_stream_T(p)                    for data that are read once and that no kernel writes
 *   zd_st_stream_T(p, v)                 for data that are not read again soon
 *   zd_ld_relaxed_T(p) zd_ld_acquire_T(p) zd_st_relaxed_T(p, v) zd_st_release_T(p, v)
 *                                        u32 and u64 only; device scope
 *   zd_fence()                           __threadfence()
 *   ZD_SPIN()                            lets other threads run
 *
 * Atomics on global or shared memory, relaxed, device scope; return the old value; T: u32 u64
 *   zd_atomic_{add,max,min,or,and,exch}_T(p, v) zd_atomic_cas_T(p, expected, v)
 *
 * Bits
 *   zd_popc32 zd_clz32 zd_ffs32 zd_brev32, and the same with 64
 *                                        clz(0) is the width; ffs counts from 1, and ffs(0) is 0
 *   zd_funnel_l(lo, hi, n)               upper half of hi:lo shifted left by n mod 32
 *   zd_funnel_r(lo, hi, n)               lower half of hi:lo shifted right by n mod 32
 *   zd_byte_perm(lo, hi, selector)       as __byte_perm
 *   zd_mulhi32(a, b) zd_mulhi64(a, b)    upper half of the unsigned product
 *   zd_f32_bits zd_bits_f32 zd_f64_bits zd_bits_f64
 *
 * Floating point, one rounding each; f for float, d for double
 *   zd_fadd zd_fsub zd_fmul zd_fdiv zd_fsqrt zd_fabs zd_frint, zd_dadd ...
 *   zd_f2i_rn zd_f2ll_rn zd_d2i_rn zd_d2ll_rn    to int32_t or int64_t, to nearest even; a number
 *                                        that is too large becomes the nearest integer; the
 *                                        result for NaN is undefined
 *   zd_i2f_rn zd_i2d_rn zd_ll2f_rn zd_ll2d_rn zd_ull2f_rn zd_ull2d_rn zd_d2f_rn
 */

#endif
