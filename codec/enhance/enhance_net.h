/* enhance_net.h - the network's memory and loops, which are compiled once per instruction set. */
#ifndef ZMPI_ENHANCE_NET_H
#define ZMPI_ENHANCE_NET_H

#include "enhance/enhance.h"
#include "kernels/kernels.h"

/*
 * Four channels of a point are the bytes of a u32, the first one lowest. A plane has room for a
 * patch with zeros around it. Rows begin behind a gap, so that vectors of 16 points are aligned.
 */
enum {
    NET_LEFT = 16,
    NET_ROW = NET_LEFT + ZMPI_NET_PATCH + 16,
    NET_ROWS = ZMPI_NET_PATCH + 2,
    NET_PLANE = NET_ROWS * NET_ROW,
    NET_DOTS = 3 * 8 + 9 * 2 * 16 + 9 * 6 * 8 + 9 * 2 * 1
};

struct zmpi_net_work {
    const struct zmpi_net *net;
    unsigned shift[ZMPI_NET_LAYERS];
    int32_t bias[ZMPI_NET_BIASES];
    uint32_t weight[NET_DOTS]; /* of four channels each, as the loops take them */
    unsigned char patch[ZMPI_NET_PATCH * ZMPI_NET_PATCH];
    int8_t out[ZMPI_NET_PATCH * ZMPI_NET_PATCH];
    uint32_t in[NET_PLANE];      /* each point with its left and right neighbours */
    uint32_t both[6][NET_PLANE]; /* the first layer's outputs, then the second's */
    uint32_t half[2][NET_PLANE], deep[4][NET_PLANE], last[2][NET_PLANE];
};

/* The first weight of a layer in `weight`. */
static const int zmpi_net_dots[ZMPI_NET_LAYERS] = {0, 24, 24 + 288, 24 + 288 + 432};

#endif
