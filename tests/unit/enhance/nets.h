/* nets.h - networks for the tests. */
#ifndef ZMPI_TEST_NETS_H
#define ZMPI_TEST_NETS_H

#include "kit.h"

#include "enhance/enhance.h"

/* extreme: as large as numbers may be. */
static inline void make_net(struct kit_random *r, bool extreme, struct zmpi_net *net)
{
    static const unsigned char shift[] = {5, 7, 7, 8};
    memcpy(net->shift, shift, sizeof shift);
    for (int i = 0; i < ZMPI_NET_BIASES; i++)
        net->bias[i] = (int32_t)(kit_unit(r) * (extreme ? 1 << 18 : 2000));
    for (int i = 0; i < ZMPI_NET_WEIGHTS; i++) {
        const int most = i < 72 ? 64 : 127;
        net->weight[i] = (int8_t)(extreme ? (kit_below(r, 4) ? most : -most - (i >= 72))
                                          : (int)(kit_unit(r) * most));
    }
}

#endif
