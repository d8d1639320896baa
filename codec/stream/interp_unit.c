/* interp_unit.c - see interp_unit.h. */
#include "stream/interp_unit.h"

#include <math.h>

#include "bound/bound.h"
#include "bound/steady.h"
#include "interp/interp_work.h"

enum { VALUES = 512, PLACES = 16 };

/* Samples of an array, as candidates for integers. */
struct values {
    enum zmpi_type type;
    size_t count;
    double of[VALUES];
};

static void take_values(struct values *v, const struct zmpi_array *array, double keep,
                        const unsigned char *src)
{
    const size_t n = array->extent[0] * array->extent[1] * array->extent[2];
    v->type = array->type;
    v->count = 0;
    for (size_t k = 0; k < VALUES; k++) {
        /* The distances are uneven, because rows are often whole multiples of them. */
        const size_t i =
            (size_t)((double)n * ((double)k + (double)(k * 77 % VALUES) / VALUES) / VALUES);
        const double x = zmpi_interp_value(array->type, src, i);
        if (x != 0 && fabs(x) < keep)
            v->of[v->count++] = x;
    }
}

/* Counts the samples that an integer times the unit decodes to. */
static size_t count_decoded(const struct values *v, double unit)
{
    size_t count = 0;
    for (size_t i = 0; i < v->count; i++) {
        const double y = rint(v->of[i] / unit) * unit;
        count += v->of[i] == (v->type == ZMPI_F64 ? y : (double)(float)y);
    }
    return count;
}

/* Are most values fine enough to give their integers back after decoding: is half the value's last
 * place less than half a unit? */
static bool are_finer(const struct values *v, double unit)
{
    const int digits = v->type == ZMPI_F64 ? 53 : 24;
    size_t coarse = 0;
    for (size_t i = 0; i < v->count; i++)
        coarse += ldexp(1, ilogb(v->of[i]) + 1 - digits) >= unit;
    return coarse <= v->count / 8;
}

double zmpi_interp_find_unit(const struct zmpi_job *job, const unsigned char *src, bool *tells)
{
    const double own = zmpi_interp_unit(job->abs_bound);
    struct values v;
    take_values(&v, &job->array, job->keep, src);
    *tells = are_finer(&v, own);
    if (job->bound.mode != ZMPI_REL && job->bound.mode != ZMPI_PSNR)
        return own;
    const int place = zmpi_grid_below(job->abs_bound);
    double best = own;
    size_t most = count_decoded(&v, own);
    for (int k = 1; k <= 2 * PLACES && most < v.count - v.count / 8; k++) {
        const double bound = zmpi_grid_at(place + (k % 2 ? -(k / 2) : k / 2));
        const double unit = zmpi_interp_unit(zmpi_bound_round(job->array.type, bound));
        const size_t count = unit > 0 ? count_decoded(&v, unit) : 0;
        if (count >= v.count - v.count / 8) {
            best = unit;
            most = count;
        }
    }
    return best;
}
