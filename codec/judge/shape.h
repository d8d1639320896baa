/*
 * shape.h - the shape of an array that came as one row, from its data: where the row or the plane
 * before predicts better than the element before. The bits of sampled residuals decide.
 */
#ifndef ZMPI_SHAPE_H
#define ZMPI_SHAPE_H

#include "device.h"

/* Fewer elements tell too little. */
enum { ZMPI_SHAPE_LEAST = 4096 };

/* Floats in the host's memory: the first, and each one `of` further on (1: all of an array). */
struct zmpi_column {
    const void *at;
    size_t have; /* so many */
    int of;
};

/*
 * `count` floats, of which data has the first, or all. True: shape[] z, y, x
 * has more than one row and `count` elements in all. Values of a magnitude from `threshold` on are
 * not looked at. Nothing but the data, the bound and the threshold has a part in the answer.
 */
bool zmpi_shape_find(enum zmpi_type type, const struct zmpi_bound *bound, double threshold,
                     const struct zmpi_column *data, size_t count, size_t shape[3]);

/* Bytes that an element takes by fle in an array of this shape, by some of its chunks; shape[2] may
 * be all. 0: no memory. */
double zmpi_shape_bytes(const struct zmpi_job *job, const struct zmpi_column *data,
                        const size_t shape[3]);

/* What was found before, of one file: for arrays of the same type and count. All 0: nothing. The
 * caller's; not for two threads at once. */
enum { ZMPI_SHAPE_ARRAYS = 8 };
struct zmpi_shape_known {
    struct zmpi_shape_entry {
        enum zmpi_type type;
        size_t count;
        size_t shape[3]; /* shape[1] 1: none was found */
        unsigned looks;  /* searches that found nothing */
    } entry[ZMPI_SHAPE_ARRAYS];
    unsigned next; /* the entry that was made first */
};

/* Are data needed of the next array of this type and count? */
bool zmpi_shape_will_look(struct zmpi_shape_known *known, enum zmpi_type type, size_t count);
/* zmpi_shape_find, unless the answer is known. *is_new: it was not. */
bool zmpi_shape_recall(struct zmpi_shape_known *known, enum zmpi_type type,
                       const struct zmpi_bound *bound, double threshold,
                       const struct zmpi_column *data, size_t count, size_t shape[3], bool *is_new);

#endif
