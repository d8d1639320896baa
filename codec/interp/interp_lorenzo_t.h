/* interp_lorenzo_t.h - template: prediction of rounded values from their neighbours
 * (format.md 1.5). */

/* Adds up in `sum` what a row is predicted from, without x. Returns the difference before the first
 * one, from which x begins. */
static int32_t start_row(const struct cells *c, unsigned axes, int z, int y, int32_t *restrict sum)
{
    const size_t n = (size_t)c->n[2];
    const int32_t *row = c->value + (size_t)z * c->plane + (size_t)y * c->row;
    const bool has_y = y && axes & ZMPI_AXIS_Y, has_z = z && axes & ZMPI_AXIS_Z;
    const int32_t *nearest = y ? row - c->row : z ? row - c->plane : NULL;
    if (has_y && has_z) {
        const int32_t *a = row - c->row, *b = row - c->plane, *d = b - c->row;
        for (size_t i = 0; i < n; i++)
            sum[i] = (int32_t)((uint32_t)a[i] + (uint32_t)b[i] - (uint32_t)d[i]);
        return 0;
    }
    const int32_t *from = has_y ? row - c->row : has_z ? row - c->plane : NULL;
    if (!from && !(axes & ZMPI_AXIS_X))
        from = nearest;
    if (from)
        memcpy(sum, from, n * sizeof *sum);
    else
        memset(sum, 0, n * sizeof *sum);
    return !from && nearest ? nearest[0] : 0;
}

/* Makes the difference d of each element of a row. An element without a value gets the d that costs
 * least. Returns whether there are such elements. */
static bool differ(const int32_t *row, const int32_t *sum, size_t n, bool by_x, uint32_t last,
                   uint32_t *restrict d)
{
    uint32_t none = 0;
    for (size_t i = 0; i < n; i++) {
        d[i] = (uint32_t)row[i] - (uint32_t)sum[i];
        none |= row[i] == NO_VALUE;
    }
    for (size_t i = 0; i < n && none; i++)
        if (row[i] == NO_VALUE)
            d[i] = !by_x ? 0 : i ? d[i - 1] : last;
    return none;
}

/* Predicts the rows of a strip, to scratch[1]; elements without a value become what is predicted.
 */
static void predict_rows(struct zmpi_interp_work *w, const struct cells *c, unsigned axes,
                         const struct strip *s)
{
    uint32_t *d = (uint32_t *)w->scratch[2] + 1;
    const size_t n = (size_t)c->n[2];
    for (int k = 0; k < s->rows; k++) {
        int32_t *restrict row = row_of(c, s->z, s->y + k);
        int32_t *restrict predicted = w->scratch[1] + (size_t)k * c->row;
        d[-1] = (uint32_t)start_row(c, axes, s->z, s->y + k, predicted);
        const bool none = differ(row, predicted, n, axes & ZMPI_AXIS_X, d[-1], d);
        if (none)
            for (size_t i = 0; i < n; i++)
                row[i] = (int32_t)((uint32_t)predicted[i] + d[i]);
        if (axes & ZMPI_AXIS_X)
            for (size_t i = 0; i < n; i++)
                predicted[i] = (int32_t)((uint32_t)predicted[i] + d[(ptrdiff_t)i - 1]);
    }
}

static void decode_rows(struct zmpi_interp_work *w, const struct cells *c, unsigned axes,
                        const struct strip *s)
{
    int32_t *sum = w->scratch[1], *codes = w->scratch[3];
    fetch_rows(w, s->z, s->y, 1);
    take_strip(w, c, s, &(struct coded){0}, codes);
    for (int k = 0; k < s->rows; k++) {
        int32_t *restrict row = row_of(c, s->z, s->y + k);
        const int32_t *restrict code = codes + (size_t)k * c->row;
        uint32_t last = (uint32_t)start_row(c, axes, s->z, s->y + k, sum);
        for (int i = 0; i < c->n[2]; i++) {
            last = (uint32_t)code[i] + (axes & ZMPI_AXIS_X ? last : 0);
            row[i] = (int32_t)((uint32_t)sum[i] + last);
        }
        give_row(w, row, ZMPI_INTERP_STEP_BITS, s->z, s->y + k);
    }
}

static void lorenzo(struct zmpi_interp_work *w, const struct zmpi_interp_set *set)
{
    const struct cells *c = &w->flat;
    const size_t all = c->plane * (size_t)c->n[0] - 2 * PAD;
    const int bits = ZMPI_INTERP_STEP_BITS;
    for (int z = 0; z < c->n[0] && w->watch; z++)
        for (int y = 0; y < c->n[1]; y++) {
            const int32_t *row = c->value + (size_t)z * c->plane + (size_t)y * c->row;
            for (int i = 0; i < c->n[2]; i++)
                w->off += (row[i] & ((1 << bits) - 1)) != 0; /* NO_VALUE is a whole step */
            w->seen += (size_t)c->n[2];
        }
    if (w->mode != DECODE)
        for (size_t i = 0; i < all; i++)
            c->value[i] = c->value[i] == NO_VALUE
                              ? NO_VALUE
                              : (int32_t)((uint32_t)c->value[i] + (1u << (bits - 1))) >> bits;
    for (int z = 0; z < c->n[0]; z++)
        for (int y = 0; y < c->n[1];) {
            const struct strip s = next_strip(c, z, y);
            y += s.rows;
            if (w->mode == DECODE) {
                decode_rows(w, c, set->axes, &s);
                continue;
            }
            predict_rows(w, c, set->axes, &s);
            put_strip(w, c, &s, &(struct coded){.predicted = w->scratch[1]});
        }
    const size_t wanted = w->mode != DECODE && w->wanted ? all : 0;
    for (size_t i = 0; i < wanted; i++)
        c->value[i] = (int32_t)((uint32_t)c->value[i] << bits);
}
