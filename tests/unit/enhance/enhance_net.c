/* enhance_net.c - the network gives the same in all instruction sets as written down plainly. */
#include "nets.h"

#include "enhance/enhance_net.h"

enum { SIDE = ZMPI_NET_PATCH };

/* ---- the network, as format.md 2.9 has it ---- */

struct planes {
    int count, height, width;
    int value[24][SIDE][SIDE];
};

static int at(const struct planes *p, int c, int y, int x, int none)
{
    return y < 0 || x < 0 || y >= p->height || x >= p->width ? none : p->value[c][y][x];
}

static void plain_layer(const struct zmpi_net *net, int l, const struct planes *in,
                        struct planes *out, int low, int high, int none)
{
    const int8_t *w = net->weight;
    const int32_t *b = net->bias;
    for (int k = 0; k < l; k++) {
        w += 9 * zmpi_net_in[k] * zmpi_net_out[k];
        b += zmpi_net_out[k];
    }
    out->count = zmpi_net_out[l];
    out->height = in->height;
    out->width = in->width;
    for (int o = 0; o < out->count; o++)
        for (int y = 0; y < in->height; y++)
            for (int x = 0; x < in->width; x++) {
                int sum = b[o];
                for (int i = 0; i < zmpi_net_in[l]; i++)
                    for (int t = 0; t < 9; t++)
                        sum += w[(o * zmpi_net_in[l] + i) * 9 + t] *
                               at(in, i, y + t / 3 - 1, x + t % 3 - 1, none);
                sum >>= net->shift[l];
                out->value[o][y][x] = sum < low ? low : sum > high ? high : sum;
            }
}

static void plain_run(const struct zmpi_net *net, const unsigned char *patch, int height, int width,
                      int8_t *out)
{
    static struct planes in, shallow, half, deep, last, result;
    in.height = height;
    in.width = width;
    for (int i = 0; i < height * width; i++)
        in.value[0][i / width][i % width] = patch[i];
    plain_layer(net, 0, &in, &shallow, 0, 127, 128);
    half.height = (height + 1) / 2;
    half.width = (width + 1) / 2;
    for (int c = 0; c < 8; c++)
        for (int y = 0; y < half.height; y++)
            for (int x = 0; x < half.width; x++)
                half.value[c][y][x] =
                    (at(&shallow, c, 2 * y, 2 * x, 0) + at(&shallow, c, 2 * y, 2 * x + 1, 0) +
                     at(&shallow, c, 2 * y + 1, 2 * x, 0) +
                     at(&shallow, c, 2 * y + 1, 2 * x + 1, 0) + 2) >>
                    2;
    plain_layer(net, 1, &half, &deep, 0, 127, 0);
    for (int c = 0; c < 16; c++)
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++)
                shallow.value[8 + c][y][x] = deep.value[c][y / 2][x / 2];
    plain_layer(net, 2, &shallow, &last, 0, 127, 0);
    plain_layer(net, 3, &last, &result, -64, 64, 0);
    for (int i = 0; i < height * width; i++)
        out[i] = (int8_t)result.value[0][i / width][i % width];
}

Test(enhance_net, all_sets_give_the_same)
{
    static const int sizes[][2] = {{64, 64}, {1, 1}, {1, 64}, {64, 1}, {17, 33}, {2, 3}, {31, 48}};
    static int8_t wanted[SIDE * SIDE];
    struct kit_random r = {1};
    struct zmpi_net net;
    for (int trial = 0; trial < 4; trial++) {
        make_net(&r, trial % 2, &net);
        struct zmpi_net_work *w = zmpi_net_work_new(&net);
        cr_assert(w);
        for (size_t k = 0; k < KIT_COUNT(sizes);
             k++) { /* after one another: nothing stays behind */
            const int n = sizes[k][0] * sizes[k][1];
            for (int i = 0; i < n; i++)
                w->patch[i] = (unsigned char)(trial == 3 ? 255 : kit_next(&r));
            plain_run(&net, w->patch, sizes[k][0], sizes[k][1], wanted);
            for (size_t s = 0; zmpi_kernels_at(s); s++) {
                const struct zmpi_kernels *set = zmpi_kernels_at(s);
                if (!set->available())
                    continue;
                set->net(w, (size_t)sizes[k][0], (size_t)sizes[k][1]);
                cr_assert_arr_eq(w->out, wanted, (size_t)n, "%s, %dx%d, trial %d", set->name,
                                 sizes[k][0], sizes[k][1], trial);
            }
        }
        zmpi_net_work_free(w);
    }
}

Test(enhance_net, weights_as_bytes)
{
    struct kit_random r = {2};
    struct zmpi_net net, back;
    unsigned char bytes[ZMPI_NET_BYTES];
    make_net(&r, true, &net);
    zmpi_net_save(&net, bytes);
    cr_assert(zmpi_net_load(&back, bytes));
    cr_assert_eq(memcmp(&net, &back, sizeof net), 0);
    bytes[1] = 21; /* a shift */
    cr_assert(!zmpi_net_load(&back, bytes));
    net.weight[71] = 65; /* one of the first layer's */
    zmpi_net_save(&net, bytes);
    cr_assert(!zmpi_net_load(&back, bytes));
    net.weight[71] = 64;
    net.bias[32] = -(1 << 24) - 1;
    zmpi_net_save(&net, bytes);
    cr_assert(!zmpi_net_load(&back, bytes));
}
