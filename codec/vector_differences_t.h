/*
 * vector_differences_t.h - template: what loops that make planes of blocks read. After v_sub_at.
 */

/* Numbers that become residuals, block by block. */
struct differences {
    const U *d;
    size_t step;          /* from block to block */
    const uint32_t *left; /* see struct zmpi_chunk_edges; or NULL: all */
};

/* What they are: residuals; or words less their neighbours along x, which is in front of them,
 * except for the first of a row. */
enum rest { NOTHING, LEFT, LEFT_IN_ROWS };

/* The residuals of block b. */
VECTOR void made_of(const struct differences *n, size_t b, enum rest rest, V r[VECTORS])
{
    const U *d = n->d + b * n->step;
    const bool edge = rest == LEFT_IN_ROWS && n->left[b] != UINT32_MAX;
    for (unsigned k = 0; k < VECTORS; k++) {
        r[k] = v_load(d + k * LANES);
        if (rest == NOTHING)
            continue;
        const V left = v_load(d + k * LANES - 1);
        r[k] = edge ? v_sub_at(r[k], left, n->left[b], k) : v_sub(r[k], left);
    }
}
