/* A kernel per kind of word of device_code.h: each thread writes down what it got. */
#ifndef ZMPI_TESTS_CUDA_WORDS_H
#define ZMPI_TESTS_CUDA_WORDS_H

#include "device_code.h"

struct words_args {
    const uint64_t *in; /* two per thread */
    uint64_t *out;      /* WORDS per thread, words of one kind behind each other */
    uint32_t *counters; /* 16 */
};

#define WORDS 32u

ZD_FN void put(const struct words_args *a, uint32_t word, uint64_t value)
{
    const uint32_t threads = zd_gdim() * zd_bdim();
    zd_st_u64(&a->out[(uint64_t)word * threads + zd_bid() * zd_bdim() + zd_tid()], value);
}

ZD_KERNEL(words_warp, struct words_args, a)
{
    const uint64_t v = a.in[2 * (zd_bid() * zd_bdim() + zd_tid())];
    const uint32_t n = (uint32_t)a.in[2 * (zd_bid() * zd_bdim() + zd_tid()) + 1];
    put(&a, 0, zd_shfl_u64(v, n));
    put(&a, 1, zd_shfl_up_u64(v, n % 32));
    put(&a, 2, zd_shfl_down_u64(v, n % 32));
    put(&a, 3, zd_shfl_xor_u64(v, n % 32));
    put(&a, 4, zd_shfl_u32((uint32_t)v, n % 32));
    put(&a, 5, zd_shfl_up_u32((uint32_t)v, 1));
    put(&a, 6, zd_shfl_down_u32((uint32_t)v, 31));
    put(&a, 7, zd_shfl_xor_u32((uint32_t)v, 16));
    put(&a, 8, zd_f32_bits(zd_shfl_up_f32(zd_bits_f32((uint32_t)v), 3)));
    put(&a, 9, zd_f64_bits(zd_shfl_xor_f64(zd_bits_f64(v), 5)));
    put(&a, 10, zd_ballot((v & 1) != 0));
    put(&a, 11, zd_any((v & 31) == 31));
    put(&a, 12, zd_all((v & 31) != 31));
    put(&a, 13, zd_lane());
    put(&a, 14, zd_warp());
    put(&a, 15, zd_redux_or_u32((uint32_t)v & 0x0f0f0f0f));
    put(&a, 16, zd_redux_add_u32((uint32_t)v));
    zd_syncwarp();
}

struct words_shared {
    uint64_t reversed[1024];
};

struct words_few {
    uint32_t sum;
    uint64_t largest;
};

ZD_KERNEL(words_block, struct words_args, a)
{
    ZD_SHARED(struct words_shared, s);
    ZD_SHARED(struct words_few, few);
    ZD_SHARED_DYNAMIC(uint32_t, dynamic);
    const uint32_t tid = zd_tid();
    const uint64_t v = a.in[2 * (zd_bid() * zd_bdim() + tid)];
    s->reversed[tid] = v;
    dynamic[tid] = (uint32_t)v;
    if (tid == 0) {
        few->sum = 0;
        few->largest = 0;
    }
    ZD_SYNC();
    zd_atomic_add_u32(&few->sum, (uint32_t)v);
    zd_atomic_max_u64(&few->largest, v);
    put(&a, 0, s->reversed[zd_bdim() - 1 - tid]);
    put(&a, 1, dynamic[(tid + 40) % zd_bdim()]);
    put(&a, 2, zd_sync_count((v & 1) != 0));
    put(&a, 3, few->sum);
    put(&a, 4, few->largest);
    put(&a, 5, zd_sync_or(v == 0));
    put(&a, 6, zd_sync_and(v != 0));
    put(&a, 7, zd_bid());
    put(&a, 8, zd_bdim());
    put(&a, 9, zd_gdim());
}

ZD_KERNEL(words_bits, struct words_args, a)
{
    const uint64_t v = a.in[2 * (zd_bid() * zd_bdim() + zd_tid())];
    const uint64_t w = a.in[2 * (zd_bid() * zd_bdim() + zd_tid()) + 1];
    const uint32_t lo = (uint32_t)v, hi = (uint32_t)(v >> 32), n = (uint32_t)w;
    put(&a, 0, zd_popc32(lo));
    put(&a, 1, zd_popc64(v));
    put(&a, 2, zd_clz32(lo));
    put(&a, 3, zd_clz64(v));
    put(&a, 4, zd_ffs32(lo));
    put(&a, 5, zd_ffs64(v));
    put(&a, 6, zd_brev32(lo));
    put(&a, 7, zd_brev64(v));
    put(&a, 8, zd_funnel_l(lo, hi, n));
    put(&a, 9, zd_funnel_r(lo, hi, n));
    put(&a, 10, zd_byte_perm(lo, hi, n));
    put(&a, 11, zd_mulhi32(lo, n));
    put(&a, 12, zd_mulhi64(v, w));
}

ZD_KERNEL(words_floats, struct words_args, a)
{
    const double x = zd_bits_f64(a.in[2 * (zd_bid() * zd_bdim() + zd_tid())]);
    const double y = zd_bits_f64(a.in[2 * (zd_bid() * zd_bdim() + zd_tid()) + 1]);
    const float f = zd_d2f_rn(x), g = zd_d2f_rn(y);
    put(&a, 0, zd_f64_bits(zd_dadd(x, y)));
    put(&a, 1, zd_f64_bits(zd_dsub(x, y)));
    put(&a, 2, zd_f64_bits(zd_dmul(x, y)));
    put(&a, 3, zd_f64_bits(zd_ddiv(x, y)));
    put(&a, 4, zd_f64_bits(zd_dsqrt(zd_dabs(x))));
    put(&a, 5, zd_f64_bits(zd_drint(x)));
    put(&a, 6, zd_f32_bits(zd_fadd(f, g)));
    put(&a, 7, zd_f32_bits(zd_fsub(f, g)));
    put(&a, 8, zd_f32_bits(zd_fmul(f, g)));
    put(&a, 9, zd_f32_bits(zd_fdiv(f, g)));
    put(&a, 10, zd_f32_bits(zd_fsqrt(zd_fabs(f))));
    put(&a, 11, zd_f32_bits(zd_frint(f)));
    put(&a, 12, (uint64_t)(int64_t)zd_d2i_rn(x));
    put(&a, 13, (uint64_t)zd_d2ll_rn(x));
    put(&a, 14, (uint64_t)(int64_t)zd_f2i_rn(f));
    put(&a, 15, (uint64_t)zd_f2ll_rn(f));
    put(&a, 16, zd_f32_bits(zd_i2f_rn((int32_t)a.in[0])));
    put(&a, 17, zd_f64_bits(zd_i2d_rn((int32_t)a.in[0])));
    put(&a, 18, zd_f32_bits(zd_ll2f_rn((int64_t)a.in[0])));
    put(&a, 19, zd_f64_bits(zd_ll2d_rn((int64_t)a.in[0])));
    put(&a, 20, zd_f32_bits(zd_ull2f_rn(a.in[0])));
    put(&a, 21, zd_f64_bits(zd_ull2d_rn(a.in[0])));
}

/* Global memory, each thread on its own 64 bytes of out, and the atomics all on the same counters.
 */
ZD_KERNEL(words_memory, struct words_args, a)
{
    const uint32_t i = zd_bid() * zd_bdim() + zd_tid();
    uint64_t *const own = &a.out[8 * (uint64_t)i];
    const zd_u32x4 four = {i, i + 1, i + 2, i + 3};
    const zd_u64x2 two = {i, ~(uint64_t)i};
    zd_st_u32x4((zd_u32x4 *)own, four);
    zd_st_stream_u64x2((zd_u64x2 *)(own + 2), two);
    zd_st_u8((uint8_t *)own, (uint8_t)(zd_ld_u8((uint8_t *)own + 4) + 1));
    zd_st_u16((uint16_t *)own + 1, 0x1234);
    zd_st_f32((float *)(own + 4), 1.5f);
    zd_st_f64((double *)(own + 5), zd_ld_f32((float *)(own + 4)));
    zd_st_u32((uint32_t *)(own + 6),
              77); /* the next two come behind it, and no other order is seen */
    zd_st_relaxed_u32((uint32_t *)(own + 6), zd_ld_relaxed_u32((uint32_t *)own + 1));
    zd_st_u32((uint32_t *)(own + 6) + 1, 78);
    zd_atomic_add_u32((uint32_t *)(own + 6) + 1, 100);
    zd_st_release_u64(own + 7, zd_ld_acquire_u64(own + 3));
    const uint64_t seen = zd_ld_stream_u64(a.in + 2 * (uint64_t)i);
    zd_fence();
    zd_atomic_add_u32(&a.counters[0], 3);
    zd_atomic_max_u32(&a.counters[1], (uint32_t)seen);
    zd_atomic_min_u32(&a.counters[2], (uint32_t)seen);
    zd_atomic_or_u32(&a.counters[3], 1u << i % 32);
    zd_atomic_and_u32(&a.counters[4], ~(1u << i % 32));
    zd_atomic_add_u64((uint64_t *)&a.counters[6], seen);
    zd_atomic_min_u64((uint64_t *)&a.counters[8], seen);
    uint32_t old = zd_ld_relaxed_u32(&a.counters[10]), found;
    while ((found = zd_atomic_cas_u32(&a.counters[10], old, old + 1)) != old)
        old = found;
    zd_atomic_exch_u32(&a.counters[11], i);
}

#endif
