/*
 * vector_placed_t.h - template: rows of at least a vector past the caches, for instruction sets
 * that have no cheap way to join two vectors anywhere: they are summed in vectors which begin where
 * those of memory do. So the first vector of a row begins before it; there, and behind its end,
 * lie words that do not count. After vector_rows_t.h and vector_turn_t.h.
 */

/* patch_at for the first vector of a row, which has `over` words before it. */
VECTOR V patch_first(const struct patch *p, size_t at, size_t over, V word)
{
    const uint32_t mask = zmpi_load32(p->masks + at / 8) >> at % 8 << over;
    const V there =
        p->words ? v_take(v_load(p->words + at), v_turn((LANES - over) % LANES)) : p->fill;
    return v_choose_at(word, there, mask, 0);
}

/* patch_at for vector i of a row: where vectors are whole bytes of masks, all begin at the same
 * bit. */
VECTOR V patch_row(const struct patch *p, size_t at, size_t i, V word)
{
    if (LANES % 8)
        return patch_at(p, at + i, word);
    const size_t byte = (at + LANES) / 8 + i / 8 - LANES / 8; /* at may be some before 0 */
    const V there = p->words ? v_load(p->words + at + i) : p->fill;
    return v_choose_from(word, there, zmpi_load32(p->masks + byte), (unsigned)(at % 8));
}

/* Vectors from..end-1 of a row, of which the first would go to `to`. */
VECTOR void restore_run(const struct sums *s, const struct row *r, size_t from, size_t end,
                        unsigned axes, enum conversion c, bool past, unsigned char *to)
{
    struct sums plain = *s;
    plain.patch.masks = NULL;
    for (size_t i = from; i < end; i += LANES) {
        V v = restore_at(&plain, r, i, axes, c);
        if (s->patch.masks)
            v = patch_row(&s->patch, r->at, i, v);
        if (past)
            v_stream(to + i * WIDTH, v);
        else
            v_store((U *)(void *)(to + i * WIDTH), v);
    }
}

static inline uintptr_t within(uintptr_t x, uintptr_t least, uintptr_t most)
{
    return x < least ? least : x < most ? x : most;
}

/* Vectors from..whole-1 of a row: what lies before whole lines, these, and what lies behind. */
VECTOR void restore_inside(const struct sums *s, const struct row *r, size_t from, size_t whole,
                           unsigned axes, enum conversion c, struct seam *m)
{
    unsigned char *const row = m->to - from * WIDTH, *const to = row + whole * WIDTH;
    const uintptr_t lines = within(m->lines, (uintptr_t)m->to, (uintptr_t)to);
    const uintptr_t past = within(m->lines + m->whole, lines, (uintptr_t)to);
    const size_t begin = (lines - (uintptr_t)row) / WIDTH, end = (past - (uintptr_t)row) / WIDTH;
    restore_run(s, r, from, begin, axes, c, false, row);
    restore_run(s, r, begin, end, axes, c, true, row);
    restore_run(s, r, end, whole, axes, c, false, row);
    m->to = to;
}

VECTOR void restore_row_placed(const struct sums *sums, const struct row *row, unsigned axes,
                               enum conversion c, struct seam *m)
{
    const size_t over = m->waiting, words = over + row->words, whole = words / LANES * LANES;
    const struct row r = {row->x - over, row->off, row->at - over, words};
    struct sums s = *sums, first;
    s.above -= over;
    s.before -= over;
    s.keep_y -= over;
    s.keep_z -= over;
    first = s;
    first.patch.masks = NULL;
    V v = restore_at(&first, &r, 0, axes, c);
    if (s.patch.masks)
        v = patch_first(&s.patch, row->at, over, v);
    seam_full(m, seam_join(m, v));
    restore_inside(&s, &r, LANES, whole, axes, c, m);
    seam_hold(m, whole < words ? restore_at(&s, &r, whole, axes, c) : v, words - whole);
}

/* Rows that go to a seam. */
VECTOR void decode_placed(const struct job *j, unsigned axes, enum conversion c)
{
    const struct shape *s = j->s;
    const struct zmpi_rows *dst = j->dst;
    const U *zeros = (const U *)(const void *)j->work->integers + LANES;
    const U *bases = (const U *)(const void *)j->work->bases + LANES;
    U *q = (U *)(void *)(j->work->integers + ZMPI_CHUNK_BEFORE) + LANES;
    /* What is kept of a plane: rows, and what does not count between them. */
    const size_t step = s->z == 1 ? 0 : s->row + LANES;
    unsigned char tail[TAIL];
    struct sums n = sums_begin(j, LANES + s->row, axes);
    struct supply p = {.x = (U *)(void *)j->work->ahead + LANES, .carry = v_set1(0)};
    struct seam m = job_seam(j);
    V off = v_set1(0);
    if (axes == ZMPI_AXIS_X)
        p.carry = n.base;
    n.keep_y += LANES;
    unpacker_begin(&p.u, j->p, j->work, tail);
    for (size_t z = 0, at = 0; z < s->z; z++)
        for (size_t y = 0; y < s->y; y++, at += s->row) {
            if (p.have < at + s->row)
                supply_until(&p, at, at + s->row, s->count, axes);
            n.above = y ? n.keep_y : axes & ZMPI_AXIS_Z ? zeros : bases;
            n.keep_z = q + y * step;
            n.before = z ? n.keep_z : bases;
            const struct row r = {p.x + (at - p.begin), off, at, s->row};
            seam_at(&m, dst->at + z * dst->plane + y * dst->row);
            restore_row_placed(&n, &r, axes, c, &m);
            off = v_set1(r.x[s->row - 1]);
        }
    seam_end(&m);
}

/* ---- shorter rows ---- */

/* Rows as long are placed; of others the one above was just stored. */
enum { PLACED = 16 * LANES };

/* ---- rows of whole blocks ---- */

/* decode_aligned of vector_rows_t.h for rows that go to a seam. */
VECTOR void decode_whole(const struct job *j, unsigned axes, enum conversion c)
{
    enum { PIECE = STAGE / 2 };
    const struct shape *s = j->s;
    const U *zeros = (const U *)(const void *)j->work->integers;
    const U *bases = (const U *)(const void *)j->work->bases;
    U *q = (U *)(void *)(j->work->integers + ZMPI_CHUNK_BEFORE);
    U *kept = (U *)(void *)j->work->sums;
    unsigned char tail[TAIL];
    struct unpacker u;
    struct replacer e = j->exceptions;
    struct seam m = job_seam(j);
    struct stage stage;
    struct sums n = sums_begin(j, s->row, axes);
    stage_begin(&stage, j);
    unpacker_begin(&u, j->p, j->work, tail);
    for (size_t z = 0; z < s->z; z++)
        for (size_t y = 0; y < s->y; y++) {
            unsigned char *to = j->dst->at + z * j->dst->plane + y * j->dst->row;
            if (axes != ZMPI_AXIS_X)
                n.carry = v_set1(0);
            for (size_t i = 0, words; i < s->row; i += words) {
                words = s->row - i < PIECE ? s->row - i : PIECE;
                n.above = i + (y ? kept : axes & ZMPI_AXIS_Z ? zeros : bases);
                n.keep_y = kept + i;
                n.keep_z = q + y * s->row + i;
                n.before = z ? n.keep_z : bases + i;
                unsigned char *room = stage_row(&stage, &m, to + i * WIDTH, words);
                restore_blocks(&n, &u, &e, words, axes, c, PLAIN, &m, room);
            }
        }
    stage_end(&stage, &m);
}
