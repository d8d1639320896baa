/*
 * vector_narrow_t.h - template: sums where rows are shorter than a vector: several rows lie in one,
 * and a plane is taken as if it were a row. After vector_seam_t.h.
 */

/* What tells, in a vector, the rows of `row` words. */
struct narrow {
    size_t row, turn;   /* turn: how far a vector's first element is from the one before's */
    U place[2 * LANES]; /* of an element in its row */
    V lanes, last_row;  /* v_pick: those of the last row in a vector, over and over, in the next */
    V step[4];          /* v_pick: row, 2 row, ... up, behind zeros */
    unsigned steps;
};

VECTOR void narrow_begin(struct narrow *n, size_t row)
{
    n->row = row;
    n->turn = LANES % row;
    for (size_t i = 0, at = 0; i < 2 * LANES; i++, at = at + 1 < row ? at + 1 : 0)
        n->place[i] = (U)at;
    n->lanes = v_lanes(0);
    n->last_row = v_add(v_load(n->place), v_set1((U)(LANES - row)));
    n->steps = 0;
    for (size_t d = row; d < LANES; d *= 2)
        n->step[n->steps++] = v_lanes(LANES - d);
}

/* Sums along x and y of a plane, so far. */
struct narrow_sums {
    size_t place; /* in its row, of the next vector's first element */
    V x, y;       /* of the vector before; x: of the whole chunk */
};

/* From sums along x of the whole chunk. */
VECTOR V narrow_sum(const struct narrow *n, struct narrow_sums *s, unsigned axes, V v)
{
    if (axes & ZMPI_AXIS_X && axes != ZMPI_AXIS_X) { /* less what they were before the row */
        const V before = v_sub(v_add(n->lanes, v_set1(LANES - 1)), v_load(n->place + s->place));
        const V off = v_pick(s->x, v, before);
        s->x = v;
        s->place += n->turn;
        s->place -= s->place < n->row ? 0 : n->row;
        v = v_sub(v, off);
    }
    if (axes & ZMPI_AXIS_Y) {
        for (unsigned k = 0; k < n->steps; k++)
            v = v_add(v, v_pick(v_set1(0), v, n->step[k]));
        v = v_add(v, v_pick(s->y, s->y, n->last_row));
        s->y = v;
    }
    return v;
}
