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
 * their distance is no power of two. A piece has so many values at most. */
enum { LEAST = 256, APART = 16, PIECE_MOST = 4096 };

static bool have_whole_points(const struct zbatch *b, int n)
{
    const uint64_t point = (uint64_t)n * zmpi_type_size(b->element);
    for (size_t i = 0; i < b->count; i++)
        if (b->patch[i].length % point)
            return false;
    return true;
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
    const bool looks = (known->near_batches & (known->near_batches + 1)) == 0;
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

/* Rows and planes of a component: those of the calls, else as they lie in the file. `planes`: rows
 * of a plane, as the data look. */
static void shape(const struct zbatch *b, const struct zmpi_extent *all, size_t n, size_t planes,
                  struct zpiece *piece)
{
    const size_t points = all->run / (n * zmpi_type_size(b->element)), row = row_of(b, n, points);
    piece->row = row ? row : all->levels ? points : 0;
    piece->rows = row ? b->rows : 0;
    if (!piece->rows && all->levels)
        piece->rows = points > piece->row ? points / piece->row : all->count[0];
    if (!piece->rows)
        piece->rows = planes;
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

/* Encodes the points of a part, which begin with `first`. */
static int encode_part(struct zfile *f, const struct zbatch *b, const struct column *column,
                       size_t n, size_t first, const struct zmpi_extent *all, size_t planes)
{
    const size_t width = zmpi_type_size(b->element);
    const uint64_t order = f->log.last_here = zencode_order(f);
    enum zmpi_status status = ZMPI_OK;
    int rc = MPI_SUCCESS;
    for (size_t c = 0; c < n && !rc && !status; c++) {
        struct zpiece piece = {.data = column[c].data + first * width,
                               .element = b->element,
                               .range = &column[c].range,
                               .fills = &column[c].fills,
                               .component = (int)c,
                               .order = &order};
        shape(b, all, n, planes, &piece);
        status = place(b, all, n, c, &piece.extent);
        rc = status ? MPI_SUCCESS : zencode_resolved(f, &piece, column[c].abs_bound, b->keep);
    }
    return status ? zfile_raise_status(f, status, "staging") : rc;
}

/* Returns the rows of a plane, of rows without gaps, as their data look; 0: none. A batch may end
 * inside a plane: then the search takes a number of rows with many divisors. */
static size_t planes_of(const struct zfile *f, const struct zbatch *b, const void *data,
                        size_t points, size_t row)
{
    static const size_t multiple[] = {1, 720, 448};
    const struct zmpi_bound bound = zfile_bound(f, b->element);
    size_t planes = 0;
    for (size_t i = 0; i < sizeof multiple / sizeof *multiple && !planes; i++) {
        const size_t some = points / row / multiple[i] * multiple[i] * row;
        const struct zmpi_column column = {data, some, 1};
        planes = zmpi_shape_planes(b->element, &bound, f->options.threshold, &column, some, row);
    }
    return planes;
}

/* Encodes a part without gaps: its whole planes, and what is left. */
static int encode_rows(struct zfile *f, const struct zbatch *b, const struct column *column,
                       size_t n, size_t first, const struct zmpi_extent *all)
{
    const size_t width = zmpi_type_size(b->element), points = all->run / (n * width),
                 row = row_of(b, n, points);
    const size_t planes =
        row && !b->rows ? planes_of(f, b, column[0].data + first * width, points, row) : 0;
    const size_t whole = planes ? points / (planes * row) * (planes * row) : points;
    const uint64_t cut = all->lo + whole * n * width;
    const struct zmpi_extent
        head = {.lo = all->lo, .hi = cut, .bytes = cut - all->lo, .run = cut - all->lo},
        tail = {.lo = cut, .hi = all->hi, .bytes = all->hi - cut, .run = all->hi - cut};
    int rc = encode_part(f, b, column, n, first, &head, planes);
    if (!rc && whole < points)
        rc = encode_part(f, b, column, n, first + whole, &tail, 0);
    return rc;
}

/* Takes the columns of data, which are in the order of the parts, and encodes them. */
static int encode_columns(struct zfile *f, const struct zbatch *b, const struct zparts *parts,
                          const unsigned char *data, uint64_t bytes, unsigned char *columns,
                          size_t n)
{
    struct column column[ZMPI_COMPONENTS_MOST];
    const size_t width = zmpi_type_size(b->element), points = bytes / width / n,
                 plane = points + APART;
    int rc = MPI_SUCCESS;
    zmpi_components_split(b->element, data, points, (int)n, zruntime_threads(&f->options), columns,
                          plane);
    for (size_t c = 0; c < n; c++) {
        column[c].data = columns + c * plane * width;
        look_at(f, b, points, &column[c]);
    }
    for (size_t k = 0, first = 0; k < parts->count && !rc; k++) {
        const struct zmpi_extent *all = &parts->part[k].extent;
        rc = all->levels ? encode_part(f, b, column, n, first, all, 0)
                         : encode_rows(f, b, column, n, first, all);
        first += all->bytes / width / n;
    }
    return rc;
}

int zstage_encode_components(struct zfile *f, const struct zbatch *b, uint64_t bytes, int n)
{
    const size_t width = zmpi_type_size(b->element), each = (size_t)n;
    unsigned char *columns = malloc(bytes + each * APART * width), *data = NULL;
    struct zparts parts;
    struct znote *note = znote_now(f);
    int rc;
    if (note)
        note->components = n;
    const bool found = zparts_find(b, &parts);
    if (found)
        data = zparts_data(b, &parts);
    if (columns && data)
        rc = encode_columns(f, b, &parts, data, bytes, columns, each);
    else
        rc = zfile_raise_status(f, ZMPI_ERR_MEMORY, "staging");
    if (found)
        zparts_free(&parts);
    free(columns);
    free(data);
    return rc;
}
