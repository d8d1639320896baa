/* dry_rows.h - a dry run (ZMPI_DRY_RUN): the time that samples may take, and what they tell, for
 * the report. */
#ifndef ZMPI_DRY_ROWS_H
#define ZMPI_DRY_ROWS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "next_mpi.h"
#include "stream/trial.h"

/* What one file, or one collective operation, would be. Plain data: it travels as bytes. */
struct zdry_row {
    char name[256]; /* the end of a longer path */
    char bound[40]; /* the user's; "": none */
    double collective;
    double ranks, calls, bytes,
        sampled; /* bytes: of all calls; of those of which a part was coded */
    struct zmpi_trials trials;
    struct zmpi_trial_most most;
};

/* Starts the clock, at MPI_Init. */
void zdry_begin(void);
/* Processor seconds that samples may still take in this process: 2 % of the time since MPI_Init and
 * a tenth of a second; and adds seconds that they took. Any thread. */
double zdry_left(void);
void zdry_spent(double seconds);

/* Of all ranks, on the first. Collective. */
int zdry_sum(struct zdry_row *row, MPI_Comm comm);
/* Adds a finished row, on the process that reports it. */
void zdry_keep(const struct zdry_row *row);
size_t zdry_rows(const struct zdry_row **rows);

void zdry_print_text(FILE *out, const struct zdry_row *row, size_t n);
/* A member of the report's object, a comma behind it. */
void zdry_print_json(FILE *out, const struct zdry_row *row, size_t n);

#endif
