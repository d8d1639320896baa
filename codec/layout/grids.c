/* grids.c - see grids.h. */
#include "layout/grids.h"

#include <math.h>

/* Adding and subtracting `magic` rounds a number below 2^51. The product is exact. */
static bool is_multiple(const struct zmpi_step *l, double x)
{
    const double magic = 0x1.8p52, q = (x * l->inverse + magic) - magic, back = q * l->step;
    return zmpi_step_reaches(l, x) && back <= x && back >= x;
}

/* The product was rounded, to f32 once more: the nearest integer may be beside the one that made
 * x. */
static bool is_of_unit(const struct zmpi_grids *g, double x)
{
    const double nearest = rint(x / g->unit);
    bool is = false;
    if (!(fabs(nearest) < 0x1p53))
        return false;
    for (int beside = -1; beside <= 1; beside++) {
        const double y = (nearest + beside) * g->unit,
                     z = g->type == ZMPI_F64 ? y : (double)(float)y;
        is |= z <= x && z >= x;
    }
    return is;
}

unsigned zmpi_grids_of(const struct zmpi_grids *g, double x)
{
    unsigned grids = 0;
    for (int k = 0; k < g->levels; k++)
        grids |= (unsigned)is_multiple(&g->step[k], x) << k;
    if (g->unit > 0)
        grids |= (unsigned)is_of_unit(g, x) << ZMPI_GRID_UNIT;
    return grids;
}
