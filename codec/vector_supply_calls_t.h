/*
 * vector_supply_calls_t.h - template: what vector_supply_t.h does, in functions of their own, for
 * instruction sets whose blocks take most registers. After unpack_blocks.
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
enum { AHEAD = WIDTH == 4 ? 64 : 128, AT_A_TIME = 1024 / WIDTH, KEPT = 16384 / WIDTH };

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
    const size_t n = (end - p->made + ZMPI_BLOCK - 1) / ZMPI_BLOCK;
    p->carry = unpack_blocks(&p->u, n, axes, p->carry, p->x + (p->made - p->begin));
    p->made += n * ZMPI_BLOCK;
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
    if (WIDTH == 4) /* as many blocks at a time as become bytes together */
        end = end / AT_A_TIME * AT_A_TIME;
    end = end < count ? end : count;
    if (axes & ZMPI_AXIS_X)
        supply_sums(p, end);
    else
        supply_residuals(p, end);
    p->have = p->made < count ? p->made - AHEAD : p->made;
}
