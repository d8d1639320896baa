/* range.c - value range without NaN, infinities and fill values (format.md 4.1, 4.2). */
#include <math.h>
#include <stdbool.h>

#include "base/floats.h"
#include "kernels/kernels.h"

void zmpi_range_of(enum zmpi_type type, const void *src, size_t count, struct zmpi_range *range)
{
    const struct zmpi_floats program = zmpi_floats_begin();
    *range = ZMPI_RANGE_EMPTY;
    if (type == ZMPI_F32)
        zmpi_kernels()->range32(src, count, range);
    else if (type == ZMPI_F64)
        zmpi_kernels()->range64(src, count, range);
    zmpi_floats_end(program);
}

void zmpi_range_merge(struct zmpi_range *range, const struct zmpi_range *other)
{
    range->min = fmin(range->min, other->min);
    range->max = fmax(range->max, other->max);
    range->fill = fmin(range->fill, other->fill);
}
