/*
 * retype.c - floats that arrive as bytes, or as pairs of floats of half their size. Where the user
 * says that they may (element_type), each call's data are judged by themselves; where not, the
 * report says what would be gained.
 */
#include <stdlib.h>

#include "calls/retype.h"
#include "judge/components.h"
#include "judge/element_type.h"
#include "judge/raw_bytes.h"

/* Smaller calls are not looked at for the report alone. */
#define LOOK_LEAST ((uint64_t)64 << 10)

/* Elements that are coded of each: a multiple of most numbers of variables. */
enum { WINDOW = 5040, WINDOW_MOST = 11 * WINDOW };

/* The first so many calls are looked at, and then one in so many. */
enum { LOOKS = 16, EACH = 64 };

/* What the data are: as the datatype says, or ZMPI_BYTES where nothing can be told. */
static enum zmpi_type find_type(const struct zmemory *m, int asked)
{
    static const enum zmpi_type types[] = {
        [ZMPI_ELEMENTS_F32] = ZMPI_F32, [ZMPI_ELEMENTS_F64] = ZMPI_F64};
    const bool typed = m->element == ZMPI_F32 || m->element == ZMPI_F64;
    if (m->element != ZMPI_BYTES && !typed)
        return m->element;
    if (typed && zmpi_looks_like(m->element, m->data, m->bytes / zmpi_type_size(m->element)) ==
                     ZMPI_LOOKS_RIGHT)
        return m->element;
    const enum zmpi_type found = asked == ZMPI_ELEMENTS_AUTO ? zmpi_raw_type(m->data, m->bytes)
                                 : zmpi_raw_is(types[asked], m->data, m->bytes) ? types[asked]
                                                                                : ZMPI_BYTES;
    return found == ZMPI_BYTES ? m->element : found;
}

/* One array of the window; SIZE_MAX: it cannot be coded. */
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

/* The part of a call that its middle would be as floats of this type, each variable by itself; at
 * most 1. */
static double coded_part(const struct zfile *f, enum zmpi_type type, const struct zmemory *m)
{
    const size_t width = zmpi_type_size(type), all = (size_t)(m->bytes / width);
    const size_t count = all < WINDOW_MOST ? all / WINDOW * WINDOW : WINDOW_MOST;
    const unsigned char *window = m->data + (all - count) / 2 * width;
    const int variables = zmpi_components_find(type, f->options.threshold, window, count);
    const size_t points = count / (size_t)variables;
    unsigned char *one = malloc(points * width);
    double size = 0;
    for (int c = 0; one && c < variables; c++) {
        zmpi_component_take(type, window, count, variables, c, one);
        size += (double)coded_array(f, type, one, points);
    }
    free(one);
    const double bytes = (double)(count * width);
    return one && size < bytes ? size / bytes : 1;
}

/* For the report: nothing changes. */
static void look(struct zfile *f, const struct zmemory *m)
{
    struct zstats *s = &f->stats;
    if (m->element != ZMPI_BYTES || m->told || m->bytes < LOOK_LEAST || f->hdf5)
        return;
    const uint64_t call = s->looks++;
    if (call >= LOOKS && call % EACH)
        return;
    s->bytes_looked += (double)m->bytes;
    s->bytes_would += (double)m->bytes;
    const enum zmpi_type type = zmpi_raw_type(m->data, m->bytes);
    if (type == ZMPI_BYTES)
        return;
    const double part = coded_part(f, type, m);
    if (type == ZMPI_F32)
        s->bytes_look_f32 += (double)m->bytes;
    else
        s->bytes_look_f64 += (double)m->bytes;
    s->bytes_would -= (double)m->bytes * (1 - part);
}

void zretype(struct zfile *f, struct zplan *p)
{
    struct zmemory *m = &p->memory;
    const int asked = f->options.element_type;
    if (m->bytes == 0 || m->holder || m->told || f->stays_mistyped || f->format ||
        !f->options.bound_set || f->options.bound.mode == ZMPI_LOSSLESS)
        return;
    if (asked == ZMPI_ELEMENTS_DATATYPE) {
        look(f, m);
        return;
    }
    const enum zmpi_type type = find_type(m, asked);
    if (type == m->element)
        return;
    m->element = type;
    m->retyped = true;
    m->shape[0] = m->shape[1] = 1;
    m->shape[2] = m->bytes / zmpi_type_size(type);
    m->extents = zextents_row(m->shape[2]);
}
