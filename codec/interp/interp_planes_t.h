/*
 * interp_planes_t.h - template: planes are coded as differences from the decoded planes `lag`
 * before (format.md 1.5). Cells hold these differences and are predicted from one another; `whole`
 * holds the decoded values themselves.
 */

/* Returns the decoded row `lag` planes before, if the strip's plane is coded as a difference; else
 * NULL. */
static const int32_t *whole_before(const struct zmpi_interp_work *w, const struct cells *c,
                                   const struct strip *s)
{
    if (!w->lag || !w->differs[s->z])
        return NULL;
    return whole_of(c, s->z - (int)w->lag, s->y);
}

/* Keeps the decoded values of a strip after its cells have been coded. */
static void keep_whole(const struct zmpi_interp_work *w, const struct cells *c,
                       const struct strip *s, const int32_t *before)
{
    const int32_t *value = row_of(c, s->z, s->y);
    int32_t *restrict whole = whole_of(c, s->z, s->y);
    if (before)
        for (size_t i = 0; i < s->n; i++)
            whole[i] = add(value[i], before[i]);
    else if (w->lag)
        memcpy(whole, value, s->n * sizeof *whole);
}

/* ---- the encoder's choice ---- */

/* The levels by which a plane is judged, and the rows of each. */
enum { PLANE_LEVELS = 5, PLANE_ROWS = 4 };

static int32_t nearest_step(int32_t v)
{
    return add(v, 128) & ~255;
}

/* Makes the magnitudes of n points' codes, which are predicted from two others each: as they are,
 * and less the plane before, `before` cells away. References are taken as they would be decoded. */
static void judge(int32_t *restrict plain, int32_t *restrict differ, const int32_t *point,
                  const int32_t *left, const int32_t *right, ptrdiff_t before, size_t n)
{
    const int32_t *point0 = point + before, *left0 = left + before, *right0 = right + before;
    const size_t m = whole(n, 16);
    for (size_t i = 0; i < m; i++) {
        const int32_t p = point[i] == NO_VALUE ? 0 : point[i],
                      a = nearest_step(left[i] == NO_VALUE ? 0 : left[i]),
                      b = nearest_step(right[i] == NO_VALUE ? 0 : right[i]);
        const int32_t p1 = minus(p, nearest_step(point0[i])), a1 = minus(a, nearest_step(left0[i])),
                      b1 = minus(b, nearest_step(right0[i]));
        const int32_t d = (point[i] == NO_VALUE) | (point0[i] == NO_VALUE) ? 0 : p1,
                      e = (left[i] == NO_VALUE) | (left0[i] == NO_VALUE) ? 0 : a1,
                      f = (right[i] == NO_VALUE) | (right0[i] == NO_VALUE) ? 0 : b1;
        plain[i] = magnitude(minus(p, add(a, b) >> 1), ZMPI_INTERP_STEP_BITS);
        differ[i] = magnitude(minus(d, add(e, f) >> 1), ZMPI_INTERP_STEP_BITS);
    }
}

static void try_points(struct zmpi_interp_work *w, const int32_t *point, const int32_t *left,
                       const int32_t *right, ptrdiff_t before, int n, struct tries t[2])
{
    const int32_t *plain = w->scratch[2], *differ = w->scratch[3];
    judge(w->scratch[2], w->scratch[3], point, left, right, before, (size_t)n);
    count(&t[0], plain, (size_t)n);
    count(&t[1], differ, (size_t)n);
}

/* Predicts the odd points of a row of level l. */
static void try_along(struct zmpi_interp_work *w, unsigned axes, unsigned l, int z, int y,
                      struct tries t[2])
{
    const unsigned p = class_of(axes, &z, &y);
    const struct cells *odd = &w->level[l].of[p | ZMPI_AXIS_X];
    const ptrdiff_t before = -(ptrdiff_t)(w->lag * odd->plane);
    int32_t *even = row_of(&w->level[l].of[p], z, y);
    const int m = w->level[l].of[p].n[2];
    even[m] = even[m - 1];
    even[m + before] = even[m - 1 + before];
    try_points(w, row_of(odd, z, y), even, even + 1, before, odd->n[2], t);
}

/* Does it cost less to code the plane as a difference? Points of some rows of some levels tell, by
 * linear prediction. */
static bool is_difference(struct zmpi_interp_work *w, const struct zmpi_interp_set *set, int z)
{
    struct tries t[2] = {{.off = 0}};
    for (unsigned l = 0; l < PLANE_LEVELS && l < set->levels; l++) {
        const struct cells *c = l ? &w->level[l - 1].of[0] : &w->flat;
        const ptrdiff_t before = -(ptrdiff_t)(w->lag * c->plane);
        const int rows = set->axes & ZMPI_AXIS_Y ? w->flat.n[1] >> l : w->flat.n[1];
        for (int y = 0; y < c->n[1]; y += rows / PLANE_ROWS + 1) {
            if (set->axes & ZMPI_AXIS_X)
                try_along(w, set->axes, l, z, y, t);
            if (set->axes & ZMPI_AXIS_Y && y + 2 < c->n[1])
                try_points(w, row_of(c, z, y + 1), row_of(c, z, y), row_of(c, z, y + 2), before,
                           c->n[2], t);
        }
    }
    return cost_of(w, &t[1]) < cost_of(w, &t[0]);
}

/* Counts the finest points of a plane that are not whole steps from their predictions, by the way
 * that has the fewest. */
static size_t fewest_off(struct zmpi_interp_work *w, unsigned p, int z, int bits)
{
    const struct level *l = &w->level[0];
    const struct cells *c = &l->of[p];
    size_t least = SIZE_MAX;
    for (unsigned way = 1; way < 16; way++) {
        size_t off = 0;
        if (way & 7 & ~p || !(way & 7))
            continue;
        for (int y = 0; y < c->n[1] && off < least; y++) {
            const struct strip s = strip_of(c, z, y, 1);
            off += count_off(row_of(c, z, y), predict(w, l, p, way, &s), s.n, bits);
        }
        least = off < least ? off : least;
    }
    return least;
}

/* Turns the finest classes of a plane, with their pads, into differences, or back; `whole` keeps
 * the values meanwhile. */
static void exchange_plane(const struct zmpi_interp_work *w, unsigned axes, int z, bool back)
{
    for (unsigned q = 0; q < 8; q++) {
        const struct cells *c = &w->level[0].of[q];
        if (q & ~axes)
            continue;
        int32_t *value = row_of(c, z, 0) - PAD, *whole = whole_of(c, z, 0) - PAD;
        if (back) {
            memcpy(value, whole, c->plane * sizeof *value);
        } else {
            memcpy(whole, value, c->plane * sizeof *value);
            subtract(value, whole, row_of(c, z - (int)w->lag, 0) - PAD, c->plane);
        }
    }
}

/* Was the plane decoded as a difference? Both ways may fit, apart from rounding. */
static bool was_difference(struct zmpi_interp_work *w, unsigned axes, unsigned p, int z, int bits)
{
    const size_t as_it_is = fewest_off(w, p, z, bits);
    exchange_plane(w, axes, z, false);
    const size_t as_difference = fewest_off(w, p, z, bits);
    exchange_plane(w, axes, z, true);
    return as_difference < as_it_is;
}

/* Chooses the planes that are coded as differences: by cost, or as they were decoded before. */
static void choose_planes(struct zmpi_interp_work *w, const struct zmpi_interp_set *set)
{
    const struct level *l = &w->level[0];
    const int lag = (int)w->lag, bits = ZMPI_INTERP_STEP_BITS - set->fine[0];
    unsigned p = set->axes; /* the last class that has points */
    while (p && (!l->of[p].n[1] || !l->of[p].n[2]))
        p = (p - 1) & set->axes;
    const bool decoded = w->decoded && p;
    if (decoded && p & ZMPI_AXIS_X)
        pad_values(&l->of[p ^ ZMPI_AXIS_X], &l->of[p]);
    for (int z = 0; z < w->flat.n[0]; z++)
        w->differs[z] = z >= lag && (decoded ? was_difference(w, set->axes, p, z, bits)
                                             : is_difference(w, set, z));
}
