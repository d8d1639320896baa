/*
 * vector_pack_t.h - template: integers of a chunk to residuals, lengths and planes, as fle_t.h
 * does.
 *
 * Written in the operations of avx2_words32.h or its like, which name their V, F, LANES and
 * VECTORS. The integers lie without gaps, less their base, with zeros in front of them: the
 * neighbours of any element are loads at a distance.
 */

/* ---- planes ---- */

/* Residuals to dst; returns their length. May write up to 28 bytes more than the block has. */
VECTOR unsigned block_pack(const V r[VECTORS], unsigned char *dst)
{
    V m[VECTORS];
    V all = m[0] = v_abs(r[0]);
    for (unsigned k = 1; k < VECTORS; k++) {
        m[k] = v_abs(r[k]);
        all = v_or(all, m[k]);
    }
    unsigned length = v_length(all);
    zmpi_store32(dst, block_signs(r));
    block_store(m, length, dst + 4);
    return length;
}

/* ---- residuals ---- */

/* A row and its neighbours along y and z: rows of zeros where there is none. */
struct row {
    const U *here, *above, *before, *both;
};

static inline struct row row_at(const struct shape *s, const U *q, const U *zeros, size_t z,
                                size_t y)
{
    const U *here = q + z * s->plane + y * s->row;
    return (struct row){
        .here = here,
        .above = y ? here - s->row : zeros,
        .before = z ? here - s->plane : zeros,
        .both = y && z ? here - s->plane - s->row : zeros,
    };
}

/* Residuals of `n` vectors from element i of a row. *last: the differences along y and z of the
 * vector before, of which the first lane needs one. */
VECTOR void residuals(const struct row *l, size_t i, unsigned axes, unsigned n, V *last, V *r)
{
    for (unsigned k = 0; k < n; k++, i += LANES) {
        V d = v_load(l->here + i);
        if (axes & ZMPI_AXIS_Z)
            d = v_sub(d, v_load(l->before + i));
        if (axes & ZMPI_AXIS_Y) {
            V above = v_load(l->above + i);
            if (axes & ZMPI_AXIS_Z)
                above = v_sub(above, v_load(l->both + i));
            d = v_sub(d, above);
        }
        r[k] = axes & ZMPI_AXIS_X ? v_sub(d, v_shift_in(*last, d)) : d;
        *last = d;
    }
}

struct packer {
    unsigned char *lengths, *dst;
    unsigned any;
};

VECTOR void pack_next(struct packer *p, const V r[VECTORS])
{
    unsigned length = block_pack(r, p->dst);
    *p->lengths++ = (unsigned char)length;
    p->dst += 4 * (size_t)(length + (length != 0));
    p->any |= length;
}

/* All residuals, for rows of any length. A row's last vector may be too long: the next row writes
 * over that. */
VECTOR void residual_rows(const struct shape *s, const U *q, const U *zeros, unsigned axes, U *r)
{
    for (size_t z = 0; z < s->z; z++)
        for (size_t y = 0; y < s->y; y++, r += s->row) {
            const struct row l = row_at(s, q, zeros, z, y);
            V last = v_set1(0), v;
            for (size_t i = 0; i < s->row; i += LANES) {
                residuals(&l, i, axes, 1, &last, &v);
                v_store(r + i, v);
            }
        }
    for (unsigned k = 0; k < VECTORS; k++) /* what the last block has too much */
        v_store(r + k * LANES, v_set1(0));
}

VECTOR void pack_residuals(const struct shape *s, const U *r, struct packer *p)
{
    for (size_t b = 0; b < s->blocks; b++) {
        V v[VECTORS];
        for (unsigned k = 0; k < VECTORS; k++)
            v[k] = v_load(r + b * ZMPI_BLOCK + k * LANES);
        pack_next(p, v);
    }
}

/* All blocks. `axes` is a constant to the compiler, which makes one loop for each. Returns the or
 * of all lengths. */
VECTOR unsigned pack_along(const struct shape *s, struct zmpi_chunk_work *work, unsigned axes,
                           unsigned char *lengths, unsigned char **dst)
{
    const U *zeros = (const U *)(const void *)work->integers;
    const U *q = (const U *)(const void *)(work->integers + ZMPI_CHUNK_BEFORE);
    struct packer p = {lengths, *dst, 0};
    if (s->row % ZMPI_BLOCK == 0) { /* no block crosses the end of a row */
        for (size_t z = 0; z < s->z; z++)
            for (size_t y = 0; y < s->y; y++) {
                const struct row l = row_at(s, q, zeros, z, y);
                V last = v_set1(0), r[VECTORS];
                for (size_t i = 0; i < s->row; i += ZMPI_BLOCK) {
                    residuals(&l, i, axes, VECTORS, &last, r);
                    pack_next(&p, r);
                }
            }
    } else {
        U *r = (U *)(void *)work->residuals;
        residual_rows(s, q, zeros, axes, r);
        pack_residuals(s, r, &p);
    }
    *dst = p.dst;
    return p.any;
}

/* With at most the x axis, which runs on across the ends of rows, a chunk is one row. */
static inline struct shape shape_along(const struct shape *s, unsigned axes)
{
    struct shape one = *s;
    if (axes <= ZMPI_AXIS_X) {
        one.z = one.y = 1;
        one.x = one.row = one.plane = s->count;
    }
    return one;
}

KERNEL unsigned pack_blocks(const struct shape *tile, struct zmpi_chunk_work *work, unsigned axes,
                            unsigned char *lengths, unsigned char **dst)
{
    const struct shape along = shape_along(tile, axes), *s = &along;
    switch (axes) {
    case 0:
        return pack_along(s, work, 0, lengths, dst);
    case 1:
        return pack_along(s, work, 1, lengths, dst);
    case 2:
        return pack_along(s, work, 2, lengths, dst);
    case 3:
        return pack_along(s, work, 3, lengths, dst);
    case 4:
        return pack_along(s, work, 4, lengths, dst);
    case 5:
        return pack_along(s, work, 5, lengths, dst);
    case 6:
        return pack_along(s, work, 6, lengths, dst);
    default:
        return pack_along(s, work, 7, lengths, dst);
    }
}

/* ---- choosing the axes ---- */

/* Which elements of a block have no left neighbour, no row above, or do not exist. */
struct edges {
    uint32_t left, top, end;
};

/* Where a block begins: column, and row of its plane. */
struct cursor {
    size_t x, y;
};

static inline struct cursor cursor_at(const struct shape *s, size_t element)
{
    return (struct cursor){element % s->row, element / s->row % s->y};
}

/* The edges of the block at the cursor, which moves on to the next one. */
VECTOR struct edges edges_next(const struct shape *s, struct cursor *c, size_t words)
{
    struct edges e = {0, 0, words < ZMPI_BLOCK ? UINT32_MAX << words : 0};
    for (unsigned j = 0; j < ZMPI_BLOCK;) {
        size_t left = s->row - c->x;
        unsigned n = left < ZMPI_BLOCK - j ? (unsigned)left : ZMPI_BLOCK - j;
        uint32_t here = (UINT32_MAX >> (ZMPI_BLOCK - n)) << j;
        e.left |= c->x == 0 ? 1U << j : 0;
        e.top |= c->y == 0 ? here : 0;
        j += n;
        c->x += n;
        if (c->x == s->row) {
            c->x = 0;
            c->y = c->y + 1 == s->y ? 0 : c->y + 1;
        }
    }
    return e;
}

/* Differences along y and z (bits of axes) of the vector at p, where every element has its row
 * above. */
VECTOR V difference_yz(const struct shape *s, const U *p, unsigned axes)
{
    V d = v_load(p);
    if (axes & ZMPI_AXIS_Z)
        d = v_sub(d, v_load(p - s->plane));
    if (axes & ZMPI_AXIS_Y) {
        V above = v_load(p - s->row);
        if (axes & ZMPI_AXIS_Z)
            above = v_sub(above, v_load(p - s->plane - s->row));
        d = v_sub(d, above);
    }
    return d;
}

/* The same, with `below` zero in the lanes that have none. */
VECTOR V difference_edge(const struct shape *s, const U *p, unsigned axes, V below)
{
    V d = difference_yz(s, p, axes & ZMPI_AXIS_Z);
    if (axes & ZMPI_AXIS_Y)
        d = v_sub(d, v_and(below, difference_yz(s, p - s->row, axes & ZMPI_AXIS_Z)));
    return d;
}

/* all[axes] |= magnitudes of the vector at p under each set of axes. */
VECTOR void sample_vector(const struct shape *s, const U *p, const struct edges *e, unsigned k,
                          int dimensions, V all[8])
{
    const V right = v_lanes(~e->left, k), below = v_lanes(~e->top, k), in = v_lanes(~e->end, k);
    for (unsigned yz = 0; yz < 8; yz += 2) {
        if ((yz & ZMPI_AXIS_Z && dimensions < 3) || (yz & ZMPI_AXIS_Y && dimensions < 2))
            continue;
        V plain = difference_edge(s, p, yz, below);
        V left = difference_edge(s, p - 1, yz, below);
        V along_x = v_sub(plain, yz ? v_and(left, right) : left);
        all[yz] = v_or(all[yz], v_abs(v_and(plain, in)));
        all[yz + 1] = v_or(all[yz + 1], v_abs(v_and(along_x, in)));
    }
}

VECTOR void sample_costs(const struct shape *s, const U *q, int dimensions, unsigned cost[8])
{
    for (size_t i = 0; i < sample_count(s); i++) {
        size_t b = sample_block(s, i);
        struct cursor c = cursor_at(s, b * ZMPI_BLOCK);
        struct edges e = edges_next(s, &c, block_words(s, b));
        V all[8];
        U m[8];
        for (unsigned axes = 0; axes < 8; axes++)
            all[axes] = v_set1(0);
        for (unsigned k = 0; k < VECTORS; k++)
            sample_vector(s, q + b * ZMPI_BLOCK + k * LANES, &e, k, dimensions, all);
        v_or_lanes(all, m);
        for (unsigned axes = 0; axes < 8; axes++)
            cost[axes] += m[axes] ? bit_length(m[axes]) + 1 : 0;
    }
}

/* choose_axes of fle_t.h. */
KERNEL unsigned sample_axes(const struct shape *s, const U *q)
{
    unsigned cost[8] = {0};
    unsigned possible = (s->x > 1 ? ZMPI_AXIS_X : 0U) | (s->y > 1 ? ZMPI_AXIS_Y : 0U) |
                        (s->z > 1 ? ZMPI_AXIS_Z : 0U);
    if (s->z > 1)
        sample_costs(s, q, 3, cost);
    else if (s->y > 1)
        sample_costs(s, q, 2, cost);
    else
        sample_costs(s, q, 1, cost);
    unsigned best = 0;
    for (unsigned axes = 1; axes < 8; axes++)
        if ((axes & ~possible) == 0 && cost[axes] < cost[best])
            best = axes;
    return best;
}
