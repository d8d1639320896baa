/* enhance_net.c - the network's weights as bytes and in the loops' order; sends chunks through
 * it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "enhance/enhance_net.h"
#include "kernels/kernels.h"

void zmpi_net_save(const struct zmpi_net *net, unsigned char dst[ZMPI_NET_BYTES])
{
    memcpy(dst, net->shift, ZMPI_NET_LAYERS);
    dst += ZMPI_NET_LAYERS;
    for (int i = 0; i < ZMPI_NET_BIASES; i++, dst += 4)
        zmpi_store32(dst, (uint32_t)net->bias[i]);
    memcpy(dst, net->weight, ZMPI_NET_WEIGHTS);
}

bool zmpi_net_load(struct zmpi_net *net, const unsigned char src[ZMPI_NET_BYTES])
{
    bool fine = true;
    memcpy(net->shift, src, ZMPI_NET_LAYERS);
    for (int i = 0; i < ZMPI_NET_LAYERS; i++)
        fine = fine && net->shift[i] <= ZMPI_NET_SHIFT_MOST;
    src += ZMPI_NET_LAYERS;
    for (int i = 0; i < ZMPI_NET_BIASES; i++, src += 4) {
        net->bias[i] = (int32_t)zmpi_load32(src);
        fine = fine && net->bias[i] <= ZMPI_NET_BIAS_MOST && net->bias[i] >= -ZMPI_NET_BIAS_MOST;
    }
    memcpy(net->weight, src, ZMPI_NET_WEIGHTS);
    for (int i = 0; i < 9 * zmpi_net_out[0]; i++)
        fine = fine && abs(net->weight[i]) <= ZMPI_NET_FIRST_MOST;
    return fine;
}

/* Packs weights of layer l for `outs` outputs from `first` on, four inputs to a word. */
static uint32_t *pack(const int8_t *weight, int l, int first, int outs, uint32_t *dst)
{
    const int in = zmpi_net_in[l];
    for (int g = 0; g < (in + 3) / 4; g++)
        for (int tap = 0; tap < (l ? 9 : 3); tap++)
            for (int o = first; o < first + outs; o++) {
                uint32_t word = 0;
                for (int i = 0; i < 4; i++) {
                    /* The first layer's four inputs are a point's left neighbour, the point, its
                     * right neighbour, and nothing. */
                    const int at = l ? (o * in + 4 * g + i) * 9 + tap : o * 9 + 3 * tap + i;
                    const int8_t v = l || i < 3 ? weight[at] : 0;
                    word |= (uint32_t)(uint8_t)v << 8 * i;
                }
                *dst++ = word;
            }
    return dst;
}

struct zmpi_net_work *zmpi_net_work_new(const struct zmpi_net *net)
{
    struct zmpi_net_work *w = calloc(1, sizeof *w);
    const int8_t *weight = net->weight;
    if (!w)
        return NULL;
    uint32_t *dst = w->weight;
    w->net = net;
    for (int l = 0; l < ZMPI_NET_LAYERS; l++) {
        const int outs = zmpi_net_out[l], at_once = outs < 8 ? outs : 8;
        w->shift[l] = net->shift[l];
        for (int o = 0; o < outs; o += at_once)
            dst = pack(weight, l, o, at_once, dst);
        weight += (ptrdiff_t)9 * zmpi_net_in[l] * outs;
    }
    memcpy(w->bias, net->bias, sizeof w->bias);
    return w;
}

void zmpi_net_work_free(struct zmpi_net_work *w)
{
    free(w);
}

size_t zmpi_net_patches(size_t extent, size_t *size)
{
    const size_t n = (extent + ZMPI_NET_PATCH - 1) / ZMPI_NET_PATCH;
    *size = (extent + n - 1) / n;
    return (extent + *size - 1) / *size;
}

static double value(enum zmpi_type type, const unsigned char *at, size_t i)
{
    float narrow;
    double wide;
    if (type == ZMPI_F32) {
        memcpy(&narrow, at + 4 * i, sizeof narrow);
        return (double)narrow;
    }
    memcpy(&wide, at + 8 * i, sizeof wide);
    return wide;
}

void zmpi_net_input(enum zmpi_type type, const unsigned char *at, size_t row, size_t h, size_t w,
                    double unit, unsigned char *in)
{
    for (size_t y = 0; y < h; y++)
        for (size_t x = 0; x < w; x++) {
            const size_t i = y * row + x;
            const double left = value(type, at, x > 0 ? i - 1 : i);
            const double right = value(type, at, x + 1 < w ? i + 1 : i);
            const double above = value(type, at, y > 0 ? i - row : i);
            const double below = value(type, at, y + 1 < h ? i + row : i);
            double t = (4 * value(type, at, i) - ((left + right) + (above + below))) * unit;
            t = t > -128 ? t : -128; /* also for NaN */
            t = t < 127 ? t : 127;
            in[y * w + x] = (unsigned char)(int)(t + 128.5);
        }
}

static zmpi_net_engine *engine;

void zmpi_net_use(zmpi_net_engine *e)
{
    engine = e;
}

void zmpi_net_run(struct zmpi_net_work *w, enum zmpi_type type, double abs_bound,
                  const size_t extent[3], const unsigned char *words, int8_t *out)
{
    const size_t width = type == ZMPI_F32 ? 4 : 8, row = extent[2];
    size_t high, wide;
    zmpi_net_patches(extent[1], &high);
    zmpi_net_patches(extent[2], &wide);
    for (size_t z = 0; z < extent[0]; z++)
        for (size_t y = 0; y < extent[1]; y += high)
            for (size_t x = 0; x < extent[2]; x += wide) {
                const size_t h = extent[1] - y < high ? extent[1] - y : high;
                const size_t v = extent[2] - x < wide ? extent[2] - x : wide;
                const size_t at = (z * extent[1] + y) * row + x;
                zmpi_net_input(type, words + at * width, row, h, v, 16 / abs_bound, w->patch);
                if (!engine || !engine(w->net, w->patch, h, v, w->out))
                    zmpi_kernels()->net(w, h, v);
                for (size_t i = 0; i < h; i++)
                    memcpy(out + at + i * row, w->out + i * v, v);
            }
}
