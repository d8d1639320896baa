/* range.c - value range without NaN, infinities and fill values (format.md 4.1, 4.2). */
#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "base/floats.h"
#include "kernels/kernels.h"

static bool is_fill(double magnitude)
{
    static const float fill[] = {1e20F, 1e21F, 1e22F, 1e23F,     1e24F,       1e25F,  1e26F, 1e27F,
                                 1e28F, 1e29F, 1e30F, 1e31F,     1e32F,       1e33F,  1e34F, 1e35F,
                                 1e36F, 1e37F, 1e38F, 9.999e20F, 9.96921e36F, FLT_MAX};
    if (magnitude > (double)FLT_MAX)
        return false;
    float f = (float)magnitude;
    for (size_t i = 0; i < sizeof fill / sizeof *fill; i++)
        if (f == fill[i])
            return true;
    return false;
}

void zmpi_range_take(struct zmpi_range *r, double x)
{
    double magnitude = fabs(x);
    if (!isfinite(x))
        return;
    if (magnitude >= ZMPI_ORDINARY && is_fill(magnitude)) {
        r->fill = fmin(r->fill, magnitude);
        return;
    }
    r->min = fmin(r->min, x);
    r->max = fmax(r->max, x);
}

void zmpi_range_of(enum zmpi_type type, const void *src, size_t count, struct zmpi_range *range)
{
    const struct zmpi_floats program = zmpi_floats_hold();
    *range = ZMPI_RANGE_EMPTY;
    if (type == ZMPI_F32)
        zmpi_kernels()->range32(src, count, range);
    else if (type == ZMPI_F64)
        zmpi_kernels()->range64(src, count, range);
    zmpi_floats_release(program);
}

void zmpi_range_merge(struct zmpi_range *range, const struct zmpi_range *other)
{
    range->min = fmin(range->min, other->min);
    range->max = fmax(range->max, other->max);
    range->fill = fmin(range->fill, other->fill);
}
