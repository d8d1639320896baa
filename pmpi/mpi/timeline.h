/* timeline.h - when containers and plain files were written and read, and compressed collectives
 * sent, for the report as JSON: sums in bins of time since MPI_Init. */
#ifndef ZMPI_TIMELINE_H
#define ZMPI_TIMELINE_H

#include <mpi.h>
#include <stdio.h>

enum ztimeline {
    ZTIMELINE_WRITE,
    ZTIMELINE_READ,
    ZTIMELINE_SEND,
    ZTIMELINE_WRITE_PLAIN,
    ZTIMELINE_READ_PLAIN,
    ZTIMELINES
};

/* Once settings are known. Before it, and without a report as JSON, nothing is kept. */
void ztimeline_begin(void);
/* A call that began at `start` (zmpi_seconds) and ends now. Any thread. */
void ztimeline_call(enum ztimeline what, double start, double bytes);
/* For calls on plain files: when one begins, 0 where nothing is kept; and its end, with its result
 * and what it was asked to move. */
double ztimeline_start(void);
void ztimeline_plain(enum ztimeline what, double start, int rc, MPI_Count count,
                     MPI_Datatype datatype);
/* That of all processes, on the first of them. Collective on MPI_COMM_WORLD. */
void ztimeline_sum(void);
/* A member of the report's object, a comma behind it. */
void ztimeline_print_json(FILE *out);

#endif
