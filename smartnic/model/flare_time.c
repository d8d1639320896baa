/* flare_time.c - engines that wait for each other, batch by batch (FLARE 3.3, Fig. 7). */
#include "flare_model.h"

#include <stdlib.h>

/* Points of a block at `at` along one axis. */
static size_t side_of(size_t extent, size_t at, size_t stride)
{
    const size_t left = (extent - at + stride - 1) / stride;
    return left < FLARE_SIDE ? left : FLARE_SIDE;
}

void flare_block_sides(const size_t extent[3], const size_t at[3], size_t stride, size_t n[3])
{
    for (int i = 0; i < 3; i++)
        n[i] = side_of(extent[i], at[i], stride);
}

/* Points, and after each direction that has some the drain. */
double flare_block_cycles(const struct flare_core *core, const size_t n[3])
{
    const double half[3] = {(double)((n[0] + 1) / 2), (double)((n[1] + 1) / 2),
                            (double)((n[2] + 1) / 2)};
    const double x = (double)(n[2] / 2) * half[1] * half[0];
    const double y = (double)n[2] * (double)(n[1] / 2) * half[0];
    const double z = (double)n[2] * (double)n[1] * (double)(n[0] / 2);
    const int directions = (x > 0) + (y > 0) + (z > 0);
    const double load = core->loads ? half[0] * half[1] * half[2] + FLARE_RTL_BEGIN : 0;
    return load + (x + y + z) * core->cycles_of_point + directions * (double)core->drain;
}

uint64_t flare_predict_cycles(const struct flare_core *core, const size_t extent[3],
                              const struct flare_slab *slab)
{
    double busy[FLARE_ARRAYS_MOST] = {0}, last = 0;
    const size_t stride = (size_t)1 << (slab->level - 1), side = FLARE_SIDE * stride;
    const unsigned arrays = core->arrays < FLARE_ARRAYS_MOST ? core->arrays : FLARE_ARRAYS_MOST;
    size_t n[3] = {side_of(extent[0], slab->plane, stride)};
    for (size_t y = 0; y < extent[1]; y += side)
        for (size_t x = 0; x < extent[2]; x += side) {
            unsigned first = 0;
            n[1] = side_of(extent[1], y, stride);
            n[2] = side_of(extent[2], x, stride);
            for (unsigned k = 1; k < arrays; k++)
                first = busy[k] < busy[first] ? k : first;
            busy[first] += flare_block_cycles(core, n);
            last = busy[first] > last ? busy[first] : last;
        }
    return (uint64_t)(last + 0.5);
}

/* Of the three stages of a batch. */
struct batch {
    double predict, network, codec;
    double bytes1, bytes2; /* that it takes in the FIFOs */
};

static size_t make_batches(const struct flare_core *core, const size_t extent[3],
                           const struct flare_slab *slab, size_t n, bool decompress,
                           struct batch *batch)
{
    size_t count = 0;
    struct batch b = {0};
    double codes = 0;
    for (size_t i = 0; i < n; i++) {
        b.predict += (double)flare_predict_cycles(core, extent, &slab[i]);
        codes += (double)slab[i].made;
        if (slab[i].level > 1)
            continue;
        const double points = (double)slab[i].points;
        b.network = points * core->macs * (decompress ? 1 : core->passes) / (core->pes * core->use);
        b.codec = codes / core->symbols_of_cycle;
        b.bytes1 = codes;
        b.bytes2 = 4 * points;
        batch[count++] = b;
        b = (struct batch){0};
        codes = 0;
    }
    return count;
}

static double later(double a, double b)
{
    return a > b ? a : b;
}

/* When is there room in a FIFO for batch k? The batches that fill it must be consumed first. */
static double room(const double *consumed, size_t k, double capacity, double bytes)
{
    size_t fit = bytes > 0 ? (size_t)(capacity / bytes) : 1;
    fit = fit ? fit : 1; /* a larger batch passes slice by slice */
    return k >= fit ? consumed[k - fit] : 0;
}

/*
 * Compression: prediction puts a batch into both FIFOs, from which network and codec take it.
 * Decompression: codec, FIFO1, prediction, FIFO2, network. A batch is in the SRAM while it is made.
 */
static double run(const struct flare_core *core, const struct batch *b, size_t n, bool decompress,
                  double *network, double *codec, double *predict)
{
    for (size_t k = 0; k < n; k++) {
        double begin = k ? predict[k - 1] : 0;
        if (decompress) {
            const double free1 = room(predict, k, core->fifo1, b[k].bytes1);
            codec[k] = later((k ? codec[k - 1] : 0) + b[k].codec, free1); /* goes on as it drains */
            begin = later(begin, codec[k]);
        }
        predict[k] = begin + b[k].predict;
        predict[k] = later(predict[k], room(network, k, core->fifo2, b[k].bytes2));
        if (!decompress) {
            predict[k] = later(predict[k], room(codec, k, core->fifo1, b[k].bytes1));
            codec[k] = later(predict[k], k ? codec[k - 1] : 0) + b[k].codec;
        }
        network[k] = later(predict[k], k ? network[k - 1] : 0) + b[k].network;
    }
    return later(network[n - 1], codec[n - 1]);
}

struct flare_times flare_time(const struct flare_core *core, const size_t extent[3],
                              bool decompress)
{
    struct flare_times t = {0};
    const size_t n = flare_schedule(extent, 3, NULL, 0);
    struct flare_slab *slab = calloc(n, sizeof *slab);
    struct batch *batch = calloc(n, sizeof *batch);
    double *ends = calloc(3 * n, sizeof *ends);
    if (slab && batch && ends && n) {
        flare_schedule(extent, 3, slab, n);
        t.batches = make_batches(core, extent, slab, n, decompress, batch);
        for (size_t k = 0; k < t.batches; k++) {
            t.predict += batch[k].predict;
            t.network += batch[k].network;
            t.codec += batch[k].codec;
        }
        t.total = run(core, batch, t.batches, decompress, ends, ends + n, ends + 2 * n);
    }
    free(slab);
    free(batch);
    free(ends);
    return t;
}

double flare_makespan(const double *seconds, size_t n, unsigned cores)
{
    double busy[FLARE_CORES_MOST] = {0}, most = 0;
    bool taken[FLARE_CORES_MOST] = {false};
    for (size_t i = 0; i < n; i++) {
        size_t longest = n;
        unsigned first = 0;
        for (size_t k = 0; k < n; k++)
            if (!taken[k] && (longest == n || seconds[k] > seconds[longest]))
                longest = k;
        for (unsigned c = 1; c < cores; c++)
            first = busy[c] < busy[first] ? c : first;
        taken[longest] = true;
        busy[first] += seconds[longest];
        most = busy[first] > most ? busy[first] : most;
    }
    return most;
}
