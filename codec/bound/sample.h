/*
 * sample.h - elements sampled from all over an array, in the host's or a device's memory. A call's
 * sample is taken once; whoever judges the call looks at it first (judgement.h, fill.h, whole.h).
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

/* The sample of a call, of `count` elements of a float type: short rows, longer ones in a larger
 * call, so that it is at most a hundredth of the call's bytes (calls below 256 KiB: 256 elements).
 * All that is read of the call is read once, before the caches hold other data. */
enum {
    ZMPI_TAKEN_ROWS = 32,
    ZMPI_TAKEN_ROW = 32,
    ZMPI_TAKEN_MOST = ZMPI_TAKEN_ROWS * ZMPI_TAKEN_ROW
};
struct zmpi_sample zmpi_sample_call(enum zmpi_type type, const void *src, size_t count);
/* A copy of it. */
struct zmpi_taken {
    enum zmpi_type type;
    const void *src;
    size_t count;     /* of src */
    size_t rows, row; /* of the sample; rows 0: it could not be read */
    double copy[ZMPI_TAKEN_MOST];
};

void zmpi_sample_take(struct zmpi_taken *taken, enum zmpi_type type, const void *src, size_t count);
/* A copy of longer rows from more places, without those whose elements are all alike: for data that
 * are mostly zeros. Rows 0: there are none, or the call is small or in a device's memory. */
void zmpi_sample_varied(struct zmpi_taken *taken, enum zmpi_type type, const void *src,
                        size_t count);
static inline struct zmpi_sample zmpi_taken_sample(const struct zmpi_taken *t)
{
    return (struct zmpi_sample){t->type, (const unsigned char *)t->copy, t->rows, t->row, t->row};
}

#endif
