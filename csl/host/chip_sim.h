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
    uint64_t seed;      /* of the order of tasks */
    bool scalar;        /* element by element, as CereSZ computes, instead of by DSD operations */
    unsigned pipeline, length; /* as struct chip_rows, for "rows" */
    bool decode;
    int64_t groups; /* instead of Algorithm 1's, as csl/kernels/rows_layout.csl has it; 0: that */
    const struct csl_costs *costs; /* NULL: as csl_options */
};

/* width x height PEs that run "compress", "decompress" or "rows". False: chip.problem says why;
 * close it all the same. */
bool chip_sim_open(struct chip_sim *c, const char *program, unsigned width, unsigned height,
                   const struct chip_sim_options *how);
void chip_sim_close(struct chip_sim *c);

#endif
