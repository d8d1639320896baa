/*
 * call_bound.c - the bound and the fill value of one write call. They are the file's, unless a rule
 * names the call, or the dataset that HDF5 writes with it. Ranks that write together have the same.
 */
#include <limits.h>
#include <math.h>

#include "transfer/call_bound.h"
#include "datatype/known.h"

/* The magnitude where the usual fill values begin, which are always exact. */
#define USUAL_FILL 1e20

/* Compares values, so that -0 and 0 are the same. */
static bool same_fills(const struct zmpi_fills *a, const struct zmpi_fills *b)
{
    bool same = a->count == b->count;
    for (int i = 0; same && i < (int)a->count; i++)
        same = a->value[i] == b->value[i]; // NOLINT
    return same;
}

static struct zmpi_bound bound_of(const struct zfile *f, uint64_t number,
                                  const struct zknown_rule *dataset)
{
    struct zmpi_bound bound = dataset && dataset->bounded ? dataset->bound : f->file_bound;
    if (f->call_rules && number <= INT_MAX)
        zmpi_rules_call(&f->options, f->path, (unsigned)number, &bound);
    return bound;
}

/* The user's fill value comes before the dataset's. The dataset's counts only if it is below the
 * usual magnitude, since larger ones are exact anyway. */
static struct zmpi_fills fill_of(const struct zfile *f, const struct zknown_rule *dataset)
{
    const struct zmpi_options *o = &f->options;
    const bool named = o->source[zmpi_option_index("fill")] != ZMPI_FROM_DEFAULT;
    const double usual = o->threshold > 0 ? o->threshold : USUAL_FILL;
    if (named || !dataset)
        return o->fill;
    const bool needed = dataset->fill.count && fabs(dataset->fill.value[0]) < usual;
    return needed ? dataset->fill : (struct zmpi_fills){0};
}

int zcall_bound(struct zfile *f, uint64_t number, bool collective)
{
    /* Outside of H5Dwrite, HDF5 writes metadata, which are exact whatever the bound. */
    const struct zknown_rule *dataset = f->hdf5 ? zknown_rule() : NULL;
    struct zmpi_bound bound = f->options.bound;
    f->call = (struct zcall_number){number, collective, true};
    if (!f->call_rules && !dataset)
        return MPI_SUCCESS;
    if (f->options.bound_set && !zmpi_option_is_hint(&f->options, "error_bound"))
        bound = bound_of(f, number, dataset);
    const struct zmpi_fills fill = fill_of(f, dataset);
    if (bound.mode == f->options.bound.mode && bound.value == f->options.bound.value && // NOLINT
        same_fills(&fill, &f->options.fill))
        return MPI_SUCCESS;
    int rc = zstage_flush(f);
    f->options.bound = bound;
    f->options.fill = fill;
    return rc;
}
