/*
 * vector_pack_t.h - template: integers of a chunk to residuals, lengths and planes, as fle_t.h
 * does.
 *
 * Written in the operations of avx2_words32.h or its like, which name their V, F, LANES and
 * VECTORS. The integers lie without gaps, less their base, with zeros in front of them: the
 * neighbours of any element are loads at a distance.
 */

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
    U *keep; /* the residuals go here too; or NULL */
    uint32_t *nonzero;
};

VECTOR void pack_next(struct packer *p, const V r[VECTORS])
{
    if (p->keep) {
        uint32_t zero = 0;
        for (unsigned k = 0; k < VECTORS; k++) {
            v_store(p->keep + k * LANES, r[k]);
            zero |= m_bits(v_equal(r[k], v_set1(0))) << (k * LANES);
        }
        p->keep += ZMPI_BLOCK;
        *p->nonzero++ = ~zero;
    }
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

/* The same for rows shorter than a vector, which goes on from row to row: all rows of a plane but
 * the first have one above. */
VECTOR void residual_narrow(const struct shape *s, const U *q, const U *zeros, unsigned axes, U *r)
{
    U inside[2 * LANES]; /* all ones where there is a neighbour along x */
    for (size_t i = 0; i < 2 * LANES; i++)
        inside[i] = i % s->row ? (U)-1 : 0;
    for (size_t z = 0; z < s->z; z++)
        for (size_t y = 0; y < 2 && y < s->y; y++) {
            const struct row l = row_at(s, q, zeros, z, y);
            const size_t first = y * s->row, n = y ? s->plane - s->row : s->row;
            V last = v_set1(0), d, none = last;
            for (size_t i = 0, x = 0; i < n; i += LANES, x = (x + LANES) % s->row) {
                residuals(&l, i, axes & ~(unsigned)ZMPI_AXIS_X, 1, &none, &d);
                V left = v_shift_in(last, d);
                last = d;
                if (axes & ZMPI_AXIS_X)
                    d = v_sub(d, v_and(left, v_load(inside + x)));
                v_store(r + z * s->plane + first + i, d);
            }
        }
    for (unsigned k = 0; k < VECTORS; k++) /* what the last block has too much */
        v_store(r + s->count + k * LANES, v_set1(0));
}

/* Blocks of residuals from element `done`, a multiple of the block, up to at most `end`. Returns
 * where it stopped. */
VECTOR size_t pack_until(struct packer *p, const U *r, size_t done, size_t end)
{
    for (; done + ZMPI_BLOCK <= end; done += ZMPI_BLOCK) {
        V v[VECTORS];
        for (unsigned k = 0; k < VECTORS; k++)
            v[k] = v_load(r + done + k * LANES);
        pack_next(p, v);
    }
    return done;
}

/* All blocks. `axes` is a constant to the compiler, which makes one loop for each. */
VECTOR void pack_along(const struct shape *s, struct zmpi_chunk_work *work, unsigned axes,
                       struct packer *packer)
{
    struct packer own = *packer, *const p = &own; /* in registers: bytes stored may be anything */
    const U *zeros = (const U *)(const void *)work->integers;
    const U *q = (const U *)(const void *)(work->integers + ZMPI_CHUNK_BEFORE);
    if (s->row % ZMPI_BLOCK == 0) { /* no block crosses the end of a row */
        for (size_t z = 0; z < s->z; z++)
            for (size_t y = 0; y < s->y; y++) {
                const struct row l = row_at(s, q, zeros, z, y);
                V last = v_set1(0), r[VECTORS];
                for (size_t i = 0; i < s->row; i += ZMPI_BLOCK) {
                    residuals(&l, i, axes, VECTORS, &last, r);
                    pack_next(p, r);
                }
            }
    } else {
        U *r = (U *)(void *)work->residuals;
        if (s->row < LANES)
            residual_narrow(s, q, zeros, axes, r);
        else
            residual_rows(s, q, zeros, axes, r);
        pack_until(p, r, 0, s->blocks * ZMPI_BLOCK);
    }
    *packer = own;
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

KERNEL void pack_blocks(const struct shape *tile, struct zmpi_chunk_work *work, unsigned axes,
                        struct packer *p)
{
    const struct shape along = shape_along(tile, axes), *s = &along;
    switch (axes) {
    case 0:
        pack_along(s, work, 0, p);
        break;
    case 1:
        pack_along(s, work, 1, p);
        break;
    case 2:
        pack_along(s, work, 2, p);
        break;
    case 3:
        pack_along(s, work, 3, p);
        break;
    case 4:
        pack_along(s, work, 4, p);
        break;
    case 5:
        pack_along(s, work, 5, p);
        break;
    case 6:
        pack_along(s, work, 6, p);
        break;
    default:
        pack_along(s, work, 7, p);
        break;
    }
}
