/*
 * components.c - a write call of several variables, piece by piece: a record for each component of
 * a piece. These records have one order and lie one behind the other, so that a reader finds them
 * together (format.md 2.4).
 */
#define _GNU_SOURCE // MADV_HUGEPAGE
#include "transfer/components.h"
#include "judge/shape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Added to the number of blocks, to tell it from that of interleaved components when ranks exchange
 * it. */
enum { BLOCKS = 1000 };

static size_t number_of(const struct zplan *p)
{
    return (size_t)abs(p->components);
}

/* ---- is it one? ---- */

/* Are the runs in the file regular, and each of them whole points? */
static bool has_whole_points(const struct zplan *p, int n)
{
    const struct zmpi_extent *e = &p->extent;
    return e->levels < ZMPI_EXTENT_LEVELS &&
           e->run % ((size_t)n * zmpi_type_size(p->memory.element)) == 0;
}

/* Returns the number that the program or the user sets, if it is possible. */
static int given_components(struct zfile *f, const struct zplan *p, size_t count)
{
    const int n = f->options.components;
    const size_t parts = (size_t)abs(n);
    if (count % parts == 0 && (n < 0 || has_whole_points(p, n)))
        return n;
    if (f->rank == 0 && !f->data.components_warned && count > (size_t)f->options.exact_below)
        zmpi_log(
            ZMPI_LOG_WARN,
            "%s: a call of %zu values cannot be %zu components, or its view cuts through points: "
            "it stays one array (zmpi_components, ZMPI_COMPONENTS)",
            f->path, count, parts);
    f->data.components_warned |= count > (size_t)f->options.exact_below;
    return 1;
}

/* Does the view's type lie in the file such that the call is made of whole arrays of it, or whole
 * points? */
static bool view_tells(const struct zfile *f, const struct zplan *p, int n)
{
    const struct ztype *t = &f->view.file;
    const uint64_t point = (uint64_t)abs(n) * zmpi_type_size(t->element);
    if (t->element != p->memory.element || t->size == 0)
        return false;
    if (n < 0)
        return p->position % t->size == 0 && p->memory.bytes == t->size;
    return p->position % point == 0 && p->memory.bytes % point == 0;
}

/* Returns the number in the view's datatype, else the buffer's. Few points tell nothing, since they
 * are staged together with others. */
static int of_datatype(const struct zfile *f, const struct zplan *p, size_t count)
{
    int n = zextents_components(&f->view.file.extents);
    if (n == 1 || !view_tells(f, p, n))
        n = p->memory.known ? 1 : zextents_components(&p->memory.extents);
    const size_t parts = (size_t)abs(n);
    if (n == 1 || count % parts || count / parts < ZMPI_COMPONENTS_LEAST)
        return 1;
    return n < 0 || has_whole_points(p, n) ? n : 1;
}

/* Atomic mode and a device that writes take nothing apart. */
static bool stays_whole(struct zfile *f, const struct zmemory *m, size_t count)
{
    if (!f->session.atomic && !f->options.nic_write)
        return false;
    zmixed_look(f, m->element, m->data, count, f->session.atomic ? ZMIXED_ATOMIC : ZMIXED_DEVICE);
    return true;
}

int zcomponents_look(struct zfile *f, const struct zplan *p)
{
    const struct zmemory *m = &p->memory;
    const bool is_float = m->element == ZMPI_F32 || m->element == ZMPI_F64;
    const size_t width = zmpi_type_size(m->element), count = m->bytes / width;
    const enum zmpi_mode mode = zfile_bound(f, m->element).mode;
    bool is_new;
    int cut = 1;
    if (!m->bytes)
        return 0;
    if (f->options.components == 1 || !is_float || m->exact || !f->view.increasing ||
        m->bytes % width || mode == ZMPI_LOSSLESS || stays_whole(f, m, count))
        return 1;
    if (f->options.components)
        return given_components(f, p, count);
    int n = of_datatype(f, p, count);
    if (n != 1)
        return n;
    n = zmpi_components_recall(&f->data.components, m->element, f->options.threshold, m->data,
                               count, &is_new, zmixed_may_look(f, count) ? &cut : NULL);
    zmixed_say(f, cut, ZMIXED_CUT);
    if (!has_whole_points(p, n)) {
        zmixed_say(f, n, ZMIXED_CUT);
        return 1;
    }
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

int zcomponents_agreed(struct zfile *f, int mine, const double said[2])
{
    if (isfinite(said[0]) && said[0] < -said[1] && mine > 1 && !f->options.components)
        zmixed_say(f, mine, ZMIXED_CUT);
    if (!isfinite(said[0]) || said[0] < -said[1])
        return 1;
    return said[0] > BLOCKS ? -(int)(said[0] - BLOCKS) : (int)said[0];
}

/* ---- ranges ---- */

/* A call of all ranks of comm. */
struct call {
    struct zfile *file;
    struct zplan *plan;
    MPI_Comm comm;
    size_t component; /* the component whose range is searched */
};

/* Finds the ranges of components [first, end) on this rank. */
static void scan(const struct zfile *f, const struct zplan *p, size_t first, size_t end,
                 double threshold, const struct zmpi_fills *fills, struct zmpi_range range[])
{
    const enum zmpi_type type = p->memory.element;
    const uint64_t bytes = p->memory.bytes / number_of(p);
    for (size_t c = first; c < end; c++)
        range[c] = ZMPI_RANGE_EMPTY;
    if (p->components > 0) {
        zmpi_components_range(type, p->memory.data, p->memory.bytes / zmpi_type_size(type),
                              p->components, (int)first, (int)end, threshold, fills,
                              zruntime_threads(&f->options), range);
        return;
    }
    for (size_t c = first; c < end && bytes; c++)
        zmpi_range_without(type, p->memory.data + c * bytes, bytes / zmpi_type_size(type),
                           threshold, fills, zruntime_threads(&f->options), &range[c]);
}

void zcomponents_range(struct zfile *f, struct zplan *p, int components)
{
    const struct zmpi_bound bound = zfile_bound(f, p->memory.element);
    const double start = zmpi_seconds();
    if (!p->memory.bytes || p->memory.holder || !zmpi_bound_needs_range(&bound))
        return;
    p->components = components;
    scan(f, p, 0, number_of(p), f->options.threshold, &f->options.fill, p->range);
    p->components = 0;
    p->ranged = components;
    f->stats.n.seconds_scan += zmpi_seconds() - start;
}

static struct zmpi_fill fill_of(const struct zplan *p, size_t c, const struct zmpi_range *range)
{
    const enum zmpi_type type = p->memory.element;
    const uint64_t bytes = p->memory.bytes / number_of(p);
    if (!bytes)
        return ZMPI_FILL_NONE;
    if (p->components > 0)
        return zmpi_component_fill(type, p->memory.data, p->memory.bytes / zmpi_type_size(type),
                                   p->components, (int)c, range);
    struct zmpi_taken taken;
    zmpi_sample_take(&taken, type, p->memory.data + c * bytes, bytes / zmpi_type_size(type));
    return zmpi_fill_look(&taken, range);
}

/* A zmpi_fill_scan_fn. */
static bool range_below(void *context, double threshold, const struct zmpi_fills *fills,
                        struct zmpi_range *range)
{
    const struct call *call = context;
    struct zmpi_range each[ZMPI_COMPONENTS_MOST];
    const size_t c = call->component;
    scan(call->file, call->plan, c, c + 1, threshold, fills, each);
    *range = each[c];
    if (call->comm == MPI_COMM_NULL)
        return true;
    double mine[3] = {range->min, -range->max, range->fill}, all[3];
    if (PMPI_Allreduce(mine, all, 3, MPI_DOUBLE, MPI_MIN, call->comm))
        return false;
    *range = (struct zmpi_range){all[0], -all[1], all[2]};
    return true;
}

/* Merges what the ranks know: ranges, fill values, and the number of pieces. */
static int agree(struct zplan *p, MPI_Comm comm, struct zmpi_fill fill[], uint64_t *rounds)
{
    const size_t n = number_of(p);
    enum { EACH = 3 + ZMPI_FILL_SAID, MOST = EACH * ZMPI_COMPONENTS_MOST + 1 };
    double mine[MOST], all[MOST];
    for (size_t c = 0; c < n; c++) {
        mine[EACH * c] = p->range[c].min;
        mine[EACH * c + 1] = -p->range[c].max;
        mine[EACH * c + 2] = p->range[c].fill;
        zmpi_fill_say(fill[c], &mine[EACH * c + 3]);
    }
    mine[EACH * n] = -(double)*rounds;
    int rc = PMPI_Allreduce(mine, all, (int)(EACH * n + 1), MPI_DOUBLE, MPI_MIN, comm);
    if (rc)
        return rc;
    for (size_t c = 0; c < n; c++) {
        p->range[c] = (struct zmpi_range){all[EACH * c], -all[EACH * c + 1], all[EACH * c + 2]};
        fill[c] = zmpi_fill_heard(&all[EACH * c + 3]);
    }
    *rounds = (uint64_t)-all[EACH * n];
    return MPI_SUCCESS;
}

/* Finds the ranges of all components over all ranks, without fill values. */
static int find_ranges(struct zfile *f, struct zplan *p, MPI_Comm comm, uint64_t *rounds)
{
    struct call call = {f, p, comm, 0};
    struct zmpi_fill fill[ZMPI_COMPONENTS_MOST];
    const struct zmpi_bound bound = f->options.bound;
    const bool needed = zmpi_bound_needs_range(&bound);
    const size_t n = number_of(p);
    const double start = zmpi_seconds();
    for (size_t c = 0; c < n; c++) {
        fill[c] = ZMPI_FILL_NONE;
        p->fills[c] = f->options.fill;
    }
    if (!needed)
        memset(p->range, 0, sizeof p->range);
    else if (p->ranged != p->components)
        scan(f, p, 0, n, f->options.threshold, &f->options.fill, p->range);
    for (size_t c = 0; c < n && needed; c++)
        fill[c] = fill_of(p, c, &p->range[c]);
    int rc = comm == MPI_COMM_NULL ? MPI_SUCCESS : agree(p, comm, fill, rounds);
    for (; call.component < n && !rc && needed; call.component++)
        zmpi_fill_exclude(fill[call.component], f->options.threshold, range_below, &call,
                          &p->fills[call.component], &p->range[call.component]);
    f->stats.n.seconds_scan += zmpi_seconds() - start;
    return rc;
}

/* ---- shape ---- */

/* Finds the shape of one component from a datatype that has the components as its innermost
 * extent. */
static bool shape_of_extents(const struct zextents *e, size_t n, size_t points, size_t shape[3])
{
    const size_t row = e->n[1], rows = e->count > 2 ? e->n[2] : 1;
    if (e->count < 2 || e->n[0] != n || e->is_complex || (e->is_point && !e->whole[1]) ||
        points % (row * rows))
        return false;
    shape[0] = points / row / rows;
    shape[1] = rows;
    shape[2] = row;
    return true;
}

/* Finds the shape of one component from the datatypes, from the shape of all, or from the runs in
 * the file. */
static void shape_of_points(const struct zfile *f, const struct zplan *p, size_t points,
                            size_t shape[3])
{
    const size_t n = number_of(p), *all = p->shape;
    if (p->shape_from == ZMPI_SHAPE_VIEW &&
        shape_of_extents(&f->view.file.extents, n, points, shape))
        return;
    if (p->shape_from == ZMPI_SHAPE_DATATYPE &&
        shape_of_extents(&p->memory.extents, n, points, shape))
        return;
    const struct zmpi_extent *e = &p->extent;
    const size_t run = e->run / (n * zmpi_type_size(p->memory.element));
    size_t row = e->levels ? run : points, rows = 0;
    if (all[2] == n) {
        row = all[1];
    } else if (all[2] % n == 0) {
        row = all[2] / n;
        rows = all[1];
    }
    if (row < 2 || points % row)
        row = points;
    if (!rows && run > row && run % row == 0)
        rows = run / row;
    else if (!rows && run == row && e->levels)
        rows = e->count[0];
    if (!rows || points / row % rows)
        rows = points / row;
    shape[0] = points / row / rows;
    shape[1] = rows;
    shape[2] = row;
}

static void shape_of_block(const struct zplan *p, size_t count, size_t shape[3])
{
    const size_t n = number_of(p);
    memcpy(shape, p->shape, 3 * sizeof *shape);
    if (shape[0] % n == 0) {
        shape[0] /= n;
    } else if (shape[0] == 1 && shape[1] % n == 0) {
        shape[1] /= n;
    } else {
        shape[0] = shape[1] = 1;
        shape[2] = count;
    }
}

/* Sets p->shape to that of one component. */
static void find_shape(struct zfile *f, struct zplan *p)
{
    const enum zmpi_type type = p->memory.element;
    const size_t count = p->memory.bytes / zmpi_type_size(type) / number_of(p);
    size_t shape[3];
    if (p->components < 0)
        shape_of_block(p, count, shape);
    else
        shape_of_points(f, p, count, shape);
    memcpy(p->shape, shape, sizeof shape);
    if (shape[0] == 1 && shape[1] == 1)
        zplan_shape_of_data(f, p, p->components < 0 ? 1 : p->components, count);
}

/* ---- pieces ---- */

/* Returns memory in huge pages where the system has them: components are written to many places of
 * it at a time. */
static unsigned char *large_memory(uint64_t bytes)
{
    const size_t huge = (size_t)2 << 20, size = (bytes + huge - 1) / huge * huge;
    unsigned char *memory = aligned_alloc(huge, size);
    if (memory && bytes >= huge)
        madvise(memory, size, MADV_HUGEPAGE); /* a hint only */
    return memory;
}

/* Memory for the components of a piece. */
static bool has_room(struct zfile *f, const struct zplan *p)
{
    const uint64_t piece = p->memory.bytes < p->most ? p->memory.bytes : p->most;
    const uint64_t bytes =
        piece + number_of(p) * ZCOMPONENTS_APART * zmpi_type_size(p->memory.element);
    if (p->components < 0 || bytes <= f->component_capacity)
        return true;
    free(f->component);
    f->component = large_memory(bytes);
    f->component_capacity = f->component ? bytes : 0;
    return f->component;
}

int zcomponents_begin(struct zfile *f, struct zplan *p, int components, MPI_Comm comm,
                      uint64_t *rounds)
{
    /* Devices cannot take components apart. */
    int failed = zplan_failed(f, p, zmemory_to_host(&p->memory), "writing");
    p->components = components; /* even with nothing to write */
    if (!has_room(f, p)) {
        failed = zplan_failed(f, p, ZMPI_ERR_MEMORY, "writing");
        p->components = components;
    }
    if (p->memory.bytes)
        find_shape(f, p);
    uint64_t pieces = zplan_pieces(f, p);
    int rc = find_ranges(f, p, comm, &pieces);
    if (!rc && f->options.bound.mode == ZMPI_RATIO)
        rc = zcomponents_search(f, p, comm);
    if (rounds)
        *rounds = pieces;
    return rc ? rc : failed;
}

/* Makes the extent of component c of such a piece. */
static enum zmpi_status extent_of(const struct zplan *p, uint64_t begin, uint64_t bytes, size_t c,
                                  struct zmpi_extent *extent)
{
    const struct zmpi_extent *e = &p->extent;
    const uint64_t width = zmpi_type_size(p->memory.element), point = number_of(p) * width;
    const uint64_t run = bytes < e->run ? bytes : e->run, points = run / point;
    uint64_t at;
    *extent = (struct zmpi_extent){.run = width};
    extent->lo = zmpi_extent_run(e, begin / e->run, &at).offset + begin % e->run + c * width;
    if (points > 1) {
        extent->count[0] = points;
        extent->stride[0] = point;
        extent->levels = 1;
    }
    uint64_t left = bytes / run; /* counts runs, then units of each level */
    for (unsigned level = 0; left > 1; level++) {
        const uint64_t many = left < e->count[level] ? left : e->count[level];
        extent->count[extent->levels] = many;
        extent->stride[extent->levels++] = e->stride[level];
        left /= many;
    }
    return zmpi_extent_close(extent);
}

int zcomponents_encode_next(struct zfile *f, struct zplan *p, uint64_t *begin)
{
    const uint64_t bytes = zplan_cut(f, p, *begin);
    const size_t n = number_of(p), width = zmpi_type_size(p->memory.element);
    const uint64_t order = f->log.last_here = zencode_order(f);
    int rc = MPI_SUCCESS;
    const size_t plane = zcomponents_split(f, p, *begin, bytes);
    /* Room for all records at once: growing for each of them would copy the earlier ones. Each asks
     * for its own room again, and says if there is none. */
    zencode_reserve(f, n * zencode_capacity(bytes / n, 1));
    for (size_t c = 0; c < n && !rc; c++) {
        struct zpiece piece = {.data = f->component + c * plane * width,
                               .element = p->memory.element,
                               .row = p->shape[2],
                               .rows = p->shape[1],
                               .range = &p->range[c],
                               .fills = &p->fills[c],
                               .component = (int)c,
                               .order = &order,
                               .big_endian = p->memory.big_endian};
        const enum zmpi_status status = extent_of(p, *begin, bytes, c, &piece.extent);
        piece.search = zcomponents_bound(f, p, (int)c);
        rc = status ? zfile_raise_status(f, status, "writing") : zencode_piece(f, &piece);
    }
    *begin += bytes;
    return rc;
}
