/* train_loops_t.h - the network in floats, forward and backward. FORWARD and BACKWARD are the
 * functions' names. */
#include <string.h>

#include "tool/enhance/train.h"

static const float most = 127.0F / 128;

/* One layer: `ins` planes to `outs` planes; each output is a sum over 3 x 3 points of all
 * inputs. */
struct layer {
    const float *weight, *bias;
    train_plane *in, *out;
    int ins, outs;
};

static void convolve(const struct layer *l, size_t height, size_t width, bool cut)
{
    const float *w = l->weight;
    memset(l->out, 0, (size_t)l->outs * sizeof *l->out);
    for (int o = 0; o < l->outs; o++, w += 9 * (ptrdiff_t)l->ins)
        for (size_t y = 0; y < height; y++) {
            float *sum = l->out[o][y + 1] + 1;
            for (size_t x = 0; x < width; x++)
                sum[x] = l->bias[o];
            for (int i = 0; i < l->ins; i++)
                for (size_t k = 0; k < 3; k++) {
                    const float *row = l->in[i][y + k], *f = w + 9 * i + 3 * k;
                    const float a = f[0], b = f[1], c = f[2];
                    for (size_t x = 0; x < width; x++)
                        sum[x] += a * row[x] + b * row[x + 1] + c * row[x + 2];
                }
            for (size_t x = 0; x < width && cut; x++)
                sum[x] = sum[x] < 0 ? 0 : sum[x] > most ? most : sum[x];
        }
}

/* d_out: of the layer's clamped result; a clamped value has no derivative. d_in: is added to; NULL:
 * not needed. */
static void backward(const struct layer *l, train_plane *d_out, train_plane *d_in, float *d_weight,
                     float *d_bias, size_t height, size_t width, bool cut)
{
    for (int o = 0; o < l->outs; o++)
        for (size_t y = 0; y < height; y++) {
            float *d = d_out[o][y + 1] + 1, total = 0;
            const float *value = l->out[o][y + 1] + 1;
            for (size_t x = 0; x < width && cut; x++)
                d[x] = value[x] > 0 && value[x] < most ? d[x] : 0;
            for (size_t x = 0; x < width; x++)
                total += d[x];
            d_bias[o] += total;
            for (int i = 0; i < l->ins; i++)
                for (size_t k = 0; k < 3; k++) {
                    const size_t at = 9 * ((size_t)o * (size_t)l->ins + (size_t)i) + 3 * k;
                    const float *row = l->in[i][y + k], *f = l->weight + at;
                    float a = 0, b = 0, c = 0;
                    for (size_t x = 0; x < width; x++) {
                        a += d[x] * row[x];
                        b += d[x] * row[x + 1];
                        c += d[x] * row[x + 2];
                    }
                    d_weight[at] += a;
                    d_weight[at + 1] += b;
                    d_weight[at + 2] += c;
                    if (!d_in)
                        continue;
                    float *to = d_in[i][y + k];
                    for (size_t j = 0; j < 3; j++)
                        for (size_t x = 0; x < width; x++)
                            to[x + j] += f[j] * d[x];
                }
        }
}

/* Layer k of the network. */
static struct layer layer_of(struct train_work *w, const struct train_net *t, int k)
{
    train_plane *const in[] = {&w->in, w->half, w->both, w->last};
    train_plane *const out[] = {w->both, w->deep, w->last, &w->out};
    struct layer l = {t->weight, t->bias, in[k], out[k], zmpi_net_in[k], zmpi_net_out[k]};
    for (int i = 0; i < k; i++) {
        l.weight += (ptrdiff_t)9 * zmpi_net_in[i] * zmpi_net_out[i];
        l.bias += zmpi_net_out[i];
    }
    return l;
}

void FORWARD(struct train_work *w, const struct train_net *t, struct train_net *gradient)
{
    const size_t high = (w->height + 1) / 2, wide = (w->width + 1) / 2;
    struct layer l[ZMPI_NET_LAYERS];
    (void)gradient;
    for (int k = 0; k < ZMPI_NET_LAYERS; k++)
        l[k] = layer_of(w, t, k);
    convolve(&l[0], w->height, w->width, true);
    memset(w->half, 0, sizeof w->half);
    for (size_t c = 0; c < 8; c++)
        for (size_t y = 0; y < high; y++)
            for (size_t x = 0; x < wide; x++) {
                const float *a = w->both[c][2 * y + 1] + 2 * x + 1, *b = a + TRAIN_ROW;
                w->half[c][y + 1][x + 1] = (a[0] + a[1] + b[0] + b[1]) / 4;
            }
    convolve(&l[1], high, wide, true);
    memset(w->both + 8, 0, 16 * sizeof *w->both);
    for (size_t c = 0; c < 16; c++)
        for (size_t y = 0; y < w->height; y++)
            for (size_t x = 0; x < w->width; x++)
                w->both[8 + c][y + 1][x + 1] = w->deep[c][y / 2 + 1][x / 2 + 1];
    convolve(&l[2], w->height, w->width, true);
    convolve(&l[3], w->height, w->width, false);
}

void BACKWARD(struct train_work *w, const struct train_net *t, struct train_net *gradient)
{
    const size_t height = w->height, width = w->width;
    const size_t high = (height + 1) / 2, wide = (width + 1) / 2;
    train_plane *const from[] = {w->d_both, w->d_deep, w->d_last, &w->d_out};
    train_plane *const to[] = {NULL, w->d_half, w->d_both, w->d_last};
    memset(w->d_both, 0, sizeof w->d_both);
    memset(w->d_half, 0, sizeof w->d_half);
    memset(w->d_deep, 0, sizeof w->d_deep);
    memset(w->d_last, 0, sizeof w->d_last);
    for (int k = ZMPI_NET_LAYERS - 1; k >= 0; k--) {
        const struct layer l = layer_of(w, t, k);
        backward(&l, from[k], to[k], gradient->weight + (l.weight - t->weight),
                 gradient->bias + (l.bias - t->bias), k == 1 ? high : height, k == 1 ? wide : width,
                 k < 3);
        for (size_t c = 0; c < 16 && k == 2; c++)
            for (size_t y = 0; y < height; y++)
                for (size_t x = 0; x < width; x++)
                    w->d_deep[c][y / 2 + 1][x / 2 + 1] += w->d_both[8 + c][y + 1][x + 1];
        for (size_t c = 0; c < 8 && k == 1; c++)
            for (size_t y = 0; y < height; y++)
                for (size_t x = 0; x < width; x++)
                    w->d_both[c][y + 1][x + 1] += w->d_half[c][y / 2 + 1][x / 2 + 1] / 4;
    }
}
