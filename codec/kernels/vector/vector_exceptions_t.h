/*
 * vector_exceptions_t.h - template: words that are stored unchanged (format.md 1.2, 4.5). The
 * encoder finds them, gives them integers and lists them block by block; the decoder puts them
 * back. After vector_quant_t.h.
 */

/* ---- encoding ---- */

/* The exceptions of the blocks so far, in the order of the format. */
struct exceptions {
    uint32_t *mask;      /* end of the masks; one for each block that has exceptions */
    unsigned char *mark; /* of the next block: the mark in its length byte */
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

/* Takes the next block, whose words are at x. It counts in place of branches: at coasts, blocks
 * with no exception, one value or several alternate at random. */
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

/* Copies marks, masks and values of all blocks to their places; returns the end. */
static inline unsigned char *exceptions_store(const struct shape *s, const struct exceptions *e,
                                              const struct zmpi_chunk_work *work,
                                              unsigned char *lengths, unsigned char *dst)
{
    const size_t masks = (size_t)((const unsigned char *)e->mask -
                                  (const unsigned char *)work->exception),
                 values = (size_t)((const unsigned char *)e->value - work->ahead);
    const size_t whole = s->blocks / 8 * 8;
    memcpy(dst, work->exception, masks);
    memcpy(dst + masks, work->ahead, values);
    /* Eight marks at a time: one by one they would take a twentieth of the chunk's time. */
    for (size_t b = 0; b < whole; b += 8)
        zmpi_store64(lengths + b, zmpi_load64(lengths + b) | zmpi_load64(work->marks + b));
    for (size_t b = whole; b < s->blocks; b++)
        lengths[b] |= work->marks[b];
    return dst + masks + values;
}

/* The first word, in the chunk's order, that can be quantized; false: there is none. */
KERNEL bool find_quantized(const struct lines *l, T most, T *found)
{
    const F limit = f_set1(most);
    struct line next = {0};
    for (const unsigned char *line; (line = next_line(l, &next)) != NULL;)
        for (size_t i = 0; i < l->words; i += LANES) {
            const unsigned char *x = words_at(l, line, i, LANES);
            const uint32_t fine = f_fine(f_load(x), limit);
            if (fine) {
                *found = value_of(load_word(x + (size_t)__builtin_ctz(fine) * WIDTH));
                return true;
            }
        }
    return false;
}

/* Lists the exceptions of all blocks, whose masks are in the work. */
KERNEL void list_exceptions(struct exceptions *list, const struct shape *s, const struct lines *l,
                            const struct zmpi_chunk_work *work)
{
    unsigned char copy[ZMPI_BLOCK * WIDTH];
    struct exceptions e = *list;
    for (size_t b = 0; b < s->blocks; b++) {
        const uint32_t mask = work->exception[b];
        if (!mask) {
            *e.mark++ = 0;
            continue;
        }
        exceptions_next(&e, sample_words(s, l, b, copy), mask);
    }
    *list = e;
}

#ifdef INTEGERS16
/* The same if all exceptions are this word. */
KERNEL void list_filled(struct exceptions *list, const struct shape *s, U fill)
{
    struct exceptions e = *list;
    const uint32_t *mask = e.mask;
    for (size_t b = 0; b < s->blocks; b++) {
        const unsigned any = mask[b] != 0;
        *e.mask = mask[b];
        e.mask += any;
        /* The compiler would make a branch of a conditional. */
        *e.mark++ = (0U - any) & (ZMPI_BLOCK_EXCEPTIONS | ZMPI_BLOCK_UNIFORM);
        *e.value = fill;
        e.value += any;
    }
    *list = e;
}
#endif

/* Are all exceptions the same word? */
KERNEL bool exceptions_equal(const struct exceptions *e, const struct zmpi_chunk_work *work)
{
    const U *value = (const U *)(const void *)work->ahead;
    for (const U *v = value; v < e->value; v++)
        if (*v != *value)
            return false;
    return true;
}

/* ---- decoding ---- */

/* The exceptions of the blocks to come. parse_chunk has checked them. */
struct replacer {
    const unsigned char *lengths; /* NULL: there are none */
    const unsigned char *mask, *value;
    const unsigned char *last; /* the last value */
};

static inline struct replacer replacer_of(const struct parts *p)
{
    return (struct replacer){p->lengths, p->masks, p->values, p->end - WIDTH};
}

/* Puts exceptions into the next block; returns its mask. It loads a value even if the block has
 * none: there is one at e->last. */
VECTOR uint32_t replace_next(struct replacer *e, V word[VECTORS])
{
    const unsigned byte = *e->lengths++;
    const uint32_t marked = byte >> 7, mask = zmpi_load32(e->mask) & (0 - marked);
    e->mask += 4 * marked;
    if (__builtin_expect(
            (byte & (ZMPI_BLOCK_EXCEPTIONS | ZMPI_BLOCK_UNIFORM)) == ZMPI_BLOCK_EXCEPTIONS, 0)) {
        for (unsigned k = 0; k < VECTORS; k++) {
            const uint32_t bits = mask >> (k * LANES) & ALL_LANES;
            word[k] = v_expand(word[k], bits, e->value);
            e->value += WIDTH * (size_t)__builtin_popcount(bits);
        }
        return mask;
    }
    const V value = v_set1(load_word(e->value < e->last ? e->value : e->last));
    e->value += WIDTH * marked;
    for (unsigned k = 0; k < VECTORS; k++)
        word[k] = v_choose_at(word[k], value, mask, k);
    return mask;
}

/* For rows of any length, which get their exceptions when they are made: masks of all blocks, and
 * the words for the bits in these masks. */
struct patch {
    const unsigned char *masks; /* NULL: there are none */
    const U *words;             /* NULL: all are `fill` */
    V fill;
};

/* The masks of all blocks; 0 where a block has no exceptions. */
KERNEL void spread_masks(const struct shape *s, const struct parts *p, uint32_t *mask)
{
    const unsigned char *from = p->masks;
    for (size_t b = 0; b < s->blocks; b++) {
        const uint32_t marked = p->lengths[b] >> 7;
        mask[b] = zmpi_load32(from) & (0 - marked); /* values lie behind the last mask */
        from += 4 * marked;
    }
}

/* Does every block with exceptions have one value, the same in all? */
KERNEL bool values_equal(const struct parts *p)
{
    const size_t values = (size_t)(p->values - p->masks) / sizeof(uint32_t);
    const unsigned char *v = p->values;
    V unlike = v_set1(0);
    if (values == 0 || (size_t)(p->end - v) != values * WIDTH)
        return false;
    const U first = load_word(v);
    for (; p->end - v >= (ptrdiff_t)sizeof(V); v += sizeof(V))
        unlike = v_or(unlike, v_sub(v_load((const U *)(const void *)v), v_set1(first)));
    for (; v < p->end; v += WIDTH)
        unlike = v_or(unlike, v_set1(load_word(v) - first));
    return !m_any(v_differ(unlike, v_set1(0)));
}

KERNEL struct patch patch_of(const struct shape *s, const struct parts *p,
                             struct zmpi_chunk_work *work)
{
    struct replacer e = replacer_of(p);
    U *const words = (U *)(void *)work->patches;
    const struct patch patch = {(const unsigned char *)work->exception, words, v_set1(0)};
    if (values_equal(p)) {
        spread_masks(s, p, work->exception);
        return (struct patch){patch.masks, NULL, v_set1(load_word(p->values))};
    }
    for (size_t b = 0; b < s->blocks; b++) {
        V v[VECTORS];
        for (unsigned k = 0; k < VECTORS; k++)
            v[k] = v_set1(0);
        work->exception[b] = replace_next(&e, v);
        for (unsigned k = 0; k < VECTORS; k++)
            v_store(words + b * ZMPI_BLOCK + k * LANES, v[k]);
    }
    return patch;
}

/* Puts exceptions into a vector of words that begins at any element. */
VECTOR V patch_at(const struct patch *p, size_t at, V word)
{
    const uint32_t mask = zmpi_load32(p->masks + at / 8) >> at % 8;
    return v_choose_at(word, p->words ? v_load(p->words + at) : p->fill, mask, 0);
}
