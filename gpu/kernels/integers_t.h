/*
 * integers_t.h - template: turns a chunk's words in shared memory into integers, in place
 * (format.md 4.4 to 4.7). After quant_t.h. All threads of a block call these functions together and
 * get the same results.
 */

struct F(compress_args) {
    struct zmpi_cuda_tiles tiles;
    const void *src;
    uint32_t *dst;
    uint64_t capacity, head; /* head: bytes of header and table */
    struct zmpi_cuda_result *result;
    uint32_t *ticket;
    uint64_t *state;
    T errors_scale, errors_below; /* psnr: the unit, and the limit of what counts; scale 0: no
                                   * errors are added up */
    struct F(rule) rule;
};

struct F(encoder) {
    union F(words) w;
    uint64_t sum[XXH_ROUNDS][XXH_LANES];
    uint64_t place; /* of the coded chunk in the stream */
    struct tile tile;
    uint32_t exception[BLOCKS]; /* one mask per block, if there are exceptions */
    uint32_t held[BLOCKS];      /* 1 + the last quantized element up to the end of each block; 0:
                                 * none */
    uint32_t total[3][WARPS];
    uint32_t chunk, axes, fits, differs, first;
};

/* ---- the level of the step ---- */

ZD_FN int F(differs)(const struct F(level) *l, T x)
{
    return FABS(x) <= l->limit && F(bits)(x) != SIGN && F(bits)(F(quantize)(l, x).x) != F(bits)(x);
}

/* Each warp looks at one of the 16 sampled blocks: how many elements fit each level, and which
 * levels surely do not reproduce them. */
ZD_FN void F(sample_levels)(const struct F(rule) *rule, struct F(encoder) *s)
{
    const uint32_t nb = s->tile.blocks, warp = zd_warp();
    const uint32_t block = nb <= WARPS ? warp : warp * nb / WARPS, e = block * 32 + zd_lane();
    const int in = block < nb && e < s->tile.count;
    const T x = in ? F(value)(s->w.word[e]) : (T)INFINITY; /* fits no level */
    uint32_t fits = 0, differs = 0;
    ZD_UNROLL
    for (int i = 0; i < LEVELS; i++) {
        fits |= zd_popc32(zd_ballot(FABS(x) <= rule->level[i].limit)) << 10 * i;
        differs |= (uint32_t)zd_any(F(differs)(&rule->level[i], x)) << i;
    }
    if (zd_lane() == 0) {
        zd_atomic_add_u32(&s->fits, fits);
        zd_atomic_or_u32(&s->differs, differs);
    }
}

/* Counts how many elements of the whole tile fit each level. */
ZD_FN void F(count_levels)(const struct F(rule) *rule, struct F(encoder) *s, uint32_t fit[LEVELS])
{
    ZD_UNROLL
    for (int i = 0; i < LEVELS; i++)
        fit[i] = 0;
    for (uint32_t e = zd_tid(); e < s->tile.blocks * 32; e += THREADS) {
        const T x = e < s->tile.count ? F(value)(s->w.word[e]) : (T)INFINITY;
        ZD_UNROLL
        for (int i = 0; i < LEVELS; i++)
            fit[i] += zd_popc32(zd_ballot(FABS(x) <= rule->level[i].limit));
    }
    ZD_UNROLL
    for (int i = 0; i < LEVELS; i++) {
        if (zd_lane() == 0)
            s->total[i][zd_warp()] = fit[i];
        fit[i] = 0;
    }
    ZD_SYNC();
    ZD_UNROLL
    for (int i = 0; i < LEVELS; i++)
        for (int w = 0; w < WARPS; w++)
            fit[i] += s->total[i][w];
    ZD_SYNC();
}

/* The level to use, or -1. */
ZD_FN int F(choose_level)(const struct F(rule) *rule, struct F(encoder) *s)
{
    uint32_t fit[LEVELS];
    F(sample_levels)(rule, s);
    ZD_SYNC();
    ZD_UNROLL
    for (int i = 0; i < LEVELS; i++)
        fit[i] = s->fits >> 10 * i & 1023;
    if (fit[rule->levels - 1] == 0) /* a tile that is nearly all fill values, for example */
        F(count_levels)(rule, s, fit);
    const uint32_t all = fit[rule->levels - 1];
    int level = 0;
    while (level < rule->levels && fit[level] < all - (all >> (level == 0 ? 9 : 5)))
        level++;
    if (all == 0)
        return -1;
    const uint32_t differs = s->differs;
    for (int finer = rule->levels - 1; finer > level; finer--) {
        int some = 0;
        if (differs >> finer & 1) /* the usual case */
            continue;
        for (uint32_t e = zd_tid(); !some && e < s->tile.count; e += THREADS)
            some = F(differs)(&rule->level[finer], F(value)(s->w.word[e]));
        if (!zd_sync_or(some))
            return finer;
    }
    return level;
}

/* ---- quantization ---- */

/* The squared error of a quantized element, in units of the psnr bound (codec/bound/errors_t.h). */
ZD_FN uint32_t F(squared_error)(T difference, T scale)
{
    T error = FABS(difference) * scale;
    error += error > 0 ? 1 : 0;
    const T units = (T)(int32_t)error;
    return (uint32_t)(int32_t)(units * units);
}

/* fails: bits of this thread's elements, as F(block_bits) takes them. Returns whether there are
 * exceptions, and stores their masks. */
ZD_FN uint32_t F(mark_exceptions)(struct F(encoder) *s, uint32_t fails)
{
    if (!zd_sync_or(fails))
        return 0;
    const uint32_t mask = F(block_bits)(fails);
    if (zd_lane() % EACH == 0)
        s->exception[F(own_block)()] = mask;
    ZD_SYNC();
    return 1;
}

/* May x be quantized, and is v near enough? False for -0. */
ZD_FN bool F(is_ordinary)(const struct F(compress_args) *a, const struct F(level) *level, T x, T v)
{
    const int within = FABS(x) <= level->limit, near = FABS(x - v) < a->rule.bound;
    return (within & near & (int)(F(bits)(x) != SIGN)) != 0; /* without jumps */
}

/* The integers keep MAGIC's bits: differences cancel them. Adds this thread's squared errors to
 * *squares if `errors`, a constant, is set. Returns whether there are exceptions. */
ZD_FN uint32_t F(quantize_any)(const struct F(compress_args) *a, const struct F(level) *level,
                               struct F(encoder) *s, int errors, uint64_t *squares)
{
    uint32_t fails = 0;
    ZD_UNROLL
    for (uint32_t i = 0; i < PARTS; i++) {
        const uint32_t e = F(part_at)(i);
        union F(part) p = F(load_part)(&s->w, e);
        T x[PART], v[PART];
        bool good = true;
        ZD_UNROLL
        for (uint32_t j = 0; j < PART; j++) {
            const struct F(quantized) to = F(quantize)(level, x[j] = F(value)(p.word[j]));
            v[j] = to.x;
            p.word[j] = to.q;
            good &= F(is_ordinary)(a, level, x[j], v[j]);
        }
        F(store_part)(&s->w, e, p);
        if (i == 0)
            F(set_origin)(&s->w, p.word[0]);
        if (zd_any(!good)) {
            ZD_UNROLL
            for (uint32_t j = 0; j < PART; j++)
                fails |= (uint32_t)!F(is_ordinary)(a, level, x[j], v[j]) << (i * EACH * PART + j);
        }
        ZD_UNROLL
        for (uint32_t j = 0; errors && j < PART; j++)
            if (FABS(x[j]) < a->errors_below && !(fails >> (i * EACH * PART + j) & 1))
                *squares += F(squared_error)(x[j] - v[j], a->errors_scale);
    }
    return F(mark_exceptions)(s, fails);
}

/* Quantizes the tile. Returns whether there are exceptions. */
ZD_FN uint32_t F(quantize_tile)(const struct F(compress_args) *a, const struct F(level) *level,
                                struct F(encoder) *s, uint64_t *squares)
{
    const struct F(level) l = *level;
    return a->errors_scale > 0 ? F(quantize_any)(a, &l, s, 1, squares)
                               : F(quantize_any)(a, &l, s, 0, squares);
}

/* The same for map 1 with a shift: magnitudes lose their lowest bits. */
ZD_FN uint32_t F(shift_tile)(const struct F(rule) *rule, struct F(encoder) *s)
{
    uint32_t fails = 0;
    ZD_UNROLL
    for (uint32_t i = 0; i < PARTS; i++) {
        const uint32_t e = F(part_at)(i);
        union F(part) p = F(load_part)(&s->w, e);
        ZD_UNROLL
        for (uint32_t j = 0; j < PART; j++) {
            const uint32_t fail = (uint32_t)F(shift_fails)(p.word[j], rule->rounded);
            fails |= fail << (i * EACH * PART + j);
            p.word[j] = F(integer_of)(rule, rule->shift, p.word[j]);
        }
        F(store_part)(&s->w, e, p);
        if (i == 0)
            F(set_origin)(&s->w, p.word[0]);
    }
    return F(mark_exceptions)(s, fails);
}

ZD_FN void F(exact_tile)(const struct F(rule) *rule, struct F(encoder) *s)
{
    U origin = 0; /* thread 0's; in a register, because others write the word meanwhile */
    for (uint32_t e = zd_tid(); e < s->tile.count; e += THREADS) {
        const U q = F(integer_of)(rule, 0, s->w.word[e]);
        origin = e == 0 ? q : origin;
        s->w.word[e] = q;
    }
    F(set_origin)(&s->w, origin);
    ZD_SYNC();
}

/* ---- exceptions take the integer of the last quantized element ---- */

/* Sets s->held of all blocks, and s->first: 1 + the first quantized element, or 0. */
ZD_FN void F(find_held)(struct F(encoder) *s)
{
    const uint32_t block = zd_tid(), lane = zd_lane();
    uint32_t held = 0, first = 0;
    if (block < BLOCKS) {
        const uint32_t good = block_mask(s->tile.count, block) & ~s->exception[block];
        held = good ? block * 32 + 32 - zd_clz32(good) : 0;
        first = good ? block * 32 + zd_ffs32(good) : 0;
    }
    const uint32_t some = zd_ballot(first != 0);
    for (uint32_t d = 1; d < 32; d *= 2) {
        const uint32_t below = zd_shfl_up_u32(held, d);
        held = lane >= d && below > held ? below : held;
    }
    if (lane == 31)
        s->total[0][zd_warp()] = held;
    const uint32_t mine = zd_shfl_u32(first, some ? zd_ffs32(some) - 1 : 0);
    if (lane == 0)
        s->total[1][zd_warp()] = mine;
    ZD_SYNC();
    for (uint32_t w = 0; w < zd_warp(); w++)
        held = s->total[0][w] > held ? s->total[0][w] : held;
    if (block < BLOCKS)
        s->held[block] = held;
    if (block == 0) {
        uint32_t w = 0;
        while (w < WARPS - 1 && s->total[1][w] == 0)
            w++;
        s->first = s->total[1][w];
    }
    ZD_SYNC();
}

/* Gives each exception its integer, and sets *base. False if no element is quantized. */
ZD_FN int F(fill_forward)(struct F(encoder) *s, U *base)
{
    F(find_held)(s);
    if (s->first == 0)
        return 0;
    *base = s->w.word[s->first - 1];
    for (uint32_t e = zd_tid(); e < s->tile.count; e += THREADS) {
        const uint32_t block = e / 32, j = e % 32;
        const uint32_t good = ~s->exception[block] & ((1u << j) - 1);
        uint32_t from = good        ? block * 32 + 32 - zd_clz32(good)
                        : block > 0 ? s->held[block - 1]
                                    : 0;
        if (s->exception[block] >> j & 1)
            s->w.word[e] = from > 0 ? s->w.word[from - 1] : *base;
    }
    F(set_origin)(&s->w, *base);
    ZD_SYNC();
    return 1;
}
