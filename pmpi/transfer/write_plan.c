/* write_plan.c - one write call on this rank: makes pieces of a buffer and a view. */
#include "transfer/components.h"
#include "transfer/retype.h"
#include "transfer/transfer.h"
#include "transfer/write_plan.h"
#include "close/decompress.h"
#include "mpi/runtime.h"

#include <stdlib.h>
#include <string.h>

static void find_piece(struct zplan *p, uint64_t most)
{
    p->most = most;
    uint64_t width = zmpi_type_size(p->memory.element), row = p->shape[2] * width,
             plane = p->shape[1] * row;
    uint64_t unit = plane <= most ? plane : row <= most ? row : width;
    p->piece = unit ? most / unit * unit : most;
}

/* Finds the runs, and the extent of the whole call if it has one: interleaved tiles are described
 * one by one. */
static enum zmpi_status plan_runs(const struct zfile *f, struct zplan *p)
{
    enum zmpi_status status = zview_runs(&f->view, p->position, p->memory.bytes, &p->run, &p->runs);
    if (!status && p->runs && f->view.increasing)
        status = zmpi_extent_from_runs(&p->extent, p->run, p->runs);
    return status;
}

/* Logs what a call's floats really are: once for a file, by each rank whose samples tell that. */
static void tell_of_looks(struct zfile *f, enum zmpi_type type, enum zmpi_looks looks)
{
    if (f->data.looks_warned)
        return;
    f->data.looks_warned = true;
    zmpi_log(ZMPI_LOG_WARN,
             "%s: a call writes data as MPI_%s that look like %s: such calls are exact (write them "
             "by their own datatype, or set ZMPI_ELEMENT_TYPE or the bound lossless)",
             f->path, type == ZMPI_F32 ? "FLOAT" : "DOUBLE", zmpi_looks_name(looks));
}

/* Are the floats in the other byte order, integers, or no such floats at all? Text is found
 * elsewhere. */
static void plan_order(struct zfile *f, struct zplan *p)
{
    const struct zmemory *m = &p->memory;
    f->data.judged.plain = (struct zmpi_plain){0};
    if (f->data.stays_mistyped)
        return;
    f->data.mistyped = false;
    if (m->retyped) /* its data have already confirmed the type */
        return;
    if (zfile_bound(f, m->element).mode == ZMPI_LOSSLESS)
        return;
    struct zmpi_judgement *j = &f->data.judged;
    zmpi_judge(j, zplan_sample(p), m->known);
    f->data.mistyped = j->is_wrong;
    f->data.stays_mistyped = !m->known && f->options.element_type == ZMPI_ELEMENTS_DATATYPE &&
                             zmpi_order_is_sure(&j->order);
    if (j->looks != ZMPI_LOOKS_RIGHT && !zmpi_order_is_wrong(&j->order))
        tell_of_looks(f, m->element, j->looks);
}

const struct zmpi_taken *zplan_sample(struct zplan *p)
{
    const struct zmemory *m = &p->memory;
    if (!p->sampled)
        zmpi_sample_take(&p->taken, m->element, m->data, m->bytes / zmpi_type_size(m->element));
    p->sampled = true;
    p->taken.src = m->data; /* it may have come from a device to the host */
    return &p->taken;
}

int zplan_make(struct zfile *f, const struct zrequest *r, uint64_t most, struct zplan *p)
{
    zplan_clear(p);
    p->fills[0] = f->options.fill;
    p->position = r->position;
    p->most_runs = SIZE_MAX;
    if (!zfile_may_write(f))
        return zfile_raise(f, MPI_ERR_READ_ONLY,
                           "writing: the file was opened with MPI_MODE_RDONLY");
    if (r->count < 0)
        return zfile_raise(f, MPI_ERR_COUNT, "writing: negative count");
    int rc = zmemory_pack(&p->memory, r->buf, r->count, r->datatype);
    if (rc)
        return zfile_raise(f, rc, "writing: datatype, count or memory");
    enum zmpi_status status = plan_runs(f, p);
    if (status) {
        zplan_free(p);
        return status == ZMPI_ERR_ARG
                   ? zfile_raise(f, MPI_ERR_ARG,
                                 "writing: the view's pieces overlap or lie outside the file")
                   : zfile_raise_status(f, status, "writing");
    }
    if (p->runs && !p->memory.holder)
        zdecompress_look(f, p->run, p->memory.data);
    zretype(f, p);
    plan_order(f, p);
    zplan_find_shape(f, p);
    find_piece(p, most);
    return MPI_SUCCESS;
}

void zplan_look_for_shape(struct zfile *f, struct zplan *p)
{
    if (p->shape_from != ZMPI_SHAPE_NONE || !p->memory.bytes)
        return;
    zplan_shape_of_data(f, p, 1, p->memory.bytes / zmpi_type_size(p->memory.element));
    find_piece(p, p->most);
}

size_t zplan_capacity(const struct zplan *p)
{
    if (p->components <= 0)
        return zencode_capacity(p->components ? p->most : p->piece, p->most_runs);
    return (size_t)p->components * zencode_capacity(p->most / (size_t)p->components, 1);
}

/* Finds the range of all values, from that of their components if it is known. */
static enum zmpi_status range_of_all(struct zfile *f, struct zplan *p, struct zmpi_range *range)
{
    if (!p->ranged)
        return zmemory_range(&p->memory, &f->options, f->options.threshold, &p->fills[0], range);
    for (int c = 0; c < abs(p->ranged); c++)
        zmpi_range_merge(range, &p->range[c]);
    return ZMPI_OK;
}

int zplan_range(struct zfile *f, struct zplan *p, struct zmpi_range *range, struct zmpi_fill *fill)
{
    double start = zmpi_seconds();
    struct zmpi_bound bound = zfile_bound(f, p->memory.element);
    enum zmpi_status status = ZMPI_OK;
    *range = ZMPI_RANGE_EMPTY;
    *fill = ZMPI_FILL_NONE;
    if (bound.mode == ZMPI_RATIO && p->memory.bytes) /* samples are taken on the host */
        status = zmemory_to_host(&p->memory);
    const bool needed = zmpi_bound_needs_range(&bound) && p->memory.bytes;
    if (!status && needed)
        status = range_of_all(f, p, range);
    if (!status && needed)
        *fill = zmpi_fill_look(zplan_sample(p), range);
    f->stats.n.seconds_scan += zmpi_seconds() - start;
    return zplan_failed(f, p, status, "looking for the value range");
}

/* The data of one call of all ranks of comm. */
struct call_data {
    struct zfile *file;
    struct zplan *plan;
    MPI_Comm comm;
};

/* A zmpi_fill_scan_fn. */
static bool range_below(void *context, double threshold, const struct zmpi_fills *fills,
                        struct zmpi_range *range)
{
    const struct call_data *c = context;
    struct zmemory *m = &c->plan->memory;
    const struct zmpi_bound bound = zfile_bound(c->file, m->element);
    *range = ZMPI_RANGE_EMPTY;
    bool fine = true;
    if (zmpi_bound_needs_range(&bound) && m->bytes)
        fine = !zmemory_range(m, &c->file->options, threshold, fills, range);
    if (c->comm == MPI_COMM_NULL)
        return fine;
    double mine[4] = {range->min, -range->max, range->fill, fine ? 0 : -1}, all[4];
    if (PMPI_Allreduce(mine, all, 4, MPI_DOUBLE, MPI_MIN, c->comm))
        return false;
    *range = (struct zmpi_range){all[0], -all[1], all[2]};
    return all[3] >= 0;
}

void zplan_exclude(struct zfile *f, struct zplan *p, struct zmpi_fill fill, MPI_Comm comm,
                   struct zmpi_range *range)
{
    struct call_data c = {f, p, comm};
    const double start = zmpi_seconds();
    zmpi_fill_exclude(fill, f->options.threshold, range_below, &c, &p->fills[0], range);
    f->stats.n.seconds_scan += zmpi_seconds() - start;
}

/* ---- ratio: one bound for a call ---- */

bool zplan_wants_ratio(const struct zfile *f, const struct zplan *p)
{
    if (p->small)
        return false;
    struct zmpi_bound bound = zfile_bound(f, p->memory.element);
    return bound.mode == ZMPI_RATIO && p->memory.bytes > 0;
}

/* Returns the piece that begins at `begin`, without its size and extent. */
static struct zpiece piece_at(const struct zplan *p, uint64_t begin)
{
    return (struct zpiece){.data = p->memory.data + begin,
                           .holder = p->memory.holder,
                           .element = p->memory.element,
                           .row = p->shape[2],
                           .rows = p->shape[1],
                           .fills = &p->fills[0],
                           .exact = p->small,
                           .big_endian = p->memory.big_endian,
                           .search = p->searched ? &p->search : NULL};
}

static void search_pieces(const struct zfile *f, struct zplan *p)
{
    for (uint64_t at = 0, bytes; at < p->memory.bytes; at += bytes) {
        struct zpiece piece = piece_at(p, at);
        piece.extent.bytes = bytes = zplan_cut(f, p, at);
        struct zmpi_array array = zencode_array(&piece);
        zmpi_ratio_search_add(&p->search, &array, piece.data);
    }
}

int zplan_search_ratio(struct zfile *f, struct zplan *p, const struct zmpi_range *range,
                       bool trials, MPI_Comm comm)
{
    const struct zmpi_array any = {ZMPI_F64, {1, 1, 1}};
    struct zmpi_job job;
    int rc = MPI_SUCCESS;
    double start = zmpi_seconds();
    zmpi_job_make(&any, &f->options.bound, range, &job);
    zmpi_job_threshold(&job, f->options.threshold);
    zmpi_job_fills(&job, &p->fills[0]);
    job.encoder = zmpi_options_encoder(&f->options, &job.variant);
    zmpi_ratio_search_begin(&p->search, &job, trials);
    do {
        if (zplan_wants_ratio(f, p) && zmpi_job_open(&job))
            search_pieces(f, p);
        if (comm != MPI_COMM_NULL)
            rc = PMPI_Allreduce(MPI_IN_PLACE, &p->search.sum, ZMPI_RATIO_SUMS, MPI_UINT64_T,
                                MPI_SUM, comm);
    } while (!rc && zmpi_ratio_search_next(&p->search));
    p->searched = true;
    f->stats.n.seconds_scan += zmpi_seconds() - start;
    return rc;
}

/* Makes the extent of the piece at `begin`. *bytes becomes smaller if the piece is scattered over
 * too many runs. */
static enum zmpi_status piece_extent(const struct zfile *f, struct zplan *p, uint64_t begin,
                                     uint64_t *bytes, struct zmpi_extent *extent)
{
    struct zmpi_run *run;
    size_t runs;
    if (*bytes == p->memory.bytes && f->view.increasing && p->runs <= p->most_runs) {
        *extent = p->extent; /* the extent takes over its list of runs */
        p->extent = (struct zmpi_extent){0};
        return ZMPI_OK;
    }
    enum zmpi_status status = zview_runs(&f->view, p->position + begin, *bytes, &run, &runs);
    while (!status && runs > p->most_runs) {
        free(run);
        *bytes = (*bytes / 2 + 7) / 8 * 8;
        status = zview_runs(&f->view, p->position + begin, *bytes, &run, &runs);
    }
    if (!status)
        status = zmpi_extent_from_runs(extent, run, runs);
    free(run);
    return status;
}

int zplan_encode_next(struct zfile *f, struct zplan *p, uint64_t *begin,
                      const struct zmpi_range *range)
{
    if (p->components > 0)
        return zcomponents_encode_next(f, p, begin);
    uint64_t bytes = zplan_cut(f, p, *begin);
    struct zpiece piece = piece_at(p, *begin);
    piece.range = range;
    if (p->components < 0) {
        piece.component = (int)(*begin / (p->memory.bytes / (uint64_t)-p->components));
        piece.range = &p->range[piece.component];
        piece.fills = &p->fills[piece.component];
        piece.search = zcomponents_bound(f, p, piece.component);
    }
    const struct zmpi_bound bound = zfile_bound(f, p->memory.element);
    piece.read = zmpi_bound_needs_range(&bound) ? p->memory.bytes : 0;
    enum zmpi_status status = piece_extent(f, p, *begin, &bytes, &piece.extent);
    *begin += bytes;
    return status ? zfile_raise_status(f, status, "writing") : zencode_piece(f, &piece);
}
