/*
 * staging_components.c - staged data of several variables: many small calls, each of some whole
 * points, become a record for each variable. Where the calls lie regularly in the file, these
 * records have extents with a stride (format.md 2.4).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bound/fill.h"
#include "file/zfile.h"
#include "mpi/runtime.h"

/* A component's record has so many elements, on average. So many parts of a batch are regular by
 * themselves, at most. Columns are so many elements apart that their distance is no power of two.
 */
enum { LEAST = 256, PARTS_MOST = 16, APART = 16 };

static bool have_whole_points(const struct zbatch *b, int n)
{
    const uint64_t point = (uint64_t)n * zmpi_type_size(b->element);
    for (size_t i = 0; i < b->count; i++)
        if (b->patch[i].length % point)
            return false;
    return true;
}

/* Do n patches from p on lie as those from `first` on do? */
static bool lie_alike(const struct zpatch *first, const struct zpatch *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i].length != first[i].length ||
            p[i].offset - p[0].offset != first[i].offset - first[0].offset)
            return false;
    return true;
}

/* Returns how many patches from p on are regular in the file: rows, and planes of as many rows. */
static size_t regular(const struct zpatch *p, size_t count)
{
    size_t rows = 1, planes = 1;
    while (rows < count && p[rows].length == p[0].length &&
           p[rows].offset - p[rows - 1].offset == p[1].offset - p[0].offset)
        rows++;
    if (rows == count)
        return rows;
    const uint64_t step = p[rows].offset - p[0].offset;
    while ((planes + 1) * rows <= count && lie_alike(p, p + planes * rows, rows) &&
           p[planes * rows].offset - p[(planes - 1) * rows].offset == step)
        planes++;
    return planes * rows;
}

static size_t parts_of(const struct zbatch *b)
{
    size_t parts = 0;
    for (size_t at = 0; at < b->count; at += regular(b->patch + at, b->count - at))
        parts++;
    return parts;
}

/* Looks at the data. The last batch of a file may be too small for that: it is as those before. */
static int look_for(struct zfile *f, const struct zbatch *b, const unsigned char *data,
                    size_t count, bool *is_new)
{
    int n = zmpi_components_recall(&f->data.components, b->element, f->options.threshold, data,
                                   count, is_new, NULL);
    if (n == 1 && count < (size_t)ZMPI_COMPONENTS_LEAST * ZMPI_COMPONENTS_FAST)
        n = f->data.staged_components ? f->data.staged_components : 1;
    else
        f->data.staged_components = n;
    return n;
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
    if (n == 1 || !have_whole_points(b, n))
        return 1;
    const size_t parts = parts_of(b);
    if (parts > PARTS_MOST || parts * LEAST > count / (size_t)n ||
        (size_t)n * zencode_capacity(bytes / (size_t)n, 1) > zplace_slot_size(f))
        return 1;
    if (is_new)
        zmpi_log(ZMPI_LOG_INFO,
                 "%s: rank %d: %zu values in small pieces are %d interleaved components, as they "
                 "look: each has its own range (zmpi_components, ZMPI_COMPONENTS: another number; "
                 "1: one array)",
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

/* Rows and planes of a component: those of the calls, else as they lie in the file. */
static void shape(const struct zbatch *b, const struct zmpi_extent *all, size_t n,
                  struct zpiece *piece)
{
    const size_t points = all->run / (n * zmpi_type_size(b->element));
    const bool known = b->row > n && b->row % n == 0 && points % (b->row / n) == 0;
    piece->row = known ? b->row / n : all->levels ? points : 0;
    piece->rows = known ? b->rows : 0;
    if (!piece->rows && all->levels)
        piece->rows = points > piece->row ? points / piece->row : all->count[0];
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

/* Encodes the points from `first` on, which lie at `runs` in the file. */
static int encode_part(struct zfile *f, const struct zbatch *b, const struct column *column,
                       size_t n, size_t first, const struct zmpi_run *runs, size_t count)
{
    struct zmpi_extent all;
    const size_t width = zmpi_type_size(b->element);
    const uint64_t order = f->log.last_here = zencode_order(f);
    enum zmpi_status status = zmpi_extent_from_runs(&all, runs, count);
    int rc = MPI_SUCCESS;
    for (size_t c = 0; c < n && !rc && !status; c++) {
        struct zpiece piece = {.data = column[c].data + first * width,
                               .element = b->element,
                               .range = &column[c].range,
                               .fills = &column[c].fills,
                               .component = (int)c,
                               .order = &order};
        shape(b, &all, n, &piece);
        status = place(b, &all, n, c, &piece.extent);
        rc = status ? MPI_SUCCESS : zencode_resolved(f, &piece, column[c].abs_bound, b->keep);
    }
    return status ? zfile_raise_status(f, status, "staging") : rc;
}

static int encode_parts(struct zfile *f, const struct zbatch *b, const struct column *column,
                        size_t n, struct zmpi_run *runs)
{
    const size_t width = zmpi_type_size(b->element);
    int rc = MPI_SUCCESS;
    for (size_t i = 0; i < b->count; i++)
        runs[i] = (struct zmpi_run){b->patch[i].offset, b->patch[i].length};
    for (size_t at = 0, point = 0, count; at < b->count && !rc; at += count) {
        count = regular(b->patch + at, b->count - at);
        rc = encode_part(f, b, column, n, point, runs + at, count);
        for (size_t i = at; i < at + count; i++)
            point += runs[i].length / (n * width);
    }
    return rc;
}

int zstage_encode_components(struct zfile *f, const struct zbatch *b, const unsigned char *data,
                             uint64_t bytes, int n)
{
    struct column column[ZMPI_COMPONENTS_MOST];
    const size_t width = zmpi_type_size(b->element), parts = (size_t)n,
                 points = bytes / width / parts, plane = points + APART;
    unsigned char *columns = malloc(parts * plane * width);
    struct zmpi_run *runs = malloc(b->count * sizeof *runs);
    struct znote *note = znote_now(f);
    int rc;
    if (note)
        note->components = n;
    if (columns && runs) {
        zmpi_components_split(b->element, data, points, n, zruntime_threads(&f->options), columns,
                              plane);
        for (size_t c = 0; c < parts; c++) {
            column[c].data = columns + c * plane * width;
            look_at(f, b, points, &column[c]);
        }
        rc = encode_parts(f, b, column, parts, runs);
    } else {
        rc = zfile_raise_status(f, ZMPI_ERR_MEMORY, "staging");
    }
    free(columns);
    free(runs);
    return rc;
}
