/*
 * types_f90.c - types that programs ask for by their digits (MPI_Type_create_f90_real and others)
 * are floats or integers of their size: floats are compressed within the bound, also inside other
 * types.
 *
 * zmpi-test: RANKS 1,3 ENV ZMPI_ERROR_BOUND=abs=1e-3 ZMPI_COLLECTIVE_MODE=always
 */
#include <math.h>

#include "check.h"

enum { N = 20000 };

static int rank, ranks;

static double value(int of, int i)
{
    return sin((of * N + i) * 1e-3) + 2;
}

/* As many elements as are `bytes` long: floats or doubles, whose values lie near the right ones
 * but (if they are lossy) are not the same, or integers. */
static void file_of(const char *path, MPI_Datatype type, int count, size_t width, bool integer)
{
    static double data[N], back[N];
    static int64_t whole[N];
    void *from = integer ? (void *)whole : (void *)data;
    MPI_File file;
    int differ = 0;
    check_say("%s", path);
    for (int i = 0; i < N; i++) {
        whole[i] = i;
        if (width == 4)
            ((float *)data)[i] = (float)value(rank, i);
        else
            data[i] = value(rank, i);
    }
    const MPI_Offset mine = rank * (MPI_Offset)(N * width);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    OK(MPI_File_set_view(file, mine, type, type, "native", MPI_INFO_NULL));
    OK(MPI_File_write_at_all(file, 0, from, count, type, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at_all(file, 0, back, count, type, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    if (integer) {
        CHECK_BYTES(back, whole, N * width);
        return;
    }
    for (int i = 0; i < N; i++) {
        const double x = width == 4 ? (double)((float *)back)[i] : back[i];
        const double y = width == 4 ? (double)((float *)data)[i] : data[i];
        CHECK_SAY(fabs(x - y) <= 1e-3, "%d: %g, not %g", i, x, y);
        differ += x < y || x > y;
    }
    CHECK_SAY(differ > N / 2, "only %d of %d values are lossy", differ, N);
}

static void gather(MPI_Datatype type)
{
    static double data[N];
    double *all = check_alloc((size_t)ranks * sizeof data);
    int differ = 0;
    check_say("gather");
    for (int i = 0; i < N; i++)
        data[i] = value(rank, i);
    OK(MPI_Gather(data, N, type, all, N, type, 0, MPI_COMM_WORLD));
    for (int i = 0; i < N * ranks && rank == 0; i++) {
        CHECK(fabs(all[i] - value(i / N, i % N)) <= 1e-3);
        differ += i >= N && all[i] - value(i / N, i % N) != 0;
    }
    CHECK(rank != 0 || ranks == 1 || differ > N / 2);
    free(all);
}

int main(int argc, char **argv)
{
    MPI_Datatype type, pair;
    OK(MPI_Init(&argc, &argv));
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    OK(MPI_Type_create_f90_real(6, 30, &type));
    file_of("real4.z", type, N, 4, false);
    OK(MPI_Type_create_f90_real(15, 300, &type));
    file_of("real8.z", type, N, 8, false);
    gather(type);
    OK(MPI_Type_contiguous(2, type, &pair));
    OK(MPI_Type_commit(&pair));
    file_of("pairs.z", pair, N / 2, 8, false);
    OK(MPI_Type_free(&pair));
    OK(MPI_Type_create_f90_complex(15, 300, &type));
    file_of("complex16.z", type, N / 2, 8, false);
    OK(MPI_Type_create_f90_complex(6, 30, &type));
    file_of("complex8.z", type, N / 2, 4, false);
    OK(MPI_Type_create_f90_integer(9, &type));
    file_of("integer4.z", type, N, 4, true);
    OK(MPI_Type_create_f90_integer(18, &type));
    file_of("integer8.z", type, N, 8, true);
    OK(MPI_Finalize());
    return 0;
}
