/*
 * avx2_fuse_t.h - template: what vector_fuse_t.h does in two steps: some blocks to residuals, and
 * these to planes. Only the first one knows axes and sources.
 */

#include "vector_take_t.h"
#include "vector_walk_t.h"

/* Words but for one, of which a mask tells, to integers; where it is stands the last one before it.
 * Only lanes that are `valid` count. */
VECTOR V take_filled(struct intake *t, V word, uint32_t valid, uint32_t *mask)
{
    const M fill = v_equal(word, t->fill);
    const V q = take_quantized(t, _mm256_andnot_si256(fill, word));
    *mask = m_bits(fill) & valid;
    return v_hold_on(q, *mask ^ valid, &t->held);
}

#include "vector_in_rows_t.h"

/* Blocks of words, each behind a vector of which only the last word counts: the one before it, or
 * zero where a row begins. */
enum { ROOM = ZMPI_BLOCK + LANES };

/* Words i..end-1 of a row at x: whole blocks. */
VECTOR void take_blocks(struct intake *t, struct neighbours *n, const unsigned char *x, size_t i,
                        size_t end, struct ahead ahead, unsigned yz, enum source source, U *to)
{
    V d = n->last;
    for (; i < end; i += ZMPI_BLOCK, to += ROOM) {
        uint32_t masks = 0, mask;
        v_store(to, d);
        for (unsigned k = 0; k < VECTORS; k++) {
            const size_t j = i + k * LANES;
            if (k * LANES * WIDTH % 64 == 0)
                fetch(x + j * WIDTH, ahead);
            const V word = load_words(x, j);
            const V q = source == FILLED ? take_filled(t, word, ALL_LANES, &mask)
                                         : take(t, word, source, &mask);
            d = subtract(n, j, yz, q);
            v_store(to + LANES + k * LANES, d);
            masks |= mask << (k * LANES);
        }
        if (source >= FILLED)
            *t->masks++ = masks;
    }
    n->last = d;
}

/* The rows of an aligned tile: no block crosses the end of one. `yz` and `source` are constants
 * to the compiler. If it is not done, the planes are worth nothing. */
VECTOR enum outcome fuse_aligned(const struct fuse *f, unsigned axes, unsigned yz,
                                 enum source source, struct packer *p)
{
    const struct shape s = *f->s;
    const struct zmpi_rows rows = *f->rows;
    struct zmpi_chunk_work *work = f->work;
    const U *zeros = (const U *)(const void *)work->integers;
    U *bases = (U *)(void *)work->bases, *keep_y = (U *)(void *)work->sums;
    U *keep_z = (U *)(void *)(work->integers + ZMPI_CHUNK_BEFORE);
    const struct lines l = {rows.at, s.x, s.y, s.z, rows.row, rows.plane};
    struct coming coming = coming_of(f, &l);
    struct intake t = intake_of(f, source);
    struct neighbours n = {.base = v_set1(f->base), .last = v_set1(0)};
    _Alignas(32) U room[PART / ZMPI_BLOCK * ROOM];
    const struct differences made = {room + LANES, ROOM, NULL};
    size_t blocks = 0, left = s.count / ZMPI_BLOCK;
    if (yz)
        for (size_t i = 0; i < s.x; i += LANES)
            v_store(bases + i, n.base);
    for (size_t z = 0; z < s.z; z++)
        for (size_t y = 0; y < s.y; y++) {
            n.above = y ? keep_y : bases;
            n.keep_y = keep_y;
            n.keep_z = keep_z + y * s.x;
            n.before = z ? n.keep_z : yz & ZMPI_AXIS_Y ? zeros : bases;
            if (yz)
                n.last = v_set1(0);
            const unsigned char *x = rows.at + z * rows.plane + y * rows.row;
            const struct ahead ahead = coming_ahead(&coming, x);
            for (size_t i = 0, end; i < s.x; i = end) {
                const size_t room_left = PART - blocks * ZMPI_BLOCK;
                end = s.x - i < room_left ? s.x : i + room_left;
                take_blocks(&t, &n, x, i, end, ahead, yz, source, room + blocks * ROOM);
                blocks += (end - i) / ZMPI_BLOCK;
                left -= (end - i) / ZMPI_BLOCK;
                if (blocks < PART / ZMPI_BLOCK && left)
                    continue;
                const enum outcome o = intake_outcome(&t, f, source);
                if (o)
                    return o;
                const unsigned char *const begin = p->dst;
                pack_differences(p, made, blocks, axes & ZMPI_AXIS_X ? LEFT : NOTHING);
                room_ahead(begin, p->dst, ROOM_AHEAD);
                blocks = 0;
            }
        }
    return DONE;
}

/* ---- */

#define CASE(how, source, along)                                                                   \
    KERNEL enum outcome fuse_##source##_##how##_##along(const struct fuse *f, unsigned axes,       \
                                                        struct packer *p)                          \
    {                                                                                              \
        return fuse_##how(f, axes, along, source, p);                                              \
    }
#define CASES(how, source)                                                                         \
    CASE(how, source, 0) CASE(how, source, 2) CASE(how, source, 4) CASE(how, source, 6)
#define WITH_X(how, source) CASE(how, source, 3) CASE(how, source, 5) CASE(how, source, 7)
CASES(aligned, QUANTIZE)
CASES(aligned, FILLED)
CASES(in_rows, QUANTIZE)
WITH_X(in_rows, QUANTIZE)
CASES(in_rows, FILLED)
WITH_X(in_rows, FILLED)
CASE(in_rows, WORDS, 0)
#undef WITH_X
#undef CASES
#undef CASE

typedef enum outcome fuse_fn(const struct fuse *f, unsigned axes, struct packer *p);
#define EACH_YZ(name)                                                                              \
    {                                                                                              \
        name##_0, name##_0, name##_2, name##_2, name##_4, name##_4, name##_6, name##_6             \
    }
#define EACH_OF(name)                                                                              \
    {                                                                                              \
        name##_0, name##_0, name##_2, name##_3, name##_4, name##_5, name##_6, name##_7             \
    }

#include "vector_bunch_t.h"
#include "avx2_halves_t.h"
#include "vector_halves_t.h"

KERNEL enum outcome fuse_quantized(const struct fuse *f, unsigned axes, struct packer *p)
{
    const enum outcome made = fuse_halved(f, halve_rows(f, axes, QUANTIZE), p);
    if (made != WIDE)
        return made;
    if (rows_short(f, axes))
        return fuse_short_along[axes](f, p);
    static fuse_fn *const aligned[] = EACH_YZ(fuse_QUANTIZE_aligned);
    static fuse_fn *const in_rows[] = EACH_OF(fuse_QUANTIZE_in_rows);
    if (f->s->x % ZMPI_BLOCK == 0)
        return aligned[axes](f, axes, p);
    return in_rows[f->s->x < ZMPI_BLOCK ? 0 : axes](f, axes, p);
}

KERNEL enum outcome fuse_filled(const struct fuse *f, unsigned axes, struct packer *p)
{
    const enum outcome made = fuse_halved(f, halve_rows(f, axes, FILLED), p);
    if (made != WIDE)
        return made;
    static fuse_fn *const aligned[] = EACH_YZ(fuse_FILLED_aligned);
    static fuse_fn *const in_rows[] = EACH_OF(fuse_FILLED_in_rows);
    if (f->s->x % ZMPI_BLOCK == 0)
        return aligned[axes](f, axes, p);
    return in_rows[f->s->x < ZMPI_BLOCK ? 0 : axes](f, axes, p);
}

TARGET static enum outcome fuse_masked(const struct fuse *f, unsigned axes, struct packer *p)
{
    return fuse_by_blocks(f, axes, p);
}

KERNEL enum outcome fuse_ordered(const struct fuse *f, unsigned axes, struct packer *p)
{
    return fuse_WORDS_in_rows_0(f, axes, p);
}
