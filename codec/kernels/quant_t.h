/*
 * quant_t.h - template: float words to integers and back (format.md 1.2, 4.4, 4.5). After fle_t.h.
 *
 * Parameters: T the float type of WIDTH bytes, FABS, and MAGIC = 1.5 * 2^(bits of T's significand).
 * Adding MAGIC rounds a number of magnitude up to 2^(p-2) to the nearest even integer and leaves
 * that integer in the low bits, on every machine with IEEE addition. Compile without contraction:
 * each operation below must be rounded once.
 */

static inline U bits_of(T x)
{
    U u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static inline T value_of(U u)
{
    T x;
    memcpy(&x, &u, sizeof x);
    return x;
}

static const U SIGN_BIT = (U)1 << (8 * WIDTH - 1);

/* Sign and magnitude to two's complement order and back: it is its own inverse, and monotone in the
 * value. */
static inline U ordered_view(U u)
{
    return u & SIGN_BIT ? u ^ (SIGN_BIT - 1) : u;
}

/* One step's numbers in the element type. */
struct quantizer {
    T step, inverse, limit, bound, window, margin;
};

static inline struct quantizer quantizer_of(const struct zmpi_chunk_rule *rule, int level)
{
    const struct zmpi_step *l = &rule->level[level];
    return (struct quantizer){(T)l->step,         (T)l->inverse, (T)l->limit,
                              (T)rule->abs_bound, (T)l->window,  (T)l->margin};
}

/* q as a U. Elements beyond the limit give 0: the caller makes them exceptions. */
static inline U quantize(const struct quantizer *z, T x)
{
    T inside = FABS(x) <= z->limit ? x : 0; /* false for NaN */
    T v = inside * z->inverse;
    return bits_of(v + MAGIC) - bits_of(MAGIC);
}

static inline T dequantize(T step, U q)
{
    return (T)(S)q * step;
}

/* ---- the level of the step ---- */

/* Counts the elements of so many sampled blocks that lie within the limit. */
static inline size_t count_within(const struct shape *s, const T *x, T limit, size_t samples)
{
    size_t within = 0;
    for (size_t k = 0; k < samples; k++) {
        size_t b = sample_block(s, k, samples), n = block_words(s, b);
        for (size_t j = 0; j < n; j++)
            within += FABS(x[b * ZMPI_BLOCK + j]) <= limit;
    }
    return within;
}

/* Does the step decode to exactly this element, or must it not be quantized at all? */
static inline bool is_reproduced(const struct quantizer *z, T x)
{
    return !(FABS(x) <= z->limit) || bits_of(x) == SIGN_BIT ||
           bits_of(dequantize(z->step, quantize(z, x))) == bits_of(x);
}

/* Is this so for all elements? Usually the first ones decide. */
static inline bool level_reproduces(const struct shape *s, const T *x, const struct quantizer *z)
{
    for (size_t i = 0; i < s->count; i++)
        if (!is_reproduced(z, x[i]))
            return false;
    return true;
}

/* Is this level good enough, though `all - fit` elements become exceptions by it? The first level's
 * step is hardly larger than the second's; the last one's is half as large. */
static inline bool level_suffices(int level, size_t fit, size_t all)
{
    return fit >= all - (all >> (level == 0 ? 9 : 5));
}

/*
 * The level to use, or -1. It is the first that holds those sampled elements which can be quantized
 * at all. Fill values and NaN do not count: they are exceptions at every level. If the samples hold
 * nothing else, all elements are examined: otherwise the few values beside a coast would be coded
 * exactly.
 */
static inline int choose_level(const struct shape *s, const T *x,
                               const struct zmpi_chunk_rule *rule)
{
    const T widest = (T)rule->level[rule->levels - 1].limit;
    size_t samples = sample_count(s), all = count_within(s, x, widest, samples);
    if (all == 0)
        all = count_within(s, x, widest, samples = s->blocks);
    if (all == 0)
        return -1;
    int level = 0;
    while (!level_suffices(level, count_within(s, x, (T)rule->level[level].limit, samples), all))
        level++;
    for (int finer = rule->levels - 1; finer > level; finer--) {
        struct quantizer z = quantizer_of(rule, finer);
        if (level_reproduces(s, x, &z))
            return finer;
    }
    return level;
}

/* ---- a chunk ---- */

/* Must this element be stored unchanged? Checks the bound with the value that the decoder will
 * compute. NaN fails the comparison. */
static inline bool is_exception(const struct quantizer *z, T x, U q)
{
    T error = FABS(x - dequantize(z->step, q));
    return !(FABS(x) <= z->limit) || !(error < z->bound) || bits_of(x) == SIGN_BIT;
}

/* Quantizes all elements and sets exception[] per block. Returns the number of exceptions. */
static inline size_t quantize_blocks(const struct shape *s, const T *x, const struct quantizer *z,
                                     U *q, uint32_t *exception)
{
    size_t exceptions = 0;
    for (size_t b = 0; b < s->blocks; b++) {
        size_t first = b * ZMPI_BLOCK, n = block_words(s, b);
        uint32_t mask = 0;
        for (size_t j = 0; j < n; j++) {
            q[first + j] = quantize(z, x[first + j]);
            mask |= (uint32_t)is_exception(z, x[first + j], q[first + j]) << j;
        }
        exception[b] = mask;
        exceptions += (size_t)__builtin_popcount(mask);
    }
    return exceptions;
}

/* Gives each exception the integer of the last quantized element, so that it hardly disturbs
 * prediction. */
static inline void fill_exceptions(const struct shape *s, U base, U *q, const uint32_t *exception)
{
    U last = base;
    for (size_t b = 0; b < s->blocks; b++) {
        U *block = q + b * ZMPI_BLOCK;
        size_t n = block_words(s, b);
        if (exception[b] == UINT32_MAX) {
            for (size_t j = 0; j < ZMPI_BLOCK; j++)
                block[j] = last;
            continue;
        }
        if (!exception[b]) {
            last = block[n - 1];
            continue;
        }
        const uint32_t mask = exception[b];
        for (size_t j = 0; j < n; j++) { /* no branch: such masks are hard to predict */
            const U hole = (U)0 - (mask >> j & 1);
            block[j] = last = (last & hole) | (block[j] & ~hole);
        }
    }
}

/* Index of the first quantized element; there must be one. */
static inline size_t first_quantized(const uint32_t *exception)
{
    size_t b = 0;
    while (exception[b] == UINT32_MAX)
        b++;
    return b * ZMPI_BLOCK + (size_t)__builtin_ctz(~exception[b]);
}
