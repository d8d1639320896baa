/*
 * decode_t.h - template: the kernel that decompresses, one chunk per block of threads (format.md
 * 1.2, 1.3). After quant_t.h.
 *
 * The stream is untrusted. The kernel writes nothing of a chunk before it has found checksum and
 * parts right, and checks every value before it becomes an index.
 *
 * A chunk's residuals go to shared memory, where the kernel sums them along the axes. It reads the
 * chunk's bytes where they are: first all of them for the checksum, then again from the
 * multiprocessor's cache. It reads a value that decides an address only once, so that the value
 * cannot change after the check.
 */

struct F(decompress_args) {
    struct zmpi_cuda_tiles tiles;
    int is_float;
    const uint32_t *src;
    const unsigned char *need;
    void *dst;
    uint64_t head, length; /* of header and table; of the stream */
    uint64_t *answer;
    uint32_t *ticket;
    uint64_t *state;
};

/* The head of a chunk. */
struct F(parts) {
    uint32_t map, axes, shift, exceptions, zero;
    T step;
    U base;
    uint32_t lengths; /* bytes in front of the length bytes */
};

struct F(decoder) {
    union F(words) w;
    uint64_t sum[XXH_ROUNDS][XXH_LANES];
    uint64_t place;
    U carry[WARPS];
    struct tile tile;
    struct F(parts) parts;
    uint32_t mask[BLOCKS];  /* exceptions */
    uint32_t value[BLOCKS]; /* where the first value is, in words of the chunk; SAME: there is only
                               one */
    uint32_t total[2][WARPS], restarts[WARPS];
    uint32_t chunk, size, hash, needed, bad, good, checksum; /* good: the parts are sound */
};

#define SAME 0x80000000u

/* ---- parsing ---- */

ZD_FN U F(get_word)(const uint32_t *from)
{
    return WIDTH == 8 ? (U)(from[0] | (uint64_t)from[WIDTH / 4 - 1] << 32) : (U)from[0];
}

/* Parses the head, as parse_chunk in codec/kernels/layout_t.h does, up to the length bytes. */
ZD_FN int F(parse_head)(const uint32_t *coded, uint32_t size, const struct tile *c, int is_float,
                        struct F(parts) *p)
{
    const uint32_t flags = coded[0] >> 16 & 255;
    p->map = coded[0] & 255;
    p->axes = coded[0] >> 8 & 255;
    p->shift = coded[0] >> 24;
    p->exceptions = flags & 2;
    p->zero = flags & 1;
    p->step = 1;
    p->base = 0;
    p->lengths = 4;
    if (p->map > ZMPI_CUDA_STORED || p->axes > 7 || flags > 2)
        return 0;
    if (p->shift && (p->map != ZMPI_CUDA_INTEGER || !is_float || p->shift >= 8 * WIDTH))
        return 0;
    if (p->map == ZMPI_CUDA_STORED)
        return p->axes == 0 && flags == 0 && size == 4 + c->count * WIDTH;
    const int quantized = p->map == ZMPI_CUDA_QUANTIZED;
    p->lengths += quantized ? 2 * WIDTH : WIDTH;
    if (size < p->lengths || (quantized && !is_float) || (p->exceptions && !quantized && !p->shift))
        return 0;
    if (quantized)
        p->step = F(value)(F(get_word)(coded + 1));
    if (!(p->step > 0) || !(p->step < (T)INFINITY))
        return 0;
    p->base = F(get_word)(coded + (p->lengths - WIDTH) / 4);
    return p->zero ? size == p->lengths : size - p->lengths >= (c->blocks + 3) / 4 * 4;
}

/* The block of this lane. */
struct F(coded_block) {
    uint32_t length, marks; /* number of planes; bits 7 and 6 of the length byte */
    uint32_t words;         /* planes before it */
    uint32_t masks;         /* blocks with exceptions before it */
};

/* Parses the length byte of this lane's block; false if the byte is invalid. */
ZD_FN int F(parse_length)(const uint32_t *coded, const struct tile *c, uint32_t lengths,
                          struct F(coded_block) *b)
{
    const uint32_t block = F(own_block)();
    uint32_t byte = 0;
    if (block < (c->blocks + 3) / 4 * 4)
        byte = coded[(lengths + block) / 4] >> (lengths + block) % 4 * 8 & 255;
    b->marks = byte >> 7 ? byte & 0xC0u : 0;
    b->length = byte >> 7 ? byte & 0x3Fu : byte;
    return b->length <= 8 * WIDTH && (block < c->blocks || byte == 0);
}

/* Puts the masks of exceptions, and the places of their values, into shared memory. False if they
 * are not sound, or do not fill the chunk from `masks` (words) on. Contains barriers. */
ZD_FN int F(parse_exceptions)(struct F(decoder) *s, const uint32_t *coded,
                              const struct F(coded_block) *b, uint32_t masks, uint32_t count)
{
    const uint32_t block = F(own_block)();
    const uint32_t mask = b->marks ? coded[masks + b->masks] : 0;
    const int bad = b->marks && (mask == 0 || mask & ~block_mask(s->tile.count, block));
    const uint32_t stored = b->marks & 0x40 ? 1 : zd_popc32(mask);
    uint32_t all, before = block_sum_begin(s->total[1], stored, EACH);
    if (zd_sync_or(bad))
        return 0;
    before = block_sum_end(s->total[1], before, &all);
    if (zd_lane() % EACH == 0) {
        s->mask[block] = mask;
        s->value[block] = (masks + count + before * (WIDTH / 4)) | (b->marks & 0x40 ? SAME : 0);
    }
    return 4 * (masks + count) + all * WIDTH == s->size;
}

/* ---- residuals ---- */

/* Puts the residuals of the warp's blocks into shared memory. */
ZD_FN void F(get_residuals)(const uint32_t *planes, const struct F(coded_block) *b,
                            union F(words) *w)
{
    const struct F(passes) t = F(passes_make)();
    const uint32_t from = zd_lane() % EACH * PART;
    uint32_t signs = b->length > 0 ? planes[b->words] : 0;
    const uint32_t *own = planes + b->words + 1 + from; /* `length` says how much of it is read */
    U m[VALUES] = {0};
    ZD_UNROLL
    for (uint32_t k = 0; k < 8 * WIDTH / PASS; k++) {
        uint32_t row[PART];
        if (!zd_any(b->length > k * PASS))
            break;
        ZD_UNROLL
        for (uint32_t j = 0; j < PART; j++) {
            row[j] = from + k * PASS + j < b->length ? own[k * PASS + j] : 0;
        }
        F(exchange)(&t, row);
        ZD_UNROLL
        for (uint32_t j = 0; j < PART; j++)
            F(take_bits)(m, j, k, row[j]);
    }
    signs >>= from;
    if (WIDTH == 4)
        signs = zd_byte_perm(signs, 0, permuted_bytes(F(part_xor)()));
    ZD_UNROLL
    for (uint32_t i = 0; i < PARTS; i++) {
        union F(part) p;
        ZD_UNROLL
        for (uint32_t j = 0; j < PART; j++) {
            const U v = m[i * PART + j];
            p.word[j] = signs >> (i * PASS + j) & 1 ? (U)0 - v : v;
        }
        F(store_part)(w, F(part_at)(i), p);
    }
}

/* ---- sums ---- */

/* Sums along x, by all threads; each thread has some consecutive elements. If `restarts`, a
 * constant, is not 0, sums begin anew every `period` elements, a multiple of it. Barriers before
 * and after. */
ZD_FN void F(sum_x)(struct F(decoder) *s, struct divisor period, uint32_t restarts)
{
    const uint32_t lane = zd_lane(), first = zd_tid() * VALUES;
    const uint32_t start = restarts ? first - divide(first, period) * period.d : first;
    const uint32_t whole = !restarts    ? VALUES
                           : start == 0 ? 0
                                        : period.d - start; /* elements that need the carry */
    union F(lane_words) v;
    U acc = 0;
    ZD_UNROLL
    for (uint32_t g = 0; g < VALUES / IN_QUAD; g++)
        v.quad[g] = s->w.quad[zd_tid() * (VALUES / IN_QUAD) + g];
    uint32_t x = start;
    ZD_UNROLL
    for (uint32_t j = 0; j < VALUES; j++) {
        if (restarts && j % restarts == 0) {
            acc = x == 0 ? 0 : acc;
            x = x + restarts == period.d ? 0 : x + restarts;
        }
        v.word[j] = acc += v.word[j];
    }
    const uint32_t heads = zd_ballot(whole < VALUES), upto = heads & (0xFFFFFFFFu >> (31 - lane));
    const uint32_t head = upto ? 31 - zd_clz32(upto) : 0;
    for (uint32_t d = 1; d < 32; d *= 2) {
        const U below = F(zd_shfl_up)(acc, d);
        acc += lane >= head + d ? below : 0;
    }
    U carry = F(zd_shfl_up)(acc, 1);
    carry = lane > 0 ? carry : 0;
    if (lane == 31) {
        s->carry[zd_warp()] = acc;
        s->restarts[zd_warp()] = heads != 0;
    }
    ZD_SYNC();
    U before = 0;
    for (uint32_t w = 0; w < zd_warp(); w++)
        before = (s->restarts[w] ? 0 : before) + s->carry[w];
    carry += heads & ((1u << lane) - 1) ? 0 : before;
    ZD_UNROLL
    for (uint32_t j = 0; j < VALUES; j++) {
        if (restarts && j % restarts == 0)
            carry = j < whole ? carry : 0;
        v.word[j] += carry;
    }
    ZD_UNROLL
    for (uint32_t g = 0; g < VALUES / IN_QUAD; g++)
        s->w.quad[zd_tid() * (VALUES / IN_QUAD) + g] = v.quad[g];
    ZD_SYNC();
}

/* One thread sums n elements that are `stride` apart. */
ZD_FN void F(sum_column)(U *q, uint32_t n, uint32_t stride)
{
    U acc = 0;
    uint32_t i = 0;
    for (; i + 4 <= n; i += 4, q += 4 * stride) { /* four loads at a time */
        const U a = q[0], b = q[stride], c = q[2 * stride], d = q[3 * stride];
        q[0] = acc += a;
        q[stride] = acc += b;
        q[2 * stride] = acc += c;
        q[3 * stride] = acc += d;
    }
    for (; i < n; i++, q += stride)
        *q = acc += *q;
}

ZD_FN void F(sum_axes)(struct F(decoder) *s, uint32_t axes)
{
    const struct tile *c = &s->tile;
    if (axes == ZMPI_CUDA_X)
        F(sum_x)(s, c->by_x, 0);
    else if ((axes & ZMPI_CUDA_X) && c->x % PART == 0)
        F(sum_x)(s, c->by_x, PART);
    else if (axes & ZMPI_CUDA_X)
        F(sum_x)(s, c->by_x, 1);
    for (uint32_t i = zd_tid(); axes & ZMPI_CUDA_Y && i < c->z * c->x; i += THREADS) {
        const uint32_t z = divide(i, c->by_x);
        F(sum_column)(s->w.word + z * c->plane + (i - z * c->x), c->y, c->x);
    }
    if (axes & ZMPI_CUDA_Y)
        ZD_SYNC();
    for (uint32_t i = zd_tid(); axes & ZMPI_CUDA_Z && i < c->plane; i += THREADS)
        F(sum_column)(s->w.word + i, c->z, c->plane);
    if (axes & ZMPI_CUDA_Z)
        ZD_SYNC();
}

/* ---- words ---- */

ZD_FN U F(dequantized)(const struct F(parts) *p, U q)
{
    return F(bits)((T)(S)(q + p->base) * p->step);
}

/* What element e of the tile decodes to. */
ZD_FN U F(finished)(const struct F(decompress_args) *a, const struct F(decoder) *s,
                    const struct F(parts) *p, uint32_t e, U q)
{
    if (p->exceptions && s->mask[e / 32] >> e % 32 & 1) {
        const uint32_t value = s->value[e / 32];
        const uint32_t index = zd_popc32(s->mask[e / 32] & ((1u << e % 32) - 1));
        const uint32_t at = (value & ~SAME) + (value & SAME ? 0 : index * (WIDTH / 4));
        return F(get_word)(a->src + s->place / 4 + at);
    }
    if (p->map == ZMPI_CUDA_STORED)
        return q;
    if (p->map == ZMPI_CUDA_QUANTIZED)
        return F(dequantized)(p, q);
    q += p->base;
    if (!a->is_float)
        return q;
    return p->shift ? F(shift_up)(F(ordered_view)(q), p->shift) : F(ordered_view)(q);
}

/* Stores the tile in units of 16 bytes. whole: a constant, true if the tile is one run. */
ZD_FN void F(store_quads)(const struct F(decompress_args) *a, const struct F(decoder) *s,
                          const struct F(parts) *p, int usual, int whole)
{
    const struct tile *c = &s->tile;
    const uint32_t quads = c->count / IN_QUAD;
    unsigned char *const to = (unsigned char *)a->dst + c->at * WIDTH;
    ZD_UNROLL
    for (uint32_t g = 0; g < VALUES / IN_QUAD; g++) {
        const uint32_t i = g * THREADS + zd_tid();
        if (i >= quads)
            break;
        union F(quad_words) v;
        v.quad = s->w.quad[i];
        ZD_UNROLL
        for (uint32_t j = 0; j < IN_QUAD; j++)
            v.word[j] = usual ? F(dequantized)(p, v.word[j])
                              : F(finished)(a, s, p, i * IN_QUAD + j, v.word[j]);
        STORE_QUAD((QUAD *)(void *)(to + bytes_to(c, WIDTH, i * IN_QUAD, whole)), v.quad);
    }
}

/* usual: a constant, true if the chunk has map 0 and no exceptions. */
ZD_FN void F(store_any)(const struct F(decompress_args) *a, const struct F(decoder) *s,
                        const struct F(parts) *p, int usual)
{
    const struct tile *c = &s->tile;
    const uint32_t quads = c->vector ? c->count / IN_QUAD : 0;
    if (quads > 0 && c->by_run.d == c->count)
        F(store_quads)(a, s, p, usual, 1);
    else if (quads > 0)
        F(store_quads)(a, s, p, usual, 0);
    for (uint32_t e = quads * IN_QUAD + zd_tid(); e < c->count; e += THREADS)
        F(store_word)
    (&a->tiles, a->dst, word_at(&a->tiles, c, e),
     usual ? F(dequantized)(p, s->w.word[e]) : F(finished)(a, s, p, e, s->w.word[e]));
}

ZD_FN void F(store_tile)(const struct F(decompress_args) *a, const struct F(decoder) *s)
{
    const struct F(parts) p = s->parts;
    if (p.map == ZMPI_CUDA_QUANTIZED && !p.exceptions)
        F(store_any)(a, s, &p, 1);
    else
        F(store_any)(a, s, &p, 0);
}

/* ---- a chunk ---- */

/* Finds the next chunk and its place; false if it is not needed. */
ZD_FN int F(find)(const struct F(decompress_args) *a, struct F(decoder) *s)
{
    if (zd_tid() == 0) {
        const uint32_t k = zd_atomic_add_u32(a->ticket, 1);
        const uint32_t *entry = a->src + ZMPI_CUDA_HEADER / 4 + 2 * (uint64_t)k;
        const uint32_t size = entry[0];
        s->chunk = k;
        s->bad = size < 4 || size % 4 != 0 || size > CODED_BYTES;
        s->size = s->bad ? 4 : size;
        look_back_begin(a->state, k, s->size);
        s->hash = entry[1];
        s->needed = a->need == 0 || a->need[k] != 0;
        tile_of(&a->tiles, k, a->dst, &s->tile);
    }
    ZD_SYNC();
    if (zd_warp() == 0) {
        const uint64_t before = look_back_end(a->state, s->chunk, s->size);
        if (zd_lane() == 0) {
            s->place = a->head + before;
            s->bad |= s->place + s->size > a->length;
            s->good =
                !s->bad && s->needed &&
                F(parse_head)(a->src + s->place / 4, s->size, &s->tile, a->is_float, &s->parts);
        }
    }
    ZD_SYNC();
    return s->needed != 0;
}

/* Returns ZMPI_OK, with residuals (or words) in s->w, or what is wrong. Contains barriers. */
ZD_FN uint32_t F(parse)(const struct F(decompress_args) *a, struct F(decoder) *s)
{
    const struct F(parts) *const p = &s->parts;
    const uint32_t *coded = a->src + s->place / 4;
    struct F(coded_block) b;
    xxh_sums(coded, s->size, s->sum);
    uint32_t good = s->good;
    const int planes = good && p->map != ZMPI_CUDA_STORED && !p->zero;
    b.length = b.marks = 0;
    if (planes)
        good = (uint32_t)F(parse_length)(coded, &s->tile, p->lengths, &b);
    uint32_t all,
        before = block_sum_begin(
            s->total[0], (b.length ? b.length + 1 : 0) | (b.marks != 0 ? 1u << 16 : 0), EACH);
    good = zd_sync_and(good);
    if (zd_warp() == 0) {
        const uint64_t hash = xxh_end(coded, s->size, s->sum);
        if (zd_lane() == 0)
            s->checksum = (uint32_t)hash == s->hash;
    }
    before = block_sum_end(s->total[0], before, &all);
    b.words = before & 0xFFFF;
    b.masks = before >> 16;
    const uint32_t first = (p->lengths + (s->tile.blocks + 3) / 4 * 4) / 4;
    const uint32_t masks = first + (all & 0xFFFF), end = masks + (all >> 16);
    if (planes && good)
        good = (all >> 16 != 0) == (p->exceptions != 0) &&
               (p->exceptions ? 4 * end <= s->size : 4 * end == s->size);
    if (planes && good && p->exceptions)
        good = (uint32_t)F(parse_exceptions)(s, coded, &b, masks, all >> 16);
    if (planes && good)
        F(get_residuals)(coded + first, &b, &s->w);
    for (uint32_t e = zd_tid(); !planes && good && e < BLOCKS * 32; e += THREADS)
        s->w.word[e] = p->map == ZMPI_CUDA_STORED && e < s->tile.count
                           ? F(get_word)(coded + 1 + e * (WIDTH / 4))
                           : 0;
    ZD_SYNC(); /* until here one warp may still have been computing the checksum */
    return !s->checksum ? ZMPI_ERR_CHECKSUM : good ? ZMPI_OK : ZMPI_ERR_CORRUPT;
}

KERNEL_BOUNDED(F(decompress), struct F(decompress_args), a, THREADS, DECODERS)
{
    ZD_SHARED(struct F(decoder), s);
    if (!F(find)(&a, s))
        return;
    const uint32_t status = s->bad ? ZMPI_ERR_CORRUPT : F(parse)(&a, s);
    if (status != ZMPI_OK) {
        if (zd_tid() == 0) /* the first chunk has the largest number */
            zd_atomic_max_u64(a.answer, (uint64_t)(0xFFFFFFFFu - s->chunk) << 8 | status);
        return;
    }
    F(sum_axes)(s, s->parts.axes);
    F(store_tile)(&a, s);
}
