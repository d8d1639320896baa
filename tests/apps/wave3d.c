/*
 * wave3d: 3-D acoustic waves from an explosive source in a layered earth with a fast body, as in
 * seismic modelling. Second order in time, eighth order in space, float32, Cartesian decomposition.
 *
 *     mpirun -n 4 wave3d -n 160x160x128 -s 240 -i 40 -o out/run
 *
 * writes out/run.snapshots  float32 [time][z][y][x], one snapshot every 40 steps
 *        out/run.traces     float32 [step][receiver]
 *        out/run.checkpoint state for -r, with -c
 *
 * The result does not depend on the number of ranks. It is an ordinary MPI program.
 */
#include "wave3d.h"
#include "app_common.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#define PI 3.14159265358979323846

static const double cell_size = 10.0;      /* m */
static const double fastest = 4500.0;      /* m/s, the anomaly */
static const double courant = 0.4;         /* stable below 0.45 for this stencil in 3-D */
static const double peak_frequency = 15.0; /* Hz */
static const double source_radius = 2.0;   /* cells */
static const int sponge_width = 16;        /* cells */

struct options {
    int size[3]; /* z, y, x */
    int steps;
    int snapshot_interval;
    int checkpoint_interval; /* 0: never */
    bool restart;
    const char *prefix;
};

struct wave {
    float *now;
    float *before;
    float *courant2;  /* (velocity * dt / cell_size)^2 per cell */
    float *sponge[3]; /* damping per own plane; 1 in the interior */
};

static double time_step(void)
{
    return courant * cell_size / fastest;
}

/* Velocity in m/s: four layers with undulating interfaces, and a ball of salt. */
static double velocity(const int size[3], int z, int y, int x)
{
    double u = (x + 0.5) / size[2];
    double v = (y + 0.5) / size[1];
    double depth = (z + 0.5) / size[0] + 0.03 * sin(2 * PI * u) * cos(2 * PI * v);

    double du = u - 0.42;
    double dv = v - 0.55;
    double dw = (z + 0.5) / size[0] - 0.62;
    if (du * du + dv * dv + dw * dw < 0.15 * 0.15) {
        return fastest;
    }
    static const double bottom[3] = {0.25, 0.5, 0.75};
    static const double layer[4] = {1500.0, 2100.0, 2700.0, 3400.0};
    int i = 0;
    while (i < 3 && depth >= bottom[i]) {
        i++;
    }
    return layer[i];
}

/* Cerjan's sponge: a Gaussian taper towards each side of the grid. */
static float sponge_factor(int size, int at)
{
    int width = sponge_width < size / 4 ? sponge_width : size / 4;
    int edge = at < size - 1 - at ? at : size - 1 - at;
    if (edge >= width) {
        return 1.0F;
    }
    double depth = 0.3 * (width - edge) / width;
    return (float)exp(-depth * depth);
}

static void wave_create(struct wave *w, const struct grid *g)
{
    w->now = app_allocate(g->local_cells, sizeof *w->now);
    w->before = app_allocate(g->local_cells, sizeof *w->before);
    w->courant2 = app_allocate(g->local_cells, sizeof *w->courant2);
    double scale = time_step() / cell_size;
    for (int z = 0; z < g->count[0]; z++) {
        for (int y = 0; y < g->count[1]; y++) {
            for (int x = 0; x < g->count[2]; x++) {
                double c =
                    scale * velocity(g->size, g->start[0] + z, g->start[1] + y, g->start[2] + x);
                w->courant2[grid_index(g, z, y, x)] = (float)(c * c);
            }
        }
    }
    for (int d = 0; d < 3; d++) {
        w->sponge[d] = app_allocate((size_t)g->count[d], sizeof *w->sponge[d]);
        for (int i = 0; i < g->count[d]; i++) {
            w->sponge[d][i] = sponge_factor(g->size[d], g->start[d] + i);
        }
    }
}

static void wave_free(struct wave *w)
{
    free(w->now);
    free(w->before);
    free(w->courant2);
    for (int d = 0; d < 3; d++) {
        free(w->sponge[d]);
    }
}

/* Second derivatives in three directions, each (1/h^2) sum c[k] (u[-k] + u[k]), 8th order. */
static inline float laplacian(const float *u, ptrdiff_t y, ptrdiff_t z)
{
    static const float c[5] = {-205.0F / 72, 8.0F / 5, -1.0F / 5, 8.0F / 315, -1.0F / 560};
    float sum = 3 * c[0] * u[0];
    sum += c[1] * ((u[1] + u[-1]) + (u[y] + u[-y]) + (u[z] + u[-z]));
    sum += c[2] * ((u[2] + u[-2]) + (u[2 * y] + u[-2 * y]) + (u[2 * z] + u[-2 * z]));
    sum += c[3] * ((u[3] + u[-3]) + (u[3 * y] + u[-3 * y]) + (u[3 * z] + u[-3 * z]));
    sum += c[4] * ((u[4] + u[-4]) + (u[4 * y] + u[-4 * y]) + (u[4 * z] + u[-4 * z]));
    return sum;
}

/* Overwrites the field before last with the next one, row by row. */
static void wave_step(struct wave *w, const struct grid *g)
{
    ptrdiff_t stride_y = (ptrdiff_t)g->stride[1];
    ptrdiff_t stride_z = (ptrdiff_t)g->stride[0];
    for (int z = 0; z < g->count[0]; z++) {
        for (int y = 0; y < g->count[1]; y++) {
            size_t row = grid_index(g, z, y, 0);
            float *restrict before = w->before + row;
            const float *restrict now = w->now + row;
            const float *restrict courant2 = w->courant2 + row;
            const float *restrict sponge = w->sponge[2];
            float outer = w->sponge[0][z] * w->sponge[1][y];
            for (int x = 0; x < g->count[2]; x++) {
                float damping = outer * sponge[x];
                float change = courant2[x] * laplacian(now + x, stride_y, stride_z);
                before[x] = damping * (2 * now[x] - damping * before[x] + change);
            }
        }
    }
    float *next = w->before;
    w->before = w->now;
    w->now = next;
}

/* A Ricker wavelet, spread over a small ball so that the source does not dominate the field. */
static void wave_inject(struct wave *w, const struct grid *g, int step)
{
    double t = step * time_step() - 1.2 / peak_frequency;
    double a = PI * peak_frequency * t;
    double wavelet = 1000.0 * (1.0 - 2.0 * a * a) * exp(-a * a);

    int reach = (int)(3 * source_radius);
    int centre[3] = {g->size[0] / 3, g->size[1] / 2, g->size[2] / 2};
    int low[3];
    int high[3];
    for (int d = 0; d < 3; d++) {
        int first = centre[d] - reach - g->start[d];
        int end = centre[d] + reach + 1 - g->start[d];
        low[d] = first > 0 ? first : 0;
        high[d] = end < g->count[d] ? end : g->count[d];
        centre[d] -= g->start[d];
    }
    for (int z = low[0]; z < high[0]; z++) {
        for (int y = low[1]; y < high[1]; y++) {
            for (int x = low[2]; x < high[2]; x++) {
                double dz = z - centre[0];
                double dy = y - centre[1];
                double dx = x - centre[2];
                double r2 = (dz * dz + dy * dy + dx * dx) / (source_radius * source_radius);
                size_t i = grid_index(g, z, y, x);
                w->now[i] += w->courant2[i] * (float)(wavelet * exp(-r2));
            }
        }
    }
}

static char *file_name(const char *prefix, const char *suffix)
{
    int length = snprintf(NULL, 0, "%s%s", prefix, suffix);
    if (length < 0) {
        app_fail("cannot form a file name");
    }
    char *name = app_allocate((size_t)length + 1, 1);
    snprintf(name, (size_t)length + 1, "%s%s", prefix, suffix);
    return name;
}

static void simulate(const struct options *o, const struct grid *g, struct io_stats *io)
{
    char *snapshot_path = file_name(o->prefix, ".snapshots");
    char *checkpoint_path = file_name(o->prefix, ".checkpoint");
    char *trace_path = file_name(o->prefix, ".traces");

    struct wave w;
    wave_create(&w, g);
    int first = 0;
    if (o->restart) {
        first = checkpoint_read(g, checkpoint_path, w.now, w.before, io);
    }
    struct traces traces;
    traces_open(&traces, g, trace_path, o->snapshot_interval, first);
    MPI_File snapshots = snapshots_open(g, snapshot_path, o->restart, io);

    for (int step = first; step < o->steps; step++) {
        grid_exchange(g, w.now);
        wave_step(&w, g);
        wave_inject(&w, g, step);
        traces_record(&traces, w.now);

        int done = step + 1;
        bool checkpoint = o->checkpoint_interval > 0 && done % o->checkpoint_interval == 0;
        /* A checkpoint is complete only with the traces up to its step. */
        if (checkpoint || traces.used == traces.capacity) {
            traces_gather(&traces, g);
        }
        if (done % o->snapshot_interval == 0) {
            snapshots_write(g, snapshots, snapshot_path, done / o->snapshot_interval - 1, w.now,
                            io);
        }
        if (checkpoint) {
            checkpoint_write(g, checkpoint_path, done, w.now, w.before, io);
        }
    }
    snapshots_close(snapshots, snapshot_path, io);
    traces_close(&traces, g);
    wave_free(&w);
    free(snapshot_path);
    free(checkpoint_path);
    free(trace_path);
}

static void report(const struct grid *g, const struct io_stats *io, double total)
{
    double mine[2] = {io->seconds, total};
    double slowest[2] = {0, 0};
    long long bytes = 0;
    MPI_Reduce(&io->bytes, &bytes, 1, MPI_LONG_LONG, MPI_SUM, 0, g->comm);
    MPI_Reduce(mine, slowest, 2, MPI_DOUBLE, MPI_MAX, 0, g->comm);
    if (g->rank == 0) {
        printf("wave3d: bytes=%lld io_seconds=%.3f total_seconds=%.3f\n", bytes, slowest[0],
               slowest[1]);
    }
}

static void usage(FILE *to)
{
    fputs("Usage: wave3d [-n NXxNYxNZ] [-s STEPS] [-i STEPS] [-c STEPS] [-r] [-o PREFIX]\n"
          "Simulates acoustic waves in a layered earth on all ranks of the job.\n\n"
          "  -n NXxNYxNZ  grid cells (160x160x128)\n"
          "  -s STEPS     time steps in all, also of a restarted run (240)\n"
          "  -i STEPS     steps between snapshots (40)\n"
          "  -c STEPS     steps between checkpoints (0: none)\n"
          "  -r           continue from PREFIX.checkpoint\n"
          "  -o PREFIX    output files start with this (wave3d)\n"
          "  -h           this help\n",
          to);
}

/* Returns 0 to run, 1 when help was asked for, 2 on a wrong command line. */
static int parse_options(struct options *o, int argc, char **argv)
{
    long long extents[3] = {160, 160, 128};
    int bad = 0;
    int option = 0;
    while (bad == 0 && (option = getopt(argc, argv, "n:s:i:c:o:rh")) != -1) {
        switch (option) {
        case 'n':
            bad = app_parse_extents(optarg, 3, INT_MAX - 2 * HALO, extents) != 3;
            break;
        case 's':
            bad = app_parse_int(optarg, 0, &o->steps);
            break;
        case 'i':
            bad = app_parse_int(optarg, 1, &o->snapshot_interval);
            break;
        case 'c':
            bad = app_parse_int(optarg, 0, &o->checkpoint_interval);
            break;
        case 'o':
            o->prefix = optarg;
            break;
        case 'r':
            o->restart = true;
            break;
        case 'h':
            return 1;
        default:
            return 2;
        }
    }
    for (int d = 0; d < 3; d++) {
        o->size[d] = (int)extents[2 - d];
    }
    return bad != 0 || optind != argc ? 2 : 0;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    app_set_name("wave3d");
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);

    struct options options = {.steps = 240, .snapshot_interval = 40, .prefix = "wave3d"};
    opterr = rank == 0;
    int parsed = parse_options(&options, argc, argv);
    if (parsed != 0) {
        if (rank == 0) {
            usage(parsed == 1 ? stdout : stderr);
        }
        MPI_Finalize();
        return parsed == 1 ? 0 : 2;
    }

    double begin = MPI_Wtime();
    struct grid grid;
    struct io_stats io = {0};
    grid_create(&grid, options.size);
    simulate(&options, &grid, &io);
    report(&grid, &io, MPI_Wtime() - begin);
    grid_free(&grid);
    MPI_Finalize();
    return 0;
}
