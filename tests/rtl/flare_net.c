/*
 * flare_net.c - the array of the enhancer's network: slices of real fields, scaled by their ranges,
 * give what the C gives, with random stalls on both sides.
 */
#include "flare_model.h"
#include "flare_nets.h"
#include "flare_net_sim.h"
#include "field.h"

enum { SLICES = 32, CROP = 20 };

static int checked; /* fields */

static uint64_t check(struct flare_net_sim *s, const struct flare_net *net, const int32_t *value,
                      size_t h, size_t w, unsigned stall, int *middle)
{
    unsigned char in[FLARE_NET_SIDE * FLARE_NET_SIDE];
    int8_t want[sizeof in], got[sizeof in];
    int32_t least = INT32_MAX, largest = INT32_MIN;
    uint64_t cycles = 0;
    for (size_t i = 0; i < h * w; i++) {
        least = value[i] < least ? value[i] : least;
        largest = value[i] > largest ? value[i] : largest;
    }
    if (least == largest) /* no range: the network has nothing to say */
        return 0;
    flare_net_scale(value, h * w, least, largest, in);
    flare_net_run(net, in, 0, h, w, want);
    cr_assert(flare_net_sim_run(s, value, least, largest, h, w, stall, got, &cycles), "%zux%zu", h,
              w);
    cr_assert_arr_eq(got, want, h * w, "%zux%zu", h, w);
    for (size_t i = 0; i < h * w; i++)
        *middle += want[i] > -FLARE_NET_ONE && want[i] < FLARE_NET_ONE;
    return cycles;
}

/* Ends of the range, and shapes with odd sides. */
Test(flare_net, shapes)
{
    static const size_t shapes[][2] = {{1, 1}, {1, 9}, {7, 1}, {5, 6}, {17, 23}, {64, 64}};
    struct kit_random r = {7};
    int32_t value[FLARE_NET_SIDE * FLARE_NET_SIDE];
    int middle = 0;
    for (unsigned side = 4; side <= 8; side += 4) {
        const struct flare_net net = random_net(&r);
        struct flare_net_sim *s = flare_net_sim_open(side, &net);
        cr_assert(s);
        for (size_t k = 0; k < KIT_COUNT(shapes); k++) {
            const size_t h = shapes[k][0], w = shapes[k][1];
            for (unsigned bits = 1; bits <= 32; bits += h * w < 1000 ? 4 : 40) {
                for (size_t i = 0; i < h * w; i++)
                    value[i] = (int32_t)((uint32_t)kit_next(&r) >> (32 - bits)) - 1;
                const uint64_t cycles =
                    check(s, &net, value, h, w, h * w < 1000 ? bits * 4 : 0, &middle);
                const double each = (double)cycles / (double)(h * w);
                if (h * w < sizeof value / sizeof *value)
                    continue;
                cr_log_info("%u x %u multipliers: %.1f cycles a point", side, side, each);
                cr_expect_float_eq(each / flare_net_cycles(side), 1, 0.02);
            }
        }
        flare_net_sim_close(s);
    }
    cr_assert_gt(middle, 1000);
}

/* Bytes as they are, beside which something is; and what the codec makes of them. */
Test(flare_net, bytes)
{
    static const size_t shapes[][2] = {{1, 1}, {9, 14}, {33, 20}};
    struct kit_random r = {8};
    unsigned char in[33 * 20];
    int8_t want[sizeof in], got[sizeof in];
    for (unsigned side = 4; side <= 8; side += 4) {
        const struct flare_net net = random_net(&r);
        struct flare_net_sim *s = flare_net_sim_open(side, &net);
        for (size_t k = 0; k < KIT_COUNT(shapes); k++) {
            const size_t h = shapes[k][0], w = shapes[k][1];
            for (size_t i = 0; i < h * w; i++)
                in[i] = (unsigned char)kit_below(&r, 256);
            flare_net_run(&net, in, 128, h, w, want);
            cr_assert(flare_net_sim_bytes(s, in, 128, h, w, 64, got));
            cr_assert_arr_eq(got, want, h * w, "%zux%zu", h, w);
            by_codec(&net, in, h, w, want);
        }
        flare_net_sim_close(s);
    }
}

/* 32 slices, in steps of 1/256 of the field's range by 1000. */
static void check_field(const struct field *f)
{
    const size_t plane = f->array.extent[1] * f->array.extent[2];
    const size_t h = f->array.extent[1] < CROP ? f->array.extent[1] : CROP;
    const size_t w = f->array.extent[2] < CROP ? f->array.extent[2] : CROP;
    struct kit_random r = {11};
    const struct flare_net net = random_net(&r);
    struct zmpi_range range;
    int32_t value[CROP * CROP];
    int middle = 0;
    if (checked == 4 || f->filled || f->array.type != ZMPI_F32 || f->array.extent[0] < SLICES ||
        h < 8 || w < 8)
        return;
    zmpi_range_of(f->array.type, f->data, kit_elements(&f->array), &range);
    for (unsigned side = 4; side <= 8; side += 4) {
        struct flare_net_sim *s = flare_net_sim_open(side, &net);
        for (size_t z = 0; z < SLICES; z++) {
            for (size_t i = 0; i < h * w; i++) {
                const float x =
                    ((const float *)f->data)[z * plane + i / w * f->array.extent[2] + i % w];
                value[i] = (int32_t)(256e3 * ((double)x - range.min) / (range.max - range.min));
            }
            check(s, &net, value, h, w, z % 2 ? 64 : 0, &middle);
        }
        flare_net_sim_close(s);
    }
    cr_log_info("%s: %d outputs in the middle", f->path, middle);
    checked++;
}

Test(flare_net, fields)
{
    each_field(check_field);
    cr_assert_eq(checked, 4);
}
