/*
 * vector_planes_t.h - template: chunks whose rows are shorter than a vector, or of which no sum
 * begins or ends with a row. After vector_narrow_t.h and vector_rows_t.h.
 */

/* A chunk without gaps, of rows that are shorter than a vector, or of which no sum along x or y
 * begins or ends with one. */
VECTOR void decode_narrow(const struct job *j, unsigned axes, enum conversion c)
{
    const struct shape *s = j->s;
    U *ahead = (U *)(void *)j->work->ahead;
    unsigned char *to = j->dst->at, tail[TAIL];
    struct unpacker u;
    struct replacer e = j->exceptions;
    struct seam m = job_seam(j);
    struct sums n = sums_begin(j, 0, 0);
    struct places places;
    places_of(s, &places);
    struct narrow rows;
    narrow_begin(&rows, s, axes, n.base, &places,
                 (U *)(void *)(j->work->integers + ZMPI_CHUNK_BEFORE));
    unpacker_begin(&u, j->p, j->work, tail);
    if (axes != ZMPI_AXIS_X)
        n.carry = v_set1(0);
    if (j->way == SEAM)
        seam_at(&m, to);
    for (size_t b = 0; b < s->blocks; b++, to += ZMPI_BLOCK * WIDTH) {
        V r[VECTORS];
        const U *x = ahead + b % PIECE * ZMPI_BLOCK;
        if (b % PIECE == 0)
            unpack_piece(&u, &n.carry, axes, s->blocks - b, ahead);
        /* Each vector to its place at once: several want too many registers. */
        if (!e.lengths && (b + 1) * ZMPI_BLOCK <= s->count) {
            for (unsigned k = 0; k < VECTORS; k++)
                put_vector(convert(&n, c, narrow_sum_planes(&rows, axes, v_load(x + k * LANES))),
                           j->way, &m, to + k * LANES * WIDTH);
            continue;
        }
        for (unsigned k = 0; k < VECTORS; k++)
            r[k] = convert(&n, c, narrow_sum_planes(&rows, axes, v_load(x + k * LANES)));
        if (e.lengths)
            replace_next(&e, r);
        if ((b + 1) * ZMPI_BLOCK <= s->count)
            put_block(r, j->way, &m, to);
        else
            put_words(r, s->count - b * ZMPI_BLOCK, j->way, &m, to);
    }
    seam_end(&m);
}

/* A vector of sums along x and y to words. before, keep: integers, of the plane before and of this
 * one. */
VECTOR V restore_summed(const struct sums *s, unsigned axes, enum conversion c, const U *before,
                        U *keep, V v)
{
    if (axes & ZMPI_AXIS_Z) {
        v = v_add(v, v_load(before));
        v_store(keep, v);
    }
    return convert(s, c, v_add(v, s->base));
}

/* The next vector of a plane, to words. */
VECTOR V restore_plane(const struct sums *s, struct narrow *rows, unsigned axes, enum conversion c,
                       const U *before, U *keep, V v)
{
    return restore_summed(s, axes, c, before, keep, narrow_sum(rows, axes, v));
}

/* Rows that are shorter than a vector and have no gaps, in planes with gaps between them: each
 * begins with a vector. */
VECTOR void decode_planes(const struct job *j, unsigned axes, enum conversion c)
{
    const struct shape *s = j->s;
    U *kept = (U *)(void *)(j->work->integers + ZMPI_CHUNK_BEFORE);
    const U *none = (const U *)(const void *)j->work->integers;
    struct supply p = {.x = (U *)(void *)j->work->ahead, .carry = v_set1(0)};
    struct sums n = sums_begin(j, 0, 0);
    struct seam m = job_seam(j);
    struct places places;
    unsigned char tail[TAIL];
    V off = v_set1(0);
    places_of(s, &places);
    struct narrow rows;
    narrow_begin(&rows, s, axes & ~(unsigned)ZMPI_AXIS_Z, v_set1(0), &places, NULL);
    unpacker_begin(&p.u, j->p, j->work, tail);
    for (size_t z = 0, at = 0; z < s->z; z++) {
        unsigned char *to = j->dst->at + z * j->dst->plane;
        narrow_again(&rows, off);
        if (j->way == SEAM)
            seam_at(&m, to);
        for (size_t from = 0, words; from < s->plane; from += words, at += words) {
            words = s->plane - from < PIECE * ZMPI_BLOCK ? s->plane - from : PIECE * ZMPI_BLOCK;
            if (p.have < at + words)
                supply_until(&p, at, at + words + PIECE * ZMPI_BLOCK, s->count, axes);
            const U *x = p.x + (at - p.begin);
            const U *before = (z ? kept : none) + from;
            U *keep = kept + from;
            size_t i = 0;
            if (j->way == SEAM && !n.patch.masks) {
                for (; i + 2 * LANES <= words; i += 2 * LANES) {
                    V v[2];
                    for (unsigned k = 0; k < 2; k++)
                        v[k] = narrow_rows(&rows, axes, v_load(x + i + k * LANES));
                    if (axes & ZMPI_AXIS_Y)
                        stride_sum_two(&rows.y, v);
                    for (unsigned k = 0; k < 2; k++)
                        v[k] = restore_summed(&n, axes, c, before + i + k * LANES,
                                              keep + i + k * LANES, v[k]);
                    seam_put(&m, v[0]);
                    seam_put(&m, v[1]);
                }
                for (; i + LANES <= words; i += LANES)
                    seam_put(
                        &m, restore_plane(&n, &rows, axes, c, before + i, keep + i, v_load(x + i)));
            }
            for (; i < words; i += LANES) {
                V v = restore_plane(&n, &rows, axes, c, before + i, keep + i, v_load(x + i));
                if (n.patch.masks)
                    v = patch_at(&n.patch, at + i, v);
                if (j->way == SEAM && i + LANES <= words)
                    seam_put(&m, v);
                else if (j->way == SEAM)
                    seam_put_few(&m, v, words - i);
                else if (i + LANES <= words)
                    v_store((U *)(void *)(to + (from + i) * WIDTH), v);
                else
                    v_store_lanes(to + (from + i) * WIDTH, v, 0, words - i);
            }
            off = v_set1(x[words - 1]);
        }
    }
    seam_end(&m);
}

VECTOR void decode_rows(const struct job *j, enum conversion c, enum rows rows)
{
    switch (4 * j->p->axes + rows) {
#define CASE(axes)                                                                                 \
    case 4 * (axes) + LOOSE:                                                                       \
        decode_loose(j, axes, c);                                                                  \
        break;                                                                                     \
    case 4 * (axes) + ALIGNED:                                                                     \
        decode_aligned(j, axes, c);                                                                \
        break;                                                                                     \
    case 4 * (axes) + NARROW:                                                                      \
        decode_narrow(j, axes, c);                                                                 \
        break;                                                                                     \
    case 4 * (axes) + PLANES:                                                                      \
        decode_planes(j, axes, c);                                                                 \
        break;
        EACH_AXES(CASE)
#undef CASE
    }
}
