/* job.c - a bound and the range of the data become a job with an absolute bound
 * (format.md 4.1, 4.2). */
#include <float.h>
#include <math.h>

#include "bound/bound.h"
#include "bound/steady.h"
#include "layout/chunk.h"

/* The threshold for fill values that stand apart, if there are other values (format.md 4.2). */
static double keep_fill(const struct zmpi_range *range)
{
    const bool others = range->min <= range->max;
    const bool apart = !others || range->fill > fmax(fabs(range->min), fabs(range->max));
    return apart ? range->fill : (double)INFINITY;
}

/*
 * Errors that spread evenly over -eb..eb have the root mean square eb / sqrt 3, and errors below eb
 * never exceed eb. So the first bound to try comes from the former, a little smaller for chance,
 * and the last one from the latter.
 */
static void set_psnr(struct zmpi_job *j, const struct zmpi_range *range)
{
    static const double scale[] = {1, 0.9375, 1 / 1.725};
    const enum zmpi_type type = j->array.type;
    double bound = zmpi_steady_bound(type, 1.725 * pow(10, -j->bound.value / 20), scale, 3, range);
    j->keep = keep_fill(range);
    j->finer[1] = zmpi_bound_round(type, bound * scale[2]);
    if (!(j->finer[1] > 0))
        return;
    j->finer[0] = zmpi_bound_round(type, bound * scale[1]);
    j->abs_bound = zmpi_bound_round(type, bound);
}

static double rel_bound(const struct zmpi_job *j, const struct zmpi_range *range)
{
    static const double scale[] = {1};
    return zmpi_bound_round(j->array.type,
                            zmpi_steady_bound(j->array.type, j->bound.value, scale, 1, range));
}

enum zmpi_status zmpi_job_make(const struct zmpi_array *array, const struct zmpi_bound *bound,
                               const struct zmpi_range *range, struct zmpi_job *job)
{
    size_t bytes;
    enum zmpi_status s = zmpi_array_bytes(array, &bytes);
    if (s)
        return s;
    struct zmpi_job j = {
        .array = *array, .bound = *bound, .keep = (double)INFINITY, .encoder = 1, .threads = 1};
    bool is_float = array->type == ZMPI_F32 || array->type == ZMPI_F64;
    if (!is_float)
        j.bound = (struct zmpi_bound){ZMPI_LOSSLESS, 0};
    if (j.bound.mode == ZMPI_LOSSLESS)
        j.bound.value = 0;
    else if (!zmpi_bound_is_valid(&j.bound))
        return ZMPI_ERR_BOUND;
    else if (zmpi_bound_needs_range(&j.bound) && !range)
        return ZMPI_ERR_ARG;
    switch (j.bound.mode) {
    case ZMPI_ABS:
        j.abs_bound = zmpi_bound_round(array->type, bound->value);
        if (bound->value < 1e10)
            j.keep = 1e20;
        break;
    case ZMPI_REL:
        j.abs_bound = rel_bound(&j, range);
        j.keep = keep_fill(range);
        break;
    case ZMPI_PSNR:
        set_psnr(&j, range);
        break;
    case ZMPI_RATIO:
        j.top = zmpi_bound_round(array->type, fmin(range->max - range->min, DBL_MAX));
        j.keep = keep_fill(range);
        break;
    case ZMPI_PW_REL:
        j.abs_bound = zmpi_shift_of(array->type, bound->value) ? (double)INFINITY : 0;
        j.keep = keep_fill(range);
        break;
    default:
        break;
    }
    *job = j;
    return ZMPI_OK;
}

void zmpi_job_threshold(struct zmpi_job *job, double threshold)
{
    if ((job->abs_bound > 0 || zmpi_job_open(job)) && threshold > 0)
        job->keep = fmin(job->keep, threshold);
}

void zmpi_job_fills(struct zmpi_job *job, const struct zmpi_fills *fills)
{
    job->fills.count = 0;
    for (int i = 0; i < fills->count; i++)
        if ((job->abs_bound > 0 || zmpi_job_open(job)) && isfinite(fills->value[i]))
            job->fills.value[job->fills.count++] = fills->value[i];
}
