/* bound.c - the bound a user asks for, as text and as an absolute bound (format.md 4.1, 4.2). */
#define _GNU_SOURCE // strtod_l
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "options.h"

/* strtod accepts hexadecimal floats, "inf" and leading blanks, and obeys the program's locale: a
 * bound is plain decimal with a point. */
static enum zmpi_status parse_value(const char *text, double *value)
{
    if (*text == 0 || strspn(text, "0123456789.eE+-") != strlen(text))
        return ZMPI_ERR_BOUND;
    char *end;
    locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (c == (locale_t)0)
        return ZMPI_ERR_MEMORY;
    *value = strtod_l(text, &end, c);
    freelocale(c);
    if (*end != 0 || !isfinite(*value) || !(*value > 0))
        return ZMPI_ERR_BOUND;
    return ZMPI_OK;
}

bool zmpi_threshold_parse(const char *text, double *threshold)
{
    double v;
    if (parse_value(text, &v))
        return false;
    *threshold = v;
    return true;
}

enum zmpi_status zmpi_bound_parse(const char *text, struct zmpi_bound *bound)
{
    struct zmpi_bound b = {ZMPI_LOSSLESS, 0};
    if (strcmp(text, "lossless") == 0) {
        *bound = b;
        return ZMPI_OK;
    }
    if (strncmp(text, "abs=", 4) == 0)
        b.mode = ZMPI_ABS;
    else if (strncmp(text, "rel=", 4) == 0)
        b.mode = ZMPI_REL;
    else
        return ZMPI_ERR_BOUND;
    if (parse_value(text + 4, &b.value) || (b.mode == ZMPI_REL && b.value >= 1))
        return ZMPI_ERR_BOUND;
    *bound = b;
    return ZMPI_OK;
}

/* The shortest decimal that reads back as the same number. */
static void format_value(double value, char text[32])
{
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, 32, "%.*g", digits, value);
        if (strtod(text, NULL) == value) // NOLINT: exact on purpose
            break;
    }
}

void zmpi_threshold_format(double threshold, char text[32])
{
    text[0] = 0;
    if (threshold > 0)
        format_value(threshold, text);
}

void zmpi_bound_format(const struct zmpi_bound *bound, char text[40])
{
    static const char *const name[] = {"lossless", "abs", "rel"};
    char value[32];
    if (bound->mode == ZMPI_LOSSLESS) {
        snprintf(text, 40, "lossless");
        return;
    }
    format_value(bound->value, value);
    snprintf(text, 40, "%s=%s", name[bound->mode], value);
}

/* Largest value of the element type that is not above eb. */
static double round_down(enum zmpi_type type, double eb)
{
    if (type != ZMPI_F32)
        return eb;
    if (eb >= (double)FLT_MAX)
        return (double)FLT_MAX;
    float f = (float)eb;
    if ((double)f > eb)
        f = nextafterf(f, 0);
    return (double)f;
}

static double rel_bound(double value, const struct zmpi_range *range)
{
    if (!(range->max > range->min))
        return 0;
    double eb = value * (range->max - range->min);
    return isfinite(eb) ? eb : value * range->max - value * range->min;
}

enum zmpi_status zmpi_job_make(const struct zmpi_array *array, const struct zmpi_bound *bound,
                               const struct zmpi_range *range, struct zmpi_job *job)
{
    size_t bytes;
    enum zmpi_status s = zmpi_array_bytes(array, &bytes);
    if (s)
        return s;
    struct zmpi_job j = {
        .array = *array, .bound = *bound, .keep = (double)INFINITY, .encoder = 1, .threads = 1};
    bool is_float = array->type == ZMPI_F32 || array->type == ZMPI_F64;
    if (!is_float)
        j.bound = (struct zmpi_bound){ZMPI_LOSSLESS, 0};
    switch (j.bound.mode) {
    case ZMPI_LOSSLESS:
        j.bound.value = 0;
        break;
    case ZMPI_ABS:
        if (!(bound->value > 0) || !isfinite(bound->value))
            return ZMPI_ERR_BOUND;
        j.abs_bound = round_down(array->type, bound->value);
        if (bound->value < 1e10)
            j.keep = 1e20;
        break;
    case ZMPI_REL:
        if (!(bound->value > 0) || !(bound->value < 1))
            return ZMPI_ERR_BOUND;
        if (!range)
            return ZMPI_ERR_ARG;
        j.abs_bound = round_down(array->type, rel_bound(bound->value, range));
        if (range->fill > fmax(fabs(range->min), fabs(range->max)))
            j.keep = range->fill;
        break;
    default:
        return ZMPI_ERR_BOUND;
    }
    *job = j;
    return ZMPI_OK;
}

void zmpi_job_threshold(struct zmpi_job *job, double threshold)
{
    if (job->abs_bound > 0 && threshold > 0)
        job->keep = fmin(job->keep, threshold);
}
