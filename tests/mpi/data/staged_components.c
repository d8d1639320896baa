/*
 * staged_components.c - a state of five variables in small pieces, rows of a box in a grid of all
 * ranks, as NPB's BT-IO writes it: each variable stays within a bound of its own. Boxes of any
 * size, rows in any order, by offsets, views or together, written again, and through points.
 *
 * zmpi-test: RANKS 1,3
 */
#include "check.h"

#include <math.h>

enum { N = 5, MOST = 12000 };
enum how { IN_ORDER, SHUFFLED, BY_VIEW, TOGETHER, AGAIN, THROUGH, HOWS };

static const char path[] = "staged_components.z";
static int rank, ranks;

/* A box of n points; the boxes of the ranks lie side by side along x. */
struct box {
    enum how how;
    int n[3]; /* x, y, z */
    const char *bound, *components;
    int seed;
};

static double value(const struct box *b, int c, int x, int y, int z, int version)
{
    const double s = sin(0.05 * (x + rank * b->n[0]) + 0.2 * z + version) * cos(0.07 * y + c);
    if (c == 0)
        return 1 + 0.1 * s;
    if (c == N - 1)
        return (x + 3 * y + z) % 97 == 3 ? 1e30 : 1e5 + 2000 * s;
    return c == 3 && (x + y + 5 * z) % 89 == 5 ? (double)NAN : 10 * s + c;
}

/* What a component may vary by. */
static double range_of(int c)
{
    return c == 0 ? 0.2 : c == N - 1 ? 4000 : 20;
}

static MPI_Offset row_at(const struct box *b, int row)
{
    return (MPI_Offset)((row * ranks + rank) * b->n[0]) * N * 8;
}

static void fill_row(const struct box *b, int row, int version, double *data)
{
    for (int x = 0; x < b->n[0]; x++)
        for (int c = 0; c < N; c++)
            data[x * N + c] = value(b, c, x, row % b->n[1], row / b->n[1], version);
}

static MPI_File open_file(const struct box *b, int mode)
{
    MPI_Info info;
    MPI_File f;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "zmpi_error_bound", b->bound));
    OK(MPI_Info_set(info, "zmpi_components", b->components));
    OK(MPI_File_open(MPI_COMM_WORLD, path, mode, info, &f));
    OK(MPI_Info_free(&info));
    return f;
}

/* The place of a row in the order of writing: every step-th row, with step prime to their number.
 */
static int row_of(const struct box *b, int k)
{
    const int rows = b->n[1] * b->n[2];
    return b->how == SHUFFLED ? (int)((long long)k * 7919 % rows) : k;
}

static void write_rows(const struct box *b, MPI_File f, int first, int end, int version)
{
    const int values = b->n[0] * N;
    double *data = check_alloc((size_t)values * 8);
    for (int k = first; k < end; k++) {
        const int row = row_of(b, k);
        const MPI_Offset at = row_at(b, row);
        fill_row(b, row, version, data);
        if (b->how == BY_VIEW)
            OK(MPI_File_write(f, data, values, MPI_DOUBLE, MPI_STATUS_IGNORE));
        else if (b->how == TOGETHER)
            OK(MPI_File_write_at_all(f, at, data, values, MPI_DOUBLE, MPI_STATUS_IGNORE));
        else
            OK(MPI_File_write_at(f, at, data, values, MPI_DOUBLE, MPI_STATUS_IGNORE));
    }
    free(data);
}

/* From inside a point of a row to inside another one: what was there, once more. */
static void write_through(const struct box *b, MPI_File f)
{
    double data[MOST];
    const int row = b->n[1];
    fill_row(b, row, 0, data);
    OK(MPI_File_write_at(f, row_at(b, row) + 3 * 8, data + 3, (b->n[0] - 1) * N - 2, MPI_DOUBLE,
                         MPI_STATUS_IGNORE));
}

static void set_view(const struct box *b, MPI_File f)
{
    MPI_Datatype row, type;
    OK(MPI_Type_contiguous(b->n[0] * N, MPI_DOUBLE, &row));
    OK(MPI_Type_create_resized(row, 0, (MPI_Aint)b->n[0] * N * 8 * ranks, &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_File_set_view(f, (MPI_Offset)rank * b->n[0] * N * 8, MPI_DOUBLE, type, "native",
                         MPI_INFO_NULL));
    OK(MPI_Type_free(&row));
    OK(MPI_Type_free(&type));
}

static void write_file(const struct box *b)
{
    const int rows = b->n[1] * b->n[2];
    MPI_File f = open_file(b, MPI_MODE_WRONLY | MPI_MODE_CREATE);
    if (b->how == BY_VIEW)
        set_view(b, f);
    write_rows(b, f, 0, rows, 0);
    if (b->how == AGAIN) /* all but the first plane */
        write_rows(b, f, b->n[1], rows, 1);
    if (b->how == THROUGH)
        write_through(b, f);
    OK(MPI_File_close(&f));
}

/* Is every value within rel of its component's range, or of all the pieces that it may be one array
 * with? */
static void check_row(const struct box *b, int row, int version, const double *is)
{
    double x[MOST];
    fill_row(b, row, version, x);
    for (int i = 0; i < b->n[0] * N; i++) {
        const bool apart = b->how != THROUGH;
        const double bound = b->bound[0] == 'a' ? 1e-3 : 1e-3 * (apart ? range_of(i % N) : 1.02e5);
        CHECK_SAY(fabs(x[i]) < 1e30 ? fabs(is[i] - x[i]) <= bound * 1.0001
                                    : memcmp(&is[i], &x[i], 8) == 0,
                  "row %d, value %d: %.17g for %.17g", row, i, is[i], x[i]);
    }
}

static void check_file(const struct box *b)
{
    const int values = b->n[0] * N;
    double *data = check_alloc((size_t)values * 8);
    MPI_File f = open_file(b, MPI_MODE_RDONLY);
    for (int row = 0; row < b->n[1] * b->n[2]; row++) {
        OK(MPI_File_read_at(f, row_at(b, row), data, values, MPI_DOUBLE, MPI_STATUS_IGNORE));
        check_row(b, row, b->how == AGAIN && row >= b->n[1], data);
    }
    OK(MPI_File_close(&f));
    free(data);
}

static void round_trip(const struct box *b)
{
    check_say("how %d, %dx%dx%d points, %s, components %s, seed %d", (int)b->how, b->n[2], b->n[1],
              b->n[0], b->bound, b->components, b->seed);
    write_file(b);
    check_file(b);
    const long long size = check_disk_size(path);
    check_remove(path, MPI_COMM_WORLD);
    if (b->how == THROUGH || b->how == AGAIN || b->bound[0] != 'a')
        return;
    struct box whole = *b;
    whole.components = "1";
    write_file(&whole);
    CHECK_SAY(size < check_disk_size(path), "%lld bytes, as one array %lld", size,
              check_disk_size(path));
    check_remove(path, MPI_COMM_WORLD);
}

/* Up to one batch, so that rows in any order become regular; in order there may be more. */
static struct box box_of(int seed)
{
    static const char *const bounds[] = {"rel=1e-3", "abs=1e-3"}, *const given[] = {"auto", "5"};
    struct box b = {.how = (enum how)(seed % HOWS), .seed = seed};
    const uint64_t s = (uint64_t)seed;
    const int most = b.how == SHUFFLED || b.how == THROUGH ? 6000 : MOST;
    b.n[0] = 2 + (int)(check_mix(s, 1) % 40);
    b.n[1] = 2 + (int)(check_mix(s, 2) % 20);
    b.n[2] = most / (b.n[0] * b.n[1]) - (int)(check_mix(s, 3) % 2);
    b.bound = bounds[check_mix(s, 4) % 2];
    b.components = given[check_mix(s, 5) % 2];
    return b;
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    for (int seed = 0; seed < 8 * HOWS; seed++) {
        const struct box b = box_of(seed);
        round_trip(&b);
    }
    OK(MPI_Finalize());
    return 0;
}
