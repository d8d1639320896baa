/* huffman_bmi2.c - the loops of encoder 2 for x86-64 with BMI2 (and AVX2). */
#ifdef __x86_64__
#include <immintrin.h>
#include <string.h>

#include "huffman/huffman_loops.h"

#include "base/bytes.h"

#define TARGET         __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt")))
#define LOW_BITS(w, n) _bzhi_u64(w, (unsigned)(n)) /* of n itself the lowest 8 bits count */
/* The second to fourth residual of an entry, behind `to`; something else in front of them. */
#define SPREAD(to, rest) _Generic((to), uint32_t * : spread32, uint64_t * : spread64)(to, rest)

TARGET __attribute__((always_inline)) static inline void spread32(void *to, const int8_t rest[4])
{
    _mm_storeu_si128(to, _mm_cvtepi8_epi32(_mm_cvtsi32_si128((int)zmpi_load32(rest))));
}

TARGET __attribute__((always_inline)) static inline void spread64(void *to, const int8_t rest[4])
{
    _mm256_storeu_si256(to, _mm256_cvtepi8_epi64(_mm_cvtsi32_si128((int)zmpi_load32(rest))));
}

#define U       uint32_t
#define S       int32_t
#define NAME(x) x##32
#include "huffman/huffman_loops_t.h"
#include "huffman/huffman_take_t.h"
#undef U
#undef S
#undef NAME
#define U       uint64_t
#define S       int64_t
#define NAME(x) x##64
#include "huffman/huffman_loops_t.h"
#include "huffman/huffman_take_t.h"

const struct zmpi_huffman_encode_loops zmpi_huffman_encode_bmi2 = {
    .put32 = put_segment32,
    .put64 = put_segment64,
    .count32 = count_segment32,
    .count64 = count_segment64,
};

const struct zmpi_huffman_loops zmpi_huffman_loops_bmi2 = {
    .four32 = four32,
    .four64 = four64,
    .one32 = one32,
    .one64 = one64,
};
#endif
