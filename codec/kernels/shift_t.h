/*
 * shift_t.h - template: float words to integers without the lowest bits of their magnitudes, and
 * back (format.md 1.2, 4.7). After quant_t.h. The loops have no branches, so that compilers make
 * vectors of them, both for the scalar and for the vector kernels.
 */

static const U NORMAL = (U)1 << (WIDTH == 4 ? 23 : 52); /* bits of the smallest normal number */

/* The sign, and the magnitude rounded to `shift` >= 1 bits less. The rounding of a NaN does not
 * reach the sign. */
static inline U shift_down(U u, unsigned shift)
{
    U half = (U)1 << (shift - 1), magnitude = u & (SIGN_BIT - 1);
    return (u & SIGN_BIT) | (magnitude + half) >> shift;
}

static inline U shift_up(U u, unsigned shift)
{
    return (u & SIGN_BIT) | (u << shift & (SIGN_BIT - 1));
}

/* 1 if u must be stored unchanged: it is not zero, and not among the magnitudes from NORMAL on
 * whose rounding the bound allows. */
static inline U shift_fails(U u, U rounded)
{
    U magnitude = u & (SIGN_BIT - 1), special = magnitude - NORMAL >= rounded;
    return special & (magnitude != 0);
}

/* Makes integers of all words; sets exception[] per block if there are exceptions. Returns their
 * number. */
static inline size_t shift_blocks(const struct shape *s, const struct zmpi_chunk_rule *rule,
                                  const U *word, U *q, uint32_t *exception)
{
    const unsigned shift = rule->shift;
    const U rounded = (U)rule->magnitudes - NORMAL;
    size_t exceptions = 0;
    U any = 0;
    for (size_t i = 0; i < s->count; i++) {
        any |= shift_fails(word[i], rounded);
        q[i] = ordered_view(shift_down(word[i], shift));
    }
    for (size_t b = 0; any && b < s->blocks; b++) {
        const U *u = word + b * ZMPI_BLOCK;
        uint32_t mask = 0;
        for (size_t j = 0; j < block_words(s, b); j++)
            mask |= (uint32_t)shift_fails(u[j], rounded) << j;
        exception[b] = mask;
        exceptions += (size_t)__builtin_popcount(mask);
    }
    return exceptions;
}

/* Turns words from the ordered view to their values, in place. */
static inline void unshift_words(size_t n, unsigned shift, U *word)
{
    for (size_t i = 0; i < n; i++)
        word[i] = shift_up(word[i], shift);
}
