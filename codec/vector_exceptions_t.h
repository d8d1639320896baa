/*
 * vector_exceptions_t.h - template: words that are kept as they are, on both ways (format.md 1.2,
 * 4.5): found with the integers that stand in their places and listed, block by block; and put
 * back. After vector_quant_t.h.
 */

/* ---- encoding ---- */

/* The exceptions of the blocks so far, in the order of the format. */
struct exceptions {
    uint32_t *mask;      /* behind the last; of blocks that have some */
    unsigned char *mark; /* of the next block: what its length byte gets */
    U *value;
};

static inline struct exceptions exceptions_begin(struct zmpi_chunk_work *work)
{
    return (struct exceptions){work->exception, work->marks, (U *)(void *)work->ahead};
}

static inline bool exceptions_any(const struct exceptions *e, const struct zmpi_chunk_work *work)
{
    return e->mask != work->exception;
}

/* The next block, its words at x. Without branches where coasts are: a block without any or with
 * one value is told from another by what is counted. */
VECTOR void exceptions_next(struct exceptions *e, const unsigned char *x, uint32_t mask)
{
    const U first = load_word(x + WIDTH * (size_t)__builtin_ctz(mask | UINT32_C(1) << 31));
    uint32_t equal = 0;
    for (unsigned k = 0; k < VECTORS; k++) {
        V word = v_load((const U *)(const void *)(x + k * LANES * WIDTH));
        equal |= m_bits(v_equal(word, v_set1(first))) << (k * LANES);
    }
    const bool any = mask != 0;
    *e->mask = mask;
    e->mask += any;
    if (__builtin_expect(mask & ~equal, 0)) {
        *e->mark++ = ZMPI_BLOCK_EXCEPTIONS;
        e->value = words_compress(e->value, x, mask);
        return;
    }
    *e->mark++ = any ? ZMPI_BLOCK_EXCEPTIONS | ZMPI_BLOCK_UNIFORM : 0;
    *e->value = first;
    e->value += any;
}

/* Marks, masks and values of all blocks to where they belong; returns the end. */
static inline unsigned char *exceptions_store(const struct shape *s, const struct exceptions *e,
                                              const struct zmpi_chunk_work *work,
                                              unsigned char *lengths, unsigned char *dst)
{
    const size_t masks = (size_t)((const unsigned char *)e->mask -
                                  (const unsigned char *)work->exception),
                 values = (size_t)((const unsigned char *)e->value - work->ahead);
    for (size_t b = 0; b < s->blocks; b++)
        lengths[b] |= work->marks[b];
    memcpy(dst, work->exception, masks);
    memcpy(dst + masks, work->ahead, values);
    return dst + masks + values;
}

/* Where a word cannot be quantized. v: it, as `nearest` makes it. The product is rounded, as what
 * is beyond the limit may need it. */
VECTOR M not_quantized(const struct vector_quantizer *z, F x, F v)
{
    const F error = f_sub(x, decoded(z, v));
    const M bad = m_or(f_not_le(f_abs(x), z->limit), f_not_lt(f_abs(error), z->bound));
    return m_or(bad, v_equal(f_bits(x), v_set1(SIGN_BIT)));
}

/* The words of a block to integers above those of z's magic; exceptions are what `held`, the last
 * vector before, ends with, or what the last quantized word before them is. */
VECTOR void hold_next(const struct vector_quantizer *z, const unsigned char *x, V *held,
                      V q[VECTORS], uint32_t *mask)
{
    *mask = 0;
    for (unsigned k = 0; k < VECTORS; k++) {
        const F word = f_load(x + k * LANES * WIDTH), v = nearest(z, word);
        const uint32_t bad = m_bits(not_quantized(z, word, v));
        *held = q[k] = v_hold(f_bits(v), bad, *held);
        *mask |= bad << (k * LANES);
    }
}

/* The first word, in the order of the chunk, that can be quantized; false: there is none. */
KERNEL bool find_quantized(const struct lines *l, const struct quantizer *quantizer, T *found)
{
    const struct vector_quantizer z = vector_quantizer_of(quantizer);
    for (size_t k = 0; k < l->z; k++)
        for (size_t j = 0; j < l->y; j++) {
            const unsigned char *row = l->at + k * l->plane + j * l->row;
            for (size_t i = 0; i < l->words; i += LANES) {
                if (i + LANES > l->words)
                    i = l->words - LANES;
                const F x = f_load(row + i * WIDTH);
                const uint32_t bad = m_bits(not_quantized(&z, x, nearest(&z, x)));
                const uint32_t fine = ~bad & (UINT32_MAX >> (32 - LANES));
                if (fine) {
                    const size_t at = i + (size_t)__builtin_ctz(fine);
                    *found = value_of(load_word(row + at * WIDTH));
                    return true;
                }
            }
        }
    return false;
}

/* hold_exceptions of quant_t.h. */
KERNEL void hold_masked(const struct shape *s, U base, U *q, const uint32_t *exception)
{
    V held = v_set1(base);
    for (size_t b = 0; b < s->blocks; b++)
        for (unsigned k = 0; k < VECTORS; k++) { /* the buffer is longer than the chunk */
            U *at = q + b * ZMPI_BLOCK + k * LANES;
            const uint32_t bad = exception[b] >> (k * LANES) & (UINT32_MAX >> (32 - LANES));
            held = v_hold(v_load(at), bad, held);
            v_store(at, held);
        }
}

/* The list of those in masks of all blocks, which it takes the place of. */
KERNEL struct exceptions list_exceptions(const struct shape *s, struct zmpi_chunk_work *work)
{
    struct exceptions e = exceptions_begin(work);
    for (size_t b = 0; b < s->blocks; b++)
        exceptions_next(&e, work->words + b * ZMPI_BLOCK * WIDTH, work->exception[b]);
    return e;
}

/* ---- decoding ---- */

/* What is put back into the blocks to come. parse_chunk has checked it. */
struct replacer {
    const unsigned char *lengths; /* NULL: nothing */
    const unsigned char *mask, *value;
    const unsigned char *last; /* value */
};

static inline struct replacer replacer_of(const struct parts *p)
{
    return (struct replacer){p->lengths, p->masks, p->values, p->end - WIDTH};
}

/* Into the next block. A mask is loaded where there is none, too: there is a value behind it. */
VECTOR void replace_next(struct replacer *e, V word[VECTORS])
{
    const unsigned byte = *e->lengths++;
    const uint32_t marked = byte >> 7, mask = zmpi_load32(e->mask) & (0 - marked);
    e->mask += 4 * marked;
    if (__builtin_expect(
            (byte & (ZMPI_BLOCK_EXCEPTIONS | ZMPI_BLOCK_UNIFORM)) == ZMPI_BLOCK_EXCEPTIONS, 0)) {
        for (unsigned k = 0; k < VECTORS; k++) {
            const uint32_t bits = mask >> (k * LANES) & (UINT32_MAX >> (32 - LANES));
            word[k] = v_expand(word[k], bits, e->value);
            e->value += WIDTH * (size_t)__builtin_popcount(bits);
        }
        return;
    }
    const V value = v_set1(load_word(e->value < e->last ? e->value : e->last));
    e->value += WIDTH * marked;
    for (unsigned k = 0; k < VECTORS; k++)
        word[k] = v_sub_at(word[k], v_sub(word[k], value), mask, k);
}

/* Into a chunk without gaps. */
KERNEL void replace_words(const struct shape *s, const struct parts *p, U *word)
{
    struct replacer e = replacer_of(p);
    for (size_t b = 0; b < s->blocks; b++) {
        V v[VECTORS];
        for (unsigned k = 0; k < VECTORS; k++) /* the buffer is longer than the chunk */
            v[k] = v_load(word + b * ZMPI_BLOCK + k * LANES);
        replace_next(&e, v);
        for (unsigned k = 0; k < VECTORS; k++)
            v_store(word + b * ZMPI_BLOCK + k * LANES, v[k]);
    }
}
