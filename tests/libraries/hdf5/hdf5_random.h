/*
 * hdf5_random.h - random programs of HDF5, and what their files must hold afterwards.
 *
 * All ranks draw the same numbers, so that each knows what all of them do. Every write changes the
 * file, and a model of it in memory. With `replay` only the model changes.
 */
#ifndef ZMPI_TESTS_HDF5_RANDOM_H
#define ZMPI_TESTS_HDF5_RANDOM_H

#include <hdf5.h>

#include "../../mpi/check.h"

#define H5(call)                                                                                   \
    do {                                                                                           \
        if ((call) < 0)                                                                            \
            check_fail(__FILE__, __LINE__, "%s", #call);                                           \
    } while (0)

enum { MOST_RANK = 4, SETS = 6, MOST_ELEMENTS = 12000 };
enum type { F32, F64, F32_BE, F64_BE, I32, I16_BE, U8, I16, TYPES };
enum look { SMOOTH, NOISE, CONSTANT, MIXED, WIDE, WHOLE, LOOKS };
enum layout { CONTIGUOUS, CHUNKED, GROWING, COMPACT, LAYOUTS };

struct set {
    bool is_there;
    bool alone; /* a rank alone has written since the last flush */
    char name[24];
    int rank;
    hsize_t size[MOST_RANK], most[MOST_RANK], chunk[MOST_RANK];
    enum type type;
    enum layout layout;
    double fill;
    double range; /* largest of a call; `serial`: with all values and the fill value */
    double least, greatest;
    int codings;     /* how often a filter may have coded an element */
    hsize_t rows;    /* `once`: the first rows, which were written */
    double *value;   /* the value of each element */
    double *flushed; /* the values at the last flush */
};

/* What one rank transfers: elements `at` of the dataset, which lie at `in` in a buffer of `held`
 * elements, in the order of both selections. */
struct part {
    enum type type;
    hid_t file, memory; /* H5S_ALL, or a space that the caller closes */
    size_t n, held;
    size_t *at, *in;
};

extern int rank, ranks;
extern double bound;  /* of floats in the machine's byte order */
extern bool relative; /* the bound is relative to the range of a call's values */
extern bool filter;   /* datasets go through a filter */
extern bool gzip;     /* that filter is gzip */
extern bool serial;   /* files without MPI-IO */
extern bool once;     /* no chunk is written again */
extern bool interp;   /* zeros are not exact */

/* ---- hdf5_random_parts.c ---- */

void seed(uint64_t s);
size_t pick(size_t n); /* 0 to n - 1 */

hid_t type_in_file(enum type type);
bool is_float(enum type type);
size_t bytes_of(enum type type);
void put(enum type type, void *data, size_t i, double v);
double get(enum type type, const void *data, size_t i);
size_t elements(const struct set *s);
void allocate(struct set *s); /* allocates its values */
void draw_set(struct set *s, int number);
hid_t creation_list(const struct set *s);

/* The value of element i, if a program writes values of this look. */
double value_of(const struct set *s, enum type memory, size_t salt, enum look look, size_t i);

/* Is the value what it should be? more: how much more it may differ, since it was converted. */
bool is_as(const struct set *s, double is, double should, double more);

/* Selects elements of the box from `low` to below `high`, or, if `whole`, all of them. */
struct part make_part(const struct set *s, enum type type, const hsize_t *low, const hsize_t *high,
                      bool whole);
void end_part(struct part *p);

#endif
