/* barrier.c - MPI_Barrier, behind which HDF5 reads what other ranks have written. */
#include "file/zfile.h"
#include "wrappers.h"

int zw_barrier(MPI_Comm comm)
{
    const int flushed = zflush_hdf5(comm);
    const int waited = PMPI_Barrier(comm);
    return flushed ? flushed : waited;
}
