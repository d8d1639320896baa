/*
 * nested.c - a datatype and a file view that are nested deeper than a stack could hold.
 *
 * zmpi-test: RANKS 2 ENV ZMPI_ERROR_BOUND=abs=1e-3 ZMPI_LOG=quiet
 */
#include "check.h"

#include <math.h>

enum { DEPTH = 20000, N = 500 };

static double data[N], back[N];

/* N doubles, in constructors of one child each. */
static MPI_Datatype nest(void)
{
    MPI_Datatype type, outer;
    OK(MPI_Type_contiguous(N, MPI_DOUBLE, &type));
    for (int i = 0; i < DEPTH; i++) {
        if (i % 3 == 0)
            OK(MPI_Type_contiguous(1, type, &outer));
        else if (i % 3 == 1)
            OK(MPI_Type_create_resized(type, 0, N * (MPI_Aint)sizeof(double), &outer));
        else
            OK(MPI_Type_dup(type, &outer));
        OK(MPI_Type_free(&type));
        type = outer;
    }
    OK(MPI_Type_commit(&type));
    return type;
}

int main(int argc, char **argv)
{
    MPI_File file;
    OK(MPI_Init(&argc, &argv));
    const int rank = check_rank(MPI_COMM_WORLD);
    MPI_Datatype type = nest();
    for (int i = 0; i < N; i++)
        data[i] = sin(i * 0.01) + rank;
    check_remove("nested.out", MPI_COMM_WORLD);
    OK(MPI_File_open(MPI_COMM_WORLD, "nested.out", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                     &file));
    OK(MPI_File_set_view(file, rank * (MPI_Offset)sizeof data, type, type, "native",
                         MPI_INFO_NULL));
    OK(MPI_File_write_at_all(file, 0, data, 1, type, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at_all(file, 0, back, 1, type, MPI_STATUS_IGNORE));
    bool lossy = false;
    for (int i = 0; i < N; i++) {
        CHECK(fabs(back[i] - data[i]) <= 1e-3);
        lossy |= back[i] != data[i];
    }
    CHECK(lossy); /* they are doubles, at any depth */
    OK(MPI_File_close(&file));
    OK(MPI_Type_free(&type));
    check_remove("nested.out", MPI_COMM_WORLD);
    OK(MPI_Finalize());
}
