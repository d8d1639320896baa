/*
 * enhance_net_t.h - the network's loops.
 *
 * Define before including it: NET_RUN the function's name; LANES; V a vector of LANES i32;
 * SPREAD(x) a vector of x in all lanes; LOAD(p), STORE(p, v) of u32, unaligned; DOT(sum, v, w) adds
 * to each lane the products of its four bytes, unsigned in v and signed in w; SHIFT(v, n)
 * arithmetic; CLAMP(v, low, high); PACK(a, b, c, d) the bytes of a u32 from four numbers below 256.
 */
#include "enhance/enhance_net.h"

/* One layer: 3 rows and `columns` columns of `groups` input planes, for 8 output channels, or 1. */
struct convolution {
    const uint32_t *in;
    int groups, columns, outs;
    const uint32_t *weight;
    const int32_t *bias;
    unsigned shift;
    uint32_t *out;
};

static inline __attribute__((always_inline)) void
convolve(const struct convolution *c, size_t height, size_t width, int outs, int8_t *last)
{
    const size_t first = c->columns == 3 ? NET_LEFT - 1 : NET_LEFT;
    for (size_t y = 0; y < height; y++) {
        for (size_t x = 0; x < width; x += LANES) {
            V sum[8];
            const uint32_t *w = c->weight;
            for (int o = 0; o < outs; o++)
                sum[o] = SPREAD(c->bias[o]);
            for (int g = 0; g < c->groups; g++)
                for (size_t i = 0; i < 3; i++)
                    for (int j = 0; j < c->columns; j++, w += outs) {
                        const V v = LOAD(c->in + (size_t)g * NET_PLANE + (y + i) * NET_ROW + first +
                                         x + (size_t)j);
                        for (int o = 0; o < outs; o++)
                            sum[o] = DOT(sum[o], v, w[o]);
                    }
            if (last) {
                int32_t lane[LANES];
                STORE(lane, CLAMP(SHIFT(sum[0], c->shift), -ZMPI_NET_ONE, ZMPI_NET_ONE));
                for (size_t k = 0; k < LANES && x + k < width; k++)
                    last[y * width + x + k] = (int8_t)lane[k];
                continue;
            }
            for (int o = 0; o < outs; o++)
                sum[o] = CLAMP(SHIFT(sum[o], c->shift), 0, 127);
            uint32_t *out = c->out + (y + 1) * NET_ROW + NET_LEFT + x;
            STORE(out, PACK(sum[0], sum[1], sum[2], sum[3]));
            STORE(out + NET_PLANE, PACK(sum[4], sum[5], sum[6], sum[7]));
        }
        if (!last) /* everything outside the patch is zero */
            for (size_t g = 0; g < 2; g++)
                c->out[g * NET_PLANE + (y + 1) * NET_ROW + NET_LEFT + width] = 0;
    }
    for (size_t g = 0; g < 2 && !last; g++)
        memset(c->out + g * NET_PLANE + (height + 1) * NET_ROW, 0, NET_ROW * sizeof *c->out);
}

/* Makes 8 channels at a time. */
static void layer(struct zmpi_net_work *w, int l, int groups, int columns, const uint32_t *in,
                  uint32_t *out, size_t height, size_t width)
{
    struct convolution c = {.in = in,
                            .groups = groups,
                            .columns = columns,
                            .weight = w->weight + zmpi_net_dots[l],
                            .bias = w->bias,
                            .shift = w->shift[l],
                            .out = out};
    for (int k = 0; k < l; k++)
        c.bias += zmpi_net_out[k];
    for (int o = 0; o < zmpi_net_out[l]; o += 8) {
        convolve(&c, height, width, 8, NULL);
        c.weight += groups * 3 * columns * 8;
        c.bias += 8;
        c.out += 2 * (size_t)NET_PLANE;
    }
}

/* Spreads the input's points, each with its neighbours. A neighbour outside the patch counts as an
 * equal one. */
static void spread_input(struct zmpi_net_work *w, size_t height, size_t width)
{
    enum { NONE = 128 };
    uint32_t *row = w->in + NET_LEFT;
    for (size_t y = 0; y < height + 2; y++, row += NET_ROW)
        for (size_t x = 0; x < width; x++) {
            const unsigned char *p = w->patch + (y - 1) * width + x;
            const bool inside = y > 0 && y <= height;
            const uint32_t left = inside && x > 0 ? p[-1] : NONE;
            const uint32_t here = inside ? p[0] : NONE;
            const uint32_t right = inside && x + 1 < width ? p[1] : NONE;
            row[x] = left | here << 8 | right << 16;
        }
}

/* The mean of 2 x 2 points, for each of the four bytes. */
static uint32_t mean4(const uint32_t *p)
{
    const uint32_t few = 0x00ff00ff;
    uint32_t even = 0x00020002, odd = 0x00020002;
    for (size_t i = 0; i < 4; i++) {
        const uint32_t v = p[i / 2 * NET_ROW + i % 2];
        even += v & few;
        odd += v >> 8 & few;
    }
    return (even >> 2 & few) | (odd >> 2 & few) << 8;
}

static void halve(struct zmpi_net_work *w, size_t height, size_t width)
{
    for (size_t g = 0; g < 2; g++) {
        for (size_t y = 0; y < height; y++) {
            uint32_t *to = w->half[g] + (y + 1) * NET_ROW + NET_LEFT;
            const uint32_t *from = w->both[g] + (2 * y + 1) * NET_ROW + NET_LEFT;
            for (size_t x = 0; x < width; x++)
                to[x] = mean4(from + 2 * x);
            to[width] = 0;
        }
        memset(w->half[g] + (height + 1) * NET_ROW, 0, sizeof(uint32_t) * NET_ROW);
    }
}

static void enlarge(struct zmpi_net_work *w, size_t height, size_t width)
{
    for (size_t g = 0; g < 4; g++) {
        for (size_t y = 0; y < height; y++) {
            uint32_t *to = w->both[2 + g] + (y + 1) * NET_ROW + NET_LEFT;
            const uint32_t *from = w->deep[g] + (y / 2 + 1) * NET_ROW + NET_LEFT;
            for (size_t x = 0; x < width; x++)
                to[x] = from[x / 2];
            to[width] = 0;
        }
        memset(w->both[2 + g] + (height + 1) * NET_ROW, 0, sizeof(uint32_t) * NET_ROW);
    }
}

void NET_RUN(struct zmpi_net_work *w, size_t height, size_t width)
{
    const size_t h = (height + 1) / 2, v = (width + 1) / 2;
    spread_input(w, height, width);
    layer(w, 0, 1, 1, w->in, w->both[0], height, width);
    halve(w, h, v);
    layer(w, 1, 2, 3, w->half[0], w->deep[0], h, v);
    enlarge(w, height, width);
    layer(w, 2, 6, 3, w->both[0], w->last[0], height, width);
    const struct convolution c = {.in = w->last[0],
                                  .groups = 2,
                                  .columns = 3,
                                  .weight = w->weight + zmpi_net_dots[3],
                                  .bias = w->bias + ZMPI_NET_BIASES - 1,
                                  .shift = w->shift[3]};
    convolve(&c, height, width, 1, w->out);
}
