/* model.h - a chip whose PEs do what csl/kernels do, in C. */
#ifndef ZMPI_TEST_WSE_MODEL_H
#define ZMPI_TEST_WSE_MODEL_H

#include "chip.h"

struct chip *wse_model_new(unsigned width, unsigned height);
void wse_model_free(struct chip *chip);

#endif
