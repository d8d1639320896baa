/*
 * sample.h - elements sampled from all over an array, in the host's or a device's memory: steady,
 * whole and fill judge by them.
 */
#ifndef ZMPI_SAMPLE_H
#define ZMPI_SAMPLE_H

#include "device.h"

/* Rows of `row` elements, the next one `stride` elements further on. */
struct zmpi_sample {
    enum zmpi_type type;
    const unsigned char *at;
    size_t rows, row, stride;
};

/* Prefetches what the host holds, the first few lines of each row: they miss all caches, and are
 * waited for together. */
void zmpi_sample_prefetch(const struct zmpi_sample *s);
/* If a device holds them, copies them to `copy`, which is large enough, and continues there; else
 * prefetches them. False: that is impossible. */
bool zmpi_sample_fetch(struct zmpi_sample *s, void *copy);
/* Element i of row k, which the host can read. */
double zmpi_sample_get(const struct zmpi_sample *s, size_t k, size_t i);
/* Elements from one sample to the next, for n of `count`: not the same column of a table each time,
 * nor every other element, of which numbers in a row are all even. */
size_t zmpi_sample_step(size_t count, size_t n);

#endif
