/* enhance_net_avx2.c - the network's loops by AVX2, for which CMakeLists.txt compiles this file.
 * Sums of two products fit into 16 bits, because inputs above 127 only meet weights up to 64. */
#ifdef __x86_64__
#include <immintrin.h>
#include <string.h>

#define LANES 8
#include "enhance/enhance_net.h"

#define NET_RUN        zmpi_net_run_avx2
#define V              __m256i
#define SPREAD(x)      _mm256_set1_epi32((int)(x))
#define LOAD(p)        _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define STORE(p, v)    _mm256_storeu_si256((__m256i *)(void *)(p), v)
#define SHIFT(v, n)    _mm256_srai_epi32(v, (int)(n))
#define CLAMP(v, a, b) _mm256_min_epi32(_mm256_max_epi32(v, SPREAD(a)), SPREAD(b))
#define DOT(sum, v, w)                                                                             \
    _mm256_add_epi32(sum,                                                                          \
                     _mm256_madd_epi16(_mm256_maddubs_epi16(v, SPREAD(w)), _mm256_set1_epi16(1)))
#define PACK(a, b, c, d)                                                                           \
    _mm256_or_si256(_mm256_or_si256(a, _mm256_slli_epi32(b, 8)),                                   \
                    _mm256_or_si256(_mm256_slli_epi32(c, 16), _mm256_slli_epi32(d, 24)))
#include "enhance/enhance_net_t.h"
#endif
