/*
 * extents.h - extents of an array, and the number of its components, from the constructors of its
 * datatype.
 */
#ifndef ZMPI_DATATYPE_EXTENTS_H
#define ZMPI_DATATYPE_EXTENTS_H

#include <stdbool.h>
#include <stddef.h>

/* Extents that are kept; the outermost one stands for all beyond. */
enum { ZEXTENTS_MOST = 6 };

/* All 0: a single element. */
struct zextents {
    unsigned count;            /* extents above 1 */
    size_t n[ZEXTENTS_MOST];   /* innermost first; their product is that of elements */
    bool whole[ZEXTENTS_MOST]; /* the type takes all of it, not a part of a larger array */
    bool is_complex;           /* and so is an element: two floats of one bound */
    bool is_point;             /* the innermost one is for sure that of a point: a struct's */
};

/* n times such an array, one behind the other. */
void zextents_prepend(struct zextents *e, size_t n, bool whole);
/* `count` elements of which nothing is known. */
struct zextents zextents_row(size_t count);
/* A struct of `members` types: of few floats, a point; of arrays of like points, such points; else
 * a row. `total`: elements of all. */
struct zextents zextents_struct(const struct zextents *const member[], size_t members,
                                size_t total);

/*
 * How many components the extents tell: N interleaved ones where four extents or more have an
 * innermost one of at most 16, -N blocks where they have an outermost one of at most 64, what is
 * less of both; or the floats of a struct. 1: they tell nothing, or points are of complex numbers.
 */
int zextents_components(const struct zextents *e);

#endif
