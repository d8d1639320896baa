/* report.h - what the report at the end is told. */
#ifndef ZMPI_REPORT_H
#define ZMPI_REPORT_H

#include "file/zfile.h"

/* A new file that stays as it is, counted by the first of its ranks. selected: only a bound is
 * missing. */
void zreport_left_alone(const char *path, bool selected);
void zreport_file(struct zfile *f); /* collective on the file's communicator, at close */
/* lost.c: says what a bound has taken; *flat, on rank 0: the share of the lossy values that are
 * constants now. Collective. */
int zreport_lost(const struct zfile *f, double *flat);
/* calls.c: the first write calls of a file as the members of a JSON list, *size bytes, which the
 * caller frees; NULL: elsewhere than on rank 0, no report as JSON, or no memory. Collective. */
char *zreport_calls(struct zfile *f, size_t *size);
void zreport_finalize(void); /* collective on MPI_COMM_WORLD */

#endif
