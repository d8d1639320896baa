/*
 * lossy.c - what a bound promises: floats within it, in collective calls of the range of all
 * ranks; everything else, and what is no ordinary number, bit for bit.
 *
 * zmpi-test: RANKS 1,2,3,4 ENV ZMPI_ERROR_BOUND=rel=1e-3
 * zmpi-test: huffman RANKS 2 ENV ZMPI_ERROR_BOUND=rel=1e-3 ZMPI_CODEC=huffman
 * zmpi-test: interp RANKS 2 ENV ZMPI_ERROR_BOUND=rel=1e-3 ZMPI_CODEC=interp
 */
#include "check.h"

#include <math.h>
#include <stddef.h>

enum { N = 20000, PIECE = N / 10 /* of an independent call */ };

static const char path[] = "lossy.z";

static MPI_File open_with(const char *bound)
{
    MPI_File file;
    MPI_Info info = MPI_INFO_NULL;
    if (bound) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "zmpi_error_bound", bound);
    }
    check_remove(path, MPI_COMM_WORLD);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, info, &file));
    if (bound)
        MPI_Info_free(&info);
    return file;
}

/* Ranks have very different ranges. */
static double value(int rank, int i)
{
    double noise = check_unit(1 + (uint64_t)rank, (uint64_t)i) - 0.5;
    return pow(10, rank) * (sin(i * 1e-3) + 0.01 * noise) + 3;
}

static const double special[] = {NAN, INFINITY, -INFINITY, -0.0, 1e20, -1e30, 9.96921e36, 9.999e20};
enum { SPECIAL = sizeof special / sizeof *special };

static bool is_special(int i)
{
    return i % 97 == 5 || (i >= 4000 && i < 4100);
}

static double special_value(int i)
{
    return special[(i / 97 + (i < 4100)) % SPECIAL];
}

/* The absolute bound for what was written by one call, over the ranks of a collective one. */
struct promise {
    double low, high;
};

static void promise_add(struct promise *p, double x)
{
    p->low = fmin(p->low, x);
    p->high = fmax(p->high, x);
}

static double allowed(const char *bound, const struct promise *p)
{
    if (strcmp(bound, "lossless") == 0)
        return 0;
    double v = strtod(bound + 4, NULL);
    return bound[0] == 'a' ? v : v * (p->high - p->low);
}

static const struct promise nothing = {INFINITY, -INFINITY};

static void make(void *data, bool wide, int rank, bool specials)
{
    for (int i = 0; i < N; i++) {
        double x = specials && is_special(i) ? special_value(i) : value(rank, i);
        if (wide)
            ((double *)data)[i] = x;
        else
            ((float *)data)[i] = (float)x;
    }
}

/* Adds the range of elements from .. from + n - 1. */
static void add_range(struct promise *p, const void *data, bool wide, bool specials, int from,
                      int n)
{
    for (int i = from; i < from + n; i++) {
        double x = wide ? ((const double *)data)[i] : ((const float *)data)[i];
        if (!(specials && is_special(i)) || x == 0) /* a negative zero is a number of the range */
            promise_add(p, x);
    }
}

/* Number of elements that are not what they were. */
static int compare_some(const void *is, const void *should, bool wide, bool specials, double bound,
                        int from, int n)
{
    int changed = 0;
    for (int i = from; i < from + n; i++) {
        size_t width = wide ? 8 : 4;
        double a = wide ? ((const double *)is)[i] : ((const float *)is)[i];
        double b = wide ? ((const double *)should)[i] : ((const float *)should)[i];
        bool same = memcmp((const char *)is + (size_t)i * width,
                           (const char *)should + (size_t)i * width, width) == 0;
        if (specials && is_special(i))
            CHECK_SAY(same, "element %d is %a, not %a", i, a, b);
        else
            CHECK_SAY(fabs(a - b) <= bound, "element %d is off by %g, allowed %g", i, fabs(a - b),
                      bound);
        changed += !same;
    }
    return changed;
}

static int compare(const void *is, const void *should, bool wide, bool specials, double bound)
{
    return compare_some(is, should, wide, specials, bound, 0, N);
}

/* Largest error of the elements that are no special values. */
static double worst(const void *is, const void *should, bool wide, bool specials)
{
    double largest = 0;
    for (int i = 0; i < N; i++) {
        double a = wide ? ((const double *)is)[i] : ((const float *)is)[i];
        double b = wide ? ((const double *)should)[i] : ((const float *)should)[i];
        if (!(specials && is_special(i)))
            largest = fmax(largest, fabs(a - b));
    }
    return largest;
}

static void write_field(MPI_File file, MPI_Offset at, const char *data, bool wide, bool collective)
{
    const MPI_Datatype type = wide ? MPI_DOUBLE : MPI_FLOAT;
    const size_t width = wide ? 8 : 4;
    if (collective)
        OK(MPI_File_write_at_all(file, at, data, N, type, MPI_STATUS_IGNORE));
    for (int i = 0; i < N && !collective; i += PIECE)
        OK(MPI_File_write_at(file, at + i * (MPI_Offset)width, data + (size_t)i * width, PIECE,
                             type, MPI_STATUS_IGNORE));
}

/* One bound, one type, one way of writing; all ranks read what each wrote. */
static void promise(const char *bound, bool wide, bool collective, bool specials)
{
    const size_t bytes = N * (size_t)(wide ? 8 : 4);
    int rank = check_rank(MPI_COMM_WORLD), ranks = check_ranks(MPI_COMM_WORLD), changed = 0;
    char *data = check_alloc(bytes), *back = check_alloc(bytes);
    struct promise all = nothing;
    check_say("%s, %s, %s%s", bound, wide ? "double" : "float",
              collective ? "collective" : "independent", specials ? ", special values" : "");
    for (int r = 0; r < ranks; r++) {
        make(data, wide, r, specials);
        add_range(&all, data, wide, specials, 0, N);
    }
    MPI_File file = open_with(bound);
    make(data, wide, rank, specials);
    write_field(file, rank * (MPI_Offset)bytes, data, wide, collective);
    OK(MPI_File_close(&file));
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    for (int r = 0; r < ranks; r++) {
        OK(MPI_File_read_at_all(file, r * (MPI_Offset)bytes, back, (int)bytes, MPI_BYTE,
                                MPI_STATUS_IGNORE));
        make(data, wide, r, specials);
        for (int i = 0; i < N; i += PIECE) {
            struct promise piece = nothing; /* each independent call has its own range */
            add_range(&piece, data, wide, specials, i, PIECE);
            changed += compare_some(back, data, wide, specials,
                                    allowed(bound, collective ? &all : &piece), i, PIECE);
        }
        if (r == 0 && ranks > 1 && collective && strcmp(bound, "rel=1e-3") == 0) {
            struct promise own = nothing; /* the least of all ranks': the bound is not by this */
            add_range(&own, data, wide, specials, 0, N);
            CHECK(worst(back, data, wide, specials) > 2 * allowed(bound, &own));
        }
    }
    OK(MPI_File_close(&file));
    if (strcmp(bound, "rel=1e-3") == 0 || strcmp(bound, "abs=0.01") == 0) {
        CHECK_SAY(changed > ranks * N / 10, "only %d elements changed: was anything lossy?",
                  changed);
        if (!specials)
            CHECK(check_disk_size(path) < ranks * (long long)bytes * 2 / 3);
    }
    if (strcmp(bound, "lossless") == 0)
        CHECK_EQUAL(changed, 0);
    free(data);
    free(back);
}

/* Exactly what was written, whatever the bound. */
static void exact(void)
{
    struct mixed {
        double a;
        int b;
        float c;
    } mixed[N / 4], mixed_back[N / 4];
    int length[3] = {1, 1, 1}, rank = check_rank(MPI_COMM_WORLD);
    MPI_Aint place[3] = {offsetof(struct mixed, a), offsetof(struct mixed, b),
                         offsetof(struct mixed, c)};
    MPI_Datatype parts[3] = {MPI_DOUBLE, MPI_INT, MPI_FLOAT}, structure;
    static float floats[N], floats_back[N];
    static int ints[N], ints_back[N];
    MPI_Type_create_struct(3, length, place, parts, &structure);
    MPI_Type_commit(&structure);
    make(floats, false, rank, false);
    for (int i = 0; i < N; i++)
        ints[i] = i * i + rank;
    for (int i = 0; i < N / 4; i++)
        mixed[i] = (struct mixed){value(rank, i), i, floats[i]};
    for (int collective = 0; collective < 2; collective++) {
        check_say("what is exact, beside what is not, %s",
                  collective ? "collective" : "independent");
        MPI_File file = open_with("abs=0.5");
        MPI_Offset at = rank * (MPI_Offset)1000000, four = sizeof floats;
        if (collective) {
            OK(MPI_File_write_at_all(file, at, floats, N, MPI_FLOAT, MPI_STATUS_IGNORE));
            OK(MPI_File_write_at_all(file, at + four, ints, N, MPI_INT, MPI_STATUS_IGNORE));
            OK(MPI_File_write_at_all(file, at + 2 * four, floats, sizeof floats, MPI_BYTE,
                                     MPI_STATUS_IGNORE));
            OK(MPI_File_write_at_all(file, at + 3 * four, mixed, N / 4, structure,
                                     MPI_STATUS_IGNORE));
        } else {
            OK(MPI_File_write_at(file, at, floats, N, MPI_FLOAT, MPI_STATUS_IGNORE));
            OK(MPI_File_write_at(file, at + four, ints, N, MPI_INT, MPI_STATUS_IGNORE));
            OK(MPI_File_write_at(file, at + 2 * four, floats, sizeof floats, MPI_BYTE,
                                 MPI_STATUS_IGNORE));
            OK(MPI_File_write_at(file, at + 3 * four, mixed, N / 4, structure, MPI_STATUS_IGNORE));
        }
        OK(MPI_File_read_at(file, at, floats_back, N, MPI_FLOAT, MPI_STATUS_IGNORE));
        CHECK(compare(floats_back, floats, false, false, 0.5) > N / 2);
        OK(MPI_File_read_at(file, at + four, ints_back, N, MPI_INT, MPI_STATUS_IGNORE));
        CHECK_BYTES(ints_back, ints, sizeof ints);
        OK(MPI_File_read_at(file, at + 2 * four, floats_back, N, MPI_FLOAT, MPI_STATUS_IGNORE));
        CHECK_BYTES(floats_back, floats, sizeof floats);
        OK(MPI_File_read_at(file, at + 3 * four, mixed_back, N / 4, structure, MPI_STATUS_IGNORE));
        CHECK_BYTES(mixed_back, mixed, sizeof mixed);
        OK(MPI_File_close(&file));
    }
    MPI_Type_free(&structure);
}

/* Floats in whatever datatype are floats. */
static void wrapped_floats(void)
{
    static float data[N], back[N];
    int rank = check_rank(MPI_COMM_WORLD);
    MPI_Datatype triple, rows,
        type[3] = {MPI_C_FLOAT_COMPLEX, MPI_DATATYPE_NULL, MPI_DATATYPE_NULL};
    MPI_Type_contiguous(4, MPI_FLOAT, &triple);
    MPI_Type_commit(&triple);
    MPI_Type_create_hvector(N / 4, 4, 16, MPI_FLOAT, &rows);
    MPI_Type_commit(&rows);
    type[1] = triple;
    type[2] = rows;
    const int count[3] = {N / 2, N / 4, 1};
    make(data, false, rank, false);
    for (int k = 0; k < 3; k++) {
        check_say("floats in a datatype, %d", k);
        MPI_File file = open_with("abs=0.25");
        MPI_Offset at = rank * (MPI_Offset)sizeof data;
        OK(MPI_File_write_at_all(file, at, data, count[k], type[k], MPI_STATUS_IGNORE));
        OK(MPI_File_read_at_all(file, at, back, N, MPI_FLOAT, MPI_STATUS_IGNORE));
        CHECK(compare(back, data, false, false, 0.25) > N / 2);
        OK(MPI_File_close(&file));
    }
    MPI_Type_free(&triple);
    MPI_Type_free(&rows);
}

/* One rank has everything; all are in the call. */
static void one_contributes(void)
{
    static double data[N], back[N];
    int rank = check_rank(MPI_COMM_WORLD), ranks = check_ranks(MPI_COMM_WORLD);
    for (int giver = 0; giver < ranks; giver++) {
        struct promise p = nothing;
        make(data, true, giver, true);
        add_range(&p, data, true, true, 0, N);
        check_say("only rank %d has data", giver);
        MPI_File file = open_with(NULL);
        OK(MPI_File_write_at_all(file, 0, data, rank == giver ? N : 0, MPI_DOUBLE,
                                 MPI_STATUS_IGNORE));
        check_sync(file, MPI_COMM_WORLD);
        OK(MPI_File_read_at_all(file, 0, back, N, MPI_DOUBLE, MPI_STATUS_IGNORE));
        CHECK(compare(back, data, true, true, allowed("rel=1e-3", &p)) > N / 2);
        OK(MPI_File_close(&file));
    }
}

/* An independent call with too much to be staged, and one in atomic mode: its own range counts. */
static void by_itself(void)
{
    static double data[N], back[N];
    int rank = check_rank(MPI_COMM_WORLD);
    MPI_Offset at = rank * (MPI_Offset)sizeof data;
    struct promise p = nothing;
    make(data, true, rank, true);
    add_range(&p, data, true, true, 0, N);
    for (int atomic = 0; atomic < 2; atomic++) {
        MPI_File file;
        MPI_Info info;
        check_say("one independent call, %s", atomic ? "atomic" : "large");
        MPI_Info_create(&info);
        MPI_Info_set(info, "zmpi_staging", "1M");
        check_remove(path, MPI_COMM_WORLD);
        OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, info, &file));
        MPI_Info_free(&info);
        OK(MPI_File_set_atomicity(file, atomic));
        OK(MPI_File_write_at(file, at, data, N, MPI_DOUBLE, MPI_STATUS_IGNORE));
        OK(MPI_File_read_at(file, at, back, N, MPI_DOUBLE, MPI_STATUS_IGNORE));
        CHECK(compare(back, data, true, true, allowed("rel=1e-3", &p)) > N / 2);
        OK(MPI_File_close(&file));
    }
}

/* What was read and is written again must not drift. */
static void again(void)
{
    static float data[N], first[N], second[N];
    int rank = check_rank(MPI_COMM_WORLD);
    make(data, false, rank, true);
    check_say("written again");
    MPI_File file = open_with("abs=0.01");
    MPI_Offset at = rank * (MPI_Offset)sizeof data;
    OK(MPI_File_write_at_all(file, at, data, N, MPI_FLOAT, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at_all(file, at, first, N, MPI_FLOAT, MPI_STATUS_IGNORE));
    OK(MPI_File_write_at_all(file, at, first, N, MPI_FLOAT, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at_all(file, at, second, N, MPI_FLOAT, MPI_STATUS_IGNORE));
    CHECK_BYTES(second, first, sizeof first);
    OK(MPI_File_close(&file));
}

int main(int argc, char **argv)
{
    static const char *const bounds[] = {"abs=0.01", "rel=1e-3", "rel=1e-6", "abs=1e-30",
                                         "abs=1e30", "rel=0.9",  "lossless"};
    MPI_Init(&argc, &argv);
    for (size_t b = 0; b < sizeof bounds / sizeof *bounds; b++)
        for (int way = 0; way < 8; way++) {
            bool wide = way & 1, collective = way & 2, specials = way & 4;
            if (strcmp(bounds[b], "abs=1e30") != 0 ||
                !specials) /* there all of them but NaN are numbers like others */
                promise(bounds[b], wide, collective, specials);
        }
    exact();
    wrapped_floats();
    one_contributes();
    by_itself();
    again();
    check_remove(path, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
