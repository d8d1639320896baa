/* transfer.h - one write or read on this rank, for any MPI function. */
#ifndef ZMPI_TRANSFER_H
#define ZMPI_TRANSFER_H

#include "file/zfile.h"

struct zrequest {
    uint64_t position; /* in the view */
    void *buf;
    MPI_Count count;
    MPI_Datatype datatype;
    MPI_Status *status;
    uint64_t done; /* bytes that were written or read */
};

int zwrite_independent(struct zfile *f, const struct zrequest *r, uint64_t *done);
int zwrite_collective(struct zfile *f, const struct zrequest *r, uint64_t *done);
int zread_request(struct zfile *f, const struct zrequest *r, uint64_t *done);
int zread_collective(struct zfile *f, const struct zrequest *r, uint64_t *done);

#endif
