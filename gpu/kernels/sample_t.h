/*
 * sample_t.h - template: the kernel before the compression. It prepares the workspace; its first
 * block of threads chooses the axes from sampled blocks of 32 elements (format.md 4.6), unless the
 * host has. After quant_t.h.
 */

struct F(sample_args) {
    struct zmpi_cuda_tiles tiles;
    const void *src;
    struct zmpi_cuda_result *result;
    uint32_t *ticket;
    uint64_t *state;
    uint64_t chunks; /* the first chunks, which may be sampled */
    uint32_t samples;
    uint32_t chosen; /* not 0: its lowest bits are the axes, and nothing is sampled */
    struct F(rule) rule;
};

struct F(sampler) {
    struct tile tile[WARPS];
    uint32_t cost[8], counted;
};

/* An element minus its neighbours: none; along y; along z; along both. */
struct F(cell) {
    U d[4];
    int fails; /* one of them cannot be quantized */
};

/* The integer of a word; sets *fails if it has none. */
ZD_FN U F(sample_integer)(const struct F(rule) *rule, U word, int *fails)
{
    if (rule->levels > 0) {
        const struct F(level) *l = &rule->level[rule->levels - 1];
        const T x = F(value)(word);
        *fails |= !(FABS(x) <= l->limit);
        return F(quantize)(l, FABS(x) <= l->limit ? x : 0).q;
    }
    *fails |= rule->shift && F(shift_fails)(word, rule->rounded);
    return F(integer_of)(rule, rule->shift, word);
}

ZD_FN struct F(cell)
    F(cell_at)(const struct F(sample_args) *a, const struct tile *c, U base, uint32_t e)
{
    const uint32_t row = divide(e, c->by_x), z = divide(row, c->by_y), y = row - z * c->y;
    struct F(cell) cell;
    U w[4];
    cell.fails = 0;
    for (uint32_t k = 0; k < 4; k++) {
        w[k] = 0;
        if (((k & 1) && y == 0) || ((k & 2) && z == 0))
            continue;
        const uint32_t from = e - (k & 1 ? c->x : 0) - (k & 2 ? c->plane : 0);
        const U word = F(load_word)(&a->tiles, a->src, word_at(&a->tiles, c, from));
        w[k] = F(sample_integer)(&a->rule, word, &cell.fails) - base;
    }
    cell.d[0] = w[0];
    cell.d[1] = w[0] - w[1];
    cell.d[2] = w[0] - w[2];
    cell.d[3] = cell.d[2] - w[1] + w[3];
    return cell;
}

/* One warp adds what one block would cost. */
ZD_FN void F(sample_block)(const struct F(sample_args) *a, const struct tile *c, uint32_t block,
                           struct F(sampler) *s)
{
    const uint32_t lane = zd_lane(), e = block * 32 + lane;
    int unused = 0;
    const U origin = F(load_word)(&a->tiles, a->src, c->at);
    const U base = F(sample_integer)(&a->rule, origin, &unused);
    const int in = e < c->count;
    struct F(cell) before, here;
    before.fails = here.fails = 0;
    for (uint32_t k = 0; k < 4; k++)
        before.d[k] = here.d[k] = 0;
    if (block > 0)
        before = F(cell_at)(a, c, base, block * 32 - 1);
    if (in)
        here = F(cell_at)(a, c, base, e);
    if (zd_any(here.fails || before.fails))
        return;
    const int starts = e - divide(e, c->by_x) * c->x == 0;
    for (uint32_t k = 0; k < 4; k++) {
        U left = F(zd_shfl_up)(here.d[k], 1);
        left = lane > 0 ? left : before.d[k];
        left = k > 0 && starts ? 0 : left; /* along x alone, rows run into each other */
        const U plain = F(warp_or)(F(magnitude)(here.d[k]));
        const U along = F(warp_or)(in ? F(magnitude)(here.d[k] - left) : 0);
        if (lane == 0) {
            zd_atomic_add_u32(&s->cost[2 * k], plain ? F(bit_length)(plain) + 1 : 0);
            zd_atomic_add_u32(&s->cost[2 * k + 1], along ? F(bit_length)(along) + 1 : 0);
        }
    }
    if (lane == 0)
        zd_atomic_add_u32(&s->counted, 1);
}

ZD_FN uint32_t F(sample_axes)(const struct F(sample_args) *a, struct F(sampler) *s)
{
    struct tile *c = &s->tile[zd_warp()];
    if (zd_tid() < 8)
        s->cost[zd_tid()] = 0;
    if (zd_tid() == 8)
        s->counted = 0;
    ZD_SYNC();
    for (uint32_t i = zd_warp(); a->chunks > 0 && i < a->samples; i += WARPS) {
        const uint64_t chunk = (2 * i + 1) * a->chunks / (2 * a->samples);
        if (zd_lane() == 0)
            tile_of(&a->tiles, (uint32_t)chunk, a->src, c);
        zd_syncwarp();
        F(sample_block)(a, c, (i * 40503 & 0xFFFF) * c->blocks >> 16, s);
        zd_syncwarp();
    }
    ZD_SYNC();
    uint32_t best = s->counted > 0 ? 0 : ZMPI_CUDA_X;
    for (uint32_t axes = 1; axes < 8; axes++)
        best = s->cost[axes] < s->cost[best] ? axes : best;
    return best;
}

KERNEL(F(sample), struct F(sample_args), a)
{
    ZD_SHARED(struct F(sampler), s);
    if (zd_bid() > 0) {
        const uint64_t first = (uint64_t)(zd_bid() - 1) * THREADS + zd_tid();
        for (uint64_t k = first; k < a.tiles.chunks; k += (uint64_t)(zd_gdim() - 1) * THREADS)
            zd_st_u64(a.state + k, 0);
        return;
    }
    const uint32_t axes = a.chosen ? a.chosen & 7 : F(sample_axes)(&a, s);
    if (zd_tid() != 0)
        return;
    zd_st_u32(a.ticket, 0);
    zd_st_u32(&a.result->axes, axes);
    zd_st_u32(&a.result->reserved, 0);
    zd_st_u64(&a.result->length, ZMPI_CUDA_HEADER);
    zd_st_u64(&a.result->full, 0);
    zd_st_u64(&a.result->squares, 0);
    zd_st_u64(&a.result->count, 0);
}
