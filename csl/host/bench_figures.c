/*
 * bench_figures.c - CereSZ's Figs. 7, 10, 13 and 14: rows and pipelines as simulated, what formulas
 * (2) to (4) say beyond them, and how far each departs from the shape that the paper claims. The
 * paper's text has no other numbers for these figures than those printed here.
 */
#include <math.h>
#include <stdio.h>

#include "bench.h"
#include "planner.h"

/* The length of the simulated blocks: QMCPack's. */
enum { BITS = 12 };

static const char *costs_name(const struct chip_sim_options *how)
{
    return how->costs == &csl_costs_fitted ? "fitted" : "estimated";
}

/* ---- pipelines ---- */

/* one: cycles for a block in a row of one PE; 0: this is that row. */
static void pipeline_line(unsigned width, struct chip_sim_options how, double *one)
{
    const struct row_run run = bench_row(width, 1, BITS, how);
    if (*one == 0)
        *one = run.each;
    printf("| %s | %s, %s | %u | %u | %.0f | %.0f | %.1f | %.2f |\n",
           how.decode ? "decoding" : "coding", how.scalar ? "scalar" : "DSD", costs_name(&how),
           width, how.pipeline, run.cycles, run.each, 128 * HERTZ / run.each / 1e6,
           *one / run.each);
    fflush(stdout);
}

void bench_pipelines(void)
{
    printf("Blocks of %d bits, 256 for each pipeline.\n\n"
           "| | code, costs | PEs in a row | pipeline | cycles | a block | simulated, MB/s a row | "
           "speed-up |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n",
           BITS);
    for (int decode = 0; decode < 2; decode++) {
        struct chip_sim_options how = {
            .seed = 1, .scalar = true, .decode = decode != 0, .costs = &csl_costs_fitted};
        double one = 0;
        for (unsigned width = 1; width <= 8; width *= 2)
            for (how.pipeline = 1; how.pipeline <= width; how.pipeline *= 2)
                pipeline_line(width, how, &one);
        how.scalar = false;
        how.pipeline = 1;
        for (int estimated = 0; estimated < 2; estimated++) {
            how.costs = estimated ? &csl_costs_estimated : &csl_costs_fitted;
            one = 0;
            for (unsigned width = 1; width <= ROW_WIDTH; width *= 2)
                pipeline_line(width, how, &one);
        }
    }
}

/* ---- shapes ---- */

static const size_t wafer[][2] = {{16, 16},   {32, 32},   {64, 64},  {128, 128},
                                  {256, 256}, {512, 512}, {750, 994}};
enum { WAFERS = sizeof wafer / sizeof *wafer };

/* GB/s of `rows`, by formulas (2) to (4). */
static double formula_rate(const size_t size[2], size_t pipeline, unsigned length, bool decode)
{
    double cycles[STAGES_MOST], sum;
    size_t first[STAGES_MOST + 1];
    size_t n = decode ? stages_back_of(&stages_back_simulated, length, cycles, &sum)
                      : stages_of(&stages_published, length, cycles, &sum);
    /* on the way back a block is a word about the next one, signs and planes */
    const struct row_model m = {size[1], pipeline, stages_distribute(cycles, n, pipeline, first),
                                decode ? length + 2 : RELAY, PASS};
    return row_rate(&m, size[0]) / 1e9;
}

void bench_shapes(void)
{
    printf("Formulas (2) to (4), GB/s. Coding: with the paper's cycles, and %d to relay a block (a "
           "wavelet a cycle). Decoding, whose cycles the paper does not give: those simulated with "
           "fitted costs, and bits + 2 to relay a block. %d to pass intermediate data. "
           "Extrapolated, not simulated.\n\n| | data set | bits | PEs | pipeline 1 | 2 | 3 | 4 | "
           "8 |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
           RELAY, PASS);
    for (int decode = 0; decode < 2; decode++)
        for (int i = 0; i < PUBLISHED_SETS; i++) {
            const unsigned length = published_sets[i].length;
            for (int k = 0; k < WAFERS; k++) {
                printf("| %s | %s | %u | %zu x %zu ", decode ? "decoding" : "coding",
                       published_sets[i].name, length, wafer[k][0], wafer[k][1]);
                for (size_t pipeline = 1; pipeline <= 8; pipeline += pipeline == 4 ? 4 : 1)
                    printf("| %.1f ", formula_rate(wafer[k], pipeline, length, decode != 0));
                printf("|\n");
            }
        }
}

/* ---- figures ---- */

/* How near n points are to y = a + b x: R^2, and the largest deviation from y = (y0 / x0) x. */
struct line {
    double slope, start, r2, off;
};

static struct line line_of(const double *x, const double *y, int n)
{
    double sx = 0, sy = 0, sxx = 0, sxy = 0, syy = 0;
    struct line l = {0};
    for (int i = 0; i < n; i++) {
        sx += x[i];
        sy += y[i];
        sxx += x[i] * x[i];
        sxy += x[i] * y[i];
        syy += y[i] * y[i];
        l.off = fmax(l.off, fabs(y[i] * x[0] / (y[0] * x[i]) - 1));
    }
    const double xy = n * sxy - sx * sy, xx = n * sxx - sx * sx, yy = n * syy - sy * sy;
    l.slope = xy / xx;
    l.start = (sy - l.slope * sx) / n;
    l.r2 = xy * xy / (xx * yy);
    return l;
}

static const struct chip_sim_options scalar = {
    .seed = 1, .pipeline = 1, .scalar = true, .costs = &csl_costs_fitted};

static double megabytes(double each, unsigned rows)
{
    return rows * 128 * HERTZ / each / 1e6;
}

static void figure_7(void)
{
    double x[6], y[6];
    int n = 0;
    printf("**Fig. 7**, one PE of each row. CereSZ: NYX temperature, no numbers in the text, "
           "\"increases linearly\". Simulated, %d bits, scalar code, fitted costs:\n\n"
           "| rows | MB/s |\n| --- | --- |\n",
           BITS);
    for (unsigned rows = 1; rows <= 32; rows *= 2, n++) {
        x[n] = rows;
        y[n] = megabytes(bench_row(1, rows, BITS, scalar).each, rows);
        printf("| %u | %.1f |\n", rows, y[n]);
    }
    const struct line l = line_of(x, y, n);
    printf("\nLinear: largest deviation from so many times one row %.2f %%, R^2 %.6f.\n\n",
           100 * l.off, l.r2);
}

static void figure_10a(void)
{
    struct chip_sim_options how = scalar;
    double x[6], y[6];
    int n = 0;
    how.scalar = false; /* the same moves, by a quicker simulation */
    printf("**Fig. 10(a)**, relaying time of a row's first PE. CereSZ: QMCPack, no numbers in the "
           "text, linear in the columns, formula (2). Simulated, cycles of its moves for a block "
           "of its own:\n\n| columns | simulated | (2), C1 = %d |\n| --- | --- | --- |\n",
           RELAY);
    for (unsigned columns = 2; columns <= ROW_WIDTH; columns *= 2, n++) {
        x[n] = columns;
        y[n] = bench_row(columns, 1, BITS, how).threads[0];
        printf("| %u | %.0f | %u |\n", columns, y[n], columns * RELAY);
    }
    const struct line l = line_of(x, y, n);
    printf("\nLinear: R^2 %.6f, %.1f cycles more for each column.\n\n", l.r2, l.slope);
}

/* The busiest PE of a row. */
static double busiest(const struct row_run *run, unsigned width)
{
    double most = 0;
    for (unsigned i = 0; i < width; i++)
        most = fmax(most, run->busy[i]);
    return most;
}

static void figure_10b(void)
{
    struct chip_sim_options how = scalar;
    double x[8], y[8];
    int n = 0;
    printf("**Fig. 10(b)**, execution time of a PE. CereSZ: QMCPack, no numbers in the text, "
           "inversely proportional to the pipeline's length, formula (3). Simulated, cycles for a "
           "block in the busiest PE; (3) with the paper's cycles and C2 = %d, its stages whole:\n\n"
           "| pipeline | simulated | (3) | error |\n| --- | --- | --- | --- |\n",
           PASS);
    for (how.pipeline = 1; how.pipeline <= 8; how.pipeline++, n++) {
        double cycles[STAGES_MOST], sum;
        size_t first[STAGES_MOST + 1];
        const size_t stages = stages_of(&stages_published, BITS, cycles, &sum);
        const struct row_run run = bench_row(how.pipeline, 1, BITS, how);
        const double formula = stages_distribute(cycles, stages, how.pipeline, first) +
                               (how.pipeline > 1 ? how.pipeline * PASS : 0);
        x[n] = 1.0 / how.pipeline;
        y[n] = busiest(&run, how.pipeline);
        printf("| %u | %.0f | %.0f | %+.1f %% |\n", how.pipeline, y[n], formula,
               100 * (y[n] / formula - 1));
    }
    const struct line l = line_of(x, y, n);
    printf("\nInversely proportional: R^2 of the cycles over 1 / length %.4f.\n\n", l.r2);
}

static void figure_13(void)
{
    struct chip_sim_options how = scalar;
    double best = 0;
    unsigned best_length = 0;
    printf("**Fig. 13**, pipelines of n PEs. CereSZ: QMCPack and Hurricane, no numbers in the "
           "text, 1-PE is the best. Simulated, a row of 8 PEs, scalar code, fitted costs; "
           "extrapolated by (2) to (4) with the paper's cycles to 512 x 512:\n\n"
           "| pipeline | MB/s a row | of 1-PE | (2) to (4), GB/s | of 1-PE |\n"
           "| --- | --- | --- | --- | --- |\n");
    const double one = formula_rate((size_t[2]){ROWS, COLUMNS}, 1, BITS, false);
    double first = 0;
    for (how.pipeline = 1; how.pipeline <= 8; how.pipeline *= 2) {
        const double mb = megabytes(bench_row(8, 1, BITS, how).each, 1);
        const double gb = formula_rate((size_t[2]){ROWS, COLUMNS}, how.pipeline, BITS, false);
        if (how.pipeline == 1)
            first = mb;
        if (mb > best) {
            best = mb;
            best_length = how.pipeline;
        }
        printf("| %u | %.1f | %.2f | %.1f | %.2f |\n", how.pipeline, mb, mb / first, gb, gb / one);
    }
    printf("\nThe best length simulated: %u.\n\n", best_length);
}

/* GB/s by formulas (2) to (4), and their share of linear growth from the smallest wafer. */
static void growth(const char *name, const char *whose, double block)
{
    double rate[WAFERS];
    for (int k = 0; k < WAFERS; k++) {
        const struct row_model m = {wafer[k][1], 1, block, RELAY, 0};
        rate[k] = row_rate(&m, wafer[k][0]) / 1e9;
    }
    printf("| %s, %s | %.2f ", name, whose, rate[1] / rate[0]);
    for (int k = 1; k < WAFERS; k++) {
        const double pes = (double)(wafer[k][0] * wafer[k][1]) / 256;
        printf("| %.1f: %.0f %% ", rate[k], 100 * rate[k] / (rate[0] * pes));
    }
    printf("|\n");
}

/* The part that is simulated: a row, which relays while it computes. */
static void columns(void)
{
    double x[6], y[6];
    int n = 0;
    printf("\nSimulated, a row of pipelines of one PE, %d bits, beside (2) to (4) with the cycles "
           "that one PE takes:\n\n| columns | MB/s | of linear | (2) to (4) |\n"
           "| --- | --- | --- | --- |\n",
           BITS);
    for (unsigned width = 1; width <= ROW_WIDTH; width *= 2, n++) {
        x[n] = width;
        y[n] = megabytes(bench_row(width, 1, BITS, scalar).each, 1);
        const double block = 128 * HERTZ / y[0] / 1e6;
        printf("| %u | %.1f | %.1f %% | %.1f %% |\n", width, y[n], 100 * y[n] / (width * y[0]),
               100 * block / (block + width * RELAY));
    }
    const struct line l = line_of(x, y, n);
    printf("\nLinear: largest deviation from so many times one column %.1f %%, R^2 %.6f.\n",
           100 * l.off, l.r2);
}

/* What the paper's own rates leave for relaying if a block takes the cycles of its table 1. */
static void implied(const char *what, double rate, double block)
{
    const double pes = (double)ROWS * COLUMNS, round = pes * 128 * HERTZ / (rate * 1e9);
    const double column = (round - block) / COLUMNS, least = block + 32 * column;
    printf("| %s | %.2f | %.0f | %.0f | %.0f | %.1f | %.0f |\n", what, rate, round, block,
           pes * 128 * HERTZ / block / 1e9, column, 256 * least / round);
}

static void figure_14(void)
{
    double mean = 0;
    printf(
        "**Fig. 14**, the wafer's size. CereSZ: CESM-ATM and HACC, \"linear\"; the only number "
        "in the text is that 32 x 32 gives about 4 times 16 x 16. Extrapolated by (2) to (4), "
        "GB/s: part of linear growth from 16 x 16; a block takes the cycles of table 1, or those "
        "simulated with fitted costs:\n\n"
        "| data set | 32 x 32 by 16 x 16 | 32 x 32 | 64 x 64 | 128 x 128 | 256 x 256 | 512 x 512 "
        "| 750 x 994 |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (int i = 0; i < PUBLISHED_SETS; i++) {
        const double *step = published_sets[i].step;
        const double sum = step[0] + step[1] + step[2];
        growth(published_sets[i].name, "table 1", sum);
        growth(published_sets[i].name, "simulated",
               bench_row(1, 1, published_sets[i].length, scalar).each);
        mean += sum / PUBLISHED_SETS;
    }
    columns();
    printf(
        "\nWhat the paper's own rates at 512 x 512 say of linear growth: cycles in which a PE "
        "gets a block done, against those of its table 1.\n\n"
        "| rate of CereSZ | GB/s | cycles a block | table 1 | GB/s, if linear | left for each of "
        "512 columns | growth from 32 x 32, of 256 |\n| --- | --- | --- | --- | --- | --- | --- "
        "|\n");
    const double *qmc = published_sets[2].step;
    implied("mean of all; table 1's mean", published_rate[0], mean);
    implied("QMCPack, rel 1e-4; its own", 277.93, qmc[0] + qmc[1] + qmc[2]);
}

void bench_figures(void)
{
    figure_7();
    figure_10a();
    figure_10b();
    figure_13();
    figure_14();
}
