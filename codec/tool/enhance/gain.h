/* gain.h - what the network gains on the streams of a file, against a smaller bound. */
#ifndef TOOL_GAIN_H
#define TOOL_GAIN_H

#include "enhance/enhance.h"

/* A stream: its array as it was and as it is decoded, and what became of its chunks. */
struct piece {
    unsigned char *record, *original, *decoded; /* malloc; the record has the stream */
    struct zmpi_stream s;
    struct zmpi_range range; /* of the original */
    struct zmpi_gain *gain;  /* of each chunk */
    unsigned char **flags;   /* malloc each */
    bool *on;
};

/* What a smaller bound gives: points in increasing order of bytes. */
enum { CURVE_MOST = 12 };
struct curve {
    int count;
    double bytes[CURVE_MOST], error[CURVE_MOST]; /* sums of squares, in units of the bound */
};

/* All streams by their bound, then by smaller ones, until they take a third more, and
 * more than the weights. */
enum zmpi_status gain_curve(const struct piece *piece, size_t n, int threads, struct curve *c);
/* The least error for so many bytes; 0: for more than any of the bounds took. */
double gain_plain(const struct curve *c, double bytes);

/* Outputs of e's network for all chunks, or for some; gain, flags. ZMPI_ERR_MEMORY. */
enum zmpi_status gain_measure(const struct zmpi_enhancer *e, struct piece *piece, size_t n,
                              size_t step, int threads);
/* Chunks are on if they gain `worth` for each byte; returns the error then, *bytes: of all flags.
 */
double gain_decide(struct piece *piece, size_t n, double worth, double *bytes);
void gain_free(struct piece *piece, size_t n);

#endif
