/*
 * immintrin.h - AVX-512 in C, included in place of the compiler's header: it tests the kernels' own
 * source on machines without AVX-512. Most of it is SIMDe (libsimde-dev); this file has what SIMDe
 * lacks. Masked accesses leave other memory untouched. The machine must have AVX2 and BMI.
 */
#ifndef ZMPI_EMULATED_H
#define ZMPI_EMULATED_H

#include_next <immintrin.h>
#include <stdint.h>

/* The kernels' names of types are SIMDe's names of parameters. */
#pragma push_macro("T")
#pragma push_macro("U")
#pragma push_macro("S")
#undef T
#undef U
#undef S
#define SIMDE_ENABLE_NATIVE_ALIASES
#define SIMDE_CONSTRAINED_COMPILATION
#include <simde/x86/avx512.h>
#include <simde/x86/gfni.h>
#pragma pop_macro("T")
#pragma pop_macro("U")
#pragma pop_macro("S")

/* What the kernels ask the compiler and the machine for. All of it inlined takes minutes to
 * compile. */
#define always_inline             unused
#define target(list)              target("avx2,bmi,bmi2,lzcnt,popcnt")
#define __builtin_cpu_supports(x) __builtin_cpu_supports("avx2")
#define __asm__(...) /* there are no such registers */

typedef union {
    __m512i v;
    __m512 ps;
    __m512d pd;
    uint8_t u8[64];
    int16_t i16[32];
    uint16_t u16[32];
    int32_t i32[16];
    int64_t i64[8];
    uint32_t u32[16];
    uint64_t u64[8];
    float f32[16];
} emulated;

/* The source of what becomes longer. */
typedef union {
    __m256i v;
    __m128i half;
    uint8_t u8[32];
    int16_t i16[16];
    uint16_t u16[16];
    uint32_t u32[8];
} emulated_short;

#define EMULATED __attribute__((unused)) static

/* A vector whose n lanes are the values, by their number i. */
#define LANES_ARE(name, args, part, n, value)                                                      \
    EMULATED __m512i emulated_##name args                                                          \
    {                                                                                              \
        emulated r;                                                                                \
        for (int i = 0; i < (n); i++)                                                              \
            r.part[i] = (value);                                                                   \
        return r.v;                                                                                \
    }

/* A mask of the n lanes for which it is true. */
#define BITS_ARE(name, args, n, value)                                                             \
    EMULATED uint32_t emulated_##name args                                                         \
    {                                                                                              \
        uint32_t r = 0;                                                                            \
        for (int i = 0; i < (n); i++)                                                              \
            r |= (uint32_t)(value) << i;                                                           \
        return r;                                                                                  \
    }

/* Lane i, where the mask has it, to or from memory. */
#define STORE_IS(name, type, part, n)                                                              \
    EMULATED void emulated_##name(void *to, uint32_t m, emulated a)                                \
    {                                                                                              \
        for (int i = 0; i < (n); i++)                                                              \
            if (m >> i & 1)                                                                        \
                simde_memcpy((type *)to + i, &a.part[i], sizeof(type));                            \
    }

#define LOAD_IS(name, type, part, n)                                                               \
    EMULATED __m512i emulated_##name(uint32_t m, const void *from)                                 \
    {                                                                                              \
        emulated r = {_mm512_setzero_si512()};                                                     \
        for (int i = 0; i < (n); i++)                                                              \
            if (m >> i & 1)                                                                        \
                simde_memcpy(&r.part[i], (const type *)from + i, sizeof(type));                    \
        return r.v;                                                                                \
    }

#define EXPAND_IS(name, type, part, n)                                                             \
    EMULATED __m512i emulated_##name(emulated r, uint32_t m, const type *from)                     \
    {                                                                                              \
        for (int i = 0; i < (n); i++)                                                              \
            if (m >> i & 1)                                                                        \
                simde_memcpy(&r.part[i], from++, sizeof(type));                                    \
        return r.v;                                                                                \
    }

/* ---- lanes moved ---- */

LANES_ARE(alignr_epi32, (emulated a, emulated b, int n), u32, 16,
          i + n < 16 ? b.u32[i + n] : a.u32[i + n - 16])
LANES_ARE(alignr_epi8, (emulated a, emulated b, int n), u8, 64,
          i % 16 + n < 16 ? b.u8[i + n] : a.u8[i + n - 16])
LANES_ARE(alignr_epi64, (emulated a, emulated b, int n), u64, 8,
          i + n < 8 ? b.u64[i + n] : a.u64[i + n - 8])
LANES_ARE(bslli_epi128, (emulated a, int n), u8, 64, i % 16 < n ? 0 : a.u8[i - n])
LANES_ARE(shuffle_epi32, (emulated a, int order), u32, 16,
          a.u32[i / 4 * 4 + (order >> i % 4 * 2 & 3)])
LANES_ARE(broadcastmb_epi64, (uint8_t m), u64, 8, m)
LANES_ARE(broadcastmw_epi32, (uint16_t m), u32, 16, m)
LANES_ARE(i32gather_epi32, (emulated at, const void *base, int scale), u32, 16,
          *(const uint32_t *)((const char *)base + (int64_t)at.i32[i] * scale))
#undef _mm512_alignr_epi8
#define _mm512_alignr_epi8(a, b, n)    emulated_alignr_epi8((emulated){a}, (emulated){b}, n)
#define _mm512_alignr_epi32(a, b, n)   emulated_alignr_epi32((emulated){a}, (emulated){b}, n)
#define _mm512_alignr_epi64(a, b, n)   emulated_alignr_epi64((emulated){a}, (emulated){b}, n)
#define _mm512_bslli_epi128(a, n)      emulated_bslli_epi128((emulated){a}, n)
#define _mm512_shuffle_epi32(a, order) emulated_shuffle_epi32((emulated){a}, order)
#undef _mm512_shuffle_i64x2 /* an alias that SIMDe forgot */
#define _mm512_shuffle_i64x2(a, b, order) simde_mm512_shuffle_i64x2(a, b, order)
#define _mm512_broadcastmb_epi64(m)       emulated_broadcastmb_epi64(m)
#define _mm512_broadcastmw_epi32(m)       emulated_broadcastmw_epi32(m)
#define _mm512_i32gather_epi32(at, b, by) emulated_i32gather_epi32((emulated){at}, b, by)

/* ---- numbers ---- */

LANES_ARE(cvtepu8_epi16, (emulated_short a), i16, 32, a.u8[i])
LANES_ARE(cvtepi16_epi32, (emulated_short a), i32, 16, a.i16[i])
LANES_ARE(cvtepi16_epi64, (emulated_short a), i64, 8, a.i16[i])
LANES_ARE(cvtepu16_epi32, (emulated_short a), u32, 16, a.u16[i])
LANES_ARE(cvtepu32_epi64, (emulated_short a), u64, 8, a.u32[i])
LANES_ARE(srai_epi32, (emulated a, unsigned n), i32, 16, a.i32[i] >> (n < 31 ? n : 31))
LANES_ARE(srai_epi64, (emulated a, unsigned n), i64, 8, a.i64[i] >> (n < 63 ? n : 63))
LANES_ARE(srav_epi32, (emulated a, emulated n), i32, 16,
          a.i32[i] >> (n.u32[i] < 31 ? n.u32[i] : 31))
LANES_ARE(lzcnt_epi32, (emulated a), u32, 16, a.u32[i] ? (uint32_t)__builtin_clz(a.u32[i]) : 32)
LANES_ARE(lzcnt_epi64, (emulated a), u64, 8, a.u64[i] ? (uint64_t)__builtin_clzll(a.u64[i]) : 64)
LANES_ARE(mask_sub_epi16, (emulated s, uint32_t m, emulated a, emulated b), i16, 32,
          (int16_t)(m >> i & 1 ? a.i16[i] - b.i16[i] : s.i16[i]))
/* The lowest byte of each lane. */
EMULATED __m128i emulated_cvtepi32_epi8(emulated a)
{
    emulated r = {_mm512_setzero_si512()};
    for (int i = 0; i < 16; i++)
        r.u8[i] = (uint8_t)a.u32[i];
    return _mm512_castsi512_si128(r.v);
}

EMULATED __m256i emulated_cvtepi32_epi16(emulated a)
{
    emulated_short r;
    for (int i = 0; i < 16; i++)
        r.u16[i] = (uint16_t)a.u32[i];
    return r.v;
}

EMULATED __m512 emulated_cvtepu32_ps(emulated a)
{
    for (int i = 0; i < 16; i++)
        a.f32[i] = (float)a.u32[i];
    return a.ps;
}

LANES_ARE(cvttps_epi32, (emulated a), i32, 16, (int32_t)a.f32[i])

EMULATED void emulated_mask_storeu_epi16(void *to, uint32_t m, emulated_short a)
{
    for (int i = 0; i < 16; i++)
        if (m >> i & 1)
            __builtin_memcpy((char *)to + 2 * i, &a.u16[i], 2);
}

#undef _mm512_cvtepi32_epi16
#undef _mm512_cvtepu32_ps
#undef _mm512_cvttps_epi32
#undef _mm256_mask_storeu_epi16
#define _mm512_cvtepi32_epi16(a)           emulated_cvtepi32_epi16((emulated){a})
#define _mm512_cvtepu32_ps(a)              emulated_cvtepu32_ps((emulated){a})
#define _mm512_cvttps_epi32(a)             emulated_cvttps_epi32((emulated){.ps = (a)})
#define _mm256_mask_storeu_epi16(to, m, a) emulated_mask_storeu_epi16(to, m, (emulated_short){a})
#undef _mm512_cvtepi32_epi8
#define _mm512_cvtepi32_epi8(a)  emulated_cvtepi32_epi8((emulated){a})
#define _mm512_cvtepu8_epi16(a)  emulated_cvtepu8_epi16((emulated_short){a})
#define _mm512_cvtepi16_epi32(a) emulated_cvtepi16_epi32((emulated_short){a})
#define _mm512_cvtepi16_epi64(a) emulated_cvtepi16_epi64((emulated_short){.half = (a)})
#define _mm512_cvtepu16_epi32(a) emulated_cvtepu16_epi32((emulated_short){a})
#define _mm512_cvtepu32_epi64(a) emulated_cvtepu32_epi64((emulated_short){a})
#define _mm512_srai_epi32(a, n)  emulated_srai_epi32((emulated){a}, n)
#define _mm512_srai_epi64(a, n)  emulated_srai_epi64((emulated){a}, n)
#define _mm512_sra_epi32(a, n)   emulated_srai_epi32((emulated){a}, (unsigned)_mm_cvtsi128_si32(n))
#define _mm512_mask_srli_epi32(s, m, a, n)                                                         \
    simde_mm512_mask_mov_epi32(s, m, simde_mm512_srli_epi32(a, n))
#define _mm512_srav_epi32(a, n) emulated_srav_epi32((emulated){a}, (emulated){n})
#define _mm512_lzcnt_epi32(a)   emulated_lzcnt_epi32((emulated){a})
#define _mm512_lzcnt_epi64(a)   emulated_lzcnt_epi64((emulated){a})
#define _mm512_mask_sub_epi16(s, m, a, b)                                                          \
    emulated_mask_sub_epi16((emulated){s}, m, (emulated){a}, (emulated){b})

EMULATED __m512 emulated_cvtepi32_ps(emulated a)
{
    emulated r;
    for (int i = 0; i < 16; i++)
        ((float *)&r)[i] = (float)a.i32[i];
    return r.ps;
}

EMULATED __m512d emulated_cvtepi64_pd(emulated a)
{
    emulated r;
    for (int i = 0; i < 8; i++)
        ((double *)&r)[i] = (double)a.i64[i];
    return r.pd;
}

EMULATED __m512i emulated_cvtps_epi32(__m512 a)
{
    emulated r = {.ps = a};
    for (int i = 0; i < 16; i++)
        r.i32[i] = _mm_cvtss_si32(_mm_set_ss(((const float *)&a)[i]));
    return r.v;
}

EMULATED __m256i emulated_cvtpd_epi32(__m512d a)
{
    emulated_short r;
    for (int i = 0; i < 8; i++)
        r.u32[i] = (uint32_t)_mm_cvtsd_si32(_mm_set_sd(((const double *)&a)[i]));
    return r.v;
}
EMULATED __m512d emulated_cvtepi32_pd(emulated_short a)
{
    __m512d r;
    for (int i = 0; i < 8; i++)
        ((double *)&r)[i] = (double)(int32_t)a.u32[i];
    return r;
}
#define _mm512_cvtepi32_pd(a) emulated_cvtepi32_pd((emulated_short){a})
#define _mm512_cvtepi32_ps(a) emulated_cvtepi32_ps((emulated){a})
#define _mm512_cvtps_epi32(a) emulated_cvtps_epi32(a)
#define _mm512_cvtpd_epi32(a) emulated_cvtpd_epi32(a)
#define _mm512_cvtepi64_pd(a) emulated_cvtepi64_pd((emulated){a})

/* ---- comparisons ---- */

BITS_ARE(cmpgt_epu64_mask, (emulated a, emulated b), 8, a.u64[i] > b.u64[i])
BITS_ARE(cmpneq_epi32_mask, (emulated a, emulated b), 16, a.u32[i] != b.u32[i])
BITS_ARE(cmpneq_epi64_mask, (emulated a, emulated b), 8, a.u64[i] != b.u64[i])
BITS_ARE(cmpgt_epu16_mask, (emulated a, emulated b), 32, a.u16[i] > b.u16[i])
BITS_ARE(cmpgt_epu32_mask, (emulated a, emulated b), 16, a.u32[i] > b.u32[i])
BITS_ARE(testn_epi32_mask, (emulated a, emulated b), 16, !(a.u32[i] & b.u32[i]))
#define _mm512_cmpgt_epu16_mask(a, b)         emulated_cmpgt_epu16_mask((emulated){a}, (emulated){b})
#define _mm512_cmpgt_epu32_mask(a, b)         emulated_cmpgt_epu32_mask((emulated){a}, (emulated){b})
#define _mm512_mask_cmpgt_epu32_mask(m, a, b) ((m)&_mm512_cmpgt_epu32_mask(a, b))
#define _mm512_mask_testn_epi32_mask(m, a, b)                                                      \
    ((m)&emulated_testn_epi32_mask((emulated){a}, (emulated){b}))
#define _mm512_cmpgt_epu64_mask(a, b)          emulated_cmpgt_epu64_mask((emulated){a}, (emulated){b})
#define _mm512_cmpneq_epi32_mask(a, b)         emulated_cmpneq_epi32_mask((emulated){a}, (emulated){b})
#define _mm512_cmpneq_epi64_mask(a, b)         emulated_cmpneq_epi64_mask((emulated){a}, (emulated){b})
#define _mm512_mask_cmpneq_epi32_mask(m, a, b) ((m)&_mm512_cmpneq_epi32_mask(a, b))
#define _mm512_mask_cmpneq_epi64_mask(m, a, b) ((m)&_mm512_cmpneq_epi64_mask(a, b))
#define _mm512_mask_cmp_ps_mask(m, a, b, op)   ((m)&simde_mm512_cmp_ps_mask(a, b, op))
#define _mm512_mask_cmp_pd_mask(m, a, b, op)   ((m)&simde_mm512_cmp_pd_mask(a, b, op))

/* ---- memory ---- */

LOAD_IS(maskz_loadu_epi32, uint32_t, u32, 16)
LOAD_IS(maskz_loadu_epi64, uint64_t, u64, 8)
STORE_IS(mask_storeu_epi8, uint8_t, u8, 32) /* more are not asked for */
STORE_IS(mask_storeu_epi32, uint32_t, u32, 16)
STORE_IS(mask_storeu_epi64, uint64_t, u64, 8)
EXPAND_IS(mask_expandloadu_epi32, uint32_t, u32, 16)
EXPAND_IS(mask_expandloadu_epi64, uint64_t, u64, 8)

EMULATED __m512i emulated_maskz_expand_epi32(uint32_t m, emulated a)
{
    return emulated_mask_expandloadu_epi32((emulated){_mm512_setzero_si512()}, m, a.u32);
}

#define _mm512_maskz_expand_epi32(m, a) emulated_maskz_expand_epi32(m, (emulated){a})
#define _mm512_mask_loadu_epi32(a, m, from)                                                        \
    simde_mm512_mask_mov_epi32(a, m, _mm512_maskz_loadu_epi32(m, from))
#define _mm512_mask_loadu_epi64(a, m, from)                                                        \
    simde_mm512_mask_mov_epi64(a, m, _mm512_maskz_loadu_epi64(m, from))

EMULATED __m512i emulated_maskz_loadu_epi8(uint64_t m, const void *from)
{
    emulated r = {_mm512_setzero_si512()};
    for (int i = 0; i < 64; i++)
        if (m >> i & 1)
            r.u8[i] = ((const uint8_t *)from)[i];
    return r.v;
}

#undef _mm512_maskz_loadu_epi8
#define _mm512_maskz_loadu_epi8(m, p)     emulated_maskz_loadu_epi8(m, p)
#define _mm512_maskz_loadu_epi32(m, from) emulated_maskz_loadu_epi32(m, from)
#define _mm512_maskz_loadu_epi64(m, from) emulated_maskz_loadu_epi64(m, from)
#undef _mm512_mask_storeu_epi8
#define _mm512_mask_storeu_epi8(to, m, a)                                                          \
    emulated_mask_storeu_epi8(to, (uint32_t)(m), (emulated){a})
#define _mm512_mask_storeu_epi32(to, m, a) emulated_mask_storeu_epi32(to, m, (emulated){a})
#define _mm512_mask_storeu_epi64(to, m, a) emulated_mask_storeu_epi64(to, m, (emulated){a})
#define _mm512_mask_expandloadu_epi32(r, m, from)                                                  \
    emulated_mask_expandloadu_epi32((emulated){r}, m, (const void *)(from))
#define _mm512_mask_expandloadu_epi64(r, m, from)                                                  \
    emulated_mask_expandloadu_epi64((emulated){r}, m, (const void *)(from))
#define _mm512_stream_load_si512(from) simde_mm512_load_si512(from)
#define _mm512_stream_si512(to, a)     simde_mm512_store_si512(to, a)

#endif
