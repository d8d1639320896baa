/*
 * interp_lattice.c - prediction from coarse to fine (format.md 1.5). The points of a level are kept
 * by class, by whether their coordinates are even or odd, so that every reference is a row of
 * another class.
 */
#include <string.h>

#include "interp/interp_work.h"

static int32_t add(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a + (uint32_t)b);
}

static int32_t times(int32_t a, uint32_t b)
{
    return (int32_t)((uint32_t)a * b);
}

static int32_t minus(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a - (uint32_t)b);
}

/* ---- layout ---- */

static void set_cells(struct cells *c, const int n[3], size_t *used)
{
    memcpy(c->n, n, sizeof c->n);
    c->row = (size_t)n[2] + 2 * PAD;
    c->plane = c->row * (size_t)n[1];
    *used += c->plane * (size_t)n[0];
}

static void place_cells(struct zmpi_interp_work *w, struct cells *c, size_t *at)
{
    c->value = w->values + *at + PAD;
    c->size = w->sizes + *at + PAD;
    *at += c->plane * (size_t)c->n[0];
}

/* Axis i (0: z) of n points has these in class p. */
static int class_extent(unsigned axes, unsigned p, int i, int n)
{
    if (!(axes >> (2 - i) & 1))
        return n;
    return p >> (2 - i) & 1 ? n / 2 : (n + 1) / 2;
}

void zmpi_interp_layout(struct zmpi_interp_work *w, const struct zmpi_interp_set *set,
                        const size_t extent[3])
{
    size_t used = 0, at = 0;
    int n[3] = {(int)extent[0], (int)extent[1], (int)extent[2]};
    set_cells(&w->flat, n, &used);
    place_cells(w, &w->flat, &at);
    if (set->family != ZMPI_INTERP_LATTICE)
        return;
    for (unsigned l = 0; l < set->levels; l++) {
        memcpy(w->level[l].n, n, sizeof n);
        for (unsigned p = 0; p < 8; p++) {
            struct cells *c = &w->level[l].of[p];
            int m[3];
            if (p & ~set->axes)
                continue;
            for (int i = 0; i < 3; i++)
                m[i] = class_extent(set->axes, p, i, n[i]);
            set_cells(c, m, &used);
            place_cells(w, c, &at);
        }
        memcpy(n, w->level[l].of[0].n, sizeof n);
    }
}

size_t zmpi_interp_cells(const struct zmpi_interp_set *set, const size_t tile[3], size_t *rows)
{
    int n[3] = {(int)tile[0], (int)tile[1], (int)tile[2]};
    struct cells c;
    size_t used = 0;
    set_cells(&c, n, &used);
    *rows = tile[0] * tile[1];
    for (unsigned l = 0; set->family == ZMPI_INTERP_LATTICE && l < set->levels; l++) {
        int m[3];
        for (unsigned p = 8; p-- > 0;) {
            if (p & ~set->axes)
                continue;
            for (int i = 0; i < 3; i++)
                m[i] = class_extent(set->axes, p, i, n[i]);
            set_cells(&c, m, &used);
            *rows += (size_t)m[0] * (size_t)m[1];
        }
        memcpy(n, m, sizeof n);
    }
    return used;
}

static int32_t *row_of(const struct cells *c, int z, int y)
{
    return c->value + (size_t)z * c->plane + (size_t)y * c->row;
}

static unsigned char *sizes_of(const struct cells *c, int z, int y)
{
    return c->size + (size_t)z * c->plane + (size_t)y * c->row;
}

/* Even and odd elements apart, or together again. */
static void split_row(const int32_t *src, int n, int32_t *even, int32_t *odd)
{
    for (int i = 0; i < n / 2; i++) {
        even[i] = src[2 * i];
        odd[i] = src[2 * i + 1];
    }
    if (n & 1)
        even[n / 2] = src[n - 1];
}

static void merge_row(int32_t *dst, int n, const int32_t *even, const int32_t *odd)
{
    for (int i = 0; i < n / 2; i++) {
        dst[2 * i] = even[i];
        dst[2 * i + 1] = odd[i];
    }
    if (n & 1)
        dst[n - 1] = even[n / 2];
}

static void merge_sizes(unsigned char *dst, int n, const unsigned char *even,
                        const unsigned char *odd)
{
    for (int i = 0; i < n / 2; i++) {
        dst[2 * i] = even[i];
        dst[2 * i + 1] = odd[i];
    }
    if (n & 1)
        dst[n - 1] = even[n / 2];
}

/* Class and row of it that row z, y of a level is in, but for x. */
static unsigned class_of(unsigned axes, int *z, int *y)
{
    unsigned p = 0;
    if (axes & ZMPI_AXIS_Z) {
        p |= *z & 1 ? ZMPI_AXIS_Z : 0;
        *z /= 2;
    }
    if (axes & ZMPI_AXIS_Y) {
        p |= *y & 1 ? ZMPI_AXIS_Y : 0;
        *y /= 2;
    }
    return p;
}

static void split_level(const struct level *l, unsigned axes, const struct cells *src)
{
    for (int z = 0; z < l->n[0]; z++)
        for (int y = 0; y < l->n[1]; y++) {
            int cz = z, cy = y;
            const unsigned p = class_of(axes, &cz, &cy);
            int32_t *even = row_of(&l->of[p], cz, cy);
            if (axes & ZMPI_AXIS_X)
                split_row(row_of(src, z, y), l->n[2], even,
                          row_of(&l->of[p | ZMPI_AXIS_X], cz, cy));
            else
                memcpy(even, row_of(src, z, y), (size_t)l->n[2] * sizeof *even);
        }
}

static void merge_level(const struct level *l, unsigned axes, const struct cells *dst)
{
    for (int z = 0; z < l->n[0]; z++)
        for (int y = 0; y < l->n[1]; y++) {
            int cz = z, cy = y;
            const unsigned p = class_of(axes, &cz, &cy);
            const struct cells *even = &l->of[p], *odd = &l->of[p | ZMPI_AXIS_X];
            int32_t *values = row_of(dst, z, y);
            unsigned char *sizes = sizes_of(dst, z, y);
            if (axes & ZMPI_AXIS_X) {
                merge_row(values, l->n[2], row_of(even, cz, cy), row_of(odd, cz, cy));
                merge_sizes(sizes, l->n[2], sizes_of(even, cz, cy), sizes_of(odd, cz, cy));
            } else {
                memcpy(values, row_of(even, cz, cy), (size_t)l->n[2] * sizeof *values);
                memcpy(sizes, sizes_of(even, cz, cy), (size_t)l->n[2]);
            }
        }
}

/* ---- prediction ---- */

/* What stands for points outside: v[-1], v[n] and v[n + 1] of n even points. a, b, c: the first
 * three, or the last three from the end; as many as there are. */
static int32_t before_first(int n, int32_t a, int32_t b, int32_t c)
{
    if (n >= 3)
        return add(minus(times(a, 3), times(b, 3)), c);
    return n == 2 ? minus(times(a, 2), b) : a;
}

/* There is an odd point behind the last even one. */
static int32_t behind_odd(int n, int32_t a, int32_t b)
{
    return n > 1 ? minus(times(a, 2), b) : a;
}

static int32_t behind_that(int n, int32_t a, int32_t b)
{
    return n > 1 ? minus(times(a, 3), times(b, 2)) : a;
}

/* Row j of the even points along an axis, `apart` cells apart, or what stands for it. */
static const int32_t *even_row(const int32_t *first, size_t apart, int j, int even, int odd,
                               size_t n, int32_t *room)
{
    if (j >= 0 && j < even)
        return first + (size_t)j * apart;
    const int step = j < 0 ? 1 : -1, from = j < 0 ? 0 : even - 1;
    const int32_t *a = first + (size_t)from * apart;
    const int32_t *b = even > 1 ? first + (size_t)(from + step) * apart : a;
    const int32_t *c = even > 2 ? first + (size_t)(from + 2 * step) * apart : a;
    if (j < 0 || even > odd)
        for (size_t i = 0; i < n; i++)
            room[i] = before_first(even, a[i], b[i], c[i]);
    else if (j == even)
        for (size_t i = 0; i < n; i++)
            room[i] = behind_odd(even, a[i], b[i]);
    else
        for (size_t i = 0; i < n; i++)
            room[i] = behind_that(even, a[i], b[i]);
    return room;
}

static void cubic(int32_t *restrict out, const int32_t *a, const int32_t *b, const int32_t *c,
                  const int32_t *d, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = add(minus(times(add(b[i], c[i]), 9), add(a[i], d[i])), 8) >> 4;
}

static void linear(int32_t *restrict out, const int32_t *b, const int32_t *c, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = add(times(add(b[i], c[i]), 8), 8) >> 4;
}

static void mean2(int32_t *restrict out, const int32_t *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = add(add(out[i], b[i]), 1) >> 1;
}

static void mean3(int32_t *restrict out, const int32_t *b, const int32_t *c, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = add(add(times(add(out[i], c[i]), 5), times(b[i], 6)), 8) >> 4;
}

/* Prediction along one axis for row z, y of class p. */
static void along(struct zmpi_interp_work *w, const struct level *l, unsigned p, unsigned axis,
                  bool is_cubic, int z, int y, int32_t *out)
{
    const struct cells *c = &l->of[p], *e = &l->of[p ^ axis];
    const size_t n = (size_t)c->n[2];
    const int32_t *r[4];
    if (axis == ZMPI_AXIS_X) {
        int32_t *v = row_of(e, z, y);
        const int m = e->n[2];
        const int32_t a = v[m - 1], b = m > 1 ? v[m - 2] : a, last = m > 2 ? v[m - 3] : a;
        v[-1] = before_first(m, v[0], m > 1 ? v[1] : v[0], m > 2 ? v[2] : v[0]);
        v[m] = m > c->n[2] ? before_first(m, a, b, last) : behind_odd(m, a, b);
        v[m + 1] = behind_that(m, a, b);
        for (int k = 0; k < 4; k++)
            r[k] = v + k - 1;
    } else {
        const bool is_z = axis == ZMPI_AXIS_Z;
        const int j = is_z ? z : y, even = e->n[is_z ? 0 : 1], odd = c->n[is_z ? 0 : 1];
        const int32_t *first = is_z ? row_of(e, 0, y) : row_of(e, z, 0);
        for (int k = 0; k < 4; k++)
            r[k] = (k == 0 || k == 3) && !is_cubic
                       ? NULL
                       : even_row(first, is_z ? e->plane : e->row, j + k - 1, even, odd, n,
                                  w->scratch[k < 2    ? 0
                                             : k == 2 ? 4
                                                      : 5]);
    }
    if (is_cubic)
        cubic(out, r[0], r[1], r[2], r[3], n);
    else
        linear(out, r[1], r[2], n);
}

/* Prediction of a row, to scratch[1]. */
static void predict(struct zmpi_interp_work *w, const struct level *l, unsigned p, unsigned way,
                    int z, int y)
{
    const size_t n = (size_t)l->of[p].n[2];
    int k = 0;
    for (unsigned axis = 1; axis < 8; axis *= 2)
        if (way & axis)
            along(w, l, p, axis, way & ZMPI_INTERP_CUBIC, z, y, w->scratch[1 + k++]);
    if (k == 2)
        mean2(w->scratch[1], w->scratch[2], n);
    else if (k == 3)
        mean3(w->scratch[1], w->scratch[2], w->scratch[3], n);
}

/* Sums of the sizes at the reference points, to w->sums. Returns how many axes they are of. */
static int sum_sizes(struct zmpi_interp_work *w, const struct level *l, unsigned p, unsigned way,
                     int z, int y)
{
    const size_t n = (size_t)l->of[p].n[2];
    uint16_t *restrict sum = w->sums;
    int axes = 0;
    for (unsigned axis = 1; axis < 8; axis *= 2) {
        if (!(way & axis))
            continue;
        const struct cells *e = &l->of[p ^ axis];
        unsigned char *a = sizes_of(e, z, y), *b = a + 1;
        if (axis == ZMPI_AXIS_X)
            a[e->n[2]] = a[e->n[2] - 1];
        else if (axis == ZMPI_AXIS_Y)
            b = y + 1 < e->n[1] ? a + e->row : a;
        else
            b = z + 1 < e->n[0] ? a + e->plane : a;
        if (axes++)
            for (size_t i = 0; i < n; i++)
                sum[i] = (uint16_t)(sum[i] + a[i] + b[i]);
        else
            for (size_t i = 0; i < n; i++)
                sum[i] = (uint16_t)(a[i] + b[i]);
    }
    return axes;
}

/* ---- coding ---- */

/* Codes of values against predictions, in steps of 2^bits; the values become what is decoded. */
static void quantize(int32_t *restrict value, unsigned char *restrict size,
                     const int32_t *restrict predicted, int32_t *restrict code, size_t n, int bits)
{
    const int32_t half = 1 << (bits - 1);
    for (size_t i = 0; i < n; i++) {
        const int32_t d = value[i] == NO_VALUE ? 0 : minus(value[i], predicted[i]);
        const int32_t c = add(d, half) >> bits, a = c < 0 ? -c : c;
        code[i] = c;
        value[i] = add(predicted[i], times(c, 1u << bits));
        size[i] = (unsigned char)(a > ZMPI_INTERP_MAGNITUDE ? ZMPI_INTERP_MAGNITUDE : a);
    }
}

static void reconstruct(int32_t *restrict value, unsigned char *restrict size,
                        const int32_t *restrict predicted, const int32_t *restrict code, size_t n,
                        int bits)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t a = code[i] < 0 ? 0 - (uint32_t)code[i] : (uint32_t)code[i];
        value[i] = add(predicted[i], times(code[i], 1u << bits));
        size[i] = (unsigned char)(a > ZMPI_INTERP_MAGNITUDE ? ZMPI_INTERP_MAGNITUDE : a);
    }
}

/* How many values are not whole steps from their predictions: hardly any, if they were decoded. */
static size_t count_off(const int32_t *value, const int32_t *predicted, size_t n, int bits)
{
    const int32_t mask = (1 << bits) - 1;
    uint32_t off = 0;
    for (size_t i = 0; i < n; i++)
        off += (minus(value[i], predicted[i]) & mask) != 0 && value[i] != NO_VALUE;
    return off;
}

/* Counts of magnitudes. */
static void try_row(struct zmpi_interp_work *w, const int32_t *value, const int32_t *predicted,
                    size_t n, int bits)
{
    w->off += count_off(value, predicted, n, bits);
    w->seen += n;
    const int32_t half = 1 << (bits - 1);
    int32_t *restrict code = w->scratch[3];
    for (size_t i = 0; i < n; i++) {
        const int32_t d = value[i] == NO_VALUE ? 0 : minus(value[i], predicted[i]);
        const int32_t c = add(d, half) >> bits, a = c < 0 ? -c : c;
        code[i] = a > ZMPI_INTERP_MAGNITUDE ? ZMPI_INTERP_MAGNITUDE : a;
    }
    for (size_t i = 0; i < n; i++)
        w->tried[code[i]]++;
}

static void code_row(struct zmpi_interp_work *w, const struct cells *c, int z, int y,
                     const int32_t *predicted, int bits)
{
    const size_t n = (size_t)c->n[2];
    int32_t *code = w->scratch[3];
    if (w->mode == DECODE) {
        zmpi_interp_decode_row(w, code, n);
        reconstruct(row_of(c, z, y), sizes_of(c, z, y), predicted, code, n, bits);
    } else {
        if (w->watch) {
            w->off += count_off(row_of(c, z, y), predicted, n, bits);
            w->seen += n;
        }
        quantize(row_of(c, z, y), sizes_of(c, z, y), predicted, code, n, bits);
        zmpi_interp_code_row(w, code, n);
    }
}

static void code_class(struct zmpi_interp_work *w, const struct level *l, unsigned p, unsigned way,
                       int bits)
{
    const struct cells *c = &l->of[p];
    for (int z = 0; z < c->n[0]; z++)
        for (int y = 0; y < c->n[1]; y++) {
            const int axes = sum_sizes(w, l, p, way, z, y);
            zmpi_interp_contexts(w, c, z, y, w->sums, axes);
            predict(w, l, p, way, z, y);
            code_row(w, c, z, y, w->scratch[1], bits);
        }
}

/* The way that costs least, of those first that the values were decoded by. Magnitudes alone, since
 * signs cost the same by any. */
static unsigned choose_way(struct zmpi_interp_work *w, const struct level *l, unsigned p, int bits)
{
    const struct cells *c = &l->of[p];
    const int rows = c->n[0] * c->n[1], every = rows >= 64 ? 3 : 1;
    unsigned best = p | ZMPI_INTERP_CUBIC;
    const size_t seen = w->seen, off = w->off;
    uint64_t least = UINT64_MAX;
    bool known = false;
    for (unsigned way = 1; way < 16; way++) {
        if (way & 7 & ~p || !(way & 7))
            continue;
        memset(w->tried, 0, sizeof w->tried);
        w->seen = w->off = 0;
        for (int r = 0; r < rows; r += every) {
            predict(w, l, p, way, r / c->n[1], r % c->n[1]);
            try_row(w, row_of(c, r / c->n[1], r % c->n[1]), w->scratch[1], (size_t)c->n[2], bits);
        }
        uint64_t cost = zmpi_interp_entropy(w->logs, w->tried, ZMPI_INTERP_MAGNITUDE + 1);
        cost += (uint64_t)w->tried[ZMPI_INTERP_MAGNITUDE] << 18; /* those beyond cost more */
        const bool now = zmpi_interp_known(w);
        if ((now && !known) || (now == known && cost < least)) {
            least = cost;
            best = way;
            known = now;
        }
    }
    w->seen = seen;
    w->off = off;
    return best;
}

/* Anchors: each row from the one before. */
static void code_anchors(struct zmpi_interp_work *w, const struct cells *c, int bits)
{
    memset(w->contexts, ZMPI_INTERP_CONTEXTS - 1, (size_t)c->n[2]);
    for (int z = 0; z < c->n[0]; z++)
        for (int y = 0; y < c->n[1]; y++) {
            int32_t *before = w->scratch[1];
            const int32_t *from = y ? row_of(c, z, y - 1) : z ? row_of(c, z - 1, 0) : NULL;
            for (int i = 0; i < c->n[2]; i++)
                before[i] = from ? from[i] : 0;
            code_row(w, c, z, y, before, bits);
        }
}

void zmpi_interp_lattice(struct zmpi_interp_work *w, struct zmpi_interp_set *set, bool choose)
{
    static const unsigned char order[] = {1, 2, 4, 3, 5, 6, 7};
    const unsigned top = set->levels - 1;
    if (w->mode != DECODE)
        for (unsigned l = 0; l <= top; l++)
            split_level(&w->level[l], set->axes, l ? &w->level[l - 1].of[0] : &w->flat);
    code_anchors(w, &w->level[top].of[0], ZMPI_INTERP_STEP_BITS - set->fine[set->levels]);
    for (unsigned l = top + 1; l-- > 0;) {
        const struct level *level = &w->level[l];
        const int bits = ZMPI_INTERP_STEP_BITS - set->fine[l];
        for (unsigned k = 0; k < 7; k++) {
            const unsigned p = order[k];
            const struct cells *c = &level->of[p];
            if (p & ~set->axes)
                continue;
            if (!c->n[0] || !c->n[1] || !c->n[2])
                continue;
            if (choose)
                set->way[l][p] = (unsigned char)choose_way(w, level, p, bits);
            code_class(w, level, p, set->way[l][p], bits);
        }
        merge_level(level, set->axes, l ? &w->level[l - 1].of[0] : &w->flat);
    }
}
