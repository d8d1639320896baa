/* write.c - one write call: chooses the way by which its pieces get into the file
 * (docs/architecture.md). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "close/decompress.h"
#include "datatype/known.h"
#include "mpi/timeline.h"
#include "transfer/call_bound.h"
#include "transfer/components.h"
#include "transfer/transfer.h"
#include "transfer/write_plan.h"

/* The most raw bytes of one record in collective calls; in independent ones it is a quarter of a
 * slot. While a piece is coded, earlier ones go into the file. So a call takes only as long as the
 * slower of both, and the first piece. */
#define COLLECTIVE_PIECE ((uint64_t)16 << 20)

/* Calls of at most so many bytes are written without a plan, in front of this offset. */
#define FEW_BYTES 4096
#define FAR       ((uint64_t)1 << 62)

/* Rounds of a call that a device may have before they have places. */
#define MOST_UNASSIGNED 3

/* ---- independent ---- */

/* Is the outbox full for the next piece or, in a blocking call, full enough to be written while the
 * next piece is coded? A nonblocking call collects as much as it can: it does not wait for earlier
 * writes. */
static bool outbox_is_full(const struct zfile *f, const struct zplan *p, bool nonblocking)
{
    const uint64_t slot = zplace_slot_size(f);
    return (!nonblocking && f->outbox.used >= slot / 8) ||
           f->outbox.used + zplan_capacity(p) > slot;
}

/* Codes a large write of one rank at once, piece by piece. */
static int write_pieces(struct zfile *f, struct zplan *p, const struct zmpi_range *range)
{
    const bool nonblocking = f->behind; /* it has time until the program waits for it */
    int rc = zstage_flush(f);
    f->behind = true;
    if (!rc && zplan_wants_ratio(f, p) && !p->searched && p->memory.bytes > p->piece)
        rc = zplan_search_ratio(f, p, range, true, MPI_COMM_NULL);
    for (uint64_t at = 0; at < p->memory.bytes && !rc;) {
        if (outbox_is_full(f, p, nonblocking))
            rc = zplace_slab(f);
        if (!rc)
            rc = zplan_encode_next(f, p, &at, range);
    }
    if (!rc && nonblocking)
        rc = zplace_slab(f);
    f->behind = nonblocking;
    int late = nonblocking ? MPI_SUCCESS : zbackground_wait(f);
    return rc ? rc : late;
}

/* In atomic mode nothing is held back, and nobody writes between two pieces. */
static int write_atomic(struct zfile *f, struct zplan *p, const struct zmpi_range *range)
{
    int rc = zsession_atomic_begin(f, true);
    if (rc)
        return rc;
    rc = write_pieces(f, p, range);
    int assigned = zplace_slab(f);
    return zsession_atomic_end(f, rc ? rc : assigned);
}

static enum zmpi_exact_why why_exact(const struct zfile *f, const struct zplan *p)
{
    const enum zmpi_type type = p->memory.element;
    const struct zmpi_bound bound = zfile_bound(f, type);
    if (f->options.bound.mode == ZMPI_LOSSLESS || !f->options.bound_set)
        return ZMPI_EXACT_SET;
    if (type != ZMPI_F32 && type != ZMPI_F64)
        return ZMPI_EXACT_TYPE;
    if (bound.mode == ZMPI_LOSSLESS)
        return f->data.format ? ZMPI_EXACT_FORMAT : ZMPI_EXACT_MISTYPED;
    return p->small ? ZMPI_EXACT_SMALL : ZMPI_EXACT_NOT;
}

/* Notes this rank's part of the call. */
static void note_call(struct zfile *f, const struct zplan *p)
{
    const enum zmpi_type type = p->memory.element;
    struct znote *note = znote_now(f);
    if (!note || !p->memory.bytes)
        return;
    note->type = type;
    note->components = p->components ? p->components : 1;
    memcpy(note->shape, p->shape, sizeof note->shape);
    note->shape_from = p->shape_from;
    note->exact = why_exact(f, p);
    note->bound = note->exact ? (struct zmpi_bound){ZMPI_LOSSLESS, 0} : f->options.bound;
    note->values = (double)(p->memory.bytes / zmpi_type_size(type));
    znote_say(f, note);
}

static void count_bytes(struct zfile *f, enum zmpi_type element, uint64_t bytes)
{
    const struct zmpi_bound bound = zfile_bound(f, element);
    const bool exact = f->options.bound_set && bound.mode != f->options.bound.mode;
    const bool mistyped = exact && (element == ZMPI_F32 || element == ZMPI_F64) && !f->data.format;
    f->stats.n.bytes_written += bytes;
    f->stats.bytes_exact += exact && !mistyped ? bytes : 0;
    f->stats.bytes_mistyped += mistyped ? bytes : 0;
    f->stats.bytes_typed += mistyped || element == ZMPI_BYTES ? 0 : bytes;
}

static void count_written(struct zfile *f, const struct zplan *p)
{
    count_bytes(f, p->memory.element, p->memory.bytes);
    note_call(f, p);
}

/* Is the call small? If a library says which array the data are a part of, the array counts and not
 * the call: a small array is exact even together with others, and rows of a large one are not
 * small. */
static void look_at_size(const struct zfile *f, struct zplan *p)
{
    struct zmemory *m = &p->memory;
    const uint64_t least = (uint64_t)f->options.exact_below;
    m->exact = m->array > 0 && m->array <= least;
    p->small = m->exact || (zplan_floats(p) <= least && m->written <= least);
}

/* Codes the call at once. */
static int write_coded(struct zfile *f, struct zplan *p, int components)
{
    struct zmpi_range range;
    struct zmpi_fill fill;
    if (components != 1) {
        int begun = zcomponents_begin(f, p, components, MPI_COMM_NULL, NULL);
        return begun ? begun : write_pieces(f, p, NULL);
    }
    int rc = zplan_range(f, p, &range, &fill);
    if (rc)
        return rc;
    zplan_exclude(f, p, fill, MPI_COMM_NULL, &range);
    return f->session.atomic ? write_atomic(f, p, &range) : write_pieces(f, p, &range);
}

/* HDF5 writes metadata and small datasets in thousands of calls: bytes in one stretch, whose
 * meaning does not matter. These need no plan. */
static bool are_few_bytes(struct zfile *f, const struct zrequest *r)
{
    return f->hdf5 && r->datatype == MPI_BYTE && r->count > 0 && r->count <= FEW_BYTES &&
           f->view.file.dense && f->view.displacement == 0 && r->position < FAR &&
           f->options.element_type == ZMPI_ELEMENTS_DATATYPE && !f->session.atomic &&
           zfile_may_write(f) && zknown_is_exact() && !zmpi_device_holding(r->buf) &&
           !znotes_wanted();
}

static void note_bytes(struct zfile *f, uint64_t bytes)
{
    struct znote *note = znote_now(f);
    if (!note)
        return;
    note->type = ZMPI_BYTES;
    note->components = 1;
    note->shape[0] = note->shape[1] = 1;
    note->shape[2] = bytes;
    note->exact = f->options.bound_set ? ZMPI_EXACT_TYPE : ZMPI_EXACT_SET;
    note->values = (double)bytes;
}

static int write_few_bytes(struct zfile *f, const struct zrequest *r, uint64_t *done)
{
    const uint64_t bytes = (uint64_t)r->count;
    const struct zmpi_run run = {r->position, bytes};
    const struct zmemory m = {
        .data = r->buf, .bytes = bytes, .element = ZMPI_BYTES, .shape = {1, 1, bytes}};
    f->unshared = true;
    f->data.mistyped = f->data.stays_mistyped;
    zdecompress_look(f, &run, m.data);
    const int rc = zstage_write(f, &m, m.shape, &run, 1, NULL, NULL, true);
    if (!rc) {
        *done = bytes;
        count_bytes(f, m.element, bytes);
        note_bytes(f, bytes);
    }
    return rc;
}

/* Are these interleaved components of so few points that they are taken apart together with those
 * of other calls (staging_components.c)? floats: the most of any rank. */
static bool are_few_points(const struct zfile *f, int components, uint64_t floats)
{
    return components > 1 && f->options.bound.mode != ZMPI_RATIO && !f->session.atomic &&
           floats / (uint64_t)components < ZMPI_COMPONENTS_LEAST;
}

static int write_independent(struct zfile *f, const struct zrequest *r, uint64_t *done)
{
    struct zplan p;
    *done = 0;
    f->stats.independent_calls++;
    int rc = zcall_bound(f, f->stats.independent_calls, false);
    if (!rc && are_few_bytes(f, r))
        return write_few_bytes(f, r, done);
    rc = rc ? rc : zplan_make(f, r, zplace_slot_size(f) / 4, &p);
    if (rc || p.memory.bytes == 0)
        return rc;
    f->unshared = true;
    look_at_size(f, &p);
    p.most_runs = zstage_most_runs(f);
    const uint64_t bytes = p.memory.bytes;
    const int components = p.small ? 1 : zcomponents_look(f, &p);
    if (components == 1)
        zplan_look_for_shape(f, &p);
    if ((components == 1 || are_few_points(f, components, zplan_floats(&p))) &&
        !f->session.atomic && !p.memory.big_endian && bytes <= zstage_limit(f) &&
        p.runs <= p.most_runs) {
        rc = zplan_failed(f, &p, zmemory_to_host(&p.memory), "writing");
        if (!rc)
            rc = zstage_write(f, &p.memory, p.shape, p.run, p.runs, NULL, NULL, !p.small);
    } else {
        rc = write_coded(f, &p, components);
    }
    if (!rc) {
        *done = bytes;
        count_written(f, &p);
    }
    zplan_free(&p);
    return rc;
}

/* ---- collective ---- */

/* Numbers that all ranks must know before a collective write. */
struct together {
    struct zmpi_range range; /* the range of all data */
    struct zmpi_fill fill;   /* what may be fill values in them */
    uint64_t rounds;         /* the most pieces that a rank has */
    uint64_t floats;         /* the most floats that a rank has */
    uint64_t exact_below;    /* the smallest of any rank */
    bool large;              /* a rank has too much data to stage them */
    bool ratio;              /* a rank wants a ratio */
    bool offload;            /* a rank has a device that writes its pieces */
    int components;          /* as in options.h, the same on all ranks */
};

/* Merges what the ranks know, also whether any of them has floats that are not floats
 * (byte_order.h). */
static int agree(struct zfile *f, struct together *t)
{
    const double mistyped = f->data.format           ? -3
                            : f->data.stays_mistyped ? -2
                            : f->data.mistyped       ? -1
                                                     : 0;
    enum { FILL = 10, COMPONENTS = FILL + ZMPI_FILL_SAID, NUMBERS = COMPONENTS + 2 };
    double mine[NUMBERS] = {t->range.min,        -t->range.max,
                            t->range.fill,       -(double)t->rounds,
                            t->large ? -1 : 0,   t->ratio ? -1 : 0,
                            t->offload ? -1 : 0, mistyped,
                            -(double)t->floats,  (double)f->options.exact_below};
    double all[NUMBERS];
    zmpi_fill_say(t->fill, mine + FILL);
    zcomponents_say(t->components, mine + COMPONENTS);
    int rc = PMPI_Allreduce(mine, all, NUMBERS, MPI_DOUBLE, MPI_MIN, f->comm);
    if (!rc) {
        f->data.mistyped = all[7] < 0;
        f->data.stays_mistyped = all[7] < -1;
        if (all[7] < -2 && !f->data.format)
            f->data.format = "a known format";
        *t = (struct together){
            .range = {all[0], -all[1], all[2]},
            .fill = zmpi_fill_heard(all + FILL),
            .rounds = (uint64_t)-all[3],
            .floats = (uint64_t)-all[8],
            .exact_below = (uint64_t)all[9],
            .large = all[4] < 0,
            .ratio = all[5] < 0 && !f->data.mistyped,
            .offload = all[6] < 0,
            .components =
                f->data.mistyped ? 1 : zcomponents_agreed(f, t->components, all + COMPONENTS)};
    }
    return rc;
}

/* Agrees on whether the whole call is small. Mostly one rank's part shows that it is not. */
static int agree_on_small(struct zfile *f, struct zplan *p, const struct together *t)
{
    if (t->floats == 0 || t->floats > t->exact_below)
        return MPI_SUCCESS;
    uint64_t mine = zplan_floats(p), all = 0;
    int rc = PMPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, f->comm);
    p->small = !rc && all <= t->exact_below;
    return rc;
}

/* Nobody sees the data before the file is closed: many small calls become few records. */
static int write_staged(struct zfile *f, struct zplan *p, const struct zmpi_range *range)
{
    int rc = zplan_failed(f, p, zmemory_to_host(&p->memory), "writing");
    if (p->memory.bytes)
        rc = zstage_write(f, &p->memory, p->shape, p->run, p->runs, range, &p->fills[0], !p->small);
    uint64_t mine = zfile_size(f);
    int reduced =
        PMPI_Allreduce(&mine, &f->container.logical_size, 1, MPI_UINT64_T, MPI_MAX, f->comm);
    return rc ? rc : reduced;
}

/* If the only round misses the ratio, all ranks code it again, until it does not. */
static int correct_round(struct zfile *f, struct zplan *p, const struct zmpi_range *range,
                         bool coded)
{
    bool mine = coded && zplan_wants_ratio(f, p);
    for (int failed = MPI_SUCCESS;;) {
        uint64_t sizes[2] = {mine ? p->memory.bytes : 0, mine ? zencode_coded(f) : 0};
        int rc = PMPI_Allreduce(MPI_IN_PLACE, sizes, 2, MPI_UINT64_T, MPI_SUM, f->comm);
        if (rc || sizes[0] == 0 || !zmpi_ratio_search_correct(&p->search, sizes[0], sizes[1]))
            return failed ? failed : rc;
        if (mine) {
            struct zmpi_extent extent;
            uint64_t at = 0;
            zencode_undo(f, &extent);
            p->extent = extent;
            failed = zplan_encode_next(f, p, &at, range);
            mine = !failed;
        }
    }
}

/* Writes round by round. Each rank codes a piece; all pieces get their places together, and are
 * written while the next round is coded. */
static int write_rounds(struct zfile *f, struct zplan *p, const struct together *t)
{
    uint64_t at = 0;
    int assigned_rounds = zflush_rounds(f, 0), rc = zstage_flush(f);
    rc = assigned_rounds ? assigned_rounds : rc;
    for (uint64_t k = 0; k < t->rounds || k == 0; k++) {
        int step = at < p->memory.bytes ? zplan_encode_next(f, p, &at, &t->range) : MPI_SUCCESS;
        if (t->rounds == 1 && p->searched && !p->components) {
            int corrected = correct_round(f, p, &t->range, at > 0 && !step);
            step = step ? step : corrected;
        }
        int assigned = zplace_dense(f, k + 1 < t->rounds);
        rc = rc ? rc : step ? step : assigned;
    }
    int shared = zflush_share(f);
    return rc ? rc : shared;
}

/* The same if a device writes. Rounds get their places later than the device gets them, also those
 * of other calls, so that nobody waits for their sizes. If others may read the data, they are in
 * the file at the end. */
static int offload_rounds(struct zfile *f, struct zplan *p, const struct together *t)
{
    uint64_t at = 0;
    int rc = MPI_SUCCESS, assigned = MPI_SUCCESS;
    for (uint64_t k = 0; k < t->rounds || k == 0; k++) {
        f->offload_write.round++;
        f->offload_write.unassigned++;
        int step = k == 0 ? zstage_flush(f) : MPI_SUCCESS;
        if (at < p->memory.bytes && !step)
            step = zplan_encode_next(f, p, &at, &t->range);
        assigned = zflush_rounds(f, k + 1 < MOST_UNASSIGNED ? k + 1 : MOST_UNASSIGNED);
        rc = rc ? rc : step ? step : assigned;
    }
    assigned = MPI_SUCCESS;
    if (zfile_may_read(f)) {
        int assigned_rounds = zflush_rounds(f, 1);
        f->offload_write.unassigned = 0;
        assigned = zplace_dense(f, false);
        assigned = assigned_rounds ? assigned_rounds : assigned;
    } else {
        assigned = zflush_outbox(f);
    }
    int shared = zflush_share(f);
    return rc ? rc : assigned ? assigned : shared;
}

static int write_together(struct zfile *f, struct zplan *p, const struct together *t)
{
    if (f->session.atomic) {
        p->most_runs = zstage_most_runs(f);
        return p->memory.bytes ? write_atomic(f, p, &t->range) : MPI_SUCCESS;
    }
    if (!t->large)
        return write_staged(f, p, &t->range);
    return t->offload && !p->searched ? offload_rounds(f, p, t) : write_rounds(f, p, t);
}

/* Collects what this rank tells the others about its part. rc: its error; bound: the error that it
 * has no bound. */
static int look(struct zfile *f, struct zplan *p, int rc, int bound, struct together *t)
{
    t->components = rc || bound ? 0 : zcomponents_look(f, p);
    if (abs(t->components) > 1)
        zcomponents_range(f, p, t->components);
    else if (t->components)
        zplan_look_for_shape(f, p);
    const int ranged = zplan_range(f, p, &t->range, &t->fill);
    rc = rc ? rc : ranged;
    t->rounds = rc ? 0 : zplan_pieces(f, p);
    t->large = zfile_may_read(f) || f->session.shared || p->memory.big_endian ||
               p->memory.bytes > zstage_limit(f) || p->runs > zstage_most_runs(f);
    t->floats = rc ? 0 : zplan_floats(p);
    t->ratio = !rc && zplan_wants_ratio(f, p);
    t->offload = f->options.nic_write && !f->offload_write.off;
    return rc ? rc : bound;
}

/* Sets what the ranks have agreed on, and writes. *alike: an error that all ranks have. */
static int write_agreed(struct zfile *f, struct zplan *p, struct together *t, int *alike)
{
    t->ratio = t->ratio && !p->small;
    if (!p->small)
        zplan_exclude(f, p, t->fill, f->comm, &t->range);
    if (t->ratio && (t->large || f->session.atomic))
        *alike = zplan_search_ratio(f, p, &t->range, t->rounds > 1 || f->session.atomic, f->comm);
    return *alike ? MPI_SUCCESS : write_together(f, p, t);
}

/* The same for several components. rc: this rank's error; then it takes part without data. */
static int write_apart(struct zfile *f, struct zplan *p, int rc, struct together *t)
{
    if (rc)
        zplan_free(p); /* its count may not be a multiple of their number */
    const int begun = zcomponents_begin(f, p, t->components, f->comm, &t->rounds);
    const int wrote = write_rounds(f, p, t);
    return begun ? begun : wrote;
}

static int write_collective(struct zfile *f, const struct zrequest *r, uint64_t *done)
{
    struct zplan p;
    struct together t;
    *done = 0;
    f->stats.collective_calls++;
    const uint64_t most = f->session.atomic ? zplace_slot_size(f) / 4 : COLLECTIVE_PIECE;
    const int bound = zcall_bound(f, f->stats.collective_calls, true);
    int rc = zplan_make(f, r, most, &p);
    rc = look(f, &p, rc, bound, &t);
    const uint64_t bytes = p.memory.bytes;
    int agreed = agree(f, &t), wrote = MPI_SUCCESS;
    if (!agreed)
        agreed = agree_on_small(f, &p, &t);
    const bool gathered = !agreed && !t.large && are_few_points(f, t.components, t.floats);
    if (!agreed && t.components != 1 && !p.small && !gathered)
        wrote = write_apart(f, &p, rc, &t);
    else if (!agreed)
        wrote = write_agreed(f, &p, &t, &agreed);
    rc = agreed ? agreed : rc ? rc : wrote;
    if (!rc) {
        *done = bytes;
        count_written(f, &p);
    }
    zplan_free(&p);
    return rc;
}

static double seconds_worked(const struct zfile *f)
{
    return f->stats.n.seconds_scan + f->stats.n.seconds_compress + f->stats.n.seconds_write;
}

/* Counts a call's time. What is not counted elsewhere is mostly waiting for other ranks. */
static void count_time(struct zfile *f, double start, double worked_before, uint64_t done)
{
    const double worked = seconds_worked(f) - worked_before;
    f->stats.seconds_wait += fmax(zmpi_seconds() - start - worked, 0);
    ztimeline_call(ZTIMELINE_WRITE, start, (double)done);
}

int zwrite_independent(struct zfile *f, const struct zrequest *r, uint64_t *done)
{
    const double start = zmpi_seconds(), worked = seconds_worked(f);
    const int rc = write_independent(f, r, done);
    count_time(f, start, worked, *done);
    return rc;
}

int zwrite_collective(struct zfile *f, const struct zrequest *r, uint64_t *done)
{
    const double start = zmpi_seconds(), worked = seconds_worked(f);
    const int rc = write_collective(f, r, done);
    count_time(f, start, worked, *done);
    return rc;
}
