/*
 * one_range.c - a state of five variables that stays one array, since it is written in small pieces
 * that lie irregularly, or in atomic mode: one line says that small variables may be lost, if the
 * bound is a part of the range and nobody has said that there is one variable. No line is said of
 * one variable.
 *
 * zmpi-test: RANKS 1,3
 */
#include "check.h"

#include <math.h>

enum { N = 5, POINTS = 12, PIECE = N * POINTS, PIECES = 400, VALUES = PIECE * PIECES };
enum way { ALONE, TOGETHER, ATOMIC, WAYS };

static const char path[] = "one_range.z", lines[] = "one_range.txt";
static int rank, ranks;
static const char *below; /* zmpi_exact_below */

/* Density, velocities and pressure; or one variable. */
static double value(int i, bool several)
{
    const double s = sin(1e-2 * (several ? i / N : i));
    return !several || i % N == 0 ? 1 + 0.1 * s : i % N == N - 1 ? 1e5 + 2000 * s : 10 * s + i % N;
}

static void write_pieces(MPI_File f, enum way way, double *data, bool several)
{
    for (int k = 0; k < PIECES; k++) {
        const int piece = k * ranks + rank,
                  at = piece * (PIECE + 4) + (int)(check_mix(7, (uint64_t)k) % 4);
        for (int i = 0; i < PIECE; i++)
            data[i] = value(piece * PIECE + i, several);
        if (way == ALONE)
            OK(MPI_File_write_at(f, (MPI_Offset)at * 8, data, PIECE, MPI_DOUBLE,
                                 MPI_STATUS_IGNORE));
        else
            OK(MPI_File_write_at_all(f, (MPI_Offset)at * 8, data, PIECE, MPI_DOUBLE,
                                     MPI_STATUS_IGNORE));
    }
}

static void write_file(enum way way, const char *bound, const char *components, bool several)
{
    double *data = check_alloc(VALUES * 8);
    MPI_Info info;
    MPI_File f;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "zmpi_error_bound", bound));
    OK(MPI_Info_set(info, "zmpi_components", components));
    OK(MPI_Info_set(info, "zmpi_exact_below", below));
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_WRONLY | MPI_MODE_CREATE, info, &f));
    OK(MPI_Info_free(&info));
    if (way == ATOMIC) {
        OK(MPI_File_set_atomicity(f, 1));
        for (int i = 0; i < VALUES; i++)
            data[i] = value(rank * VALUES + i, several);
        OK(MPI_File_write_at_all(f, (MPI_Offset)rank * VALUES * 8, data, VALUES, MPI_DOUBLE,
                                 MPI_STATUS_IGNORE));
    } else {
        write_pieces(f, way, data, several);
    }
    OK(MPI_File_close(&f));
    check_remove(path, MPI_COMM_WORLD);
    free(data);
}

/* How often rank 0 says so. */
static int times_said(enum way way, const char *bound, const char *components, bool several)
{
    char text[4096] = "";
    int count = 0;
    if (rank)
        write_file(way, bound, components, several);
    if (rank)
        return 0;
    const int before = dup(2), to = open(lines, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    CHECK(before >= 0 && to >= 0 && dup2(to, 2) == 2);
    write_file(way, bound, components, several);
    CHECK(dup2(before, 2) == 2);
    close(before);
    close(to);
    const int from = open(lines, O_RDONLY);
    CHECK(from >= 0 && read(from, text, sizeof text - 1) >= 0);
    close(from);
    for (const char *at = text; (at = strstr(at, "look like 5 variables that take turns")); at++)
        count++;
    return count;
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    for (int k = 0; k < 2 * WAYS; k++) {
        const enum way way = (enum way)(k % WAYS);
        below = k < WAYS ? "4096" : "0";
        check_say("way %d, below %s", (int)way, below);
        CHECK(times_said(way, "rel=1e-3", "auto", true) == (rank == 0));
        CHECK(times_said(way, "psnr=60", "auto", true) == (rank == 0));
        CHECK(times_said(way, "abs=1e-3", "auto", true) == 0);
        CHECK(times_said(way, "lossless", "auto", true) == 0);
        CHECK(times_said(way, "rel=1e-3", "1", true) == 0);
        CHECK(times_said(way, "rel=1e-3", "auto", false) == 0);
    }
    if (rank == 0) /* who alone reads it */
        unlink(lines);
    OK(MPI_Finalize());
    return 0;
}
