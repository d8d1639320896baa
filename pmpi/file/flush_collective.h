/* flush_collective.h - collective points: everything that ranks hold back goes out. */
#ifndef ZMPI_FLUSH_COLLECTIVE_H
#define ZMPI_FLUSH_COLLECTIVE_H

#include <mpi.h>
#include <stdint.h>

#include "next_mpi.h"

struct zfile;

/* Collective: staged data placed, records known to all ranks that may read, logical size known to
 * all. */
int zflush_collective(struct zfile *f);
/* Collective: the same, if the file may be read and any rank has written by itself since the last
 * time. In collective calls that MPI does not say make writes visible, but every MPI library does.
 */
int zflush_independent(struct zfile *f);
/* The same for a file that HDF5 has opened on this very communicator, which is its own duplicate.
 * Its ranks share the writing of metadata; each takes all of them for written when it comes out of
 * a barrier there, and reads what another one wrote, or writes over it. */
int zflush_hdf5(MPI_Comm program);
/* Places for rounds of collective calls that have none, until `most` are left. */
int zflush_rounds(struct zfile *f, uint64_t most);
/* Places for what ranks have encoded themselves of those rounds: independent calls have none for as
 * much. */
int zflush_outbox(struct zfile *f);
/* The second half of it, when the data have been placed already. */
int zflush_share(struct zfile *f);

#endif
