/* report.h - what the report at the end is told. */
#ifndef ZMPI_REPORT_H
#define ZMPI_REPORT_H

#include "file/zfile.h"

/* A new file that stays as it is, counted by the first of its ranks. selected: only a bound is
 * missing. */
void zreport_left_alone(const char *path, bool selected);
void zreport_file(struct zfile *f); /* collective on the file's communicator, at close */
void zreport_finalize(void);        /* collective on MPI_COMM_WORLD */

#endif
