/* range_t.h - template: the value range, as codec/bound/range.c and range_scan.c. After words_t.h.
 */

struct F(range_args) {
    const T *src;
    uint64_t count;
    T threshold; /* numbers of this magnitude and above do not count; infinity: all finite ones do
                  */
    struct range_state *state;
};

struct F(extremes) {
    T min, max, fill;
};

ZD_FN int F(is_fill)(T magnitude)
{
    if ((double)magnitude > (double)ZMPI_CUDA_FLT_MAX)
        return 0;
    const float f = (float)magnitude;
    int found = 0;
    for (uint32_t i = 0; i < sizeof fill_values / sizeof *fill_values; i++)
        found |= f == fill_values[i];
    return found;
}

ZD_FN void F(range_take)(struct F(extremes) *r, T x, T threshold)
{
    const T magnitude = FABS(x);
    if (!(magnitude < threshold)) /* NaN */
        return;
    if (magnitude >= (T)1e19 && F(is_fill)(magnitude)) {
        r->fill = magnitude < r->fill ? magnitude : r->fill;
        return;
    }
    r->min = x < r->min ? x : r->min;
    r->max = x > r->max ? x : r->max;
}

KERNEL(F(range), struct F(range_args), a)
{
    ZD_SHARED(uint32_t, last);
    const uint64_t thread = (uint64_t)zd_bid() * THREADS + zd_tid();
    const uint64_t threads = (uint64_t)zd_gdim() * THREADS;
    const uint64_t odd = (16 - (uintptr_t)a.src % 16) % 16 / WIDTH;
    const uint64_t front = odd < a.count ? odd : a.count, quads = (a.count - front) / IN_QUAD;
    const uint64_t behind = front + quads * IN_QUAD;
    const QUAD *quad = (const QUAD *)(const void *)(a.src + front);
    struct F(extremes) r;
    r.min = r.fill = (T)INFINITY;
    r.max = -(T)INFINITY;
    if (thread < front)
        F(range_take)(&r, a.src[thread], a.threshold);
    if (behind + thread < a.count)
        F(range_take)(&r, a.src[behind + thread], a.threshold);
    for (uint64_t i = thread; i < quads; i += threads) {
        union F(quad_words) v;
        v.quad = LOAD_QUAD(quad + i);
        ZD_UNROLL
        for (uint32_t j = 0; j < IN_QUAD; j++)
            F(range_take)(&r, F(value)(v.word[j]), a.threshold);
    }
    for (uint32_t d = 16; d > 0; d /= 2) {
        const T min = F(zd_shfl_float)(r.min, d), max = F(zd_shfl_float)(r.max, d);
        const T fill = F(zd_shfl_float)(r.fill, d);
        r.min = min < r.min ? min : r.min;
        r.max = max > r.max ? max : r.max;
        r.fill = fill < r.fill ? fill : r.fill;
    }
    if (zd_lane() == 0) {
        zd_atomic_max_u64(&a.state->key[0], ~range_key((double)r.min));
        zd_atomic_max_u64(&a.state->key[1], range_key((double)r.max));
        zd_atomic_max_u64(&a.state->key[2], ~range_key((double)r.fill));
        zd_fence();
    }
    ZD_SYNC();
    if (zd_tid() == 0)
        *last = zd_atomic_add_u32(&a.state->done, 1) + 1 == zd_gdim();
    ZD_SYNC();
    if (*last && zd_tid() == 0) {
        zd_fence();
        zd_st_f64(&a.state->range.min, range_value(~zd_ld_acquire_u64(&a.state->key[0])));
        zd_st_f64(&a.state->range.max, range_value(zd_ld_acquire_u64(&a.state->key[1])));
        zd_st_f64(&a.state->range.fill, range_value(~zd_ld_acquire_u64(&a.state->key[2])));
    }
}
