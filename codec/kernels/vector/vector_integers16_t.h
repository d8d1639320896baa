/*
 * vector_integers16_t.h - template: words of a tile to integers of 16 bits. All integers of a chunk
 * must be so near each other that residuals along three axes fit in 16 bits. After vector_words_t.h
 * and the set's operations on such integers.
 */

/* Four integers below 2 HALF_WINDOW less four others stay below 2^15. */
enum { HALF_WINDOW = 1 << 12 };

/*
 * The base is subtracted with saturation. The extremes of the results then show whether all
 * integers are near each other and all words within the limit. That takes one instruction for twice
 * as many words as a comparison of the words.
 */
struct half_taking {
    F inverse;
    struct bits bits; /* FILLED: masks */
    V fill, last, least_word;
    H base, least, most;
};

/* If the base is no larger, differences in 32 bits neither overflow nor make a distant integer look
 * near. */
enum { BASE_MOST = 1 << 30 };

VECTOR struct half_taking half_taking_of(const struct tile *f)
{
    const int64_t base = (S)f->base;
    return (struct half_taking){.inverse = f_set1(f->quantizer.inverse),
                                .bits = {(unsigned char *)f->work->exception, 0, 0},
                                .fill = v_set1(f->fill),
                                .last = last_before((T)base),
                                .least_word = v_set1(0),
                                .base = h_base((int32_t)base),
                                .least = h_set1(0),
                                .most = h_set1(0)};
}

/* Vectors of words that make one vector of integers. */
enum { JOINED = HALVES / LANES };

/* Some words are the fill value: the last other word takes their place. Only the first `words`
 * count. The mask is in the form that list_filled needs. */
VECTOR H half_filled(struct half_taking *t, const V word[JOINED], size_t words, uint32_t *mask)
{
    F q[JOINED];
    *mask = 0;
    for (unsigned k = 0; k < JOINED; k++) {
        const uint32_t valid = (uint32_t)((1ULL << lanes_before(k * LANES, words)) - 1);
        uint32_t bits;
#ifdef LANE_MASKS
        bits = m_bits(v_differ(word[k], t->fill)) & valid;
        t->least_word = v_least_where((M)bits, t->least_word, word[k]);
        q[k] = f_mul(f_of_bits(word[k]), t->inverse);
#else
        q[k] =
            half_fill_forward(word[k], valid, t->fill, t->inverse, &t->least_word, &t->last, &bits);
#endif
        *mask |= bits << k * LANES;
    }
    H h = h_nearest(q, t->base);
#ifdef LANE_MASKS
    if (*mask != UINT32_MAX) /* a branch pays, though coasts are hard to predict */
        h = h_fill_forward(h, *mask, t->last);
    t->last = h;
    *mask ^= (uint32_t)((1ULL << words) - 1);
#endif
    return h;
}

/* Words to integers. Only the first `words` count; the next call takes the others again. */
VECTOR H half_take(struct half_taking *t, const V word[JOINED], size_t words, enum source source,
                   uint32_t *mask)
{
    H h;
    if (source == FILLED) {
        h = half_filled(t, word, words, mask);
    } else {
        F x[JOINED];
        for (unsigned k = 0; k < JOINED; k++) {
            x[k] = f_mul(f_of_bits(word[k]), t->inverse);
            t->least_word = v_least(t->least_word, word[k]);
        }
        h = h_nearest(x, t->base);
    }
    /* A word that is not finite or too large has become the least or the greatest integer. */
    t->least = h_least(t->least, h);
    t->most = h_most(t->most, h);
    return h;
}

/* WIDE: some words may be beyond the limit, or some integers too far from each other. Saturated
 * integers are too far from the base. */
VECTOR enum outcome half_outcome(const struct half_taking *t, const struct tile *f)
{
    const int64_t base = (S)f->base, window = (int64_t)f->quantizer.window;
    const int64_t within = window + (int64_t)f->quantizer.margin;
    const int64_t least = base + h_least_lane(t->least), most = base + ~h_least_lane(~t->most);
    if (least_is_zero(t->least_word))
        return EXCEPTION;
    if (least < -2 * window - 1 || most > 2 * window + 1) /* certainly beyond */
        return EXCEPTION;
    return most - least < 2 * HALF_WINDOW && most <= within && least >= -within ? DONE : WIDE;
}

VECTOR void half_pack(struct packer *p, const uint16_t *r, size_t blocks)
{
    pack16(p, r, blocks);
}

#define A(name)  half_##name
#define X        H
#define X_(name) h_##name
#define X_LANES  HALVES
#define X_PART   (2048 / WIDTH)
#ifdef LANE_MASKS
#define X_MASKS    true
#define X_TOGETHER 8
#else
#define X_MASKS false
#endif
#define W uint16_t
#include "kernels/vector/vector_predict_t.h"

#define CASE(source)                                                                               \
    KERNEL enum outcome half_encode_##source(const struct tile *f, unsigned axes,                  \
                                             struct packer *p)                                     \
    {                                                                                              \
        return half_encode(f, axes, source, p);                                                    \
    }
CASE(QUANTIZE)
CASE(FILLED)
#undef CASE

/* Encodes if the integers are near each other. After a chunk where they were not, it skips some
 * chunks, more each time. WIDE: it has done nothing. */
TARGET static enum outcome encode16(const struct tile *f, unsigned axes, enum source source,
                                    struct packer *p)
{
    enum { LONGEST = 31 };
    struct zmpi_chunk_work *work = f->work;
    const int64_t base = (S)f->base;
    if (f->quantizer.window == 0 || base < -BASE_MOST || base > BASE_MOST || p->keep)
        return WIDE;
    if (work->apart) {
        work->apart--;
        return WIDE;
    }
    const enum outcome made =
        source == FILLED ? half_encode_FILLED(f, axes, p) : half_encode_QUANTIZE(f, axes, p);
    if (made == DONE)
        work->apart_run = 0;
    if (made != WIDE)
        return made;
    if (work->apart_run < LONGEST)
        work->apart_run = (unsigned char)(2 * work->apart_run + 1);
    work->apart = work->apart_run;
    return WIDE;
}
