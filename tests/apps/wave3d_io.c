/* wave3d: snapshots, checkpoints and receiver traces. */
#include "app_common.h"
#include "wave3d.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Checkpoint file: a label (bytes), a header (ints), then the two fields. */
#define LABEL_BYTES        32
#define HEADER_INTS        8
#define CHECKPOINT_VERSION 1
static const char checkpoint_label[LABEL_BYTES] = "wave3d checkpoint";
static const MPI_Offset header_at = LABEL_BYTES;
static const MPI_Offset fields_at = LABEL_BYTES + HEADER_INTS * (MPI_Offset)sizeof(int);

/* Receivers form a square lattice with this spacing in x and y, at one depth. */
#define RECEIVER_SPACING 4

/* A rank without a block takes part in collective calls with count 0. */
static int block_count(const struct grid *g)
{
    return g->empty ? 0 : 1;
}

static void account(const struct grid *g, struct io_stats *io)
{
    io->bytes += (long long)(g->own_cells * sizeof(float));
}

/*
 * All snapshots are one array [time][z][y][x]. The view is tiled over the file, so snapshot k of
 * the own block simply starts k blocks into the view.
 */
MPI_File snapshots_open(const struct grid *g, const char *path, bool restart, struct io_stats *io)
{
    double begin = MPI_Wtime();
    if (!restart) {
        app_delete_file(g->comm, path);
    }
    MPI_File file = MPI_FILE_NULL;
    int mode = MPI_MODE_CREATE | (restart ? MPI_MODE_RDWR : MPI_MODE_WRONLY);
    int rc = MPI_File_open(g->comm, path, mode, MPI_INFO_NULL, &file);
    app_check_io(rc, "MPI_File_open", path);
    rc = MPI_File_set_view(file, 0, MPI_FLOAT, g->view, "native", MPI_INFO_NULL);
    app_check_io(rc, "MPI_File_set_view", path);
    io->seconds += MPI_Wtime() - begin;
    return file;
}

void snapshots_write(const struct grid *g, MPI_File file, const char *path, int number,
                     const float *field, struct io_stats *io)
{
    double begin = MPI_Wtime();
    MPI_Offset offset = (MPI_Offset)number * (MPI_Offset)g->own_cells;
    MPI_Status status;
    int rc = MPI_File_write_at_all(file, offset, field, block_count(g), g->block, &status);
    app_check_io(rc, "MPI_File_write_at_all", path);
    app_check_count(&status, MPI_FLOAT, g->own_cells, "MPI_File_write_at_all", path);
    account(g, io);
    io->seconds += MPI_Wtime() - begin;
}

void snapshots_close(MPI_File file, const char *path, struct io_stats *io)
{
    double begin = MPI_Wtime();
    app_check_io(MPI_File_close(&file), "MPI_File_close", path);
    io->seconds += MPI_Wtime() - begin;
}

static void write_header(const struct grid *g, MPI_File file, const char *path, int step)
{
    int header[HEADER_INTS] = {CHECKPOINT_VERSION, g->size[0], g->size[1], g->size[2], step};
    MPI_Status status;
    int rc = MPI_File_write_at(file, 0, checkpoint_label, LABEL_BYTES, MPI_BYTE, &status);
    app_check_io(rc, "MPI_File_write_at", path);
    rc = MPI_File_write_at(file, header_at, header, HEADER_INTS, MPI_INT, &status);
    app_check_io(rc, "MPI_File_write_at", path);
    app_check_count(&status, MPI_INT, HEADER_INTS, "MPI_File_write_at", path);
}

void checkpoint_write(const struct grid *g, const char *path, int step, const float *now,
                      const float *before, struct io_stats *io)
{
    double begin = MPI_Wtime();
    app_delete_file(g->comm, path);
    MPI_File file = MPI_FILE_NULL;
    int rc = MPI_File_open(g->comm, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    app_check_io(rc, "MPI_File_open", path);
    if (g->rank == 0) {
        write_header(g, file, path, step);
        io->bytes += fields_at;
    }
    rc = MPI_File_set_view(file, fields_at, MPI_FLOAT, g->view, "native", MPI_INFO_NULL);
    app_check_io(rc, "MPI_File_set_view", path);

    const float *fields[2] = {now, before};
    for (int i = 0; i < 2; i++) {
        MPI_Status status;
        rc = MPI_File_write_all(file, fields[i], block_count(g), g->block, &status);
        app_check_io(rc, "MPI_File_write_all", path);
        app_check_count(&status, MPI_FLOAT, g->own_cells, "MPI_File_write_all", path);
        account(g, io);
    }
    app_check_io(MPI_File_close(&file), "MPI_File_close", path);
    io->seconds += MPI_Wtime() - begin;
}

static int read_header(const struct grid *g, MPI_File file, const char *path)
{
    char label[LABEL_BYTES] = "";
    int header[HEADER_INTS] = {0};
    if (g->rank == 0) {
        MPI_Status status;
        int rc = MPI_File_read_at(file, 0, label, LABEL_BYTES, MPI_BYTE, &status);
        app_check_io(rc, "MPI_File_read_at", path);
        rc = MPI_File_read_at(file, header_at, header, HEADER_INTS, MPI_INT, &status);
        app_check_io(rc, "MPI_File_read_at", path);
        app_check_count(&status, MPI_INT, HEADER_INTS, "MPI_File_read_at", path);
        if (memcmp(label, checkpoint_label, LABEL_BYTES) != 0 || header[0] != CHECKPOINT_VERSION) {
            app_fail("%s is not a checkpoint of this program", path);
        }
        if (memcmp(header + 1, g->size, sizeof g->size) != 0) {
            app_fail("%s holds a grid of %dx%dx%d, not %dx%dx%d", path, header[3], header[2],
                     header[1], g->size[2], g->size[1], g->size[0]);
        }
    }
    MPI_Bcast(header, HEADER_INTS, MPI_INT, 0, g->comm);
    return header[4];
}

int checkpoint_read(const struct grid *g, const char *path, float *now, float *before,
                    struct io_stats *io)
{
    double begin = MPI_Wtime();
    MPI_File file = MPI_FILE_NULL;
    int rc = MPI_File_open(g->comm, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    app_check_io(rc, "MPI_File_open", path);
    int step = read_header(g, file, path);
    rc = MPI_File_set_view(file, fields_at, MPI_FLOAT, g->view, "native", MPI_INFO_NULL);
    app_check_io(rc, "MPI_File_set_view", path);

    float *fields[2] = {now, before};
    for (int i = 0; i < 2; i++) {
        MPI_Status status;
        rc = MPI_File_read_all(file, fields[i], block_count(g), g->block, &status);
        app_check_io(rc, "MPI_File_read_all", path);
        app_check_count(&status, MPI_FLOAT, g->own_cells, "MPI_File_read_all", path);
    }
    app_check_io(MPI_File_close(&file), "MPI_File_close", path);
    io->seconds += MPI_Wtime() - begin;
    return step;
}

/* Finds the own receivers; returns their numbers in the whole lattice, own first, in `ids`. */
static int *find_receivers(struct traces *t, const struct grid *g)
{
    int depth = g->size[0] / 8;
    int per_row = (g->size[2] - 1) / RECEIVER_SPACING + 1;
    int per_column = (g->size[1] - 1) / RECEIVER_SPACING + 1;
    if (per_row > INT_MAX / per_column) {
        app_fail("too many receivers");
    }
    t->total = per_row * per_column;

    size_t most =
        (size_t)(g->count[1] / RECEIVER_SPACING + 1) * (size_t)(g->count[2] / RECEIVER_SPACING + 1);
    t->cell = app_allocate(most, sizeof *t->cell);
    int *own_ids = app_allocate(most, sizeof *own_ids);
    t->own = 0;
    int z = depth - g->start[0];
    if (z >= 0 && z < g->count[0]) {
        for (int y = 0; y < g->count[1]; y++) {
            for (int x = 0; x < g->count[2]; x++) {
                int row = g->start[1] + y;
                int column = g->start[2] + x;
                if (row % RECEIVER_SPACING == 0 && column % RECEIVER_SPACING == 0) {
                    t->cell[t->own] = grid_index(g, z, y, x);
                    own_ids[t->own++] =
                        row / RECEIVER_SPACING * per_row + column / RECEIVER_SPACING;
                }
            }
        }
    }
    MPI_Allreduce(&t->own, &t->padded, 1, MPI_INT, MPI_MAX, g->comm);
    int *ids = app_allocate((size_t)t->padded, sizeof *ids);
    for (int i = 0; i < t->padded; i++) {
        ids[i] = i < t->own ? own_ids[i] : -1;
    }
    free(own_ids);
    return ids;
}

/* A restarted run continues the file where the checkpoint was taken. */
static void open_trace_file(struct traces *t, const char *path, int first_step)
{
    t->file = fopen(path, first_step > 0 ? "r+b" : "wb");
    if (t->file == NULL) {
        app_fail("%s: %s", path, strerror(errno));
    }
    off_t end = (off_t)first_step * t->total * (off_t)sizeof(float);
    if (ftruncate(fileno(t->file), end) != 0 || fseeko(t->file, end, SEEK_SET) != 0) {
        app_fail("%s: %s", path, strerror(errno));
    }
}

void traces_open(struct traces *t, const struct grid *g, const char *path, int capacity,
                 int first_step)
{
    *t = (struct traces){.path = path};
    int *ids = find_receivers(t, g);
    /* One gather must stay within an int count. */
    t->capacity = capacity < INT_MAX / t->padded ? capacity : INT_MAX / t->padded;

    size_t padded = (size_t)t->padded;
    size_t batch = app_multiply((size_t)t->capacity, padded);
    t->samples = app_allocate(batch, sizeof *t->samples);
    if (g->rank == 0) {
        size_t ranks = (size_t)g->ranks;
        t->gathered = app_allocate(app_multiply(ranks, batch), sizeof *t->gathered);
        t->ids = app_allocate(app_multiply(ranks, padded), sizeof *t->ids);
        t->row = app_allocate((size_t)t->total, sizeof *t->row);
        open_trace_file(t, path, first_step);
    }
    MPI_Gather(ids, t->padded, MPI_INT, t->ids, t->padded, MPI_INT, 0, g->comm);
    free(ids);
}

void traces_record(struct traces *t, const float *field)
{
    float *step = t->samples + (size_t)t->used * (size_t)t->padded;
    for (int i = 0; i < t->own; i++) {
        step[i] = field[t->cell[i]];
    }
    t->used++;
}

/* Rank 0 sorts the samples of one step from the order of ranks into the order of receivers. */
static void sort_step(const struct traces *t, int ranks, int step)
{
    for (int rank = 0; rank < ranks; rank++) {
        const int *ids = t->ids + (size_t)rank * (size_t)t->padded;
        size_t at = ((size_t)rank * (size_t)t->used + (size_t)step) * (size_t)t->padded;
        for (int i = 0; i < t->padded; i++) {
            if (ids[i] >= 0) {
                t->row[ids[i]] = t->gathered[at + (size_t)i];
            }
        }
    }
}

void traces_gather(struct traces *t, const struct grid *g)
{
    if (t->used == 0) {
        return;
    }
    int count = t->used * t->padded;
    MPI_Gather(t->samples, count, MPI_FLOAT, t->gathered, count, MPI_FLOAT, 0, g->comm);
    if (g->rank == 0) {
        size_t total = (size_t)t->total;
        for (int step = 0; step < t->used; step++) {
            sort_step(t, g->ranks, step);
            if (fwrite(t->row, sizeof *t->row, total, t->file) != total) {
                app_fail("%s: %s", t->path, strerror(errno));
            }
        }
        if (fflush(t->file) != 0) {
            app_fail("%s: %s", t->path, strerror(errno));
        }
    }
    t->used = 0;
}

void traces_close(struct traces *t, const struct grid *g)
{
    traces_gather(t, g);
    if (t->file != NULL && fclose(t->file) != 0) {
        app_fail("%s: %s", t->path, strerror(errno));
    }
    free(t->cell);
    free(t->samples);
    free(t->gathered);
    free(t->ids);
    free(t->row);
}
