/*
 * encode_t.h - template: the kernel that compresses, one chunk per block of threads, from words to
 * bytes at their place in the stream (format.md 1.2). After integers_t.h and residual_t.h.
 *
 * A chunk takes 32 KiB of shared memory. Its words become integers in place; their residuals go to
 * registers, which frees the memory for the planes. All sizes are known before the first plane is
 * made. So nothing is coded in vain, the kernel asks early for the chunk's place, and only coded
 * bytes leave the multiprocessor.
 */

/* How the block of this lane is coded. */
struct F(lengths) {
    uint32_t byte;  /* length byte, without the marks of exceptions */
    uint32_t words; /* of planes before this block, in the chunk */
    uint32_t signs;
};

/* One way to code the chunk; the same in all threads. */
struct F(attempt) {
    uint32_t map, axes, shift, exceptions;
    U base;
    T step;
    uint32_t planes, masks; /* words */
    uint32_t size;          /* bytes */
};

/* Bytes of the chunk before the length bytes. */
ZD_FN uint32_t F(head_bytes)(uint32_t map)
{
    return 4 + (map == ZMPI_CUDA_QUANTIZED ? 2 * WIDTH : WIDTH);
}

ZD_FN uint32_t F(stored_bytes)(const struct F(encoder) *s)
{
    return 4 + s->tile.count * WIDTH;
}

/* ---- sizes ---- */

/* The block's length and signs from its residuals, which it turns into magnitudes. */
ZD_FN void F(measure_block)(U r[VALUES], struct F(lengths) *l)
{
    uint32_t signs = 0;
    U all = 0;
    ZD_UNROLL
    for (uint32_t i = PARTS; i-- > 0;) {
        signs <<= (EACH - 1) * PART;
        ZD_UNROLL
        for (uint32_t j = PART; j-- > 0;) {
            U *const v = &r[i * PART + j];
            signs = zd_funnel_l((uint32_t)(*v >> (8 * WIDTH - 32)), signs, 1);
            all |= *v = F(magnitude)(*v);
        }
    }
    ZD_UNROLL
    for (uint32_t d = 1; d < EACH; d *= 2)
        all |= F(zd_shfl_xor)(all, d);
    l->byte = F(bit_length)(all);
    l->signs = F(block_bits)(signs);
}

/* The word of the array for element e of the tile, before it became an integer. */
ZD_FN U F(original)(const struct F(compress_args) *a, const struct F(encoder) *s, uint32_t e)
{
    return e < s->tile.count ? F(load_word)(&a->tiles, a->src, word_at(&a->tiles, &s->tile, e)) : 0;
}

/* Do a block's exceptions all have the same bits? A warp asks. */
ZD_FN int F(uniform)(uint32_t mask, U word)
{
    const U first = F(zd_shfl)(word, zd_ffs32(mask) - 1);
    return !zd_any((mask >> zd_lane() & 1) && word != first);
}

/* How many values this lane's block stores. */
ZD_FN uint32_t F(count_values)(const struct F(compress_args) *a, const struct F(encoder) *s)
{
    const uint32_t block = zd_warp() * VALUES;
    uint32_t values = 0;
    for (uint32_t i = 0; i < VALUES; i++) {
        const uint32_t mask = s->exception[block + i];
        if (mask == 0)
            continue;
        const int same = F(uniform)(mask, F(original)(a, s, (block + i) * 32 + zd_lane()));
        if (zd_lane() / EACH == i)
            values = same ? 1 : zd_popc32(mask);
    }
    return values;
}

/* Finds the places of masks and values. Contains barriers. Returns the number of values. */
ZD_FN uint32_t F(measure_exceptions)(const struct F(compress_args) *a, struct F(encoder) *s,
                                     uint32_t *masks)
{
    const uint32_t block = F(own_block)(), mask = s->exception[block];
    struct stored v;
    uint32_t values;
    v.values = F(count_values)(a, s);
    v.masks_before = block_sum_begin(s->total[1], mask != 0, EACH);
    v.values_before = block_sum_begin(s->total[2], v.values, EACH);
    ZD_SYNC();
    v.masks_before = block_sum_end(s->total[1], v.masks_before, masks);
    v.values_before = block_sum_end(s->total[2], v.values_before, &values);
    if (mask && zd_lane() % EACH == 0)
        s->held[block] = stored_pack(v);
    ZD_SYNC();
    return values;
}

/* From residuals to places in the chunk and its size. */
ZD_FN void F(measure)(const struct F(compress_args) *a, struct F(encoder) *s, U r[VALUES],
                      struct F(attempt) *t, struct F(lengths) *l)
{
    uint32_t values = 0;
    F(measure_block)(r, l);
    l->words = block_sum_begin(s->total[0], l->byte ? l->byte + 1 : 0, EACH);
    ZD_SYNC(); /* also: all residuals are made, so the integers are not needed any more */
    l->words = block_sum_end(s->total[0], l->words, &t->planes);
    t->masks = 0;
    if (t->exceptions)
        values = F(measure_exceptions)(a, s, &t->masks);
    t->size = F(head_bytes)(t->map);
    if (t->planes + t->masks > 0)
        t->size += (s->tile.blocks + 3) / 4 * 4 + 4 * (t->planes + t->masks) + values * WIDTH;
    if (WIDTH == 8 && t->exceptions && zd_sync_or(l->byte == 64)) /* such a length byte has no room
                                                                   * for marks */
        t->size = UINT32_MAX;
}

/* ---- bytes ---- */

ZD_FN void F(put_word)(uint32_t *to, U u)
{
    to[0] = (uint32_t)u;
    if (WIDTH == 8)
        to[WIDTH / 4 - 1] = (uint32_t)((uint64_t)u >> 32);
}

ZD_FN void F(put_head)(const struct F(attempt) *t, uint32_t *coded)
{
    const uint32_t flags = t->planes + t->masks == 0 ? 1u : t->exceptions ? 2u : 0;
    coded[0] = t->map | t->axes << 8 | flags << 16 | t->shift << 24;
    if (t->map == ZMPI_CUDA_QUANTIZED)
        F(put_word)(coded + 1, F(bits)(t->step));
    F(put_word)(coded + F(head_bytes)(t->map) / 4 - WIDTH / 4,
                t->base - (t->map == ZMPI_CUDA_QUANTIZED ? F(bits)(MAGIC) : 0));
}

/* Makes planes PASS * k and following of the warp's blocks by one transposition: bits change places
 * with registers, then with lanes of the same block. */
ZD_FN void F(put_pass)(const struct F(passes) *t, const U m[VALUES], const struct F(lengths) *l,
                       uint32_t k, uint32_t *planes)
{
    const uint32_t first = k * PASS + zd_lane() % EACH * PART;
    uint32_t row[PART];
    ZD_UNROLL
    for (uint32_t j = 0; j < PART; j++)
        row[j] = F(pass_bits)(t, m, j, k);
    F(exchange)(t, row);
    ZD_UNROLL
    for (uint32_t j = 0; j < PART; j++)
        if (first + j < l->byte)
            planes[l->words + 1 + first + j] = row[j];
}

/* Signs and planes of the warp's blocks. */
ZD_FN void F(put_planes)(const U m[VALUES], const struct F(lengths) *l, uint32_t *planes)
{
    const struct F(passes) t = F(passes_make)();
    if (zd_lane() % EACH == 0 && l->byte > 0)
        planes[l->words] = l->signs;
    ZD_UNROLL
    for (uint32_t k = 0; k < 8 * WIDTH / PASS; k++) {
        if (!zd_any(l->byte > k * PASS))
            break;
        F(put_pass)(&t, m, l, k, planes);
    }
}

/* Masks and values. */
ZD_FN void F(put_exceptions)(const struct F(compress_args) *a, const struct F(encoder) *s,
                             const struct F(attempt) *t, uint32_t *masks)
{
    const uint32_t lane = zd_lane();
    for (uint32_t i = 0; i < VALUES; i++) {
        const uint32_t block = zd_warp() * VALUES + i, mask = s->exception[block];
        if (mask == 0)
            continue;
        const struct stored v = stored_unpack(s->held[block]);
        const uint32_t index = zd_popc32(mask & ((1u << lane) - 1));
        if (lane == 0)
            masks[v.masks_before] = mask;
        if ((mask >> lane & 1) && index < v.values)
            F(put_word)
        (masks + t->masks + (v.values_before + index) * (WIDTH / 4),
         F(original)(a, s, block * 32 + lane));
    }
}

/* Writes the whole chunk, unless it is stored (map 2). A barrier must follow. */
ZD_FN void F(put_chunk)(const struct F(compress_args) *a, struct F(encoder) *s,
                        const struct F(attempt) *t, const struct F(lengths) *l, const U r[VALUES])
{
    uint32_t *coded = s->w.coded;
    const uint32_t head = F(head_bytes)(t->map), lengths = (s->tile.blocks + 3) / 4 * 4;
    const uint32_t block = F(own_block)();
    if (zd_tid() == 0)
        F(put_head)(t, coded);
    if (t->planes + t->masks == 0)
        return;
    if (zd_lane() % EACH == 0 && block < lengths) {
        uint32_t byte = l->byte;
        if (t->exceptions && s->exception[block])
            byte |= stored_unpack(s->held[block]).values == 1 ? 0xC0u : 0x80u;
        ((uint8_t *)coded)[head + block] = (uint8_t)byte;
    }
    uint32_t *planes = coded + (head + lengths) / 4;
    F(put_planes)(r, l, planes);
    if (t->exceptions)
        F(put_exceptions)(a, s, t, planes + t->planes);
}

/* Map 2: moves the words up by 4 bytes, behind the head. */
ZD_FN void F(put_stored)(struct F(encoder) *s)
{
    const uint32_t n = s->tile.count * (WIDTH / 4);
    uint32_t v[CHUNK_BYTES / 4 / THREADS];
    ZD_UNROLL
    for (uint32_t i = 0; i < CHUNK_BYTES / 4 / THREADS; i++)
        v[i] = i * THREADS + zd_tid() < n ? s->w.coded[i * THREADS + zd_tid()] : 0;
    ZD_SYNC();
    ZD_UNROLL
    for (uint32_t i = 0; i < CHUNK_BYTES / 4 / THREADS; i++)
        if (i * THREADS + zd_tid() < n)
            s->w.coded[i * THREADS + zd_tid() + 1] = v[i];
    if (zd_tid() == 0)
        s->w.coded[0] = ZMPI_CUDA_STORED;
}

/* ---- a chunk ---- */

ZD_FN void F(begin)(const struct F(compress_args) *a, struct F(encoder) *s)
{
    if (zd_tid() == 0) {
        s->chunk = zd_atomic_add_u32(a->ticket, 1);
        tile_of(&a->tiles, s->chunk, a->src, &s->tile);
        s->fits = s->differs = 0;
        s->axes = a->result->axes &
                  ((s->tile.x > 1 ? ZMPI_CUDA_X : 0u) | (s->tile.y > 1 ? ZMPI_CUDA_Y : 0u) |
                   (s->tile.z > 1 ? ZMPI_CUDA_Z : 0u));
    }
    ZD_SYNC();
    F(load_tile)(&a->tiles, &s->tile, a->src, &s->w);
    ZD_SYNC();
}

/* Turns words into integers by map 0, or by map 1 with a shift; false if that fails. */
ZD_FN int F(approximate)(const struct F(compress_args) *a, struct F(encoder) *s,
                         struct F(attempt) *t, uint64_t *squares)
{
    if (a->rule.levels > 0) {
        const int level = F(choose_level)(&a->rule, s);
        if (level < 0)
            return 0;
        t->map = ZMPI_CUDA_QUANTIZED;
        t->step = a->rule.level[level].step;
        t->exceptions = F(quantize_tile)(a, &a->rule.level[level], s, squares);
    } else {
        t->map = ZMPI_CUDA_INTEGER;
        t->shift = a->rule.shift;
        t->exceptions = F(shift_tile)(&a->rule, s);
    }
    t->base = s->w.word[0];
    return !t->exceptions || F(fill_forward)(s, &t->base);
}

/* Turns words into integers by map 1 without a shift. */
ZD_FN void F(exactly)(const struct F(compress_args) *a, struct F(encoder) *s, struct F(attempt) *t,
                      uint64_t *squares)
{
    t->map = ZMPI_CUDA_INTEGER;
    t->shift = t->exceptions = 0;
    *squares = 0;
    F(exact_tile)(&a->rule, s);
    t->base = s->w.word[0];
}

/* Loads the tile's words again: integers have replaced them. */
ZD_FN void F(reload)(const struct F(compress_args) *a, struct F(encoder) *s)
{
    ZD_SYNC();
    F(load_tile)(&a->tiles, &s->tile, a->src, &s->w);
    ZD_SYNC();
}

/* Codes the chunk into s->w.coded, by the first map whose result is not longer than the words.
 * Tells the look-back the size and returns it. A barrier must follow. */
ZD_FN uint32_t F(encode)(const struct F(compress_args) *a, struct F(encoder) *s, uint64_t *squares)
{
    U r[VALUES];
    struct F(attempt) t;
    struct F(lengths) l;
    int exact = a->rule.levels == 0 && a->rule.shift == 0, fits = 0;
    t.axes = s->axes;
    t.shift = t.exceptions = t.planes = t.masks = t.size = 0;
    t.step = 0;
    t.base = 0;
    while (!fits) { /* at most twice */
        int some = 1;
        if (exact)
            F(exactly)(a, s, &t, squares);
        else
            some = F(approximate)(a, s, &t, squares);
        if (some) {
            F(residuals)(&s->tile, &s->w, t.base, t.axes, r);
            F(measure)(a, s, r, &t, &l);
            fits = t.size <= F(stored_bytes)(s);
        }
        if (!fits) {
            F(reload)(a, s);
            if (exact)
                break;
            exact = 1;
        }
    }
    const uint32_t size = fits ? t.size : F(stored_bytes)(s);
    if (zd_tid() == 0)
        look_back_begin(a->state, s->chunk, size);
    if (fits)
        F(put_chunk)(a, s, &t, &l, r);
    else
        F(put_stored)(s);
    return size;
}

/* psnr: adds the tile's squared errors, and the number of elements that count. */
ZD_FN void F(add_errors)(const struct F(compress_args) *a, uint32_t counted, uint64_t squares)
{
    squares = warp_sum_u64(squares);
    const uint64_t count = warp_sum_u64(counted);
    if (zd_lane() == 0) {
        zd_atomic_add_u64(&a->result->squares, squares);
        zd_atomic_add_u64(&a->result->count, count);
    }
}

/* How many of this thread's elements count for the PSNR. */
ZD_FN uint32_t F(count_ordinary)(const struct F(compress_args) *a, const struct F(encoder) *s)
{
    uint32_t n = 0;
    for (uint32_t e = zd_tid(); a->errors_scale > 0 && e < s->tile.count; e += THREADS)
        n += FABS(F(value)(s->w.word[e])) < a->errors_below;
    return n;
}

/* Writes the coded chunk to its place, and its entry to the table. */
ZD_FN void F(finish)(const struct F(compress_args) *a, struct F(encoder) *s, uint32_t size)
{
    if (zd_warp() == 0) {
        const uint64_t before = look_back_end(a->state, s->chunk, size);
        if (zd_lane() == 0)
            s->place = a->head + before;
    }
    xxh_sums(s->w.coded, size, s->sum);
    ZD_SYNC();
    const uint64_t place = s->place, end = place + size;
    uint32_t *const to = a->dst + place / 4;
    const uint32_t words = end <= a->capacity ? size / 4 : 0;
    ONE_BY_ONE
    for (uint32_t i = zd_tid(); i < words; i += THREADS)
        zd_st_u32(to + i, s->w.coded[i]);
    if (zd_warp() != WARPS - 1)
        return;
    const uint64_t hash = xxh_end(s->w.coded, size, s->sum);
    if (zd_lane() != 0)
        return;
    zd_st_u64((uint64_t *)(void *)(a->dst + ZMPI_CUDA_HEADER / 4) + s->chunk, size | hash << 32);
    if (end > a->capacity)
        zd_atomic_max_u64(&a->result->full, 1);
    if (s->chunk + 1 == a->tiles.chunks)
        zd_st_u64(&a->result->length, end);
}

KERNEL_BOUNDED(F(compress), struct F(compress_args), a, THREADS, ENCODERS)
{
    ZD_SHARED(struct F(encoder), s);
    uint64_t squares = 0;
    F(begin)(&a, s);
    const uint32_t counted = F(count_ordinary)(&a, s);
    const uint32_t size = F(encode)(&a, s, &squares);
    ZD_SYNC();
    if (a.errors_scale > 0)
        F(add_errors)(&a, counted, squares);
    F(finish)(&a, s, size);
}
