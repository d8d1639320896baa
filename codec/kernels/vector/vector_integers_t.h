/*
 * vector_integers_t.h - template: words of a tile to integers of the same width, with any
 * exceptions; then integers to planes. After vector_words_t.h.
 */

struct word_taking {
    F inverse, limit;
    V origin, last; /* MASKED: the bits of 0; the last integer of the vector before */
    V flip, base;   /* WORDS */
    struct bits bits;
};

VECTOR struct word_taking word_taking_of(const struct tile *f)
{
    const V origin = v_set1(bits_of((T)MAGIC) + f->base);
    return (struct word_taking){.inverse = f_set1(f->quantizer.inverse),
                                .limit = f_set1(f->quantizer.limit),
                                .origin = origin,
                                .last = origin,
                                .flip = v_set1(f->flip),
                                .base = v_set1(f->base),
                                .bits = {(unsigned char *)f->work->exception, 0, 0}};
}

/* Only the first `words` count. mask: exceptions among them, which get the last integer before
 * them. */
VECTOR V word_take(struct word_taking *t, const V word[1], size_t words, enum source source,
                   uint32_t *mask)
{
    *mask = 0;
    if (source == WORDS)
        return v_sub(v_ordered(*word, t->flip), t->base);
    const uint32_t valid = ALL_LANES >> (LANES - words);
    const F x = f_of_bits(*word);
    const uint32_t fine = f_fine(x, t->limit) & valid;
    V v = f_bits(f_add(f_mul(x, t->inverse), f_set1((T)MAGIC)));
    if (fine != ALL_LANES)
        v = v_fill_forward(v, fine, t->last);
    t->last = v;
    *mask = fine ^ valid;
    return v_sub(v, t->origin);
}

VECTOR enum outcome word_outcome(const struct word_taking *t, const struct tile *f)
{
    (void)t, (void)f;
    return DONE;
}

VECTOR void word_pack(struct packer *p, const U *r, size_t blocks)
{
    const unsigned char *const begin = p->dst;
    pack_words(p, r, blocks);
    prefetch_output(begin, p->dst, OUTPUT_AHEAD);
}

#define A(name)  word_##name
#define X        V
#define X_(name) v_##name
#define X_LANES  LANES
#define X_PART   (2048 / WIDTH)
#ifdef LANE_MASKS
#define X_MASKS true
#else
#define X_MASKS false
#endif
#define W U
#include "kernels/vector/vector_predict_t.h"

#define CASE(source)                                                                               \
    KERNEL void word_encode_##source(const struct tile *f, unsigned axes, struct packer *p)        \
    {                                                                                              \
        word_encode(f, axes, source, p);                                                           \
    }
CASE(MASKED)
CASE(WORDS)
#undef CASE
