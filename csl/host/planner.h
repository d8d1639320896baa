/*
 * planner.h - which PE does what, and how long it takes (CereSZ 4.2 to 4.4): Algorithm 1 assigns
 * sub-stages to PEs, formulas (2) to (4) give the cycles of a row.
 */
#ifndef ZMPI_CSL_PLANNER_H
#define ZMPI_CSL_PLANNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chip_rows;
struct zmpi_job;
struct zmpi_stream;

/* The paper's sub-stages, in order. The shuffle of each bit is a stage of its own. */
enum {
    STAGE_MULTIPLY,
    STAGE_ADD,
    STAGE_LORENZO,
    STAGE_SIGN,
    STAGE_MAX,
    STAGE_LENGTH,
    STAGE_SHUFFLE
};
enum { STAGES_MOST = STAGE_SHUFFLE + 32 };

struct stage_costs {
    double cycles[STAGE_SHUFFLE + 1]; /* cycles for one block; for the shuffle: for one bit */
};

/* CereSZ, tables 1 to 3: means over its three data sets. */
extern const struct stage_costs stages_published;

/* The stages of blocks of `length` bits, and the sum of their cycles. */
size_t stages_of(const struct stage_costs *costs, unsigned length, double cycles[STAGES_MOST],
                 double *sum);

/* For decoding: the unshuffle of each bit comes first. */
enum { BACK_UNSHUFFLE, BACK_SIGN, BACK_SUM, BACK_MULTIPLY, BACK_STAGES };

struct back_costs {
    double cycles[BACK_STAGES];
};

/* What stages.csl takes in the simulator with fitted costs, because CereSZ gives no cycles for
 * decoding (`bench_wse stages` compares). */
extern const struct back_costs stages_back_simulated;

size_t stages_back_of(const struct back_costs *costs, unsigned length, double cycles[STAGES_MOST],
                      double *sum);

/*
 * Algorithm 1: PE i of a pipeline of `pes` does stages first[i] to first[i + 1] - 1 (first has pes
 * + 1 entries). Returns the cycles of the slowest PE.
 */
double stages_distribute(const double *cycles, size_t stages, size_t pes, size_t *first);
/* The first stage of each PE of a pipeline, in the form of csl/kernels/rows_layout.csl. */
int64_t stages_groups(const struct chip_rows *rows);

/* The mean length of the blocks in a sample of 5 % (CereSZ 4.2), rounded up; of f32 by a bound. */
unsigned stages_sample_length(const struct zmpi_job *job, const void *src);
/* The same for the blocks of a stream (f32, encoder fle), by their length bytes. */
unsigned stages_sample_stream(const struct zmpi_stream *s);

/* A wafer whose rows get blocks through the first column. */
struct row_model {
    size_t columns, pipeline; /* PEs; of each pipeline */
    double block;             /* cycles of the slowest PE for one block */
    double relay;             /* C1: one block from PE to PE */
    double pass;              /* C2: one block's intermediate data to the next PE of its pipeline */
};

/* Bytes of f32 input per second, for `rows` rows at 850 MHz. */
double row_rate(const struct row_model *m, size_t rows);

#endif
