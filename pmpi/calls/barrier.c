/*
 * barrier.c - MPI_Barrier, in which HDF5 waits until what other ranks have written can be read: on
 * the communicator that it opened the file with, a duplicate of its own. Its ranks share the
 * writing of metadata, each has all of them for written behind the barrier, and reads what another
 * one wrote, or writes over it.
 */
#include "file/zfile.h"
#include "wrappers.h"

int zw_barrier(MPI_Comm comm)
{
    struct zfile *f = zfile_find_hdf5(comm);
    int rc = MPI_SUCCESS;
    if (f) {
        rc = zsettle_told(f);
        zfile_done(f);
    }
    const int waited = PMPI_Barrier(comm);
    return rc ? rc : waited;
}
