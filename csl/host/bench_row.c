/* bench_row.c - what all tables use: the paper's figures, and rows of PEs that code or decode
 * blocks of one length. */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "bound/ratio.h"
#include "layout/stream.h"
#include "planner.h"
#include "stream/compress_job.h"
#include "wse.h"

enum { MOST = ROW_WIDTH * 8192 };

static float x[MOST], back[MOST];
static unsigned char coded[MOST / 8192 * 32800];

const struct published_set published_sets[] = {{"CESM-ATM", 17, {6051, 975, 37124}},
                                               {"HACC", 13, {6101, 975, 29181}},
                                               {"QMCPack", 12, {6111, 975, 27188}}};
const double published_rate[2] = {457.35, 581.31};

void bench_stop(const char *what, const char *why)
{
    fprintf(stderr, "bench_wse: %s: %s\n", what, why);
    exit(1);
}

struct chip_sim bench_open(const char *program, unsigned width, unsigned height,
                           struct chip_sim_options how)
{
    struct chip_sim c;
    if (!chip_sim_open(&c, program, width, height, &how))
        bench_stop(program, c.chip.problem);
    return c;
}

double bench_rate(double cycles, double relay)
{
    const struct row_model m = {COLUMNS, 1, cycles, relay, 0};
    return row_rate(&m, ROWS) / 1e9;
}

/* Values that go up and down in turn, in steps of 0.5 to 0.7 times 2^bits quanta. The quantum is 1
 * or nearly so: values beyond 2^17 quanta take the last level, whose quantum is the bound itself.
 */
static struct zmpi_job job_of_bits(size_t count, unsigned bits)
{
    const struct zmpi_array a = {ZMPI_F32, {1, 1, count}};
    const struct zmpi_bound bound = {ZMPI_ABS, bits > 14 ? 1 : 0.5};
    struct zmpi_job job;
    float height[9] = {0.3F * (float)(1U << bits)}; /* 0 could be -0, which takes longer */
    for (size_t i = 0; i < 8; i++)
        height[i + 1] = height[i] + (0.7F - 0.05F * (float)(i % 4)) * (float)(1U << bits);
    for (size_t i = 0; i < count; i++)
        x[i] = height[i % 16 < 8 ? i % 16 : 16 - i % 16];
    if (zmpi_job_make(&a, &bound, NULL, &job))
        bench_stop("rows", "cannot be compressed");
    return job;
}

struct row_run bench_row(unsigned width, unsigned height, unsigned bits,
                         struct chip_sim_options how)
{
    const size_t chunks = (size_t)height * width / how.pipeline, count = chunks * 8192;
    const struct zmpi_job job = job_of_bits(count, bits);
    struct wse_count n = {0, 0};
    struct row_run run = {0};
    struct csl_counters c;
    struct zmpi_stream s;
    size_t size;
    if (zmpi_job_compress(zmpi_device_cpu(), &job, coded, sizeof coded, x, &size) ||
        zmpi_stream_parse(&s, coded, size) || stages_sample_stream(&s) != bits)
        bench_stop("rows", "blocks have not the length that was meant");
    how.length = bits;
    struct chip_sim chip = bench_open("rows", width, height, how);
    if (how.decode ? wse_decompress(&chip.chip, &s, NULL, back, &n)
                   : wse_compress(&chip.chip, &job, coded, sizeof coded, x, &size, &n))
        bench_stop("rows", chip.chip.problem);
    if (n.host != 0)
        bench_stop("rows", "a chunk was left to the host");
    run.cycles = (double)chip.cycles;
    run.each = run.cycles / (double)(chunks / height * CHUNK_BLOCKS);
    for (unsigned i = 0; i < width; i++) {
        csl_pe_counters(chip.sim, i, 0, &c);
        run.busy[i] = (double)c.cycles / CHUNK_BLOCKS;
        run.threads[i] = (double)c.thread_cycles / CHUNK_BLOCKS;
    }
    chip_sim_close(&chip);
    return run;
}
