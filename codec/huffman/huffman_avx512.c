/*
 * huffman_avx512.c - the encoder's loops of encoder 2 with AVX-512.
 *
 * Residuals that are not zero are put together, so that the work is that of these alone. 16 at a
 * time they get tokens, of the zeros before and of themselves; four neighbours' tokens are joined;
 * and what that makes is appended piece by piece.
 */
#ifdef __x86_64__
#include <stdbool.h>

#include "kernels/avx512/avx512.h"

#include "base/bytes.h"
#include "huffman/huffman_loops.h"

#define CONFLICT __attribute__((target(AVX512 ",avx512cd")))
#define COUNTER  CONFLICT __attribute__((always_inline)) static inline
enum { LANES = 16, GROUP = 32 /* blocks */, NONE = 63, DIRECT = ZMPI_HUFFMAN_DIRECT };
/* Bits of a run's token here, of a token that may be joined with others, of a piece; zeros that
 * have no token. */
enum { MOST_RUN = 26, MOST_TOKEN = 31, MOST_PIECE = 56, FAR = 31 };

/* Residuals that are not zero. Before the first position is that of the one before. */
struct list {
    size_t n;
    _Alignas(64) int32_t r[GROUP * ZMPI_BLOCK + 2 * ZMPI_BLOCK]; /* the nearest to it, of 64 bits */
    uint32_t at[1 + GROUP * ZMPI_BLOCK + 2 * ZMPI_BLOCK];        /* in the chunk */
};

struct source {
    const void *r;
    const uint32_t *nonzero;
    struct zmpi_segment g;
};

/* wide: words of 64 bits. A constant to the compiler. */
VECTOR __m512i load(const struct source *s, bool wide, size_t i)
{
    if (!wide)
        return _mm512_loadu_si512((const uint32_t *)s->r + i);
    const uint64_t *r = (const uint64_t *)s->r + i;
    const __m256i low = _mm512_cvtsepi64_epi32(_mm512_loadu_si512(r));
    const __m256i high = _mm512_cvtsepi64_epi32(_mm512_loadu_si512(r + LANES / 2));
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

VECTOR int64_t load_one(const struct source *s, bool wide, size_t i)
{
    return wide ? ((const int64_t *)s->r)[i] : ((const int32_t *)s->r)[i];
}

VECTOR void list_begin(struct list *l, const struct source *s)
{
    l->n = 0;
    l->at[0] = (uint32_t)(s->g.begin * ZMPI_BLOCK) - 1;
}

/* Adds the residuals of blocks from..end-1 that are not 0. */
VECTOR void list_add(struct list *l, const struct source *s, bool wide, size_t from, size_t end)
{
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    size_t n = l->n;
    for (size_t b = from; b < end; b++) {
        const uint32_t some = zmpi_nonzero_of(s->nonzero, &s->g, b);
        for (unsigned k = 0; k < ZMPI_BLOCK && some; k += LANES) {
            const size_t i = b * ZMPI_BLOCK + k;
            const __mmask16 m = (__mmask16)(some >> k);
            const __m512i at = _mm512_add_epi32(lanes, _mm512_set1_epi32((int)i));
            _mm512_storeu_si512(l->r + n, _mm512_maskz_compress_epi32(m, load(s, wide, i)));
            _mm512_storeu_si512(l->at + 1 + n, _mm512_maskz_compress_epi32(m, at));
            n += (size_t)_mm_popcnt_u32(m);
        }
    }
    l->n = n;
}

/* Keep only those from `done` on, at most 32. */
VECTOR void list_keep(struct list *l, size_t done)
{
    l->at[0] = l->at[done];
    for (unsigned k = 0; k < 2 * LANES; k += LANES) {
        _mm512_storeu_si512(l->r + k, _mm512_loadu_si512(l->r + done + k));
        _mm512_storeu_si512(l->at + 1 + k, _mm512_loadu_si512(l->at + 1 + done + k));
    }
    l->n -= done;
}

/* The number of zeros before each residual. */
VECTOR __m512i zeros_before(const struct list *l, size_t i)
{
    const __m512i at = _mm512_loadu_si512(l->at + 1 + i), before = _mm512_loadu_si512(l->at + i);
    return _mm512_sub_epi32(_mm512_sub_epi32(at, before), _mm512_set1_epi32(1));
}

/* Zeros behind the last, of those that the chunk has. */
VECTOR size_t zeros_behind(const struct list *l, const struct zmpi_segment *g)
{
    return g->begin * ZMPI_BLOCK + zmpi_segment_words(g) - 1 - (size_t)(int32_t)l->at[l->n];
}

/* ---- bits ---- */

/* Of e->run, those that are short enough; the last one stands for those that are longer. */
VECTOR void near_runs(const struct zmpi_huffman_encoder *e, __m512i run[2])
{
    _Alignas(64) uint32_t token[2 * LANES];
    for (unsigned i = 0; i < 2 * LANES; i++)
        token[i] = i < FAR && (e->run[i] & 63) <= MOST_RUN ? (uint32_t)e->run[i] : NONE;
    run[0] = _mm512_load_si512(token);
    run[1] = _mm512_load_si512(token + LANES);
}

/* Bits of LANES residuals with the zeros before them, and how many: more than MOST_PIECE where
 * these are too many, or there is none. */
struct tokens {
    __m512i bits, n;
};

VECTOR struct tokens tokens_of(const struct zmpi_huffman_encoder *e, const __m512i run[2],
                               const struct list *l, size_t i)
{
    const __m512i length = _mm512_set1_epi32(63), r = _mm512_loadu_si512(l->r + i);
    const __m512i u = _mm512_add_epi32(r, _mm512_set1_epi32(DIRECT / 2));
    const __m512i direct = _mm512_min_epu32(u, _mm512_set1_epi32(DIRECT));
    const __m512i zeros = _mm512_min_epu32(zeros_before(l, i), _mm512_set1_epi32(FAR));
    const __m512i first = _mm512_permutex2var_epi32(run[0], zeros, run[1]);
    const __m512i second = _mm512_i32gather_epi32(direct, e->direct, 4);
    const __m512i n = _mm512_and_si512(first, length);
    const __m512i both = _mm512_add_epi32(n, _mm512_and_si512(second, length));
    const __m512i beyond = _mm512_and_si512(_mm512_slli_epi32(both, 1), _mm512_set1_epi32(64));
    return (struct tokens){_mm512_or_si512(_mm512_srli_epi32(first, 6),
                                           _mm512_sllv_epi32(_mm512_srli_epi32(second, 6), n)),
                           _mm512_or_si512(both, beyond)};
}

/* Joins each code and the next of LANES, in words of 64 bits. */
VECTOR struct tokens pairs_of(struct tokens t)
{
    const __m512i even = _mm512_set1_epi64(UINT32_MAX), n = _mm512_and_si512(t.n, even);
    const __m512i next = _mm512_sllv_epi64(_mm512_srli_epi64(t.bits, 32), n);
    return (struct tokens){_mm512_or_si512(_mm512_and_si512(t.bits, even), next),
                           _mm512_sad_epu8(t.n, _mm512_setzero_si512())};
}

/* Joins each pair and the next, with the bits of the first pair lowest. */
VECTOR struct tokens fours_of(struct tokens a, struct tokens b)
{
    const __m512i even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
    const __m512i odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
    const __m512i n = _mm512_permutex2var_epi64(a.n, even, b.n);
    const __m512i first = _mm512_permutex2var_epi64(a.bits, even, b.bits);
    const __m512i next = _mm512_permutex2var_epi64(a.bits, odd, b.bits);
    return (struct tokens){_mm512_or_si512(first, _mm512_sllv_epi64(next, n)),
                           _mm512_add_epi64(n, _mm512_permutex2var_epi64(a.n, odd, b.n))};
}

/* Computes what is appended, in a loop of its own, so that iterations wait for each other less. */
struct pieces {
    size_t count;
    _Alignas(64) uint64_t bits[GROUP * ZMPI_BLOCK / 4 + ZMPI_BLOCK];
    _Alignas(64) uint64_t n[GROUP * ZMPI_BLOCK / 4 + ZMPI_BLOCK];
};

VECTOR void pieces_add(struct pieces *p, struct tokens t)
{
    _mm512_storeu_si512(p->bits + p->count, t.bits);
    _mm512_storeu_si512(p->n + p->count, t.n);
    p->count += 8;
}

VECTOR void put_pieces(struct zmpi_bits *b, struct pieces *p)
{
    for (size_t i = 0; i < p->count; i++)
        zmpi_put(b, p->bits[i], (unsigned)p->n[i]);
    p->count = 0;
}

/* A residual and the zeros before it. */
VECTOR struct zmpi_bits put_one(const struct zmpi_huffman_encoder *e, struct zmpi_bits b,
                                size_t zeros, int64_t r, size_t width)
{
    const uint64_t u = (uint64_t)r + DIRECT / 2;
    if (zeros) {
        struct zmpi_bits run = b; /* b is in registers */
        zmpi_put_run(e, &run, zeros);
        b = run;
    }
    if (u < DIRECT && e->direct[u] != NONE)
        zmpi_put(&b, e->direct[u] >> 6, e->direct[u] & 63);
    else
        zmpi_put_residual(e, &b, r, width);
    return b;
}

/* 32 residuals from i on, in fours and, where these are too long, one by one. */
KERNEL struct zmpi_bits put_slowly(const struct zmpi_huffman_encoder *e, struct zmpi_bits b,
                                   const struct source *s, bool wide, const struct list *l,
                                   size_t i, const struct tokens *each, const struct tokens *four)
{
    uint32_t bits[2 * LANES], n[2 * LANES];
    uint64_t four_bits[8], four_n[8];
    _mm512_storeu_si512(four_bits, four->bits);
    _mm512_storeu_si512(four_n, four->n);
    for (unsigned k = 0; k < 2; k++) {
        _mm512_storeu_si512(bits + LANES * k, each[k].bits);
        _mm512_storeu_si512(n + LANES * k, each[k].n);
    }
    for (unsigned k = 0; k < 2 * LANES; k++) {
        const uint32_t at = l->at[1 + i + k];
        if (k % 4 == 0 && four_n[k / 4] <= MOST_PIECE) {
            zmpi_put(&b, four_bits[k / 4], (unsigned)four_n[k / 4]);
            k += 3;
        } else if (n[k] <= MOST_TOKEN) {
            zmpi_put(&b, bits[k], n[k]);
        } else {
            const uint32_t zeros = at - l->at[i + k] - 1;
            b = put_one(e, b, zeros, load_one(s, wide, at), wide ? 8 : 4);
        }
    }
    return b;
}

/* The first n <= 32 from i on. */
VECTOR void put_few(const struct zmpi_huffman_encoder *e, const __m512i run[2], struct zmpi_bits *b,
                    struct pieces *p, const struct source *s, bool wide, const struct list *l,
                    size_t i, unsigned n)
{
    struct tokens t[2] = {tokens_of(e, run, l, i), tokens_of(e, run, l, i + LANES)};
    if (n < 2 * LANES)
        for (unsigned k = 0; k < 2; k++) {
            const __mmask16 live = (__mmask16)(_bzhi_u32(UINT32_MAX, n) >> (LANES * k));
            t[k].bits = _mm512_maskz_mov_epi32(live, t[k].bits);
            t[k].n = _mm512_maskz_mov_epi32(live, t[k].n);
        }
    const struct tokens four = fours_of(pairs_of(t[0]), pairs_of(t[1]));
    if (__builtin_expect(_mm512_cmpgt_epu64_mask(four.n, _mm512_set1_epi64(MOST_PIECE)), 0)) {
        put_pieces(b, p);
        *b = put_slowly(e, *b, s, wide, l, i, t, &four);
    } else {
        pieces_add(p, four);
    }
}

VECTOR unsigned char *put_segment(const struct zmpi_huffman_encoder *e, const struct source *s,
                                  bool wide, unsigned char *dst)
{
    struct zmpi_bits b = {0, 0, dst};
    struct list l;
    struct pieces p;
    __m512i run[2];
    near_runs(e, run);
    list_begin(&l, s);
    p.count = 0;
    for (size_t from = s->g.begin, end; from < s->g.end; from = end) {
        end = s->g.end - from < GROUP ? s->g.end : from + GROUP;
        list_add(&l, s, wide, from, end);
        size_t i = 0;
        for (; i + 2 * LANES <= l.n; i += 2 * LANES)
            put_few(e, run, &b, &p, s, wide, &l, i, 2 * LANES);
        if (end == s->g.end && i < l.n)
            put_few(e, run, &b, &p, s, wide, &l, i, (unsigned)(l.n - i));
        put_pieces(&b, &p);
        list_keep(&l, end == s->g.end ? l.n : i);
    }
    struct zmpi_bits last = b; /* b is in registers */
    zmpi_put_run(e, &last, zeros_behind(&l, &s->g));
    return last.dst + (last.n > 0);
}

TARGET static unsigned char *put32(const struct zmpi_huffman_encoder *e, const void *r,
                                   const uint32_t *nonzero, struct zmpi_segment g,
                                   unsigned char *dst)
{
    const struct source s = {r, nonzero, g};
    return put_segment(e, &s, false, dst);
}

TARGET static unsigned char *put64(const struct zmpi_huffman_encoder *e, const void *r,
                                   const uint32_t *nonzero, struct zmpi_segment g,
                                   unsigned char *dst)
{
    const struct source s = {r, nonzero, g};
    return put_segment(e, &s, true, dst);
}

/* ---- symbols ---- */

/* Tables side by side: the same symbol again and again would wait for itself. */
enum { TABLES = 4, FEW_ZEROS = 64 };
struct counts {
    uint16_t symbol[TABLES][ZMPI_HUFFMAN_SYMBOLS], run[TABLES][FEW_ZEROS];
};

/* zmpi_residual_symbol. */
COUNTER __m512i symbols_of(__m512i r)
{
    const __m512i sign = _mm512_srai_epi32(r, 31), magnitude = _mm512_xor_si512(r, sign);
    const __m512i most = _mm512_sub_epi32(_mm512_set1_epi32(28), _mm512_lzcnt_epi32(magnitude));
    const __m512i extra = _mm512_max_epi32(most, _mm512_setzero_si512());
    const __m512i symbol =
        _mm512_add_epi32(_mm512_srav_epi32(r, extra),
                         _mm512_add_epi32(_mm512_set1_epi32(16), _mm512_slli_epi32(extra, 4)));
    const __m512i within = _mm512_add_epi32(_mm512_and_si512(sign, _mm512_set1_epi32(32)),
                                            _mm512_set1_epi32(-8)); /* from 8.. or -16.. */
    const __mmask16 classes = _mm512_test_epi32_mask(extra, extra);
    return _mm512_mask_add_epi32(symbol, classes, symbol, within);
}

/* The first n from i on. */
COUNTER void count_few(struct counts *c, const struct source *s, bool wide, const struct list *l,
                       size_t i, unsigned n, uint32_t *count)
{
    _Alignas(64) uint32_t symbol[LANES], zeros[LANES];
    const __mmask16 live = (__mmask16)(0xFFFF >> (LANES - n));
    const __m512i r = _mm512_loadu_si512(l->r + i), z = zeros_before(l, i);
    const __mmask16 run = _mm512_mask_test_epi32_mask(live, z, z);
    _mm512_store_si512(symbol, symbols_of(r));
    const __mmask16 far = _mm512_mask_cmpeq_epi32_mask(live, r, _mm512_set1_epi32(INT32_MIN)) |
                          _mm512_mask_cmpeq_epi32_mask(live, r, _mm512_set1_epi32(INT32_MAX));
    if (wide && __builtin_expect(far, 0)) { /* perhaps words that do not fit 32 bits */
        for (unsigned k = 0, extra; k < n; k++)
            count[zmpi_residual_symbol(load_one(s, true, l->at[1 + i + k]), &extra)]++;
    } else {
        for (unsigned k = 0; k < n; k++)
            c->symbol[k % TABLES][symbol[k]]++;
    }
    _mm512_store_si512(zeros, _mm512_maskz_compress_epi32(run, z));
    for (unsigned k = 0, runs = (unsigned)_mm_popcnt_u32(run); k < runs; k++)
        if (zeros[k] < FEW_ZEROS)
            c->run[k % TABLES][zeros[k]]++;
        else
            zmpi_count_run(zeros[k], 1, count);
}

COUNTER void counts_add(const struct counts *c, uint32_t *count)
{
    for (unsigned k = 1; k < FEW_ZEROS; k++) {
        uint32_t times = 0;
        for (unsigned t = 0; t < TABLES; t++)
            times += c->run[t][k];
        if (times)
            zmpi_count_run(k, times, count);
    }
    for (unsigned t = 0; t < TABLES; t++)
        for (unsigned k = 0; k < ZMPI_HUFFMAN_SYMBOLS; k++)
            count[k] += c->symbol[t][k];
}

COUNTER void count_segment(const struct source *s, bool wide, uint32_t *count)
{
    struct counts c = {0};
    struct list l;
    list_begin(&l, s);
    for (size_t from = s->g.begin, end; from < s->g.end; from = end) {
        end = s->g.end - from < GROUP ? s->g.end : from + GROUP;
        list_add(&l, s, wide, from, end);
        size_t i = 0;
        for (; i + LANES <= l.n; i += LANES)
            count_few(&c, s, wide, &l, i, LANES, count);
        if (end == s->g.end && i < l.n)
            count_few(&c, s, wide, &l, i, (unsigned)(l.n - i), count);
        list_keep(&l, end == s->g.end ? l.n : i);
    }
    zmpi_count_run(zeros_behind(&l, &s->g), 1, count);
    counts_add(&c, count);
}

CONFLICT static void count32(const void *r, const uint32_t *nonzero, struct zmpi_segment g,
                             uint32_t *count)
{
    const struct source s = {r, nonzero, g};
    count_segment(&s, false, count);
}

CONFLICT static void count64(const void *r, const uint32_t *nonzero, struct zmpi_segment g,
                             uint32_t *count)
{
    const struct source s = {r, nonzero, g};
    count_segment(&s, true, count);
}

const struct zmpi_huffman_encode_loops zmpi_huffman_encode_avx512 = {
    .put32 = put32, .put64 = put64, .count32 = count32, .count64 = count64};
#endif
