#include <mpi.h>
#include <stdio.h>
#include <zmpi.h>
#include <zmpi_codec.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("rank %d: zmpi %s\n", rank, zmpi_version());
    return MPI_Finalize();
}
