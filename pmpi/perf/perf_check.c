/* perf_check.c - what bounds allow, and whether the values that arrived keep to it. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app_common.h"
#include "perf.h"

/* ---- bounds ---- */

enum mode { ABS, REL, PW_REL, PSNR, RATIO, LOSSLESS };

/* By mode; the values lie between these, exclusively. */
static const struct {
    const char *name;
    double least, most;
} modes[] = {{"abs=", 0, INFINITY},
             {"rel=", 0, INFINITY},
             {"pw_rel=", 0, 1},
             {"psnr=", 0, 301},
             {"ratio=", 1, INFINITY}};

static enum mode mode_of(const char *bound, double *value)
{
    for (int i = 0; i < LOSSLESS; i++) {
        size_t length = strlen(modes[i].name);
        char *end = NULL;
        if (strncmp(bound, modes[i].name, length) == 0) {
            *value = strtod(bound + length, &end);
            *value = end != bound + length && *end == '\0' ? *value : (double)NAN;
            return (enum mode)i;
        }
    }
    *value = strcmp(bound, "lossless") == 0 ? 0 : (double)NAN;
    return LOSSLESS;
}

bool perf_bound_known(const char *bound)
{
    double value;
    enum mode mode = mode_of(bound, &value);
    return mode == LOSSLESS ? !isnan(value) : value > modes[mode].least && value < modes[mode].most;
}

bool perf_bound_is_ratio(const struct perf_variant *v)
{
    double value;
    return v->bound != NULL && mode_of(v->bound, &value) == RATIO;
}

static struct perf_limit limit_of(const struct perf_variant *v, const struct perf_range *range,
                                  double found)
{
    struct perf_limit limit = {0, 0, 0};
    double value = 0, width = range->max > range->min ? range->max - range->min : 0;
    switch (v->bound != NULL ? mode_of(v->bound, &value) : LOSSLESS) {
    case ABS:
        limit.abs = value;
        break;
    case REL:
        limit.abs = value * width;
        break;
    case PW_REL:
        limit.relative = value;
        break;
    case PSNR:
        limit.rmse = width * pow(10, -value / 20);
        break;
    case RATIO:
        limit.abs = found;
        break;
    default:
        break;
    }
    return limit;
}

void perf_limits(const struct perf_variant *v, const struct perf_range range[PERF_COMPONENTS],
                 double found, struct perf_limit limit[PERF_COMPONENTS])
{
    for (int c = 0; c < PERF_COMPONENTS; c++) {
        limit[c] = limit_of(v, &range[c], found);
    }
}

/* ---- verification ---- */

/* The largest allowed error of a value; 0: none. */
static double allowed_for(const struct perf_limit *limit, double x)
{
    return limit->rmse > 0 ? DBL_MAX : limit->relative > 0 ? limit->relative * fabs(x) : limit->abs;
}

static void check_value(const struct perf_data *d, const void *want, const void *got, size_t i,
                        size_t element, const struct perf_limit limit[PERF_COMPONENTS],
                        struct perf_check *c)
{
    const unsigned char *a = want, *b = got;
    const size_t component = element % (size_t)d->components;
    if (memcmp(a + i * d->width, b + i * d->width, d->width) == 0) {
        return;
    }
    double x = perf_data_value(d, want, i), y = perf_data_value(d, got, i);
    double allowed = allowed_for(&limit[component], x);
    /* NaN and infinities must come back to the bit. In long double the difference is exact enough
     * to tell it from the bound. */
    long double error = isfinite(x) && isfinite(y) ? fabsl((long double)x - y) : INFINITY;
    c->largest[component] = fmax(c->largest[component], (double)error);
    c->squares[component] += (double)(error * error);
    if (!(error <= allowed) || allowed == 0) {
        if (!c->failed) {
            c->element = element;
            c->error = (double)error;
        }
        c->failed = true;
    }
}

static void count_values(const struct perf_data *d, size_t at, size_t n, struct perf_check *c)
{
    for (size_t i = 0; i < n; i++) {
        c->counted[(at + i) % (size_t)d->components] +=
            perf_value_counts(perf_data_value(d, d->field, at + i)) ? 1 : 0;
    }
}

void perf_data_check(const struct perf_data *d, const void *got, size_t first, size_t count,
                     const struct perf_limit limit[PERF_COMPONENTS], struct perf_check *check)
{
    const unsigned char *from = got;
    while (count > 0) {
        size_t at, n = perf_data_stretch(d, first, count, &at);
        const unsigned char *want = d->field + at * d->width;
        if (memcmp(want, from, n * d->width) != 0) {
            for (size_t i = 0; i < n; i++) {
                check_value(d, want, from, i, first + i, limit, check);
            }
        }
        count_values(d, at, n, check);
        from += n * d->width;
        first += n;
        count -= n;
    }
}

void perf_data_corrupt(const struct perf_data *d, void *got, size_t count,
                       const struct perf_limit limits[PERF_COMPONENTS])
{
    size_t i = count / 2;
    const struct perf_limit *limit = &limits[i % (size_t)d->components];
    if (count == 0) {
        return;
    }
    double x = perf_data_value(d, got, i);
    double allowed = limit->rmse > 0 ? limit->rmse * sqrt((double)count) : allowed_for(limit, x);
    /* The second part is for exact data. */
    double wrong = isfinite(x) ? x + 3 * allowed + 1e-6 * (fabs(x) + 1) : 0;
    if (d->is_double) {
        ((double *)got)[i] = wrong;
    } else {
        ((float *)got)[i] = (float)wrong;
    }
}

/* The worst component of all that arrived. */
static bool is_too_far(const struct perf_check *c, const struct perf_limit limit[PERF_COMPONENTS],
                       double *rmse, double *allowed)
{
    bool far = false;
    for (int k = 0; k < PERF_COMPONENTS && !far; k++) {
        *rmse = c->counted[k] > 0 ? sqrt(c->squares[k] / (double)c->counted[k]) : 0;
        *allowed = limit[k].rmse;
        far = *allowed > 0 && *rmse > *allowed;
    }
    return far;
}

void perf_verdict(const struct perf_run *r, const struct perf_operation *op, size_t count,
                  const struct perf_limit limit[PERF_COMPONENTS])
{
    const struct perf_check *c = &r->check;
    const struct perf_data *d = r->data;
    const char *variant = perf_label(op, r->variant);
    double rmse, allowed;
    bool far = is_too_far(c, limit, &rmse, &allowed);
    if (r->options->self_test && count > 0) {
        if (!c->failed && !far) {
            app_fail("%s, %s: self-test: a value that is too far off was not found", op->name,
                     variant);
        }
    } else if (c->failed) {
        app_fail("%s, %s: WRONG DATA: element %zu is off by %g, allowed is %g", op->name, variant,
                 c->element, c->error,
                 allowed_for(&limit[c->element % (size_t)d->components],
                             perf_data_value(d, d->field, c->element % d->elements)));
    } else if (far) {
        app_fail("%s, %s: WRONG DATA: the errors' root mean square is %g, allowed is %g", op->name,
                 variant, rmse, allowed);
    }
}
