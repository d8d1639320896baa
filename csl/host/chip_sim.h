/* chip_sim.h - PEs simulated by csl/sim. */
#ifndef ZMPI_CSL_CHIP_SIM_H
#define ZMPI_CSL_CHIP_SIM_H

#include "chip.h"
#include "csl_sim.h"

struct chip_sim {
    struct chip chip;
    struct csl_sim *sim;
    uint64_t cycles; /* of all launches, to the last PE's end */
    char problem[256];
};

struct chip_sim_options {
    enum csl_arch arch; /* 0: WSE-2 */
    uint64_t seed;      /* seed of the order of tasks */
    bool scalar;        /* compute element by element, as CereSZ does, not by DSD operations */
    unsigned pipeline, length; /* as struct chip_rows, for "rows" */
    bool decode;
    int64_t groups; /* the stages' borders, in the form of csl/kernels/rows_layout.csl; 0: Algorithm
                     * 1's */
    const struct csl_costs *costs; /* NULL: as csl_options */
};

/* Loads width x height PEs with "compress", "decompress" or "rows". False: chip.problem says why;
 * the caller must close the chip all the same. */
bool chip_sim_open(struct chip_sim *c, const char *program, unsigned width, unsigned height,
                   const struct chip_sim_options *how);
void chip_sim_close(struct chip_sim *c);

#endif
