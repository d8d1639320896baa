/* enhance_net_avx512.c - the network's loops by AVX-512 with VNNI, for which CMakeLists.txt
 * compiles this file. */
#ifdef __x86_64__
#include <immintrin.h>
#include <string.h>

#define LANES 16
#include "enhance/enhance_net.h"

#define NET_RUN        zmpi_net_run_avx512
#define V              __m512i
#define SPREAD(x)      _mm512_set1_epi32((int)(x))
#define LOAD(p)        _mm512_loadu_si512(p)
#define STORE(p, v)    _mm512_storeu_si512(p, v)
#define SHIFT(v, n)    _mm512_srai_epi32(v, n)
#define CLAMP(v, a, b) _mm512_min_epi32(_mm512_max_epi32(v, SPREAD(a)), SPREAD(b))
#define DOT(sum, v, w) _mm512_dpbusd_epi32(sum, v, SPREAD(w))
#define PACK(a, b, c, d)                                                                           \
    _mm512_or_si512(_mm512_or_si512(a, _mm512_slli_epi32(b, 8)),                                   \
                    _mm512_or_si512(_mm512_slli_epi32(c, 16), _mm512_slli_epi32(d, 24)))
#include "enhance/enhance_net_t.h"
#endif
