/* costs.c - the two sets of scalar costs. */
#include "costs.h"

#include "csl_sim.h"

#define X(name, estimated, fitted, bytes) estimated,
const struct csl_costs csl_costs_estimated = {{CSL_SCALAR_COSTS(X)}};
#undef X

#define X(name, estimated, fitted, bytes) fitted,
const struct csl_costs csl_costs_fitted = {{CSL_SCALAR_COSTS(X)}};
#undef X
