/*
 * flare_model.c - FLARE's core as a model: what the paper gives as exact, and what follows from it;
 * and that its order is the codec's.
 */
#include "flare_model.h"

#include "interp/flare/flare.h"
#include "kit.h"

static const size_t nyx[3] = {512, 512, 512}, region[3] = {128, 128, 128};

static const struct flare_core core = {.arrays = 4,
                                       .cycles_of_point = 1,
                                       .pes = 16384,
                                       .use = 1,
                                       .macs = 16384,
                                       .passes = 3,
                                       .symbols_of_cycle = 4,
                                       .fifo1 = 8 << 20,
                                       .fifo2 = 32 << 20};

/* 128 / 37 = 3.46 of Fig. 5, and the law for other numbers of levels. */
Test(flare_model, memory_of_look_ahead)
{
    struct flare_slab slab[64];
    size_t n = flare_schedule(region, 3, slab, 64);
    cr_assert_eq(n, 7);
    cr_assert_eq(128 * flare_peak(slab, n), (uint64_t)37 * 128 * 128 * 128);
    cr_assert_float_eq(flare_share(3), 37.0 / 128, 1e-12);
    for (unsigned levels = 1; levels <= 4; levels++) {
        const size_t side = (size_t)32 << (levels - 1), extent[3] = {side, side, side};
        n = flare_schedule(extent, levels, slab, 64);
        cr_assert_float_eq((double)flare_peak(slab, n) / (double)(side * side * side),
                           flare_share(levels), 1e-12, "%u levels", levels);
    }
}

/* Batches of the model end where the codec's do. */
Test(flare_model, order_of_the_codec)
{
    static const size_t shapes[][3] = {{128, 128, 128}, {128, 70, 33}, {77, 40, 9}, {1, 300, 77}};
    for (size_t i = 0; i < KIT_COUNT(shapes); i++) {
        struct zmpi_flare_codes c = {0};
        struct flare_slab slab[64];
        const size_t n = flare_schedule(shapes[i], 3, slab, 64);
        uint64_t made = 0;
        size_t batch = 0;
        zmpi_flare_plan(shapes[i], &c);
        for (size_t k = 0; k < n; k++) {
            made += slab[k].made;
            if (slab[k].level == 1)
                cr_assert_eq(made, c.end[batch++], "shape %zu, batch %zu", i, batch);
        }
        cr_assert_eq(batch, c.batches);
    }
}

/* Engines overlap: the slowest one decides, and the others add a batch at the ends. */
Test(flare_model, pipeline)
{
    const double points = 512.0 * 512 * 512;
    struct flare_times t = flare_time(&core, nyx, false);
    cr_assert_eq(t.batches, 16);
    cr_assert_float_eq(t.network, 3 * points, 1);
    cr_assert_float_eq(t.predict, points / 4, points / 64);
    cr_assert_geq(t.total, t.network);
    cr_assert_leq(t.total, t.network + 2 * t.predict / 16);
    t = flare_time(&core, nyx, true);
    cr_assert_float_eq(t.network, points, 1);
    cr_assert_geq(t.total, t.network);
    cr_assert_leq(t.total, t.network + 2 * (t.predict + t.codec) / 16);
    struct flare_core slow = core; /* prediction is the limit */
    slow.cycles_of_point = 40;
    t = flare_time(&slow, nyx, true);
    cr_assert_geq(t.total, t.predict);
    cr_assert_leq(t.total, t.predict + (t.network + t.codec) / 16 * 2);
}

/* Arrays take blocks in turn; what they wait at a slab's end is what is lost. */
Test(flare_model, arrays)
{
    struct flare_slab slab[64];
    const size_t n = flare_schedule(region, 3, slab, 64);
    struct flare_core c = core;
    uint64_t one = 0, four = 0, eight = 0;
    for (size_t i = 0; i < n; i++) {
        c.arrays = 1;
        cr_assert_eq(flare_predict_cycles(&c, region, &slab[i]), slab[i].made);
        one += slab[i].made;
        c.arrays = 4;
        four += flare_predict_cycles(&c, region, &slab[i]);
        c.arrays = 8;
        eight += flare_predict_cycles(&c, region, &slab[i]);
    }
    const uint64_t coarse = 32 * 32 * 32 - 16 * 16 * 16; /* one block: no second array helps */
    cr_assert_eq(four, coarse + (one - coarse) / 4);
    cr_assert_eq(eight,
                 coarse + (2 + 8) * coarse); /* four blocks of level 2 leave four arrays idle */
    c.drain = 10;
    cr_assert_eq(flare_predict_cycles(&c, region, &slab[0]), coarse + 30);
}

/* Fig. 10b: from three cores on the longest set decides. Fig. 11, from the plainest baseline. */
Test(flare_model, cores_and_traffic)
{
    const double seconds[4] = {1.16, 1.16, 0.33, 0.24};
    cr_assert_float_eq(flare_makespan(seconds, 4, 1), 2.89, 1e-9);
    cr_assert_float_eq(flare_makespan(seconds, 4, 2), 1.49, 1e-9);
    cr_assert_float_eq(flare_makespan(seconds, 4, 3), 1.16, 1e-9);
    cr_assert_float_eq(flare_makespan(seconds, 4, 4), 1.16, 1e-9);
    const struct flare_traffic t = flare_traffic(&(struct flare_baseline){0});
    cr_assert_float_eq(t.baseline / t.left, 10, 1e-9);
    cr_assert_float_eq(t.saved[FLARE_NORMALIZE] / (t.baseline - t.left), 0.5556, 1e-4);
    cr_assert_float_eq(t.saved[FLARE_PREDICT] / (t.baseline - t.left), 0.2222, 1e-4);
    cr_assert_float_eq(t.saved[FLARE_NETWORK] / (t.baseline - t.left), 0.1111, 1e-4);
    cr_assert_float_eq(t.saved[FLARE_CODEC] / (t.baseline - t.left), 0.1111, 1e-4);
}
