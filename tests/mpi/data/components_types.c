/*
 * components_types.c - components that datatypes tell: random types, extents, numbers of components
 * and ways of writing. The components' ranges differ too little for the data to tell them.
 *
 * zmpi-test: RANKS 1,2,3
 */
#include "check.h"

#include <math.h>

enum { CASES = 33, MOST = 16, MOST_BLOCKS = 64 };

static const char path[] = "components_types.z";
static const double rel = 1e-3;
static int rank, ranks;

enum kind {
    VIEW,    /* subarrays of an array of all ranks */
    FORTRAN, /* the same, extents in Fortran's order */
    GHOSTS,  /* a subarray of the buffer */
    NESTED,  /* contiguous types of contiguous types */
    VECTORS, /* vectors of vectors, with room between rows */
    STRUCT,  /* structs with room at their ends */
    COMPLEX, /* all parts of points have one bound */
    BLOCKS,  /* the view has them outermost */
    /* The buffer has them outermost: */
    BLOCKS_GHOSTS,  /* in a subarray */
    BLOCKS_NESTED,  /* in contiguous types of contiguous types */
    BLOCKS_VECTORS, /* in vectors of vectors, with room between rows */
    KINDS
};

struct test {
    enum kind kind;
    bool single, together;
    int n, x, y, z; /* components, extents of a rank's part */
    unsigned seed;
};

static int points(const struct test *t)
{
    return t->x * t->y * t->z;
}

static bool is_slab(const struct test *t)
{
    return t->kind != VIEW && t->kind != FORTRAN && t->kind != BLOCKS;
}

static bool has_blocks(const struct test *t)
{
    return t->kind >= BLOCKS;
}

/* Of one component, at a point of a rank's part. */
static double value(const struct test *t, int of, int c, int point)
{
    const int x = point % t->x, y = point / t->x % t->y, z = point / t->x / t->y;
    const double noise = check_unit(t->seed + (unsigned)of, (uint64_t)(point * MOST_BLOCKS + c));
    const double wave = sin(0.3 * x + 0.2 * y * (1 + of) + 0.1 * z + c) + 0.1 * noise;
    const double v = (1 + c % 4) * wave;
    return t->single ? (double)(float)v : v;
}

/* ---- the buffer and its datatype ---- */

static MPI_Datatype base(const struct test *t)
{
    if (t->kind == COMPLEX)
        return t->single ? MPI_C_FLOAT_COMPLEX : MPI_C_DOUBLE_COMPLEX;
    return t->single ? MPI_FLOAT : MPI_DOUBLE;
}

static void put(const struct test *t, void *buffer, size_t at, double v)
{
    if (t->single)
        ((float *)buffer)[at] = (float)v;
    else
        ((double *)buffer)[at] = v;
}

static double get(const struct test *t, const void *buffer, size_t at)
{
    return t->single ? (double)((const float *)buffer)[at] : ((const double *)buffer)[at];
}

/* Where the value lies in the buffer. */
static size_t place(const struct test *t, int c, int point)
{
    const size_t n = (size_t)t->n, x = (size_t)(point % t->x), y = (size_t)(point / t->x % t->y),
                 z = (size_t)(point / t->x / t->y), row = (size_t)t->x, rows = (size_t)t->y;
    const size_t plane = (size_t)c * (size_t)t->z + z;
    if (t->kind == BLOCKS || t->kind == BLOCKS_NESTED)
        return (size_t)c * (size_t)points(t) + (size_t)point;
    if (t->kind == BLOCKS_GHOSTS)
        return ((plane + 2 * (size_t)c + 1) * (rows + 2) + y + 1) * (row + 2) + x + 1;
    if (t->kind == BLOCKS_VECTORS)
        return (plane * rows + y) * (row + 3) + x;
    if (t->kind == GHOSTS)
        return (((z + 1) * (rows + 2) + y + 1) * (row + 2) + x + 1) * n + (size_t)c;
    if (t->kind == VECTORS)
        return ((z * rows + y) * (row + 3) + x) * n + (size_t)c;
    if (t->kind == STRUCT)
        return (size_t)point * (n + 1) + (size_t)c;
    return (size_t)point * n + (size_t)c;
}

/* Three fields at most: a vector, another one, what is left. */
static MPI_Datatype struct_type(const struct test *t, MPI_Aint width)
{
    const int first = t->n / 3, second = t->n / 2 - first,
              lengths[3] = {first, second, t->n - first - second};
    const MPI_Aint at[3] = {0, first * width, (first + second) * width};
    const MPI_Datatype types[3] = {base(t), base(t), base(t)};
    MPI_Datatype packed, type;
    OK(MPI_Type_create_struct(3, lengths, at, types, &packed));
    OK(MPI_Type_create_resized(packed, 0, (t->n + 1) * width, &type));
    OK(MPI_Type_free(&packed));
    return type;
}

static MPI_Datatype wrap(MPI_Datatype type, int n, int length, MPI_Aint stride)
{
    MPI_Datatype outer;
    if (stride)
        OK(MPI_Type_create_hvector(n, length, stride, type, &outer));
    else
        OK(MPI_Type_contiguous(n, type, &outer));
    OK(MPI_Type_free(&type));
    return outer;
}

/* All of a rank's part, components outermost. */
static MPI_Datatype blocks_type(const struct test *t, MPI_Aint width)
{
    const int parts[4] = {t->n, t->z, t->y, t->x}, from[4] = {0, 1, 1, 1};
    const int sizes[4] = {t->n, t->z + 2, t->y + 2, t->x + 2};
    const MPI_Aint row = (t->x + 3) * width;
    MPI_Datatype type;
    if (t->kind == BLOCKS_GHOSTS) {
        OK(MPI_Type_create_subarray(4, sizes, parts, from, MPI_ORDER_C, base(t), &type));
        return type;
    }
    OK(MPI_Type_contiguous(t->x, base(t), &type));
    if (t->kind == BLOCKS_NESTED)
        return wrap(wrap(wrap(type, t->y, 0, 0), t->z, 0, 0), t->n, 0, 0);
    type = wrap(wrap(type, t->y, 1, row), t->z, 1, t->y * row);
    return wrap(type, t->n, 1, (MPI_Aint)t->z * t->y * row);
}

/* *count of it are the rank's part. */
static MPI_Datatype memory_type(const struct test *t, int *count)
{
    const MPI_Aint width = t->single ? 4 : 8;
    const int parts[4] = {t->z, t->y, t->x, t->n}, from[4] = {1, 1, 1, 0};
    const int sizes[4] = {t->z + 2, t->y + 2, t->x + 2, t->n};
    MPI_Datatype type;
    *count = 1;
    if (t->kind == GHOSTS) {
        OK(MPI_Type_create_subarray(4, sizes, parts, from, MPI_ORDER_C, base(t), &type));
    } else if (t->kind == STRUCT) {
        type = struct_type(t, width);
        *count = points(t);
    } else if (t->kind == VECTORS) {
        OK(MPI_Type_contiguous(t->n, base(t), &type));
        type = wrap(type, t->y, t->x, (t->x + 3) * t->n * width);
        type = wrap(type, t->z, 1, (MPI_Aint)t->y * (t->x + 3) * t->n * width);
    } else if (t->kind == NESTED) {
        OK(MPI_Type_contiguous(t->n, base(t), &type));
        type = wrap(wrap(type, t->x, 0, 0), t->y, 0, 0);
        *count = t->z;
    } else if (t->kind == COMPLEX) {
        OK(MPI_Type_contiguous(t->n / 2, base(t), &type));
        type = wrap(wrap(type, t->x, 0, 0), t->y, 0, 0);
        *count = t->z;
    } else if (has_blocks(t) && t->kind != BLOCKS) {
        type = blocks_type(t, width);
    } else {
        OK(MPI_Type_contiguous(t->n * points(t), base(t), &type));
    }
    OK(MPI_Type_commit(&type));
    return type;
}

/* ---- the file ---- */

static void set_view(MPI_File f, const struct test *t)
{
    const MPI_Aint width = t->single ? 4 : 8;
    const int sizes[4] = {t->z, t->y * ranks, t->x, t->n}, parts[4] = {t->z, t->y, t->x, t->n};
    const int from[4] = {0, t->y * rank, 0, 0};
    const int blocks[4] = {t->n, t->z, t->y * ranks, t->x}, block[4] = {t->n, t->z, t->y, t->x};
    const int begin[4] = {0, 0, t->y * rank, 0};
    const int back[4] = {t->n, t->x, t->y * ranks, t->z}, part[4] = {t->n, t->x, t->y, t->z};
    const int first[4] = {0, 0, t->y * rank, 0};
    MPI_Datatype type;
    if (is_slab(t)) {
        OK(MPI_File_set_view(f, (MPI_Offset)rank * points(t) * t->n * width, base(t), base(t),
                             "native", MPI_INFO_NULL));
        return;
    }
    if (t->kind == VIEW)
        OK(MPI_Type_create_subarray(4, sizes, parts, from, MPI_ORDER_C, base(t), &type));
    else if (t->kind == BLOCKS)
        OK(MPI_Type_create_subarray(4, blocks, block, begin, MPI_ORDER_C, base(t), &type));
    else
        OK(MPI_Type_create_subarray(4, back, part, first, MPI_ORDER_FORTRAN, base(t), &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_File_set_view(f, 0, base(t), type, "native", MPI_INFO_NULL));
    OK(MPI_Type_free(&type));
}

static MPI_File open_file(int mode)
{
    MPI_Info info;
    MPI_File f;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "zmpi_error_bound", "rel=1e-3"));
    OK(MPI_File_open(MPI_COMM_WORLD, path, mode, info, &f));
    OK(MPI_Info_free(&info));
    return f;
}

/* Where the value of a rank's part lies in the file. */
static size_t place_in_file(const struct test *t, int of, int c, int point)
{
    const size_t x = (size_t)(point % t->x), y = (size_t)(point / t->x % t->y),
                 z = (size_t)(point / t->x / t->y), row = (size_t)t->x,
                 rows = (size_t)(t->y * ranks), n = (size_t)t->n;
    const size_t all_y = y + (size_t)(of * t->y);
    if (is_slab(t) && has_blocks(t))
        return ((size_t)of * n + (size_t)c) * (size_t)points(t) + (size_t)point;
    if (is_slab(t))
        return ((size_t)of * (size_t)points(t) + (size_t)point) * n + (size_t)c;
    if (t->kind == BLOCKS)
        return (((size_t)c * (size_t)t->z + z) * rows + all_y) * row + x;
    return ((z * rows + all_y) * row + x) * n + (size_t)c;
}

/* ---- what comes back ---- */

/* The range that the bound of components [first, end) is a part of: in the call's data. */
static double range_of(const struct test *t, int first, int end)
{
    double limits[2] = {-INFINITY, -INFINITY}; /* most, -least */
    for (int c = first; c < end; c++)
        for (int i = 0; i < points(t); i++) {
            const double v = value(t, rank, c, i);
            limits[0] = fmax(limits[0], v);
            limits[1] = fmax(limits[1], -v);
        }
    if (t->together)
        OK(MPI_Allreduce(MPI_IN_PLACE, limits, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
    return limits[0] + limits[1];
}

static void check_values(const struct test *t, const void *file)
{
    double worst = 0, of_first = 0;
    for (int c = 0; c < t->n; c++) {
        const bool shared = t->kind == COMPLEX;
        const double bound = rel * range_of(t, shared ? 0 : c, shared ? t->n : c + 1);
        for (int i = 0; i < points(t); i++) {
            const double v = value(t, rank, c, i);
            const double is = get(t, file, place_in_file(t, rank, c, i));
            const double error = fabs(is - v);
            worst = fmax(worst, error / bound);
            of_first = c == 0 ? fmax(of_first, error) : of_first;
            CHECK_SAY(error <= bound * 1.0001,
                      "component %d of point %d: %.9g, not %.9g: an error of %g, bound %g", c, i,
                      is, v, error, bound);
        }
    }
    CHECK_SAY(worst > 0.5, "nothing is lossy: %g of the bound", worst);
    if (t->kind == COMPLEX)
        CHECK(of_first > rel * range_of(t, 0, 1));
}

/* The file by other requests: all of it, then parts that begin and end anywhere. */
static void check_file(const struct test *t)
{
    const size_t width = t->single ? 4 : 8;
    const size_t all = (size_t)(points(t) * t->n) * (size_t)ranks;
    unsigned char *file = check_alloc(all * width), *part = check_alloc(all * width);
    MPI_File f = open_file(MPI_MODE_RDONLY);
    OK(MPI_File_read_all(f, file, (int)(all * width), MPI_BYTE, MPI_STATUS_IGNORE));
    check_values(t, file);
    for (unsigned k = 0; k < 20; k++) {
        const size_t at = check_mix(t->seed + 7, 2 * k) % (all * width);
        const size_t most = all * width - at > 3000 ? 3000 : all * width - at;
        const size_t many = check_mix(t->seed + 7, 2 * k + 1) % most;
        OK(MPI_File_read_at(f, (MPI_Offset)at, part, (int)many, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK_BYTES(part, file + at, many);
    }
    OK(MPI_File_close(&f));
    free(file);
    free(part);
}

/* ---- */

static struct test make(unsigned seed)
{
    struct test t = {.seed = seed};
    t.kind = (enum kind)(seed % KINDS);
    t.single = check_mix(seed, 1) % 2;
    t.together = check_mix(seed, 2) % 2;
    t.z = 4 + (int)(check_mix(seed, 3) % 12);
    t.y = 8 + (int)(check_mix(seed, 4) % 20);
    t.x = 41 + (int)(check_mix(seed, 5) % 60);
    t.n = 2 + (int)(check_mix(seed, 6) % (unsigned)(t.z < MOST ? t.z - 1 : MOST - 1));
    if (t.kind == STRUCT)
        t.n = 3 + (int)(check_mix(seed, 6) % 30);
    if (has_blocks(&t)) /* fewer than a row has, or more: rows are longer than points may be */
        t.n = 2 + (int)(check_mix(seed, 6) % (MOST_BLOCKS - 1));
    if (t.kind == COMPLEX)
        t.n = 4 + 2 * (t.n % 3);
    return t;
}

static void run(const struct test *t)
{
    int count;
    check_say("kind %d, %s, %s: %d components of %dx%dx%d", (int)t->kind, t->single ? "f32" : "f64",
              t->together ? "together" : "alone", t->n, t->z, t->y, t->x);
    MPI_Datatype type = memory_type(t, &count);
    const size_t capacity = (size_t)(t->n + 1) * (size_t)((t->x + 3) * (t->y + 2) * (t->z + 2));
    void *buffer = check_alloc(capacity * 8);
    memset(buffer, 0x7f, capacity * 8);
    for (int i = 0; i < points(t); i++)
        for (int c = 0; c < t->n; c++)
            put(t, buffer, place(t, c, i), value(t, rank, c, i));
    MPI_File f = open_file(MPI_MODE_CREATE | MPI_MODE_WRONLY);
    set_view(f, t);
    if (t->together)
        OK(MPI_File_write_all(f, buffer, count, type, MPI_STATUS_IGNORE));
    else
        OK(MPI_File_write(f, buffer, count, type, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&f));
    OK(MPI_Type_free(&type));
    check_file(t);
    check_remove(path, MPI_COMM_WORLD);
    free(buffer);
}

/* One component of all points again, with three times its values, by a view of its own. */
static void overwrite(const struct test *t)
{
    const int sizes[4] = {t->z, t->y * ranks, t->x, t->n}, parts[4] = {t->z, t->y, t->x, 1};
    const int all = points(t), from[4] = {0, t->y * rank, 0, 1};
    double *data = check_alloc((size_t)(all * t->n) * 8);
    MPI_Datatype type;
    check_say("component 1 again");
    for (int i = 0; i < all; i++)
        for (int c = 0; c < t->n; c++)
            data[i * t->n + c] = value(t, rank, c, i);
    MPI_File f = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
    set_view(f, t);
    OK(MPI_File_write_all(f, data, all * t->n, MPI_DOUBLE, MPI_STATUS_IGNORE));
    OK(MPI_Type_create_subarray(4, sizes, parts, from, MPI_ORDER_C, MPI_DOUBLE, &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_File_set_view(f, 0, MPI_DOUBLE, type, "native", MPI_INFO_NULL));
    for (int i = 0; i < all; i++)
        data[i] = 3 * value(t, rank, 1, i);
    OK(MPI_File_write_all(f, data, all, MPI_DOUBLE, MPI_STATUS_IGNORE));
    OK(MPI_Type_free(&type));
    set_view(f, t);
    OK(MPI_File_read_at_all(f, 0, data, all * t->n, MPI_DOUBLE, MPI_STATUS_IGNORE));
    for (int c = 0; c < t->n; c++) {
        const double factor = c == 1 ? 3 : 1, bound = factor * rel * range_of(t, c, c + 1);
        for (int i = 0; i < all; i++)
            CHECK(fabs(data[i * t->n + c] - factor * value(t, rank, c, i)) <= bound * 1.0001);
    }
    OK(MPI_File_close(&f));
    check_remove(path, MPI_COMM_WORLD);
    free(data);
}

/* A view of points, written by two calls, the first of which ends within a point: each is one array
 * with one bound. */
static void cut_through(const struct test *t)
{
    const int all = points(t) * t->n, first = all / 2 / t->n * t->n + 1;
    double *data = check_alloc((size_t)all * 8), range = 0;
    check_say("a call that ends within a point");
    for (int i = 0; i < all; i++)
        data[i] = value(t, rank, i % t->n, i / t->n);
    MPI_File f = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
    set_view(f, t);
    OK(MPI_File_write_all(f, data, first, MPI_DOUBLE, MPI_STATUS_IGNORE));
    OK(MPI_File_write_all(f, data + first, all - first, MPI_DOUBLE, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at_all(f, 0, data, all, MPI_DOUBLE, MPI_STATUS_IGNORE));
    for (int c = 0; c < t->n; c++)
        range = fmax(range, range_of(t, c, c + 1));
    for (int i = 0; i < all; i++)
        CHECK(fabs(data[i] - value(t, rank, i % t->n, i / t->n)) <= rel * range * 1.0001);
    OK(MPI_File_close(&f));
    check_remove(path, MPI_COMM_WORLD);
    free(data);
}

int main(int argc, char **argv)
{
    const struct test state = {VIEW, false, true, 4, 50, 20, 12, 3};
    OK(MPI_Init(&argc, &argv));
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    for (unsigned seed = 0; seed < CASES; seed++) {
        const struct test t = make(seed);
        run(&t);
    }
    overwrite(&state);
    cut_through(&state);
    OK(MPI_Finalize());
    return 0;
}
