/* shape.c - the shape of an array that came as one row: divisors of its length as rows and planes.
 */
#include "judge/shape.h"

#include <math.h>
#include <string.h>

#include "bound/fill.h"
#include "bound/sample.h"
#include "judge/components.h"

/*
 * FEW samples rate each divisor, MORE samples the best of them. A shape must bring the bits of
 * residuals below GAIN times what they were: less is chance, since the best of many is taken.
 */
enum { FEW = 64, MORE = 512, BATCH = 16, RUN = 4, BEST = 8, ROW_LEAST = 8 };
#define GAIN_ROWS   0.94
#define GAIN_PLANES 0.97
/* A shape must also bring the bytes of some coded chunks below this part of theirs: bits of
 * residuals do not show which chunks hold values that make them exact. */
#define GAIN_BYTES 0.99
/* So many chunks tell which of a few shapes to take, of arrays of so many elements. */
enum { FEW_CHUNKS = 8, CHOOSE_LEAST = 512 };
/* Exceptions in a row that the search skips to find an integer. */
enum { MASKED = 64 };
/* If fewer than one residual in so many has a bit, heads of chunks make up most of a stream. */
enum { LITTLE = 5 };

/* Rows of samples for the range. */
enum { RANGE_ROWS = 32, RANGE_ROW = 64 };

/* After so many searches in vain a length has no shape. */
enum { LOOKS = 2 };

/* The integers of a run, and their differences from those a known lag away (a row or a plane), each
 * without and with a difference along x. Element i is `fine` if it has all of these. */
struct half {
    bool fine[RUN];
    uint64_t q[2][2][RUN]; /* without and with the known lag; without and with x */
};

struct search {
    struct zmpi_job job;
    enum zmpi_type type;
    bool ordered;         /* integers are bits in the order of numbers */
    double inverse, keep; /* of the step, 0: none; keep: values from there on are exact */
    const unsigned char *src;
    size_t apart; /* bytes from one element to the next */
    size_t have;
    size_t known; /* the lag that all candidates share; 0: none */
    struct half few[FEW];
    uint64_t alone; /* bits of the first batch of few[], without another lag */
};

/* Lags in elements. plane 0: one plane. */
struct candidate {
    size_t row, plane;
    uint64_t bits; /* of all samples' residuals, with the best axes; UINT64_MAX: none */
};

static double value_at(const struct search *s, size_t i)
{
    double x;
    float narrow;
    if (s->type == ZMPI_F64) {
        memcpy(&x, s->src + i * s->apart, sizeof x);
        return x;
    }
    memcpy(&narrow, s->src + i * s->apart, sizeof narrow);
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

/* Quantizes element i as the encoder would: an exception takes the integer of the element before
 * it. False: too many exceptions follow each other. */
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

static unsigned bits_of(int64_t residual)
{
    const uint64_t u = residual < 0 ? -(uint64_t)residual : (uint64_t)residual;
    return u ? 64 - (unsigned)__builtin_clzll(u) : 0;
}

/* Runs in the second half of the array look back, those in the first half ahead. So all candidates
 * use the same runs, and differences between places of the array do not favour one. */
static bool looks_back(const struct search *s, size_t run)
{
    return run >= s->have / 2;
}

/* Where the integers begin that are `lag` away from a run. */
static size_t first_at(const struct search *s, size_t run, size_t lag)
{
    return looks_back(s, run) ? run - 1 - lag : run + lag;
}

static void take_row(const struct search *s, size_t run, size_t lag, bool fine[RUN],
                     uint64_t q[2][RUN])
{
    const size_t back = looks_back(s, run), first = first_at(s, run, lag);
    int64_t value[RUN + 1];
    bool has[RUN + 1];
    for (size_t i = 0; i <= RUN; i++) {
        value[i] = 0;
        has[i] = integer_at(s, first + i, &value[i]);
    }
    for (size_t i = 0; i < RUN; i++) {
        fine[i] = fine[i] && has[i] && has[i + 1];
        q[0][i] = (uint64_t)value[i + back];
        q[1][i] = q[0][i] - (uint64_t)value[i + 1 - back];
    }
}

static void take_half(const struct search *s, size_t run, size_t lag, struct half *h)
{
    for (size_t i = 0; i < RUN; i++)
        h->fine[i] = true;
    take_row(s, run, lag, h->fine, h->q[0]);
    if (!s->known)
        return;
    take_row(s, run, lag + s->known, h->fine, h->q[1]);
    for (size_t x = 0; x < 2; x++)
        for (size_t i = 0; i < RUN; i++)
            h->q[1][x][i] = h->q[0][x][i] - h->q[1][x][i];
}

/* Where run k of `runs` begins; runs are `step` apart. Each batch spreads over the whole array. */
static size_t run_at(size_t k, size_t runs, size_t step)
{
    return (k % BATCH * (runs / BATCH) + k / BATCH) * step;
}

/* Prefetches all runs of a batch, so that their cache misses overlap. */
static void prefetch(const struct search *s, size_t k, size_t runs, size_t step, size_t lag)
{
    size_t run = run_at(k, runs, step);
    for (size_t i = 0; i < BATCH; i++, run += runs / BATCH * step) {
        __builtin_prefetch(s->src + first_at(s, run, lag) * s->apart);
        if (s->known)
            __builtin_prefetch(s->src + first_at(s, run, lag + s->known) * s->apart);
    }
}

/* Bits of residuals: without and with the known lag, without and with x. */
struct bits {
    uint64_t sum[2][2];
};

static void add_run(const struct search *s, const struct half *a, const struct half *b,
                    struct bits *bits)
{
    for (size_t i = 0; i < RUN; i++)
        for (size_t known = 0; known < (s->known ? 2 : 1); known++)
            for (size_t x = 0; x < 2; x++)
                if (a->fine[i] && b->fine[i])
                    bits->sum[known][x] +=
                        bits_of((int64_t)(a->q[known][x][i] - b->q[known][x][i]));
}

/* The bits with the best axes. Axes with neither a lag nor x predict nothing and do not count. */
static uint64_t least_of(const struct search *s, const struct bits *bits, size_t lag)
{
    uint64_t least = bits->sum[0][1];
    if (lag)
        least = bits->sum[0][0] < least ? bits->sum[0][0] : least;
    for (size_t x = 0; x < 2 && s->known; x++)
        least = bits->sum[1][x] < least ? bits->sum[1][x] : least;
    return least;
}

/* Returns the bits of residuals: by x alone, or (lag) with the best axes that include this lag. It
 * stops early, with `limit` or more, when the bits reach `limit`, or when the first batch has far
 * too many. */
static uint64_t cost_of(const struct search *s, size_t lag, size_t runs, uint64_t limit)
{
    const struct half none = {.fine = {true, true, true, true}};
    const size_t step = zmpi_sample_step(s->have - RUN, runs);
    struct bits bits = {{{0}}};
    uint64_t least = 0;
    for (size_t k = 0; k < runs && least < limit; k++) {
        struct half own, other;
        if (k == BATCH && lag && runs == FEW && least > s->alone + s->alone / 8 + BATCH)
            return UINT64_MAX;
        if (k % BATCH == 0)
            prefetch(s, k, runs, step, lag);
        if (runs > FEW)
            take_half(s, run_at(k, runs, step), 0, &own);
        if (lag)
            take_half(s, run_at(k, runs, step), lag, &other);
        add_run(s, runs > FEW ? &own : &s->few[k], lag ? &other : &none, &bits);
        least = least_of(s, &bits, lag);
    }
    return least;
}

/* Keeps the cheapest candidates, in order. */
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
    if (2 * (row + plane + RUN + 1) > s->have) /* a run needs its neighbours on either side */
        return;
    c.bits = cost_of(s, row + plane - s->known, FEW, best[BEST - 1].bits);
    insert(best, c);
}

/* Takes the data that all candidates share. */
static void know(struct search *s, size_t lag)
{
    const struct half none = {.fine = {true, true, true, true}};
    const size_t step = zmpi_sample_step(s->have - RUN, FEW);
    struct bits bits = {{{0}}};
    s->known = lag;
    for (size_t k = 0; k < FEW; k++) {
        take_half(s, run_at(k, FEW, step), 0, &s->few[k]);
        if (k < BATCH)
            add_run(s, &s->few[k], &none, &bits);
    }
    s->alone = least_of(s, &bits, 0);
}

/* The bits that rows must come below. 0: there is little to save. */
static uint64_t bits_to_beat(const struct search *s)
{
    const uint64_t alone = cost_of(s, 0, MORE, UINT64_MAX);
    return alone < MORE * RUN / LITTLE ? 0 : (uint64_t)(GAIN_ROWS * (double)alone);
}

/* Begins with candidates that share a lag, and must be cheaper than without another. */
static void begin_best(struct search *s, size_t lag, struct candidate best[BEST])
{
    know(s, lag);
    const uint64_t alone = cost_of(s, 0, FEW, UINT64_MAX);
    for (int i = 0; i < BEST; i++)
        best[i] = (struct candidate){0, 0, alone};
}

/* Tries all divisors d of `count` but 1 and itself. If *found has no rows, they are rows of d
 * elements; else planes of d of its rows, or, if `finer`, rows of d elements whose planes are its
 * rows. Changes *found to the cheapest if that is cheaper. True: it did. */
static bool find(struct search *s, size_t count, bool finer, struct candidate *found)
{
    struct candidate best[BEST];
    const size_t row = found->row;
    bool any = false;
    begin_best(s, row, best);
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
    if (best[0].row && found->bits == UINT64_MAX)
        found->bits = bits_to_beat(s);
    for (int i = 0; i < BEST && best[i].row; i++) {
        best[i].bits = cost_of(s, best[i].row + best[i].plane - row, MORE, found->bits);
        if (best[i].bits < found->bits) {
            *found = best[i];
            any = true;
        }
    }
    return any;
}

/* Prepares a search with the step of the bound. A bound that is still to be found has no step yet:
 * any usual one serves. */
static bool begin(struct search *s, enum zmpi_type type, const struct zmpi_bound *bound,
                  double threshold, const struct zmpi_column *data)
{
    static const struct zmpi_bound any = {ZMPI_REL, 1e-3};
    const bool unknown = bound->mode == ZMPI_RATIO || bound->mode == ZMPI_PSNR;
    const size_t width = zmpi_type_size(type), n = (size_t)data->of;
    const struct zmpi_array a = {type, {1, 1, data->have}};
    unsigned char rows[RANGE_ROWS * RANGE_ROW * sizeof(double)];
    struct zmpi_range range;
    struct zmpi_job job;
    for (size_t k = 0; k < RANGE_ROWS; k++)
        zmpi_component_take(type,
                            (const unsigned char *)data->at +
                                (data->have - RANGE_ROW) / (RANGE_ROWS - 1) * k * n * width,
                            RANGE_ROW * n, data->of, 0, rows + k * RANGE_ROW * width);
    zmpi_fill_range(type, rows, (size_t)RANGE_ROWS * RANGE_ROW, threshold, NULL, 1, &range);
    if (zmpi_job_make(&a, unknown ? &any : bound, &range, &job))
        return false;
    zmpi_job_threshold(&job, threshold);
    const bool steps = job.abs_bound > 0 && isfinite(job.abs_bound);
    *s = (struct search){.job = job,
                         .type = type,
                         .ordered = !steps,
                         .keep = job.keep,
                         .src = data->at,
                         .apart = n * width,
                         .have = data->have};
    if (steps)
        s->inverse = 0.5 / job.abs_bound;
    else if (job.abs_bound > 0) /* pw_rel: in units of the mantissa's last bit */
        s->inverse = 0.5 / bound->value * (type == ZMPI_F64 ? 0x1p-52 : 0x1p-23);
    return true;
}

bool zmpi_shape_find(enum zmpi_type type, const struct zmpi_bound *bound, double threshold,
                     const struct zmpi_column *data, size_t count, size_t shape[3])
{
    struct search s;
    shape[0] = shape[1] = 1;
    shape[2] = count;
    if (data->have < ZMPI_SHAPE_LEAST || (type != ZMPI_F32 && type != ZMPI_F64) ||
        !begin(&s, type, bound, threshold, data))
        return false;
    struct candidate rows = {0, 0, UINT64_MAX};
    const size_t one_row[3] = {1, 1, count};
    if (!find(&s, count, false, &rows))
        return false;
    struct candidate planes = rows, finer = rows;
    planes.bits = finer.bits = (uint64_t)(GAIN_PLANES * (double)rows.bits);
    find(&s, count / rows.row, false, &planes);
    /* The lag that was found may be that of planes; then other rows may be better. */
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
    if (zmpi_shape_bytes(&s.job, data, shape, ZMPI_SHAPE_CHUNKS) <
        GAIN_BYTES * zmpi_shape_bytes(&s.job, data, one_row, ZMPI_SHAPE_CHUNKS))
        return true;
    memcpy(shape, one_row, sizeof one_row);
    return false;
}

size_t zmpi_shape_planes(enum zmpi_type type, const struct zmpi_bound *bound, double threshold,
                         const struct zmpi_column *data, size_t row, size_t unit, size_t most,
                         size_t rows[], size_t n)
{
    struct search s;
    struct candidate best[BEST], again[BEST];
    size_t found = 0;
    if (data->have < ZMPI_SHAPE_LEAST || (type != ZMPI_F32 && type != ZMPI_F64) || row < 2 ||
        2 * (row + RUN + 1) > data->have || !begin(&s, type, bound, threshold, data))
        return 0;
    begin_best(&s, row, best);
    const uint64_t limit = (uint64_t)(GAIN_PLANES * (double)cost_of(&s, 0, MORE, UINT64_MAX));
    for (size_t d = 2; d <= most && 2 * d * unit * row <= data->have; d++)
        consider(&s, row, d * unit * row, best);
    for (int i = 0; i < BEST; i++)
        again[i] = (struct candidate){0, 0, limit};
    for (int i = 0; i < BEST && best[i].row; i++) {
        best[i].bits = cost_of(&s, best[i].plane, MORE, limit);
        insert(again, best[i]);
    }
    for (; found < BEST && found < n && again[found].row; found++)
        rows[found] = again[found].plane / row;
    return found;
}

/* What an element takes in planes of so many rows. */
static double element_cost(const struct search *s, const struct zmpi_column *data, size_t row,
                           size_t rows, int encoder)
{
    const size_t shape[3] = {data->have / (rows * row), rows, row};
    if (encoder == ZMPI_FLE)
        return zmpi_shape_bytes(&s->job, data, shape, FEW_CHUNKS);
    const size_t lag = shape[0] > 1 ? rows * row : 0;
    if (2 * (row + lag + RUN + 1) > data->have)
        return (double)INFINITY;
    return (double)cost_of(s, lag, MORE, UINT64_MAX);
}

size_t zmpi_shape_choose(enum zmpi_type type, const struct zmpi_bound *bound, double threshold,
                         int encoder, const struct zmpi_column *data, size_t row,
                         const size_t rows[], size_t n)
{
    struct search s;
    size_t best = 0;
    double least = 0;
    if (n < 2 || data->have < CHOOSE_LEAST || (type != ZMPI_F32 && type != ZMPI_F64) ||
        2 * (row + RUN + 1) > data->have || !begin(&s, type, bound, threshold, data))
        return 0;
    know(&s, row);
    for (size_t i = 0; i < n; i++) {
        const double cost = element_cost(&s, data, row, rows[i], encoder);
        if (i == 0 || cost < least) {
            best = i;
            least = i ? cost : GAIN_BYTES * cost;
        }
    }
    return best;
}

/* Returns the entry for such arrays; NULL: none. */
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
                       const struct zmpi_bound *bound, double threshold,
                       const struct zmpi_column *data, size_t count, size_t shape[3], bool *is_new)
{
    struct zmpi_shape_entry *e = entry_of(known, type, count);
    *is_new = false;
    if (!e) {
        e = &known->entry[known->next];
        known->next = (known->next + 1) % ZMPI_SHAPE_ARRAYS;
        *e = (struct zmpi_shape_entry){type, count, {1, 1, count}, 0};
    }
    if (is_open(e)) {
        *is_new = zmpi_shape_find(type, bound, threshold, data, count, e->shape);
        e->looks += !*is_new;
    }
    memcpy(shape, e->shape, sizeof e->shape);
    return shape[1] > 1;
}
