/* flare_nets.h - networks for the array of FLARE's enhancer, and what the codec makes of a piece.
 */
#ifndef ZMPI_FLARE_NETS_H
#define ZMPI_FLARE_NETS_H

#include "kit.h"

#include "enhance/enhance_net.h"
#include "flare_net.h"

/* The codec's network does the same. */
static inline void by_codec(const struct flare_net *net, const unsigned char *in, size_t h,
                            size_t w, const int8_t *want)
{
    struct zmpi_net same;
    memcpy(same.shift, net->shift, sizeof same.shift);
    memcpy(same.bias, net->bias, sizeof same.bias);
    memcpy(same.weight, net->weight, sizeof same.weight);
    struct zmpi_net_work *work = zmpi_net_work_new(&same);
    memcpy(work->patch, in, h * w);
    zmpi_kernels()->net(work, h, w);
    cr_assert_arr_eq(work->out, want, h * w, "%zux%zu by the codec", h, w);
    zmpi_net_work_free(work);
}

/* Layers whose outputs are neither all 0 nor all at an end; weights up to the ends of their range.
 */
static inline struct flare_net random_net(struct kit_random *r)
{
    struct flare_net net = {.shift = {8, 9, 10, 8}};
    for (int i = 0; i < FLARE_NET_WEIGHTS; i++)
        net.weight[i] =
            (int8_t)(i < 9 * 8 ? (int)kit_below(r, 129) - 64 : (int)kit_below(r, 256) - 128);
    for (int i = 0; i < FLARE_NET_BIASES; i++)
        net.bias[i] = (int32_t)kit_below(r, 20001) - 10000;
    return net;
}

#endif
