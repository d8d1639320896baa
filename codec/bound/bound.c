/* bound.c - a bound as a user writes it, and which values a bound may have (format.md 4.1, 4.2). */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/decimal.h"
#include "base/floats.h"
#include "bound/bound.h"
#include "layout/chunk.h"
#include "options/options.h"

/* Takes plain decimal numbers only; strtod also accepts hexadecimal floats, "inf" and leading
 * blanks. */
static bool parse_number(const char *text, double *value)
{
    if (*text == 0 || strspn(text, "0123456789.eE+-") != strlen(text))
        return false;
    char *end;
    const locale_t program = zmpi_decimal_begin();
    *value = strtod(text, &end);
    zmpi_decimal_end(program);
    return *end == 0 && isfinite(*value);
}

static enum zmpi_status parse_value(const char *text, double *value)
{
    return parse_number(text, value) && *value > 0 ? ZMPI_OK : ZMPI_ERR_BOUND;
}

bool zmpi_threshold_parse(const char *text, double *threshold)
{
    double v;
    const struct zmpi_floats program = zmpi_floats_begin();
    const bool good = parse_value(text, &v) == ZMPI_OK;
    zmpi_floats_end(program);
    if (good)
        *threshold = v;
    return good;
}

static const char *const mode_name[] = {"lossless", "abs", "rel", "psnr", "ratio", "pw_rel"};

static bool parse_mode(const char *text, size_t length, enum zmpi_mode *mode)
{
    for (int m = ZMPI_ABS; m <= ZMPI_PW_REL; m++)
        if (strlen(mode_name[m]) == length && memcmp(mode_name[m], text, length) == 0) {
            *mode = (enum zmpi_mode)m;
            return true;
        }
    return false;
}

bool zmpi_bound_is_valid(const struct zmpi_bound *b)
{
    if (!(b->value > 0))
        return false;
    switch (b->mode) {
    case ZMPI_ABS:
        return isfinite(b->value);
    case ZMPI_REL:
    case ZMPI_PW_REL:
        return b->value < 1;
    case ZMPI_PSNR:
        return b->value <= 300;
    case ZMPI_RATIO:
        return b->value > 1 && isfinite(b->value);
    default:
        return false;
    }
}

bool zmpi_bound_needs_range(const struct zmpi_bound *bound)
{
    return bound->mode != ZMPI_LOSSLESS && bound->mode != ZMPI_ABS;
}

enum zmpi_status zmpi_bound_parse(const char *text, struct zmpi_bound *bound)
{
    struct zmpi_bound b = {ZMPI_LOSSLESS, 0};
    if (strcmp(text, "lossless") == 0) {
        *bound = b;
        return ZMPI_OK;
    }
    const char *value = strchr(text, '=');
    if (!value || !parse_mode(text, (size_t)(value - text), &b.mode))
        return ZMPI_ERR_BOUND;
    const struct zmpi_floats program = zmpi_floats_begin();
    const bool good = parse_value(value + 1, &b.value) == ZMPI_OK && zmpi_bound_is_valid(&b);
    zmpi_floats_end(program);
    if (!good)
        return ZMPI_ERR_BOUND;
    *bound = b;
    return ZMPI_OK;
}

/* The shortest decimal that reads back as the same number; 60 rather than 6e+01. */
static void format_value(double value, char text[32])
{
    const struct zmpi_floats floats = zmpi_floats_begin();
    const locale_t program = zmpi_decimal_begin();
    for (int digits = 3; digits <= 17; digits++) {
        snprintf(text, 32, "%.*g", digits, value);
        if (strtod(text, NULL) == value) // NOLINT: exact on purpose
            break;
    }
    zmpi_decimal_end(program);
    zmpi_floats_end(floats);
}

void zmpi_threshold_format(double threshold, char text[32])
{
    text[0] = 0;
    if (threshold > 0)
        format_value(threshold, text);
}

static bool parse_fill(const char *text, size_t length, double *value)
{
    char one[64];
    if (length >= sizeof one)
        return false;
    memcpy(one, text, length);
    one[length] = 0;
    if (strcasecmp(one, "nan") != 0)
        return parse_number(one, value);
    *value = (double)NAN;
    return true;
}

bool zmpi_fills_parse(const char *text, struct zmpi_fills *fills)
{
    struct zmpi_fills parsed = {0};
    const size_t first = strcspn(text, ",");
    bool good = strcmp(text, "none") == 0;
    if (!good) {
        const struct zmpi_floats program = zmpi_floats_begin();
        good = parse_fill(text, first, &parsed.value[parsed.count++]);
        if (good && text[first])
            good = parse_fill(text + first + 1, strlen(text + first + 1),
                              &parsed.value[parsed.count++]);
        zmpi_floats_end(program);
    }
    if (good)
        *fills = parsed;
    return good;
}

void zmpi_fills_format(const struct zmpi_fills *fills, char text[80])
{
    text[0] = 0;
    for (int i = 0; i < fills->count; i++) {
        char one[32] = "nan";
        if (isfinite(fills->value[i]))
            format_value(fills->value[i], one);
        snprintf(text + strlen(text), 80 - strlen(text), "%s%s", i ? "," : "", one);
    }
}

void zmpi_bound_format(const struct zmpi_bound *bound, char text[40])
{
    char value[32];
    if (bound->mode == ZMPI_LOSSLESS) {
        snprintf(text, 40, "lossless");
        return;
    }
    format_value(bound->value, value);
    snprintf(text, 40, "%s=%s", mode_name[bound->mode], value);
}

double zmpi_bound_round(enum zmpi_type type, double eb)
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

void zmpi_job_safe_bound(struct zmpi_job *job)
{
    if (job->finer[1] > 0)
        job->abs_bound = job->finer[1];
    job->finer[0] = job->finer[1] = 0;
}

bool zmpi_job_open(const struct zmpi_job *job)
{
    return job->top > 0;
}
