/*
 * flare_enhance.c - FLARE's engine with its network: what chunks are decoded to goes through FIFO2
 * and the array, scaled by the slices' ranges. Values and outputs are the C's, with random stalls
 * on all sides; cycles are the model's.
 */
#include "field.h"
#include "flare_chunk.h"
#include "flare_model.h"
#include "flare_nets.h"
#include "flare_sim.h"

#include "enhance/enhance.h"

/* Fields; outputs that are neither 0 nor an end; slices whose values are all the same. */
static int checked, middle, constant;

/* A slice in pieces, scaled by its range. */
static void slice_by_c(const struct flare_net *net, const int32_t *value, size_t ny, size_t nx,
                       int8_t *out)
{
    int32_t least = INT32_MAX, largest = INT32_MIN, piece[FLARE_NET_SIDE * FLARE_NET_SIDE];
    unsigned char in[FLARE_NET_SIDE * FLARE_NET_SIDE];
    int8_t of_piece[sizeof in];
    size_t high, wide;
    memset(out, 0, ny * nx);
    for (size_t i = 0; i < ny * nx; i++) {
        least = value[i] < least ? value[i] : least;
        largest = value[i] > largest ? value[i] : largest;
    }
    constant += ny * nx > 1 && least == largest;
    if (least == largest)
        return;
    zmpi_net_patches(ny, &high);
    zmpi_net_patches(nx, &wide);
    for (size_t y = 0; y < ny; y += high)
        for (size_t x = 0; x < nx; x += wide) {
            const size_t h = ny - y < high ? ny - y : high, w = nx - x < wide ? nx - x : wide;
            for (size_t i = 0; i < h * w; i++)
                piece[i] = value[(y + i / w) * nx + x + i % w];
            flare_net_scale(piece, h * w, least, largest, in);
            flare_net_run(net, in, 0, h, w, of_piece);
            for (size_t i = 0; i < h * w; i++) {
                out[(y + i / w) * nx + x + i % w] = of_piece[i];
                middle += of_piece[i] != 0 && abs(of_piece[i]) != FLARE_NET_ONE;
            }
        }
}

/* The network begins when a batch is done, and the next batch when its last slice is. */
static void check_cycles(struct flare_sim *s, const struct flare_sim_chunk *c, unsigned side,
                         const unsigned char *bytes, size_t size)
{
    const double model = flare_net_time(side, c->extent, c->least, c->largest);
    struct flare_sim_chunk plain = *c;
    plain.out = NULL;
    cr_assert(flare_sim_decode(s, &plain, bytes, size));
    cr_assert_eq(plain.network, 0);
    cr_log_info("network: model %.0f; all without it %llu", model,
                (unsigned long long)plain.cycles);
    cr_expect_float_eq((double)c->network / model, 1, 0.02);
    /* The table of a second batch may come meanwhile. */
    const double all = (double)plain.cycles + model, batches = (double)((c->extent[0] - 1) / 32);
    cr_expect_leq((double)c->cycles, 1.02 * all);
    cr_expect_geq((double)c->cycles, 0.98 * all - batches * FLARE_RTL_TABLE);
}

/* Forth by the C, back by the engine. */
static void check_values(unsigned arrays, const size_t e[3], unsigned stall, const int32_t *value)
{
    const size_t n = count_of(e), plane = e[1] * e[2];
    struct kit_random r = {n + arrays};
    const struct flare_net net = random_net(&r);
    struct flare_sim *s = flare_sim_open(arrays);
    cr_assert(s, "%u arrays are not built", arrays);
    cr_assert(flare_sim_net_fits(e));
    flare_sim_stall(s, stall);
    flare_sim_net(s, &net);
    size_t size;
    int32_t *want = malloc(n * sizeof *want);
    int8_t *out = malloc(n);
    memcpy(want, value, n * sizeof *want);
    unsigned char *bytes = by_c(e, want, &size);
    struct flare_sim_chunk c = {
        .extent = {e[0], e[1], e[2]}, .value = malloc(n * sizeof(int32_t)), .out = malloc(n)};
    for (int again = 0; again < 2; again++) { /* weights are loaded once */
        cr_assert(flare_sim_decode(s, &c, bytes, size), "%u: %zux%zux%zu, stall %u", arrays, e[0],
                  e[1], e[2], stall);
        cr_assert_arr_eq(c.value, want, n * sizeof *want);
        for (size_t z = 0; z < e[0]; z++) {
            slice_by_c(&net, want + z * plane, e[1], e[2], out + z * plane);
            cr_assert_arr_eq(c.out + z * plane, out + z * plane, plane,
                             "%u: slice %zu of %zux%zux%zu, stall %u", arrays, z, e[0], e[1], e[2],
                             stall);
        }
        if (n > 10000)
            break;
    }
    cr_log_info("%u arrays, %zux%zux%zu: %llu cycles, network %llu", arrays, e[0], e[1], e[2],
                (unsigned long long)c.cycles, (unsigned long long)c.network);
    if (!stall)
        check_cycles(s, &c, arrays < 4 ? 4 : 8, bytes, size);
    free(c.value);
    free(c.out);
    free(want);
    free(out);
    free(bytes);
    flare_sim_close(s);
}

Test(flare_enhance, shapes)
{
    static const unsigned arrays[] = {1, 2, 4, 8};
    static const size_t shapes[][3] = {{3, 34, 35}, {2, 5, 70}, {35, 4, 3}, {2, 1, 1}, {1, 65, 33}};
    for (size_t i = 0; i < KIT_COUNT(shapes); i++)
        for (size_t k = 0; k < KIT_COUNT(arrays); k++) {
            const size_t n = count_of(shapes[i]), plane = shapes[i][1] * shapes[i][2];
            struct kit_random r = {n};
            int32_t *value = malloc(n * sizeof *value);
            make_values(value, shapes[i], &r);
            for (size_t j = 8 * plane; j < n; j++) /* some slices become constant, others nearly */
                value[j] = 0;
            check_values(arrays[k], shapes[i], i % 2 == k % 2 ? 100 : 0, value);
            free(value);
        }
    cr_assert_gt(middle, 1000);
    cr_assert_gt(constant, 20);
}

/* Inputs that are bytes already: those of the codec's network, which does the same. */
Test(flare_enhance, bytes)
{
    static const size_t shapes[][2] = {{1, 1}, {9, 14}, {33, 20}};
    struct kit_random r = {8};
    unsigned char in[33 * 20];
    int8_t got[sizeof in];
    for (unsigned arrays = 2; arrays <= 4; arrays *= 2) {
        const struct flare_net net = random_net(&r);
        struct flare_sim *s = flare_sim_open(arrays);
        cr_assert_not(flare_sim_piece(s, in, 128, 1, 1, got), "without a network");
        flare_sim_net(s, &net);
        flare_sim_stall(s, 64);
        for (size_t k = 0; k < KIT_COUNT(shapes); k++) {
            const size_t h = shapes[k][0], w = shapes[k][1];
            for (size_t i = 0; i < h * w; i++)
                in[i] = (unsigned char)kit_below(&r, 256);
            cr_assert(flare_sim_piece(s, in, 128, h, w, got));
            by_codec(&net, in, h, w, got);
        }
        flare_sim_close(s);
    }
}

Test(flare_enhance, shapes_that_fit)
{
    cr_assert(flare_sim_net_fits((size_t[3]){128, 128, 128}));
    cr_assert(flare_sim_net_fits((size_t[3]){1, 32, 512}));
    cr_assert_not(flare_sim_net_fits((size_t[3]){1, 32, 513}));
    cr_assert_not(flare_sim_net_fits((size_t[3]){1, 512, 512}));
}

/* 32 slices of four fields, at 1e-3 of their ranges: a corner, in long runs up to 64 x 64 of them.
 */
static void check_field(const struct field *f)
{
    const size_t *n = f->array.extent, crop = getenv("ZMPI_TEST_LONG") ? 64 : 12;
    const size_t e[3] = {32, n[1] < crop ? n[1] : crop, n[2] < crop ? n[2] : crop};
    struct zmpi_range range;
    if (checked == 4 || f->filled || f->array.type != ZMPI_F32 || n[0] < 32 || e[1] < 8 || e[2] < 8)
        return;
    zmpi_range_of(f->array.type, f->data, kit_elements(&f->array), &range);
    int32_t *value = malloc(count_of(e) * sizeof *value);
    for (size_t i = 0; i < count_of(e); i++) {
        const size_t z = i / e[2] / e[1], y = i / e[2] % e[1], x = i % e[2];
        const float v = ((const float *)f->data)[(z * n[1] + y) * n[2] + x];
        value[i] = (int32_t)(128625 * (((double)v - range.min) / (range.max - range.min) - 0.5));
    }
    check_values(2, e, checked % 2 ? 40 : 0, value);
    check_values(4, e, checked % 2 ? 0 : 40, value);
    free(value);
    checked++;
    cr_log_info("%s", f->path);
}

Test(flare_enhance, fields)
{
    each_field(check_field);
    cr_assert_eq(checked, 4);
}
