/*
 * sample.h - elements sampled from all over an array, in the host's or a device's memory. steady,
 * whole and fill use them.
 */
#ifndef ZMPI_SAMPLE_H
#define ZMPI_SAMPLE_H

#include <string.h>

#include "device.h"

/* Rows of `row` elements, `stride` elements from each to the next. */
struct zmpi_sample {
    enum zmpi_type type;
    const unsigned char *at;
    size_t rows, row, stride;
};

/* Prefetches the first few lines of each row, if the host holds them. They miss all caches; so all
 * misses are waited for at once. */
void zmpi_sample_prefetch(const struct zmpi_sample *s);
/* If a device holds the samples, copies them to `copy`, which is large enough, and uses the copy;
 * else prefetches them. False: the copy failed. */
bool zmpi_sample_fetch(struct zmpi_sample *s, void *copy);
/* Element i of row k. The host must be able to read it. */
static inline double zmpi_sample_get(const struct zmpi_sample *s, size_t k, size_t i)
{
    double x;
    float f;
    if (s->type == ZMPI_F64) {
        memcpy(&x, s->at + (k * s->stride + i) * sizeof x, sizeof x);
        return x;
    }
    memcpy(&f, s->at + (k * s->stride + i) * sizeof f, sizeof f);
    return (double)f;
}

/* `rows` rows of `row` elements from all over `count`, each beginning at an even one and not at the
 * same column of a table; or all of them, if they are no more. */
struct zmpi_sample zmpi_sample_rows(enum zmpi_type type, const void *src, size_t count, size_t rows,
                                    size_t row);
/* Elements from one sample to the next, for n samples of `count` elements. The step avoids the same
 * column of a table each time, and every other element, which are all even among consecutive
 * numbers. */
size_t zmpi_sample_step(size_t count, size_t n);

#endif
