/* options_value.c - single option values: text to field and back. */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernels.h"
#include "options/options_value.h"

static const char *const level_names[] = {"quiet", "error", "warn", "info", "debug"};
static const char *const collective_names[] = {"gather",    "scatter", "alltoall",
                                               "allgather", "bcast",   "bcast_lossy"};
static const char *const mode_names[] = {"auto", "measured", "always", "never"};
static const char *const hdf5_names[] = {"off", "container", "filter"};
static const char *const element_names[] = {"datatype", "auto", "f32", "f64", "f32-big", "f64-big"};

/* Decimal digits only: strtoull alone would take blanks, signs and "0x". */
static bool parse_number(const char *text, char **end, size_t *value)
{
    if (!isdigit((unsigned char)*text))
        return false;
    errno = 0;
    unsigned long long v = strtoull(text, end, 10);
    if (errno != 0 || v > SIZE_MAX)
        return false;
    *value = (size_t)v;
    return true;
}

bool zmpi_bytes_parse(const char *text, size_t *bytes)
{
    char *end;
    size_t v;
    if (!parse_number(text, &end, &v))
        return false;
    unsigned shift = 0;
    switch (toupper((unsigned char)*end)) {
    case 'K':
        shift = 10;
        break;
    case 'M':
        shift = 20;
        break;
    case 'G':
        shift = 30;
        break;
    default:
        break;
    }
    end += shift != 0;
    if (*end != 0 || v > (SIZE_MAX >> 1) >> shift)
        return false;
    *bytes = v << shift;
    return true;
}

bool zmpi_shape_parse(const char *text, size_t shape[3])
{
    size_t s[3] = {1, 1, 1};
    for (;;) {
        char *end;
        size_t n;
        if (!parse_number(text, &end, &n) || n == 0)
            return false;
        // Shift one place up; what leaves at the top is folded into the slowest extent.
        if (__builtin_mul_overflow(s[0], s[1], &s[0]))
            return false;
        s[1] = s[2];
        s[2] = n;
        if (*end == 0)
            break;
        if (*end != 'x' && *end != 'X')
            return false;
        text = end + 1;
    }
    size_t count;
    if (zmpi_array_count(&(struct zmpi_array){ZMPI_F64, {s[0], s[1], s[2]}}, &count))
        return false;
    memcpy(shape, s, sizeof s);
    return true;
}

static bool parse_name(const char *text, char *dst, size_t capacity)
{
    size_t n = strlen(text);
    if (n == 0 || n >= capacity || strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_-") != n)
        return false;
    memcpy(dst, text, n + 1);
    return true;
}

static bool parse_path(const char *text, char *dst, size_t capacity)
{
    size_t n = strlen(text);
    if (n >= capacity || strpbrk(text, "\n\r") != NULL)
        return false;
    memcpy(dst, text, n + 1);
    return true;
}

/* No empty globs, and not only exclusions: such a list would select nothing at all. */
bool zmpi_globs_parse(const char *text, char *dst, size_t capacity)
{
    for (const char *p = text, *glob; p != NULL;) {
        size_t n;
        p = zmpi_globs_next(p, &glob, &n);
        if (n == 0)
            return false;
    }
    return parse_path(text, dst, capacity);
}

/* If all globs exclude, they are appended to the default's. */
static bool parse_files(const struct zmpi_option *option, const char *text, char *dst)
{
    const char *list = option->info.default_value;
    const size_t capacity = option->capacity;
    bool selects = false;
    for (const char *p = text, *glob; p != NULL;) {
        size_t n;
        p = zmpi_globs_next(p, &glob, &n);
        const bool exclude = n != 0 && *glob == '!';
        if (n <= (size_t)exclude)
            return false;
        selects |= !exclude;
    }
    if (selects)
        return parse_path(text, dst, capacity);
    if (strlen(list) + 1 + strlen(text) >= capacity)
        return false;
    snprintf(dst, capacity, "%s,%s", list, text);
    return true;
}

static bool is_collective(const char *p, size_t n)
{
    for (size_t k = 0; k < sizeof collective_names / sizeof *collective_names; k++)
        if (strlen(collective_names[k]) == n && memcmp(collective_names[k], p, n) == 0)
            return true;
    return false;
}

static bool parse_collectives(const char *text, char *dst, size_t capacity)
{
    if (strcmp(text, "none") != 0) {
        for (const char *p = text;; p++) {
            size_t n = strcspn(p, ",");
            if (!is_collective(p, n))
                return false;
            p += n;
            if (*p == 0)
                break;
        }
    }
    return parse_path(text, dst, capacity);
}

/* One of n names, to its number. */
static bool parse_choice(const char *text, const char *const *names, size_t n, int *choice)
{
    for (size_t k = 0; k < n; k++) {
        if (strcmp(text, names[k]) == 0) {
            *choice = (int)k;
            return true;
        }
    }
    return false;
}

static bool parse_level(const char *text, enum zmpi_log_level *level)
{
    for (size_t k = 0; k < sizeof level_names / sizeof *level_names; k++) {
        if (strcmp(text, level_names[k]) == 0) {
            *level = (enum zmpi_log_level)k;
            return true;
        }
    }
    return false;
}

static bool parse_switch(const char *text, bool *value)
{
    bool on = strcmp(text, "on") == 0;
    if (!on && strcmp(text, "off") != 0)
        return false;
    *value = on;
    return true;
}

static bool parse_bound(const char *text, struct zmpi_options *o)
{
    const bool none = strcmp(text, "none") == 0;
    if (!none && zmpi_bound_parse(text, &o->bound) != ZMPI_OK)
        return false;
    o->bound_set = !none;
    return true;
}

static bool parse_int(const struct zmpi_option *option, const char *text, int *value)
{
    char *end;
    size_t v;
    if (!parse_number(text, &end, &v) || *end != 0 || v < option->min || v > option->max)
        return false;
    *value = (int)v;
    return true;
}

static bool parse_bytes(const struct zmpi_option *option, const char *text, size_t *value)
{
    size_t v;
    if (!zmpi_bytes_parse(text, &v) || v < option->min || v > option->max)
        return false;
    *value = v;
    return true;
}

static bool parse_threshold(const char *text, double *value)
{
    if (strcmp(text, "none") != 0)
        return zmpi_threshold_parse(text, value);
    *value = 0;
    return true;
}

/* 0 too. */
static bool parse_ratio(const char *text, double *value)
{
    if (strcmp(text, "0") != 0)
        return zmpi_threshold_parse(text, value);
    *value = 0;
    return true;
}

static const struct {
    const char *name;
    int encoder;
    enum zmpi_variant variant;
} encoders[] = {{"fle", ZMPI_FLE, ZMPI_VARIANT_NONE},
                {"huffman", ZMPI_HUFFMAN, ZMPI_VARIANT_NONE},
                {"huffman:approximate", ZMPI_HUFFMAN, ZMPI_VARIANT_APPROXIMATE},
                {"interp", ZMPI_INTERP, ZMPI_VARIANT_NONE},
                {"interp:huffman", ZMPI_INTERP, ZMPI_VARIANT_BOOKS},
                {"interp:flare", ZMPI_INTERP, ZMPI_VARIANT_FLARE}};
enum { NAMES = sizeof encoders / sizeof encoders[0] };

int zmpi_encoder_parse(const char *name, enum zmpi_variant *variant)
{
    for (int i = 0; i < NAMES; i++)
        if (strcmp(name, encoders[i].name) == 0) {
            *variant = encoders[i].variant;
            return encoders[i].encoder;
        }
    return 0;
}

const char *zmpi_encoder_name(int encoder)
{
    int i = 0;
    while (encoders[i].encoder != encoder)
        i++;
    return encoders[i].name;
}

/* auto, N, or N:slow. */
static bool parse_components(const char *text, int *components)
{
    char *end;
    size_t n = 0;
    bool fine = strcmp(text, "auto") == 0;
    if (!fine && parse_number(text, &end, &n))
        fine = n >= 1 && n <= 64 && (*end == 0 || strcmp(end, ":slow") == 0);
    if (fine)
        *components = n && *end ? -(int)n : (int)n;
    return fine;
}

bool zmpi_option_parse(const struct zmpi_option *option, struct zmpi_options *o, const char *text)
{
    void *field = (char *)o + option->offset;
    enum zmpi_variant variant;
    switch (option->kind) {
    case ZMPI_OPTION_BOUND:
        return parse_bound(text, o);
    case ZMPI_OPTION_THRESHOLD:
        return parse_threshold(text, field);
    case ZMPI_OPTION_FILL:
        return zmpi_fills_parse(text, field);
    case ZMPI_OPTION_RATIO:
        return parse_ratio(text, field);
    case ZMPI_OPTION_CODEC:
        return (zmpi_encoder_parse(text, &variant) || strcmp(text, "auto") == 0) &&
               parse_path(text, field, option->capacity);
    case ZMPI_OPTION_DEVICE:
        return parse_name(text, field, option->capacity);
    case ZMPI_OPTION_FILES:
        return parse_files(option, text, field);
    case ZMPI_OPTION_INT:
        return parse_int(option, text, field);
    case ZMPI_OPTION_COLLECTIVES:
        return parse_collectives(text, field, option->capacity);
    case ZMPI_OPTION_COLLECTIVE_MODE:
        return parse_choice(text, mode_names, sizeof mode_names / sizeof *mode_names, field);
    case ZMPI_OPTION_HDF5:
        return parse_choice(text, hdf5_names, sizeof hdf5_names / sizeof *hdf5_names, field);
    case ZMPI_OPTION_ELEMENT_TYPE:
        return parse_choice(text, element_names, sizeof element_names / sizeof *element_names,
                            field);
    case ZMPI_OPTION_BYTES:
        return parse_bytes(option, text, field);
    case ZMPI_OPTION_SHAPE:
        return zmpi_shape_parse(text, field);
    case ZMPI_OPTION_COMPONENTS:
        return parse_components(text, field);
    case ZMPI_OPTION_PATH:
        return parse_path(text, field, option->capacity);
    case ZMPI_OPTION_SWITCH:
        return parse_switch(text, field);
    case ZMPI_OPTION_LEVEL:
        return parse_level(text, field);
    case ZMPI_OPTION_KERNELS:
        return zmpi_kernels_list_ok(text) && parse_path(text, field, option->capacity);
    }
    return false;
}

static void format_components(int components, char text[1024])
{
    if (components)
        snprintf(text, 1024, "%d%s", abs(components), components < 0 ? ":slow" : "");
    else
        snprintf(text, 1024, "auto");
}

static void format_bytes(size_t v, char text[1024])
{
    static const char *const unit[] = {"", "K", "M", "G"};
    size_t k = 0;
    while (k < 3 && v != 0 && v % 1024 == 0) {
        v /= 1024;
        k++;
    }
    snprintf(text, 1024, "%zu%s", v, unit[k]);
}

static void format_shape(const size_t shape[3], char text[1024])
{
    text[0] = 0;
    if (shape[2] != 0)
        snprintf(text, 1024, "%zux%zux%zu", shape[0], shape[1], shape[2]);
}

static void format_bound(const struct zmpi_options *o, char text[1024])
{
    text[0] = 0;
    if (o->bound_set)
        zmpi_bound_format(&o->bound, text);
}

void zmpi_option_format(const struct zmpi_option *option, const struct zmpi_options *o,
                        char text[1024])
{
    const void *field = (const char *)o + option->offset;
    switch (option->kind) {
    case ZMPI_OPTION_BOUND:
        format_bound(o, text);
        break;
    case ZMPI_OPTION_THRESHOLD:
        zmpi_threshold_format(*(const double *)field, text);
        break;
    case ZMPI_OPTION_FILL:
        zmpi_fills_format(field, text);
        break;
    case ZMPI_OPTION_RATIO:
        zmpi_threshold_format(*(const double *)field, text);
        if (!*text)
            snprintf(text, 1024, "0");
        break;
    case ZMPI_OPTION_INT:
        snprintf(text, 1024, "%d", *(const int *)field);
        break;
    case ZMPI_OPTION_BYTES:
        format_bytes(*(const size_t *)field, text);
        break;
    case ZMPI_OPTION_SHAPE:
        format_shape(field, text);
        break;
    case ZMPI_OPTION_COMPONENTS:
        format_components(*(const int *)field, text);
        break;
    case ZMPI_OPTION_SWITCH:
        snprintf(text, 1024, "%s", *(const bool *)field ? "on" : "off");
        break;
    case ZMPI_OPTION_COLLECTIVE_MODE:
        snprintf(text, 1024, "%s", mode_names[*(const int *)field]);
        break;
    case ZMPI_OPTION_HDF5:
        snprintf(text, 1024, "%s", hdf5_names[*(const int *)field]);
        break;
    case ZMPI_OPTION_ELEMENT_TYPE:
        snprintf(text, 1024, "%s", element_names[*(const int *)field]);
        break;
    case ZMPI_OPTION_LEVEL:
        snprintf(text, 1024, "%s", level_names[*(const enum zmpi_log_level *)field]);
        break;
    case ZMPI_OPTION_CODEC:
    case ZMPI_OPTION_DEVICE:
    case ZMPI_OPTION_FILES:
    case ZMPI_OPTION_COLLECTIVES:
    case ZMPI_OPTION_PATH:
    case ZMPI_OPTION_KERNELS:
        snprintf(text, 1024, "%s", (const char *)field);
        break;
    }
}
