/*
 * perf_file.c - the file operations of zmpi-perf. The timed part is what a program waits for: open,
 * the call, MPI_File_sync if asked for, close. What is compressed at the close alone, of
 * independent writes below 1 MiB, is missing in the breakdown unless MPI_File_sync is asked for.
 */
#include <string.h>

#include "app_common.h"
#include "perf.h"

/* Hints are the plain file's as well, where nobody reads them. */
static MPI_Info hints(const struct perf_run *r)
{
    const struct perf_data *d = r->data;
    const struct perf_variant *v = r->variant;
    MPI_Info info;
    char shape[96], components[16];
    MPI_Info_create(&info);
    if (v->bound != NULL) {
        snprintf(shape, sizeof shape, "%zux%zux%zu", d->slices, d->extent[1], d->extent[2]);
        MPI_Info_set(info, "zmpi_error_bound", v->bound);
        MPI_Info_set(info, "zmpi_codec", v->codec);
        MPI_Info_set(info, "zmpi_device", v->device);
        MPI_Info_set(info, "zmpi_shape", shape);
        if (r->options->components > 0) {
            snprintf(components, sizeof components, "%d", d->components);
            MPI_Info_set(info, "zmpi_components", components);
        }
    }
    return info;
}

static MPI_File open_file(const struct perf_run *r, int mode)
{
    MPI_File file;
    MPI_Info info = hints(r);
    app_check_io(MPI_File_open(MPI_COMM_WORLD, r->path, mode, info, &file), "MPI_File_open",
                 r->path);
    MPI_Info_free(&info);
    if (perf_library_is_container(file) != (r->variant->bound != NULL)) {
        app_fail_together("%s is %s: a rules file (ZMPI_CONFIG), or several libzmpi.so?", r->path,
                          r->variant->bound != NULL ? "not compressed" : "compressed");
    }
    return file;
}

static MPI_Offset place_of(const struct perf_data *d, int rank)
{
    return (MPI_Offset)((size_t)rank * d->block * d->width);
}

static void write_block(const struct perf_run *r, MPI_File file, bool collective)
{
    const struct perf_data *d = r->data;
    MPI_Offset at = place_of(d, d->rank);
    MPI_Status status;
    int count = (int)d->block;
    int rc = collective ? MPI_File_write_at_all(file, at, r->send, count, d->type, &status)
                        : MPI_File_write_at(file, at, r->send, count, d->type, &status);
    app_check_io(rc, "writing", r->path);
    app_check_count(&status, d->type, d->block, "writing", r->path);
}

/* The next rank's block: one that this node may not have in its cache. */
static void read_block(const struct perf_run *r, MPI_File file, bool collective)
{
    const struct perf_data *d = r->data;
    MPI_Offset at = place_of(d, (d->rank + 1) % d->ranks);
    MPI_Status status;
    int count = (int)d->block;
    int rc = collective ? MPI_File_read_at_all(file, at, r->recv, count, d->type, &status)
                        : MPI_File_read_at(file, at, r->recv, count, d->type, &status);
    app_check_io(rc, "reading", r->path);
    app_check_count(&status, d->type, d->block, "reading", r->path);
}

/* The errors that the block which read_block reads may have. found: the bound that a ratio took on
 * this rank. */
static void find_limits(const struct perf_run *r, const struct perf_operation *op, double found,
                        struct perf_limit limit[PERF_COMPONENTS])
{
    const struct perf_data *d = r->data;
    struct perf_range range[PERF_COMPONENTS];
    perf_ranges_clear(range);
    size_t writer = (size_t)((d->rank + 1) % d->ranks);
    if (op->is_collective_file) {
        perf_data_range(d, 0, d->block * (size_t)d->ranks, range);
    } else {
        perf_data_range(d, writer * d->block, d->block, range);
    }
    if (perf_bound_is_ratio(r->variant)) {
        MPI_Allreduce(MPI_IN_PLACE, &found, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
    perf_limits(r->variant, range, found, limit);
}

static void verify(struct perf_run *r, const struct perf_operation *op, struct perf_part *part)
{
    const struct perf_data *d = r->data;
    struct perf_limit limit[PERF_COMPONENTS];
    find_limits(r, op, part->bound, limit);
    size_t first = (size_t)((d->rank + 1) % d->ranks) * d->block;
    r->check = (struct perf_check){0};
    if (r->options->self_test) {
        perf_data_corrupt(d, r->recv, d->block, limit);
    }
    perf_data_check(d, r->recv, first, d->block, limit, &r->check);
    perf_verdict(r, op, d->block, limit);
    memcpy(part->largest, r->check.largest, sizeof part->largest);
}

static void repeat_write(struct perf_run *r, const struct perf_operation *op,
                         struct perf_part *part)
{
    app_delete_file(MPI_COMM_WORLD, r->path);
    double start = MPI_Wtime();
    MPI_File file = open_file(r, MPI_MODE_CREATE | MPI_MODE_WRONLY);
    write_block(r, file, op->is_collective_file);
    perf_library_file_part(file, part);
    /* What is held back until then counts in the ratio, which warm-ups tell, or has no bound yet.
     */
    if (r->options->sync || r->warmup || (perf_bound_is_ratio(r->variant) && !(part->stored > 0))) {
        app_check_io(MPI_File_sync(file), "MPI_File_sync", r->path);
        perf_library_file_part(file, part);
    }
    app_check_io(MPI_File_close(&file), "MPI_File_close", r->path);
    part->seconds = MPI_Wtime() - start;

    memset(r->recv, 0x55, r->data->block * r->data->width);
    MPI_Barrier(MPI_COMM_WORLD);
    file = open_file(r, MPI_MODE_RDONLY);
    read_block(r, file, true);
    app_check_io(MPI_File_close(&file), "MPI_File_close", r->path);
    verify(r, op, part);
}

/* Both kinds of reading read a file that was written collectively. */
static void write_for_reading(struct perf_run *r, const struct perf_operation *op)
{
    (void)op;
    app_delete_file(MPI_COMM_WORLD, r->path);
    MPI_File file = open_file(r, MPI_MODE_CREATE | MPI_MODE_WRONLY);
    write_block(r, file, true);
    app_check_io(MPI_File_sync(file), "MPI_File_sync", r->path); /* what is held back counts */
    perf_library_file_part(file, &r->written);
    app_check_io(MPI_File_close(&file), "MPI_File_close", r->path);
}

static void repeat_read(struct perf_run *r, const struct perf_operation *op, struct perf_part *part)
{
    memset(r->recv, 0x55, r->data->block * r->data->width);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    MPI_File file = open_file(r, MPI_MODE_RDONLY);
    read_block(r, file, strcmp(op->name, "read_at_all") == 0);
    perf_library_file_part(file, part);
    app_check_io(MPI_File_close(&file), "MPI_File_close", r->path);
    part->seconds = MPI_Wtime() - start;
    part->raw = r->written.raw;
    part->stored = r->written.stored;
    part->bound = r->written.bound;
    verify(r, op, part);
}

static void remove_file(struct perf_run *r, const struct perf_operation *op)
{
    (void)op;
    app_delete_file(MPI_COMM_WORLD, r->path);
}

static size_t one_block(const struct perf_data *d)
{
    return d->block;
}

static double all_blocks(const struct perf_data *d)
{
    return (double)d->block * (double)d->width * d->ranks;
}

static const struct perf_operation operations[] = {
    {"write_at_all", NULL, remove_file, repeat_write, one_block, one_block, all_blocks, true, true,
     NULL},
    {"write_at", NULL, remove_file, repeat_write, one_block, one_block, all_blocks, true, false,
     NULL},
    {"read_at_all", write_for_reading, remove_file, repeat_read, one_block, one_block, all_blocks,
     true, true, NULL},
    {"read_at", write_for_reading, remove_file, repeat_read, one_block, one_block, all_blocks, true,
     true, NULL},
};

const struct perf_operation *perf_file_operation(const char *name)
{
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        if (strcmp(name, operations[i].name) == 0) {
            return operations + i;
        }
    }
    return NULL;
}

const char *perf_file_names(void)
{
    return "write_at_all, write_at, read_at_all, read_at";
}
