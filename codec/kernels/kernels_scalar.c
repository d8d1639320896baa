/* kernels_scalar.c - the set for any machine: the templates, and a range without intrinsics. */
#include <float.h>
#include <math.h>

#include "base/hash.h"
#include "kernels/kernels.h"

static bool always(void)
{
    return true;
}

static uint64_t hash(const void *src, size_t size)
{
    return zmpi_hash(src, size, 0);
}

static zmpi_range_fn range32, range64;

const struct zmpi_kernels zmpi_kernels_scalar = {
    .name = "scalar",
    .available = always,
    .encode32 = zmpi_chunk32_encode,
    .encode64 = zmpi_chunk64_encode,
    .decode32 = zmpi_chunk32_decode,
    .decode64 = zmpi_chunk64_decode,
    .cost32 = zmpi_chunk32_cost,
    .cost64 = zmpi_chunk64_cost,
    .range32 = range32,
    .range64 = range64,
    .hash = hash,
    .huffman_encode = &zmpi_huffman_encode_any,
    .huffman = &zmpi_huffman_loops_any,
    .interp = &zmpi_interp_loops_any,
    .net = zmpi_net_run_any,
};

/* ---- the range ---- */

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

#define T          float
#define FABS       fabsf
#define RANGE_NAME range32
#include "kernels/range_t.h"

#define T          double
#define FABS       fabs
#define RANGE_NAME range64
#include "kernels/range_t.h"
