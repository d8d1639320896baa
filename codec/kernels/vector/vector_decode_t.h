/*
 * vector_decode_t.h - template: one chunk from bytes to words. After vector_unpack_t.h and, where
 * an instruction set sums in 16 bits (INTEGERS16), what unpacks these. SCALAR(decode) is the
 * reference, for chunks shorter than a block.
 */

struct job {
    const struct shape *s;
    const struct parts *p;
    const struct zmpi_rows *dst;
    struct zmpi_chunk_work *work;
    bool stream; /* stores bypass the caches */
    struct patch patch;
};

/* How integers become words. */
struct conversion {
    V base, flip;
    F step;
    bool ordered;
};

/* ---- in integers of a word ---- */

VECTOR V word_words(const U *q, const struct conversion *how, bool ordered)
{
    const V v = v_load(q);
    return ordered ? v_ordered(v, how->flip) : f_bits(f_mul(f_of_integers(v), how->step));
}

VECTOR U word_all_of(const U *q, size_t words)
{
    (void)q, (void)words;
    return 0;
}

#define A(name)   word_##name
#define X         V
#define X_(name)  v_##name
#define X_LANES   LANES
#define X_BAND    512
#define X_ORDERED 1
#define W         U
#include "kernels/vector/vector_store_t.h"
#include "kernels/vector/vector_sums_t.h"

TARGET static void decode_words(const struct job *j, bool is_float)
{
    const struct conversion how = {.flip = v_set1(is_float ? SIGN_BIT - 1 : 0),
                                   .step = f_set1(j->p->step),
                                   .ordered = j->p->map != ZMPI_MAP_QUANTIZED};
    word_sums(j, j->p->base, how);
}

/* ---- in 16 bits ---- */

#ifdef INTEGERS16
/* The OR of this many integers. */
VECTOR uint16_t half_all_of(const uint16_t *q, size_t words)
{
    H any = h_set1(0);
    uint16_t lane[HALVES], all = 0;
    for (size_t i = 0; i + HALVES <= words; i += HALVES)
        any = h_or(any, h_load(q + i));
    if (words >= HALVES)
        any = h_or(any, h_load(q + words - HALVES));
    for (size_t i = 0; words < HALVES && i < words; i++)
        all |= q[i];
    h_store(lane, any);
    for (size_t i = 0; i < HALVES; i++)
        all |= lane[i];
    return all;
}

VECTOR V half_words(const uint16_t *q, const struct conversion *how, bool ordered)
{
    (void)ordered;
    return f_bits(f_mul(h_floats(q, how->base), how->step));
}

#define A(name)   half_##name
#define X         H
#define X_(name)  h_##name
#define X_LANES   HALVES
#define X_BAND    1024
#define X_ORDERED 0
#define W         uint16_t
#include "kernels/vector/vector_store_t.h"
#include "kernels/vector/vector_sums_t.h"

/* After a chunk whose integers are too far from the base, so many chunks do not try 16 bits. */
enum { FAR_FOR = 4 };

/*
 * With n axes an integer is a residual and those of 2^n - 1 neighbours, added or subtracted;
 * outside the tile these are 0, all relative to the base. Let residuals have at most 15 planes, and
 * let k = 15 - n. If all neighbours are at least -2^k and less than 2^k, the integer is less than
 * (2^n - 1) 2^k + 2^15 = 2^16 - 2^k in magnitude. So, in 16 bits, it lies within these limits only
 * if it really does, and then it is right, whatever overflowed before. By induction all integers
 * are right if all lie within the limits. So the chunk is summed first, and then checked; false:
 * some lie outside. Integers have 2^k added, so that the ones within the limits are those below
 * 2^(k+1).
 */
TARGET static bool decode16(const struct job *j)
{
    const uint16_t bias = (uint16_t)(1U << (15 - __builtin_popcount(j->p->axes)));
    const int64_t base = (S)j->p->base, most = INT32_MAX - UINT16_MAX;
    unsigned char *const far = &j->work->far;
    if (j->p->map != ZMPI_MAP_QUANTIZED || j->work->given ||
        (WIDTH > 4 && (base < -most || base > most)) ||
        !lengths_within(j->p->lengths, j->s->blocks, 15))
        return false;
    if (*far) {
        --*far;
        return false;
    }
    const struct conversion how = {.base = h_base((int32_t)(uint32_t)(j->p->base - bias)),
                                   .step = f_set1(j->p->step)};
    if ((half_sums(j, bias, how) & ~(2U * bias - 1)) == 0)
        return true;
    *far = FAR_FOR;
    return false;
}
#else
TARGET static bool decode16(const struct job *j)
{
    (void)j;
    return false;
}
#endif

/* ---- a chunk ---- */

/* Every integer is the base: all words are the same. May write words behind the chunk's last
 * one. */
KERNEL void decode_zero(const struct job *j, bool is_float)
{
    const U word = j->p->map == ZMPI_MAP_QUANTIZED ? bits_of(dequantize(j->p->step, j->p->base))
                   : is_float                      ? ordered_view(j->p->base)
                                                   : j->p->base;
    for (size_t i = 0; i < j->s->count; i += LANES)
        v_store((U *)(void *)j->work->words + i, v_set1(word));
}

/* Do all rows begin at a multiple of a word? */
static inline bool words_aligned(const struct shape *s, const struct zmpi_rows *rows)
{
    return ((uintptr_t)rows->at | (s->y > 1 ? rows->row : 0) | (s->z > 1 ? rows->plane : 0)) %
               WIDTH ==
           0;
}

TARGET enum zmpi_status NAME(decode)(bool is_float, const size_t extent[3],
                                     const unsigned char *src, size_t size,
                                     const struct zmpi_rows *dst, struct zmpi_chunk_work *work)
{
    const struct shape s = shape_of(extent);
    if (s.count < ZMPI_BLOCK)
        return SCALAR(decode)(is_float, extent, src, size, dst, work);
    struct parts p;
    enum zmpi_status status = parse_chunk(&s, is_float, src, size, &p);
    if (status)
        return status;
    const bool stored = p.map == ZMPI_MAP_STORED, exceptions = !stored && p.masks != p.values;
    const bool direct = !stored && !p.zero && !p.shift && (!dst->stream || words_aligned(&s, dst));
    const struct zmpi_rows words = {
        .at = work->words, .row = s.row * WIDTH, .plane = s.plane * WIDTH};
    struct job j = {.s = &s,
                    .p = &p,
                    .dst = direct ? dst : &words,
                    .work = work,
                    .stream = direct && dst->stream};
    if (exceptions && !p.shift)
        j.patch = patch_of(&s, &p, work);
    if (p.zero)
        decode_zero(&j, is_float);
    else if (!stored && !decode16(&j))
        decode_words(&j, is_float);
    if (p.shift)
        unshift_words(s.count, p.shift, (U *)(void *)work->words);
    if (exceptions && p.shift)
        load_exceptions(&s, &p, (U *)(void *)work->words);
    if (!direct)
        zmpi_rows_scatter(dst, extent, s.x * WIDTH, stored ? p.values : work->words,
                          dst->stream ? stream_bytes : memcpy);
    return ZMPI_OK;
}
