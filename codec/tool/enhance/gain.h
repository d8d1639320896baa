/* gain.h - what the network gains on the streams of a file, compared with a smaller bound. */
#ifndef TOOL_GAIN_H
#define TOOL_GAIN_H

#include "enhance/enhance.h"

/* A stream: its original array, the decoded one, and the results of its chunks. */
struct piece {
    unsigned char *record, *original, *decoded; /* malloc; the record has the stream */
    struct zmpi_stream s;
    struct zmpi_range range; /* of the original */
    struct zmpi_gain *gain;  /* of each chunk */
    unsigned char **flags;   /* malloc each */
    bool *on;
};

/* What smaller bounds give: points in increasing order of bytes. */
enum { CURVE_COARSE = 12, CURVE_FINE = 8, CURVE_MOST = CURVE_COARSE + CURVE_FINE };
struct curve {
    int count;
    double part[CURVE_MOST], bytes[CURVE_MOST]; /* of the stream's bound */
    double error[CURVE_MOST];                   /* sums of squares, in units of the bound */
};

/* Compresses all streams by their bound, then by smaller ones, until they take a third more, and
 * more than the weights. */
enum zmpi_status gain_curve(const struct piece *piece, size_t n, int threads, struct curve *c);
/* Adds bounds whose streams take nearly so many bytes. Only once. */
enum zmpi_status gain_refine(const struct piece *piece, size_t n, int threads, double bytes,
                             struct curve *c);
/* The least error for so many bytes; 0: no bound took so many. */
double gain_plain(const struct curve *c, double bytes);

/* Computes gain and flags of all chunks, or of some, by the outputs of e's network.
 * ZMPI_ERR_MEMORY. */
enum zmpi_status gain_measure(const struct zmpi_enhancer *e, struct piece *piece, size_t n,
                              size_t step, int threads);
/* Switches on the chunks that gain at least `worth` for each byte. Returns the error then; *bytes:
 * of all flags. */
double gain_decide(struct piece *piece, size_t n, double worth, double *bytes);
void gain_free(struct piece *piece, size_t n);

#endif
