/*
 * vector_aligned_t.h - template: the rows of a tile to planes in one pass, if no block crosses the
 * end of one: each vector of words is loaded, made integers, checked, predicted and packed while it
 * is in registers. After vector_take_t.h.
 */

/* A row that blocks fit in. */
VECTOR void fuse_blocks(struct intake *t, struct neighbours *n, const unsigned char *x,
                        size_t words, struct ahead ahead, unsigned axes, enum source source,
                        struct packer *p)
{
    for (size_t i = 0; i < words; i += ZMPI_BLOCK) {
        V r[VECTORS];
        uint32_t masks = 0, mask;
        for (unsigned k = 0; k < VECTORS; k++) {
            const size_t j = i + k * LANES;
            if (j * WIDTH % 64 == 0)
                fetch(x + j * WIDTH, ahead);
            const V word = load_words(x, j);
            r[k] = predict(n, j, axes, take(t, word, source, &mask));
            masks |= mask << (k * LANES);
        }
        if (source >= LISTED)
            *t->masks++ = masks;
        pack_next(p, r);
    }
}

/* The rows of an aligned tile: no block crosses the end of one. `axes` and `source` are constants
 * to the compiler. If it is not done, the planes are worth nothing. */
VECTOR enum outcome fuse_aligned(const struct fuse *f, unsigned axes, enum source source,
                                 struct packer *packer)
{
    struct packer own = *packer, *const p = &own; /* in registers: bytes stored may be anything */
    const struct shape s = *f->s;
    const struct zmpi_rows rows = *f->rows;
    struct zmpi_chunk_work *work = f->work;
    const U *zeros = (const U *)(const void *)work->integers;
    U *bases = (U *)(void *)work->bases, *keep_y = (U *)(void *)work->sums;
    U *keep_z = (U *)(void *)(work->integers + ZMPI_CHUNK_BEFORE);
    const struct lines l = {rows.at, s.x, s.y, s.z, rows.row, rows.plane};
    struct coming coming = coming_of(f, &l);
    struct intake t = intake_of(f, source);
    struct neighbours n = {.base = v_set1(f->base), .last = v_set1(f->base)};
    if (axes & (ZMPI_AXIS_Y | ZMPI_AXIS_Z))
        for (size_t i = 0; i < s.x; i += LANES)
            v_store(bases + i, n.base);
    const unsigned char *begin = p->dst;
    for (size_t z = 0, unseen = 0; z < s.z; z++)
        for (size_t y = 0; y < s.y; y++) {
            n.above = y ? keep_y : bases;
            n.keep_y = keep_y;
            n.keep_z = keep_z + y * s.x;
            n.before = z ? n.keep_z : axes & ZMPI_AXIS_Y ? zeros : bases;
            if (axes != ZMPI_AXIS_X)
                n.last = v_set1(0);
            const unsigned char *x = rows.at + z * rows.plane + y * rows.row;
            fuse_blocks(&t, &n, x, s.x, coming_ahead(&coming, x), axes, source, p);
            if ((unseen += s.x) < PART && (y + 1 < s.y || z + 1 < s.z))
                continue;
            unseen = 0;
            room_ahead(begin, p->dst, ROOM_AHEAD);
            begin = p->dst;
            const enum outcome o = intake_outcome(&t, f, source);
            if (o)
                return o;
        }
    pack_flush(p);
    *packer = own;
    return DONE;
}
