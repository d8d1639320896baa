/* retype.h - calls whose data are floats although their datatype does not say so. */
#ifndef ZMPI_RETYPE_H
#define ZMPI_RETYPE_H

#include "transfer/write_plan.h"

/* As the option element_type says, and the data confirm. Else p is as before. */
void zretype(struct zfile *f, struct zplan *p);

#endif
