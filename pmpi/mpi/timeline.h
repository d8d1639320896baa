/* timeline.h - when containers were written and read, and compressed collectives sent, for the
 * report as JSON: sums in bins of time since MPI_Init. */
#ifndef ZMPI_TIMELINE_H
#define ZMPI_TIMELINE_H

#include <stdio.h>

enum ztimeline { ZTIMELINE_WRITE, ZTIMELINE_READ, ZTIMELINE_SEND, ZTIMELINES };

/* Once settings are known. Before it, and without a report as JSON, nothing is kept. */
void ztimeline_begin(void);
/* A call that began at `start` (zmpi_seconds) and ends now. Any thread. */
void ztimeline_call(enum ztimeline what, double start, double bytes);
/* That of all processes, on the first of them. Collective on MPI_COMM_WORLD. */
void ztimeline_sum(void);
/* A member of the report's object, a comma behind it. */
void ztimeline_print_json(FILE *out);

#endif
