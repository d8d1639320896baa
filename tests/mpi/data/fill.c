/*
 * fill.c - fill values of any size, which not all ranks have alike: one has nothing else, one a
 * few, one none. They may be larger than all other values, or nearer to 0. In collective and
 * independent writes, in components, interleaved and one behind the other, and in MPI_Gather they
 * come back exactly, and the field beside them within its bound.
 *
 * zmpi-test: RANKS 1,2,3,4 ENV ZMPI_ERROR_BOUND=rel=1e-3 ZMPI_COLLECTIVE_MIN=1K ZMPI_COLLECTIVE_MODE=always
 */
#include "check.h"

#include <math.h>

enum { N = 60000 };

enum way { TOGETHER, ALONE, PAIRS, BLOCKS, WAYS };

/* A field from `least` to least + size, with one fill value or two. */
struct kind {
    double least, size, fill[2];
};

static const char path[] = "fill.z";
static int rank, ranks;

/* Of two components, the first has no fill values. */
static int component_of(enum way way, int i)
{
    return way == PAIRS ? i % 2 : way == BLOCKS ? i / (N / 2) : 1;
}

/* Rank 0: stretches; 1: nothing else; 2: a few of them; 3: none. */
static bool is_fill(int r, int i, enum way way)
{
    return component_of(way, i) == 1 &&
           (r % 4 == 1 || (r % 4 == 0 && i / 500 % 3 == 0) || (r % 4 == 2 && i % 12000 > 11990));
}

static double value(int r, int i, enum way way, const struct kind *k)
{
    const double x = 0.5 + 0.5 * sin(1e-3 * (i + 100 * r)) * cos(2e-2 * i);
    return is_fill(r, i, way)          ? k->fill[i / 1000 % 2]
           : component_of(way, i) == 1 ? k->least + k->size * x
                                       : x;
}

static void fill_in(float *dst, int r, enum way way, const struct kind *k)
{
    for (int i = 0; i < N; i++)
        dst[i] = (float)value(r, i, way, k);
}

static void compare(const float *is, int r, enum way way, const struct kind *k)
{
    for (int i = 0; i < N; i++) {
        const double x = (double)(float)value(r, i, way, k), y = (double)is[i];
        const double bound = 1e-3 * (component_of(way, i) == 1 ? k->size : 1);
        CHECK_SAY(is_fill(r, i, way) ? x == y : fabs(x - y) <= bound,
                  "way %d, %g: rank %d's element %d is %g, not %g", (int)way, k->fill[0], r, i, y,
                  x);
    }
}

static MPI_Info info_of(enum way way)
{
    MPI_Info info = MPI_INFO_NULL;
    if (way != PAIRS && way != BLOCKS)
        return info;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "zmpi_components", way == PAIRS ? "2" : "2:slow"));
    return info;
}

static void file(const struct kind *k, enum way way)
{
    float *data = check_alloc(N * 4), *back = check_alloc(N * 4);
    MPI_Info info = info_of(way);
    MPI_File f;
    check_say("%g, way %d", k->fill[0], (int)way);
    fill_in(data, rank, way, k);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &f));
    const MPI_Offset at = (MPI_Offset)rank * N * 4;
    if (way == ALONE)
        OK(MPI_File_write_at(f, at, data, N, MPI_FLOAT, MPI_STATUS_IGNORE));
    else
        OK(MPI_File_write_at_all(f, at, data, N, MPI_FLOAT, MPI_STATUS_IGNORE));
    check_sync(f, MPI_COMM_WORLD);
    OK(MPI_File_read_at(f, at, back, N, MPI_FLOAT, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&f));
    if (info != MPI_INFO_NULL)
        OK(MPI_Info_free(&info));
    /* Alone, a rank that has nothing else, or a few, cannot tell. */
    if (way != ALONE || rank % 4 == 0 || rank % 4 == 3)
        compare(back, rank, way, k);
    check_remove(path, MPI_COMM_WORLD);
    free(data);
    free(back);
}

static void gather(const struct kind *k)
{
    float *data = check_alloc(N * 4), *all = check_alloc((size_t)ranks * N * 4);
    check_say("%g, MPI_Gather", k->fill[0]);
    fill_in(data, rank, TOGETHER, k);
    OK(MPI_Gather(data, N, MPI_FLOAT, all, N, MPI_FLOAT, 0, MPI_COMM_WORLD));
    for (int r = 0; r < ranks && rank == 0; r++)
        compare(all + (size_t)r * N, r, TOGETHER, k);
    free(data);
    free(all);
}

int main(int argc, char **argv)
{
    static const struct kind kinds[] = {
        {0, 1, {-9999, -9999}},      {0, 1, {9999, 9999}},      {0, 1, {1e15, 1e15}},
        {0, 1, {-32768, -32768}},    {0, 1, {-999, -9999}},     {0, 1, {-2.5, -2.5}},
        {1e5, 2000, {-9999, -9999}}, {280, 30, {0, 0}},         {1e5, 2000, {-999, 0}},
        {1e5, 2000, {1e15, -9999}},  {-1e5, 2000, {9999, 9999}}};
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        for (int way = 0; way < WAYS; way++)
            file(&kinds[i], (enum way)way);
        gather(&kinds[i]);
    }
    OK(MPI_Finalize());
    return 0;
}
