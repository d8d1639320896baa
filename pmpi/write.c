/* write.c - one write call: what it covers, in which pieces, by which way (docs/architecture.md).
 */
#include "internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Raw bytes that one record covers at most: of collective calls this, of independent ones a quarter
 * slot. While a piece is coded those before it go into the file, so that a call takes no longer
 * than the slower of both, and the first piece. */
#define COLLECTIVE_PIECE ((uint64_t)16 << 20)

/* Rounds of a call that a device may have without their having a place. */
#define MOST_OWED 3

/* One call on this rank, ready to be cut into pieces. */
struct plan {
    struct zmemory memory;
    uint64_t position;    /* in the view */
    struct zmpi_run *run; /* logical runs of the whole call */
    size_t runs;
    struct zmpi_extent extent;
    size_t shape[3];  /* of the call's elements */
    uint64_t piece;   /* bytes per piece: whole planes or rows where they fit */
    size_t most_runs; /* of a piece, so that its list fits where records go */
    bool surveyed;
    struct zmpi_survey survey; /* ratio: of the whole call */
};

static bool holds(const size_t shape[3], size_t count)
{
    struct zmpi_array a = {ZMPI_BYTES, {shape[0], shape[1], shape[2]}};
    size_t n;
    return zmpi_array_count(&a, &n) == ZMPI_OK && n == count && shape[2] > 0;
}

/* The filetype as an array: whole planes of it, or whole rows, behind one another. */
static bool shape_of_view(const struct zview *v, const struct plan *p, size_t shape[3])
{
    const struct ztype *t = &v->file;
    uint64_t row = t->shape[2] * zmpi_type_size(t->element), plane = t->shape[1] * row;
    uint64_t bytes = p->memory.bytes;
    if (t->element != p->memory.element || t->size == 0 || t->shape[2] == 1)
        return false;
    if (p->position % row || bytes % row)
        return false;
    bool planes = t->shape[1] > 1 && p->position % plane == 0 && bytes % plane == 0;
    shape[0] = planes ? bytes / plane : 1;
    shape[1] = planes ? t->shape[1] : bytes / row;
    shape[2] = t->shape[2];
    return shape[1] > 1;
}

/* A view without types (of MPI_BYTE, say) may still place rows regularly. */
static bool shape_of_extent(const struct zmpi_extent *e, size_t width, size_t shape[3])
{
    if (e->levels < 1 || e->levels > ZMPI_EXTENT_LEVELS || e->run % width)
        return false;
    shape[2] = e->run / width;
    shape[1] = e->count[0];
    shape[0] = 1;
    for (unsigned i = 1; i < e->levels; i++)
        shape[0] *= e->count[i];
    return true;
}

/* The program's word, else the view's datatype, else the buffer's, else the runs, else one
 * dimension. */
static void find_shape(const struct zfile *f, struct plan *p)
{
    size_t width = zmpi_type_size(p->memory.element), count = p->memory.bytes / width;
    if (holds(f->options.shape, count)) {
        memcpy(p->shape, f->options.shape, sizeof p->shape);
        return;
    }
    if (shape_of_view(&f->view, p, p->shape) && holds(p->shape, count))
        return;
    memcpy(p->shape, p->memory.shape, sizeof p->shape);
    if (p->shape[1] > 1 && holds(p->shape, count))
        return;
    if (shape_of_extent(&p->extent, width, p->shape) && holds(p->shape, count))
        return;
    p->shape[0] = p->shape[1] = 1;
    p->shape[2] = count;
}

static void find_piece(struct plan *p, uint64_t most)
{
    uint64_t width = zmpi_type_size(p->memory.element), row = p->shape[2] * width,
             plane = p->shape[1] * row;
    uint64_t unit = plane <= most ? plane : row <= most ? row : width;
    p->piece = unit ? most / unit * unit : most;
}

static void plan_free(struct plan *p)
{
    zmemory_free(&p->memory);
    zmpi_extent_free(&p->extent);
    free(p->run);
}

/* Runs, and the extent of the whole if it has one: tiles that interleave are described one by one.
 */
static enum zmpi_status plan_runs(const struct zfile *f, struct plan *p)
{
    enum zmpi_status status = zview_runs(&f->view, p->position, p->memory.bytes, &p->run, &p->runs);
    if (!status && p->runs && f->view.increasing)
        status = zmpi_extent_from_runs(&p->extent, p->run, p->runs);
    return status;
}

/* Are the floats in the other byte order, or integers? Few values are judged together with those
 * before. */
static void plan_order(struct zfile *f, const struct plan *p)
{
    const struct zmemory *m = &p->memory;
    if (f->stays_turned)
        return;
    f->turned = false;
    if (m->holder || zfile_bound(f, m->element).mode == ZMPI_LOSSLESS)
        return;
    if (f->order.values >= ZMPI_ORDER_ENOUGH)
        f->order = (struct zmpi_order){0};
    zmpi_order_look(&f->order, m->element, m->data, m->bytes / zmpi_type_size(m->element));
    f->turned = zmpi_order_is_other(&f->order) || zmpi_order_has_integers(&f->order);
    f->stays_turned = zmpi_order_is_sure(&f->order);
}

/* Checks the arguments too. On failure everything is freed, the error is raised, and the plan
 * covers nothing. */
static int plan_make(struct zfile *f, const struct zrequest *r, uint64_t most, struct plan *p)
{
    memset(p, 0, sizeof *p);
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
        plan_free(p);
        memset(p, 0, sizeof *p);
        return status == ZMPI_ERR_ARG
                   ? zfile_raise(f, MPI_ERR_ARG,
                                 "writing: the view's pieces overlap or lie outside the file")
                   : zfile_raise_status(f, status, "writing");
    }
    plan_order(f, p);
    find_shape(f, p);
    find_piece(p, most);
    return MPI_SUCCESS;
}

/* Bytes of the piece that begins at `begin`, which is below the end. */
static uint64_t piece_bytes(const struct zfile *f, const struct plan *p, uint64_t begin)
{
    uint64_t left = p->memory.bytes - begin, bytes = left < p->piece ? left : p->piece;
    if (!f->view.increasing) {
        uint64_t tile = f->view.file.size, rest = tile - (p->position + begin) % tile;
        bytes = bytes < rest ? bytes : rest;
    }
    return bytes;
}

static uint64_t plan_pieces(const struct zfile *f, const struct plan *p)
{
    uint64_t n = 0;
    for (uint64_t at = 0; at < p->memory.bytes; at += piece_bytes(f, p, at))
        n++;
    return n;
}

/* On failure the error is raised, and the plan covers nothing. */
static int plan_failed(struct zfile *f, struct plan *p, enum zmpi_status status, const char *what)
{
    if (!status)
        return MPI_SUCCESS;
    const struct zmpi_device *device = p->memory.holder;
    const char *problem = device && device->problem ? device->problem() : NULL;
    plan_free(p);
    memset(p, 0, sizeof *p);
    return problem ? zfile_raise(f, zstatus_class(status), "%s: device %s: %s", what, device->name,
                                 problem)
                   : zfile_raise_status(f, status, what);
}

static int plan_range(struct zfile *f, struct plan *p, struct zmpi_range *range)
{
    double start = zseconds();
    struct zmpi_bound bound = zfile_bound(f, p->memory.element);
    enum zmpi_status status = ZMPI_OK;
    *range = ZMPI_RANGE_EMPTY;
    if (bound.mode == ZMPI_RATIO && p->memory.bytes) /* samples are taken on the host */
        status = zmemory_to_host(&p->memory);
    if (!status && zmpi_bound_needs_range(&bound) && p->memory.bytes)
        status =
            zmemory_range(&p->memory, f->options.threshold, zruntime_threads(&f->options), range);
    f->stats.n.seconds_scan += zseconds() - start;
    return plan_failed(f, p, status, "looking for the value range");
}

/* ---- ratio: one bound for a call ---- */

static bool wants_ratio(const struct zfile *f, const struct plan *p)
{
    struct zmpi_bound bound = zfile_bound(f, p->memory.element);
    return bound.mode == ZMPI_RATIO && p->memory.bytes > 0;
}

/* The piece that begins there, but for how much it is and where it goes. */
static struct zpiece piece_at(const struct plan *p, uint64_t begin)
{
    return (struct zpiece){.data = p->memory.data + begin,
                           .holder = p->memory.holder,
                           .element = p->memory.element,
                           .row = p->shape[2],
                           .rows = p->shape[1],
                           .survey = p->surveyed ? &p->survey : NULL};
}

static void survey_pieces(const struct zfile *f, struct plan *p)
{
    for (uint64_t at = 0, bytes; at < p->memory.bytes; at += bytes) {
        struct zpiece piece = piece_at(p, at);
        piece.extent.bytes = bytes = piece_bytes(f, p, at);
        struct zmpi_array array = zencode_array(&piece);
        zmpi_survey_add(&p->survey, &array, piece.data);
    }
}

/* comm: of all ranks that write together, even those with nothing lossy; MPI_COMM_NULL: none. */
static int plan_survey(struct zfile *f, struct plan *p, const struct zmpi_range *range, bool trials,
                       MPI_Comm comm)
{
    const struct zmpi_array any = {ZMPI_F64, {1, 1, 1}};
    struct zmpi_job job;
    int rc = MPI_SUCCESS;
    double start = zseconds();
    zmpi_job_make(&any, &f->options.bound, range, &job);
    zmpi_job_threshold(&job, f->options.threshold);
    job.encoder = zmpi_options_encoder(&f->options, &job.approximate);
    zmpi_survey_begin(&p->survey, &job, trials);
    do {
        if (wants_ratio(f, p) && zmpi_job_open(&job))
            survey_pieces(f, p);
        if (comm != MPI_COMM_NULL)
            rc = PMPI_Allreduce(MPI_IN_PLACE, &p->survey.sum, ZMPI_SURVEY_SUMS, MPI_UINT64_T,
                                MPI_SUM, comm);
    } while (!rc && zmpi_survey_next(&p->survey));
    p->surveyed = true;
    f->stats.n.seconds_scan += zseconds() - start;
    return rc;
}

/* Where the piece at `begin` goes; *bytes is made smaller if it is scattered over too many runs. */
static enum zmpi_status piece_extent(const struct zfile *f, struct plan *p, uint64_t begin,
                                     uint64_t *bytes, struct zmpi_extent *extent)
{
    struct zmpi_run *run;
    size_t runs;
    if (*bytes == p->memory.bytes && f->view.increasing && p->runs <= p->most_runs) {
        *extent = p->extent; /* the list, if it is one, goes with it */
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

/* Code the piece at *begin and move on to the next. */
static int encode_next(struct zfile *f, struct plan *p, uint64_t *begin,
                       const struct zmpi_range *range)
{
    uint64_t bytes = piece_bytes(f, p, *begin);
    struct zpiece piece = piece_at(p, *begin);
    piece.range = range;
    enum zmpi_status status = piece_extent(f, p, *begin, &bytes, &piece.extent);
    *begin += bytes;
    return status ? zfile_raise_status(f, status, "writing") : zencode_piece(f, &piece);
}

/* No room for the next piece; or, in a blocking call, enough to be written while that is coded. A
 * nonblocking one hands over as much at a time as it can: it does not wait for the file before. */
static bool outbox_is_full(const struct zfile *f, const struct plan *p, bool nonblocking)
{
    const uint64_t slot = zplace_slot_size(f);
    return (!nonblocking && f->outbox_used >= slot / 8) ||
           f->outbox_used + zencode_room(p->piece, p->most_runs) > slot;
}

/* A large write of one rank: coded at once, piece by piece. */
static int write_pieces(struct zfile *f, struct plan *p, const struct zmpi_range *range)
{
    const bool nonblocking = f->behind; /* it has the time until it is waited for */
    int rc = zstage_flush(f);
    f->behind = true;
    if (!rc && wants_ratio(f, p) && !p->surveyed && p->memory.bytes > p->piece)
        rc = plan_survey(f, p, range, true, MPI_COMM_NULL);
    for (uint64_t at = 0; at < p->memory.bytes && !rc;) {
        if (outbox_is_full(f, p, nonblocking))
            rc = zplace_slab(f);
        if (!rc)
            rc = encode_next(f, p, &at, range);
    }
    if (!rc && nonblocking)
        rc = zplace_slab(f);
    f->behind = nonblocking;
    int late = nonblocking ? MPI_SUCCESS : zbackground_wait(f);
    return rc ? rc : late;
}

/* In atomic mode nothing is held back, and nobody writes between two pieces. */
static int write_atomic(struct zfile *f, struct plan *p, const struct zmpi_range *range)
{
    int rc = zsession_atomic_begin(f, true);
    if (rc)
        return rc;
    rc = write_pieces(f, p, range);
    int placed = zplace_slab(f);
    return zsession_atomic_end(f, rc ? rc : placed);
}

static void count_written(struct zfile *f, const struct plan *p)
{
    const struct zmpi_bound bound = zfile_bound(f, p->memory.element);
    const uint64_t bytes = p->memory.bytes;
    const enum zmpi_type element = p->memory.element;
    const bool exact = f->options.bound_set && bound.mode != f->options.bound.mode;
    const bool turned = exact && (element == ZMPI_F32 || element == ZMPI_F64);
    f->stats.n.bytes_written += bytes;
    f->stats.bytes_exact += exact && !turned ? bytes : 0;
    f->stats.bytes_turned += turned ? bytes : 0;
    f->stats.bytes_typed += turned || element == ZMPI_BYTES ? 0 : bytes;
}

int zwrite_independent(struct zfile *f, const struct zrequest *r, uint64_t *done)
{
    struct plan p;
    *done = 0;
    f->stats.independent_calls++;
    int rc = plan_make(f, r, zplace_slot_size(f) / 4, &p);
    if (rc || p.memory.bytes == 0)
        return rc;
    f->untold = true;
    p.most_runs = zstage_most_runs(f);
    if (!f->session.atomic && p.memory.bytes <= zstage_limit(f) && p.runs <= p.most_runs) {
        rc = plan_failed(f, &p, zmemory_to_host(&p.memory), "writing");
        if (!rc)
            rc = zstage_write(f, &p.memory, p.shape, p.run, p.runs, NULL);
    } else {
        struct zmpi_range range;
        rc = plan_range(f, &p, &range);
        if (!rc)
            rc = f->session.atomic ? write_atomic(f, &p, &range) : write_pieces(f, &p, &range);
    }
    if (!rc) {
        *done = p.memory.bytes;
        count_written(f, &p);
    }
    plan_free(&p);
    return rc;
}

/* What all ranks must know before a collective write: the range of all data, the number of rounds,
 * and whether what any of them has is too much to be staged, or wants a ratio; whether any hands it
 * over to be written; whether any has floats that are not (byte_order.h). */
static int agree(struct zfile *f, struct zmpi_range *range, uint64_t *rounds, bool *large,
                 bool *ratio, bool *through)
{
    const double turned = f->stays_turned ? -2 : f->turned ? -1 : 0;
    double mine[8] = {range->min,      -range->max,     range->fill,       -(double)*rounds,
                      *large ? -1 : 0, *ratio ? -1 : 0, *through ? -1 : 0, turned};
    double all[8];
    int rc = PMPI_Allreduce(mine, all, 8, MPI_DOUBLE, MPI_MIN, f->comm);
    if (!rc) {
        *range = (struct zmpi_range){all[0], -all[1], all[2]};
        *rounds = (uint64_t)-all[3];
        *large = all[4] < 0;
        f->turned = all[7] < 0;
        f->stays_turned = all[7] < -1;
        *ratio = all[5] < 0 && !f->turned;
        *through = all[6] < 0;
    }
    return rc;
}

/* Nobody sees the data before the file is closed: many small calls become few records. */
static int write_staged(struct zfile *f, struct plan *p, const struct zmpi_range *range)
{
    int rc = plan_failed(f, p, zmemory_to_host(&p->memory), "writing");
    if (p->memory.bytes)
        rc = zstage_write(f, &p->memory, p->shape, p->run, p->runs, range);
    uint64_t mine = zfile_size(f);
    int told = PMPI_Allreduce(&mine, &f->container.logical_size, 1, MPI_UINT64_T, MPI_MAX, f->comm);
    return rc ? rc : told;
}

/* As long as the only round misses the ratio it is coded again, by all ranks alike. */
static int correct_round(struct zfile *f, struct plan *p, const struct zmpi_range *range,
                         bool coded)
{
    bool mine = coded && wants_ratio(f, p);
    for (int failed = MPI_SUCCESS;;) {
        uint64_t sizes[2] = {mine ? p->memory.bytes : 0, mine ? zencode_coded(f) : 0};
        int rc = PMPI_Allreduce(MPI_IN_PLACE, sizes, 2, MPI_UINT64_T, MPI_SUM, f->comm);
        if (rc || sizes[0] == 0 || !zmpi_survey_correct(&p->survey, sizes[0], sizes[1]))
            return failed ? failed : rc;
        if (mine) {
            struct zmpi_extent extent;
            uint64_t at = 0;
            zencode_undo(f, &extent);
            p->extent = extent;
            failed = encode_next(f, p, &at, range);
            mine = !failed;
        }
    }
}

/* Round by round: each rank codes a piece, all are placed together, and written while the next
 * round is coded. */
static int write_rounds(struct zfile *f, struct plan *p, const struct zmpi_range *range,
                        uint64_t rounds)
{
    uint64_t at = 0;
    int owed = zsettle_owed(f, 0), rc = zstage_flush(f);
    rc = owed ? owed : rc;
    for (uint64_t k = 0; k < rounds || k == 0; k++) {
        int step = at < p->memory.bytes ? encode_next(f, p, &at, range) : MPI_SUCCESS;
        if (rounds == 1 && p->surveyed) {
            int corrected = correct_round(f, p, range, at > 0 && !step);
            step = step ? step : corrected;
        }
        int placed = zplace_dense(f, k + 1 < rounds);
        rc = rc ? rc : step ? step : placed;
    }
    int shared = zsettle_share(f);
    return rc ? rc : shared;
}

/* The same where a device writes: rounds get their places some time after they were handed over,
 * those of later calls too, so that nobody waits for their sizes. What others may read is in the
 * file at the end. */
static int hand_rounds(struct zfile *f, struct plan *p, const struct zmpi_range *range,
                       uint64_t rounds)
{
    struct zthrough *t = &f->through;
    uint64_t at = 0;
    int rc = MPI_SUCCESS, placed = MPI_SUCCESS;
    for (uint64_t k = 0; k < rounds || k == 0; k++) {
        t->round++;
        t->owed++;
        int step = k == 0 ? zstage_flush(f) : MPI_SUCCESS;
        if (at < p->memory.bytes && !step)
            step = encode_next(f, p, &at, range);
        placed = zsettle_owed(f, k + 1 < MOST_OWED ? k + 1 : MOST_OWED);
        rc = rc ? rc : step ? step : placed;
    }
    placed = MPI_SUCCESS;
    if (zfile_may_read(f)) {
        int owed = zsettle_owed(f, 1);
        t->owed = 0;
        placed = zplace_dense(f, false);
        placed = owed ? owed : placed;
    } else {
        placed = zsettle_here(f);
    }
    int shared = zsettle_share(f);
    return rc ? rc : placed ? placed : shared;
}

static int write_together(struct zfile *f, struct plan *p, const struct zmpi_range *range,
                          uint64_t rounds, bool large, bool through)
{
    if (f->session.atomic) {
        p->most_runs = zstage_most_runs(f);
        return p->memory.bytes ? write_atomic(f, p, range) : MPI_SUCCESS;
    }
    if (!large)
        return write_staged(f, p, range);
    return through && !p->surveyed ? hand_rounds(f, p, range, rounds)
                                   : write_rounds(f, p, range, rounds);
}

int zwrite_collective(struct zfile *f, const struct zrequest *r, uint64_t *done)
{
    struct plan p;
    *done = 0;
    f->stats.collective_calls++;
    const uint64_t most = f->session.atomic ? zplace_slot_size(f) / 4 : COLLECTIVE_PIECE;
    struct zmpi_range range;
    int rc = plan_make(f, r, most, &p), ranged = plan_range(f, &p, &range);
    rc = rc ? rc : ranged;
    uint64_t rounds = rc ? 0 : plan_pieces(f, &p);
    bool large = zfile_may_read(f) || f->session.shared || p.memory.bytes > zstage_limit(f) ||
                 p.runs > zstage_most_runs(f);
    bool ratio = !rc && wants_ratio(f, &p), through = f->options.nic_write && !f->through.off;
    int agreed = agree(f, &range, &rounds, &large, &ratio, &through);
    if (!agreed && ratio && (large || f->session.atomic))
        agreed = plan_survey(f, &p, &range, rounds > 1 || f->session.atomic, f->comm);
    if (agreed) {
        plan_free(&p);
        return agreed;
    }
    int wrote = write_together(f, &p, &range, rounds, large, through);
    rc = rc ? rc : wrote;
    if (!rc) {
        *done = p.memory.bytes;
        count_written(f, &p);
    }
    plan_free(&p);
    return rc;
}
