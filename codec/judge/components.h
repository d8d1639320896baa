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
    ZMPI_COMPONENTS_FAST = 16,   /* the most that are found in data */
    ZMPI_COMPONENTS_MOST = 64,   /* and that may be set */
    ZMPI_COMPONENTS_LEAST = 1024 /* points, fewer tell too little */
};

/*
 * How many components are interleaved in `count` floats, in the host's or a device's memory: 2 to
 * ZMPI_COMPONENTS_FAST, of which one varies by less than a tenth of what all vary by; else 1.
 * Values of a magnitude from `threshold` on (0: 1e20, where the usual fill values begin) are not
 * looked at. Nothing but the data and the threshold has a part in the answer.
 */
int zmpi_components_find(enum zmpi_type type, double threshold, const void *src, size_t count);
/* How many components take turns in an array that ends inside a point; 1: none, or it ends with a
 * whole point. */
int zmpi_components_cut(enum zmpi_type type, double threshold, const void *src, size_t count);

/* What was found before, of one file: for arrays of the same type and count. All 0: nothing. The
 * caller's; not for two threads at once. */
enum { ZMPI_COMPONENTS_ARRAYS = 8 };
struct zmpi_components_known {
    struct zmpi_components_entry {
        enum zmpi_type type;
        size_t count;
        int components;
        unsigned calls;
    } entry[ZMPI_COMPONENTS_ARRAYS];
    unsigned next; /* the entry that was made first */
};

/* zmpi_components_find, unless the answer is known: it is looked for in the first call of a count
 * and in the second, fourth, eighth... *is_new: it is another than before. *cut (NULL: of no
 * interest): what zmpi_components_cut says of the same samples; 1, too, where none are taken. */
int zmpi_components_recall(struct zmpi_components_known *known, enum zmpi_type type,
                           double threshold, const void *src, size_t count, bool *is_new, int *cut);

/* Copies component c of count elements, a multiple of n, of n interleaved ones, to dst. */
void zmpi_component_take(enum zmpi_type type, const void *src, size_t count, int n, int c,
                         void *dst);
/* The other way: copies `points` elements of component c to where they take turns with n - 1
 * others. */
void zmpi_component_put(enum zmpi_type type, const void *src, size_t points, int n, int c,
                        void *dst);

/* Copies all n components of `points` points to dst, each `plane` elements behind the one before.
 * Such distances should be no powers of two. */
void zmpi_components_split(enum zmpi_type type, const void *src, size_t points, int n, int threads,
                           void *dst, size_t plane);

/* Some of n components, or all, from an element of each on; with `planes` of them alone the others'
 * places are left as they are. */
struct zmpi_planes {
    size_t n, width, first, planes; /* width: bytes of an element; `first`: which word[0] is */
    const unsigned char *word[ZMPI_COMPONENTS_MOST];
};

/* Copies bytes [lo, hi) of the interleaved array to dst, where byte lo goes. past: store past the
 * caches, since there is much; whoever tells another thread of the data orders the stores. */
void zmpi_components_place(const struct zmpi_planes *p, uint64_t lo, uint64_t hi, bool past,
                           unsigned char *dst);

/* The ranges of components [first, end) of such elements in the host's memory, merged into
 * range[]: of values below the threshold that are no fill value. */
void zmpi_components_range(enum zmpi_type type, const void *src, size_t count, int n, int first,
                           int end, double threshold, const struct zmpi_fills *fills, int threads,
                           struct zmpi_range range[]);
/* What may be fill values of component c, whose range is known. */
struct zmpi_fill zmpi_component_fill(enum zmpi_type type, const void *src, size_t count, int n,
                                     int c, const struct zmpi_range *range);

#endif
