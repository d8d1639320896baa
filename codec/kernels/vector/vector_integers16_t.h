/*
 * vector_integers16_t.h - template: words of a tile to integers of 16 bits, where all of a chunk
 * lie in a window so narrow that residuals along three axes fit. After vector_words_t.h and the
 * operations of an instruction set on such integers.
 */

/* Of 2 HALF_WINDOW integers no four less four others are 2^15 or more. */
enum { HALF_WINDOW = 1 << 12 };

/*
 * Integers are less the base, not in a window of words: that they lie near each other, and words
 * within the limit, is seen from the extremes of what saturates, an instruction for twice as many
 * words as in a comparison of these.
 */
struct half_taking {
    F inverse;
    struct bits bits; /* FILLED: masks */
    V fill, last, least_word;
    H base, least, most;
};

/* In 32 bits nothing within the limit less this overflows, or what is far from it comes near. */
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

/* Vectors of words to a vector of integers. */
enum { JOINED = HALVES / LANES };

/* Some words are the fill value: the last one before takes their place. Only the first `words`
 * count. The mask is as list_filled wants it. */
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
    if (*mask != UINT32_MAX) /* worth a branch, though coasts are hard to foresee */
        h = h_fill_forward(h, *mask, t->last);
    t->last = h;
    *mask ^= (uint32_t)((1ULL << words) - 1);
#endif
    return h;
}

/* Words to integers; of what lies behind the first `words` others come again. */
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
    /* What is not finite or large became the least or the greatest. */
    t->least = h_least(t->least, h);
    t->most = h_most(t->most, h);
    return h;
}

/* WIDE: there may be words beyond the limit, or integers too far from each other, as what saturates
 * is from the base. */
VECTOR enum outcome half_outcome(const struct half_taking *t, const struct tile *f)
{
    const int64_t base = (S)f->base, window = (int64_t)f->quantizer.window;
    const int64_t within = window + (int64_t)f->quantizer.margin;
    const int64_t least = base + h_least_lane(t->least), most = base + ~h_least_lane(~t->most);
    if (least_is_zero(t->least_word))
        return EXCEPTION;
    if (least < -2 * window - 1 || most > 2 * window + 1) /* surely beyond */
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
#define X_PART   (4096 / WIDTH)
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

/* If integers are near each other; where they were not, the next chunks are not tried, more of them
 * each time. WIDE: nothing has been done. */
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
