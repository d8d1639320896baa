/* transfer.h - one write or read on this rank, whatever MPI function asked for it. */
#ifndef ZMPI_TRANSFER_H
#define ZMPI_TRANSFER_H

#include "file/zfile.h"

struct zrequest {
    uint64_t position; /* in the view */
    void *buf;
    MPI_Count count;
    MPI_Datatype datatype;
    MPI_Status *status;
    uint64_t done; /* bytes, once it is */
};

int zwrite_independent(struct zfile *f, const struct zrequest *r, uint64_t *done);
int zwrite_collective(struct zfile *f, const struct zrequest *r, uint64_t *done);
int zread_request(struct zfile *f, const struct zrequest *r, uint64_t *done);
int zread_collective(struct zfile *f, const struct zrequest *r, uint64_t *done);

/* Increasing runs of the file's records to dst, one behind the other, in the holder's memory or the
 * host's; *bad (may be NULL): the record that is damaged. */
enum zmpi_status zread_stored(struct zfile *f, const struct zmpi_run *run, size_t runs,
                              const struct zmpi_device *holder, unsigned char *dst, uint64_t *bad);

#endif
