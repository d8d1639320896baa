/* residual_t.h - template: differences of a chunk's integers in shared memory, 16 (or 8) blocks of
 * 32 per warp, one element of each block per lane. After quant_t.h. */

/* Element e less what comes before it along y, and that less the same of the plane before. What is
 * not there is `base`. `axes` is a constant in most calls. */
ZD_FN U F(difference_yz)(const struct tile *c, const U *q, U base, uint32_t axes, uint32_t e,
                         int has_y, int has_z)
{
    U d = q[e] - (axes & ZMPI_CUDA_Y && has_y ? q[e - c->x] : base);
    if (axes & ZMPI_CUDA_Z && has_z) {
        const uint32_t f = e - c->plane;
        d -= q[f] - (axes & ZMPI_CUDA_Y && has_y ? q[f - c->x] : base);
    }
    return d;
}

/* Along x alone, across the ends of rows. */
ZD_FN void F(residuals_x)(const struct tile *c, const U *q, U base, U r[VALUES])
{
    const uint32_t first = zd_warp() * VALUES * 32 + zd_lane();
    ZD_UNROLL
    for (uint32_t i = 0; i < VALUES; i++) {
        const uint32_t e = first + 32 * i;
        r[i] = e < c->count ? q[e] - (e > 0 ? q[e - 1] : base) : 0;
    }
}

/* Along any axes inside the tile; every lane keeps where its element is. flat: a constant, true if
 * the tile is one plane. */
ZD_FN void F(residuals_any)(const struct tile *c, const U *q, U base, uint32_t axes, int flat,
                            U r[VALUES])
{
    const uint32_t lane = zd_lane(), start = zd_warp() * VALUES * 32, first = start + lane;
    const uint32_t row = divide(first, c->by_x), step_row = divide(32, c->by_x);
    const uint32_t step_x = 32 - step_row * c->x;
    const uint32_t step_y = step_row - divide(step_row, c->by_y) * c->y;
    uint32_t x = first - row * c->x, y = row - divide(row, c->by_y) * c->y;
    U last = 0; /* the difference of the element before the block; not used where a row begins */
    if (axes & ZMPI_CUDA_X && start > 0 && start < c->count) {
        const uint32_t e = start - 1, r1 = divide(e, c->by_x);
        last = F(difference_yz)(c, q, base, axes, e, r1 - divide(r1, c->by_y) * c->y > 0,
                                e >= c->plane);
    }
    ZD_UNROLL
    for (uint32_t i = 0; i < VALUES; i++) {
        const uint32_t e = first + 32 * i;
        U d = e < c->count
                  ? F(difference_yz)(c, q, base, axes, e, flat ? e >= c->x : y > 0, e >= c->plane)
                  : 0;
        r[i] = d;
        if (axes & ZMPI_CUDA_X) {
            U left = F(zd_shfl_up)(d, 1);
            left = lane > 0 ? left : last;
            last = F(zd_shfl)(d, 31);
            r[i] -= x > 0 && e < c->count ? left : 0;
        }
        x += step_x;
        y += step_y;
        y += x >= c->x;
        x -= x >= c->x ? c->x : 0;
        y -= y >= c->y ? c->y : 0;
    }
}

/* One copy of the loop for each usual set of axes. */
ZD_FN void F(residuals)(const struct tile *c, const U *q, U base, uint32_t axes, U r[VALUES])
{
    if (axes == ZMPI_CUDA_X)
        F(residuals_x)(c, q, base, r);
    else if (axes == (ZMPI_CUDA_X | ZMPI_CUDA_Y) && c->z == 1)
        F(residuals_any)(c, q, base, ZMPI_CUDA_X | ZMPI_CUDA_Y, 1, r);
    else if (axes == (ZMPI_CUDA_X | ZMPI_CUDA_Y | ZMPI_CUDA_Z))
        F(residuals_any)(c, q, base, ZMPI_CUDA_X | ZMPI_CUDA_Y | ZMPI_CUDA_Z, 0, r);
    else
        F(residuals_any)(c, q, base, axes, 0, r);
}
