/*
 * staging_components.c - staged data of several variables: many small calls, each of some whole
 * points, become a record for each variable. Where the calls lie regularly in the file, these
 * records have extents with a stride (format.md 2.4).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bound/fill.h"
#include "staging/staging_parts.h"
#include "file/zfile.h"
#include "judge/shape.h"
#include "mpi/runtime.h"

/* A component's record has so many elements, on average. Columns are so many elements apart that
 * their distance is no power of two. A piece has so many values at most. Columns are taken from so
 * many bytes at a time. */
enum { LEAST = 256, APART = 16, PIECE_MOST = 4096, BLOCK = 64 << 10 };

/* Planes are searched that have at most so many rows, and some for each element of a row, of which
 * a few are coded; and steps that have so many planes. */
enum { ROWS_LEAST = 64, ROWS_BY_ROW = 4, PLANES_FEW = 4, STEP_MOST = 256 };

/* At most this part of a full batch is kept for the next one. */
enum { KEEP_PART = 4 };

static bool have_whole_points(const struct zbatch *b, int n)
{
    const uint64_t point = (uint64_t)n * zmpi_type_size(b->element);
    for (size_t i = 0; i < b->count; i++)
        if (b->patch[i].length % point)
            return false;
    return true;
}

/* Looks that are long are taken at batches 1, 2, 4, 8, ... of those that are alike. */
static bool looks_at(unsigned batches)
{
    return (batches & (batches + 1)) == 0;
}

/* Without a range there is one bound for all components. Apart they are smaller if values agree
 * better with those of the point before than with their neighbours. Longer calls, which may be
 * arrays by themselves, are left alone: along their rows and planes they may agree even better. */
static int look_near(struct zfile *f, const struct zbatch *b, const unsigned char *data,
                     size_t count, bool *is_new)
{
    const struct zmpi_bound bound = zfile_bound(f, b->element);
    struct zdata *known = &f->data;
    if (b->longest > PIECE_MOST || zmpi_bound_needs_range(&bound) || !isfinite(b->abs_bound))
        return 1;
    const bool looks = looks_at(known->near_batches);
    known->near_batches++;
    if (looks) {
        const int n =
            zmpi_components_near(b->element, f->options.threshold, 2 * b->abs_bound, data, count);
        *is_new = n > 1 && n != known->near_components;
        known->near_components = n;
    }
    return known->near_components;
}

/* Looks at the data. The last batch of a file may be too small for that: it is as those before. */
static int look_for(struct zfile *f, const struct zbatch *b, const unsigned char *data,
                    size_t count, bool *is_new)
{
    int n = zmpi_components_recall(&f->data.components, b->element, f->options.threshold, data,
                                   count, is_new, NULL);
    if (n == 1 && count < (size_t)ZMPI_COMPONENTS_LEAST * ZMPI_COMPONENTS_FAST)
        n = f->data.staged_components ? f->data.staged_components : 1;
    if (n == 1)
        n = look_near(f, b, data, count, is_new);
    if (count >= (size_t)ZMPI_COMPONENTS_LEAST * ZMPI_COMPONENTS_FAST)
        f->data.staged_components = n;
    return n;
}

/* Are the batch's records of n components few, and do they fit a slot? */
static bool can_be_apart(const struct zfile *f, const struct zbatch *b, uint64_t bytes, size_t n)
{
    struct zparts parts;
    if (!have_whole_points(b, (int)n) || !zparts_find(b, &parts))
        return false;
    const size_t count = parts.count, points = bytes / zmpi_type_size(b->element) / n;
    zparts_free(&parts);
    return count * LEAST <= points && n * zencode_capacity(bytes / n, 1) <= zplace_slot_size(f);
}

int zstage_components(struct zfile *f, const struct zbatch *b, const unsigned char *data,
                      uint64_t bytes)
{
    const size_t count = bytes / zmpi_type_size(b->element);
    int n = f->options.components;
    bool is_new = false;
    if (n == 1 || n < 0 || (b->element != ZMPI_F32 && b->element != ZMPI_F64) ||
        f->options.bound.mode == ZMPI_RATIO || f->options.nic_write)
        return 1;
    if (!n)
        n = look_for(f, b, data, count, &is_new);
    if (n == 1 || !can_be_apart(f, b, bytes, (size_t)n))
        return 1;
    if (is_new)
        zmpi_log(ZMPI_LOG_INFO,
                 "%s: rank %d: %zu values in small pieces are %d interleaved components, as they "
                 "look: each is an array of its own (zmpi_components, ZMPI_COMPONENTS: another "
                 "number; 1: one array)",
                 f->path, f->rank, count, n);
    return n;
}

/* What is known of a batch's component: its place in the columns, and how it is coded. */
struct column {
    const unsigned char *data;
    struct zmpi_range range;
    struct zmpi_fills fills;
    double abs_bound;
};

/* A component's bound is that of its own range in the batch, but never larger than those of the
 * calls. */
static void look_at(const struct zfile *f, const struct zbatch *b, size_t points, struct column *c)
{
    const struct zmpi_array array = {b->element, {1, 1, points}};
    const struct zmpi_bound bound = zfile_bound(f, b->element);
    struct zmpi_job job = {.abs_bound = 0};
    c->fills = b->fills;
    c->abs_bound = b->abs_bound;
    c->range = ZMPI_RANGE_EMPTY;
    if (!zmpi_bound_needs_range(&bound))
        return;
    zmpi_fill_range(b->element, c->data, points, f->options.threshold, &c->fills,
                    zruntime_threads(&f->options), &c->range);
    zmpi_job_make(&array, &bound, &c->range, &job); /* on failure the bound stays 0: exact */
    zmpi_job_safe_bound(&job);
    c->abs_bound = fmin(b->abs_bound, job.abs_bound);
}

/* Elements of a component's row in the calls, if `points` of it are such rows; else 0. */
static size_t row_of(const struct zbatch *b, size_t n, size_t points)
{
    return b->row > n && b->row % n == 0 && points % (b->row / n) == 0 ? b->row / n : 0;
}

/* Sets the shapes that a component may have: elements of a row, 0: one row; rows of a plane, 0: one
 * plane. The first is that of the calls, else as the component lies in the file. `planes`: rows of
 * a plane, as the data look. Of blocks that come again, such as a cell in each step, all planes
 * together may be those of an array: then the plane before is the same block, one step earlier. */
static struct zchoice shapes_of(const struct zbatch *b, const struct zmpi_extent *all, size_t n,
                                size_t planes)
{
    const uint64_t point = n * zmpi_type_size(b->element);
    const size_t points = all->run / point, row = row_of(b, n, points);
    struct zchoice s = {.row = row ? row : all->levels ? points : 0, .count = 1};
    size_t block = s.row ? points / s.row : 0;
    s.rows[0] = row ? b->rows : 0;
    if (!s.rows[0] && all->levels)
        s.rows[0] = points > s.row ? block : all->count[0];
    if (!s.rows[0])
        s.rows[0] = planes;
    if (!s.row || !s.rows[0] || all->bytes / point % (s.row * s.rows[0]))
        return s;
    for (unsigned i = 0; i + 1 < all->levels; i++) {
        block *= all->count[i];
        if (block > s.rows[0])
            s.rows[s.count++] = block;
    }
    return s;
}

/* Of planes of rows[0], rows[1], ... rows, the number of those in which this column is smallest. */
static size_t choose(const struct zfile *f, const struct zbatch *b, const unsigned char *column,
                     size_t points, size_t row, const size_t rows[], size_t n)
{
    const struct zmpi_bound bound = zfile_bound(f, b->element);
    const struct zmpi_column data = {column, points, 1};
    enum zmpi_variant variant;
    return zmpi_shape_choose(b->element, &bound, f->options.threshold,
                             zmpi_options_encoder(&f->options, &variant), &data, row, rows, n);
}

_Static_assert((int)ZPARTS_MOST <= (int)ZCHOICES, "a choice for each part");

/* Chooses the shapes of part k's components, or takes those of the batch before. */
static const struct zchoice *choices(struct zfile *f, const struct zbatch *b,
                                     const struct column *column, size_t n, size_t first, size_t k,
                                     const struct zmpi_extent *all, size_t planes)
{
    const size_t width = zmpi_type_size(b->element), points = all->bytes / (n * width);
    const struct zchoice s = shapes_of(b, all, n, planes);
    struct zchoice *known = &f->data.choice[k];
    if (known->row != s.row || known->count != s.count ||
        memcmp(known->rows, s.rows, sizeof s.rows) != 0)
        *known = s;
    if (looks_at(known->batches) && known->batches != 1) /* the second is like the first */
        for (size_t c = 0; c < n; c++)
            known->best[c] = (unsigned char)choose(f, b, column[c].data + first * width, points,
                                                   s.row, s.rows, s.count);
    known->batches++;
    return known;
}

/* Makes the extent of component c from that of all n. */
static enum zmpi_status place(const struct zbatch *b, const struct zmpi_extent *all, size_t n,
                              size_t c, struct zmpi_extent *e)
{
    const uint64_t width = zmpi_type_size(b->element), points = all->run / (n * width);
    const unsigned more = points > 1;
    if (all->levels + more > ZMPI_EXTENT_LEVELS)
        return ZMPI_ERR_UNSUPPORTED;
    *e = (struct zmpi_extent){.lo = all->lo + c * width, .run = width};
    if (more) {
        e->count[0] = points;
        e->stride[0] = n * width;
    }
    for (unsigned i = 0; i < all->levels; i++) {
        e->count[i + more] = all->count[i];
        e->stride[i + more] = all->stride[i];
    }
    e->levels = all->levels + more;
    return zmpi_extent_close(e);
}

/* Encodes the points of part k, which begin with `first`. */
static int encode_part(struct zfile *f, const struct zbatch *b, const struct column *column,
                       size_t n, size_t first, size_t k, const struct zmpi_extent *all,
                       size_t planes)
{
    const size_t width = zmpi_type_size(b->element);
    const uint64_t order = f->log.last_here = zencode_order(f);
    const struct zchoice *choice = choices(f, b, column, n, first, k, all, planes);
    enum zmpi_status status = ZMPI_OK;
    int rc = MPI_SUCCESS;
    for (size_t c = 0; c < n && !rc && !status; c++) {
        struct zpiece piece = {.data = column[c].data + first * width,
                               .element = b->element,
                               .range = &column[c].range,
                               .fills = &column[c].fills,
                               .row = choice->row,
                               .rows = choice->rows[choice->best[c]],
                               .component = (int)c,
                               .order = &order};
        status = place(b, all, n, c, &piece.extent);
        rc = status ? MPI_SUCCESS : zencode_resolved(f, &piece, column[c].abs_bound, b->keep);
    }
    return status ? zfile_raise_status(f, status, "staging") : rc;
}

/* Sets rows[] to numbers of rows of which planes of this column may be; returns how many. */
static size_t planes_of(const struct zfile *f, const struct zbatch *b, const unsigned char *column,
                        size_t points, size_t row, size_t unit, size_t most, size_t rows[],
                        size_t n)
{
    const struct zmpi_bound bound = zfile_bound(f, b->element);
    const struct zmpi_column data = {column, points, 1};
    return zmpi_shape_planes(b->element, &bound, f->options.threshold, &data, row, unit, most, rows,
                             n);
}

/* Finds planes in rows without gaps, and steps of planes, as their data look. Samples find a few
 * that are nearly alike, since the rows beside the right one agree as well; coded chunks tell. */
static void find_planes(const struct zfile *f, const struct zbatch *b, const unsigned char *data,
                        size_t points, struct zplanes *known)
{
    const size_t row = known->row, most = ROWS_LEAST + ROWS_BY_ROW * row;
    size_t rows[1 + PLANES_FEW] = {points / row}, found = 1;
    if (!known->steps) {
        found += planes_of(f, b, data, points, row, 1, most, rows + 1, PLANES_FEW);
        known->rows[1] = rows[choose(f, b, data, points, row, rows, found)];
        known->rows[1] = known->rows[1] < rows[0] ? known->rows[1] : 0;
    }
    const size_t planes = known->rows[1], step = known->rows[0];
    if (!planes)
        return;
    rows[0] = planes;
    found = 1;
    if (step && 2 * step * row <= points)
        rows[found++] = step;
    if (!known->steps)
        found += planes_of(f, b, data, points, row, planes, STEP_MOST, rows + found, 1);
    const size_t best = choose(f, b, data, points, row, rows, found);
    known->steps = best > 0;
    if (best > 0)
        known->rows[0] = rows[best];
}

/* Encodes part k, without gaps: its whole steps, whole planes, and what is left. With `keep` little
 * that is left is not encoded but stays: returns its points. */
static size_t encode_rows(struct zfile *f, const struct zbatch *b, const struct column *column,
                          size_t n, size_t first, size_t k, const struct zmpi_extent *all,
                          bool keep, int *rc)
{
    const size_t width = zmpi_type_size(b->element);
    size_t points = all->run / (n * width);
    uint64_t at = all->lo;
    const size_t row = b->rows ? 0 : row_of(b, n, points);
    struct zplanes *known = &f->data.planes;
    if (known->row != row)
        *known = (struct zplanes){.row = row};
    if (row && looks_at(known->batches))
        find_planes(f, b, column[0].data + first * width, points, known);
    known->batches++;
    for (int i = known->steps ? 0 : 1; i < 3 && points && !*rc; i++) {
        const size_t rows = i < 2 && known->rows[i] * row <= points ? known->rows[i] : 0,
                     whole = rows ? points / (rows * row) * (rows * row) : points;
        const uint64_t bytes = whole * n * width;
        const struct zmpi_extent part = {.lo = at, .hi = at + bytes, .bytes = bytes, .run = bytes};
        *rc = encode_part(f, b, column, n, first, k, &part, rows);
        if (keep && KEEP_PART * (points - whole) <= points)
            return points - whole;
        points -= whole;
        first += whole;
        at += bytes;
    }
    return 0;
}

/* Returns the number of parts of which the batch mostly consists: those behind them have little,
 * since the batch ends inside a plane or a step. */
static size_t most_parts(const struct zparts *parts, uint64_t bytes)
{
    size_t end = parts->count;
    uint64_t hi = 0, group = 0, largest = 0, before = 0, left = 0;
    for (size_t k = 0; k < parts->count; k++) {
        const struct zmpi_extent *e = &parts->part[k].extent;
        if (e->lo >= hi) /* behind all others: a group begins, of parts that take turns */
            group = 0;
        hi = e->hi > hi ? e->hi : hi;
        group += e->bytes;
        before += e->bytes;
        if (group > largest) {
            largest = group;
            end = k + 1;
            left = bytes - before;
        }
    }
    return KEEP_PART * left <= bytes ? end : parts->count;
}

/* Takes the columns of a batch, in the order of the parts: a block that a cache holds at a time. */
static bool take_columns(const struct zbatch *b, const struct zparts *parts, size_t n,
                         unsigned char *columns, size_t plane)
{
    const size_t width = zmpi_type_size(b->element), most = BLOCK / (n * width) * (n * width);
    unsigned char *block = malloc(BLOCK);
    size_t have = 0;
    for (size_t i = 0; block && i < parts->patches; i++) {
        const struct zpatch *p = &parts->patch[i];
        for (size_t from = 0, some; from < p->length; from += some) {
            some = p->length - from < most - have ? p->length - from : most - have;
            memcpy(block + have, b->data + p->at + from, some);
            have += some;
            if (have < most && (i + 1 < parts->patches || from + some < p->length))
                continue;
            const size_t points = have / (n * width);
            zmpi_components_split(b->element, block, points, (int)n, 1, columns, plane);
            columns += points * width;
            have = 0;
        }
    }
    free(block);
    return block != NULL;
}

/* Encodes the columns of a batch, but for *left points if they may be kept. */
static int encode_columns(struct zfile *f, const struct zbatch *b, const struct zparts *parts,
                          uint64_t bytes, const unsigned char *columns, size_t n, bool keep,
                          size_t *left)
{
    struct column column[ZMPI_COMPONENTS_MOST];
    const size_t width = zmpi_type_size(b->element), points = bytes / width / n,
                 plane = points + APART, count = keep ? most_parts(parts, bytes) : parts->count;
    int rc = MPI_SUCCESS;
    size_t first = 0, kept = 0;
    for (size_t c = 0; c < n; c++) {
        column[c].data = columns + c * plane * width;
        look_at(f, b, points, &column[c]);
    }
    for (size_t k = 0; k < count && !rc; k++) {
        const struct zmpi_extent *all = &parts->part[k].extent;
        const bool last = k + 1 == parts->count;
        if (all->levels)
            rc = encode_part(f, b, column, n, first, k, all, 0);
        else
            kept = encode_rows(f, b, column, n, first, k, all, keep && last, &rc);
        first += all->bytes / width / n;
    }
    *left = rc ? 0 : points - first + kept;
    return rc;
}

int zstage_encode_components(struct zfile *f, const struct zbatch *b, uint64_t bytes, int n,
                             bool keep, uint64_t *left)
{
    const size_t width = zmpi_type_size(b->element), each = (size_t)n;
    unsigned char *columns = malloc(bytes + each * APART * width);
    struct zparts parts;
    struct znote *note = znote_now(f);
    size_t points = 0;
    int rc;
    if (note)
        note->components = n;
    const bool found = zparts_find(b, &parts);
    if (columns && found && take_columns(b, &parts, each, columns, bytes / width / each + APART))
        rc = encode_columns(f, b, &parts, bytes, columns, each, keep, &points);
    else
        rc = zfile_raise_status(f, ZMPI_ERR_MEMORY, "staging");
    if (found)
        zparts_free(&parts);
    free(columns);
    *left = points * each * width;
    return rc;
}
