/*
 * byte_order.c - a program that writes numbers in the other byte order as MPI_DOUBLE, as PETSc
 * does, or integers among its doubles, gets them back bit for bit, however they are written, and
 * its user is told; other files of the same run are compressed.
 *
 * zmpi-test: RANKS 1,3 ENV ZMPI_ERROR_BOUND=abs=1e-2 ZMPI_COLLECTIVE_MODE=always ZMPI_REPORT=byte_order.json ZMPI_REPORT_TEXT=off
 */
#include <math.h>

#include "check.h"

enum { N = 20000, FEW = 1 };

static int rank, ranks;
static double data[N], back[N];

/* PARTICLES: as programs pack them, with an integer in every eighth place. */
enum kind { FLOATS, SWAPPED, PARTICLES };

/* What rank `of` has. */
static void fill(enum kind kind, int of)
{
    for (int64_t i = 0; i < N; i++) {
        unsigned char *bytes = (unsigned char *)&data[i];
        data[i] = sin((double)(of * N + i) * 1e-3) + 2;
        for (size_t k = 0; kind == SWAPPED && k < sizeof(double) / 2; k++) {
            unsigned char byte = bytes[k];
            bytes[k] = bytes[sizeof(double) - 1 - k];
            bytes[sizeof(double) - 1 - k] = byte;
        }
        if (kind == PARTICLES && i % 8 == 0)
            memcpy(bytes, &i, sizeof i);
    }
}

enum how { TOGETHER, ALONE, FEW_AT_A_TIME, ONE_RANK, HOWS };

static void write_file(MPI_File file, enum how how)
{
    const MPI_Offset mine = rank * (MPI_Offset)sizeof data;
    if (how == TOGETHER)
        OK(MPI_File_write_at_all(file, mine, data, N, MPI_DOUBLE, MPI_STATUS_IGNORE));
    if (how == ALONE)
        OK(MPI_File_write_at(file, mine, data, N, MPI_DOUBLE, MPI_STATUS_IGNORE));
    for (int i = 0; how == FEW_AT_A_TIME && i < N; i += FEW)
        OK(MPI_File_write_at(file, mine + i * (MPI_Offset)sizeof *data, data + i, FEW, MPI_DOUBLE,
                             MPI_STATUS_IGNORE));
    if (how == ONE_RANK) { /* what the others write tells nothing */
        const int n = rank == 0 ? N : 1;
        OK(MPI_File_write_at_all(file, mine, data, n, MPI_DOUBLE, MPI_STATUS_IGNORE));
        OK(MPI_File_write_at_all(file, mine + n * (MPI_Offset)sizeof *data, data + n, N - n,
                                 MPI_DOUBLE, MPI_STATUS_IGNORE));
    }
}

static void round_trip(const char *path, enum how how, int mode, bool exact)
{
    MPI_File file;
    check_say("%s, way %d", path, how);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | mode, MPI_INFO_NULL, &file));
    write_file(file, how);
    OK(MPI_File_close(&file));
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    OK(MPI_File_read_at_all(file, rank * (MPI_Offset)sizeof data, back, N, MPI_DOUBLE,
                            MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    CHECK((memcmp(data, back, sizeof data) == 0) == exact);
}

/* Of all files together. After MPI_Finalize. */
static double reported(const char *path)
{
    static char text[20000];
    const char key[] = "\"bytes_other_byte_order\": ";
    double sum = 0;
    FILE *in = fopen(path, "r");
    if (!in)
        return -1;
    text[fread(text, 1, sizeof text - 1, in)] = 0;
    fclose(in);
    for (const char *at = text; (at = strstr(at, key)) != NULL;)
        sum += strtod(at += sizeof key - 1, NULL);
    return sum;
}

/* Masses that are all the same may look as if they were turned around; what is written then is
 * compressed all the same. */
static void masses(void)
{
    static float mass[N], wave[N], mine[N];
    MPI_File file;
    check_say("masses");
    for (int i = 0; i < N; i++) {
        mass[i] = 1.98847e30F;
        wave[i] = (float)sin(i * 1e-3);
    }
    OK(MPI_File_open(MPI_COMM_WORLD, "byte_order_masses.z", MPI_MODE_CREATE | MPI_MODE_RDWR,
                     MPI_INFO_NULL, &file));
    for (int k = 0; k < 2; k++)
        OK(MPI_File_write_at_all(file, (2 * rank + k) * (MPI_Offset)sizeof mass, k ? wave : mass, N,
                                 MPI_FLOAT, MPI_STATUS_IGNORE));
    for (int k = 0; k < 2; k++) {
        OK(MPI_File_read_at_all(file, (2 * rank + k) * (MPI_Offset)sizeof mass, mine, N, MPI_FLOAT,
                                MPI_STATUS_IGNORE));
        CHECK((memcmp(mine, k ? wave : mass, sizeof mine) == 0) == (k == 0));
    }
    OK(MPI_File_close(&file));
}

/* Each message is judged by itself. */
static void gather(enum kind kind)
{
    double *all = check_alloc((size_t)ranks * sizeof data);
    check_say("gather, kind %d", kind);
    fill(kind, rank);
    OK(MPI_Gather(data, N, MPI_DOUBLE, all, N, MPI_DOUBLE, 0, MPI_COMM_WORLD));
    if (rank == 0 && ranks > 1) {
        fill(kind, ranks - 1);
        CHECK((memcmp(all + (size_t)(ranks - 1) * N, data, sizeof data) == 0) == (kind != FLOATS));
    }
    free(all);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    fill(FLOATS, rank);
    round_trip("byte_order_here.z", TOGETHER, MPI_MODE_WRONLY, false);
    fill(PARTICLES, rank);
    round_trip("byte_order_particles.z", TOGETHER, MPI_MODE_WRONLY, true);
    fill(SWAPPED, rank);
    for (int how = 0; how < HOWS; how++) {
        round_trip("byte_order_w.z", (enum how)how, MPI_MODE_WRONLY, true);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            OK(MPI_File_delete("byte_order_w.z", MPI_INFO_NULL));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    round_trip("byte_order_rw.z", TOGETHER, MPI_MODE_RDWR, true);
    masses();
    gather(FLOATS);
    gather(SWAPPED);
    gather(PARTICLES);
    OK(MPI_Finalize());
    const double should =
        (HOWS + 2.0) * ranks * (double)sizeof data + (double)ranks * N * (double)sizeof(float);
    const double found =
        reported("byte_order.json"); /* of one value at a time not the first ones */
    if (rank || (found > 0.999 * should && found <= should))
        return 0;
    fprintf(stderr, "reported: %g bytes of %g\n", reported("byte_order.json"), should);
    return 1;
}
