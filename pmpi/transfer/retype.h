/* retype.h - calls whose data are floats although their datatype does not say so. */
#ifndef ZMPI_RETYPE_H
#define ZMPI_RETYPE_H

#include "transfer/write_plan.h"

/* Changes p's type to that of the option element_type, if the data look like it. */
void zretype(struct zfile *f, struct zplan *p);

#endif
