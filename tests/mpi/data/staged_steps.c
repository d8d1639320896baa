/*
 * staged_steps.c - many steps of a solver's state, of which a batch of staged writes has some and a
 * part of the next one, as cells of each rank or (one rank) as whole boxes: what is left of a step
 * goes with the next batch. Where values hardly change from step to step, the step before predicts
 * them. Rows in any order, and rows of the step before written again, keep every value.
 *
 * zmpi-test: RANKS 1,4
 */
#include "check.h"

#include <math.h>

enum { N = 5, STEPS = 50, MOST = 8 * N };
enum how { IN_ORDER, SHUFFLED, AGAIN, HOWS };

static const char path[] = "staged_steps.z";
static int rank, side, cells; /* side: points of the grid's edge; cells: along it */

/* What the data are like. */
struct state {
    bool still; /* noise that hardly changes; else smooth, and it changes much */
    enum how how;
    const char *staging, *components;
};

static double value(const struct state *s, int c, const int at[3], int step, int version)
{
    const unsigned place = (unsigned)((at[2] * side + at[1]) * side + at[0]) * N + (unsigned)c;
    const double u = (double)at[0] / side, v = (double)at[1] / side, w = (double)at[2] / side;
    if (s->still)
        return (double)(place * 2654435761U >> 8) * 0x1p-24 + 1e-4 * sin(0.3 * step + version + c);
    return sin(1.3 * c + 2 * u + 0.9 * step) * cos(3 * v + c + version) * (1 + w * w);
}

/* Where point x of a row of the rank's cell k lies; rows count through the cell's planes. */
static void point_at(int k, int row, int x, int at[3])
{
    const int size = side / cells;
    at[0] = (rank % cells + k) % cells * size + x;
    at[1] = (rank / cells + cells - k) % cells * size + row % size;
    at[2] = k * size + row / size;
}

static MPI_Offset row_at(int k, int row, int step)
{
    int at[3];
    point_at(k, row, 0, at);
    return 8 * N * (at[0] + (MPI_Offset)side * (at[1] + side * (at[2] + (MPI_Offset)side * step)));
}

static void fill_row(const struct state *s, int k, int row, int step, int version, double *data)
{
    for (int x = 0, at[3]; x < side / cells; x++)
        for (int c = 0; c < N; c++) {
            point_at(k, row, x, at);
            data[x * N + c] = value(s, c, at, step, version);
        }
}

static void write_row(const struct state *s, MPI_File f, int k, int row, int step, int version)
{
    double data[MOST];
    fill_row(s, k, row, step, version, data);
    OK(MPI_File_write_at(f, row_at(k, row, step), data, side / cells * N, MPI_DOUBLE,
                         MPI_STATUS_IGNORE));
}

/* Is this row written a second time, after the next step? */
static bool is_again(const struct state *s, int row, int step)
{
    return s->how == AGAIN && step + 1 < STEPS && (row + step) % 23 == 5;
}

static void write_steps(const struct state *s, MPI_File f)
{
    const int size = side / cells, rows = size * size;
    for (int step = 0; step < STEPS; step++)
        for (int k = 0; k < cells; k++) {
            for (int i = 0; i < rows; i++)
                write_row(s, f, k, s->how == SHUFFLED ? i * 17 % rows : i, step, 0);
            for (int row = 0; row < rows && step > 0; row++)
                if (is_again(s, row, step - 1))
                    write_row(s, f, k, row, step - 1, 1);
        }
}

static void check_steps(const struct state *s, MPI_File f)
{
    const int size = side / cells;
    double is[MOST], was[MOST];
    for (int step = 0; step < STEPS; step++)
        for (int k = 0; k < cells; k++)
            for (int row = 0; row < size * size; row++) {
                fill_row(s, k, row, step, is_again(s, row, step), was);
                OK(MPI_File_read_at(f, row_at(k, row, step), is, size * N, MPI_DOUBLE,
                                    MPI_STATUS_IGNORE));
                for (int i = 0; i < size * N; i++)
                    CHECK_SAY(fabs(is[i] - was[i]) <= 1e-6, "step %d, row %d: %.17g for %.17g",
                              step, row, is[i], was[i]);
            }
}

static MPI_File open_file(const struct state *s, int mode)
{
    MPI_Info info;
    MPI_File f;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "zmpi_error_bound", "abs=1e-6"));
    OK(MPI_Info_set(info, "zmpi_components", s->components));
    OK(MPI_Info_set(info, "zmpi_staging", s->staging));
    OK(MPI_File_open(MPI_COMM_WORLD, path, mode, info, &f));
    OK(MPI_Info_free(&info));
    return f;
}

/* Returns the file's size on disk. */
static double round_trip(bool still, enum how how, const char *staging, const char *components)
{
    const struct state s = {still, how, staging, components};
    MPI_File f = open_file(&s, MPI_MODE_WRONLY | MPI_MODE_CREATE);
    write_steps(&s, f);
    OK(MPI_File_close(&f));
    f = open_file(&s, MPI_MODE_RDONLY);
    check_steps(&s, f);
    OK(MPI_File_close(&f));
    const double size = (double)check_disk_size(path);
    check_remove(path, MPI_COMM_WORLD);
    return size;
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    rank = check_rank(MPI_COMM_WORLD);
    cells = check_ranks(MPI_COMM_WORLD) == 4 ? 2 : 1;
    side = cells == 2 ? 12 : 8;
    check_remove(path, MPI_COMM_WORLD); /* of a run that failed */
    for (int still = 0; still < 2; still++) {
        const double large = round_trip(still, IN_ORDER, "16M", "5"),
                     small = round_trip(still, IN_ORDER, "1M", "5"),
                     one = round_trip(still, IN_ORDER, "16M", "1"),
                     shuffled = round_trip(still, SHUFFLED, "1M", "5");
        check_say("%s: %.0f bytes, in small batches %.0f, shuffled %.0f; one array %.0f",
                  still ? "still" : "smooth", large, small, shuffled, one);
        CHECK((still ? 1.5 : 1.0) * large < one);
        CHECK(small < 1.3 * large);
        CHECK(shuffled < 1.5 * large);
        round_trip(still, AGAIN, "1M", "5");
    }
    OK(MPI_Finalize());
    return 0;
}
