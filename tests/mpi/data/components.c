/*
 * components.c - calls of several variables: each comes back within its own bound, whatever the
 * view, the way of writing and the number of ranks, and stays when it is written again; random
 * calls, too.
 *
 * zmpi-test: RANKS 1,2,3,4
 */
#include "check.h"

#include <math.h>

enum { N = 5, NX = 24, NY = 20, NZ = 16, POINTS = NX * NY * NZ, VALUES = N * POINTS };

static const char path[] = "components.z";
static int rank, ranks;

/* Density, velocities, pressure; some pressures are missing, and one velocity is no number in
 * places.
 */
static double value(int part, int component, int i)
{
    const double x = 0.1 * (i % NX), y = 0.13 * (i / NX % NY), z = 0.2 * (i / NX / NY) + part;
    const double s = sin(x + z) * cos(y);
    if (component == 0)
        return 1 + 0.1 * s;
    if (component == N - 1)
        return i % 11 == 3 ? 1e30 : 1e5 + 2000 * s;
    return component == 3 && i % 17 == 5 ? (double)NAN : 10 * s + component;
}

/* Half of what the component varies by. */
static double half_range(int component)
{
    return component == 0 ? 0.1 : component == N - 1 ? 2000 : 10;
}

static MPI_File open_file(int mode, const char *bound, const char *components)
{
    MPI_Info info;
    MPI_File f;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "zmpi_error_bound", bound));
    if (components)
        OK(MPI_Info_set(info, "zmpi_components", components));
    OK(MPI_File_open(MPI_COMM_WORLD, path, mode, info, &f));
    OK(MPI_Info_free(&info));
    return f;
}

static void fill(double *data, int part, bool blocks)
{
    for (int i = 0; i < POINTS; i++)
        for (int c = 0; c < N; c++)
            data[blocks ? c * POINTS + i : i * N + c] = value(part, c, i);
}

/* What is no ordinary value comes back to the bit. */
static bool is_near(double is, double x, double bound)
{
    return fabs(x) < 1e30 ? fabs(is - x) <= bound : memcmp(&is, &x, sizeof x) == 0;
}

/* rel: of each component's own range, over all ranks. */
static void check(const double *data, int part, bool blocks, double rel)
{
    for (int i = 0; i < POINTS; i++)
        for (int c = 0; c < N; c++) {
            const double is = data[blocks ? c * POINTS + i : i * N + c], x = value(part, c, i);
            CHECK(is_near(is, x, 2 * rel * half_range(c) * 1.0001));
        }
}

enum way { TOGETHER, ALONE, SUBARRAY, STRIDED, WAYS };

/* The view of this rank's part: a slab; planes of an array of all ranks'; or points that take
 * turns. */
static void set_view(MPI_File f, enum way way)
{
    MPI_Datatype type;
    if (way == SUBARRAY) {
        const int sizes[4] = {NZ, NY * ranks, NX, N}, part[4] = {NZ, NY, NX, N};
        const int from[4] = {0, NY * rank, 0, 0};
        OK(MPI_Type_create_subarray(4, sizes, part, from, MPI_ORDER_C, MPI_DOUBLE, &type));
    } else if (way == STRIDED) { /* runs of three points */
        OK(MPI_Type_vector(POINTS / 3, 3 * N, 3 * N * ranks, MPI_DOUBLE, &type));
    } else {
        OK(MPI_File_set_view(f, (MPI_Offset)rank * VALUES * 8, MPI_DOUBLE, MPI_DOUBLE, "native",
                             MPI_INFO_NULL));
        return;
    }
    OK(MPI_Type_commit(&type));
    OK(MPI_File_set_view(f, way == STRIDED ? (MPI_Offset)rank * 3 * N * 8 : 0, MPI_DOUBLE, type,
                         "native", MPI_INFO_NULL));
    OK(MPI_Type_free(&type));
}

static MPI_Offset round_trip(enum way way, int access, bool blocks, const char *components)
{
    double *data = check_alloc(VALUES * 8);
    check_say("way %d, access %d, %s", way, access, components ? components : "auto");
    MPI_File f = open_file(access | MPI_MODE_CREATE, "rel=1e-3", components);
    set_view(f, way);
    fill(data, rank, blocks);
    if (way == ALONE)
        OK(MPI_File_write(f, data, VALUES, MPI_DOUBLE, MPI_STATUS_IGNORE));
    else
        OK(MPI_File_write_all(f, data, VALUES, MPI_DOUBLE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&f));
    f = open_file(MPI_MODE_RDONLY, "rel=1e-3", NULL);
    set_view(f, way);
    memset(data, 0, VALUES * 8);
    OK(MPI_File_read_all(f, data, VALUES, MPI_DOUBLE, MPI_STATUS_IGNORE));
    check(data, rank, blocks, 1e-3);
    /* A few values from inside a point. */
    OK(MPI_File_read_at(f, 7 * N + 3, data, 11, MPI_DOUBLE, MPI_STATUS_IGNORE));
    for (int i = 0; i < 11 && !blocks; i++) {
        const int at = 7 * N + 3 + i;
        const double x = value(rank, at % N, at / N);
        CHECK(is_near(data[i], x, 2e-3 * half_range(at % N) * 1.0001));
    }
    OK(MPI_File_close(&f));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    const MPI_Offset size = (MPI_Offset)check_disk_size(path);
    check_remove(path, MPI_COMM_WORLD);
    free(data);
    return size;
}

/* data by ratio=8 to a file and back; returns the ratio. */
static double by_ratio(double *data, bool together, bool blocks)
{
    MPI_File f = open_file(MPI_MODE_WRONLY | MPI_MODE_CREATE, "ratio=8", blocks ? "5:slow" : "5");
    set_view(f, TOGETHER);
    if (together)
        OK(MPI_File_write_all(f, data, VALUES, MPI_DOUBLE, MPI_STATUS_IGNORE));
    else
        OK(MPI_File_write(f, data, VALUES, MPI_DOUBLE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&f));
    const double ratio = (double)ranks * VALUES * 8 / (double)check_disk_size(path);
    f = open_file(MPI_MODE_RDONLY, "ratio=8", NULL);
    set_view(f, TOGETHER);
    OK(MPI_File_read_all(f, data, VALUES, MPI_DOUBLE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&f));
    check_remove(path, MPI_COMM_WORLD);
    return ratio;
}

/* A ratio: the same part of each component's range. What comes back stays, written again. */
static void ratio(bool together, bool blocks)
{
    double *data = check_alloc(VALUES * 8), *before = check_alloc(VALUES * 8), worst[N] = {0};
    check_say("ratio=8, %s, %s", together ? "together" : "alone",
              blocks ? "blocks" : "interleaved");
    fill(data, 0,
         blocks); /* the same on all ranks, so that what each does alone is the same, too */
    double got = by_ratio(data, together, blocks);
    CHECK_SAY(got > 6.5 && got < 9.5, "a ratio of %g", got);
    for (int i = 0; i < POINTS; i++)
        for (int c = 0; c < N; c++) {
            const double is = data[blocks ? c * POINTS + i : i * N + c], x = value(0, c, i);
            CHECK(is_near(is, x, 1e6));
            if (fabs(x) < 1e30)
                worst[c] = fmax(worst[c], fabs(is - x) / half_range(c));
        }
    for (int c = 0; c < N; c++)
        CHECK_SAY(worst[c] > 0 && worst[c] < 1.3 * worst[1] && worst[c] > worst[1] / 1.3,
                  "component %d has errors of %g of half its range, 1 of %g", c, worst[c],
                  worst[1]);
    memcpy(before, data, VALUES * 8);
    got = by_ratio(data, together, blocks);
    CHECK_SAY(got > 6.5 && got < 10, "a ratio of %g, written again", got);
    CHECK_BYTES(data, before, VALUES * 8);
    free(data);
    free(before);
}

/* Components of one value take no room, which the others use. */
static void ratio_beside_constants(bool together, bool blocks)
{
    double *data = check_alloc(VALUES * 8);
    check_say("ratio=8 beside constants, %s, %s", together ? "together" : "alone",
              blocks ? "blocks" : "interleaved");
    fill(data, 0, blocks);
    for (int i = 0; i < POINTS; i++)
        for (int c = 1; c < 3; c++)
            data[blocks ? c * POINTS + i : i * N + c] = 7;
    const double got = by_ratio(data, together, blocks);
    CHECK_SAY(got > 6.5 && got < 9.5, "a ratio of %g", got);
    free(data);
}

/* What comes back is written again, three times: the values stay. */
static void drift(bool together, bool blocks)
{
    double *data = check_alloc(VALUES * 8), *first = check_alloc(VALUES * 8);
    check_say("written again, %s, %s", together ? "together" : "alone",
              blocks ? "blocks" : "interleaved");
    fill(data, rank, blocks);
    for (int cycle = 0; cycle < 4; cycle++) {
        MPI_File f =
            open_file(MPI_MODE_RDWR | MPI_MODE_CREATE, "rel=1e-3", blocks ? "5:slow" : NULL);
        set_view(f, TOGETHER);
        if (together)
            OK(MPI_File_write_all(f, data, VALUES, MPI_DOUBLE, MPI_STATUS_IGNORE));
        else
            OK(MPI_File_write(f, data, VALUES, MPI_DOUBLE, MPI_STATUS_IGNORE));
        OK(MPI_File_sync(f));
        memset(data, 0, VALUES * 8);
        OK(MPI_File_read_at_all(f, 0, data, VALUES, MPI_DOUBLE, MPI_STATUS_IGNORE));
        OK(MPI_File_close(&f));
        check_remove(path, MPI_COMM_WORLD);
        check(data, rank, blocks, 1e-3);
        if (cycle == 0)
            memcpy(first, data, VALUES * 8);
        CHECK_BYTES(data, first, VALUES * 8);
    }
    free(data);
    free(first);
}

/* One component of all points is written again by a view of its own. */
static void overwrite_one(void)
{
    double *data = check_alloc(VALUES * 8), *one = check_alloc(POINTS * 8);
    MPI_Datatype type;
    check_say("one component again");
    MPI_File f = open_file(MPI_MODE_RDWR | MPI_MODE_CREATE, "rel=1e-3", NULL);
    set_view(f, TOGETHER);
    fill(data, rank, false);
    OK(MPI_File_write_all(f, data, VALUES, MPI_DOUBLE, MPI_STATUS_IGNORE));
    OK(MPI_Type_vector(POINTS, 1, N, MPI_DOUBLE, &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_File_set_view(f, ((MPI_Offset)rank * VALUES + 2) * 8, MPI_DOUBLE, type, "native",
                         MPI_INFO_NULL));
    for (int i = 0; i < POINTS; i++)
        one[i] = value(rank, 0, i);
    OK(MPI_File_write_all(f, one, POINTS, MPI_DOUBLE, MPI_STATUS_IGNORE));
    OK(MPI_Type_free(&type));
    set_view(f, TOGETHER);
    OK(MPI_File_read_at_all(f, 0, data, VALUES, MPI_DOUBLE, MPI_STATUS_IGNORE));
    for (int i = 0; i < POINTS; i++) {
        CHECK(fabs(data[i * N + 2] - value(rank, 0, i)) <= 2e-4 * 1.0001);
        data[i * N + 2] = value(rank, 2, i);
    }
    check(data, rank, false, 1e-3);
    OK(MPI_File_close(&f));
    check_remove(path, MPI_COMM_WORLD);
    free(data);
    free(one);
}

/* A call that cannot be taken apart: the bound is that of the whole then. */
static void one_array(const char *why, const char *components, int count)
{
    double *data = check_alloc(VALUES * 8);
    check_say("%s", why);
    MPI_File f = open_file(MPI_MODE_WRONLY | MPI_MODE_CREATE, "rel=1e-3", components);
    set_view(f, TOGETHER);
    fill(data, rank, false);
    OK(MPI_File_write_all(f, data, count, MPI_DOUBLE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&f));
    f = open_file(MPI_MODE_RDONLY, "rel=1e-3", NULL);
    set_view(f, TOGETHER);
    OK(MPI_File_read_all(f, data, count, MPI_DOUBLE, MPI_STATUS_IGNORE));
    for (int i = 0; i < count; i++) {
        const double x = value(rank, i % N, i / N);
        CHECK(is_near(data[i], x, 102.1));
    }
    OK(MPI_File_close(&f));
    check_remove(path, MPI_COMM_WORLD);
    free(data);
}

enum { CALLS = 9 };

/* Value i of call k: of five variables, one, three; in the last one of five, then of three. */
static double of_call(int k, int i)
{
    const int kind = k == CALLS - 1 ? (i < VALUES / 2 ? 0 : 2) : k % 3;
    const int n = kind == 0 ? N : kind == 1 ? 1 : 3;
    return (sin(0.001 * i + k) + 2) * pow(100, i % n);
}

/* Calls of one length and other data each time: what is remembered of them may be wrong, and the
 * bound is at most that of the whole call. */
static void unlike_calls(void)
{
    double *data = check_alloc(VALUES * 8);
    check_say("calls of unlike data");
    MPI_File f = open_file(MPI_MODE_RDWR | MPI_MODE_CREATE, "rel=1e-3", NULL);
    for (int k = 0; k < CALLS; k++) {
        const MPI_Offset at = (MPI_Offset)(k * ranks + rank) * VALUES * 8;
        for (int i = 0; i < VALUES; i++)
            data[i] = of_call(k, i);
        OK(MPI_File_write_at_all(f, at, data, VALUES, MPI_DOUBLE, MPI_STATUS_IGNORE));
    }
    for (int k = 0; k < CALLS; k++) {
        const MPI_Offset at = (MPI_Offset)(k * ranks + rank) * VALUES * 8;
        double low = INFINITY, high = -INFINITY;
        OK(MPI_File_read_at_all(f, at, data, VALUES, MPI_DOUBLE, MPI_STATUS_IGNORE));
        for (int i = 0; i < VALUES; i++) {
            low = fmin(low, of_call(k, i));
            high = fmax(high, of_call(k, i));
        }
        for (int i = 0; i < VALUES; i++)
            CHECK(fabs(data[i] - of_call(k, i)) <= 1.0001e-3 * (high - low));
    }
    OK(MPI_File_close(&f));
    check_remove(path, MPI_COMM_WORLD);
    free(data);
}

/* A random call: n variables of a random type, on each rank some of the points. */
struct random_call {
    int n, points, total; /* of a point; of points on this rank; on all */
    bool wide, blocks, alone, cut;
    double rel;
};

static double of_random(const struct random_call *c, uint64_t seed, int component, int point)
{
    const double scale = pow(10, (double)(check_mix(seed, (uint64_t)component) % 11) - 5);
    if (check_mix(seed + 1, (uint64_t)(point * c->n + component)) % 97 == 0)
        return component % 2 ? 1e20 : 0;
    return scale * (1 + sin(0.01 * point + component) + 0.01 * check_unit(seed, (uint64_t)point));
}

static double at_of(const struct random_call *c, const void *data, size_t i)
{
    return c->wide ? ((const double *)data)[i] : (double)((const float *)data)[i];
}

/* Widens low and high by the values of `data`, of one component or of all (-1). */
static void range_of(const struct random_call *c, const void *data, int component, double *low,
                     double *high)
{
    for (int i = 0; i < c->points * c->n; i++) {
        const double x = at_of(c, data, (size_t)i);
        const int part = c->blocks ? i / c->points : i % c->n;
        if ((part == component || component < 0) && x < 1e19) {
            *low = fmin(*low, x);
            *high = fmax(*high, x);
        }
    }
    double ends[2] = {*low, -*high};
    if (!c->alone)
        OK(MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD));
    *low = ends[0];
    *high = -ends[1];
}

static void check_random(const struct random_call *c, const void *data, const void *back)
{
    for (int k = 0; k < c->n; k++) {
        double low = INFINITY, high = -INFINITY;
        range_of(c, data, c->cut ? -1 : k, &low, &high);
        for (int i = 0; i < c->points * c->n; i++) {
            const double x = at_of(c, data, (size_t)i), y = at_of(c, back, (size_t)i);
            const int part = c->blocks ? i / c->points : i % c->n;
            CHECK_SAY(part != k || (x < 1e19 ? fabs(x - y) <= 1.0000001 * c->rel * (high - low)
                                             : memcmp(&x, &y, sizeof x) == 0),
                      "value %d is %.9g, was %.9g in %g to %g", i, y, x, low, high);
        }
    }
}

/* Whole points to a row of the file, or to a view whose runs begin and end within points. */
static void view_of(const struct random_call *c, MPI_File f, MPI_Datatype type, int before)
{
    MPI_Datatype runs;
    const int width = c->wide ? 8 : 4;
    if (!c->cut) {
        OK(MPI_File_set_view(f, (MPI_Offset)before * c->n * width, type, type, "native",
                             MPI_INFO_NULL));
        return;
    }
    OK(MPI_Type_vector(c->total * c->n, c->n + 1, (c->n + 1) * ranks, type, &runs));
    OK(MPI_Type_commit(&runs));
    OK(MPI_File_set_view(f, (MPI_Offset)rank * (c->n + 1) * width, type, runs, "native",
                         MPI_INFO_NULL));
    OK(MPI_Type_free(&runs));
}

static void random_call(uint64_t seed)
{
    char components[16];
    struct random_call c = {.n = 2 + (int)(check_mix(seed, 100) % 15),
                            .points = (int)(check_mix(seed, 200 + (uint64_t)rank) % 2500),
                            .wide = check_mix(seed, 101) % 2,
                            .blocks = check_mix(seed, 102) % 4 == 0,
                            .alone = check_mix(seed, 103) % 3 == 0,
                            .cut = check_mix(seed, 104) % 4 == 0,
                            .rel = pow(10, -1 - (double)(check_mix(seed, 105) % 4))};
    int before = 0;
    c.cut = c.cut && !c.blocks;
    OK(MPI_Exscan(&c.points, &before, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    before = rank ? before : 0;
    OK(MPI_Allreduce(&c.points, &c.total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    const size_t count = (size_t)c.points * (size_t)c.n, bytes = count * (c.wide ? 8 : 4);
    const MPI_Datatype type = c.wide ? MPI_DOUBLE : MPI_FLOAT;
    void *data = check_alloc(bytes + 1), *back = check_alloc(bytes + 1);
    for (size_t i = 0; i < count; i++) {
        const int n = c.n, at = (int)i;
        const double x = of_random(&c, seed, c.blocks ? at / c.points : at % n,
                                   before + (c.blocks ? at % c.points : at / n));
        if (c.wide)
            ((double *)data)[i] = x;
        else
            ((float *)data)[i] = (float)x;
    }
    check_say("random call %d", (int)seed);
    char bound[32];
    snprintf(bound, sizeof bound, "rel=%g", c.rel);
    snprintf(components, sizeof components, "%d%s", c.n, c.blocks ? ":slow" : "");
    MPI_File f = open_file(MPI_MODE_RDWR | MPI_MODE_CREATE, bound, components);
    view_of(&c, f, type, before);
    if (c.alone)
        OK(MPI_File_write(f, data, (int)count, type, MPI_STATUS_IGNORE));
    else
        OK(MPI_File_write_all(f, data, (int)count, type, MPI_STATUS_IGNORE));
    OK(MPI_File_sync(f));
    OK(MPI_File_read_at_all(f, 0, back, (int)count, type, MPI_STATUS_IGNORE));
    check_random(&c, data, back);
    OK(MPI_File_close(&f));
    check_remove(path, MPI_COMM_WORLD);
    free(data);
    free(back);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int way = 0; way < WAYS; way++)
        for (int reads = 0; reads < 2; reads++) {
            const int access = reads ? MPI_MODE_RDWR : MPI_MODE_WRONLY;
            const MPI_Offset size = round_trip((enum way)way, access, false, NULL);
            CHECK(size < (MPI_Offset)ranks * VALUES * 8 / 4);
            round_trip((enum way)way, access, false, "5");
        }
    for (int way = TOGETHER; way <= ALONE; way++)
        round_trip((enum way)way, MPI_MODE_WRONLY, true, "5:slow");
    for (int k = 0; k < 4; k++)
        ratio(k % 2, k / 2);
    for (int k = 0; k < 4; k++)
        ratio_beside_constants(k % 2, k / 2);
    for (int k = 0; k < 4; k++)
        drift(k % 2, k / 2);
    overwrite_one();
    one_array("a number that does not divide the count", "7", VALUES);
    /* One has nothing, one no whole number of points. */
    one_array("different counts", NULL, rank == 1 ? 0 : rank == 2 ? VALUES - 3 : VALUES);
    unlike_calls();
    for (uint64_t seed = 0; seed < 40; seed++)
        random_call(seed);
    OK(MPI_Finalize());
    return 0;
}
