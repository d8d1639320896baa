/* shape.c - the shape of an array that came as one row: divisors of its length as rows and planes.
 */
#include "judge/shape.h"

#include <math.h>
#include <string.h>

#include "bound/fill.h"
#include "bound/sample.h"

/*
 * Each divisor is looked at by few samples, the best of them by more. A shape must save so much of
 * the bits of residuals: less is chance, since the best of many is taken.
 */
enum { FEW = 64, MORE = 512, RUN = 4, BEST = 8, ROW_LEAST = 8 };
#define GAIN_ROWS   0.94
#define GAIN_PLANES 0.97
/* Exceptions in a row that are looked behind. */
enum { MASKED = 64 };
/* Where less than one residual in so many has a bit, heads of chunks are most of a stream. */
enum { LITTLE = 5 };

/* Rows that tell of the range. */
enum { RANGE_ROWS = 32, RANGE_ROW = 64 };

/* Looks in vain, after which a length has no shape. */
enum { LOOKS = 2 };

struct search {
    enum zmpi_type type;
    bool ordered;         /* integers are bits in the order of numbers */
    double inverse, keep; /* of the step, 0: none; exact from there on */
    const unsigned char *src;
    size_t have;
};

/* Lags in elements. plane 0: one plane. */
struct candidate {
    size_t row, plane;
    uint64_t bits; /* of all samples' residuals, by the best axes; UINT64_MAX: none */
};

static double value_at(const struct search *s, size_t i)
{
    double x;
    float narrow;
    if (s->type == ZMPI_F64) {
        memcpy(&x, s->src + i * sizeof x, sizeof x);
        return x;
    }
    memcpy(&narrow, s->src + i * sizeof narrow, sizeof narrow);
    return (double)narrow;
}

/* The bits of a value in the order of numbers. */
static int64_t order_of(enum zmpi_type type, double x)
{
    const float narrow = (float)x;
    int64_t bits;
    int32_t bits32;
    memcpy(&bits, &x, sizeof bits);
    memcpy(&bits32, &narrow, sizeof bits32);
    return type == ZMPI_F64 ? bits ^ (int64_t)((uint64_t)(bits >> 63) >> 1)
                            : bits32 ^ (int32_t)((uint32_t)(bits32 >> 31) >> 1);
}

/* As the encoder would quantize element i: an exception takes the integer of the element before it.
 * False: there are too many of them. */
static bool integer_at(const struct search *s, size_t i, int64_t *q)
{
    double x = value_at(s, i);
    for (size_t k = 0; !(fabs(x) < s->keep); k++) {
        if (k == MASKED || i == k)
            return false;
        x = value_at(s, i - k - 1);
    }
    const int64_t order = s->ordered ? order_of(s->type, x) : 0;
    const double v = (s->ordered ? (double)order : x) * s->inverse;
    if (!(s->inverse > 0))
        *q = order;
    else
        *q = fabs(v) < 0x1p52 ? (int64_t)(v + (v < 0 ? -0.5 : 0.5)) : 0;
    return true;
}

/* The cell of up to eight neighbours whose corner is element i, in the direction that has them all:
 * bit 0 of the place is x, bit 1 y, bit 2 z. */
static bool cell_at(const struct search *s, size_t i, const struct candidate *c, int64_t q[8])
{
    const size_t reach = 1 + c->row + c->plane;
    const bool back = i >= reach;
    for (unsigned k = 0; k < (c->plane ? 8U : c->row ? 4U : 2U); k++) {
        const size_t lag = (k & 1) + (k & 2 ? c->row : 0) + (k & 4 ? c->plane : 0);
        if (!integer_at(s, back ? i - lag : i + lag, &q[k]))
            return false;
    }
    return true;
}

static unsigned bits_of(int64_t residual)
{
    const uint64_t u = residual < 0 ? -(uint64_t)residual : (uint64_t)residual;
    return u ? 64 - (unsigned)__builtin_clzll(u) : 0;
}

/* Add the bits of a cell's residuals under each set of axes. */
static void add_bits(const int64_t q[8], unsigned sets, uint64_t sum[8])
{
    for (unsigned axes = 1; axes < sets; axes++) {
        uint64_t residual = 0;
        for (unsigned k = 0; k < sets; k++)
            if (!(k & ~axes))
                residual += __builtin_popcount(k) & 1 ? -(uint64_t)q[k] : (uint64_t)q[k];
        sum[axes] += bits_of((int64_t)residual);
    }
}

/* By runs of elements, whose places are the same for all candidates: what the data are like there
 * has no part in which is the best. */
static uint64_t cost_of(const struct search *s, const struct candidate *c, size_t runs)
{
    const unsigned sets = c->plane ? 8 : c->row ? 4 : 2;
    const size_t step = zmpi_sample_step(s->have - RUN, runs);
    uint64_t sum[8] = {0}, least = UINT64_MAX;
    for (size_t k = 0; k < runs; k++)
        for (size_t i = 0; i < RUN; i++) {
            int64_t q[8];
            if (cell_at(s, k * step + i, c, q))
                add_bits(q, sets, sum);
        }
    for (unsigned axes = 1; axes < sets; axes++)
        least = sum[axes] < least ? sum[axes] : least;
    return least;
}

/* Of the cheapest, in order. */
static void insert(struct candidate best[BEST], struct candidate c)
{
    for (int i = 0; i < BEST; i++)
        if (c.bits < best[i].bits) {
            memmove(best + i + 1, best + i, (size_t)(BEST - 1 - i) * sizeof *best);
            best[i] = c;
            return;
        }
}

static void consider(const struct search *s, size_t row, size_t plane, struct candidate best[BEST])
{
    struct candidate c = {row, plane, 0};
    if (2 * (row + plane + RUN + 1) > s->have) /* cells reach to either side */
        return;
    c.bits = cost_of(s, &c, FEW);
    insert(best, c);
}

/* All divisors d of `count` but 1 and itself: rows of d elements, if *found has none; else planes
 * of d of its rows, or, if `finer`, rows of d elements whose planes are its rows. Takes the
 * cheapest if it is cheaper than *found. */
static bool find(const struct search *s, size_t count, bool finer, struct candidate *found)
{
    struct candidate best[BEST];
    const size_t row = found->row;
    bool any = false;
    for (int i = 0; i < BEST; i++)
        best[i].bits = UINT64_MAX;
    for (size_t low = 1; low <= count / low; low++) {
        if (count % low)
            continue;
        const size_t both[2] = {low, count / low};
        for (int i = 0; i < 1 + (both[0] != both[1]); i++) {
            const size_t d = both[i];
            if (d == 1 || d == count || ((!row || finer) && d < ROW_LEAST))
                continue;
            if (!row)
                consider(s, d, 0, best);
            else if (finer)
                consider(s, d, row, best);
            else
                consider(s, row, d * row, best);
        }
    }
    for (int i = 0; i < BEST && best[i].bits < UINT64_MAX; i++) {
        best[i].bits = cost_of(s, &best[i], MORE);
        if (best[i].bits < found->bits) {
            *found = best[i];
            any = true;
        }
    }
    return any;
}

/* The step of the bound; of one that is still to be found, one that is as good as any. */
static bool begin(struct search *s, enum zmpi_type type, const struct zmpi_bound *bound,
                  double threshold, const void *src, size_t have)
{
    static const struct zmpi_bound any = {ZMPI_REL, 1e-3};
    const bool unknown = bound->mode == ZMPI_RATIO || bound->mode == ZMPI_PSNR;
    const size_t width = zmpi_type_size(type);
    const struct zmpi_array a = {type, {1, 1, have}};
    unsigned char rows[RANGE_ROWS * RANGE_ROW * sizeof(double)];
    struct zmpi_range range;
    struct zmpi_job job;
    for (size_t k = 0; k < RANGE_ROWS; k++)
        memcpy(rows + k * RANGE_ROW * width,
               (const unsigned char *)src + (have - RANGE_ROW) / (RANGE_ROWS - 1) * k * width,
               RANGE_ROW * width);
    zmpi_fill_range(type, rows, (size_t)RANGE_ROWS * RANGE_ROW, threshold, NULL, 1, &range);
    if (zmpi_job_make(&a, unknown ? &any : bound, &range, &job))
        return false;
    zmpi_job_threshold(&job, threshold);
    const bool steps = job.abs_bound > 0 && isfinite(job.abs_bound);
    *s = (struct search){
        .type = type, .ordered = !steps, .keep = job.keep, .src = src, .have = have};
    if (steps)
        s->inverse = 0.5 / job.abs_bound;
    else if (job.abs_bound > 0) /* pw_rel: a part of what the last bit of a mantissa is to 1 */
        s->inverse = 0.5 / bound->value * (type == ZMPI_F64 ? 0x1p-52 : 0x1p-23);
    return true;
}

bool zmpi_shape_find(enum zmpi_type type, const struct zmpi_bound *bound, double threshold,
                     const void *src, size_t have, size_t count, size_t shape[3])
{
    struct search s;
    shape[0] = shape[1] = 1;
    shape[2] = count;
    if (have < ZMPI_SHAPE_LEAST || (type != ZMPI_F32 && type != ZMPI_F64) ||
        !begin(&s, type, bound, threshold, src, have))
        return false;
    struct candidate rows = {0, 0, 0};
    const uint64_t alone = cost_of(&s, &rows, MORE);
    if (alone < MORE * RUN / LITTLE)
        return false;
    rows.bits = (uint64_t)(GAIN_ROWS * (double)alone);
    if (!find(&s, count, false, &rows))
        return false;
    struct candidate planes = rows, finer = rows;
    planes.bits = finer.bits = (uint64_t)(GAIN_PLANES * (double)rows.bits);
    find(&s, count / rows.row, false, &planes);
    /* The lag that was found may be that of planes; then other ones may be better. */
    if (find(&s, rows.row, true, &finer)) {
        struct candidate again = {finer.row, 0, finer.bits};
        if (find(&s, count / finer.row, false, &again))
            finer = again;
        if (finer.bits < planes.bits)
            planes = finer;
    }
    shape[2] = planes.row;
    shape[1] = (planes.plane ? planes.plane : count) / planes.row;
    shape[0] = planes.plane ? count / planes.plane : 1;
    return true;
}

/* What is known of such arrays; NULL: nothing. */
static struct zmpi_shape_entry *entry_of(struct zmpi_shape_known *known, enum zmpi_type type,
                                         size_t count)
{
    for (unsigned i = 0; i < ZMPI_SHAPE_ARRAYS; i++)
        if (known->entry[i].count == count && known->entry[i].type == type)
            return &known->entry[i];
    return NULL;
}

static bool is_open(const struct zmpi_shape_entry *e)
{
    return e->shape[1] == 1 && e->looks < LOOKS;
}

bool zmpi_shape_will_look(struct zmpi_shape_known *known, enum zmpi_type type, size_t count)
{
    const struct zmpi_shape_entry *e = entry_of(known, type, count);
    return !e || is_open(e);
}

bool zmpi_shape_recall(struct zmpi_shape_known *known, enum zmpi_type type,
                       const struct zmpi_bound *bound, double threshold, const void *src,
                       size_t have, size_t count, size_t shape[3], bool *is_new)
{
    struct zmpi_shape_entry *e = entry_of(known, type, count);
    *is_new = false;
    if (!e) {
        e = &known->entry[known->next];
        known->next = (known->next + 1) % ZMPI_SHAPE_ARRAYS;
        *e = (struct zmpi_shape_entry){type, count, {1, 1, count}, 0};
    }
    if (is_open(e)) {
        *is_new = zmpi_shape_find(type, bound, threshold, src, have, count, e->shape);
        e->looks += !*is_new;
    }
    memcpy(shape, e->shape, sizeof e->shape);
    return shape[1] > 1;
}
