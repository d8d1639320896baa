/*
 * flare_net.h - the network of FLARE's enhancer in whole numbers, in its plainest form. The array
 * of multipliers (smartnic/rtl/flare) is compared with it. docs/flare.md tells its arithmetic.
 */
#ifndef FLARE_NET_H
#define FLARE_NET_H

#include <stddef.h>
#include <stdint.h>

enum {
    FLARE_NET_LAYERS = 4,
    FLARE_NET_SIDE = 64, /* of a piece, at most */
    FLARE_NET_BIASES = 8 + 16 + 8 + 1,
    FLARE_NET_WEIGHTS = 9 * (1 * 8 + 8 * 16 + 24 * 8 + 8 * 1),
    FLARE_NET_ONE = 64 /* output that stands for the bound, and is the largest */
};

/* Channels that go into each layer and come out of it. */
extern const int flare_net_in[FLARE_NET_LAYERS], flare_net_out[FLARE_NET_LAYERS];

/* Layer by layer; weights by output, input, row, column. */
struct flare_net {
    unsigned char shift[FLARE_NET_LAYERS];
    int32_t bias[FLARE_NET_BIASES];
    int8_t weight[FLARE_NET_WEIGHTS];
};

/* Converts the values of a slice to 8 bits: the least to 0, the largest, which must be more, to
 * 255. */
void flare_net_scale(const int32_t *value, size_t n, int32_t least, int32_t largest,
                     unsigned char *in);
/* Runs it on a piece of height x width points, at most FLARE_NET_SIDE each. beside: the input
 * beside the piece; for a slice 0, its least value. */
void flare_net_run(const struct flare_net *net, const unsigned char *in, unsigned char beside,
                   size_t height, size_t width, int8_t *out);

#endif
