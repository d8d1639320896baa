/*
 * flare_report.c - zmpi-flare-model: the paper's figures beside the model's. It prints free
 * parameters, and calls a fit a fit.
 */
#include "flare_model.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct set {
    const char *name;
    size_t extent[3];
} sets[] = {{"Nyx", {512, 512, 512}}, {"Miranda", {256, 384, 384}}, {"Hurricane", {100, 500, 500}}};
enum { SETS = sizeof sets / sizeof sets[0] };

/* The paper's. */
static const double clock_hz = 1e9, nyx_compress = 1.16, nyx_decompress = 0.42;

static const struct flare_core paper_core = {.arrays = 4,
                                             .cycles_of_point = 1,
                                             .drain = FLARE_RTL_DRAIN,
                                             .pes = 128 * 128,
                                             .use = 1,
                                             .macs = 2160,
                                             .passes = 6 * 3,
                                             .symbols_of_cycle = 2,
                                             .fifo1 = 8 << 20,
                                             .fifo2 = 32 << 20};

static double points_of(const struct set *s)
{
    return (double)s->extent[0] * (double)s->extent[1] * (double)s->extent[2];
}

static double seconds(const struct flare_core *core, const struct set *s, bool decompress)
{
    return flare_time(core, s->extent, decompress).total / clock_hz;
}

/* ---- what is in the SRAM ---- */

static uint64_t peak_of(const size_t extent[3], unsigned levels)
{
    enum { MOST = 1024 };
    static struct flare_slab slab[MOST];
    return flare_peak(slab, flare_schedule(extent, levels, slab, MOST));
}

static void print_memory(void)
{
    printf(
        "## Look-ahead order (Fig. 5)\n\n"
        "| levels | region | all points, MiB | in look-ahead order, MiB | times smaller | law |\n"
        "| --- | --- | --- | --- | --- | --- |\n");
    for (unsigned levels = 2; levels <= 4; levels++) {
        const size_t side = (size_t)FLARE_SIDE << (levels - 1), region[3] = {side, side, side};
        const double all = (double)side * (double)side * (double)side;
        const double peak = (double)peak_of(region, levels);
        printf("| %u | %zu^3 | %.3f | %.4f | %.4f%s | %.4f |\n", levels, side, 4 * all / (1 << 20),
               4 * peak / (1 << 20), all / peak, levels == 3 ? " (paper: 3.46)" : "",
               1 / flare_share(levels));
    }
    printf("\n## Buffers (Table 3), from a batch of 32 slices\n\n"
           "| shape | 32-bit values, MiB | codes of 8 bits, MiB | look-ahead order over whole "
           "slices, MiB |\n"
           "| --- | --- | --- | --- |\n");
    for (int i = 0; i < SETS; i++) {
        const double batch =
            (double)FLARE_SIDE * (double)sets[i].extent[1] * (double)sets[i].extent[2];
        printf("| %s | %.1f%s | %.1f%s | %.1f |\n", sets[i].name, 4 * batch / (1 << 20),
               i ? "" : " (paper: SRAM 32, FIFO2 32)", batch / (1 << 20),
               i ? "" : " (paper: FIFO1 8)", 4 * (double)peak_of(sets[i].extent, 3) / (1 << 20));
    }
    printf("\nThe last column does not fit the 32 MB of SRAM for Nyx: it has the batch that is "
           "made, 32 MiB, and\n"
           "5 MiB that wait. With the batch in FIFO2 instead, 5 MiB would do; 3.46 counts it in "
           "the SRAM.\n\n");
}

/* ---- cycles ---- */

/* The value of a parameter that gives a time; times grow with it. */
static double fit(struct flare_core *core, double *parameter, bool decompress, double wanted,
                  double lo, double hi)
{
    for (int i = 0; i < 60; i++) {
        *parameter = sqrt(lo * hi);
        if (seconds(core, &sets[0], decompress) > wanted)
            hi = *parameter;
        else
            lo = *parameter;
    }
    return *parameter;
}

/* Finds cycles per point, and use of the array, with which Nyx takes as long as in the paper. Then
 * the network does not matter to decompression, nor prediction to compression. */
static struct flare_core fitted_core(void)
{
    struct flare_core core = paper_core;
    double passes = 1;
    for (int i = 0; i < 4; i++) {
        fit(&core, &core.cycles_of_point, true, nyx_decompress, 1, 1000);
        core.passes = paper_core.passes;
        passes = fit(&core, &core.passes, false, nyx_compress, 1, 10000);
        core.use *= paper_core.passes / passes; /* the same cycles, with fewer multipliers in use */
        core.passes = paper_core.passes;
    }
    return core;
}

static void print_arrays(const char *title, struct flare_core core)
{
    printf("%s\n\n| M | compress, s | decompress, s |\n| --- | --- | --- |\n", title);
    for (unsigned m = 1; m <= 8; m++) {
        core.arrays = m;
        printf("| %u | %.3f | %.3f |\n", m, seconds(&core, &sets[0], false),
               seconds(&core, &sets[0], true));
    }
    printf("\n");
}

static void print_parameters(const struct flare_core *core)
{
    printf("| parameter | value | |\n| --- | --- | --- |\n"
           "| multiplications of the network, a point | %.0f | of 3,057 weights; the paper gives "
           "none |\n"
           "| passes of training | %.0f | 6 epochs (paper: 5 to 6), each forward and backward: 3 "
           "times forward |\n"
           "| use of the 128 x 128 array | %.3f | fitted to 1.16 s; plausible: small convolutions "
           "leave most of it idle |\n"
           "| cycles of a prediction array for a point | %.2f | fitted to 0.42 s; not plausible "
           "for a systolic array, whose point is one cycle: "
           "an array that works serially, or waits for its memory |\n"
           "| symbols of the codec, a cycle | %.0f | ours: four streams, each code counted and "
           "coded; it limits nothing below "
           "%.2f cycles a point |\n\n",
           core->macs, core->passes, core->use, core->cycles_of_point, core->symbols_of_cycle,
           1 / core->symbols_of_cycle);
}

static void print_times(void)
{
    const struct flare_core fitted = fitted_core();
    const double points = points_of(&sets[0]);
    printf("## Cycles\n\nNyx' shape, M = 4, 1 GHz; the paper's 1.16 s and 0.42 s are %.2f and %.2f "
           "cycles a point. Two numbers, and\n"
           "two free parameters fitted to them: this shows that the machine can be so, not that it "
           "is.\n\n",
           nyx_compress * clock_hz / points, nyx_decompress * clock_hz / points);
    print_parameters(&fitted);
    printf("| shape | compress: s | cycles a point | decompress: s | cycles a point |\n| --- | --- "
           "| --- | --- | --- |\n");
    for (int i = 0; i < SETS; i++) {
        const double c = seconds(&fitted, &sets[i], false), d = seconds(&fitted, &sets[i], true);
        printf("| %s | %.3f%s | %.2f | %.3f%s | %.2f |\n", sets[i].name, c,
               i ? "" : " (paper: 1.16)", c * clock_hz / points_of(&sets[i]), d,
               i ? "" : " (paper: 0.42)", d * clock_hz / points_of(&sets[i]));
    }
    printf("\n");
    print_arrays("Fig. 10a (paper: decompression falls up to M = 8, compression is flat from M = "
                 "4), as fitted:",
                 fitted);
    struct flare_core ours = fitted;
    ours.cycles_of_point = 1;
    print_arrays("The same with arrays of one point a cycle, as ours are:", ours);
    printf("Fig. 10b (paper: no gain from N = 3 to 4, 1.16 s and 0.42 s there), two Nyx, Miranda, "
           "Hurricane, the longest first:\n\n"
           "| N | compress, s | decompress, s |\n| --- | --- | --- |\n");
    double c[4], d[4];
    for (int i = 0; i < 4; i++) {
        c[i] = seconds(&fitted, &sets[i ? i - 1 : 0], false);
        d[i] = seconds(&fitted, &sets[i ? i - 1 : 0], true);
    }
    for (unsigned n = 1; n <= 4; n++)
        printf("| %u | %.3f | %.3f |\n", n, flare_makespan(c, 4, n), flare_makespan(d, 4, n));
    printf("\n");
}

/* Nyx' shape is 64 chunks of 128^3. */
static void print_rtl(void)
{
    static const size_t chunk[3] = {128, 128, 128};
    static const signed char zeros[128 * 128 * 128];
    const double points = 128.0 * 128 * 128, chunks = points_of(&sets[0]) / points;
    struct flare_core core = paper_core;
    int32_t low[128] = {0}, high[128];
    for (int z = 0; z < 128; z++)
        high[z] = 1;
    core.loads = true;
    printf(
        "Our arrays' times do not depend on values, our coder's do: no code 0 is its slowest case, "
        "all codes 0 its fastest.\n"
        "Our RTL without the network, a chunk of 128^3 after the other, no code 0 (within 2 %% of "
        "its counters):\n\n"
        "| M | predicting, cycles a point | predicting and coding | Nyx' shape, s | all codes 0, s "
        "|\n"
        "| --- | --- | --- | --- | --- |\n");
    for (unsigned m = 1; m <= 8; m *= 2) {
        core.arrays = m;
        const struct flare_engine_times t = flare_engine_time(&core, chunk, NULL),
                                        least = flare_engine_time(&core, chunk, zeros);
        printf("| %u | %.3f | %.3f | %.3f | %.3f |\n", m, t.predict / points, t.total / points,
               t.total * chunks / clock_hz, least.total * chunks / clock_hz);
    }
    printf("\nIts array for the network, inputs and outputs of a layer along its sides:\n\n"
           "| P | cycles a point | of the multipliers at work | Nyx' shape, s |\n"
           "| --- | --- | --- | --- |\n");
    for (unsigned side = 4; side <= 128; side *= side < 16 ? 2 : 8) {
        const double cycles = flare_net_cycles(side);
        printf("| %u | %.1f | %.1f %% | %.2f |\n", side, cycles,
               100 * core.macs / cycles / (side * side),
               flare_net_time(side, chunk, low, high) * chunks / clock_hz);
    }
    printf("\n");
}

static void print_contradictions(void)
{
    struct flare_core core = paper_core;
    const double points = points_of(&sets[0]);
    const double one = flare_time(&core, sets[0].extent, true).predict / points;
    printf("## What does not fit together\n\n"
           "- Four systolic arrays of one point a cycle predict a point in %.3f cycles. 3.13 in "
           "decompression are %.1f times as many:\n"
           "  the arrays are slower, or inference is the limit.\n"
           "- If inference were the limit, %d passes of training would take %.0f cycles a point, "
           "not 8.64 (%.1f times as long).\n"
           "- If prediction is the limit of decompression at M = 4, with 3.13 cycles a point, it "
           "takes twice that, 6.26, at M = 2, which is\n"
           "  below 8.64: then compression is flat from M = 2 on, not from 4. For a minimum at 4, "
           "arrays must take 17 to 35 cycles a point,\n"
           "  and decompression at M = 4 4.3 to 8.6.\n"
           "- Training would need %.0f multiplications a point, at full use of the array 8.64 x "
           "16,384 = 141,558 are there.\n\n",
           one, 3.13 / one, (int)core.passes, 3.13 * core.passes, 3.13 * core.passes / 8.64,
           core.macs * core.passes);
}

/* ---- arrays made of fields ---- */

/* One for each set, of data of that kind. */
static const char *const field_of[SETS] = {"nyx_baryon_density_32x32x32.f32",
                                           "les_wmag_91x91x91.f32", "wrf_u_4x14x48x49.f32"};

static void print_array(const struct set *s, const char *name, const struct flare_array *a)
{
    for (int way = 0; way < FLARE_WAYS; way++) {
        printf("| %s | %.*s | %u | ", s->name, (int)strcspn(name, "."), name, 1U << way);
        printf("%.0f %% | %.3f | %.3f to %.3f | %.3f | %.2f |\n",
               100 * (double)a->zeros / (double)a->codes, a->compress[way] / clock_hz,
               a->least[way] / clock_hz, a->most[way] / clock_hz, a->decompress[way] / clock_hz,
               a->network / clock_hz);
    }
}

static void print_fields(const char *folder)
{
    enum { PATH = 4096 };
    char path[PATH];
    printf(
        "## Arrays of the paper's shapes, made of fields\n\n"
        "We do not have the paper's data. Each of its shapes is filled with copies of a field of "
        "the same kind, every second one\n"
        "mirrored. Our RTL, by the model, chunk by chunk, at 1e-3 of the range, 1 GHz; the last "
        "column is its network, P = 8, which adds\n"
        "to decompression:\n\n"
        "| shape | field | M | codes that are 0 | compress, s | all codes 0 to no code 0 | "
        "decompress, s | network, s |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (int i = 0; i < SETS; i++) {
        struct flare_array a;
        const int n = snprintf(path, sizeof path, "%s/%s", folder, field_of[i]);
        if (n < PATH && flare_array_measure(path, 1e-3, sets[i].extent, &a))
            print_array(&sets[i], field_of[i], &a);
        else
            printf("| %s | no %s in %s | | | | | | |\n", sets[i].name, field_of[i], folder);
        fflush(stdout);
    }
    printf("\n");
}

/* ---- bytes off the chip ---- */

static void print_traffic(void)
{
    static const struct {
        const char *name;
        struct flare_baseline baseline;
    } cases[] = {{"paper (up to)", {0}},
                 {"each module reads and writes whole arrays of words", {0}},
                 {"and each level reads again what is predicted from", {.rereads = true}},
                 {"codes of a byte", {.narrow_codes = true}},
                 {"one sweep subtracts and scales", {.fused_sweep = true}},
                 {"all three", {true, true, true}}};
    printf("## Bytes off the chip (Fig. 11)\n\nMoves of one 4-byte word for a point: prediction "
           "reads the original, writes reconstruction and codes; the codec reads\n"
           "codes; normalization reads for the range, reads and writes to subtract, reads and "
           "writes to scale; the network reads.\n"
           "FLARE reads the original. The first baseline is the plainest, and the one that gives "
           "the paper's shares.\n\n"
           "| baseline | times less | normalization | prediction | network | codec |\n| --- | --- "
           "| --- | --- | --- | --- |\n"
           "| %s | 10 | 56 %% | 22 %% | 11 %% | 11 %% |\n",
           cases[0].name);
    for (size_t i = 1; i < sizeof cases / sizeof cases[0]; i++) {
        const struct flare_traffic t = flare_traffic(&cases[i].baseline);
        const double all = t.baseline - t.left;
        printf("| %s | %.1f | %.0f %% | %.0f %% | %.0f %% | %.0f %% |\n", cases[i].name,
               t.baseline / t.left, 100 * t.saved[FLARE_NORMALIZE] / all,
               100 * t.saved[FLARE_PREDICT] / all, 100 * t.saved[FLARE_NETWORK] / all,
               100 * t.saved[FLARE_CODEC] / all);
    }
    printf("\n");
}

static const char help[] =
    "Usage: zmpi-flare-model [--fields FOLDER]\n"
    "       zmpi-flare-model --ratios REL FILE...\n\n"
    "FLARE's computing core as a model: the paper's figures beside ours.\n"
    "  --fields FOLDER        where the fields are of which it makes arrays of the paper's shapes\n"
    "                         (" FLARE_FIELDS ")\n"
    "  --ratios REL FILE...   instead: what the profile interp:flare costs against interp, factor "
    "by factor,\n"
    "                         at a relative bound, of files NAME_ZxYxX.f32 or .f64\n";

static double parse_bound(const char *text)
{
    char *end;
    const double rel = strtod(text, &end);
    return end != text && !*end && rel > 0 && rel < 1 ? rel : 0;
}

int main(int argc, char **argv)
{
    static const struct option longs[] = {{"fields", required_argument, NULL, 'f'},
                                          {"ratios", required_argument, NULL, 'r'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
    const char *folder = FLARE_FIELDS;
    double rel = 0;
    for (int c; (c = getopt_long(argc, argv, "h", longs, NULL)) != -1;) {
        if (c == 'h') {
            fputs(help, stdout);
            return 0;
        }
        if (c == 'f')
            folder = optarg;
        else if (c != 'r')
            return 2;
        else if ((rel = parse_bound(optarg)) <= 0) {
            fprintf(stderr, "zmpi-flare-model: --ratios %s: a number above 0 and below 1\n",
                    optarg);
            return 2;
        }
    }
    if (rel > 0)
        return flare_ratios(rel, argv + optind, argc - optind);
    if (optind < argc) {
        fprintf(stderr, "zmpi-flare-model: %s: files belong to --ratios\n", argv[optind]);
        return 2;
    }
    print_memory();
    print_times();
    print_rtl();
    print_contradictions();
    print_traffic();
    print_fields(folder);
    return 0;
}
