/*
 * vector_supply_calls_t.h - template: what vector_supply_t.h does, in functions of their own, for
 * instruction sets whose blocks take most registers. After vector_unpack_t.h.
 */

/* Residuals, or with the x axis their sums along the whole chunk, some way ahead of the rows. */
struct supply {
    struct unpacker u;
    U *x;
    size_t begin, made; /* the elements in x; both begin blocks */
    size_t have;        /* up to here they may be taken: those behind have just been stored */
    V carry;
};

/* AHEAD: what was stored so lately that it is not in the cache yet, behind words that go past it,
 * is slow to load in another alignment. AT_A_TIME: enough for a call. KEPT: it shares the
 * first-level cache with the rest. */
enum { AHEAD = 1024 / WIDTH, AT_A_TIME = 1024 / WIDTH, KEPT = 2048 };

/* What lies before element `at` goes. */
KERNEL void supply_drop(struct supply *p, size_t at)
{
    const size_t begin = at / ZMPI_BLOCK * ZMPI_BLOCK;
    for (size_t i = begin; i < p->made; i += LANES)
        v_store(p->x + (i - begin), v_load(p->x + (i - p->begin)));
    p->begin = begin;
}

VECTOR void supply_blocks(struct supply *p, size_t end, unsigned axes)
{
    struct unpacker u = p->u;
    V carry = p->carry;
    U *to = p->x + (p->made - p->begin);
    for (; p->made < end; p->made += ZMPI_BLOCK, to += ZMPI_BLOCK) {
        V r[VECTORS];
        unpack_next(&u, axes, r);
        block_order(r);
        for (unsigned k = 0; k < VECTORS; k++)
            v_store(to + k * LANES, axes & ZMPI_AXIS_X ? v_add(r[k], carry) : r[k]);
        if (axes & ZMPI_AXIS_X)
            carry = v_add(v_last(r[VECTORS - 1]), carry);
    }
    p->carry = carry;
    p->u = u;
}

KERNEL void supply_residuals(struct supply *p, size_t end)
{
    supply_blocks(p, end, 0);
}

KERNEL void supply_sums(struct supply *p, size_t end)
{
    supply_blocks(p, end, ZMPI_AXIS_X);
}

/* Elements from `at` to end-1, and some more. */
VECTOR void supply_until(struct supply *p, size_t at, size_t end, size_t count, unsigned axes)
{
    if (p->made - p->begin >= KEPT)
        supply_drop(p, at);
    end += AHEAD + AT_A_TIME;
    end = end < count ? end : count;
    if (axes & ZMPI_AXIS_X)
        supply_sums(p, end);
    else
        supply_residuals(p, end);
    p->have = p->made < count ? p->made - AHEAD : p->made;
}
