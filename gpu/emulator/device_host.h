/* The operations of device_code.h for a host compiler. A thread is a fiber of the emulator
 * (emulator.h). */
#ifndef ZMPI_DEVICE_HOST_H
#define ZMPI_DEVICE_HOST_H

#include "emulator.h"

#include <math.h>
#include <string.h>

/* ---- declarations ---- */

#define ZD_UNUSED   __attribute__((unused))
#define ZD_RESIDENT 1536

#define ZD_KERNEL(name, type, a) ZD_KERNEL_BOUNDED(name, type, a, 1024, 1)
#define ZD_KERNEL_BOUNDED(name, type, a, threads, blocks)                                          \
    static void name##_body(const type a);                                                         \
    ZD_UNUSED static void name(const void *zd_args)                                                \
    {                                                                                              \
        type zd_copy;                                                                              \
        zmpi_emu_bounds(threads, sizeof zd_copy);                                                  \
        memcpy(&zd_copy, zd_args, sizeof zd_copy);                                                 \
        name##_body(zd_copy);                                                                      \
    }                                                                                              \
    static void name##_body(const type a)
#define ZD_FN       ZD_UNUSED static inline
#define ZD_CONST    ZD_UNUSED static const
#define ZD_RESTRICT __restrict__
#define ZD_UNROLL
#define ZD_KEEP(v) (void)(v)
#define ZD_SHARED(type, p)                                                                         \
    static const char p##_key = 0;                                                                 \
    type *const p = (type *)zmpi_emu_shared(&p##_key, sizeof(type))
#define ZD_SHARED_DYNAMIC(type, p) type *const p = (type *)zmpi_emu_shared_dynamic()

#define ZD_LAUNCH(kernel, grid, block, shared_bytes, stream, args)                                 \
    zmpi_emu_launch(&(struct zmpi_emu_grid){(kernel), #kernel, (grid), (block), (shared_bytes),    \
                                            &(args), sizeof(args)},                                \
                    (stream))
#define ZD_ALLOW_SHARED(kernel, shared_bytes) zmpi_emu_allow_shared((kernel), (shared_bytes))
#define ZD_OCCUPANCY(blocks, kernel, block, shared_bytes)                                          \
    zmpi_emu_occupancy((blocks), (kernel), (block), (shared_bytes))

typedef struct {
    _Alignas(16) uint32_t x;
    uint32_t y, z, w;
} zd_u32x4;

typedef struct {
    _Alignas(16) unsigned long long x; /* as CUDA's */
    unsigned long long y;
} zd_u64x2;

/* ---- where a thread is, barriers ---- */

#define zd_tid()  (zmpi_emu_self->tid)
#define zd_bid()  (zmpi_emu_self->bid)
#define zd_bdim() (zmpi_emu_self->bdim)
#define zd_gdim() (zmpi_emu_self->gdim)
#define zd_lane() (zmpi_emu_self->tid % ZD_WARP)
#define zd_warp() (zmpi_emu_self->tid / ZD_WARP)

/* The place of a collective in the source. All its lanes must be at the same place. */
#define ZD_STRING_(x) #x
#define ZD_STRING(x)  ZD_STRING_(x)
#define ZD_HERE       __FILE__ ":" ZD_STRING(__LINE__)

#define ZD_SYNC()           ((void)zmpi_emu_barrier(ZD_HERE, ZMPI_EMU_SYNC, 0))
#define zd_sync_or(pred)    zmpi_emu_barrier(ZD_HERE, ZMPI_EMU_SYNC_OR, (pred) != 0)
#define zd_sync_and(pred)   zmpi_emu_barrier(ZD_HERE, ZMPI_EMU_SYNC_AND, (pred) != 0)
#define zd_sync_count(pred) zmpi_emu_barrier(ZD_HERE, ZMPI_EMU_SYNC_COUNT, (pred) != 0)

/* ---- warp operations ---- */

/* Not a cast, since a result may be left unused. */
ZD_FN uint32_t zd_low(uint64_t v)
{
    return (uint32_t)v;
}

#define zd_shfl_u64(v, lane)     zmpi_emu_warp(ZD_HERE, ZMPI_EMU_SHFL, (v), (lane))
#define zd_shfl_up_u64(v, n)     zmpi_emu_warp(ZD_HERE, ZMPI_EMU_SHFL_UP, (v), (n))
#define zd_shfl_down_u64(v, n)   zmpi_emu_warp(ZD_HERE, ZMPI_EMU_SHFL_DOWN, (v), (n))
#define zd_shfl_xor_u64(v, mask) zmpi_emu_warp(ZD_HERE, ZMPI_EMU_SHFL_XOR, (v), (mask))

#define ZD_SHFL32(kind, v, n)    zd_low(zmpi_emu_warp(ZD_HERE, kind, (uint32_t)(v), (n)))
#define zd_shfl_u32(v, lane)     ZD_SHFL32(ZMPI_EMU_SHFL, v, lane)
#define zd_shfl_up_u32(v, n)     ZD_SHFL32(ZMPI_EMU_SHFL_UP, v, n)
#define zd_shfl_down_u32(v, n)   ZD_SHFL32(ZMPI_EMU_SHFL_DOWN, v, n)
#define zd_shfl_xor_u32(v, mask) ZD_SHFL32(ZMPI_EMU_SHFL_XOR, v, mask)

#define zd_shfl_f32(v, lane)     zd_bits_f32(zd_shfl_u32(zd_f32_bits(v), lane))
#define zd_shfl_up_f32(v, n)     zd_bits_f32(zd_shfl_up_u32(zd_f32_bits(v), n))
#define zd_shfl_down_f32(v, n)   zd_bits_f32(zd_shfl_down_u32(zd_f32_bits(v), n))
#define zd_shfl_xor_f32(v, mask) zd_bits_f32(zd_shfl_xor_u32(zd_f32_bits(v), mask))

#define zd_shfl_f64(v, lane)     zd_bits_f64(zd_shfl_u64(zd_f64_bits(v), lane))
#define zd_shfl_up_f64(v, n)     zd_bits_f64(zd_shfl_up_u64(zd_f64_bits(v), n))
#define zd_shfl_down_f64(v, n)   zd_bits_f64(zd_shfl_down_u64(zd_f64_bits(v), n))
#define zd_shfl_xor_f64(v, mask) zd_bits_f64(zd_shfl_xor_u64(zd_f64_bits(v), mask))

#define zd_ballot(pred) zd_low(zmpi_emu_warp(ZD_HERE, ZMPI_EMU_BALLOT, (pred) != 0, 0))
#define zd_any(pred)    zd_low(zmpi_emu_warp(ZD_HERE, ZMPI_EMU_ANY, (pred) != 0, 0))
#define zd_all(pred)    zd_low(zmpi_emu_warp(ZD_HERE, ZMPI_EMU_ALL, (pred) != 0, 0))
#define zd_syncwarp()   ((void)zmpi_emu_warp(ZD_HERE, ZMPI_EMU_SYNCWARP, 0, 0))

/* Alternates between warps, so that tests run both forms of the code that depends on it. */
#define ZD_REDUX            (zd_warp() % 2 == 0)
#define zd_redux_or_u32(v)  zd_low(zmpi_emu_warp(ZD_HERE, ZMPI_EMU_REDUX_OR, (uint32_t)(v), 0))
#define zd_redux_add_u32(v) zd_low(zmpi_emu_warp(ZD_HERE, ZMPI_EMU_REDUX_ADD, (uint32_t)(v), 0))

/* ---- global memory ---- */

#define ZD_MEMORY(T, type)                                                                         \
    ZD_FN type zd_ld_##T(const type *p)                                                            \
    {                                                                                              \
        type v;                                                                                    \
        zmpi_emu_load(p, &v, sizeof v);                                                            \
        return v;                                                                                  \
    }                                                                                              \
    ZD_FN void zd_st_##T(type *p, type v)                                                          \
    {                                                                                              \
        zmpi_emu_store(p, &v, sizeof v);                                                           \
    }                                                                                              \
    ZD_FN type zd_ld_stream_##T(const type *p)                                                     \
    {                                                                                              \
        return zd_ld_##T(p);                                                                       \
    }                                                                                              \
    ZD_FN void zd_st_stream_##T(type *p, type v)                                                   \
    {                                                                                              \
        zd_st_##T(p, v);                                                                           \
    }
ZD_MEMORY(u8, uint8_t)
ZD_MEMORY(u16, uint16_t)
ZD_MEMORY(u32, uint32_t)
ZD_MEMORY(u64, uint64_t)
ZD_MEMORY(f32, float)
ZD_MEMORY(f64, double)
ZD_MEMORY(u32x4, zd_u32x4)
ZD_MEMORY(u64x2, zd_u64x2)
#undef ZD_MEMORY

#define ZD_ORDERED(T, type)                                                                        \
    ZD_FN type zd_ld_relaxed_##T(const type *p)                                                    \
    {                                                                                              \
        return (type)zmpi_emu_load_ordered(p, sizeof(type), ZMPI_EMU_RELAXED);                     \
    }                                                                                              \
    ZD_FN type zd_ld_acquire_##T(const type *p)                                                    \
    {                                                                                              \
        return (type)zmpi_emu_load_ordered(p, sizeof(type), ZMPI_EMU_ACQUIRE);                     \
    }                                                                                              \
    ZD_FN void zd_st_relaxed_##T(type *p, type v)                                                  \
    {                                                                                              \
        zmpi_emu_store_ordered(p, v, sizeof(type), ZMPI_EMU_RELAXED);                              \
    }                                                                                              \
    ZD_FN void zd_st_release_##T(type *p, type v)                                                  \
    {                                                                                              \
        zmpi_emu_store_ordered(p, v, sizeof(type), ZMPI_EMU_RELEASE);                              \
    }
ZD_ORDERED(u32, uint32_t)
ZD_ORDERED(u64, uint64_t)
#undef ZD_ORDERED

#define zd_fence() zmpi_emu_fence()
#define ZD_SPIN()  zmpi_emu_spin(ZD_HERE)

/* ---- atomics ---- */

#define ZD_ATOMIC(T, type, name, operation)                                                        \
    ZD_FN type zd_atomic_##name##_##T(type *p, type v)                                             \
    {                                                                                              \
        return (type)zmpi_emu_atomic(p, v, 0, sizeof(type), operation);                            \
    }
#define ZD_ATOMICS(T, type)                                                                        \
    ZD_ATOMIC(T, type, add, ZMPI_EMU_ADD)                                                          \
    ZD_ATOMIC(T, type, max, ZMPI_EMU_MAX)                                                          \
    ZD_ATOMIC(T, type, min, ZMPI_EMU_MIN)                                                          \
    ZD_ATOMIC(T, type, or, ZMPI_EMU_OR)                                                            \
    ZD_ATOMIC(T, type, and, ZMPI_EMU_AND)                                                          \
    ZD_ATOMIC(T, type, exch, ZMPI_EMU_EXCHANGE)                                                    \
    ZD_FN type zd_atomic_cas_##T(type *p, type expected, type v)                                   \
    {                                                                                              \
        return (type)zmpi_emu_atomic(p, v, expected, sizeof(type), ZMPI_EMU_CAS);                  \
    }
ZD_ATOMICS(u32, uint32_t)
ZD_ATOMICS(u64, uint64_t)
#undef ZD_ATOMICS
#undef ZD_ATOMIC

/* ---- bits ---- */

ZD_FN uint32_t zd_popc32(uint32_t x)
{
    return (uint32_t)__builtin_popcount(x);
}

ZD_FN uint32_t zd_popc64(uint64_t x)
{
    return (uint32_t)__builtin_popcountll(x);
}

ZD_FN uint32_t zd_clz32(uint32_t x)
{
    return x == 0 ? 32 : (uint32_t)__builtin_clz(x);
}

ZD_FN uint32_t zd_clz64(uint64_t x)
{
    return x == 0 ? 64 : (uint32_t)__builtin_clzll(x);
}

ZD_FN uint32_t zd_ffs32(uint32_t x)
{
    return x == 0 ? 0 : (uint32_t)__builtin_ctz(x) + 1;
}

ZD_FN uint32_t zd_ffs64(uint64_t x)
{
    return x == 0 ? 0 : (uint32_t)__builtin_ctzll(x) + 1;
}

ZD_FN uint32_t zd_brev32(uint32_t x)
{
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}

ZD_FN uint64_t zd_brev64(uint64_t x)
{
    return (uint64_t)zd_brev32((uint32_t)x) << 32 | zd_brev32((uint32_t)(x >> 32));
}

ZD_FN uint32_t zd_funnel_l(uint32_t lo, uint32_t hi, uint32_t n)
{
    return (uint32_t)((((uint64_t)hi << 32 | lo) << (n % 32)) >> 32);
}

ZD_FN uint32_t zd_funnel_r(uint32_t lo, uint32_t hi, uint32_t n)
{
    return (uint32_t)(((uint64_t)hi << 32 | lo) >> (n % 32));
}

/* A selector's nibble picks one of eight bytes; its top bit asks for that byte's sign in all bits.
 */
ZD_FN uint32_t zd_byte_perm(uint32_t lo, uint32_t hi, uint32_t selector)
{
    const uint64_t both = (uint64_t)hi << 32 | lo;
    uint32_t out = 0;
    for (unsigned i = 0; i < 4; i++) {
        const uint32_t pick = selector >> 4 * i & 15;
        const uint32_t byte = (uint32_t)(both >> 8 * (pick & 7)) & 255;
        out |= ((pick & 8) == 0 ? byte : byte >> 7 != 0 ? 255u : 0u) << 8 * i;
    }
    return out;
}

ZD_FN uint32_t zd_mulhi32(uint32_t a, uint32_t b)
{
    return (uint32_t)((uint64_t)a * b >> 32);
}

ZD_FN uint64_t zd_mulhi64(uint64_t a, uint64_t b)
{
    const uint64_t middle = (a >> 32) * (uint32_t)b + (((uint64_t)(uint32_t)a * (uint32_t)b) >> 32);
    const uint64_t low = (uint64_t)(uint32_t)a * (b >> 32) + (uint32_t)middle;
    return (a >> 32) * (b >> 32) + (middle >> 32) + (low >> 32);
}

ZD_FN uint32_t zd_f32_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

ZD_FN float zd_bits_f32(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

ZD_FN uint64_t zd_f64_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

ZD_FN double zd_bits_f64(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* ---- floating point: plain operations, since the project is built with -ffp-contract=off ---- */

#if !defined(FLT_EVAL_METHOD) && defined(__FLT_EVAL_METHOD__)
#define ZD_EVAL_METHOD __FLT_EVAL_METHOD__
#else
#define ZD_EVAL_METHOD FLT_EVAL_METHOD
#endif
_Static_assert(ZD_EVAL_METHOD == 0, "operations must round to their own type");

#define ZD_FLOATING(p, type, sqrt_, abs_, rint_)                                                   \
    ZD_FN type zd_##p##add(type a, type b)                                                         \
    {                                                                                              \
        return a + b;                                                                              \
    }                                                                                              \
    ZD_FN type zd_##p##sub(type a, type b)                                                         \
    {                                                                                              \
        return a - b;                                                                              \
    }                                                                                              \
    ZD_FN type zd_##p##mul(type a, type b)                                                         \
    {                                                                                              \
        return a * b;                                                                              \
    }                                                                                              \
    ZD_FN type zd_##p##div(type a, type b)                                                         \
    {                                                                                              \
        return a / b;                                                                              \
    }                                                                                              \
    ZD_FN type zd_##p##sqrt(type a)                                                                \
    {                                                                                              \
        return sqrt_(a);                                                                           \
    }                                                                                              \
    ZD_FN type zd_##p##abs(type a)                                                                 \
    {                                                                                              \
        return abs_(a);                                                                            \
    }                                                                                              \
    ZD_FN type zd_##p##rint(type a)                                                                \
    {                                                                                              \
        return rint_(a);                                                                           \
    }
ZD_FLOATING(f, float, sqrtf, fabsf, rintf)
ZD_FLOATING(d, double, sqrt, fabs, rint)
#undef ZD_FLOATING

ZD_FN int32_t zd_d2i_rn(double a)
{
    const double r = rint(a);
    if (r != r)
        return 0;
    return r >= 0x1p31 ? INT32_MAX : r <= -0x1p31 ? INT32_MIN : (int32_t)r;
}

ZD_FN int64_t zd_d2ll_rn(double a)
{
    const double r = rint(a);
    if (r != r)
        return INT64_MIN;
    return r >= 0x1p63 ? INT64_MAX : r <= -0x1p63 ? INT64_MIN : (int64_t)r;
}

ZD_FN int32_t zd_f2i_rn(float a)
{
    return zd_d2i_rn(a);
}

ZD_FN int64_t zd_f2ll_rn(float a)
{
    return zd_d2ll_rn(a);
}

ZD_FN float zd_i2f_rn(int32_t a)
{
    return (float)a;
}

ZD_FN double zd_i2d_rn(int32_t a)
{
    return a;
}

ZD_FN float zd_ll2f_rn(int64_t a)
{
    return (float)a;
}

ZD_FN double zd_ll2d_rn(int64_t a)
{
    return (double)a;
}

ZD_FN float zd_ull2f_rn(uint64_t a)
{
    return (float)a;
}

ZD_FN double zd_ull2d_rn(uint64_t a)
{
    return (double)a;
}

ZD_FN float zd_d2f_rn(double a)
{
    return (float)a;
}

#endif
