/*
 * vector_supply_t.h - template: residuals for rows that do not begin with blocks, or their sums.
 * After vector_pieces_t.h.
 */

/* Residuals, or with the x axis their sums along the whole chunk, some way ahead of the rows. */
struct supply {
    struct unpacker u;
    U *x;
    size_t begin, have; /* the elements in x; both begin blocks */
    V carry;
};

/* AHEAD: what was just stored is slow to load in another alignment; but rows are to be summed while
 * blocks are unpacked. KEPT: it shares the cache with the rest. */
enum { AHEAD = 8 * ZMPI_BLOCK, KEPT = 2048 };

/* Elements from `at` to end-1, and some more. */
VECTOR void supply_until(struct supply *p, size_t at, size_t end, size_t count, unsigned axes)
{
    if (p->have - p->begin >= KEPT) {
        const size_t begin = at / ZMPI_BLOCK * ZMPI_BLOCK;
        for (size_t i = begin; i < p->have; i += LANES)
            v_store(p->x + (i - begin), v_load(p->x + (i - p->begin)));
        p->begin = begin;
    }
    const size_t blocks = (count + ZMPI_BLOCK - 1) / ZMPI_BLOCK;
    for (end = end + AHEAD < count ? end + AHEAD : count; p->have < end;
         p->have += PIECE * ZMPI_BLOCK)
        unpack_piece(&p->u, &p->carry, axes, blocks - p->have / ZMPI_BLOCK,
                     p->x + (p->have - p->begin));
}
