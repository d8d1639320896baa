/* interp_lag.c - finds how far before a plane its most similar plane lies (format.md 4.10). */
#include <math.h>

#include "interp/interp_work.h"
#include "layout/plan.h"

/* So many planes are compared, by so many rows of each. */
enum { PLANES = 16, ROWS = 4, VALUES = 256 };

/* Estimates bits per value: those of the steps between planes and the planes `lag` before. Stops
 * when these are more than `most`. */
static double lag_cost(const struct zmpi_plan *p, double abs_bound, const unsigned char *src,
                       size_t lag, double most)
{
    const size_t *n = p->words, row_bytes = n[2] * p->width;
    const size_t step = n[2] / VALUES + 1, values = (n[2] - 1) / step + 1;
    const double inverse = 1 / (2 * abs_bound), enough = most * (double)(PLANES * ROWS * values);
    uint64_t bits = 0, count = 0;
    for (size_t k = 0; k < (size_t)PLANES * ROWS && (double)bits <= enough; k++) {
        const size_t z = lag + (2 * (k / ROWS) + 1) * (n[0] - lag) / (2 * PLANES);
        const size_t y = (2 * (k % ROWS) + 1) * n[1] / (2 * ROWS);
        const unsigned char *row = src + (z * n[1] + y) * row_bytes;
        const unsigned char *before = row - lag * n[1] * row_bytes;
        for (size_t i = 0; i < n[2]; i += step) {
            const double d =
                fabs(zmpi_interp_value(p->type, row, i) - zmpi_interp_value(p->type, before, i)) *
                inverse;
            if (!(d < 0x1p30))
                continue;
            bits += (uint64_t)(32 - __builtin_clz((uint32_t)d * 2 + 1));
            count++;
        }
    }
    return count && (double)bits <= enough ? (double)bits / (double)count : INFINITY;
}

unsigned zmpi_interp_find_lag(const struct zmpi_plan *p, double abs_bound, const unsigned char *src)
{
    const size_t planes = p->words[0];
    unsigned best = 1;
    double least = lag_cost(p, abs_bound, src, 1, INFINITY);
    for (size_t lag = 2; lag <= ZMPI_INTERP_LAG && 2 * lag <= planes; lag++) {
        const double cost = planes % lag ? INFINITY : lag_cost(p, abs_bound, src, lag, least);
        if (cost < least) {
            least = cost;
            best = (unsigned)lag;
        }
    }
    return best;
}
