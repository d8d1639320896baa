/*
 * avx512_fuse_t.h - template: the rows of a tile to planes: rows of whole blocks in one pass, rows
 * of any length in two, part by part. After vector_parts_t.h and vector_quant_t.h.
 */

#include "vector_take_t.h"
#include "vector_aligned_t.h"
#include "vector_walk_t.h"

/* Words but for one to integers; where it is stands the last one before it. The mask tells of the
 * others, as list_filled wants it. Only lanes that are `valid` count. */
VECTOR V take_filled(struct intake *t, V word, uint32_t valid, uint32_t *mask)
{
    const M fine = (M)(v_differ(word, t->fill) & valid);
    const V v = f_bits(f_add(f_mul_where(fine, f_of_bits(word), t->z.inverse), t->z.magic));
    doubt_add_where(&t->doubt, fine, word, v);
    *mask = fine;
    return t->held = v_hold(v, fine, t->held);
}

#include "vector_in_rows_t.h"
#include "avx512_halves_t.h"
#include "vector_halves_t.h"
#include "avx512_across_t.h"

#define CASE(source, along)                                                                        \
    KERNEL enum outcome fuse_##source##_in_rows_##along(const struct fuse *f, unsigned axes,       \
                                                        struct packer *p)                          \
    {                                                                                              \
        return fuse_in_rows(f, axes, along, source, p);                                            \
    }
#define CASES(source)                                                                              \
    CASE(source, 0)                                                                                \
    CASE(source, 2) CASE(source, 3) CASE(source, 4) CASE(source, 5) CASE(source, 6) CASE(source, 7)
CASES(QUANTIZE)
CASES(FILLED)
CASES(WORDS)
#undef CASES
#undef CASE

#define EACH_OF(name)                                                                              \
    {                                                                                              \
        name##_0, name##_0, name##_2, name##_3, name##_4, name##_5, name##_6, name##_7             \
    }

typedef enum outcome fuse_fn(const struct fuse *f, unsigned axes, struct packer *p);

/* One function for each set of axes. */
VECTOR enum outcome fuse_whole_blocks(const struct fuse *f, unsigned axes, enum source source,
                                      struct packer *p)
{
    switch (axes) {
#define CASE(a)                                                                                    \
    case a:                                                                                        \
        return fuse_aligned(f, a, source, p);
        EACH_AXES(CASE)
#undef CASE
    }
    return EXCEPTION;
}

#define CASE(source)                                                                               \
    KERNEL enum outcome fuse_##source##_aligned(const struct fuse *f, unsigned axes,               \
                                                struct packer *p)                                  \
    {                                                                                              \
        return fuse_whole_blocks(f, axes, source, p);                                              \
    }
CASE(QUANTIZE)
CASE(FILLED)
CASE(WORDS)
CASE(MASKED)
#undef CASE

#define CASE(source)                                                                               \
    TARGET static enum outcome fuse_##source(const struct fuse *f, unsigned axes,                  \
                                             struct packer *p)                                     \
    {                                                                                              \
        static fuse_fn *const in_rows[] = EACH_OF(fuse_##source##_in_rows);                        \
        static halve_fn *const across[] = EACH_ACROSS(word, source);                               \
        if (f->s->x % ZMPI_BLOCK == 0)                                                             \
            return fuse_##source##_aligned(f, axes, p);                                            \
        if (rows_across(f, axes))                                                                  \
            return across[axes](f, p);                                                             \
        return in_rows[f->s->x < ZMPI_BLOCK ? 0 : axes](f, axes, p);                               \
    }
CASE(QUANTIZE)
CASE(FILLED)
CASE(WORDS)
#undef CASE

TARGET static enum outcome fuse_quantized(const struct fuse *f, unsigned axes, struct packer *p)
{
    const enum outcome made = fuse_halved(f, halved_in(f, axes, QUANTIZE), p);
    if (made != WIDE)
        return made;
    return fuse_QUANTIZE(f, axes, p);
}

TARGET static enum outcome fuse_filled(const struct fuse *f, unsigned axes, struct packer *p)
{
    const enum outcome made = fuse_halved(f, halved_in(f, axes, FILLED), p);
    if (made != WIDE)
        return made;
    return fuse_FILLED(f, axes, p);
}

TARGET static enum outcome fuse_masked(const struct fuse *f, unsigned axes, struct packer *p)
{
    return f->s->x % ZMPI_BLOCK ? fuse_by_blocks(f, axes, p) : fuse_MASKED_aligned(f, axes, p);
}

TARGET static enum outcome fuse_ordered(const struct fuse *f, unsigned axes, struct packer *p)
{
    return fuse_WORDS(f, axes, p);
}
