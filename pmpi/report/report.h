/* report.h - how other modules add to the report at the end. */
#ifndef ZMPI_REPORT_H
#define ZMPI_REPORT_H

#include "file/zfile.h"

/* Why a file that is opened for writing is plain. */
enum zleft {
    ZLEFT_NOT_SELECTED,
    ZLEFT_NO_BOUND,
    ZLEFT_THERE,          /* it has data */
    ZLEFT_FEW_FLOATS,     /* the same, and what was written is mostly something else */
    ZLEFT_AS_OTHERS,      /* decompress.h: zdecompress_is_known */
    ZLEFT_FILTERED,       /* ZMPI_HDF5=filter */
    ZLEFT_OPEN_OTHERWISE, /* by other means than MPI-IO */
    ZLEFTS
};
/* Notes a file that stays plain, on the first of its ranks. */
void zreport_left_alone(const char *path, enum zleft why, bool is_new);
void zreport_file(struct zfile *f); /* collective on the file's communicator, at close */
/* lost.c: logs what a bound has taken. *flat, on rank 0: the share of the lossy values that are
 * constants now. Collective. */
int zreport_lost(const struct zfile *f, double *flat);
/* calls.c: the first write calls of a file as the members of a JSON list, *size bytes, which the
 * caller frees; NULL: elsewhere than on rank 0, no report as JSON, or no memory. Collective. */
char *zreport_calls(struct zfile *f, size_t *size);
/* The same as a section for the file, of which `stored` bytes are records now: f->section on rank
 * 0, unless it is too large for the file. Collective; all have the same number. */
void zreport_calls_section(struct zfile *f, uint64_t stored);
void zreport_finalize(void); /* collective on MPI_COMM_WORLD */

#endif
