/* cpus.h - the CPUs that this process may use. */
#ifndef ZMPI_CPUS_H
#define ZMPI_CPUS_H

#include <stdbool.h>
#include <stddef.h>

/* Their number, at least 1, as of the first call: MPI_Init, or the start of the tool. */
int zmpi_cpus_count(void);
/* Highest number of a CPU that the mask can hold, plus one. */
size_t zmpi_cpus_end(void);
bool zmpi_cpus_has(size_t cpu);

/* The mask for pthread_attr_setaffinity_np; NULL if it is unknown. */
const void *zmpi_cpus_mask(size_t *bytes);

#endif
