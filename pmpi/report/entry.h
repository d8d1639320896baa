/* entry.h - a row of the report: one closed file. */
#ifndef ZMPI_REPORT_ENTRY_H
#define ZMPI_REPORT_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum {
    WRITTEN,
    STORED,
    READ,
    RECORDS,
    RANGE,
    COMPRESS,
    WAIT,
    WRITE_TIME,
    READ_TIME,
    COLLECTIVE,
    INDEPENDENT,
    OFFLOADED,
    READ_OFFLOADED,
    EXACT,    /* bytes that are no floats, though a bound is set */
    MISTYPED, /* bytes of floats in the other byte order, or of none, though a bound is set */
    LOOKED,   /* bytes of calls without a float type that were looked at */
    LOOK_F32, /* those that look like floats */
    LOOK_F64,
    WOULD,  /* what all of them would take */
    BY_FLE, /* bytes */
    BY_HUFFMAN,
    ALL_FLE, /* seconds that all of them would have taken, as estimated */
    ALL_HUFFMAN,
    SUMS
};

struct use {
    char device[32], why[96];
};

/* One closed file, summed over its ranks. Plain data: it travels as bytes. */
struct entry {
    char path[512];
    char bound[40];
    char bound_from[16],
        bound_overrides[40]; /* what set it; "", or what was set for the whole job */
    struct use by, read_by;  /* of the first rank */
    char codec[24];
    double sum[SUMS];
    double ranks;
    double ratio;    /* asked; 0: something else was */
    bool plain;      /* given back as a plain file */
    bool hdf5;       /* HDF5 opened it */
    bool datasets;   /* whose datasets have bounds by rules */
    bool call_rules; /* there are rules for single calls */
    double coded[2];
    bool found;        /* a ratio or a psnr was asked */
    double largest[2]; /* bound that it took: absolute, as a part of the range */
    double flat;       /* share of the lossy values that became constants */
    size_t calls;      /* bytes of the text of its write calls */
};

/* Plain doubles: they are summed over all processes. */
struct more {
    double files, sum[SUMS];
};

void zentry_add(struct more *m, const struct entry *e);
/* Errors up to `share` of the range, spread evenly, are a noise of so many decibels. */
double zentry_decibels(double share);

/* print.c: numbers with a point, if zmpi_decimal_begin came before. */
/* A line for each of the first TEXT_MOST, and one for the others, which `others` has some of. */
void zentry_print_text(FILE *out, const struct entry *e, size_t n, const struct more *others);
/* calls: JSON of its write calls (calls.c), or NULL. */
void zentry_print_json(FILE *out, const struct entry *e, const char *calls);
void zentry_print_json_more(FILE *out, const struct more *m);

#endif
