/*
 * blocks PATH: a field in blocks, step by step, by ADIOS 1 with its MPI method: one file, in which
 * each rank's block is bytes.
 */
#include <adios.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { NZ = 32, NY = 64, NX = 64, STEPS = 3 };

static double field[NZ * NY * NX];

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    int64_t group, file;
    char all[64], mine[64], from[64];
    adios_init_noxml(MPI_COMM_WORLD);
    adios_declare_group(&group, "blocks", "", adios_stat_no);
    adios_select_method(group, "MPI", "", "");
    snprintf(all, sizeof all, "%d,%d,%d", NZ * ranks, NY, NX);
    snprintf(mine, sizeof mine, "%d,%d,%d", NZ, NY, NX);
    snprintf(from, sizeof from, "%d,0,0", NZ * rank);
    const int64_t id = adios_define_var(group, "field", "", adios_double, mine, all, from);
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < NZ * NY * NX; i++) {
            const double z = i / (NY * NX) + rank * NZ, y = i / NX % NY, x = i % NX;
            field[i] = 280 + 20 * sin(0.1 * z + 0.3 * step) * cos(0.07 * y) + 3 * sin(0.05 * x);
        }
        if (adios_open(&file, "blocks", argv[1], step > 0 ? "a" : "w", MPI_COMM_WORLD) != 0 ||
            adios_write_byid(file, id, field) != 0 || adios_close(file) != 0) {
            fprintf(stderr, "blocks: %s\n", adios_get_last_errmsg());
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    adios_finalize(rank);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
