/* chip_sdk.h - PEs of a Cerebras machine, or of the vendor's simulator, by the vendor's tools: cslc
 * and cs_python. */
#ifndef ZMPI_CSL_CHIP_SDK_H
#define ZMPI_CSL_CHIP_SDK_H

#include <sys/types.h>

#include "chip.h"

struct chip_sdk {
    struct chip chip;
    char folder[200]; /* folder of the sources, and of what cslc makes of them; "": none */
    int peer;         /* socket to csl/sdk/bridge.py */
    pid_t bridge;     /* 0: not running */
    pid_t owner;      /* the process that opened it */
    char problem[256];
};

/* What is missing to use the tools, or NULL. */
const char *chip_sdk_missing(void);
/* As chip_sim_open. address: that of a CS system; NULL: the vendor's simulator. */
bool chip_sdk_open(struct chip_sdk *c, const char *program, unsigned width, unsigned height,
                   const struct chip_rows *rows, const char *address);
void chip_sdk_close(struct chip_sdk *c);

#endif
