/*
 * vector_parts_t.h - template: integers of a chunk, which lie as vector_residuals_t.h has them, to
 * planes, some at a time. After pack_differences.
 */

/* Words that are made residuals, and then planes, together; and after so many it is looked for
 * exceptions. Not many more: while blocks are made nothing is fetched. */
enum { PART = 2048 / WIDTH };

/* Blocks from..end-1 less their neighbours along y and z; what is made of the next ones goes
 * behind, and what is before them lies in front. Along z alone it is as if all had rows above. */
#define CASE(yz, axes)                                                                             \
    KERNEL void subtract_##yz(const struct residuals *residuals, size_t from, size_t end, U *to)   \
    {                                                                                              \
        struct residuals n = *residuals;                                                           \
        for (; from < end; from++, to += ZMPI_BLOCK) {                                             \
            V r[VECTORS];                                                                          \
            residuals_next(&n, from, axes, r);                                                     \
            for (unsigned k = 0; k < VECTORS; k++)                                                 \
                v_store(to + k * LANES, r[k]);                                                     \
        }                                                                                          \
    }
CASE(above, ZMPI_AXIS_Y)
CASE(before, ZMPI_AXIS_Z)
CASE(both, ZMPI_AXIS_Y | ZMPI_AXIS_Z)
#undef CASE

/* The first words of a block, and zeros behind them. */
KERNEL void pack_rest(struct packer *p, const struct differences *n, size_t words, enum rest rest)
{
    const uint32_t left = rest == LEFT_IN_ROWS ? *n->left : UINT32_MAX;
    U few[ZMPI_BLOCK];
    for (unsigned k = 0; k < VECTORS; k++) {
        const U *d = n->d + k * LANES;
        v_store(few + k * LANES,
                rest == NOTHING ? v_load(d) : v_sub_at(v_load(d), v_load(d - 1), left, k));
    }
    memset(few + words, 0, (ZMPI_BLOCK - words) * WIDTH);
    pack_differences(p, (struct differences){few, ZMPI_BLOCK, NULL}, 1, NOTHING);
}

/* Blocks from..end-1 of a chunk, the first one's at d. */
TARGET static void pack_part(const struct shape *s, struct packer *p, const U *d,
                             const uint32_t *left, size_t from, size_t end, enum rest rest)
{
    const size_t whole = s->count / ZMPI_BLOCK < end ? s->count / ZMPI_BLOCK - from : end - from;
    struct differences n = {d, ZMPI_BLOCK, left + from};
    const unsigned char *const begin = p->dst;
    pack_differences(p, n, whole, rest);
    room_ahead(begin, p->dst, ROOM_AHEAD);
    if (from + whole == end)
        return;
    n.d += whole * ZMPI_BLOCK;
    n.left += whole;
    pack_rest(p, &n, s->count % ZMPI_BLOCK, rest);
}

/* Blocks from..end-1 of integers. */
TARGET static void pack_blocks(const struct shape *s, struct residuals *n, unsigned axes,
                               size_t from, size_t end, struct packer *p)
{
    _Alignas(LANES * WIDTH) U room[LANES + PART];
    U *const to = room + LANES;
    const unsigned yz = axes & (ZMPI_AXIS_Y | ZMPI_AXIS_Z);
    if (!yz) {
        if (from == 0) /* there need not be zeros in front of one row */
            ((U *)n->q)[-1] = 0;
        pack_part(s, p, n->q + from * ZMPI_BLOCK, n->left, from, end, axes ? LEFT : NOTHING);
        return;
    }
    const enum rest rest = axes & ZMPI_AXIS_X ? LEFT_IN_ROWS : NOTHING;
    for (size_t next; from < end; from = next) {
        next = end - from < PART / ZMPI_BLOCK ? end : from + PART / ZMPI_BLOCK;
        if (rest != NOTHING)
            v_store(room, n->last);
        if (yz == ZMPI_AXIS_Y)
            subtract_above(n, from, next, to);
        else if (yz == ZMPI_AXIS_Z)
            subtract_before(n, from, next, to);
        else
            subtract_both(n, from, next, to);
        if (rest != NOTHING)
            n->last = v_load(to + (next - from) * ZMPI_BLOCK - LANES);
        pack_part(s, p, to, n->left, from, next, rest);
    }
}
