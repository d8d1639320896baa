/* residual_t.h - template: differences of a chunk's integers in shared memory, 16 (or 8) blocks of
 * 32 per warp, one element of each block per lane. After quant_t.h. */

/* Element e less what comes before it along y, and along z, if `axes` has it, that less the same of
 * the plane before. What is not there is `base`. */
ZD_FN U F(difference_yz)(const struct tile *c, const U *q, U base, uint32_t axes, uint32_t e,
                         int has_y)
{
    const U d = q[e] - (has_y ? q[e - c->x] : base);
    if (!(axes & ZMPI_CUDA_Z) || e < c->plane)
        return d;
    const uint32_t f = e - c->plane;
    return d - (q[f] - (has_y ? q[f - c->x] : base));
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

/* Along x and y, or x, y and z, as `axes`, a constant, says; `deep`, another: the tile may have
 * several planes. Every lane keeps where its element is. */
ZD_FN void F(residuals_tile)(const struct tile *c, const U *q, U base, uint32_t axes, int deep,
                             U r[VALUES])
{
    const uint32_t lane = zd_lane(), start = zd_warp() * VALUES * 32, first = start + lane;
    const uint32_t row = divide(first, c->by_x), step_row = divide(32, c->by_x);
    const uint32_t step_x = 32 - step_row * c->x;
    const uint32_t step_y = step_row - divide(step_row, c->by_y) * c->y;
    uint32_t x = first - row * c->x, y = row - divide(row, c->by_y) * c->y;
    U last = 0; /* the difference of the element before the block; not used where a row begins */
    if (start > 0 && start < c->count) {
        const uint32_t before = divide(start - 1, c->by_x);
        const uint32_t in_plane = before - divide(before, c->by_y) * c->y;
        last = F(difference_yz)(c, q, base, axes, start - 1, in_plane > 0);
    }
    ZD_UNROLL
    for (uint32_t i = 0; i < VALUES; i++) {
        const uint32_t e = first + 32 * i;
        const int in = e < c->count, has_y = deep ? y > 0 : e >= c->x;
        const U d = in ? F(difference_yz)(c, q, base, axes, e, has_y) : 0;
        const U below = F(zd_shfl_up)(d, 1), left = lane > 0 ? below : last;
        last = F(zd_shfl)(d, 31);
        r[i] = d - (in && x > 0 ? left : 0);
        x += step_x;
        y += step_y + (x >= c->x);
        x -= x >= c->x ? c->x : 0;
        y -= y >= c->y ? c->y : 0;
    }
}

/* Along any axes, one after the other, in shared memory: for sets of axes that are rare, with few
 * registers. Barriers inside. */
ZD_FN void F(residuals_slowly)(const struct tile *c, U *q, U base, uint32_t axes, U r[VALUES])
{
    const uint32_t first = zd_warp() * VALUES * 32 + zd_lane();
    ZD_UNROLL
    for (uint32_t i = 0; i < VALUES; i++)
        r[i] = first + 32 * i < c->count ? q[first + 32 * i] - base : 0;
    ONE_BY_ONE
    for (uint32_t axis = ZMPI_CUDA_X; axis <= ZMPI_CUDA_Z; axis *= 2) {
        const uint32_t back = axis == ZMPI_CUDA_X ? 1 : axis == ZMPI_CUDA_Y ? c->x : c->plane;
        if (!(axes & axis))
            continue;
        ZD_SYNC();
        ZD_UNROLL
        for (uint32_t i = 0; i < VALUES; i++)
            q[first + 32 * i] = r[i];
        ZD_SYNC();
        ZD_UNROLL
        for (uint32_t i = 0; i < VALUES; i++) {
            const uint32_t e = first + 32 * i, row = divide(e, c->by_x);
            const uint32_t at = axis == ZMPI_CUDA_X   ? e - row * c->x
                                : axis == ZMPI_CUDA_Y ? row - divide(row, c->by_y) * c->y
                                                      : e >= c->plane;
            r[i] -= at > 0 && e < c->count ? q[e - back] : 0;
        }
    }
}

/* A loop for each usual set of axes. */
ZD_FN void F(residuals)(const struct tile *c, U *q, U base, uint32_t axes, U r[VALUES])
{
    if (axes == ZMPI_CUDA_X)
        F(residuals_x)(c, q, base, r);
    else if (axes == (ZMPI_CUDA_X | ZMPI_CUDA_Y) && c->z == 1)
        F(residuals_tile)(c, q, base, ZMPI_CUDA_X | ZMPI_CUDA_Y, 0, r);
    else if (axes == (ZMPI_CUDA_X | ZMPI_CUDA_Y)) /* smooth arrays of three dimensions too */
        F(residuals_tile)(c, q, base, ZMPI_CUDA_X | ZMPI_CUDA_Y, 1, r);
    else if (axes == (ZMPI_CUDA_X | ZMPI_CUDA_Y | ZMPI_CUDA_Z))
        F(residuals_tile)(c, q, base, ZMPI_CUDA_X | ZMPI_CUDA_Y | ZMPI_CUDA_Z, 1, r);
    else
        F(residuals_slowly)(c, q, base, axes, r);
}
