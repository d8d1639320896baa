/*
 * exact_below.c - small calls are metadata: a header before a field, coordinates. They are exact,
 * by the values of all ranks where the call is collective; small pieces of one field, which share
 * records, are not.
 *
 * zmpi-test: RANKS 1,2,3,4
 */
#include "check.h"

#include <math.h>

enum { HEADER = 8, FIELD = 20000, PIECE = 60, PIECES = 300 };

static const char path[] = "exact_below.z";
static int rank, ranks;

static double field(int i)
{
    return 300 + 20 * sin(i * 1e-3) + check_unit((uint64_t)i, 7);
}

static const char *bound = "rel=1e-3";

static MPI_File open_file(int mode, const char *below, bool atomic)
{
    MPI_Info info;
    MPI_File f;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "zmpi_error_bound", bound));
    OK(MPI_Info_set(info, "zmpi_exact_below", below));
    OK(MPI_File_open(MPI_COMM_WORLD, path, mode, info, &f));
    OK(MPI_Info_free(&info));
    if (atomic)
        OK(MPI_File_set_atomicity(f, 1));
    return f;
}

/* Which of n doubles at `offset` are not what they were; none is off by more than the bound. */
static int changed(MPI_Offset offset, const double *was, int n)
{
    double *is = check_alloc((size_t)n * 8);
    int count = 0;
    MPI_File f;
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &f));
    OK(MPI_File_read_at(f, offset, is, n, MPI_DOUBLE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&f));
    for (int i = 0; i < n; i++)
        count += is[i] != was[i]; // NOLINT: exact on purpose
    free(is);
    return count;
}

/* Rank 0 writes a header, alone or in a call of all; then all write the field. */
static void header(int mode, bool together, bool atomic, const char *below)
{
    const double head[HEADER] = {3, 6, 128, 1.5e10, -1.25, 2.75, 0.001, 86400};
    double *data = check_alloc(FIELD * 8);
    const MPI_Offset at = HEADER * 8 + (MPI_Offset)rank * FIELD * 8;
    MPI_File f = open_file(mode | MPI_MODE_CREATE, below, atomic);
    check_say("mode %d, %s, below %s", mode, together ? "together" : "rank 0", below);
    for (int i = 0; i < FIELD; i++)
        data[i] = field(rank * FIELD + i);
    if (together)
        OK(MPI_File_write_at_all(f, 0, head, rank == 0 ? HEADER : 0, MPI_DOUBLE,
                                 MPI_STATUS_IGNORE));
    else if (rank == 0)
        OK(MPI_File_write_at(f, 0, head, HEADER, MPI_DOUBLE, MPI_STATUS_IGNORE));
    OK(MPI_File_write_at_all(f, at, data, FIELD, MPI_DOUBLE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&f));
    const int lost = changed(0, head, HEADER);
    CHECK_SAY(*below == '0' ? lost > 0 : lost == 0, "%d numbers of the header changed", lost);
    CHECK_SAY(changed(at, data, FIELD) > FIELD / 2, "the field is exact");
    check_remove(path, MPI_COMM_WORLD);
    free(data);
}

/* One collective call, of so many values on each rank. */
static void call(int values, int mode)
{
    double *data = check_alloc((size_t)values * 8);
    const MPI_Offset at = (MPI_Offset)rank * values * 8;
    MPI_File f = open_file(mode | MPI_MODE_CREATE, "4096", false);
    check_say("%d values on each rank, mode %d", values, mode);
    for (int i = 0; i < values; i++)
        data[i] = field(rank * values + i);
    OK(MPI_File_write_at_all(f, at, data, values, MPI_DOUBLE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&f));
    const int lost = changed(at, data, values);
    CHECK_SAY(values * ranks <= 4096 ? lost == 0 : lost > 0, "%d changed", lost);
    check_remove(path, MPI_COMM_WORLD);
    free(data);
}

/* A field in small pieces, by independent calls, as NPB's BT-IO writes it. */
static void strided(void)
{
    double *data = check_alloc(PIECES * PIECE * 8);
    int lost = 0;
    MPI_File f = open_file(MPI_MODE_WRONLY | MPI_MODE_CREATE, "4096", false);
    check_say("small pieces");
    for (int k = 0; k < PIECES; k++) {
        double *piece = data + k * PIECE;
        const int at = (k * ranks + rank) * PIECE;
        for (int i = 0; i < PIECE; i++)
            piece[i] = field(at + i);
        OK(MPI_File_write_at(f, (MPI_Offset)at * 8, piece, PIECE, MPI_DOUBLE, MPI_STATUS_IGNORE));
    }
    OK(MPI_File_close(&f));
    for (int k = 0; k < PIECES; k += 30)
        lost += changed((MPI_Offset)(k * ranks + rank) * PIECE * 8, data + k * PIECE, PIECE);
    CHECK_SAY(lost > 0, "they are exact");
    check_remove(path, MPI_COMM_WORLD);
    free(data);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    for (int together = 0; together < 2; together++) {
        header(MPI_MODE_WRONLY, together, false, "4096");
        header(MPI_MODE_RDWR, together, false, "4096");
        header(MPI_MODE_RDWR, together, true, "4096");
    }
    header(MPI_MODE_WRONLY, false, false, "0");
    for (int values = 1000; values <= 5000; values += 1000) {
        call(values, MPI_MODE_WRONLY);
        call(values, MPI_MODE_RDWR);
    }
    strided();
    bound = "abs=0.01"; /* then header and field have the same */
    header(MPI_MODE_WRONLY, false, false, "4096");
    header(MPI_MODE_WRONLY, true, false, "4096");
    strided();
    OK(MPI_Finalize());
    return 0;
}
