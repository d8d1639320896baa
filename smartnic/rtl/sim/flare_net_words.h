/* flare_net_words.h - a network's weights and biases in the form that the array takes
 * (flare_net.sv). */
#ifndef ZMPI_FLARE_NET_WORDS_H
#define ZMPI_FLARE_NET_WORDS_H

#include "flare_net.h"

#include <vector>

struct flare_net_words {
    std::vector<int8_t> weight; /* side * side at a time */
    std::vector<uint32_t> bias; /* side at a time */
    uint32_t shifts = 0;

    flare_net_words(const flare_net &net, int side)
    {
        const int8_t *from = net.weight;
        const int32_t *bias_of = net.bias;
        for (int l = 0; l < FLARE_NET_LAYERS; l++) {
            const int in = flare_net_in[l], out = flare_net_out[l];
            const int groups =
                l == 2 ? groups_of(8, side) + groups_of(16, side) : groups_of(in, side);
            for (int o = 0; o < groups_of(out, side); o++) {
                for (int k = 0; k < groups * 9; k++)
                    put_weights(from, side, l, o, k / 9, k % 9);
                for (int j = o * side; j < (o + 1) * side; j++)
                    bias.push_back(j < out ? (uint32_t)bias_of[j] : 0);
            }
            shifts |= (uint32_t)net.shift[l] << 5 * l;
            from += 9 * in * out;
            bias_of += out;
        }
    }

  private:
    static int groups_of(int channels, int side)
    {
        return (channels + side - 1) / side;
    }

    /* The channel of layer l's inputs that lane i of group g has; -1: none. */
    static int channel_of(int side, int l, int g, int i)
    {
        const int first = groups_of(8, side); /* of the first layer's 8 */
        if (l == 2 && g >= first) {
            const int c = (g - first) * side + i;
            return c < 16 ? 8 + c : -1;
        }
        const int c = g * side + i, most = l == 2 ? 8 : flare_net_in[l];
        return c < most ? c : -1;
    }

    void put_weights(const int8_t *of_layer, int side, int l, int o, int g, int tap)
    {
        const int in = flare_net_in[l], out = flare_net_out[l];
        for (int j = 0; j < side; j++)
            for (int i = 0; i < side; i++) {
                const int to = o * side + j, from = channel_of(side, l, g, i);
                weight.push_back(to < out && from >= 0 ? of_layer[(to * in + from) * 9 + tap] : 0);
            }
    }
};

#endif
