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

static void subtract(int32_t *value, const int32_t *from, const int32_t *before, size_t n)
{
    for (size_t i = 0; i < n; i++)
        value[i] =
            from[i] == NO_VALUE || before[i] == NO_VALUE ? NO_VALUE : minus(from[i], before[i]);
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

/* The longest distance between the points by which a plane is judged; rows for each distance. */
enum { PLANE_STEPS = 16, PLANE_ROWS = 4 };

static int32_t nearest_step(int32_t v)
{
    return add(v, 128) & ~255;
}

/* Makes row z, y exactly and as it would be decoded; lag: its difference from the row `lag` planes
 * before. */
static void rounded_row(struct zmpi_interp_work *w, int z, int y, int lag, int32_t *restrict exact,
                        int32_t *restrict rounded)
{
    const struct cells *c = &w->flat;
    const int32_t *v = row_of(c, z, y), *before = lag ? row_of(c, z - lag, y) : NULL;
    for (int i = 0; i < c->n[2]; i++) {
        const bool is_value = v[i] != NO_VALUE && (!before || before[i] != NO_VALUE);
        exact[i] = !is_value ? 0 : before ? minus(v[i], nearest_step(before[i])) : v[i];
        rounded[i] = nearest_step(exact[i]);
    }
}

static void try_value(struct zmpi_interp_work *w, int32_t difference)
{
    const int32_t c = add(difference, 128) >> 8, a = c < 0 ? -c : c;
    w->tried[a < ZMPI_INTERP_MAGNITUDE ? a : ZMPI_INTERP_MAGNITUDE]++;
}

/* Predicts every second point of a row from its neighbours in the row, `apart` elements away. */
static void try_along(struct zmpi_interp_work *w, const int32_t *exact, const int32_t *rounded,
                      int apart)
{
    const int n = w->flat.n[2];
    for (int x = apart; x < n; x += 2 * apart)
        try_value(
            w, minus(exact[x],
                     add(rounded[x - apart], rounded[x + apart < n ? x + apart : x - apart]) >> 1));
}

static void try_between(struct zmpi_interp_work *w, const int32_t *exact, const int32_t *above,
                        const int32_t *below, int apart)
{
    for (int x = 0; x < w->flat.n[2]; x += apart)
        try_value(w, minus(exact[x], add(above[x], below[x]) >> 1));
}

/* Estimates the cost of a plane: linear prediction of points in some rows of some levels. */
static uint64_t plane_cost(struct zmpi_interp_work *w, unsigned axes, int z, int lag)
{
    const int rows = w->flat.n[1];
    int32_t *exact = w->scratch[1], *first = w->scratch[2], *next = w->scratch[3];
    memset(w->tried, 0, sizeof w->tried);
    for (int step = 1; step <= PLANE_STEPS; step *= 2) {
        const int dy = axes & ZMPI_AXIS_Y ? step : 1, dx = axes & ZMPI_AXIS_X ? step : 1;
        const int apart = dy * (rows / (PLANE_ROWS * dy) + 1);
        for (int y = 0; y < rows; y += apart) {
            rounded_row(w, z, y, lag, exact, first);
            if (axes & ZMPI_AXIS_X)
                try_along(w, exact, first, dx);
            if (!(axes & ZMPI_AXIS_Y) || y + 2 * dy >= rows)
                continue;
            rounded_row(w, z, y + 2 * dy, lag, exact, next);
            rounded_row(w, z, y + dy, lag, exact, w->scratch[4]);
            try_between(w, exact, first, next, dx);
        }
    }
    return entropy(w->logs, w->tried, ZMPI_INTERP_MAGNITUDE + 1) +
           ((uint64_t)w->tried[ZMPI_INTERP_MAGNITUDE] << 18);
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
            predict(w, l, p, way, &s);
            off += count_off(row_of(c, z, y), w->scratch[1], s.n, bits);
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
                                             : plane_cost(w, set->axes, z, lag) <
                                                   plane_cost(w, set->axes, z, 0));
}
