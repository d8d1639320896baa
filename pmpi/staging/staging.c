/*
 * staging.c - keeps small independent writes as they are, sorted by offset, until a batch is full
 * or something needs them in the file.
 *
 * A batch holds elements of one kind. Staged data are disjoint: a write replaces what was staged
 * for the same bytes.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bound/fill.h"
#include "staging/staging_parts.h"
#include "file/zfile.h"
#include "mpi/runtime.h"

/* Bounds in one batch may differ (in rel mode each call has its own range). The smallest holds for
 * all, so they may differ only by this factor. */
#define BOUND_SPREAD 4.0

static size_t batch_capacity(const struct zfile *f)
{
    return (size_t)(zplace_slot_size(f) / 4);
}

size_t zstage_limit(const struct zfile *f)
{
    return batch_capacity(f) / 4;
}

size_t zstage_most_runs(const struct zfile *f)
{
    return batch_capacity(f) / 32;
}

/* Returns the first patch that ends behind `offset`: mostly none, since calls come in order. */
static size_t patch_after(const struct zbatch *b, uint64_t offset)
{
    size_t lo = 0, hi = b->count;
    if (hi && b->patch[hi - 1].offset + b->patch[hi - 1].length <= offset)
        return hi;
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (b->patch[middle].offset + b->patch[middle].length <= offset)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

/* May the patch be cut at this place? Lossy data may be cut only between elements. */
static bool may_cut(const struct zbatch *b, const struct zpatch *p, uint64_t offset)
{
    return b->exact || offset <= p->offset || offset >= p->offset + p->length ||
           (offset - p->offset) % zmpi_type_size(b->element) == 0;
}

static bool batch_reserve_patches(struct zbatch *b, size_t more)
{
    if (b->count + more <= b->patch_capacity)
        return true;
    size_t capacity = 2 * (b->count + more);
    struct zpatch *grown = realloc(b->patch, capacity * sizeof *grown);
    if (!grown)
        return false;
    b->patch = grown;
    b->patch_capacity = capacity;
    return true;
}

/* Drops staged data of [begin, end), which will be overwritten. False: that is impossible. */
static bool batch_cut(struct zbatch *b, uint64_t begin, uint64_t end)
{
    size_t k = b->count ? patch_after(b, begin) : 0;
    if (k == b->count || b->patch[k].offset >= end)
        return true;
    if (!batch_reserve_patches(b, 1) || !may_cut(b, &b->patch[k], begin))
        return false;
    struct zpatch *p = &b->patch[k];
    if (p->offset <
        begin) { /* the part in front of the cut stays; the rest becomes a patch of its own */
        struct zpatch rest = {begin, p->offset + p->length - begin, p->at + (begin - p->offset)};
        memmove(p + 2, p + 1, (b->count - k - 1) * sizeof *p);
        p->length = begin - p->offset;
        p[1] = rest;
        b->count++;
        k++;
    }
    size_t last = k;
    while (last < b->count && b->patch[last].offset + b->patch[last].length <= end)
        last++;
    p = &b->patch[last];
    if (last < b->count && p->offset < end) {
        if (!may_cut(b, p, end))
            return false;
        p->at += end - p->offset;
        p->length -= end - p->offset;
        p->offset = end;
    }
    memmove(b->patch + k, b->patch + last, (b->count - last) * sizeof *p);
    b->count -= last - k;
    if (b->count == 0) /* otherwise repeated writes to one place would fill the batch */
        b->used = 0;
    return true;
}

static bool cut_all(struct zfile *f, const struct zmpi_run *run, size_t n)
{
    for (int i = 0; i < ZBATCHES; i++)
        for (size_t k = 0; k < n && f->batch[i].count; k++)
            if (!batch_cut(&f->batch[i], run[k].offset, run[k].offset + run[k].length))
                return false;
    return true;
}

bool zstage_is_exact(const struct zfile *f)
{
    bool exact = true;
    for (int i = 0; i < ZBATCHES; i++)
        exact = exact && (f->batch[i].count == 0 || f->batch[i].exact);
    return exact;
}

static void overlay(const struct zbatch *b, const struct zmpi_run *run, unsigned char *dst)
{
    uint64_t end = run->offset + run->length;
    for (size_t k = patch_after(b, run->offset); k < b->count && b->patch[k].offset < end; k++) {
        const struct zpatch *p = &b->patch[k];
        uint64_t from = p->offset > run->offset ? p->offset : run->offset;
        uint64_t to = p->offset + p->length < end ? p->offset + p->length : end;
        memcpy(dst + (from - run->offset), b->data + p->at + (from - p->offset), to - from);
    }
}

void zstage_overlay(const struct zfile *f, const struct zmpi_run *run, size_t n, unsigned char *dst)
{
    for (size_t k = 0; k < n; dst += run[k++].length)
        for (int i = 0; i < ZBATCHES; i++)
            overlay(&f->batch[i], &run[k], dst);
}

/* Returns the data in the order of offsets. If the writes came in order, it copies nothing. */
static unsigned char *sorted_data(const struct zbatch *b)
{
    size_t at = 0;
    bool in_order = true;
    for (size_t i = 0; i < b->count; i++) {
        in_order = in_order && b->patch[i].at == at;
        at += b->patch[i].length;
    }
    if (in_order)
        return b->data;
    unsigned char *sorted = malloc(b->used), *dst = sorted;
    for (size_t i = 0; sorted && i < b->count; i++) {
        memcpy(dst, b->data + b->patch[i].at, b->patch[i].length);
        dst += b->patch[i].length;
    }
    return sorted;
}

static enum zmpi_status batch_extent(const struct zbatch *b, struct zmpi_extent *e)
{
    struct zmpi_run *run = malloc(b->count * sizeof *run);
    if (!run)
        return ZMPI_ERR_MEMORY;
    for (size_t i = 0; i < b->count; i++)
        run[i] = (struct zmpi_run){b->patch[i].offset, b->patch[i].length};
    enum zmpi_status status = zmpi_extent_from_runs(e, run, b->count);
    free(run);
    return status;
}

/* Finds rows and planes: as the calls had them, else as they lie in the file. */
static void batch_shape(const struct zbatch *b, struct zpiece *piece)
{
    const struct zmpi_extent *e = &piece->extent;
    size_t width = zmpi_type_size(b->element);
    piece->row = b->row;
    piece->rows = b->rows;
    if (e->levels < 1 || e->levels > ZMPI_EXTENT_LEVELS || e->run % width)
        return;
    size_t run = e->run / width;
    if (b->row == 0 || run % b->row) {
        piece->row = run;
        piece->rows = e->count[0];
    } else if (b->rows == 0) { /* rows that touch are a plane */
        piece->rows = run > b->row ? run / b->row : e->count[0];
    }
}

/* Encodes with a ratio, which is the record's: finds its bound now, and its range. */
static int encode_open(struct zfile *f, struct zpiece *piece)
{
    struct zmpi_fills fills = f->options.fill;
    struct zmpi_range range;
    zmpi_fill_range(piece->element, piece->data,
                    piece->extent.bytes / zmpi_type_size(piece->element), f->options.threshold,
                    &fills, zruntime_threads(&f->options), &range);
    piece->range = &range;
    piece->fills = &fills;
    piece->read = piece->extent.bytes;
    return zencode_piece(f, piece);
}

/* Keeps the last `bytes` of a batch, and drops what is before them. `sorted`: all its data, without
 * those that were replaced. */
static void batch_keep(struct zbatch *b, const unsigned char *sorted, uint64_t all, uint64_t bytes)
{
    size_t k = b->count, at = 0;
    uint64_t behind = 0;
    while (behind < bytes)
        behind += b->patch[--k].length;
    if (bytes)
        memmove(b->data, sorted + (all - bytes), bytes);
    b->count -= k;
    memmove(b->patch, b->patch + k, b->count * sizeof *b->patch);
    if (b->count) {
        b->patch[0].offset += behind - bytes;
        b->patch[0].length -= behind - bytes;
    }
    for (size_t i = 0; i < b->count; at += b->patch[i++].length)
        b->patch[i].at = at;
    b->used = bytes;
}

/* Makes one record of a batch, or one of each variable and part. Rows that were written one by one
 * become a block again. With `keep` a little of it may stay, which goes with what comes next. */
static int flush_batch(struct zfile *f, struct zbatch *b, bool keep)
{
    uint64_t left = 0;
    if (b->count == 0)
        return MPI_SUCCESS;
    struct zpiece piece = {.element = b->element, .fills = &b->fills};
    const struct zcall_number call = f->call;
    enum zmpi_status status = batch_extent(b, &piece.extent);
    unsigned char *data = status ? NULL : sorted_data(b);
    int rc, n;
    if (!status && !data)
        status = ZMPI_ERR_MEMORY;
    if (status) {
        rc = zfile_raise_status(f, status, "staging");
    } else {
        piece.data = data;
        batch_shape(b, &piece);
        const size_t values = b->used / zmpi_type_size(b->element);
        const bool small = !b->large && values <= (size_t)f->options.exact_below;
        const bool exact =
            b->exact || small || f->data.mistyped; /* what was only seen after the first values */
        f->call = b->call;
        n = exact ? 1 : zstage_components(f, b, data, piece.extent.bytes);
        if (!exact && n == 1)
            zmixed_look(f, b->element, data, piece.extent.bytes / zmpi_type_size(b->element),
                        ZMIXED_SMALL);
        if (n > 1)
            rc = zstage_encode_components(f, b, piece.extent.bytes, n, keep, &left);
        else if (!exact && f->options.bound.mode == ZMPI_RATIO)
            rc = encode_open(f, &piece);
        else
            rc = zencode_resolved(f, &piece, exact ? 0 : b->abs_bound, b->keep);
    }
    batch_keep(b, data, piece.extent.bytes, left);
    if (data != b->data)
        free(data);
    f->call = call;
    return rc;
}

/* Bytes that its records may need; records of each of several components need heads of their own.
 * What needs more than a slot is not taken apart (zstage_components). */
static size_t room_of(const struct zfile *f, const struct zbatch *b)
{
    const size_t n = f->options.components > 1 ? (size_t)f->options.components
                                               : ZMPI_COMPONENTS_FAST,
                 one = zencode_capacity(b->used, b->count), slot = zplace_slot_size(f),
                 apart = n * (zencode_capacity(b->used / n, 1) + ZPARTS_MOST * ZPARTS_HEADS);
    if (f->options.components == 1 || b->exact || one > apart)
        return one;
    return apart < slot ? apart : one > slot ? one : slot;
}

/* Makes records of all batches. `full`: this one may keep a little. */
static int flush(struct zfile *f, const struct zbatch *full)
{
    int rc = MPI_SUCCESS;
    for (int i = 0; i < ZBATCHES; i++) {
        if (f->batch[i].count == 0)
            continue;
        if (f->outbox.used + room_of(f, &f->batch[i]) > zplace_slot_size(f)) {
            int assigned = zplace_slab(f);
            rc = rc ? rc : assigned;
        }
        int flushed = flush_batch(f, &f->batch[i], full == &f->batch[i]);
        rc = rc ? rc : flushed;
    }
    return rc;
}

int zstage_flush(struct zfile *f)
{
    return flush(f, NULL);
}

void zstage_free(struct zfile *f)
{
    for (int i = 0; i < ZBATCHES; i++) {
        free(f->batch[i].data);
        free(f->batch[i].patch);
    }
}

/* The resolved bound of one write. */
static struct zmpi_job job_of(struct zfile *f, const struct zmemory *m,
                              const struct zmpi_range *all, const struct zmpi_fills *found)
{
    struct zmpi_fills fills = all ? *found : f->options.fill;
    struct zmpi_array a = {m->element, {1, 1, m->bytes / zmpi_type_size(m->element)}};
    struct zmpi_bound bound = zfile_bound(f, m->element);
    struct zmpi_range range = all ? *all : ZMPI_RANGE_EMPTY;
    struct zmpi_job job = {.abs_bound = 0};
    if (m->exact)
        bound = (struct zmpi_bound){ZMPI_LOSSLESS, 0};
    if (bound.mode == ZMPI_LOSSLESS && !all)
        return job;
    if (zmpi_bound_needs_range(&bound) && !all)
        zmpi_fill_range(m->element, m->data, a.extent[2], f->options.threshold, &fills, 1, &range);
    zmpi_job_make(&a, &bound, &range, &job); /* on failure the bound stays 0: exact */
    zmpi_job_threshold(&job, f->options.threshold);
    zmpi_job_fills(&job, &fills);
    zmpi_job_safe_bound(&job);
    struct znote *note = znote_now(f);
    if (note && range.min <= range.max)
        note->range[0] = range;
    if (note)
        note->fills = job.fills;
    if (bound.mode == ZMPI_PSNR && range.max > range.min)
        f->stats.found_share = fmax(f->stats.found_share, job.abs_bound / (range.max - range.min));
    if (zmpi_job_open(&job))
        job.abs_bound = (double)INFINITY; /* found later, for the record */
    return job;
}

/* Is there room for the fill values of one more write? */
static bool have_room(const struct zmpi_fills *of, const struct zmpi_fills *more)
{
    struct zmpi_fills all = *of;
    for (int i = 0; i < more->count; i++)
        if (!zmpi_fills_add(&all, more->value[i]))
            return false;
    return true;
}

static bool batch_takes(const struct zbatch *b, enum zmpi_type element, const struct zmpi_job *job,
                        bool large)
{
    bool exact = !(job->abs_bound > 0);
    if (b->element != element || b->exact != exact || (b->large != large && !exact))
        return false;
    return exact ||
           (have_room(&b->fills, &job->fills) && b->abs_bound <= job->abs_bound * BOUND_SPREAD &&
            job->abs_bound <= b->abs_bound * BOUND_SPREAD);
}

/* Finds a batch for this kind of write: one that takes it, or an empty one. If there is none, it
 * flushes the first. */
static int find_batch(struct zfile *f, enum zmpi_type element, const struct zmpi_job *job,
                      bool large, struct zbatch **found)
{
    struct zbatch *b = NULL;
    for (int i = 0; i < ZBATCHES && !b; i++)
        if (f->batch[i].count && batch_takes(&f->batch[i], element, job, large))
            b = &f->batch[i];
    for (int i = 0; i < ZBATCHES && !b; i++)
        if (f->batch[i].count == 0)
            b = &f->batch[i];
    if (!b) {
        int rc = zstage_flush(f);
        if (rc)
            return rc;
        b = &f->batch[0];
    }
    if (b->count == 0) {
        b->element = element;
        b->exact = !(job->abs_bound > 0);
        b->large = large;
        b->abs_bound = job->abs_bound;
        b->keep = job->keep;
        b->fills.count = 0;
        b->longest = 0;
        b->call = f->call;
    }
    if (b->call.number != f->call.number || b->call.collective != f->call.collective)
        b->call.number = 0;
    b->abs_bound = fmin(b->abs_bound, job->abs_bound);
    b->keep = fmin(b->keep, job->keep);
    for (int i = 0; i < job->fills.count; i++)
        zmpi_fills_add(&b->fills, job->fills.value[i]);
    *found = b;
    return MPI_SUCCESS;
}

static bool batch_reserve(struct zbatch *b, size_t capacity, size_t patches)
{
    if (!b->data) {
        b->data = malloc(capacity);
        b->capacity = b->data ? capacity : 0;
    }
    return b->data && batch_reserve_patches(b, patches);
}

/* Notes the shape of a call. A batch has a shape only if all of its calls have the same. */
static void batch_note_shape(struct zbatch *b, const size_t shape[3])
{
    size_t row = shape[2] > 1 ? shape[2] : 0, rows = shape[1] > 1 ? shape[1] : 0;
    if (b->count == 0) {
        b->row = row;
        b->rows = rows;
    }
    if (b->row != row)
        b->row = 0;
    if (b->rows != rows || b->row == 0)
        b->rows = 0;
}

/* Inserts one run. If it continues the patch before it, in the file and in the batch, that patch
 * becomes longer. */
static void batch_insert(struct zbatch *b, uint64_t offset, const unsigned char *src,
                         uint64_t length)
{
    size_t k = patch_after(b, offset);
    memcpy(b->data + b->used, src, length);
    if (k > 0) {
        struct zpatch *before = &b->patch[k - 1];
        if (before->offset + before->length == offset && before->at + before->length == b->used) {
            before->length += length;
            b->used += length;
            return;
        }
    }
    memmove(b->patch + k + 1, b->patch + k, (b->count - k) * sizeof *b->patch);
    b->patch[k] = (struct zpatch){offset, length, b->used};
    b->count++;
    b->used += length;
}

static bool is_full(const struct zfile *f, const struct zbatch *b, size_t bytes, size_t runs)
{
    return b->count &&
           (b->used + bytes > batch_capacity(f) || b->count + runs > zstage_most_runs(f));
}

int zstage_write(struct zfile *f, const struct zmemory *m, const size_t shape[3],
                 const struct zmpi_run *runs, size_t count, const struct zmpi_range *range,
                 const struct zmpi_fills *fills, bool large)
{
    struct zmpi_job job = job_of(f, m, range, fills);
    struct zbatch *b;
    int rc = MPI_SUCCESS;
    if (!cut_all(f, runs, count))
        rc = zstage_flush(f);
    if (!rc)
        rc = find_batch(f, m->element, &job, large, &b);
    for (int i = 0; i < 2 && !rc && is_full(f, b, m->bytes, count); i++) {
        rc = i ? zstage_flush(f) : flush(f, b);
        if (!rc)
            rc = find_batch(f, m->element, &job, large, &b);
    }
    if (rc)
        return rc;
    if (!batch_reserve(b, batch_capacity(f), count))
        return zfile_raise_status(f, ZMPI_ERR_MEMORY, "staging");
    const unsigned char *src = m->data;
    const size_t values = m->bytes / zmpi_type_size(m->element);
    b->longest = b->longest > values ? b->longest : values;
    batch_note_shape(b, shape);
    for (size_t i = 0; i < count; i++) {
        batch_insert(b, runs[i].offset, src, runs[i].length);
        src += runs[i].length;
    }
    return MPI_SUCCESS;
}
