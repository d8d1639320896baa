/*
 * mesh PATH: an unstructured mesh and a field on its nodes in a MED file, each rank a block of
 * nodes.
 */
#include <math.h>
#include <med.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { NODES = 120000, STEPS = 3 };

static double coordinates[3 * NODES], values[NODES];

static void ok(med_err status, const char *call)
{
    if (status < 0) {
        fprintf(stderr, "mesh: %s failed\n", call);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}
#define OK(call) ok(call, #call)

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    const med_int first = NODES * rank / ranks, mine = NODES * (rank + 1) / ranks - first;

    const med_idt file = MEDparFileOpen(argv[1], MED_ACC_CREAT, MPI_COMM_WORLD, MPI_INFO_NULL);
    ok((med_err)(file < 0 ? -1 : 0), "MEDparFileOpen");
    OK(MEDmeshCr(file, "mesh", 3, 3, MED_UNSTRUCTURED_MESH, "a block", "s", MED_SORT_DTIT,
                 MED_CARTESIAN, "x               y               z               ",
                 "m               m               m               "));
    med_filter block = MED_FILTER_INIT;
    OK(MEDfilterBlockOfEntityCr(file, NODES, 1, 3, MED_ALL_CONSTITUENT, MED_FULL_INTERLACE,
                                MED_COMPACT_STMODE, MED_NO_PROFILE, (med_size)first + 1,
                                (med_size)mine, 1, (med_size)mine, 0, &block));
    for (med_int i = 0; i < mine; i++) {
        const double angle = 0.001 * (double)(first + i);
        coordinates[3 * i] = 10 * cos(angle);
        coordinates[3 * i + 1] = 10 * sin(angle);
        coordinates[3 * i + 2] = 0.1 * angle;
    }
    OK(MEDmeshNodeCoordinateAdvancedWr(file, "mesh", MED_NO_DT, MED_NO_IT, 0, &block, coordinates));
    OK(MEDfilterClose(&block));

    OK(MEDfieldCr(file, "temperature", MED_FLOAT64, 1, "T               ", "K               ", "s",
                  "mesh"));
    for (int step = 1; step <= STEPS; step++) {
        med_filter part = MED_FILTER_INIT;
        OK(MEDfilterBlockOfEntityCr(file, NODES, 1, 1, 1, MED_FULL_INTERLACE, MED_COMPACT_STMODE,
                                    MED_NO_PROFILE, (med_size)first + 1, (med_size)mine, 1,
                                    (med_size)mine, 0, &part));
        for (med_int i = 0; i < mine; i++)
            values[i] = 300 + 20 * sin(0.002 * (double)(first + i) + step) +
                        0.2 * cos(0.3 * (double)(first + i));
        OK(MEDfieldValueAdvancedWr(file, "temperature", step, MED_NO_IT, step, MED_NODE, MED_NONE,
                                   "", &part, (unsigned char *)values));
        OK(MEDfilterClose(&part));
    }
    OK(MEDfileClose(file));
    MPI_Finalize();
    return EXIT_SUCCESS;
}
