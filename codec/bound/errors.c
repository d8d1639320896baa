/* errors.c - the errors of decoded chunks (format.md 4.1, psnr). */
#include "bound/errors.h"

#include <math.h>
#include <string.h>

#define UNIT 2048.0 /* units in a bound; its square is exact in either type */

#define T       float
#define FABS    fabsf
#define ADD_ROW add_row32
#include "bound/errors_t.h"

#define T       double
#define FABS    fabs
#define ADD_ROW add_row64
#include "bound/errors_t.h"

void zmpi_errors_add(struct zmpi_errors *e, enum zmpi_type type, const struct zmpi_rows *tile,
                     const size_t extent[3], const unsigned char *decoded, double bound,
                     double keep)
{
    const size_t bytes = extent[2] * zmpi_type_size(type);
    for (size_t z = 0; z < extent[0]; z++)
        for (size_t y = 0; y < extent[1]; y++, decoded += bytes) {
            const unsigned char *x = tile->at + z * tile->plane + y * tile->row;
            (type == ZMPI_F64 ? add_row64 : add_row32)(e, x, decoded, extent[2], bound, keep);
        }
}

bool zmpi_errors_within(const struct zmpi_errors *e, double bound, double rmse)
{
    double units = UNIT * (rmse / bound);
    return (double)e->squares <= units * units * (double)e->count;
}
