/* bench.h - what the parts of bench_wse share. Each of its functions ends the program if it fails.
 */
#ifndef ZMPI_CSL_BENCH_H
#define ZMPI_CSL_BENCH_H

#include "chip_sim.h"
#include "device.h"

#define HERTZ 850e6

/* RELAY: the cycles in which a block passes a link, one wavelet each. PASS: the same for
 * intermediate data. */
enum { ROWS = 512, COLUMNS = 512, RELAY = 32, PASS = 60 };

/* CereSZ's data sets of tables 1 to 3: bits, and the cycles of table 1. */
struct published_set {
    const char *name;
    unsigned length;
    double step[3]; /* pre-quantization, prediction, encoding */
};
enum { PUBLISHED_SETS = 3 };
extern const struct published_set published_sets[PUBLISHED_SETS];

/* Its means at 512 x 512, GB/s: coding, decoding. */
extern const double published_rate[2];

_Noreturn void bench_stop(const char *what, const char *why);
struct chip_sim bench_open(const char *program, unsigned width, unsigned height,
                           struct chip_sim_options how);

/* GB/s of 512 x 512 PEs. Each PE has blocks of its own, which come through the first column. */
double bench_rate(double cycles, double relay);

/* Rows of PEs. Each pipeline gets a chunk whose blocks all have `bits` bits. */
enum { ROW_WIDTH = 32, CHUNK_BLOCKS = 256 };

struct row_run {
    double cycles;             /* of all launches */
    double each;               /* of a block of a row */
    double busy[ROW_WIDTH];    /* cycles in tasks for one of the PE's own blocks, by column */
    double threads[ROW_WIDTH]; /* cycles of moves beside them */
};

/* width x height <= 32 PEs; how.pipeline is that of the rows. */
struct row_run bench_row(unsigned width, unsigned height, unsigned bits,
                         struct chip_sim_options how);

/* bench_stages.c */
void bench_stages(void);
void bench_counts(void);
/* bench_figures.c */
void bench_pipelines(void);
void bench_shapes(void);
void bench_figures(void);

#endif
