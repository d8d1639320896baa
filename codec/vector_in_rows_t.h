/*
 * vector_in_rows_t.h - template: words of rows of any length to differences in a small room, and
 * these to planes, in turns. After vector_take_t.h, vector_walk_t.h, vector_parts_t.h and
 * take_filled.
 */

/* A vector less its neighbours along these axes; without any, less the base. */
VECTOR V subtract(struct neighbours *n, size_t i, unsigned yz, V q)
{
    return subtract_rows(n, i, yz, yz ? q : v_sub(q, n->base));
}

/* Masks of vectors and of fewer words, one behind the other. */
struct bits {
    unsigned char *to;
    uint64_t open; /* bits of *to; what is beyond 32 of them the next call stores */
    unsigned have; /* how many, below 8 */
};

VECTOR void put_bits(struct bits *b, uint32_t mask, size_t n)
{
    b->open |= (uint64_t)mask << b->have;
    zmpi_store32(b->to, (uint32_t)b->open);
    b->have += (unsigned)n;
    b->to += b->have / 8;
    b->open >>= b->have & ~7U;
    b->have %= 8;
}

/* What takes words in rows of any length. */
struct taking {
    struct intake t;
    struct bits bits;
};

/* A vector of words, element i of the row, the first `words` of which count, to integers less their
 * neighbours along y and z; with the x axis, more by what the row before ends with. */
VECTOR V take_vector(struct taking *t, struct neighbours *n, size_t i, V word, unsigned words,
                     unsigned axes, enum source source, uint32_t *mask)
{
    const unsigned yz = axes & (ZMPI_AXIS_Y | ZMPI_AXIS_Z);
    const V q = source == FILLED ? take_filled(&t->t, word, ALL_LANES >> (LANES - words), mask)
                                 : take(&t->t, word, source, mask);
    const V d = subtract(n, i, yz, q);
    return axes & ZMPI_AXIS_X ? v_add(d, n->last) : d;
}

/* Words i..end-1 of a row at x, i of them whole vectors, to d. The last vector has words of this
 * row again behind its end: what they are made is overwritten by the next row, or in no row. */
VECTOR void take_row(struct taking *taking, struct neighbours *n, const unsigned char *x, size_t i,
                     size_t end, struct ahead ahead, unsigned axes, enum source source, U *d)
{
    struct taking t = *taking;
    uint32_t mask, mask1;
    for (; i + 2 * LANES <= end; i += 2 * LANES, d += 2 * LANES) {
        fetch(x + i * WIDTH, ahead);
        if (LANES * WIDTH == 64)
            fetch(x + (i + LANES) * WIDTH, ahead);
        v_store(d, take_vector(&t, n, i, load_words(x, i), LANES, axes, source, &mask));
        const size_t j = i + LANES;
        v_store(d + LANES, take_vector(&t, n, j, load_words(x, j), LANES, axes, source, &mask1));
        if (source == FILLED)
            put_bits(&t.bits, mask | mask1 << LANES, 2 * LANES);
    }
    if (i < end)
        fetch(x + i * WIDTH, ahead);
    if (i + LANES <= end) {
        v_store(d, take_vector(&t, n, i, load_words(x, i), LANES, axes, source, &mask));
        if (source == FILLED)
            put_bits(&t.bits, mask, LANES);
        i += LANES;
        d += LANES;
        if (LANES * WIDTH == 64 && i < end)
            fetch(x + i * WIDTH, ahead);
    }
    if (i < end) {
        const unsigned words = (unsigned)(end - i);
        const V last = v_take(load_words(x, end - LANES), v_turn(LANES - words));
        v_store(d, take_vector(&t, n, i, last, words, axes, source, &mask));
        if (source == FILLED)
            put_bits(&t.bits, mask, words);
    }
    *taking = t;
}

/* Words that have been taken and are in no block yet. */
struct taken {
    U *at;
    size_t blocks, words; /* blocks before them */
    bool whole;           /* the chunk stays where it is: rows are subtracted later */
};

/* Blocks of these. What is left moves to the beginning of `room`, and a vector before it: a room as
 * long as the chunk would be a third slower, all of the first-level cache. */
VECTOR void pack_taken(const struct fuse *f, struct residuals *r, unsigned axes, struct taken *t,
                       U *room, struct packer *p)
{
    const bool all = t->blocks * ZMPI_BLOCK + t->words == f->s->count;
    const size_t from = t->blocks, made = t->words / ZMPI_BLOCK;
    const size_t end = all ? f->s->blocks : from + made;
    const enum rest rest = axes & ZMPI_AXIS_X ? LEFT : NOTHING;
    t->blocks += made;
    t->words %= ZMPI_BLOCK;
    if (t->whole) {
        pack_blocks(f->s, r, axes, from, end, p);
        t->at += made * ZMPI_BLOCK;
        return;
    }
    pack_part(f->s, p, t->at, r->left, from, end, rest);
    for (size_t i = 0; i < LANES + ZMPI_BLOCK; i += LANES)
        v_store(room - LANES + i, v_load(room - LANES + made * ZMPI_BLOCK + i));
}

/* in_rows: the axes, if neighbours are subtracted as words are taken; or 0. What is kept for that
 * are rows in whole vectors: where rows are not, loads and stores across lines of the cache cost a
 * sixth of the whole. Along x a row goes on from what the one before ends with: so its first
 * residual needs no mask. */
VECTOR enum outcome fuse_in_rows(const struct fuse *f, unsigned axes, unsigned in_rows,
                                 enum source source, struct packer *p)
{
    const unsigned yz = in_rows & (ZMPI_AXIS_Y | ZMPI_AXIS_Z);
    const struct shape s = *f->s;
    const struct zmpi_rows rows = *f->rows;
    struct zmpi_chunk_work *work = f->work;
    const struct lines tile = {rows.at, s.x, s.y, s.z, rows.row, rows.plane};
    const struct lines l = yz ? tile : *f->lines;
    const size_t padded = s.z == 1 ? 0 : (s.x + LANES - 1) / LANES * LANES;
    const U *zeros = (const U *)(const void *)work->integers;
    U *bases = (U *)(void *)work->bases, *keep_y = (U *)(void *)work->residuals;
    U *q = (U *)(void *)(work->integers + ZMPI_CHUNK_BEFORE);
    U *const room = (U *)(void *)work->sums + LANES;
    struct coming coming = coming_of(f, &l);
    struct taking t = {intake_of(f, source), {(unsigned char *)work->exception, 0, 0}};
    struct residuals r = residuals_begin(&s, work);
    struct neighbours n = {.base = v_set1(f->base), .last = v_set1(0)};
    const bool whole = !yz && axes & (ZMPI_AXIS_Y | ZMPI_AXIS_Z);
    struct taken taken = {whole ? q : room, 0, 0, whole};
    v_store(room - LANES, v_set1(0));
    if (yz)
        for (size_t i = 0; i < s.x; i += LANES)
            v_store(bases + i, n.base);
    for (size_t z = 0; z < l.z; z++)
        for (size_t y = 0; y < l.y; y++) {
            const unsigned char *x = l.at + z * l.plane + y * l.row;
            const struct ahead ahead = coming_ahead(&coming, x);
            n.above = y ? keep_y : bases;
            n.keep_y = keep_y;
            n.keep_z = q + y * padded;
            n.before = z ? n.keep_z : yz & ZMPI_AXIS_Y ? zeros : bases;
            for (size_t i = 0, end; i < l.words; i = end) {
                end = i + (PART - taken.words + LANES - 1) / LANES * LANES;
                if (end > l.words)
                    end = l.words;
                take_row(&t, &n, x, i, end, ahead, in_rows, source, taken.at + taken.words);
                taken.words += end - i;
                if (in_rows & ZMPI_AXIS_X && end == l.words)
                    n.last = v_set1(taken.at[taken.words - 1]);
                if (taken.words < PART && (end < l.words || y + 1 < l.y || z + 1 < l.z))
                    continue;
                const enum outcome o = intake_outcome(&t.t, f, source);
                if (o)
                    return o;
                pack_taken(f, &r, axes, &taken, room, p);
            }
        }
    if (source == FILLED)
        put_bits(&t.bits, 0, 0); /* none behind the last */
    return DONE;
}

/* With any exceptions: block by block. */
KERNEL enum outcome fuse_by_blocks(const struct fuse *f, unsigned axes, struct packer *p)
{
    enum { STEP = PART / ZMPI_BLOCK };
    const size_t whole = f->s->count / ZMPI_BLOCK;
    struct intake t = intake_of(f, MASKED);
    struct residuals r = residuals_begin(f->s, f->work);
    struct walk w = walk_begin(f);
    const V base = v_set1(f->base);
    U *q = (U *)(void *)(f->work->integers + ZMPI_CHUNK_BEFORE);
    size_t taken = 0, made = 0;
    while (taken < whole) {
        const size_t end = whole - taken < STEP ? whole : taken + STEP;
        for (; taken < end; taken++, q += ZMPI_BLOCK)
            take_next(&t, &w, base, MASKED, q);
        if (taken == whole && f->s->count % ZMPI_BLOCK)
            take_rest(&t, &w, base, MASKED, q);
        if (taken > STEP) {
            pack_blocks(f->s, &r, axes, made, taken - STEP, p);
            made = taken - STEP;
        }
    }
    pack_blocks(f->s, &r, axes, made, f->s->blocks, p);
    return DONE;
}
