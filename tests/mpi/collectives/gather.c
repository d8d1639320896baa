/*
 * gather.c - MPI_Gather: every root, in place, arguments that mean nothing, datatypes that differ
 * but match, large and small and no data, and the bound over the range of all.
 *
 * zmpi-test: RANKS 1,2,3,4 ANYIO ENV ZMPI_ERROR_BOUND=rel=1e-3 ZMPI_COLLECTIVE_MIN=1K ZMPI_COLLECTIVE_MODE=always
 * zmpi-test: huffman RANKS 2 ANYIO ENV ZMPI_ERROR_BOUND=rel=1e-3 ZMPI_COLLECTIVE_MIN=1K ZMPI_COLLECTIVE_MODE=always ZMPI_CODEC=huffman
 * zmpi-test: interp RANKS 2 ANYIO ENV ZMPI_ERROR_BOUND=rel=1e-3 ZMPI_COLLECTIVE_MIN=1K ZMPI_COLLECTIVE_MODE=always ZMPI_CODEC=interp
 * zmpi-test: lossless RANKS 2 ANYIO ARGS exact ENV ZMPI_ERROR_BOUND=lossless ZMPI_COLLECTIVE_MODE=always
 * zmpi-test: none RANKS 2 ANYIO ARGS exact ENV ZMPI_ERROR_BOUND=abs=1 ZMPI_COLLECTIVES=none
 */
#include "check.h"

#include <math.h>

static bool exact; /* nothing may change */
static MPI_Comm comm;
static int rank, ranks;

static double value(int r, int i)
{
    return pow(10, r) * sin(i * 0.01 + r) + 0.001 * check_unit((uint64_t)r, (uint64_t)i);
}

static double range_of_all(int n)
{
    double low = INFINITY, high = -INFINITY;
    for (int r = 0; r < ranks; r++)
        for (int i = 0; i < n; i++) {
            low = fmin(low, value(r, i));
            high = fmax(high, value(r, i));
        }
    return high - low;
}

/* What `root` got of rank r: element i at is[i * step]. Returns how many are not what was sent. */
static int compare(const double *is, int step, int r, int root, int n, double range)
{
    int changed = 0;
    for (int i = 0; i < n; i++) {
        double off = fabs(is[i * step] - value(r, i));
        double most = exact || r == root ? 0 : 1e-3 * range;
        CHECK_SAY(off <= most, "element %d of rank %d is off by %g, allowed %g", i, r, off, most);
        changed += off > 0;
    }
    return changed;
}

static double *contribution(int n)
{
    double *data = check_alloc((size_t)n * sizeof *data);
    for (int i = 0; i < n; i++)
        data[i] = value(rank, i);
    return data;
}

/* On other ranks than the root the receive arguments mean nothing, and may be anything. */
static void doubles(int n, int root, bool in_place)
{
    double *data = contribution(n), *all = NULL;
    check_say("%d doubles to %d of %d%s", n, root, ranks, in_place ? ", in place" : "");
    if (rank == root) {
        all = check_alloc((size_t)(n * ranks + 1) * sizeof *all);
        for (int i = 0; i <= n * ranks; i++)
            all[i] = -77;
        if (in_place)
            memcpy(all + n * root, data, (size_t)n * sizeof *all);
        OK(MPI_Gather(in_place ? MPI_IN_PLACE : data, in_place ? -3 : n,
                      in_place ? MPI_DATATYPE_NULL : MPI_DOUBLE, all, n, MPI_DOUBLE, root, comm));
        double range = range_of_all(n);
        int changed = 0;
        for (int r = 0; r < ranks; r++)
            changed += compare(all + r * n, 1, r, root, n, range);
        CHECK(all[n * ranks] == -77);
        if (!exact && n >= 1000 && ranks > 1)
            CHECK_SAY(changed > n / 2, "only %d values changed: was anything compressed?", changed);
        if (n * 8 < 1024)
            CHECK_EQUAL(changed, 0);
    } else {
        OK(MPI_Gather(data, n, MPI_DOUBLE, (void *)0x10, -1, MPI_DATATYPE_NULL, root, comm));
    }
    free(data);
    free(all);
}

/* Whatever is not floats comes exactly. */
static void integers(int n, int root, MPI_Datatype type)
{
    int *data = check_alloc((size_t)n * sizeof *data),
        *all = check_alloc((size_t)(n * ranks) * sizeof *all);
    int count = type == MPI_BYTE ? n * (int)sizeof *data : n;
    check_say("%d ints or their bytes to %d", n, root);
    for (int i = 0; i < n; i++)
        data[i] = (int)check_mix((uint64_t)rank, (uint64_t)i / 4);
    OK(MPI_Gather(data, count, type, all, count, type, root, comm));
    for (int r = 0; r < ranks && rank == root; r++)
        for (int i = 0; i < n; i++)
            CHECK_EQUAL(all[r * n + i], (int)check_mix((uint64_t)r, (uint64_t)i / 4));
    free(data);
    free(all);
}

/* The root's datatype has gaps, the others' another one: a column of a matrix goes to every third
 * element. */
static void matching_types(int root)
{
    enum { N = 2000, STEP = 3, COLUMNS = 4 };
    MPI_Datatype column, spaced, block;
    check_say("different datatypes to %d", root);
    MPI_Type_vector(N, 1, COLUMNS, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    MPI_Type_vector(N / 4, 1, STEP, MPI_DOUBLE, &block);
    MPI_Type_create_resized(block, 0, N / 4 * STEP * 8, &spaced);
    MPI_Type_commit(&spaced);
    double *data = check_alloc(N * COLUMNS * sizeof *data);
    double *all = check_alloc((size_t)(N * STEP * ranks) * sizeof *all);
    for (int i = 0; i < N * COLUMNS; i++)
        data[i] = i % COLUMNS == 1 ? value(rank, i / COLUMNS) : NAN;
    for (int i = 0; i < N * STEP * ranks; i++)
        all[i] = -77;
    if (rank == root)
        OK(MPI_Gather(data + 1, 1, column, all, 4, spaced, root, comm));
    else
        OK(MPI_Gather(data + 1, 1, column, NULL, 0, MPI_DATATYPE_NULL, root, comm));
    double range = range_of_all(N);
    for (int r = 0; r < ranks && rank == root; r++)
        compare(all + r * N * STEP, STEP, r, root, N, range);
    for (int i = 0; i < N * STEP * ranks && rank == root; i++)
        CHECK(i % STEP == 0 || all[i] == -77);
    MPI_Type_free(&column);
    MPI_Type_free(&block);
    MPI_Type_free(&spaced);
    free(data);
    free(all);
}

/* A struct of kinds of elements is exact, and its holes at the root are left alone. */
static void structures(int root)
{
    enum { N = 1000 };
    struct item {
        double a;
        char b;
        int c;
    } data[N], *all = check_alloc((size_t)(N * ranks) * sizeof *all);
    int length[3] = {1, 1, 1};
    MPI_Aint place[3] = {0, 8, 12};
    MPI_Datatype parts[3] = {MPI_DOUBLE, MPI_CHAR, MPI_INT}, type;
    check_say("structs to %d", root);
    MPI_Type_create_struct(3, length, place, parts, &type);
    MPI_Type_commit(&type);
    memset(data, 0, sizeof data);
    memset(all, 0x5A, (size_t)(N * ranks) * sizeof *all);
    for (int i = 0; i < N; i++) {
        data[i].a = value(rank, i);
        data[i].b = (char)i;
        data[i].c = i * rank;
    }
    OK(MPI_Gather(data, N, type, all, N, type, root, comm));
    for (int r = 0; r < ranks && rank == root; r++)
        for (int i = 0; i < N; i++) {
            const struct item *is = &all[r * N + i];
            CHECK(is->a == value(r, i) && is->b == (char)i && is->c == i * r);
            CHECK_EQUAL(((const unsigned char *)is)[10], 0x5A);
        }
    MPI_Type_free(&type);
    free(all);
}

/* What no bound speaks of arrives as it was. */
static void special_values(int root)
{
    enum { N = 3000 };
    static const float special[] = {NAN, INFINITY, -INFINITY, -0.0F, 1e20F, 9.96921e36F};
    float data[N], *all = check_alloc((size_t)(N * ranks) * sizeof *all);
    check_say("special values to %d", root);
    for (int i = 0; i < N; i++)
        data[i] = i % 50 == 0 ? special[i / 50 % 6] : (float)(i + rank);
    OK(MPI_Gather(data, N, MPI_FLOAT, all, N, MPI_FLOAT, root, comm));
    for (int r = 0; r < ranks && rank == root; r++)
        for (int i = 0; i < N; i++) {
            if (i % 50 == 0)
                CHECK_BYTES(&all[r * N + i], &special[i / 50 % 6], sizeof(float));
            else
                CHECK(fabsf(all[r * N + i] - (float)(i + r)) <= 1e-3F * (float)(N + ranks));
        }
    free(all);
}

/* Both groups of an intercommunicator: not ours, and must pass. */
static void between_groups(void)
{
    MPI_Comm half, inter;
    int data[2000], *all;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, 5, &inter);
    int others;
    MPI_Comm_remote_size(inter, &others);
    all = check_alloc((size_t)others * sizeof data);
    check_say("intercommunicator");
    for (int i = 0; i < 2000; i++)
        data[i] = rank * 10000 + i;
    if (rank % 2 == 0) {
        OK(MPI_Gather(NULL, 0, MPI_INT, all, 2000, MPI_INT, rank == 0 ? MPI_ROOT : MPI_PROC_NULL,
                      inter));
        for (int i = 0; rank == 0 && i < others * 2000; i++)
            CHECK_EQUAL(all[i], (2 * (i / 2000) + 1) * 10000 + i % 2000);
    } else {
        OK(MPI_Gather(data, 2000, MPI_INT, NULL, 0, MPI_INT, 0, inter));
    }
    free(all);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

static void everything(void)
{
    static const int sizes[] = {0, 1, 7, 127, 128, 1000, 4097, 40000};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int root = 0; root < ranks; root++) {
            doubles(sizes[k], root, false);
            doubles(sizes[k], root, true);
        }
    for (int root = 0; root < ranks; root++) {
        integers(5000, root, MPI_INT);
        integers(5000, root, MPI_BYTE);
        matching_types(root);
        structures(root);
        special_values(root);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    exact = argc > 1;
    comm = MPI_COMM_WORLD;
    rank = check_rank(comm);
    ranks = check_ranks(comm);
    everything();
    if (ranks > 1)
        between_groups();

    /* Ranks in another order, and not all of them. */
    MPI_Comm_split(MPI_COMM_WORLD, rank == 1, -rank, &comm);
    rank = check_rank(comm);
    ranks = check_ranks(comm);
    everything();
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
