/* train.h - trains the network that enhances values: in floats first, then as the integers of
 * enhance/enhance.h. */
#ifndef TOOL_TRAIN_H
#define TOOL_TRAIN_H

#include "enhance/enhance.h"

/* A patch of a plane of a chunk: decoded and original values, in rows that are `row` elements
 * apart. */
struct train_patch {
    const unsigned char *decoded, *original;
    size_t row, height, width;
    enum zmpi_type type;
    double abs_bound;
};

/* A network in floats: weights and biases as in struct zmpi_net. Inputs are (byte - 128) / 128, all
 * values inside lie from 0 to 127/128, and the output is in units of the bound. */
struct train_net {
    float weight[ZMPI_NET_WEIGHTS], bias[ZMPI_NET_BIASES];
};
enum { TRAIN_NUMBERS = ZMPI_NET_WEIGHTS + ZMPI_NET_BIASES };

/* Begins with random weights, the same in each run. */
void train_begin(struct train_net *t);
void train_from(struct train_net *t, const struct zmpi_net *net);
/* Trains on all patches, or on at most TRAIN_POINTS points of them, `epochs` times. False: no
 * memory. The result does not depend on the number of threads. */
enum { TRAIN_POINTS = 4 << 20 };
bool train_run(struct train_net *t, const struct train_patch *patch, size_t n, int epochs,
               int threads);
/* Converts to integers; the output is multiplied by `scale`. */
void train_quantize(const struct train_net *t, float scale, struct zmpi_net *net);

/* ---- loops (train_loops_t.h) ---- */

enum { TRAIN_ROW = ZMPI_NET_PATCH + 8, TRAIN_ROWS = ZMPI_NET_PATCH + 2 };
typedef float train_plane[TRAIN_ROWS][TRAIN_ROW]; /* a patch at [1][1], with zeros around it */

struct train_work {
    size_t height, width;
    train_plane in, both[24], half[8], deep[16], last[8], out;
    train_plane d_both[24], d_half[8], d_deep[16], d_last[8], d_out; /* derivatives of the loss */
};

/* Computes `out` from `in`; the other loop adds to *gradient what d_out means for each number. */
typedef void train_loop_fn(struct train_work *w, const struct train_net *t,
                           struct train_net *gradient);
train_loop_fn train_forward_any, train_backward_any, train_forward_avx2, train_backward_avx2;

#endif
