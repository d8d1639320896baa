/*
 * bench.c - how long the kernels take on the simulated wafer, beside what CereSZ reports: the
 * tables of docs/internals/csl.md. All figures except the paper's are simulated. Those for more PEs
 * than were simulated are extrapolated, and say so.
 *
 * usage: bench_wse stages | counts | fields FILE.f32... | mappings FILE.f32... | rows | pipelines |
 * shapes | figures
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "planner.h"
#include "wse.h"

enum { MOST_ELEMENTS = 4 * 8192 };

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
        bench_stop(path, strerror(errno));
    long elements = ftell(file) / 4;
    f.count = elements < MOST_ELEMENTS ? (size_t)elements : (size_t)MOST_ELEMENTS;
    f.x = malloc(f.count * 4 + 4);
    if (!f.x || fseek(file, (elements - (long)f.count) / 2 * 4, SEEK_SET) ||
        fread(f.x, 4, f.count, file) != f.count)
        bench_stop(path, "cannot be read");
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
        bench_stop(f->name, "cannot be compressed on PEs");
    return job;
}

static void compress(struct chip_sim *c, const struct field *f, double rel, unsigned char *coded,
                     size_t capacity, size_t *size, struct wse_count *count)
{
    struct zmpi_job job = job_of(f, rel);
    c->cycles = 0;
    if (wse_compress(&c->chip, &job, coded, capacity, f->x, size, count))
        bench_stop(f->name, c->chip.problem);
}

static struct result run(struct variant *v, const struct field *f, double rel)
{
    struct zmpi_array a = array_of(f);
    struct zmpi_stream s;
    struct result r = {0};
    size_t capacity = zmpi_compress_capacity(&a), size = 0;
    unsigned char *coded = malloc(capacity), *back = malloc(f->count * 4);
    if (!coded || !back)
        bench_stop(f->name, "no memory");
    compress(&v->from, f, rel, coded, capacity, &size, &r.count[0]);
    v->to.cycles = 0;
    if (zmpi_stream_parse(&s, coded, size) ||
        wse_decompress(&v->to.chip, &s, NULL, back, &r.count[1]))
        bench_stop(f->name, "does not decode");
    double blocks = (double)((f->count + 31) / 32);
    r.cycles = (double)v->from.cycles / blocks;
    r.back = (double)v->to.cycles / blocks;
    r.ratio = (double)f->count * 4 / (double)size;
    free(coded);
    free(back);
    return r;
}

static const struct way {
    const char *name;
    struct chip_sim_options how;
} way[] = {{"rows, scalar, fitted",
            {.seed = 1, .scalar = true, .pipeline = 1, .costs = &csl_costs_fitted}},
           {"DSD, fitted", {.seed = 1, .costs = &csl_costs_fitted}},
           {"DSD, estimated", {.seed = 1}},
           {"DSD, estimated, WSE-3", {.arch = CSL_WSE3, .seed = 1}}};
enum { WAYS = sizeof way / sizeof *way };

static struct variant both_ways(struct chip_sim_options how, unsigned width)
{
    struct variant v;
    v.from = bench_open(how.pipeline ? "rows" : "compress", width, 1, how);
    how.decode = how.pipeline > 0;
    v.to = bench_open(how.pipeline ? "rows" : "decompress", width, 1, how);
    return v;
}

/* Sums over fields and bounds. */
struct total {
    double cycles[2], rate[2];
};

static void field_line(struct variant v[WAYS], const struct field *f, double rel,
                       struct total total[WAYS])
{
    for (int i = 0; i < WAYS; i++) {
        const struct result r = run(&v[i], f, rel);
        const double gb[2] = {bench_rate(r.cycles, RELAY), bench_rate(r.back, RELAY)};
        if (i == 0)
            printf("| %s | %.0e | %.2f ", f->name, rel, r.ratio);
        printf("| %.0f / %.0f | %.0f / %.0f ", r.cycles, r.back, gb[0], gb[1]);
        total[i].cycles[0] += r.cycles;
        total[i].cycles[1] += r.back;
        total[i].rate[0] += gb[0];
        total[i].rate[1] += gb[1];
        if (i + 1 == WAYS)
            printf("| %llu / %llu of %llu |\n", (unsigned long long)r.count[0].host,
                   (unsigned long long)r.count[1].host,
                   (unsigned long long)(r.count[0].host + r.count[0].chip));
    }
    fflush(stdout);
}

static void fields(int count, char **path)
{
    struct variant v[WAYS];
    struct total total[WAYS] = {0};
    const double n = 3 * count;
    printf("Cycles for a block of 32 in one PE, and GB/s of 512 x 512 whose blocks come through "
           "one column, %d cycles each (extrapolated), coding / decoding. rows: csl/kernels/rows*, "
           "as CereSZ feeds PEs; else a chunk lies in the PE.\n\n| field | rel | ratio ",
           RELAY);
    for (int i = 0; i < WAYS; i++) {
        v[i] = both_ways(way[i].how, 1);
        printf("| %s | GB/s ", way[i].name);
    }
    printf("| chunks left to the host |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | "
           "--- | --- | --- |\n");
    for (int k = 0; k < count; k++) {
        struct field f = load(path[k]);
        for (double rel = 1e-2; rel > 0.5e-4; rel /= 10)
            field_line(v, &f, rel, total);
        free(f.x);
    }
    printf("| mean | | ");
    for (int i = 0; i < WAYS; i++) {
        printf("| %.0f / %.0f | %.0f / %.0f ", total[i].cycles[0] / n, total[i].cycles[1] / n,
               total[i].rate[0] / n, total[i].rate[1] / n);
        chip_sim_close(&v[i].from);
        chip_sim_close(&v[i].to);
    }
    printf("| |\n| CereSZ, six other data sets | | | | %.0f / %.0f | | | | | | | |\n",
           published_rate[0], published_rate[1]);
}

/* ---- mappings: who codes what, four PEs each ---- */

static void mapping(const struct field *f, unsigned pipeline)
{
    const struct zmpi_job job = job_of(f, 1e-3);
    struct variant v = both_ways(
        (struct chip_sim_options){
            .seed = 1, .pipeline = pipeline, .length = stages_sample_length(&job, f->x)},
        4);
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

/* ---- rows, and how fast the simulator is ---- */

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
        v.from = bench_open("compress", 1, height, how);
        v.to = bench_open("decompress", 1, height, how);
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

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } table[] = {{"stages", bench_stages}, {"counts", bench_counts},
                 {"rows", rows},           {"pipelines", bench_pipelines},
                 {"shapes", bench_shapes}, {"figures", bench_figures}};
    for (size_t i = 0; i < sizeof table / sizeof *table && argc == 2; i++)
        if (strcmp(argv[1], table[i].name) == 0) {
            table[i].run();
            return 0;
        }
    if (argc > 2 && strcmp(argv[1], "fields") == 0)
        fields(argc - 2, argv + 2);
    else if (argc > 2 && strcmp(argv[1], "mappings") == 0)
        mappings(argc - 2, argv + 2);
    else
        bench_stop("usage", "bench_wse stages | counts | fields FILE.f32... | mappings FILE.f32... "
                            "| rows | pipelines | shapes | figures");
    return 0;
}
