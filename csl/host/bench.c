/*
 * bench.c - what the kernels take on the simulated wafer, beside what CereSZ reports: tables for
 * docs/csl.md. All figures but the paper's are simulated; those for more PEs than were simulated
 * are extrapolated, and say so.
 *
 * usage: bench_wse stages | fields FILE.f32... | mappings FILE.f32... | rows | pipelines | shapes
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "chip_sim.h"
#include "planner.h"
#include "ratio.h"
#include "wse.h"

#define HERTZ 850e6
#define SLOWER                                                                                     \
    3.28 /* cycles that CereSZ's scalar code takes, for one that the simulator counts              \
          */

/* RELAY: cycles in which a block passes a link, a wavelet each. */
enum { ROWS = 512, COLUMNS = 512, RELAY = 32, MOST_ELEMENTS = 4 * 8192 };

static void stop(const char *what, const char *why)
{
    fprintf(stderr, "bench_wse: %s: %s\n", what, why);
    exit(1);
}

static struct chip_sim open_or_stop(const char *program, unsigned width, unsigned height,
                                    struct chip_sim_options how)
{
    struct chip_sim c;
    if (!chip_sim_open(&c, program, width, height, &how))
        stop(program, c.chip.problem);
    return c;
}

/* ---- stages: CereSZ's tables 1 to 3 ---- */

/* Cycles of one launch. */
static uint64_t timed(struct chip_sim *c, const char *function, uint32_t argument, size_t count)
{
    const struct csl_arg arg = {argument};
    if (csl_launch(c->sim, function, &arg, count))
        stop(function, csl_error(c->sim));
    return csl_call_cycles(c->sim);
}

static uint32_t float_bits(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

/* Cycles of the stages for a block of 17 bits, as CESM-ATM has them; then of those of decoding. */
static void measure_stages(double cycles[7], double back[BACK_STAGES])
{
    struct chip_sim c = open_or_stop("profile", 1, 1, (struct chip_sim_options){.seed = 1});
    uint32_t block[60] = {0};
    for (int i = 1; i <= 32; i++)
        block[i] = float_bits((i % 2 ? -0.4F : 0.4F) * 0x1p17F * (float)(i % 5 + 1) / 5);
    if (!c.chip.to(&c.chip, "block", block, 1, 60))
        stop("profile", c.chip.problem);
    const double none = (double)timed(&c, "nothing", 0, 0);
    cycles[STAGE_MULTIPLY] = (double)timed(&c, "multiply", float_bits(1), 1);
    cycles[STAGE_ADD] = (double)timed(&c, "add", 0, 0);
    cycles[STAGE_LORENZO] = (double)timed(&c, "lorenzo", 0, 0);
    cycles[STAGE_SIGN] = (double)timed(&c, "sign", 0, 0);
    cycles[STAGE_MAX] = (double)timed(&c, "max", 0, 0);
    cycles[STAGE_LENGTH] = (double)timed(&c, "get_length", 0, 0);
    cycles[STAGE_SHUFFLE] = (double)timed(&c, "shuffle", 3, 1);
    timed(&c, "clear", 0, 0);
    back[BACK_UNSHUFFLE] = (double)timed(&c, "unshuffle", 3, 1);
    back[BACK_SIGN] = (double)timed(&c, "unsign", 0, 0);
    back[BACK_SUM] = (double)timed(&c, "prefix_sum", 0, 0);
    back[BACK_MULTIPLY] = (double)timed(&c, "unquantize", float_bits(1), 1);
    for (int i = 0; i < 7; i++)
        cycles[i] -= none;
    for (int i = 0; i < BACK_STAGES; i++)
        back[i] -= none;
    chip_sim_close(&c);
}

/* What the model that the planner uses (the mean of tables 2 and 3 for each sub-stage) says of
 * table 1. */
static void calibrated(void)
{
    static const struct {
        const char *name;
        unsigned length;
        double quantize, lorenzo, encode;
    } table[] = {{"CESM-ATM", 17, 6051, 975, 37124},
                 {"HACC", 13, 6101, 975, 29181},
                 {"QMCPack", 12, 6111, 975, 27188}};
    const double *c = stages_published.cycles;
    printf("| data set (bits) | pre-quantization: CereSZ, model | error | FL encoding: CereSZ, "
           "model | error | all | error "
           "|\n| --- | --- | --- | --- | --- | --- | --- |\n");
    for (int i = 0; i < 3; i++) {
        double quantize = c[STAGE_MULTIPLY] + c[STAGE_ADD];
        double encode =
            c[STAGE_SIGN] + c[STAGE_MAX] + c[STAGE_LENGTH] + table[i].length * c[STAGE_SHUFFLE];
        double all = quantize + c[STAGE_LORENZO] + encode;
        double published = table[i].quantize + table[i].lorenzo + table[i].encode;
        printf(
            "| %s (%u) | %.0f, %.0f | %+.1f %% | %.0f, %.0f | %+.1f %% | %.0f, %.0f | %+.1f %% |\n",
            table[i].name, table[i].length, table[i].quantize, quantize,
            100 * (quantize / table[i].quantize - 1), table[i].encode, encode,
            100 * (encode / table[i].encode - 1), published, all, 100 * (all / published - 1));
    }
    printf("\n");
}

static void stages(void)
{
    static const char *const name[] = {"Multiplication", "Addition",     "Lorenzo", "Sign", "Max",
                                       "GetLength",      "1-bit shuffle"};
    static const char *const undo[] = {"1-bit unshuffle", "Sign", "Prefix sum", "Multiplication"};
    double cycles[7], back[BACK_STAGES], ours = 0, theirs = 0;
    measure_stages(cycles, back);
    printf("| sub-stage (one block, scalar code) | CereSZ, cycles | simulated, cycles | error |\n"
           "| --- | --- | --- | --- |\n");
    for (int i = 0; i < 7; i++) {
        double published = stages_published.cycles[i], times = i == STAGE_SHUFFLE ? 17 : 1;
        printf("| %s | %.0f | %.0f | %+.0f %% |\n", name[i], published, cycles[i],
               100 * (cycles[i] / published - 1));
        ours += times * cycles[i];
        theirs += times * published;
    }
    printf("| all, a block of 17 bits | %.0f | %.0f | %+.0f %% |\n\n", theirs, ours,
           100 * (ours / theirs - 1));
    calibrated();
    printf("| decoding | simulated, cycles | planned with |\n| --- | --- | --- |\n");
    for (int i = 0; i < BACK_STAGES; i++)
        printf("| %s | %.0f | %.0f |\n", undo[i], back[i], stages_back_simulated.cycles[i]);
}

/* ---- fields ---- */

struct field {
    float *x;
    size_t count;
    bool box; /* 32 x 32 x 32 elements instead of a row of them */
    char name[40];
};

static struct zmpi_array array_of(const struct field *f)
{
    return f->box ? (struct zmpi_array){ZMPI_F32, {32, 32, 32}}
                  : (struct zmpi_array){ZMPI_F32, {1, 1, f->count}};
}

/* MOST_ELEMENTS from the middle of a file. */
static struct field load(const char *path)
{
    struct field f = {0};
    const char *slash = strrchr(path, '/');
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END))
        stop(path, strerror(errno));
    long elements = ftell(file) / 4;
    f.count = elements < MOST_ELEMENTS ? (size_t)elements : (size_t)MOST_ELEMENTS;
    f.x = malloc(f.count * 4 + 4);
    if (!f.x || fseek(file, (elements - (long)f.count) / 2 * 4, SEEK_SET) ||
        fread(f.x, 4, f.count, file) != f.count)
        stop(path, "cannot be read");
    fclose(file);
    snprintf(f.name, sizeof f.name, "%.*s", (int)strcspn(slash ? slash + 1 : path, "."),
             slash ? slash + 1 : path);
    return f;
}

/* One way to compute. */
struct variant {
    struct chip_sim from, to;
};

struct result {
    double cycles, back; /* for one block */
    double slow[2];      /* the same if scalar code were as slow as CereSZ's */
    double ratio;
    struct wse_count count[2];
};

static struct zmpi_job job_of(const struct field *f, double rel)
{
    struct zmpi_array a = array_of(f);
    struct zmpi_bound bound = {ZMPI_REL, rel};
    struct zmpi_range range = ZMPI_RANGE_EMPTY;
    struct zmpi_job job;
    zmpi_range_of(ZMPI_F32, f->x, f->count, &range);
    if (zmpi_job_make(&a, &bound, &range, &job) || !wse_takes_job(&job))
        stop(f->name, "cannot be compressed on PEs");
    return job;
}

static void compress(struct chip_sim *c, const struct field *f, double rel, unsigned char *coded,
                     size_t capacity, size_t *size, struct wse_count *count)
{
    struct zmpi_job job = job_of(f, rel);
    c->cycles = 0;
    if (wse_compress(&c->chip, &job, coded, capacity, f->x, size, count))
        stop(f->name, c->chip.problem);
}

/* Cycles for a block by the simulator's counters since the last call, scalar ones as many times as
 * in `bench_wse stages` CereSZ's total is ours. */
static double slower(struct chip_sim *c, double blocks)
{
    struct csl_counters n;
    csl_total_counters(c->sim, &n);
    csl_reset_counters(c->sim);
    return ((double)n.dsd_cycles + SLOWER * (double)(n.cycles - n.dsd_cycles)) / blocks;
}

static struct result run(struct variant *v, const struct field *f, double rel)
{
    struct zmpi_array a = array_of(f);
    struct zmpi_stream s;
    struct result r = {0};
    size_t capacity = zmpi_compress_capacity(&a), size = 0;
    unsigned char *coded = malloc(capacity), *back = malloc(f->count * 4);
    if (!coded || !back)
        stop(f->name, "no memory");
    compress(&v->from, f, rel, coded, capacity, &size, &r.count[0]);
    v->to.cycles = 0;
    if (zmpi_stream_parse(&s, coded, size) ||
        wse_decompress(&v->to.chip, &s, NULL, back, &r.count[1]))
        stop(f->name, "does not decode");
    double blocks = (double)((f->count + 31) / 32);
    r.cycles = (double)v->from.cycles / blocks;
    r.back = (double)v->to.cycles / blocks;
    r.slow[0] = slower(&v->from, blocks);
    r.slow[1] = slower(&v->to, blocks);
    r.ratio = (double)f->count * 4 / (double)size;
    free(coded);
    free(back);
    return r;
}

/* GB/s of 512 x 512 PEs: nothing but their own work, and with blocks that come through the first
 * column. */
static double rate(double cycles, bool fed)
{
    const struct row_model m = {COLUMNS, 1, cycles, fed ? RELAY : 0, 0};
    return row_rate(&m, ROWS) / 1e9;
}

static void fields(int count, char **path)
{
    struct variant v[3];
    for (int i = 0; i < 3; i++) {
        struct chip_sim_options how = {
            .arch = i == 2 ? CSL_WSE3 : CSL_WSE2, .seed = 1, .scalar = i == 0};
        v[i].from = open_or_stop("compress", 1, 1, how);
        v[i].to = open_or_stop("decompress", 1, 1, how);
    }
    printf("Cycles for a block of 32, coding / decoding. GB/s: DSD operations, WSE-2, 512 x 512 "
           "PEs, PEs alone and fed through "
           "one column.\n\n| field | rel | ratio | scalar, WSE-2 | DSD, WSE-2 | DSD, WSE-3 | "
           "chunks left to the host, coding / decoding | GB/s, alone "
           "| fed |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    double sum[2] = {0, 0}, cycles[2] = {0, 0}, slow[2] = {0, 0};
    for (int k = 0; k < count; k++) {
        struct field f = load(path[k]);
        for (double rel = 1e-2; rel > 0.5e-4; rel /= 10) {
            struct result r[3];
            for (int i = 0; i < 3; i++)
                r[i] = run(&v[i], &f, rel);
            const struct wse_count *n = r[1].count;
            printf("| %s | %.0e | %.2f | %.0f / %.0f | %.0f / %.0f | %.0f / %.0f | %llu / %llu of "
                   "%llu | %.0f / %.0f | %.0f / %.0f |\n",
                   f.name, rel, r[0].ratio, r[0].cycles, r[0].back, r[1].cycles, r[1].back,
                   r[2].cycles, r[2].back, (unsigned long long)n[0].host,
                   (unsigned long long)n[1].host, (unsigned long long)(n[0].host + n[0].chip),
                   rate(r[1].cycles, false), rate(r[1].back, false), rate(r[1].cycles, true),
                   rate(r[1].back, true));
            fflush(stdout);
            sum[0] += rate(r[1].cycles, true);
            sum[1] += rate(r[1].back, true);
            cycles[0] += r[1].cycles;
            cycles[1] += r[1].back;
            slow[0] += r[1].slow[0];
            slow[1] += r[1].slow[1];
        }
        free(f.x);
    }
    const double n = 3 * count;
    printf("\nMeans: %.0f / %.0f cycles, fed %.0f / %.0f GB/s (extrapolated from one PE). If "
           "scalar code were %.2f times as "
           "slow, as in `stages`: %.0f / %.0f cycles, fed %.0f / %.0f GB/s. CereSZ on a CS-2: "
           "34,000 to 44,000 cycles for coding, "
           "457 / 581 GB/s.\n",
           cycles[0] / n, cycles[1] / n, sum[0] / n, sum[1] / n, SLOWER, slow[0] / n, slow[1] / n,
           rate(slow[0] / n, true), rate(slow[1] / n, true));
    for (int i = 0; i < 3; i++) {
        chip_sim_close(&v[i].from);
        chip_sim_close(&v[i].to);
    }
}

/* ---- mappings: who codes what, four PEs each ---- */

static void mapping(const struct field *f, unsigned pipeline)
{
    const struct zmpi_job job = job_of(f, 1e-3);
    struct chip_sim_options how = {
        .seed = 1, .pipeline = pipeline, .length = stages_sample_length(&job, f->x)};
    struct variant v = {.from = open_or_stop(pipeline ? "rows" : "compress", 4, 1, how)};
    how.decode = pipeline > 0;
    v.to = open_or_stop(pipeline ? "rows" : "decompress", 4, 1, how);
    const struct result r = run(&v, f, 1e-3);
    printf("| %.0f / %.0f | %llu, %llu / %llu, %llu ", r.cycles, r.back,
           (unsigned long long)r.count[0].chip, (unsigned long long)r.count[0].host,
           (unsigned long long)r.count[1].chip, (unsigned long long)r.count[1].host);
    fflush(stdout);
    chip_sim_close(&v.from);
    chip_sim_close(&v.to);
}

static void mappings(int count, char **path)
{
    printf("Boxes of 32 x 32 x 32, rel 1e-3. Cycles for a block of 32 with four PEs, coding / "
           "decoding; chunks that PEs took, and the host, coding / decoding.\n\n| field | a chunk "
           "for each PE, DSD | PEs, host | four pipelines of one PE, DSD | PEs, host | a pipeline "
           "of four, scalar | PEs, host |\n| --- | --- | --- | --- | --- | --- | --- |\n");
    for (int k = 0; k < count; k++) {
        struct field f = load(path[k]);
        f.box = f.count == MOST_ELEMENTS;
        printf("| %s ", f.name);
        mapping(&f, 0);
        mapping(&f, 1);
        mapping(&f, 4);
        printf("|\n");
        free(f.x);
    }
}

/* ---- rows: Fig. 7, and how fast the simulator is ---- */

static void rows(void)
{
    static float x[8 * 8192];
    for (size_t i = 0; i < 8 * 8192; i++)
        x[i] = (float)(sin(0.001 * (double)i) + 0.01 * sin(3.7 * (double)i));
    printf(
        "| rows of one PE | cycles for a chunk each, coding / decoding | simulated, MB/s | times "
        "one row | simulator, 10^6 PE cycles/s |\n| --- | --- | --- | --- | --- |\n");
    double one[2] = {0, 0};
    for (unsigned height = 1; height <= 8; height *= 2) {
        struct variant v;
        struct field f = {.x = x, .count = (size_t)height * 8192, .name = "waves"};
        struct chip_sim_options how = {.seed = 1};
        struct timespec t[2];
        v.from = open_or_stop("compress", 1, height, how);
        v.to = open_or_stop("decompress", 1, height, how);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t[0]);
        run(&v, &f, 1e-3);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t[1]);
        double seconds =
            (double)(t[1].tv_sec - t[0].tv_sec) + 1e-9 * (double)(t[1].tv_nsec - t[0].tv_nsec);
        double mb[2] = {(double)f.count * 4 / ((double)v.from.cycles / HERTZ) / 1e6,
                        (double)f.count * 4 / ((double)v.to.cycles / HERTZ) / 1e6};
        if (height == 1)
            memcpy(one, mb, sizeof one);
        printf("| %u | %llu / %llu | %.0f / %.0f | %.2f / %.2f | %.1f |\n", height,
               (unsigned long long)v.from.cycles, (unsigned long long)v.to.cycles, mb[0], mb[1],
               mb[0] / one[0], mb[1] / one[1],
               height * (double)(v.from.cycles + v.to.cycles) / seconds / 1e6);
        chip_sim_close(&v.from);
        chip_sim_close(&v.to);
    }
}

/* ---- pipelines: Figs. 10 and 13, 14 for columns ---- */

enum { MOST_PIPELINES = 32, CHUNK_BLOCKS = 256 };

/* Cycles of a row for a chunk from each pipeline. */
static double row_cycles_of(struct chip_sim_options how, unsigned width, size_t *blocks)
{
    static float x[MOST_PIPELINES * 8192], back[MOST_PIPELINES * 8192];
    static unsigned char coded[MOST_PIPELINES * 32800];
    const size_t chunks = width / how.pipeline;
    const struct field f = {.x = x, .count = chunks * 8192, .name = "waves"};
    struct wse_count count = {0, 0};
    struct zmpi_stream s;
    size_t size;
    for (size_t i = 0; i < f.count; i++)
        x[i] = (float)(sin(0.001 * (double)i) + 0.4 * sin(2.7 * (double)i));
    struct zmpi_job job = job_of(&f, 1e-4);
    how.length = stages_sample_length(&job, x);
    if (how.decode && (zmpi_job_compress(zmpi_device_cpu(), &job, coded, sizeof coded, x, &size) ||
                       zmpi_stream_parse(&s, coded, size)))
        stop("rows", "cannot be compressed");
    if (how.decode)
        how.length = stages_sample_stream(&s);
    struct chip_sim c = open_or_stop("rows", width, 1, how);
    if (!how.decode)
        compress(&c, &f, 1e-4, coded, sizeof coded, &size, &count);
    else if (wse_decompress(&c.chip, &s, NULL, back, &count))
        stop("rows", c.chip.problem);
    if (count.host != 0)
        stop("rows", "a chunk was left to the host");
    chip_sim_close(&c);
    *blocks = chunks * CHUNK_BLOCKS;
    return (double)c.cycles;
}

/* one: cycles for a block of a row of one PE; 0: this is that row. */
static void row_line(unsigned width, struct chip_sim_options how, double *one)
{
    size_t blocks;
    double cycles = row_cycles_of(how, width, &blocks), each = cycles / (double)blocks;
    if (*one == 0)
        *one = each;
    printf("| %s | %s | %u | %u | %zu | %.0f | %.0f | %.1f | %.2f |\n",
           how.decode ? "decoding" : "coding", how.scalar ? "scalar" : "DSD", width, how.pipeline,
           blocks, cycles, each, 128 * HERTZ / each / 1e6, *one / each);
    fflush(stdout);
}

static void pipelines(void)
{
    printf("| | code | PEs in a row | pipeline | blocks | cycles | a block | simulated, MB/s a row "
           "| speed-up |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (int decode = 0; decode < 2; decode++) {
        struct chip_sim_options how = {.seed = 1, .scalar = true, .decode = decode != 0};
        double one = 0;
        for (unsigned width = 1; width <= 8; width *= 2)
            for (how.pipeline = 1; how.pipeline <= width; how.pipeline *= 2)
                row_line(width, how, &one);
        how.scalar = false;
        how.pipeline = 1;
        one = 0;
        for (unsigned width = 1; width <= MOST_PIPELINES; width *= 2)
            row_line(width, how, &one);
    }
}

/* ---- shapes: Figs. 10, 13, 14, by the planner ---- */

/* A line for each size: pipelines of 1 to 4 and 8 PEs. */
static void shape_lines(const char *what, const char *set, unsigned length, bool decode)
{
    static const size_t size[][2] = {{16, 16},   {32, 32},   {64, 64},  {128, 128},
                                     {256, 256}, {512, 512}, {750, 994}};
    double cycles[STAGES_MOST], sum;
    size_t first[STAGES_MOST + 1];
    size_t n = decode ? stages_back_of(&stages_back_simulated, length, cycles, &sum)
                      : stages_of(&stages_published, length, cycles, &sum);
    for (size_t i = 0; i < n && decode; i++)
        cycles[i] *= SLOWER;
    for (size_t k = 0; k < sizeof size / sizeof *size; k++) {
        printf("| %s | %s | %u | %zu x %zu ", what, set, length, size[k][0], size[k][1]);
        for (size_t pipeline = 1; pipeline <= 8; pipeline += pipeline == 4 ? 4 : 1) {
            /* back, a block is a word about the next one, signs and planes */
            struct row_model m = {size[k][1], pipeline,
                                  stages_distribute(cycles, n, pipeline, first),
                                  decode ? length + 2 : RELAY, 60};
            printf("| %.1f ", row_rate(&m, size[k][0]) / 1e9);
        }
        printf("|\n");
    }
}

static void shapes(void)
{
    static const unsigned length[] = {17, 13, 12};
    static const char *const set[] = {"CESM-ATM", "HACC", "QMCPack"};
    printf("Formulas (2) to (4), GB/s. Coding: with the paper's cycles, and %d to relay a block (a "
           "wavelet a cycle). Decoding, whose cycles the paper does not give: the simulated ones "
           "times %.2f, and bits + 2 to relay a block. 60 to pass intermediate data. Extrapolated, "
           "not simulated.\n\n| | data set | bits | PEs | pipeline 1 | 2 | 3 | 4 | 8 |\n"
           "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
           RELAY, SLOWER);
    for (int decode = 0; decode < 2; decode++)
        for (int i = 0; i < 3; i++)
            shape_lines(decode ? "decoding" : "coding", set[i], length[i], decode != 0);
    printf("\nCereSZ at 512 x 512, mean over its data sets: coding 457.35, decoding 581.31.\n");
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "stages") == 0)
        stages();
    else if (argc > 2 && strcmp(argv[1], "fields") == 0)
        fields(argc - 2, argv + 2);
    else if (argc > 2 && strcmp(argv[1], "mappings") == 0)
        mappings(argc - 2, argv + 2);
    else if (argc == 2 && strcmp(argv[1], "rows") == 0)
        rows();
    else if (argc == 2 && strcmp(argv[1], "pipelines") == 0)
        pipelines();
    else if (argc == 2 && strcmp(argv[1], "shapes") == 0)
        shapes();
    else
        stop("usage", "bench_wse stages | fields FILE.f32... | mappings FILE.f32... | rows | "
                      "pipelines | shapes");
    return 0;
}
