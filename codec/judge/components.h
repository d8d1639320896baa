/*
 * components.h - arrays of structures: values of several variables take turns, as a solver writes
 * density, velocity and pressure of each point. Each variable has its own range, since an error
 * that is small for one may destroy another.
 */
#ifndef ZMPI_COMPONENTS_H
#define ZMPI_COMPONENTS_H

#include "bound/fill.h"
#include "device.h"

enum {
    ZMPI_COMPONENTS_FAST = 16,   /* the most that the search finds in data */
    ZMPI_COMPONENTS_MOST = 64,   /* the most that a user may set */
    ZMPI_COMPONENTS_LEAST = 1024 /* fewer points tell too little */
};

/*
 * Returns how many components are interleaved in `count` floats, which lie in the host's or a
 * device's memory: 2 to ZMPI_COMPONENTS_FAST, if one of them varies by less than a tenth of the
 * span of all; else 1. The search leaves out magnitudes from `threshold` on (0: 1e20, where the
 * usual fill values begin). The answer depends on the data and the threshold only.
 */
int zmpi_components_find(enum zmpi_type type, double threshold, const void *src, size_t count);
/* The same for an array that ends inside a point; 1: it has no components, or it ends with a whole
 * point. */
int zmpi_components_cut(enum zmpi_type type, double threshold, const void *src, size_t count);

/* Returns how many components are interleaved if they only tell themselves by agreement: 2 to
 * ZMPI_COMPONENTS_FAST, if the difference from the same component of the point before has at least
 * a bit less, in units of `step`, than that from the neighbour; else 1. */
int zmpi_components_near(enum zmpi_type type, double threshold, double step, const void *src,
                         size_t count);

/* What was found in earlier arrays of one file, by type and count. All 0: nothing. The caller owns
 * it; two threads must not use it at once. */
enum { ZMPI_COMPONENTS_ARRAYS = 8 };
struct zmpi_components_known {
    struct zmpi_components_entry {
        enum zmpi_type type;
        size_t count;
        int components;
        unsigned calls;
    } entry[ZMPI_COMPONENTS_ARRAYS];
    unsigned next; /* the oldest entry */
};

/* zmpi_components_find, unless the answer is known: only the first, second, fourth, eighth... call
 * for a type and a count looks at the data. *is_new: the answer has changed. *cut (NULL: not
 * wanted): what zmpi_components_cut says of the same samples; 1 also if this call takes no samples.
 */
int zmpi_components_recall(struct zmpi_components_known *known, enum zmpi_type type,
                           double threshold, const void *src, size_t count, bool *is_new, int *cut);

/* Copies component c to dst, out of `count` elements of n interleaved components; count is a
 * multiple of n. */
void zmpi_component_take(enum zmpi_type type, const void *src, size_t count, int n, int c,
                         void *dst);
/* The reverse: copies `points` elements of component c to their places among the n - 1 other
 * components. */
void zmpi_component_put(enum zmpi_type type, const void *src, size_t points, int n, int c,
                        void *dst);

/* Copies all n components of `points` points to dst; each begins `plane` elements behind the one
 * before. `plane` should not be a power of two, or the components compete for the same cache lines.
 */
void zmpi_components_split(enum zmpi_type type, const void *src, size_t points, int n, int threads,
                           void *dst, size_t plane);

/* All of n components, or `planes` consecutive ones of them. If it has only some, the places of the
 * others are not written. */
struct zmpi_planes {
    size_t n, width, first, planes; /* width: of an element; first: component of word[0] */
    const unsigned char *word[ZMPI_COMPONENTS_MOST];
};

/* Copies bytes [lo, hi) of the interleaved array to dst, where byte lo goes. past: stores bypass
 * the caches, for much data; then the caller must order the stores (a fence) before another thread
 * reads them. */
void zmpi_components_place(const struct zmpi_planes *p, uint64_t lo, uint64_t hi, bool past,
                           unsigned char *dst);

/* Merges the ranges of components [first, end) into range[]: those of values below the threshold
 * that are not fill values. The elements lie in the host's memory. */
void zmpi_components_range(enum zmpi_type type, const void *src, size_t count, int n, int first,
                           int end, double threshold, const struct zmpi_fills *fills, int threads,
                           struct zmpi_range range[]);
/* Returns what may be fill values of component c, whose range is known. */
struct zmpi_fill zmpi_component_fill(enum zmpi_type type, const void *src, size_t count, int n,
                                     int c, const struct zmpi_range *range);

#endif
