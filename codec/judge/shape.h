/*
 * shape.h - finds the shape of an array that came as one row from its data. In the right shape the
 * row or the plane before predicts better than the element before; the bits of sampled residuals
 * show it.
 */
#ifndef ZMPI_SHAPE_H
#define ZMPI_SHAPE_H

#include "device.h"

/* Fewer elements tell too little. */
enum { ZMPI_SHAPE_LEAST = 4096 };

/* Every `of`-th float in the host's memory (1: all of an array). */
struct zmpi_column {
    const void *at;
    size_t have; /* their number */
    int of;
};

/*
 * Searches the shape of `count` floats; data has all of them, or the first ones. True: shape[] z,
 * y, x has more than one row and `count` elements in all. The search leaves out magnitudes from
 * `threshold` on. The answer depends on the data, the bound and the threshold only.
 */
bool zmpi_shape_find(enum zmpi_type type, const struct zmpi_bound *bound, double threshold,
                     const struct zmpi_column *data, size_t count, size_t shape[3]);

/* Searches planes of an array of rows of `row` elements: of 2 to `most` units of `unit` rows. Sets
 * rows[] to the rows of the n best ones, which need not divide those of the array, the best first;
 * returns their number. */
size_t zmpi_shape_planes(enum zmpi_type type, const struct zmpi_bound *bound, double threshold,
                         const struct zmpi_column *data, size_t row, size_t unit, size_t most,
                         size_t rows[], size_t n);

/* Of planes of rows[0], rows[1], ... rows of `row` elements, finds those in which an array is
 * smallest, coded by this encoder: for fle some coded chunks tell, for others the bits of
 * residuals. Returns their index; 0 unless another is better. */
size_t zmpi_shape_choose(enum zmpi_type type, const struct zmpi_bound *bound, double threshold,
                         int encoder, const struct zmpi_column *data, size_t row,
                         const size_t rows[], size_t n);

/* Bytes that fle takes for an element of an array of this shape; at most `chunks` of its chunks
 * tell. The shape may be a single row. 0: no memory. */
enum { ZMPI_SHAPE_CHUNKS = 32 };
double zmpi_shape_bytes(const struct zmpi_job *job, const struct zmpi_column *data,
                        const size_t shape[3], size_t chunks);

/* What was found in earlier arrays of one file, by type and count. All 0: nothing. The caller owns
 * it; two threads must not use it at once. */
enum { ZMPI_SHAPE_ARRAYS = 8 };
struct zmpi_shape_known {
    struct zmpi_shape_entry {
        enum zmpi_type type;
        size_t count;
        size_t shape[3]; /* shape[1] 1: none was found */
        unsigned looks;  /* searches that found nothing */
    } entry[ZMPI_SHAPE_ARRAYS];
    unsigned next; /* the oldest entry */
};

/* Does the search need the data of the next array of this type and count? */
bool zmpi_shape_will_look(struct zmpi_shape_known *known, enum zmpi_type type, size_t count);
/* zmpi_shape_find, unless the answer is known. *is_new: this call found it. */
bool zmpi_shape_recall(struct zmpi_shape_known *known, enum zmpi_type type,
                       const struct zmpi_bound *bound, double threshold,
                       const struct zmpi_column *data, size_t count, size_t shape[3], bool *is_new);

#endif
