/*
 * layout_t.h - template: the parts of a chunk as bytes (format.md 1.2). The scalar and the vector
 * kernels use it. After quant_t.h.
 */

enum { HEAD = 4 };

static inline void store_word(unsigned char *dst, U u)
{
    if (WIDTH == 4)
        zmpi_store32(dst, (uint32_t)u);
    else
        zmpi_store64(dst, (uint64_t)u);
}

static inline U load_word(const unsigned char *src)
{
    return WIDTH == 4 ? (U)zmpi_load32(src) : (U)zmpi_load64(src);
}

static inline size_t length_bytes(const struct shape *s)
{
    return (s->blocks + 3) & ~(size_t)3;
}

static inline size_t head_bytes(enum zmpi_map map)
{
    return map == ZMPI_MAP_QUANTIZED ? HEAD + 2 * WIDTH : HEAD + WIDTH;
}

static inline size_t stored_bytes(const struct shape *s)
{
    return HEAD + s->count * WIDTH;
}

/* ---- encoding ---- */

/* One case for each set of axes, so that the compiler makes code for each. */
#define EACH_AXES(CASE) CASE(0) CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7)

static inline void store_head(unsigned char *dst, enum zmpi_map map, unsigned axes, unsigned flags)
{
    dst[0] = (unsigned char)map;
    dst[1] = (unsigned char)axes;
    dst[2] = (unsigned char)flags;
    dst[3] = 0;
}

/* Map 2. */
static inline size_t store_words(const struct shape *s, const unsigned char *words,
                                 unsigned char *dst)
{
    store_head(dst, ZMPI_MAP_STORED, 0, 0);
    zmpi_copy_elements(dst + HEAD, words, s->count * WIDTH, WIDTH);
    return stored_bytes(s);
}

/* Length bytes with marks have six bits for the length, which cannot hold 64. any: all lengths,
 * ORed. */
static inline bool can_be_marked(unsigned any)
{
    return !(any & ZMPI_BLOCK_UNIFORM);
}

/* Stores masks, then values, and marks the length bytes. Returns the end. */
static inline unsigned char *store_exceptions(const struct shape *s, const T *x,
                                              const uint32_t *exception, unsigned char *lengths,
                                              unsigned char *dst)
{
    for (size_t b = 0; b < s->blocks; b++) {
        if (!exception[b])
            continue;
        zmpi_store32(dst, exception[b]);
        dst += 4;
        lengths[b] |= ZMPI_BLOCK_EXCEPTIONS;
    }
    for (size_t b = 0; b < s->blocks; b++) {
        const T *p = x + b * ZMPI_BLOCK;
        uint32_t mask = exception[b];
        U differ = 0;
        if (!mask)
            continue;
        U first = bits_of(p[__builtin_ctz(mask)]);
        for (uint32_t j = 0; j < ZMPI_BLOCK; j++) /* the buffer is longer than the chunk */
            differ |= (bits_of(p[j]) ^ first) & ((U)0 - ((mask >> j) & 1));
        if (!differ) {
            lengths[b] |= ZMPI_BLOCK_UNIFORM;
            mask &= ~mask + 1; /* the lowest bit alone */
        }
        for (; mask; mask &= mask - 1, dst += WIDTH)
            store_word(dst, bits_of(p[__builtin_ctz(mask)]));
    }
    return dst;
}

/* ---- decoding: src is untrusted ---- */

/* The parts that parse_chunk has found. After it, nothing that the kernels do with a chunk can
 * fail. */
struct parts {
    enum zmpi_map map;
    unsigned axes;
    unsigned shift;
    bool zero; /* no lengths, planes or exceptions */
    T step;
    U base;
    const unsigned char *lengths, *planes;
    const unsigned char *masks, *values, *end; /* masks == values: no exceptions */
};

static inline unsigned block_length(unsigned char byte)
{
    return byte & ZMPI_BLOCK_EXCEPTIONS ? byte & 0x3FU : byte;
}

/* Finds planes, masks and values from the length bytes, and checks that they fit in the chunk. */
static inline enum zmpi_status find_parts(const struct shape *s, bool exceptions, struct parts *p)
{
    size_t left = (size_t)(p->end - p->lengths), nb = length_bytes(s);
    uint32_t planes = 0, masks = 0, bad = 0;
    if (left < nb)
        return ZMPI_ERR_CORRUPT;
    for (size_t b = 0; b < nb; b++) { /* without branches, so that compilers make vectors of it */
        uint32_t byte = p->lengths[b], marked = byte >> 7;
        uint32_t length = byte & (0xFFU >> 2 * marked); /* block_length */
        bad |= length > 8 * WIDTH;
        planes += length + (length != 0);
        masks += marked;
    }
    for (size_t b = s->blocks; b < nb; b++)
        bad |= p->lengths[b] != 0;
    if (bad || (masks != 0) != exceptions || (left - nb) / 4 < planes + masks)
        return ZMPI_ERR_CORRUPT;
    p->planes = p->lengths + nb;
    p->masks = p->planes + 4 * (size_t)planes;
    p->values = p->masks + 4 * (size_t)masks;
    return ZMPI_OK;
}

/* The number of values that the masks need. */
static inline size_t count_values(const struct shape *s, const struct parts *p)
{
    const unsigned char *mask_at = p->masks;
    size_t values = (size_t)(p->values - p->masks) / 4; /* if blocks store one each */
    uint32_t several = 0;
    for (size_t b = 0; b < s->blocks; b++) /* without branches, as above */
        several |=
            (p->lengths[b] & (ZMPI_BLOCK_EXCEPTIONS | ZMPI_BLOCK_UNIFORM)) == ZMPI_BLOCK_EXCEPTIONS;
    for (size_t b = 0; several && b < s->blocks; b++) {
        if (!(p->lengths[b] & ZMPI_BLOCK_EXCEPTIONS))
            continue;
        if (!(p->lengths[b] & ZMPI_BLOCK_UNIFORM))
            values += (size_t)__builtin_popcount(zmpi_load32(mask_at)) - 1;
        mask_at += 4;
    }
    return values;
}

/* Are the masks valid, and are there exactly the values that they need? */
static inline enum zmpi_status check_exceptions(const struct shape *s, const struct parts *p)
{
    const size_t n = block_words(s, s->blocks - 1);
    uint32_t zero = 0;
    for (const unsigned char *mask = p->masks; mask < p->values; mask += 4)
        zero |= zmpi_load32(mask) == 0;
    if (zero)
        return ZMPI_ERR_CORRUPT;
    if (p->lengths[s->blocks - 1] & ZMPI_BLOCK_EXCEPTIONS && n < ZMPI_BLOCK &&
        zmpi_load32(p->values - 4) >> n)
        return ZMPI_ERR_CORRUPT;
    return count_values(s, p) * WIDTH == (size_t)(p->end - p->values) ? ZMPI_OK : ZMPI_ERR_CORRUPT;
}

/* Checks all of a chunk (format.md 1.3). */
static inline enum zmpi_status parse_chunk(const struct shape *s, bool is_float,
                                           const unsigned char *src, size_t size, struct parts *p)
{
    if (size < HEAD || src[0] > ZMPI_MAP_STORED || src[1] > 7 || src[2] > 2)
        return ZMPI_ERR_CORRUPT;
    *p = (struct parts){
        .map = src[0], .axes = src[1], .shift = src[3], .step = 1, .end = src + size};
    if (p->shift && (p->map != ZMPI_MAP_INTEGER || !is_float || p->shift >= 8 * WIDTH))
        return ZMPI_ERR_CORRUPT;
    if (p->map == ZMPI_MAP_STORED) {
        p->values = src + HEAD;
        return src[1] || src[2] || size != stored_bytes(s) ? ZMPI_ERR_CORRUPT : ZMPI_OK;
    }
    bool quantized = p->map == ZMPI_MAP_QUANTIZED, exceptions = src[2] & ZMPI_CHUNK_EXCEPTIONS;
    size_t head = head_bytes(p->map);
    if (size < head || (quantized && !is_float) || (exceptions && !quantized && !p->shift))
        return ZMPI_ERR_CORRUPT;
    if (quantized)
        p->step = value_of(load_word(src + HEAD));
    if (!(p->step > 0) || !(p->step < (T)INFINITY))
        return ZMPI_ERR_CORRUPT;
    p->base = load_word(src + head - WIDTH);
    p->lengths = src + head;
    p->zero = src[2] & ZMPI_CHUNK_ZERO;
    if (p->zero)
        return size == head ? ZMPI_OK : ZMPI_ERR_CORRUPT;
    enum zmpi_status status = find_parts(s, exceptions, p);
    if (status)
        return status;
    if (exceptions)
        return check_exceptions(s, p);
    return p->values == p->end ? ZMPI_OK : ZMPI_ERR_CORRUPT;
}

/* Puts the exceptions of a chunk without gaps in their places. */
static inline void load_exceptions(const struct shape *s, const struct parts *p, U *word)
{
    const unsigned char *mask_at = p->masks, *value = p->values;
    for (size_t b = 0; b < s->blocks; b++) {
        if (!(p->lengths[b] & ZMPI_BLOCK_EXCEPTIONS))
            continue;
        size_t next = p->lengths[b] & ZMPI_BLOCK_UNIFORM ? 0 : WIDTH;
        uint32_t mask = zmpi_load32(mask_at);
        mask_at += 4;
        if (mask == UINT32_MAX && !next) { /* as inside a masked region: one value, 32 times */
            for (size_t i = 0; i < ZMPI_BLOCK; i++)
                word[b * ZMPI_BLOCK + i] = load_word(value);
            mask = 0;
        }
        for (; mask; mask &= mask - 1, value += next)
            word[b * ZMPI_BLOCK + (size_t)__builtin_ctz(mask)] = load_word(value);
        value += next ? 0 : WIDTH;
    }
}
