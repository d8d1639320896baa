/* components.c - a write call of several variables, as one call for each. */
#include "calls/components.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Numbers that tell blocks from interleaved components among ranks. */
enum { BLOCKS = 1000 };

int zcomponents_count(int components)
{
    return abs(components);
}

/* Every element lies in one run of the file. */
static bool has_whole_elements(const struct zplan *p, size_t width)
{
    if (p->memory.bytes % width)
        return false;
    for (size_t i = 0; i < p->runs; i++)
        if (p->run[i].length % width)
            return false;
    return true;
}

/* What the program or the user says, if it can be so. */
static int told(struct zfile *f, int components, size_t count)
{
    const size_t n = (size_t)zcomponents_count(components);
    if (count % n == 0 && count / n > 0)
        return components;
    if (f->rank == 0 && !f->components_told && count > (size_t)f->options.exact_below)
        zmpi_log(ZMPI_LOG_WARN,
                 "%s: a call of %zu values has no %zu components: it stays one array "
                 "(zmpi_components, ZMPI_COMPONENTS)",
                 f->path, count, n);
    f->components_told |= count > (size_t)f->options.exact_below;
    return 1;
}

int zcomponents_look(struct zfile *f, const struct zplan *p)
{
    const struct zmemory *m = &p->memory;
    const bool is_float = m->element == ZMPI_F32 || m->element == ZMPI_F64;
    const size_t width = zmpi_type_size(m->element), count = m->bytes / width;
    bool is_new;
    if (!m->bytes)
        return 0;
    if (f->options.components == 1 || !is_float || m->holder || m->exact || f->options.nic_write ||
        f->session.atomic || !f->view.increasing || !has_whole_elements(p, width))
        return 1;
    if (f->options.components)
        return told(f, f->options.components, count);
    if (zfile_bound(f, m->element).mode == ZMPI_LOSSLESS)
        return 1;
    const int n = zmpi_components_recall(&f->components, m->element, f->options.threshold, m->data,
                                         count, &is_new);
    if (is_new)
        zmpi_log(ZMPI_LOG_INFO,
                 "%s: rank %d: calls of %zu values are %d interleaved components, as their data "
                 "look: each has its own range (zmpi_components, ZMPI_COMPONENTS: another number; "
                 "1: one array)",
                 f->path, f->rank, count, n);
    return n;
}

void zcomponents_say(int components, double say[2])
{
    const double n = components < 0 ? BLOCKS - components : components;
    say[0] = components ? n : INFINITY;
    say[1] = components ? -n : INFINITY;
}

int zcomponents_agreed(const double said[2])
{
    if (!isfinite(said[0]) || said[0] < -said[1])
        return 1;
    return said[0] > BLOCKS ? -(int)(said[0] - BLOCKS) : (int)said[0];
}

int zcomponents_begin(struct zfile *f, struct zplan *p, int components)
{
    const uint64_t bytes = p->memory.bytes / (uint64_t)zcomponents_count(components);
    p->components = components;
    if (components < 0 || bytes <= f->component_room)
        return MPI_SUCCESS;
    free(f->component);
    f->component = malloc(bytes);
    f->component_room = f->component ? bytes : 0;
    return f->component ? MPI_SUCCESS : zplan_failed(f, p, ZMPI_ERR_MEMORY, "writing");
}

/* Of one component, by that of all: the fastest extent is made up of interleaved ones, the slowest
 * of blocks. */
static void shape_of_part(const size_t whole[3], size_t n, bool blocks, size_t count,
                          size_t shape[3])
{
    memcpy(shape, whole, 3 * sizeof *shape);
    if (!blocks && whole[2] % n == 0) {
        shape[2] = whole[2] / n;
        if (shape[2] == 1) {
            shape[2] = whole[1];
            shape[1] = whole[0];
            shape[0] = 1;
        }
    } else if (blocks && whole[0] % n == 0) {
        shape[0] = whole[0] / n;
    } else if (blocks && whole[0] == 1 && whole[1] % n == 0) {
        shape[1] = whole[1] / n;
    } else {
        shape[0] = shape[1] = 1;
        shape[2] = count;
    }
}

void zcomponents_plan(struct zfile *f, const struct zplan *p, int c, struct zplan *part)
{
    const size_t n = (size_t)zcomponents_count(p->components);
    const uint64_t bytes = p->memory.bytes / n;
    size_t shape[3];
    memset(part, 0, sizeof *part);
    if (!bytes)
        return;
    part->memory = (struct zmemory){
        .data = p->memory.data + (size_t)c * bytes, .bytes = bytes, .element = p->memory.element};
    if (p->components > 0) {
        zmpi_component_take(p->memory.element, p->memory.data,
                            p->memory.bytes / zmpi_type_size(p->memory.element), p->components, c,
                            f->component);
        part->memory.data = f->component;
    }
    part->position = p->position + (p->components < 0 ? (uint64_t)c * bytes : 0);
    part->components = p->components;
    part->component = c;
    part->most_runs = p->most_runs;
    shape_of_part(p->shape, n, p->components < 0, bytes / zmpi_type_size(p->memory.element), shape);
    zplan_shape(f, part, shape, p->most);
}

/* An interleaved component of what *all covers, whose runs are whole points. */
static enum zmpi_status with_stride(const struct zmpi_extent *all, size_t n, size_t c, size_t width,
                                    struct zmpi_extent *extent)
{
    const uint64_t points = all->run / (n * width);
    *extent = *all;
    extent->lo += c * width;
    extent->run = width;
    if (points > 1) {
        memmove(extent->count + 1, all->count, (ZMPI_EXTENT_LEVELS - 1) * sizeof *all->count);
        memmove(extent->stride + 1, all->stride, (ZMPI_EXTENT_LEVELS - 1) * sizeof *all->stride);
        extent->count[0] = points;
        extent->stride[0] = n * width;
        extent->levels++;
    }
    return zmpi_extent_close(extent);
}

/* The same where runs cut through points: element by element. */
static enum zmpi_status with_list(const struct zmpi_run *run, size_t n, size_t c, size_t width,
                                  size_t count, struct zmpi_extent *extent)
{
    struct zmpi_run *each = malloc(count * sizeof *each);
    uint64_t before = 0; /* bytes of the runs in front of *run */
    if (!each)
        return ZMPI_ERR_MEMORY;
    for (size_t i = 0; i < count; i++) {
        const uint64_t at = (i * n + c) * width;
        while (at >= before + run->length)
            before += run++->length;
        each[i] = (struct zmpi_run){run->offset + (at - before), width};
    }
    const enum zmpi_status status = zmpi_extent_from_runs(extent, each, count);
    free(each);
    return status;
}

enum zmpi_status zcomponents_extent(const struct zfile *f, const struct zplan *p, uint64_t begin,
                                    uint64_t bytes, struct zmpi_extent *extent)
{
    const size_t n = (size_t)p->components, width = zmpi_type_size(p->memory.element);
    struct zmpi_extent all = {0};
    struct zmpi_run *run;
    size_t runs;
    enum zmpi_status status = zview_runs(&f->view, p->position + begin * n, bytes * n, &run, &runs);
    if (!status)
        status = zmpi_extent_from_runs(&all, run, runs);
    if (!status && all.levels < ZMPI_EXTENT_LEVELS && all.run % (n * width) == 0)
        status = with_stride(&all, n, (size_t)p->component, width, extent);
    else if (!status)
        status = with_list(run, n, (size_t)p->component, width, bytes / width, extent);
    zmpi_extent_free(&all);
    free(run);
    return status;
}
