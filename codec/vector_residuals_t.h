/*
 * vector_residuals_t.h - template: integers of a chunk to residuals, as fle_t.h does.
 *
 * Written in the operations of avx2_words32.h or its like, which name their V, F, LANES and
 * VECTORS. The integers lie without gaps, less their base, with zeros in front of them: the
 * neighbours of any element are loads at a distance, and blocks run across the ends of rows. Masks
 * tell which elements have no neighbour in their row, or no row above.
 */

/* Clear the bits of elements from..end-1 in a chunk's masks. */
static inline void clear_bits(uint32_t *mask, size_t from, size_t end)
{
    while (from < end) {
        const size_t bit = from % ZMPI_BLOCK, left = ZMPI_BLOCK - bit;
        const size_t n = end - from < left ? end - from : left;
        mask[from / ZMPI_BLOCK] &= ~(UINT32_MAX >> (ZMPI_BLOCK - n) << bit);
        from += n;
    }
}

/* The masks of a shape. They stay in the work: most chunks of an array have the same. */
static inline void find_edges(const struct shape *s, struct zmpi_chunk_edges *e)
{
    if (e->extent[0] == s->z && e->extent[1] == s->y && e->extent[2] == s->x)
        return;
    e->extent[0] = s->z;
    e->extent[1] = s->y;
    e->extent[2] = s->x;
    memset(e->left, 0xFF, s->blocks * sizeof *e->left);
    memset(e->above, 0xFF, s->blocks * sizeof *e->above);
    for (size_t i = 0; i < s->count; i += s->row)
        e->left[i / ZMPI_BLOCK] &= ~(UINT32_C(1) << i % ZMPI_BLOCK);
    for (size_t i = 0; i < s->count; i += s->plane)
        clear_bits(e->above, i, i + s->row);
}

/* Where residuals come from, block by block. */
struct residuals {
    const U *q;
    size_t row, plane;
    const uint32_t *left, *above;
    V last; /* differences along y and z of the vector before, of which the first lane needs one */
};

static inline const U *chunk_integers(const struct zmpi_chunk_work *work)
{
    return (const U *)(const void *)(work->integers + ZMPI_CHUNK_BEFORE);
}

VECTOR struct residuals residuals_begin(const struct shape *s, struct zmpi_chunk_work *work)
{
    struct zmpi_chunk_edges *e = &work->edges;
    find_edges(s, e);
    return (struct residuals){chunk_integers(work), s->row, s->plane, e->left, e->above, v_set1(0)};
}

/* Those of block b, which follows the one before. inside: all have neighbours. */
VECTOR void differences_of(struct residuals *n, size_t b, unsigned axes, bool inside, V r[VECTORS])
{
    for (unsigned k = 0; k < VECTORS; k++) {
        const U *q = n->q + b * ZMPI_BLOCK + k * LANES;
        V d = v_load(q);
        if (axes & ZMPI_AXIS_Z)
            d = v_sub(d, v_load(q - n->plane));
        if (axes & ZMPI_AXIS_Y) {
            V above = v_load(q - n->row);
            if (axes & ZMPI_AXIS_Z)
                above = v_sub(above, v_load(q - n->row - n->plane));
            d = inside ? v_sub(d, above) : v_sub_at(d, above, n->above[b], k);
        }
        r[k] = d;
        if (axes & ZMPI_AXIS_X) {
            V left = v_shift_in(n->last, d);
            n->last = d;
            r[k] = inside ? v_sub(d, left) : v_sub_at(d, left, n->left[b], k);
        }
    }
}

VECTOR void residuals_next(struct residuals *n, size_t b, unsigned axes, V r[VECTORS])
{
    bool inside = true;
    if (axes & ZMPI_AXIS_Y)
        inside = n->above[b] == UINT32_MAX;
    if (axes & ZMPI_AXIS_X && axes != ZMPI_AXIS_X)
        inside = inside && n->left[b] == UINT32_MAX;
    if (inside)
        differences_of(n, b, axes, true, r);
    else
        differences_of(n, b, axes, false, r);
}
