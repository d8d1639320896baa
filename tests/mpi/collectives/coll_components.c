/*
 * coll_components.c - collectives of several variables: each comes within its own bound, by all
 * operations, of ranks that have more, less or nothing; with fill values; where ranks do not agree,
 * all data have one bound. By a ratio all have the same part of their ranges, and come back
 * unchanged.
 *
 * zmpi-test: RANKS 2,3,4 ANYIO ENV ZMPI_ERROR_BOUND=rel=1e-3 ZMPI_COLLECTIVES=gather,scatter,allgather,bcast_lossy,alltoall ZMPI_COLLECTIVE_MIN=1K ZMPI_COLLECTIVE_MODE=always ZMPI_COLLECTIVE_PIECE=71K
 * zmpi-test: auto RANKS 2 ANYIO ENV ZMPI_ERROR_BOUND=rel=1e-3 ZMPI_CODEC=auto ZMPI_COLLECTIVES=gather,scatter,allgather,bcast_lossy,alltoall ZMPI_COLLECTIVE_MIN=1K ZMPI_COLLECTIVE_MODE=always
 * zmpi-test: set RANKS 3 ANYIO ARGS alike ENV ZMPI_COMPONENTS=5 ZMPI_ERROR_BOUND=rel=1e-3 ZMPI_COLLECTIVES=gather,scatter,allgather,bcast_lossy,alltoall ZMPI_COLLECTIVE_MIN=1K ZMPI_COLLECTIVE_MODE=always
 * zmpi-test: blocks RANKS 2,3,4 ANYIO ARGS blocks ENV ZMPI_COMPONENTS=5:slow ZMPI_ERROR_BOUND=rel=1e-3 ZMPI_COLLECTIVES=gather,scatter,allgather,bcast_lossy,alltoall ZMPI_COLLECTIVE_MIN=1K ZMPI_COLLECTIVE_MODE=always ZMPI_COLLECTIVE_PIECE=20K
 * zmpi-test: blocks_ratio RANKS 3 ANYIO ARGS ratio blocks ENV ZMPI_COMPONENTS=5:slow ZMPI_ERROR_BOUND=ratio=16 ZMPI_CODEC=fle ZMPI_COLLECTIVES=gather,scatter,allgather,bcast_lossy,alltoall ZMPI_COLLECTIVE_MIN=1K ZMPI_COLLECTIVE_MODE=always
 * zmpi-test: ratio RANKS 2,3 ANYIO ARGS ratio ENV ZMPI_ERROR_BOUND=ratio=16 ZMPI_CODEC=fle ZMPI_COLLECTIVES=gather,scatter,allgather,bcast_lossy,alltoall ZMPI_COLLECTIVE_MIN=1K ZMPI_COLLECTIVE_MODE=always
 */
#include "check.h"

#include <math.h>
#include <string.h>

enum { N = 5, POINTS = 7000, VALUES = N * POINTS };

static const double rel = 1e-3;
static int rank, ranks;
static bool alike;  /* the components' ranges: nothing but a setting or a datatype tells them */
static bool blocks; /* one behind the other, in what a rank gives to another */

/* Of rank r, for rank `to` if it is not the same for all; some of component 4 are missing. */
static double value(int r, int to, int c, int i)
{
    static const double scale[N] = {0.1, 10, 10, 10, 2000}, of_alike[N] = {1, 2, 3, 4, 5};
    const double s = sin(0.01 * i + r + 0.3 * to) * cos(0.003 * i + c);
    if (c == 4 && i % 20 == 7 && !alike)
        return -9e7;
    return (alike ? of_alike[c] : scale[c]) * s + (c == 4 && !alike ? 1e5 : 0);
}

static int at(int c, int i, int points)
{
    return blocks ? c * points + i : i * N + c;
}

/* How far values may be off, where the ranks that bring data are [first, end), to as many others.
 */
static void find_bounds(int first, int end, int targets, double bound[N])
{
    for (int c = 0; c < N; c++) {
        double low = INFINITY, high = -INFINITY;
        for (int r = first; r < end; r++)
            for (int to = 0; to < targets; to++)
                for (int i = 0; i < POINTS; i++) {
                    const double v = value(r, to, c, i);
                    low = fmin(low, v > -8e7 ? v : low);
                    high = fmax(high, v);
                }
        bound[c] = rel * (high - low) * 1.0001;
    }
}

static void fill_points(double *data, int r, int to, int points)
{
    for (int i = 0; i < points; i++)
        for (int c = 0; c < N; c++)
            data[at(c, i, points)] = value(r, to, c, i);
}

static void fill(double *data, int r, int to)
{
    fill_points(data, r, to, POINTS);
}

/* Returns the values that changed. */
static int compare(const double *is, int r, int to, int points, const double bound[N])
{
    int changed = 0;
    for (int i = 0; i < points; i++)
        for (int c = 0; c < N; c++) {
            const double v = value(r, to, c, i), error = fabs(is[at(c, i, points)] - v);
            CHECK_SAY(v < -8e7 ? error == 0 : error <= bound[c],
                      "component %d of point %d from rank %d is off by %g, bound %g", c, i, r,
                      error, bound[c]);
            changed += error > 0;
        }
    return changed;
}

static double *alloc(int parts)
{
    return check_alloc((size_t)parts * VALUES * sizeof(double));
}

/* points[r] of rank r. */
static void gatherv(const int points[])
{
    double *data = alloc(1), *all = alloc(ranks), bound[N];
    int counts[8], places[8], changed = 0, first = ranks, end = 0;
    check_say("gatherv");
    for (int r = 0; r < ranks; r++) {
        counts[r] = points[r] * N;
        places[r] = r * VALUES;
        first = points[r] && r < first ? r : first;
        end = points[r] ? r + 1 : end;
    }
    fill_points(data, rank, 0, points[rank]);
    OK(MPI_Gatherv(data, counts[rank], MPI_DOUBLE, all, counts, places, MPI_DOUBLE, 0,
                   MPI_COMM_WORLD));
    find_bounds(first, end, 1, bound); /* of all points: at least that of those that are sent */
    for (int r = 0; r < ranks && rank == 0; r++)
        changed += compare(all + places[r], r, 0, points[r], bound);
    CHECK(rank > 0 || changed > points[ranks - 1] * N / 2);
    free(data);
    free(all);
}

static void scatter(void)
{
    double *data = alloc(1), *all = alloc(ranks), bound[N];
    check_say("scatter");
    find_bounds(0, 1, ranks, bound);
    for (int r = 0; r < ranks; r++)
        fill(all + (size_t)r * VALUES, 0, r);
    OK(MPI_Scatter(all, VALUES, MPI_DOUBLE, data, VALUES, MPI_DOUBLE, 0, MPI_COMM_WORLD));
    CHECK(compare(data, 0, rank, POINTS, bound) > 0 || rank == 0);
    free(data);
    free(all);
}

static void allgather(bool in_place)
{
    double *data = alloc(1), *all = alloc(ranks), bound[N];
    check_say("allgather%s", in_place ? ", in place" : "");
    find_bounds(0, ranks, 1, bound);
    fill(data, rank, 0);
    fill(all + (size_t)rank * VALUES, rank, 0);
    OK(MPI_Allgather(in_place ? MPI_IN_PLACE : data, VALUES, MPI_DOUBLE, all, VALUES, MPI_DOUBLE,
                     MPI_COMM_WORLD));
    for (int r = 0; r < ranks; r++)
        CHECK(compare(all + (size_t)r * VALUES, r, 0, POINTS, bound) > VALUES / 2);
    free(data);
    free(all);
}

static void bcast(int root)
{
    double *data = alloc(1), bound[N];
    check_say("bcast of rank %d", root);
    find_bounds(root, root + 1, 1, bound);
    memset(data, 0, VALUES * sizeof *data);
    if (rank == root)
        fill(data, root, 0);
    OK(MPI_Bcast(data, VALUES, MPI_DOUBLE, root, MPI_COMM_WORLD));
    CHECK(compare(data, root, 0, POINTS, bound) > VALUES / 2);
    free(data);
}

static void alltoall(void)
{
    double *data = alloc(ranks), *all = alloc(ranks), bound[N];
    check_say("alltoall");
    find_bounds(0, ranks, ranks, bound);
    for (int r = 0; r < ranks; r++)
        fill(data + (size_t)r * VALUES, rank, r);
    OK(MPI_Alltoall(data, VALUES, MPI_DOUBLE, all, VALUES, MPI_DOUBLE, MPI_COMM_WORLD));
    for (int r = 0; r < ranks; r++)
        compare(all + (size_t)r * VALUES, r, rank, POINTS, bound);
    free(data);
    free(all);
}

/* Structs with room at their ends, taken apart on the way; the root takes doubles. */
static void structs(void)
{
    const int lengths[2] = {2, N - 2};
    const MPI_Aint places[2] = {0, 16};
    const MPI_Datatype types[2] = {MPI_DOUBLE, MPI_DOUBLE};
    double *data = check_alloc((size_t)POINTS * (N + 1) * 8), *all = alloc(ranks), bound[N];
    MPI_Datatype packed, type;
    check_say("structs");
    OK(MPI_Type_create_struct(2, lengths, places, types, &packed));
    OK(MPI_Type_create_resized(packed, 0, (N + 1) * 8, &type));
    OK(MPI_Type_commit(&type));
    for (int i = 0; i < POINTS; i++)
        for (int c = 0; c < N; c++)
            data[(size_t)i * (N + 1) + (size_t)c] = value(rank, 0, c, i);
    OK(MPI_Gather(data, POINTS, type, all, VALUES, MPI_DOUBLE, 0, MPI_COMM_WORLD));
    find_bounds(0, ranks, 1, bound);
    for (int r = 0; r < ranks && rank == 0; r++)
        compare(all + (size_t)r * VALUES, r, 0, POINTS, bound);
    OK(MPI_Type_free(&packed));
    OK(MPI_Type_free(&type));
    free(data);
    free(all);
}

/* The datatype tells of up to 64 components one behind the other, in arrays of three extents. */
static void blocks_of_types(int n, bool nested)
{
    const int sizes[4] = {n, 10, 20, 36}, parts[4] = {n, 10, 20, 35}, from[4] = {0, 0, 0, 1};
    const int row = nested ? 35 : 36, count = n * POINTS;
    double *data = check_alloc((size_t)n * 200 * 36 * 8), bound[N];
    double *all = check_alloc((size_t)ranks * (size_t)count * 8);
    MPI_Datatype type = MPI_DOUBLE, inner;
    check_say("%d blocks, %s", n, nested ? "nested types" : "subarrays");
    for (int k = 0; k < 4 && nested; k++) {
        inner = type;
        OK(MPI_Type_contiguous(parts[3 - k], inner, &type));
        if (k)
            OK(MPI_Type_free(&inner));
    }
    if (!nested)
        OK(MPI_Type_create_subarray(4, sizes, parts, from, MPI_ORDER_C, MPI_DOUBLE, &type));
    OK(MPI_Type_commit(&type));
    for (int i = 0; i < count; i++)
        data[i / 35 * row + i % 35 + (nested ? 0 : 1)] = value(rank, 0, i / POINTS % N, i % POINTS);
    find_bounds(0, ranks, 1, bound);
    for (int op = 0; op < 2; op++) {
        memset(all, 0, (size_t)ranks * (size_t)count * 8);
        if (op == 0)
            OK(MPI_Gather(data, 1, type, all, count, MPI_DOUBLE, 0, MPI_COMM_WORLD));
        else
            OK(MPI_Allgather(data, 1, type, all, count, MPI_DOUBLE, MPI_COMM_WORLD));
        int changed = 0;
        for (int i = 0; i < ranks * count && (op || rank == 0); i++) {
            const int c = i % count / POINTS % N;
            const double error = fabs(all[i] - value(i / count, 0, c, i % POINTS));
            CHECK_SAY(error <= bound[c], "value %d of block %d is off by %g, bound %g", i,
                      i % count / POINTS, error, bound[c]);
            changed += error > 0;
        }
        CHECK_SAY(changed > count / 2 || (!op && rank), "%d values are lossy", changed);
    }
    OK(MPI_Type_free(&type));
    free(data);
    free(all);
}

/* Rank r's range is 0.3 of that of the rank before; the bound is that of all. */
static void unlike_ranges(void)
{
    double *data = alloc(1), *all = alloc(ranks), bound[N], worst = 0;
    const int last = ranks - 1;
    check_say("unlike ranges");
    find_bounds(0, 1, 1, bound);
    fill(data, 0, 0);
    for (int i = 0; i < VALUES; i++)
        data[i] *= pow(0.3, rank);
    OK(MPI_Allgather(data, VALUES, MPI_DOUBLE, all, VALUES, MPI_DOUBLE, MPI_COMM_WORLD));
    for (int i = 0; i < POINTS; i++) {
        const double is = all[(size_t)last * VALUES + (size_t)at(1, i, POINTS)];
        worst = fmax(worst, fabs(is - pow(0.3, last) * value(0, 0, 1, i)));
    }
    CHECK_SAY(worst <= bound[1] && worst > 0.5 * bound[1], "%g, bound %g", worst, bound[1]);
    free(data);
    free(all);
}

/* The library's lines on rank 0 since the last call go here. */
static const char lines[] = "coll_components.txt";

/* Begins to catch them; returns what stderr was. */
static int catch_lines(void)
{
    const int before = dup(2), to = open(lines, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    CHECK(before >= 0 && to >= 0 && dup2(to, 2) == 2);
    close(to);
    return before;
}

/* Ends it. Has anything been said of variables that stay one array? */
static bool was_said(int before)
{
    char text[4096] = "";
    CHECK(dup2(before, 2) == 2);
    close(before);
    const int from = open(lines, O_RDONLY);
    CHECK(from >= 0 && read(from, text, sizeof text - 1) >= 0);
    close(from);
    unlink(lines);
    return strstr(text, "look like 5 variables that take turns, but not in whole points");
}

/* Rank 1's values are no whole points: then all are one array. */
static void not_agreed(bool scattered)
{
    double *data = alloc(1), *all = alloc(ranks);
    int counts[8], places[8];
    check_say("no whole points, %s", scattered ? "scattered" : "gathered");
    for (int r = 0; r < ranks; r++) {
        counts[r] = r == 1 ? VALUES - 2 : VALUES;
        places[r] = r * VALUES;
        fill(all + places[r], r, 0);
    }
    fill(data, rank, 0);
    if (scattered)
        OK(MPI_Scatterv(all, counts, places, MPI_DOUBLE, data, counts[rank], MPI_DOUBLE, 0,
                        MPI_COMM_WORLD));
    else
        OK(MPI_Gatherv(data, counts[rank], MPI_DOUBLE, all, counts, places, MPI_DOUBLE, 0,
                       MPI_COMM_WORLD));
    for (int r = 0; r < ranks; r++)
        for (int i = 0; i < counts[r] && (rank == 0 || r == rank); i++) {
            const double is = rank == 0 ? all[places[r] + i] : data[i];
            CHECK(fabs(is - value(r, 0, i % N, i / N)) <= 9.1e7 * rel);
        }
    free(data);
    free(all);
}

/* By a ratio each component has the same part of its range, and is not changed again. */
static void ratio(void)
{
    double *data = alloc(1), *all = alloc(ranks), *again = alloc(ranks), bound[N], worst[N] = {0};
    double low = INFINITY, high = 0;
    check_say("ratio");
    fill(data, rank, 0);
    OK(MPI_Gather(data, VALUES, MPI_DOUBLE, all, VALUES, MPI_DOUBLE, 0, MPI_COMM_WORLD));
    find_bounds(0, ranks, 1, bound);
    for (int r = 1; r < ranks && rank == 0; r++) /* its own data are not sent */
        for (int i = 0; i < VALUES; i++) {
            const int c = i % N;
            const double v = value(r, 0, c, i / N), is = all[r * VALUES + at(c, i / N, POINTS)];
            CHECK_SAY(v > -8e7 || (is <= v && is >= v), "a fill value became %g", is);
            worst[c] = fmax(worst[c], fabs(is - v));
        }
    for (int c = 0; c < N && rank == 0; c++) {
        low = fmin(low, worst[c] / bound[c]);
        high = fmax(high, worst[c] / bound[c]);
    }
    CHECK_SAY(rank || (low > 0 && high < 2 * low && high < 200), "%g to %g of 1e-3 of the range",
              low, high);
    OK(MPI_Scatter(all, VALUES, MPI_DOUBLE, data, VALUES, MPI_DOUBLE, 0, MPI_COMM_WORLD));
    OK(MPI_Gather(data, VALUES, MPI_DOUBLE, again, VALUES, MPI_DOUBLE, 0, MPI_COMM_WORLD));
    for (int i = VALUES; i < ranks * VALUES && rank == 0; i++)
        CHECK_SAY(all[i] <= again[i] && all[i] >= again[i], "value %d: %.17g, then %.17g", i,
                  all[i], again[i]);
    free(data);
    free(all);
    free(again);
}

int main(int argc, char **argv)
{
    const int some[8] = {POINTS, 0, POINTS - 77, POINTS};
    const int two[8] = {POINTS - 1, POINTS};
    OK(MPI_Init(&argc, &argv));
    alike = argc > 1 && strcmp(argv[1], "alike") == 0;
    blocks = argc > 1 && strcmp(argv[argc - 1], "blocks") == 0;
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    if (argc > 1 && strcmp(argv[1], "ratio") == 0) {
        ratio();
        OK(MPI_Finalize());
        return 0;
    }
    gatherv(ranks == 2 ? two : some);
    scatter();
    allgather(false);
    allgather(true);
    for (int root = 0; root < ranks; root++)
        bcast(root);
    alltoall();
    unlike_ranges();
    if (!blocks) {
        structs();
        const int before = rank == 0 ? catch_lines() : -1;
        not_agreed(false);
        CHECK(rank || was_said(before)); /* once in a process */
        not_agreed(true);
        alike = true;
        structs();
        for (int n = 5; n <= 64 && argc == 1; n += 59) {
            blocks_of_types(n, false);
            blocks_of_types(n, true);
        }
    }
    OK(MPI_Finalize());
    return 0;
}
