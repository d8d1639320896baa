#include <mpi.h>
#include <stdio.h>
#include <zmpi.h>
#include <zmpi_codec.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    /* One rank has nobody to send to. */
    if (zmpi_comm_set(MPI_COMM_WORLD, "error_bound", "abs=1") != MPI_ERR_COMM)
        return 1;
    printf("rank %d: zmpi %s\n", rank, zmpi_version());
    return MPI_Finalize();
}
