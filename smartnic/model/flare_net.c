/* flare_net.c - the enhancer's network point by point (flare_net.h). */
#include "flare_net.h"

#include <stdbool.h>
#include <string.h>

enum { SIDE = FLARE_NET_SIDE, PLANE = SIDE * SIDE };

const int flare_net_in[FLARE_NET_LAYERS] = {1, 8, 24, 8};
const int flare_net_out[FLARE_NET_LAYERS] = {8, 16, 8, 1};

void flare_net_scale(const int32_t *value, size_t n, int32_t least, int32_t largest,
                     unsigned char *in)
{
    const uint32_t range = (uint32_t)largest - (uint32_t)least;
    unsigned drop = 0;
    while (range >> drop > UINT16_MAX)
        drop++;
    const uint32_t reciprocal = (1u << 24) / ((range >> drop) + 1);
    for (size_t i = 0; i < n; i++) {
        const uint64_t offset = ((uint32_t)value[i] - (uint32_t)least) >> drop;
        in[i] = (unsigned char)(offset * reciprocal >> 16);
    }
}

/* Channels of a layer, row by row. */
struct channels {
    size_t height, width;
    unsigned char at[24][PLANE];
};

static int32_t convolve(const struct channels *in, unsigned char beside, const int8_t *weight,
                        int inputs, size_t y, size_t x)
{
    int32_t sum = 0;
    for (int c = 0; c < inputs; c++)
        for (size_t tap = 0; tap < 9; tap++, weight++) {
            const size_t v = y + tap / 3 - 1, u = x + tap % 3 - 1;
            const bool there = v < in->height && u < in->width;
            sum += *weight * (there ? in->at[c][v * in->width + u] : beside);
        }
    return sum;
}

static int32_t clamp(int32_t v, int32_t low, int32_t high)
{
    return v < low ? low : v > high ? high : v;
}

/* Weights and biases of layer l. */
static const int8_t *weights_of(const struct flare_net *net, int l, const int32_t **bias)
{
    const int8_t *weight = net->weight;
    *bias = net->bias;
    for (int k = 0; k < l; k++) {
        weight += (ptrdiff_t)9 * flare_net_in[k] * flare_net_out[k];
        *bias += flare_net_out[k];
    }
    return weight;
}

static void layer(const struct flare_net *net, int l, const struct channels *in,
                  unsigned char beside, struct channels *out)
{
    const int32_t *bias;
    const int8_t *weight = weights_of(net, l, &bias);
    out->height = in->height;
    out->width = in->width;
    for (int o = 0; o < flare_net_out[l]; o++, weight += (ptrdiff_t)9 * flare_net_in[l])
        for (size_t i = 0; i < in->height * in->width; i++) {
            const int32_t sum = bias[o] + convolve(in, beside, weight, flare_net_in[l],
                                                   i / in->width, i % in->width);
            out->at[o][i] = (unsigned char)clamp(sum >> net->shift[l], 0, 127);
        }
}

/* Means of 2 x 2 points. Points beside the piece count as 0. */
static void halve(const struct channels *in, struct channels *out)
{
    out->height = (in->height + 1) / 2;
    out->width = (in->width + 1) / 2;
    for (int c = 0; c < 8; c++)
        for (size_t i = 0; i < out->height * out->width; i++) {
            unsigned sum = 2;
            for (size_t k = 0; k < 4; k++) {
                const size_t y = 2 * (i / out->width) + k / 2, x = 2 * (i % out->width) + k % 2;
                sum += y < in->height && x < in->width ? in->at[c][y * in->width + x] : 0;
            }
            out->at[c][i] = (unsigned char)(sum / 4);
        }
}

/* Behind the 8 channels of the first layer come 16 with half as many rows and columns. */
static void join(struct channels *first, const struct channels *deep)
{
    for (int c = 0; c < 16; c++)
        for (size_t i = 0; i < first->height * first->width; i++)
            first->at[8 + c][i] =
                deep->at[c][i / first->width / 2 * deep->width + i % first->width / 2];
}

void flare_net_run(const struct flare_net *net, const unsigned char *in, unsigned char beside,
                   size_t height, size_t width, int8_t *out)
{
    static _Thread_local struct channels first, other, deep;
    const int32_t *bias;
    other.height = height;
    other.width = width;
    memcpy(other.at[0], in, height * width);
    layer(net, 0, &other, beside, &first);
    halve(&first, &other);
    layer(net, 1, &other, 0, &deep);
    join(&first, &deep);
    layer(net, 2, &first, 0, &other);
    const int8_t *weight = weights_of(net, 3, &bias);
    for (size_t i = 0; i < height * width; i++) {
        const int32_t sum = *bias + convolve(&other, 0, weight, 8, i / width, i % width);
        out[i] = (int8_t)clamp(sum >> net->shift[3], -FLARE_NET_ONE, FLARE_NET_ONE);
    }
}
