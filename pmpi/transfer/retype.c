/*
 * retype.c - floats that arrive as bytes, as pairs of floats of half their size, or big-endian. If
 * the user allows it (element_type), each call's data are judged by themselves; otherwise the
 * report says what that would gain.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "transfer/retype.h"
#include "judge/components.h"
#include "judge/judgement.h"
#include "judge/raw_bytes.h"

/* Smaller calls are not examined for the report alone. */
#define LOOK_LEAST ((uint64_t)64 << 10)

/* Elements of each call that are coded as a trial: a multiple of most numbers of variables. */
enum { WINDOW = 5040, WINDOW_MOST = 11 * WINDOW };

/* The first LOOKS calls are examined, and then one in EACH. */
enum { LOOKS = 16, EACH = 64 };

/* What the data are. */
struct elements {
    enum zmpi_type type; /* ZMPI_BYTES: the samples tell nothing */
    bool big_endian;
};

/* Do the data agree with the datatype, as far as samples tell? plan_order finds integers. */
static bool looks_right(const struct zmemory *m)
{
    struct zmpi_judgement j = {0};
    struct zmpi_taken taken;
    zmpi_sample_take(&taken, m->element, m->data, m->bytes / zmpi_type_size(m->element));
    zmpi_judge(&j, &taken, false);
    return j.looks == ZMPI_LOOKS_RIGHT && !zmpi_order_is_other(&j.order);
}

static struct elements find_any(const struct zmemory *m)
{
    const enum zmpi_type type = zmpi_raw_type(m->data, m->bytes);
    if (type != ZMPI_BYTES)
        return (struct elements){type, false};
    return (struct elements){zmpi_raw_type_swapped(m->data, m->bytes), true};
}

static struct elements find_elements(const struct zmemory *m, int asked)
{
    const bool f32 = asked == ZMPI_ELEMENTS_F32 || asked == ZMPI_ELEMENTS_F32_BIG;
    const bool big = asked == ZMPI_ELEMENTS_F32_BIG || asked == ZMPI_ELEMENTS_F64_BIG;
    const enum zmpi_type type = f32 ? ZMPI_F32 : ZMPI_F64;
    if (asked == ZMPI_ELEMENTS_AUTO)
        return find_any(m);
    const bool are =
        big ? zmpi_raw_is_swapped(type, m->data, m->bytes) : zmpi_raw_is(type, m->data, m->bytes);
    return (struct elements){are ? type : ZMPI_BYTES, big};
}

/* Returns the coded size of one array of the window; SIZE_MAX: it cannot be coded. */
static size_t coded_array(const struct zfile *f, enum zmpi_type type, const void *src, size_t count)
{
    const struct zmpi_array array = {type, {1, 1, count}};
    const size_t capacity = zmpi_compress_capacity(&array);
    unsigned char *coded = malloc(capacity);
    size_t size;
    if (!coded || zmpi_compress(&array, &f->options.bound, NULL, coded, capacity, src, &size))
        size = SIZE_MAX;
    free(coded);
    return size;
}

/* Estimates which part of its size a call would take, coded as floats of this type, each variable
 * by itself; at most 1. The middle of the call is coded for that. */
static double coded_part(const struct zfile *f, struct elements e, const struct zmemory *m)
{
    const size_t width = zmpi_type_size(e.type), all = (size_t)(m->bytes / width);
    const size_t count = all < WINDOW_MOST ? all / WINDOW * WINDOW : WINDOW_MOST;
    unsigned char *window = malloc(2 * count * width), *one = window + count * width;
    double size = 0;
    if (!window)
        return 1;
    memcpy(window, m->data + (all - count) / 2 * width, count * width);
    if (e.big_endian)
        zmpi_bytes_big_endian(window, window, count, width);
    const int variables = zmpi_components_find(e.type, f->options.threshold, window, count);
    const size_t points = count / (size_t)variables;
    for (int c = 0; c < variables; c++) {
        zmpi_component_take(e.type, window, count, variables, c, one);
        size += (double)coded_array(f, e.type, one, points);
    }
    free(window);
    const double bytes = (double)(count * width);
    return size < bytes ? size / bytes : 1;
}

/* Examines a call for the report; changes nothing. */
static void look(struct zfile *f, const struct zmemory *m)
{
    struct zstats *s = &f->stats;
    if (m->element != ZMPI_BYTES || m->known || m->bytes < LOOK_LEAST || f->hdf5)
        return;
    const uint64_t call = s->looks++;
    if (call >= LOOKS && call % EACH)
        return;
    s->bytes_looked += (double)m->bytes;
    s->bytes_would += (double)m->bytes;
    const struct elements found = find_any(m);
    if (found.type == ZMPI_BYTES)
        return;
    const double part = coded_part(f, found, m);
    if (found.type == ZMPI_F32)
        s->bytes_look_f32 += (double)m->bytes;
    else
        s->bytes_look_f64 += (double)m->bytes;
    s->bytes_would -= (double)m->bytes * (1 - part);
}

/* Copies the data in this machine's byte order; false: no memory. */
static bool turn(struct zmemory *m, size_t width)
{
    unsigned char *copy = m->owned ? m->owned : malloc(m->bytes);
    if (!copy)
        return false;
    zmpi_bytes_big_endian(copy, m->data, m->bytes / width, width);
    m->data = m->owned = copy;
    return true;
}

/* Has each piece of the call whole elements only? If the view goes back and forth, pieces end with
 * its tiles. */
static bool is_cut_between(const struct zfile *f, const struct zplan *p, size_t width)
{
    return f->view.increasing || (f->view.file.size % width == 0 && p->position % width == 0);
}

/* Are these doubles that are all the same, such as HDF5's fill values? As bytes they would not be
 * small, since their two halves differ. */
static bool repeats(const struct zmemory *m)
{
    const size_t width = sizeof(uint64_t);
    return m->element == ZMPI_BYTES && !m->known && m->bytes > width && m->bytes % width == 0 &&
           memcmp(m->data, m->data + width, m->bytes - width) == 0;
}

void zretype(struct zfile *f, struct zplan *p)
{
    struct zmemory *m = &p->memory;
    if (f->hdf5 && !m->holder && repeats(m)) {
        m->element = ZMPI_I64;
        m->shape[0] = m->shape[1] = 1;
        m->shape[2] = m->bytes / sizeof(uint64_t);
        m->extents = zextents_row(m->shape[2]);
        return;
    }
    const int asked = f->options.element_type;
    const bool typed = m->element == ZMPI_F32 || m->element == ZMPI_F64;
    if (m->bytes == 0 || m->holder || m->known || f->data.stays_mistyped || f->data.format ||
        !f->options.bound_set)
        return;
    if (asked == ZMPI_ELEMENTS_DATATYPE) {
        if (f->options.bound.mode != ZMPI_LOSSLESS)
            look(f, m);
        return;
    }
    if ((m->element != ZMPI_BYTES && !typed) || (typed && looks_right(m)))
        return;
    const struct elements found = find_elements(m, asked);
    const size_t width = zmpi_type_size(found.type);
    if (found.type == ZMPI_BYTES ||
        (found.big_endian && !(is_cut_between(f, p, width) && turn(m, width))))
        return;
    m->big_endian = found.big_endian;
    m->retyped = true;
    if (found.type == m->element) /* then the shape of the datatype holds */
        return;
    m->element = found.type;
    m->shape[0] = m->shape[1] = 1;
    m->shape[2] = m->bytes / width;
    m->extents = zextents_row(m->shape[2]);
}
