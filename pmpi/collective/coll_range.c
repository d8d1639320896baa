/* coll_range.c - what a bound needs to know about all data of a call: their range, or the bound
 * that gives a ratio. */
#include "collective/coll.h"
#include "mpi/runtime.h"

/* ---- the value range ---- */

bool zcall_wants_range(const struct zcall *c)
{
    return !c->exact && zmpi_bound_needs_range(&c->state->options.bound);
}

static void look_for_fill(struct zcall *c, enum zmpi_type element, const void *data, size_t count,
                          int block, const struct zmpi_range *range)
{
    struct zmpi_fill *fill = block < 0 ? &c->fill : &c->apart.fill[block];
    struct zmpi_taken taken;
    if (c->again)
        return;
    zmpi_sample_take(&taken, element, data, count);
    *fill = zmpi_fill_merge(*fill, zmpi_fill_look(&taken, range));
}

/* Scans on the device that holds the data, or on the CPU, since only that separates components.
 * Exact data are left out: a small byte-swapped number may look like 1e300. */
static bool scan(struct zcall *c, const struct zblock *b, struct zpart *part, uint64_t bytes,
                 int block, unsigned char *scratch, struct zmpi_range *range)
{
    const struct zmpi_options *o = &c->state->options;
    const double threshold = c->again ? c->below : o->threshold;
    const struct zmpi_fills *fills = c->again ? &c->without : &o->fill;
    const enum zmpi_type element = b->type->element;
    const size_t count = bytes / zmpi_type_size(element);
    const bool apart = c->components > 1;
    if (apart && !zpart_to_host(part, bytes, scratch))
        return false;
    if (!zpiece_has_numbers(c, element, part->data, bytes))
        return true;
    if (apart) {
        zapart_scan(c, element, part->data, count);
        return true;
    }
    const struct zmpi_device *holder = fills->count ? NULL : part->holder;
    if (!holder || holder->range(element, part->data, count, threshold, range)) {
        if (!zpart_to_host(part, bytes, scratch))
            return false;
        zmpi_range_without(element, part->data, count, threshold, fills, zruntime_threads(o),
                           range);
    }
    look_for_fill(c, element, part->data, count, block, range);
    return true;
}

void zcall_scan(struct zcall *c, const struct zblock *b, unsigned char *scratch)
{
    enum zmpi_type element = b->type->element;
    bool good = true;
    uint64_t n;
    double start = zmpi_seconds();
    if (element != ZMPI_F32 && element != ZMPI_F64)
        return;
    for (uint64_t at = 0; at < b->bytes && good; at += n) {
        struct zmpi_range range = ZMPI_RANGE_EMPTY;
        struct zpart part;
        const int block = zapart_block(c, b, at);
        n = zblock_piece(b, at);
        if (block >= 0 && c->again && block != c->apart.only)
            continue;
        c->scanned += n;
        good = zblock_read(b, at, n, scratch, &part);
        if (good) {
            good = scan(c, b, &part, n, block, scratch, &range);
            zpart_free(&part);
        }
        if (good)
            zmpi_range_merge(block < 0 ? &c->range : &c->apart.range[block], &range);
    }
    if (!good)
        zcall_unreadable(c, b);
    c->scan += zmpi_seconds() - start;
}

static int share_range(struct zcall *c)
{
    enum { NUMBERS = 3 + ZMPI_FILL_SAID };
    double mine[NUMBERS] = {c->range.min, -c->range.max, c->range.fill}, all[NUMBERS];
    zmpi_fill_say(c->fill, mine + 3);
    int rc = PMPI_Allreduce(mine, all, NUMBERS, MPI_DOUBLE, MPI_MIN, c->state->comm);
    if (!rc) {
        c->range = (struct zmpi_range){all[0], -all[1], all[2]};
        c->fill = zmpi_fill_heard(all + 3);
    }
    return rc;
}

struct all_data {
    struct zcall *call;
    zcall_scan_fn *scan;
    void *context;
    struct zmpi_range *range; /* what a scan finds: the range of all data, or of a component */
    int rc;
};

/* zmpi_fill_scan_fn. Shares only the range, since fill values are known. */
static bool range_below(void *context, double threshold, const struct zmpi_fills *fills,
                        struct zmpi_range *range)
{
    struct all_data *a = context;
    struct zcall *c = a->call;
    struct zmpi_range *r = a->range;
    double all[3];
    c->again = true;
    c->below = threshold;
    c->without = *fills;
    *r = ZMPI_RANGE_EMPTY;
    a->scan(c, a->context);
    const double mine[3] = {r->min, -r->max, r->fill};
    a->rc = PMPI_Allreduce(mine, all, 3, MPI_DOUBLE, MPI_MIN, c->state->comm);
    if (!a->rc)
        *range = (struct zmpi_range){all[0], -all[1], all[2]};
    return !a->rc;
}

static int exclude_fill(struct zcall *c, zcall_scan_fn *scan_blocks, void *context,
                        struct zmpi_fill fill, struct zmpi_fills *fills, struct zmpi_range *range)
{
    struct all_data a = {c, scan_blocks, context, range, MPI_SUCCESS};
    struct zmpi_range found = *range;
    *fills = c->state->options.fill;
    zmpi_fill_exclude(fill, c->state->options.threshold, range_below, &a, fills, &found);
    *range = found;
    c->again = false;
    return a.rc;
}

/* Finds the range of each component. */
static int find_ranges(struct zcall *c, zcall_scan_fn *scan_blocks, void *context)
{
    struct zapart *a = &c->apart;
    for (int k = 0; k < zapart_number(c); k++) {
        a->range[k] = ZMPI_RANGE_EMPTY;
        a->fill[k] = ZMPI_FILL_NONE;
    }
    scan_blocks(c, context);
    int rc = zapart_share_ranges(c);
    for (int k = 0; k < zapart_number(c) && !rc; k++) {
        a->only = k;
        rc = exclude_fill(c, scan_blocks, context, a->fill[k], &a->fills[k], &a->range[k]);
    }
    return rc;
}

int zcall_find_range(struct zcall *c, zcall_scan_fn *scan_blocks, void *context)
{
    if (zapart_number(c))
        return find_ranges(c, scan_blocks, context);
    c->fill = ZMPI_FILL_NONE;
    scan_blocks(c, context);
    int rc = share_range(c);
    return rc ? rc : exclude_fill(c, scan_blocks, context, c->fill, &c->fills, &c->range);
}

/* ---- a ratio ---- */

bool zcall_wants_ratio(const struct zcall *c)
{
    return !c->exact && c->state->options.bound.mode == ZMPI_RATIO;
}

/* Makes the job for any part of the data. */
static struct zmpi_job ratio_job(const struct zcall *c)
{
    const struct zmpi_array any = {ZMPI_F64, {1, 1, 1}};
    const struct zmpi_options *o = &c->state->options;
    struct zmpi_job job = {.abs_bound = 0};
    zmpi_job_make(&any, &o->bound, &c->range, &job);
    zmpi_job_threshold(&job, o->threshold);
    zmpi_job_fills(&job, &c->fills);
    zmpi_options_encoder(o, &job.variant);
    job.encoder = c->way;
    return job;
}

void zcall_ratio_begin(struct zcall *c)
{
    if (zapart_number(c)) {
        zapart_ratio_begin(c);
        return;
    }
    const struct zmpi_job job = ratio_job(c);
    zmpi_ratio_search_begin(&c->search, &job, true);
}

void zcall_ratio_add(struct zcall *c, const struct zblock *b, unsigned char *scratch)
{
    enum zmpi_type element = b->type->element;
    bool good = true;
    uint64_t n;
    double start = zmpi_seconds();
    if ((element != ZMPI_F32 && element != ZMPI_F64) || (!zapart_number(c) && !(c->search.top > 0)))
        return;
    for (uint64_t at = 0; at < b->bytes && good; at += n) {
        struct zpart part;
        n = zblock_piece(b, at);
        good = zblock_read(b, at, n, scratch, &part);
        if (good) {
            struct zmpi_array a = zblock_array(b, n);
            good = zpart_to_host(&part, n, scratch);
            if (good && zapart_number(c))
                good = zapart_ratio_add(c, &a, part.data, zapart_block(c, b, at));
            else if (good)
                zmpi_ratio_search_add(&c->search, &a, part.data);
            zpart_free(&part);
        }
    }
    if (!good)
        zcall_unreadable(c, b);
    c->scan += zmpi_seconds() - start;
}

bool zcall_ratio_share(struct zcall *c, int *rc)
{
    *rc = PMPI_Allreduce(MPI_IN_PLACE, &c->search.sum, ZMPI_RATIO_SUMS, MPI_UINT64_T, MPI_SUM,
                         c->state->comm);
    if (!*rc && zapart_number(c))
        *rc = zapart_ratio_share(c);
    return !*rc && zmpi_ratio_search_next(&c->search);
}

double zcall_ratio_bound(const struct zcall *c)
{
    if (zapart_number(c))
        return zapart_ratio_bound(c);
    struct zmpi_job job = ratio_job(c);
    if (zmpi_job_open(&job))
        zmpi_ratio_search_apply(&c->search, &job);
    return job.abs_bound;
}
