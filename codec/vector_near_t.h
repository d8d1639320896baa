/*
 * vector_near_t.h - template: may quantized integers be made at the distance of MAGIC's bits? For
 * instruction sets that have no other way from integers of 8 bytes to floats but longer ones. After
 * layout_t.h.
 */

/* How such integers become floats. */
#define QUANTIZED_FAST NEAR_MAGIC

/* Are all integers, of which each is the base and at most as many residuals as there are words,
 * below 2^51? Then the sum of MAGIC and one of them has the bits of MAGIC and it. */
KERNEL bool integers_far(const struct shape *s, const struct parts *p,
                         const struct zmpi_chunk_work *work)
{
    enum { LONGEST = 38 };
    const U far = (U)1 << (LONGEST + 12);
    _Static_assert(ZMPI_CHUNK_INPUT_BYTES / WIDTH <= 1 << 12, "so many residuals are below `far`");
    _Static_assert(2 * ((int64_t)1 << (LONGEST + 12)) < (int64_t)MAGIC / 2, "so is the base");
    unsigned longest = 0;
    if (work->given) {
        const U *r = (const U *)(const void *)work->residuals, half = (U)1 << LONGEST;
        U any = 0;
        for (size_t i = 0; i < s->count; i++)
            any |= r[i] + half;
        return any >= 2 * half || p->base + far >= 2 * far;
    }
    for (size_t b = 0; b < s->blocks; b++) {
        const unsigned length = block_length(p->lengths[b]);
        longest = longest < length ? length : longest;
    }
    return longest > LONGEST || p->base + far >= 2 * far;
}

/* Then they are decoded as such, as those of words with a shift are, and become floats at last. */
enum { BEYOND = 8 * WIDTH };

VECTOR void integers_shift(const struct shape *s, struct parts *p,
                           const struct zmpi_chunk_work *work)
{
    if (p->map == ZMPI_MAP_QUANTIZED && !p->zero && integers_far(s, p, work)) {
        p->map = ZMPI_MAP_INTEGER;
        p->shift = BEYOND;
    }
}

KERNEL void dequantize_words(size_t count, T step, U *word)
{
    const V flip = v_set1(SIGN_BIT - 1);
    for (size_t i = 0; i < count; i += LANES) {        /* the buffer is longer than the chunk */
        const V q = v_ordered(v_load(word + i), flip); /* as they were before they were words */
        v_store(word + i, f_bits(f_mul(f_of_integers(q), f_set1(step))));
    }
}

VECTOR void words_unshift(const struct shape *s, const struct parts *p, U *word)
{
    if (p->shift == BEYOND)
        dequantize_words(s->count, p->step, word);
    else
        unshift_words(s->count, p->shift, word);
}
