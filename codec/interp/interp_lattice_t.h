/*
 * interp_lattice_t.h - template: prediction from coarse to fine (format.md 1.5). The points of a
 * level are kept by class, by whether their coordinates are even or odd, so that every reference is
 * a row of another class.
 */

/* Take even and odd elements apart, and put them together again. */
static void split_row(const int32_t *restrict src, int n, int32_t *restrict even,
                      int32_t *restrict odd)
{
    const size_t m = whole((size_t)n + 1, 32) / 2;
    for (size_t i = 0; i < m; i++) {
        even[i] = src[2 * i];
        odd[i] = src[2 * i + 1];
    }
}

/* Puts rows of values, or of sizes, together. Without `by_x` there are no odd elements. */
#define MERGE(name, T)                                                                             \
    static void name(T *restrict dst, int n, const T *restrict even, const T *restrict odd,        \
                     bool by_x)                                                                    \
    {                                                                                              \
        if (!by_x)                                                                                 \
            memcpy(dst, even, (size_t)n * sizeof *dst);                                            \
        for (int i = 0; i < n / 2 && by_x; i++) {                                                  \
            dst[2 * i] = even[i];                                                                  \
            dst[2 * i + 1] = odd[i];                                                               \
        }                                                                                          \
        if (n & 1 && by_x)                                                                         \
            dst[n - 1] = even[n / 2];                                                              \
    }
MERGE(merge_row, int32_t)
MERGE(merge_sizes, unsigned char)
#undef MERGE

/* Returns the class of row z, y of a level, apart from its axis x; z and y become the row's place
 * in it. */
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

/* ---- prediction ---- */

/* Extrapolate the points outside: v[-1], v[n] and v[n + 1] of n even points. a, b, c: the first
 * three, or the last three from the end; as many as there are. */
static int32_t before_first(int n, int32_t a, int32_t b, int32_t c)
{
    if (n >= 3)
        return add(minus(times(a, 3), times(b, 3)), c);
    return n == 2 ? minus(times(a, 2), b) : a;
}

/* These two are for axes that end with an odd point. */
static int32_t behind_odd(int n, int32_t a, int32_t b)
{
    return n > 1 ? minus(times(a, 2), b) : a;
}

static int32_t behind_that(int n, int32_t a, int32_t b)
{
    return n > 1 ? minus(times(a, 3), times(b, 2)) : a;
}

/* Returns row j of the even points along an axis, `apart` cells apart. A row outside is
 * extrapolated to `outside`. */
static const int32_t *even_row(const int32_t *first, size_t apart, int j, int even, int odd,
                               size_t n, int32_t *outside)
{
    if (j >= 0 && j < even)
        return first + (size_t)j * apart;
    const int step = j < 0 ? 1 : -1, from = j < 0 ? 0 : even - 1;
    const int32_t *a = first + (size_t)from * apart;
    const int32_t *b = even > 1 ? first + (size_t)(from + step) * apart : a;
    const int32_t *c = even > 2 ? first + (size_t)(from + 2 * step) * apart : a;
    if (j < 0 || even > odd)
        for (size_t i = 0; i < n; i++)
            outside[i] = before_first(even, a[i], b[i], c[i]);
    else if (j == even)
        for (size_t i = 0; i < n; i++)
            outside[i] = behind_odd(even, a[i], b[i]);
    else
        for (size_t i = 0; i < n; i++)
            outside[i] = behind_that(even, a[i], b[i]);
    return outside;
}

static void cubic(int32_t *restrict out, const int32_t *a, const int32_t *b, const int32_t *c,
                  const int32_t *d, size_t n)
{
    const size_t m = whole(n, 16);
    for (size_t i = 0; i < m; i++)
        out[i] = add(minus(times(add(b[i], c[i]), 9), add(a[i], d[i])), 8) >> 4;
}

static void linear(int32_t *restrict out, const int32_t *b, const int32_t *c, size_t n)
{
    const size_t m = whole(n, 16);
    for (size_t i = 0; i < m; i++)
        out[i] = add(times(add(b[i], c[i]), 8), 8) >> 4;
}

static void mean2(int32_t *restrict out, const int32_t *a, const int32_t *b, size_t n)
{
    const size_t m = whole(n, 16);
    for (size_t i = 0; i < m; i++)
        out[i] = add(add(a[i], b[i]), 1) >> 1;
}

static void mean3(int32_t *restrict out, const int32_t *a, const int32_t *b, const int32_t *c,
                  size_t n)
{
    const size_t m = whole(n, 16);
    for (size_t i = 0; i < m; i++)
        out[i] = add(add(times(add(a[i], c[i]), 5), times(b[i], 6)), 8) >> 4;
}

/* Extrapolates points outside along x into the pads of class e, which has the even points; class c
 * has the odd ones. */
static void pad_values(const struct cells *e, const struct cells *c)
{
    const int m = e->n[2];
    for (int z = 0; z < c->n[0] && c->n[2]; z++)
        for (int y = 0; y < c->n[1]; y++) {
            int32_t *v = row_of(e, z, y);
            const int32_t a = v[m - 1], b = m > 1 ? v[m - 2] : a, last = m > 2 ? v[m - 3] : a;
            v[-1] = before_first(m, v[0], m > 1 ? v[1] : v[0], m > 2 ? v[2] : v[0]);
            v[m] = m > c->n[2] ? before_first(m, a, b, last) : behind_odd(m, a, b);
            v[m + 1] = behind_that(m, a, b);
        }
}

/* Predicts from the even rows, or planes, j - 1 to j + 2, which are `apart` cells apart. */
static void across(struct zmpi_interp_work *w, const int32_t *first, size_t apart, int j, int even,
                   int odd, bool is_cubic, size_t n, int32_t *out)
{
    const int32_t *b = even_row(first, apart, j, even, odd, n, NULL);
    const int32_t *c = even_row(first, apart, j + 1, even, odd, n, w->scratch[4]);
    if (!is_cubic) {
        linear(out, b, c, n);
        return;
    }
    const int32_t *a = even_row(first, apart, j - 1, even, odd, n, w->scratch[0]);
    const int32_t *d = even_row(first, apart, j + 2, even, odd, n, w->scratch[5]);
    cubic(out, a, b, c, d, n);
}

/* Predicts a strip of class p along one axis. */
static void along(struct zmpi_interp_work *w, const struct level *l, unsigned p, unsigned axis,
                  bool is_cubic, const struct strip *s, int32_t *out)
{
    const struct cells *c = &l->of[p], *e = &l->of[p ^ axis];
    if (axis == ZMPI_AXIS_X) {
        const int32_t *v = row_of(e, s->z, s->y);
        if (is_cubic)
            cubic(out, v - 1, v, v + 1, v + 2, s->n);
        else
            linear(out, v, v + 1, s->n);
    } else if (axis == ZMPI_AXIS_Z) {
        across(w, row_of(e, 0, s->y), e->plane, s->z, e->n[0], c->n[0], is_cubic, s->n, out);
    } else {
        /* All rows whose references lie inside are predicted at once. */
        const int end = s->y + s->rows, inner = end < e->n[1] - 2 ? end : e->n[1] - 2;
        for (int y = s->y, rows; y < end; y += rows) {
            rows = y >= 1 && y < inner ? inner - y : 1;
            across(w, row_of(e, s->z, 0), e->row, y, e->n[1], c->n[1], is_cubic,
                   strip_of(c, s->z, y, rows).n, out + (size_t)(y - s->y) * c->row);
        }
    }
}

/* Predictions along the axes are in scratch from here on. */
enum { ALONG = 6 };

/* Returns the mean of n predictions along `axes`. */
static const int32_t *mean(struct zmpi_interp_work *w, unsigned axes, size_t n)
{
    int32_t *out = w->scratch[1], *const *a = w->scratch + ALONG;
    if (axes == (ZMPI_AXIS_X | ZMPI_AXIS_Y | ZMPI_AXIS_Z))
        mean3(out, a[0], a[1], a[2], n);
    else if (axes & (axes - 1))
        mean2(out, a[!(axes & ZMPI_AXIS_X)], a[1 + !!(axes & ZMPI_AXIS_Z)], n);
    else
        return a[axes / 2];
    return out;
}

/* Predicts a strip along each axis of the way. */
static void predict_along(struct zmpi_interp_work *w, const struct level *l, unsigned p,
                          unsigned way, const struct strip *s)
{
    for (unsigned axis = 1; axis < 8; axis *= 2)
        if (way & axis)
            along(w, l, p, axis, way & ZMPI_INTERP_CUBIC, s, w->scratch[ALONG + axis / 2]);
}

/* Predicts a strip. */
static const int32_t *predict(struct zmpi_interp_work *w, const struct level *l, unsigned p,
                              unsigned way, const struct strip *s)
{
    predict_along(w, l, p, way, s);
    return mean(w, way & 7, s->n);
}

static void add_sizes(uint16_t *restrict sum, const unsigned char *a, const unsigned char *b,
                      size_t n, bool first)
{
    if (first)
        for (size_t i = 0; i < n; i++)
            sum[i] = (uint16_t)(a[i] + b[i]);
    else
        for (size_t i = 0; i < n; i++)
            sum[i] = (uint16_t)(sum[i] + a[i] + b[i]);
}

/* Adds up the sizes at the reference points in w->sums. Returns over how many axes. */
static int sum_sizes(struct zmpi_interp_work *w, const struct level *l, unsigned p, unsigned way,
                     const struct strip *s)
{
    const struct cells *c = &l->of[p];
    int axes = 0;
    for (unsigned axis = 1; axis < 8; axis *= 2) {
        if (!(way & axis))
            continue;
        const struct cells *e = &l->of[p ^ axis];
        const unsigned char *a = sizes_of(e, s->z, s->y), *b = a + 1;
        const size_t last = (size_t)(s->rows - 1) * e->row;
        const bool ends = axis == ZMPI_AXIS_Y && s->y + s->rows == e->n[1]; /* no row follows */
        if (axis == ZMPI_AXIS_Z)
            b = s->z + 1 < e->n[0] ? a + e->plane : a;
        if (axis == ZMPI_AXIS_Y)
            b = a + e->row;
        add_sizes(w->sums, a, b, ends ? last : whole(s->n, 32), axes == 0);
        if (ends)
            add_sizes(w->sums + last, a + last, a + last, whole((size_t)c->n[2], 32), axes == 0);
        axes++;
    }
    return axes;
}

/* ---- coding ---- */

// Both predict, too; planes are chosen by the costs of ways.
#include "interp/interp_ways_t.h"

#include "interp/interp_planes_t.h"

/* Codes a strip. */
static void code_strip(struct zmpi_interp_work *w, const struct cells *c, const struct strip *s,
                       const struct coded *by)
{
    int32_t *value = row_of(c, s->z, s->y);
    const int32_t *before = whole_before(w, c, s);
    if (w->mode == DECODE) {
        take_strip(w, c, s, by, value);
        if (by->anchors) /* other classes are predicted from differences alone */
            keep_whole(w, c, s, before);
        return;
    }
    if (before)
        subtract(value, value, before, s->n);
    for (int k = 0; k < s->rows && w->watch; k++) {
        const size_t at = (size_t)k * c->row;
        w->off += count_off(value + at, by->predicted + at, (size_t)c->n[2], by->bits);
        w->seen += (size_t)c->n[2];
    }
    put_strip(w, c, s, by);
    keep_whole(w, c, s, before);
}

/* Writes a row of the decoded tile. */
static void give_whole(struct zmpi_interp_work *w, const int32_t *value, const struct strip *row)
{
    const int32_t *before = whole_before(w, &w->flat, row);
    int32_t *restrict whole = row_of(&w->flat, row->z, row->y);
    if (before)
        for (size_t i = 0; i < row->n; i++)
            whole[i] = add(value[i], before[i]);
    else if (w->lag)
        memcpy(whole, value, row->n * sizeof *whole);
    give_row(w, w->lag ? whole : value, 0, row->z, row->y);
}

/* The plane in the next finer level of plane z of class p. */
static int joined_z(unsigned axes, unsigned p, int z)
{
    return axes & ZMPI_AXIS_Z ? 2 * z + !!(p & ZMPI_AXIS_Z) : z;
}

/* Puts together the rows that have the points of a strip of class p: along x, those are the odd
 * ones. The rows are of the next finer level, or of the tile. */
static void join_strip(struct zmpi_interp_work *w, unsigned l, unsigned axes, unsigned p,
                       const struct strip *s)
{
    const bool decode = w->mode == DECODE, by_x = axes & ZMPI_AXIS_X;
    const struct cells *odd = &w->level[l].of[p],
                       *even = &w->level[l].of[p & ~(unsigned)ZMPI_AXIS_X];
    const struct cells *to = l ? &w->level[l - 1].of[0] : &w->flat;
    const int n = to->n[2], z = joined_z(axes, p, s->z), dy = axes & ZMPI_AXIS_Y ? 2 : 1;
    if (!l && !decode && !w->wanted)
        return;
    for (int k = s->y; k < s->y + s->rows; k++) {
        const int y = dy * k + !!(p & ZMPI_AXIS_Y);
        const struct strip row = strip_of(to, z, y, 1);
        int32_t *value = l ? row_of(to, z, y) : w->scratch[0];
        if (!decode && (w->lag || !l))
            merge_row(whole_of(to, z, y), n, whole_of(even, s->z, k), whole_of(odd, s->z, k), by_x);
        if (l || decode)
            merge_row(value, l ? n : (int)whole((size_t)n, 32), row_of(even, s->z, k),
                      row_of(odd, s->z, k), by_x);
        if (!l && decode)
            give_whole(w, value, &row);
        if (!l)
            continue;
        merge_sizes(sizes_of(to, z, y), n, sizes_of(even, s->z, k), sizes_of(odd, s->z, k), by_x);
        pad_sizes(to, &row);
    }
}

/* Goes on to the next strip of class p of level l, predicts it if it has points, and codes it; in
 * decoders take_runs does that. False: there is none. */
static bool begin_strip(struct zmpi_interp_work *w, const struct zmpi_interp_set *set, unsigned l,
                        unsigned p, struct strip *s)
{
    const struct level *level = &w->level[l];
    const struct cells *c = &level->of[p];
    const int bits = ZMPI_INTERP_STEP_BITS - set->fine[l], dy = set->axes & ZMPI_AXIS_Y ? 2 : 1;
    const int next = s->y + s->rows;
    if (!c->n[1] || s->z + (next >= c->n[1]) >= c->n[0])
        return false;
    *s = next < c->n[1] ? next_strip(c, s->z, next) : next_strip(c, s->z + 1, 0);
    w->run.ahead.bytes = 0;
    if (w->mode == DECODE && !l && (p & ZMPI_AXIS_X || !(set->axes & ZMPI_AXIS_X)))
        fetch_rows(w, joined_z(set->axes, p, s->z), dy * s->y + !!(p & ZMPI_AXIS_Y), dy);
    if (!p || !c->n[2])
        return true;
    const int axes = sum_sizes(w, level, p, set->way[l][p], s);
    const int32_t *predicted = predict(w, level, p, set->way[l][p], s);
    const struct coded by = {predicted, bits, w->sums, axes, false};
    if (w->mode == DECODE)
        begin_take(w, c, s, &by, row_of(c, s->z, s->y));
    else
        code_strip(w, c, s, &by);
    return true;
}

/* Codes class p of level l, if it has points, and puts the rows together that it completes. Strips
 * of two chunks are decoded side by side. */
static void code_class(struct zmpi_interp_work *w, const struct zmpi_interp_set *set, unsigned l,
                       unsigned p)
{
    struct zmpi_interp_work *const with = w->with;
    struct strip s = {0}, other = {0};
    const bool joins = p & ZMPI_AXIS_X || !(set->axes & ZMPI_AXIS_X);
    for (bool more = true, two = with; more || two;) {
        more = more && begin_strip(w, set, l, p, &s);
        two = two && begin_strip(with, set, l, p, &other);
        take_runs(w);
        if (more && joins)
            join_strip(w, l, set->axes, p, &s);
        if (two && joins)
            join_strip(with, l, set->axes, p, &other);
    }
}

/* Codes anchors. Each row is predicted from the one before; the first row of a plane that is coded
 * as a difference is predicted from zeros. */
static void code_anchors(struct zmpi_interp_work *w, const struct cells *c, int bits)
{
    memset(w->contexts, ZMPI_INTERP_CONTEXTS - 1, (size_t)c->n[2]);
    for (int z = 0; z < c->n[0]; z++)
        for (int y = 0; y < c->n[1]; y++) {
            const struct strip s = strip_of(c, z, y, 1);
            const int32_t *before = y                              ? row_of(c, z, y - 1)
                                    : z && !whole_before(w, c, &s) ? whole_of(c, z - 1, 0)
                                                                   : NULL;
            int32_t *predicted = w->scratch[1];
            for (int i = 0; i < c->n[2]; i++)
                predicted[i] = before ? before[i] : 0;
            code_strip(w, c, &s, &(struct coded){predicted, bits, NULL, 0, true});
        }
}

/* Sets w->unlike if too many values of a level are off. A level of few points may have some
 * exceptions. */
static void watch_level(struct zmpi_interp_work *w, size_t seen, size_t off)
{
    w->unlike |= w->off - off > (w->seen - seen) / 8 + 2;
}

static void lattice(struct zmpi_interp_work *w, struct zmpi_interp_set *set, bool choose)
{
    static const unsigned char order[] = {0, 1, 2, 4, 3, 5, 6, 7};
    const unsigned top = set->levels - 1;
    if (w->mode != DECODE)
        for (unsigned l = 0; l <= top; l++)
            split_level(&w->level[l], set->axes, l ? &w->level[l - 1].of[0] : &w->flat);
    if (w->mode != DECODE && w->lag)
        choose_planes(w, set);
    for (struct zmpi_interp_work *v = w; v; v = v->with) {
        v->run.ahead.bytes = 0;
        code_anchors(v, &v->level[top].of[0], ZMPI_INTERP_STEP_BITS - set->fine[set->levels]);
    }
    for (unsigned l = top + 1; l-- > 0;) {
        const struct level *level = &w->level[l];
        const size_t seen = w->seen, off = w->off;
        const int bits = ZMPI_INTERP_STEP_BITS - set->fine[l];
        for (unsigned k = 0; k < 8; k++) {
            const unsigned p = order[k];
            const struct cells *c = &level->of[p];
            if (p & ~set->axes)
                continue;
            for (struct zmpi_interp_work *v = w; v && p & ZMPI_AXIS_X; v = v->with)
                pad_values(&v->level[l].of[p ^ ZMPI_AXIS_X], &v->level[l].of[p]);
            if (choose && p && c->n[0] && c->n[1] && c->n[2])
                set->way[l][p] = (unsigned char)choose_way(w, level, p, bits);
            code_class(w, set, l, p);
        }
        watch_level(w, seen, off);
    }
}
