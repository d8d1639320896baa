/*
 * components.c - several variables in device memory: each has its own bound, and files and messages
 * are those of host buffers, however the number of variables is known.
 *
 * usage: components device|mixed
 */
#include "device_buffer.h"

#include <math.h>

enum { N = 5, POINTS = 4096, VALUES = N * POINTS };

static int rank, ranks;
static const char *who;

/* Density, velocities, pressure; or, unless a setting tells them apart, much the same. */
static double value(int part, int c, int i, bool alike)
{
    static const double scale[N] = {0.1, 10, 10, 10, 2000};
    const double s = sin(0.01 * i + part + c) * cos(0.003 * i);
    if (c == 2 && i % 20 == 7)
        return -9e7; /* a fill value */
    return alike ? (1 + c) * s : scale[c] * s + (c == 4 ? 1e5 : 0);
}

static void fill(double *data, bool blocks, bool alike)
{
    for (int i = 0; i < POINTS; i++)
        for (int c = 0; c < N; c++)
            data[blocks ? c * POINTS + i : i * N + c] = value(rank, c, i, alike);
}

static double half_range(int c, bool alike)
{
    static const double half[N] = {0.1, 10, 10, 10, 2000};
    return alike ? 1 + c : half[c];
}

/* Each within its own bound. */
static void check_bounds(const double *is, int part, bool blocks, bool alike)
{
    for (int i = 0; i < POINTS; i++)
        for (int c = 0; c < N; c++) {
            const double v = value(part, c, i, alike), x = is[blocks ? c * POINTS + i : i * N + c];
            CHECK_SAY(v < -8e7 ? x == v : fabs(x - v) <= 2.0001e-3 * half_range(c, alike),
                      "component %d of point %d is off by %g", c, i, fabs(x - v));
        }
}

/* How a call says what it is. */
struct way {
    const char *name, *bound, *components; /* NULL: the data tell, or the datatype */
    bool together, alike, strided;
};

/* Of points that have room behind them in the buffer, or none. */
static MPI_Datatype type_of(const struct way *w)
{
    MPI_Datatype point, type;
    OK(MPI_Type_contiguous(N, MPI_DOUBLE, &point));
    OK(MPI_Type_create_resized(point, 0, (w->strided ? N + 1 : N) * 8, &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Type_free(&point));
    return type;
}

/* What a file of these data is: its size on disk, and the values that are read. */
static long long file_of(const struct way *w, const double *data, bool device, double *got)
{
    const char *path = "components.z";
    const int width = w->strided ? N + 1 : N;
    double *spread = check_alloc((size_t)(width * POINTS) * 8);
    struct buffer b = buffer_make((size_t)(width * POINTS) * 8, device);
    MPI_Datatype type = type_of(w);
    MPI_Info info;
    MPI_File f;
    for (int i = 0; i < VALUES; i++)
        spread[i / N * width + i % N] = data[i];
    buffer_set(&b, spread);
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "zmpi_error_bound", w->bound));
    if (w->components)
        OK(MPI_Info_set(info, "zmpi_components", w->components));
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &f));
    OK(MPI_Info_free(&info));
    const MPI_Offset at = (MPI_Offset)rank * VALUES * 8;
    if (w->together)
        OK(MPI_File_write_at_all(f, at, b.at, POINTS, type, MPI_STATUS_IGNORE));
    else
        OK(MPI_File_write_at(f, at, b.at, POINTS, type, MPI_STATUS_IGNORE));
    OK(MPI_File_sync(f));
    OK(MPI_File_read_at(f, at, got, VALUES, MPI_DOUBLE, MPI_STATUS_IGNORE));
    buffer_fill(&b, 0x5A); /* and to the device, values that lie apart */
    OK(MPI_File_read_at_all(f, at, b.at, POINTS, type, MPI_STATUS_IGNORE));
    double *there = buffer_get(&b);
    for (int i = 0; i < VALUES; i++)
        CHECK(memcmp(&there[i / N * width + i % N], &got[i], 8) == 0);
    free(there);
    OK(MPI_File_close(&f));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    const long long size = check_disk_size(path);
    check_remove(path, MPI_COMM_WORLD);
    OK(MPI_Type_free(&type));
    buffer_free(&b);
    free(spread);
    return size;
}

/* The same from host buffers and from this rank's buffers. A container's name is part of each
 * checksum, so that the test compares sizes and values instead of bytes. */
static void file(const struct way *w)
{
    double *data = check_alloc(VALUES * 8), *host = check_alloc(VALUES * 8),
           *mine = check_alloc(VALUES * 8);
    const bool blocks = w->components && strcmp(w->components, "5:slow") == 0;
    check_say("file, %s, %s, %s", w->name, w->together ? "together" : "alone", who);
    fill(data, blocks, w->alike);
    const long long size = file_of(w, data, false, host);
    CHECK(file_of(w, data, buffer_on_device(who, rank), mine) == size);
    CHECK_BYTES(mine, host, VALUES * 8);
    if (strncmp(w->bound, "rel", 3) == 0)
        check_bounds(mine, rank, blocks, w->alike);
    free(data);
    free(host);
    free(mine);
}

/* Messages: what arrives from device buffers is what arrives from those of the host. */
static void messages(bool alike)
{
    const size_t many = (size_t)(VALUES * ranks);
    struct buffer send[2], recv[2];
    double *data = check_alloc(many * 8);
    for (int r = 0; r < ranks; r++)
        fill(data + r * VALUES, false, alike);
    for (int op = 0; op < 4; op++) {
        check_say("collective %d, %s", op, who);
        for (int k = 0; k < 2; k++) {
            const bool device = k && buffer_on_device(who, rank);
            send[k] = buffer_make(many * 8, device);
            recv[k] = buffer_make(many * 8, device);
            buffer_set(&send[k], data);
            buffer_fill(&recv[k], 0);
            MPI_Datatype type = type_of(&(struct way){.name = ""});
            if (op == 0)
                OK(MPI_Gather(send[k].at, POINTS, type, recv[k].at, POINTS, type, 0,
                              MPI_COMM_WORLD));
            else if (op == 1)
                OK(MPI_Allgather(send[k].at, VALUES, MPI_DOUBLE, recv[k].at, VALUES, MPI_DOUBLE,
                                 MPI_COMM_WORLD));
            else if (op == 2)
                OK(MPI_Alltoall(send[k].at, POINTS, type, recv[k].at, POINTS, type,
                                MPI_COMM_WORLD));
            else
                OK(MPI_Bcast(send[k].at, VALUES, MPI_DOUBLE, 0, MPI_COMM_WORLD));
            OK(MPI_Type_free(&type));
        }
        double *host = buffer_get(op == 3 ? &send[0] : &recv[0]);
        check_same(op == 3 ? &send[1] : &recv[1], host, "what arrived");
        for (int r = 0; r < (op == 3 ? 1 : ranks); r++)
            if (op > 0 || rank == 0)
                check_bounds(host + r * VALUES, r, false, alike);
        free(host);
        for (int k = 0; k < 2; k++) {
            buffer_free(&send[k]);
            buffer_free(&recv[k]);
        }
    }
    free(data);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    who = argc > 1 ? argv[1] : "device";
    for (int together = 0; together < 2; together++) {
        const bool t = together;
        const struct way ways[] = {{"set", "rel=1e-3", "5", t, true, false},
                                   {"blocks", "rel=1e-3", "5:slow", t, true, false},
                                   {"data", "rel=1e-3", NULL, t, false, false},
                                   {"data, packed on the device", "rel=1e-3", NULL, t, false, true},
                                   {"ratio", "ratio=8", "5", t, false, false}};
        for (size_t k = 0; k < sizeof ways / sizeof *ways; k++)
            file(&ways[k]);
    }
    messages(false);
    OK(MPI_Finalize());
    return 0;
}
