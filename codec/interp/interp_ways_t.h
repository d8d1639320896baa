/*
 * interp_ways_t.h - template: what the codes of predicted points cost, and the way that costs least
 * (format.md 4.10).
 */

enum { FEW_POINTS = 64 }; /* fewer cannot tell ways apart */

/* Counts the values that are not whole steps from their predictions: hardly any, if they were
 * decoded before. */
static size_t count_off(const int32_t *value, const int32_t *predicted, size_t n, int bits)
{
    const int32_t mask = (1 << bits) - 1;
    uint32_t off = 0;
    for (size_t i = 0; i < n; i++)
        off += (minus(value[i], predicted[i]) & mask) != 0 && value[i] != NO_VALUE;
    return off;
}

/* The magnitude of a difference's code. */
static int32_t magnitude(int32_t difference, int bits)
{
    const int32_t c = add(difference, 1 << (bits - 1)) >> bits, a = c < 0 ? -c : c;
    return a > ZMPI_INTERP_MAGNITUDE ? ZMPI_INTERP_MAGNITUDE : a;
}

static void count(struct tries *t, const int32_t *magnitudes, size_t n)
{
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (unsigned k = 0; k < 4; k++)
            t->counts[k][magnitudes[i + k]]++;
    for (; i < n; i++)
        t->counts[0][magnitudes[i]]++;
}

/* Counts the magnitudes of a row's codes. */
static void try_row(struct zmpi_interp_work *w, const int32_t *value, const int32_t *predicted,
                    size_t n, int bits, struct tries *t)
{
    int32_t *restrict code = w->scratch[3];
    t->off += w->watch ? count_off(value, predicted, n, bits) : 0;
    for (size_t i = 0; i < n; i++) {
        const int32_t d = value[i] == NO_VALUE ? 0 : minus(value[i], predicted[i]);
        code[i] = magnitude(d, bits);
    }
    count(t, code, n);
}

/* What these codes cost, apart from their signs. */
static uint64_t cost_of(const struct zmpi_interp_work *w, const struct tries *t)
{
    uint32_t sum[ZMPI_INTERP_MAGNITUDE + 1];
    for (unsigned a = 0; a <= ZMPI_INTERP_MAGNITUDE; a++)
        sum[a] = t->counts[0][a] + t->counts[1][a] + t->counts[2][a] + t->counts[3][a];
    const uint64_t large = sum[ZMPI_INTERP_MAGNITUDE]; /* these cost more */
    return entropy(w->logs, sum, ZMPI_INTERP_MAGNITUDE + 1) + (large << 18);
}

/* Tries all ways for a row, from the same predictions along its axes. */
static void try_ways(struct zmpi_interp_work *w, const struct level *l, unsigned p,
                     const struct strip *row, int bits)
{
    const int32_t *value = row_of(&l->of[p], row->z, row->y);
    if (w->lag && w->differs[row->z]) { /* nothing is coded yet */
        subtract(w->scratch[2], value, row_of(&l->of[p], row->z - (int)w->lag, row->y), row->n);
        value = w->scratch[2];
    }
    for (unsigned kind = 0; kind <= ZMPI_INTERP_CUBIC; kind += ZMPI_INTERP_CUBIC) {
        predict_along(w, l, p, p | kind, row);
        for (unsigned axes = p; axes; axes = (axes - 1) & p)
            try_row(w, value, mean(w, axes, row->n), row->n, bits, &w->tries[axes | kind]);
    }
    w->seen += row->n;
}

/* Returns the way that costs least; if the values were decoded before, the way by which they were
 * comes first. Only magnitudes count, since signs cost the same by every way. */
static unsigned choose_way(struct zmpi_interp_work *w, const struct level *l, unsigned p, int bits)
{
    const struct cells *c = &l->of[p];
    const int rows = c->n[0] * c->n[1], every = rows >= 64 ? 3 : 1;
    unsigned best = p | ZMPI_INTERP_CUBIC;
    const size_t seen = w->seen, off = w->off;
    uint64_t least = UINT64_MAX;
    size_t fewest = SIZE_MAX; /* values that are off */
    if ((size_t)rows * (size_t)c->n[2] < FEW_POINTS)
        return best;
    memset(w->tries, 0, sizeof w->tries);
    w->seen = 0;
    for (int r = 0; r < rows; r += every) {
        const struct strip row = strip_of(c, r / c->n[1], r % c->n[1], 1);
        try_ways(w, l, p, &row, bits);
    }
    for (unsigned way = 1; way < 16; way++) {
        if (way & 7 & ~p || !(way & 7))
            continue;
        const uint64_t cost = cost_of(w, &w->tries[way]);
        w->off = w->tries[way].off;
        const size_t now = w->watch && zmpi_interp_known(w) ? w->off : SIZE_MAX;
        if (now < fewest || (now == fewest && cost < least)) {
            least = cost;
            best = way;
            fewest = now;
        }
    }
    w->seen = seen;
    w->off = off;
    return best;
}
