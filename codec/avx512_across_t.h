/*
 * avx512_across_t.h - template: rows without gaps between them, in vectors that they run across, of
 * words and of integers of 16 bits. After vector_halves_t.h.
 */

enum across { SHORT, LONG };

static inline bool rows_across(const struct fuse *f, unsigned axes)
{
    return f->lines->y == 1 && f->s->plane >= ZMPI_BLOCK && axes > ZMPI_AXIS_X;
}

#define ACROSS(axes, name, source, near, fuse_any)                                                 \
    KERNEL enum outcome name##_##source##_across_##axes(const struct fuse *f, struct packer *p)    \
    {                                                                                              \
        return fuse_any(f, axes, source, near, p);                                                 \
    }
#define ACROSS_EACH(name, source, near, fuse_any)                                                  \
    ACROSS(2, name, source, near, fuse_any)                                                        \
    ACROSS(3, name, source, near, fuse_any)                                                        \
    ACROSS(4, name, source, near, fuse_any)                                                        \
    ACROSS(5, name, source, near, fuse_any)                                                        \
    ACROSS(6, name, source, near, fuse_any)                                                        \
    ACROSS(7, name, source, near, fuse_any)
#define EACH_ACROSS(name, source)                                                                  \
    {                                                                                              \
        NULL, NULL, name##_##source##_across_2, name##_##source##_across_3,                        \
            name##_##source##_across_4, name##_##source##_across_5, name##_##source##_across_6,    \
            name##_##source##_across_7                                                             \
    }

/* ---- words ---- */

struct word_taking {
    struct intake t;
    struct bits bits; /* FILLED: masks */
    struct taken taken;
};

VECTOR struct word_taking word_across_taking_of(const struct fuse *f, enum source source)
{
    return (struct word_taking){.t = intake_of(f, source),
                                .bits = {(unsigned char *)f->work->exception, 0, 0}};
}

VECTOR V word_across_base(const struct fuse *f)
{
    return v_set1(f->base);
}

/* The first `words` of a vector count. */
VECTOR V word_across_take(struct word_taking *t, V word, size_t words, enum source source,
                          uint32_t *mask)
{
    if (source == FILLED)
        return take_filled(&t->t, word, ALL_LANES >> (LANES - words), mask);
    return take(&t->t, word, source, mask);
}

/* One vector. */
VECTOR void word_across_take_whole(struct word_taking *t, const unsigned char *x, unsigned vectors,
                                   enum source source, struct ahead ahead, uint32_t *mask, V *q)
{
    (void)vectors;
    fetch(x, ahead);
    *q = word_across_take(t, load_words(x, 0), LANES, source, mask);
}

/* The last vector of a plane, of which so many words count, and may be loaded up to `there`: what
 * lies behind that nobody asked for before. */
VECTOR V word_across_take_last(struct word_taking *t, const unsigned char *x, size_t words,
                               size_t there, enum source source, struct ahead ahead, uint32_t *mask)
{
    fetch(x, ahead);
    return word_across_take(t, load_before(x, 0, there), words, source, mask);
}

VECTOR enum outcome word_across_outcome(const struct word_taking *t, const struct fuse *f,
                                        enum source source)
{
    return intake_outcome(&t->t, f, source);
}

VECTOR size_t word_across_part(const struct fuse *f, unsigned axes, enum source source, bool near,
                               bool looked)
{
    (void)f, (void)axes, (void)source, (void)near, (void)looked;
    return PART;
}

VECTOR size_t word_across_pack_room(const struct fuse *f, struct word_taking *t, U *room,
                                    size_t words, bool all, struct packer *p)
{
    struct residuals r = {.left = f->work->edges.left}; /* not looked at */
    (void)all;
    t->taken.at = room;
    t->taken.words = words;
    pack_taken(f, &r, 0, &t->taken, room, p);
    return t->taken.words;
}

VECTOR V v_take_two(V a, V numbers, V b)
{
    return U_OP(permutex2var)(a, numbers, b);
}

VECTOR V v_sub_where(V a, V b, uint32_t mask)
{
    return v_sub_at(a, b, mask, 0);
}

#define A(name)  word_across_##name
#define X        V
#define X_(name) v_##name
#define X_LANES  LANES
#define X_PART   PART
#define X_MOST   16
#define X_TURNS  1
#define X_FLAT   false
#define W        U
#define TAKING   word_taking
#include "vector_across_t.h"

ACROSS_EACH(word, QUANTIZE, false, word_across_fuse_any)
ACROSS_EACH(word, FILLED, false, word_across_fuse_any)
ACROSS_EACH(word, WORDS, false, word_across_fuse_any)

/* ---- integers of 16 bits ---- */

VECTOR struct halving half_across_taking_of(const struct fuse *f, enum source source)
{
    (void)source;
    return halving_of(f);
}

VECTOR H half_across_base(const struct fuse *f)
{
    (void)f;
    return h_set1(0); /* they are less the base */
}

VECTOR void half_across_take_whole(struct halving *t, const unsigned char *x, unsigned vectors,
                                   enum source source, struct ahead ahead, uint32_t *mask, H q[])
{
    take_halves(t, x, vectors, source, ahead, mask, q);
}

VECTOR H half_across_take_last(struct halving *t, const unsigned char *x, size_t words,
                               size_t there, enum source source, struct ahead ahead, uint32_t *mask)
{
    if (source == FILLED || there < HALVES)
        return take_last(t, x, 0, words, there, source, ahead, mask);
    H q;
    take_halves(t, x, 1, source, ahead, mask, &q);
    return q;
}

VECTOR enum outcome half_across_outcome(const struct halving *t, const struct fuse *f,
                                        enum source source)
{
    (void)source;
    return half_outcome(t, f);
}

VECTOR size_t half_across_part(const struct fuse *f, unsigned axes, enum source source, bool near,
                               bool looked)
{
    return half_part(f, axes, source, near, looked);
}

VECTOR size_t half_across_pack_room(const struct fuse *f, struct halving *t, uint16_t *room,
                                    size_t words, bool all, struct packer *p)
{
    (void)f, (void)t;
    return pack_room(p, room, words, all);
}

#define A(name)  half_across_##name
#define X        H
#define X_(name) h_##name
#define X_LANES  HALVES
#define X_PART   PART_HALVES
#define X_MOST   16
#define X_TURNS  TURNS
#define X_FLAT   true
#define W        uint16_t
#define TAKING   halving
#include "vector_across_t.h"

ACROSS_EACH(half, QUANTIZE, false, half_across_fuse_any)
ACROSS_EACH(half, FILLED, false, half_across_fuse_any)
ACROSS_EACH(half_near, QUANTIZE, true, half_across_fuse_any)
ACROSS_EACH(half_near, FILLED, true, half_across_fuse_any)

/* How, or NULL. Long rows of whole vectors are faster one by one. */
static inline halve_fn *halved_in(const struct fuse *f, unsigned axes, enum source source)
{
    static halve_fn *const across[][2][8] = {
        {EACH_ACROSS(half, QUANTIZE), EACH_ACROSS(half_near, QUANTIZE)},
        {EACH_ACROSS(half, FILLED), EACH_ACROSS(half_near, FILLED)},
    };
    const bool one_by_one = f->s->x > 4 * HALVES && f->s->x % HALVES == 0;
    if (rows_across(f, axes) && !one_by_one)
        return across[source == FILLED][f->work->cached][axes];
    return halve_rows(f, axes, source);
}
