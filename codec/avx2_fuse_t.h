/*
 * avx2_fuse_t.h - template: what vector_fuse_t.h does in two steps: some blocks to residuals, and
 * these to planes. Only the first one knows axes and sources.
 */

#include "vector_take_t.h"
#include "vector_walk_t.h"

/* Blocks of words, each behind a vector of which only the last word counts: the one before it, or
 * zero where a row begins. */
enum { ROOM = ZMPI_BLOCK + LANES };

/* Less their neighbours along y and z, element i of the row. */
VECTOR V subtract(struct neighbours *n, size_t i, unsigned yz, V q)
{
    V d = yz ? q : v_sub(q, n->base);
    if (yz & ZMPI_AXIS_Y) {
        d = v_sub(d, v_load(n->above + i));
        v_store(n->keep_y + i, q);
    }
    if (yz & ZMPI_AXIS_Z) {
        const V e = d;
        d = v_sub(d, v_load(n->before + i));
        v_store(n->keep_z + i, e);
    }
    return d;
}

/* Words but for one, of which a mask tells, to integers; where it is stands the last one before it.
 */
VECTOR V take_filled(struct intake *t, V word, uint32_t *mask)
{
    const M fill = v_equal(word, t->fill);
    const V q = take_quantized(t, _mm256_andnot_si256(fill, word));
    *mask = m_bits(fill);
    return v_hold_on(q, *mask ^ ALL_LANES, &t->held);
}

/* Words i..end-1 of a row at x: whole blocks. */
VECTOR void take_blocks(struct intake *t, struct neighbours *n, const unsigned char *x, size_t i,
                        size_t end, size_t ahead, unsigned yz, enum source source, U *to)
{
    V d = n->last;
    for (; i < end; i += ZMPI_BLOCK, to += ROOM) {
        uint32_t masks = 0, mask;
        v_store(to, d);
        for (unsigned k = 0; k < VECTORS; k++) {
            const size_t j = i + k * LANES;
            if (k * LANES * WIDTH % 64 == 0)
                fetch(x + j * WIDTH, ahead);
            const V word = v_load((const U *)(const void *)(x + j * WIDTH));
            const V q =
                source == FILLED ? take_filled(t, word, &mask) : take(t, word, source, &mask);
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
            const size_t ahead = coming_ahead(&coming, x);
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
                pack_differences(p, made, blocks, axes & ZMPI_AXIS_X ? LEFT : NOTHING);
                blocks = 0;
            }
        }
    return DONE;
}

/* ---- rows of any length ---- */

/* What lies before the words of a row, in integers less their base. */
struct behind {
    const U *above, *before, *both;
};

/* A vector at x, element i of the row, to integers less the base, and these less their neighbours
 * along y and z. */
VECTOR void take_vector(struct intake *t, const struct behind *n, const unsigned char *x, size_t i,
                        V base, unsigned yz, enum source source, U *q, U *d)
{
    uint32_t mask;
    const V word = v_load((const U *)(const void *)(x + i * WIDTH));
    const V v = v_sub(take(t, word, source, &mask), base);
    v_store(q + i, v);
    if (!yz)
        return;
    V e = v;
    if (yz & ZMPI_AXIS_Y)
        e = v_sub(e, v_load(n->above + i));
    if (yz & ZMPI_AXIS_Z)
        e = v_sub(e, v_load(n->before + i));
    if (yz == (ZMPI_AXIS_Y | ZMPI_AXIS_Z))
        e = v_add(e, v_load(n->both + i));
    v_store(d + i, e);
}

/* Words i..end-1 of a row at x. The last vector ends where they do, whatever it has in common with
 * the one before. */
VECTOR void take_row(struct intake *taking, const struct behind *n, const unsigned char *x,
                     size_t i, size_t end, size_t ahead, V base, unsigned yz, enum source source,
                     U *q, U *d)
{
    struct intake t = *taking;
    for (; i + 2 * LANES <= end; i += 2 * LANES) {
        fetch(x + i * WIDTH, ahead);
        take_vector(&t, n, x, i, base, yz, source, q, d);
        take_vector(&t, n, x, i + LANES, base, yz, source, q, d);
    }
    if (i < end) {
        fetch(x + i * WIDTH, ahead);
        if (i + LANES < end)
            take_vector(&t, n, x, i, base, yz, source, q, d);
        take_vector(&t, n, x, end - LANES, base, yz, source, q, d);
    }
    *taking = t;
}

/* A part of a chunk that has been taken is packed some way behind. */
VECTOR void pack_taken(const struct fuse *f, struct residuals *r, unsigned axes, unsigned yz,
                       const U *d, size_t from, size_t end, struct packer *p)
{
    if (yz)
        pack_part(f->s, p, d + from * ZMPI_BLOCK, r->left, from, end,
                  axes & ZMPI_AXIS_X ? LEFT_IN_ROWS : NOTHING);
    else
        pack_blocks(f->s, r, axes, from, end, p);
}

/* Without masks. yz: the axes along which neighbours are subtracted as words are taken. */
VECTOR enum outcome fuse_in_rows(const struct fuse *f, unsigned axes, unsigned yz,
                                 enum source source, struct packer *p)
{
    enum { STEP = PART / ZMPI_BLOCK };
    const struct shape s = *f->s;
    const struct zmpi_rows rows = *f->rows;
    const struct lines tile = {rows.at, s.x, s.y, s.z, rows.row, rows.plane};
    const struct lines l = yz ? tile : *f->lines;
    struct coming coming = coming_of(f, &l);
    struct intake t = intake_of(f, source);
    struct residuals r = residuals_begin(&s, f->work);
    const V base = v_set1(f->base);
    U *zeros = (U *)(void *)f->work->bases;
    U *q = (U *)(void *)(f->work->integers + ZMPI_CHUNK_BEFORE), *d = (U *)(void *)f->work->sums;
    size_t taken = 0, made = 0, unseen = 0;
    if (yz)
        memset(zeros, 0, s.row * WIDTH);
    for (size_t z = 0; z < l.z; z++)
        for (size_t y = 0; y < l.y; y++) {
            const unsigned char *x = l.at + z * l.plane + y * l.row;
            const size_t ahead = coming_ahead(&coming, x);
            const U *above = q + taken - s.row, *before = q + taken - s.plane;
            const struct behind n = {y ? above : zeros, z ? before : zeros,
                                     y && z ? before - s.row : zeros};
            for (size_t i = 0, end; i < l.words; i = end) {
                end = l.words - i < PART - unseen ? l.words : i + PART - unseen;
                if (end - i < LANES)
                    end = i + LANES < l.words ? i + LANES : l.words;
                take_row(&t, &n, x, i, end, ahead, base, yz, source, q + taken, d + taken);
                unseen += end - i;
                if (unseen < PART && (end < l.words || y + 1 < l.y || z + 1 < l.z))
                    continue;
                unseen = 0;
                const enum outcome o = intake_outcome(&t, f, source);
                if (o)
                    return o;
                const size_t now = (taken + end) / ZMPI_BLOCK;
                if (now <= made + STEP)
                    continue;
                pack_taken(f, &r, axes, yz, d, made, now - STEP, p);
                made = now - STEP;
            }
            taken += l.words;
        }
    pack_taken(f, &r, axes, yz, d, made, s.blocks, p);
    return DONE;
}

/* With masks: block by block. */
VECTOR enum outcome fuse_masks(const struct fuse *f, unsigned axes, enum source source,
                               struct packer *p)
{
    enum { STEP = PART / ZMPI_BLOCK };
    const size_t whole = f->s->count / ZMPI_BLOCK;
    struct intake t = intake_of(f, source);
    struct residuals r = residuals_begin(f->s, f->work);
    struct walk w = walk_begin(f);
    const V base = v_set1(f->base);
    U *q = (U *)(void *)(f->work->integers + ZMPI_CHUNK_BEFORE);
    size_t taken = 0, made = 0;
    while (taken < whole) {
        const size_t end = whole - taken < STEP ? whole : taken + STEP;
        for (; taken < end; taken++, q += ZMPI_BLOCK)
            take_next(&t, &w, base, source, q);
        if (taken == whole && f->s->count % ZMPI_BLOCK)
            take_rest(&t, &w, base, source, q);
        const enum outcome o = intake_outcome(&t, f, source);
        if (o)
            return o;
        if (taken > STEP) {
            pack_blocks(f->s, &r, axes, made, taken - STEP, p);
            made = taken - STEP;
        }
    }
    pack_blocks(f->s, &r, axes, made, f->s->blocks, p);
    return DONE;
}

/* ---- */

#define CASE(how, source, yz)                                                                      \
    KERNEL enum outcome fuse_##source##_##how##_##yz(const struct fuse *f, unsigned axes,          \
                                                     struct packer *p)                             \
    {                                                                                              \
        return fuse_##how(f, axes, yz, source, p);                                                 \
    }
#define CASES(how, source)                                                                         \
    CASE(how, source, 0) CASE(how, source, 2) CASE(how, source, 4) CASE(how, source, 6)
CASES(aligned, QUANTIZE)
CASES(aligned, FILLED)
CASES(in_rows, QUANTIZE)
CASE(in_rows, WORDS, 0)
#undef CASES
#undef CASE

typedef enum outcome fuse_fn(const struct fuse *f, unsigned axes, struct packer *p);
#define EACH_YZ(name)                                                                              \
    {                                                                                              \
        name##_0, name##_2, name##_4, name##_6                                                     \
    }

KERNEL enum outcome fuse_quantized(const struct fuse *f, unsigned axes, struct packer *p)
{
    static fuse_fn *const aligned[] = EACH_YZ(fuse_QUANTIZE_aligned);
    static fuse_fn *const in_rows[] = EACH_YZ(fuse_QUANTIZE_in_rows);
    if (f->s->x % ZMPI_BLOCK == 0)
        return aligned[axes / 2](f, axes, p);
    return in_rows[f->s->x < ZMPI_BLOCK ? 0 : axes / 2](f, axes, p);
}

KERNEL enum outcome fuse_filled(const struct fuse *f, unsigned axes, struct packer *p)
{
    static fuse_fn *const aligned[] = EACH_YZ(fuse_FILLED_aligned);
    if (f->s->x % ZMPI_BLOCK == 0)
        return aligned[axes / 2](f, axes, p);
    return fuse_masks(f, axes, FILLED, p);
}

KERNEL enum outcome fuse_masked(const struct fuse *f, unsigned axes, struct packer *p)
{
    return fuse_masks(f, axes, MASKED, p);
}

KERNEL enum outcome fuse_ordered(const struct fuse *f, unsigned axes, struct packer *p)
{
    return fuse_WORDS_in_rows_0(f, axes, p);
}
