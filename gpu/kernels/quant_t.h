/* quant_t.h - template: words to integers and back, as in codec/kernels/quant_t.h and shift_t.h.
 * After words_t.h. */

struct F(level) {
    T step, inverse, limit;
};

/* The rule of codec/layout/chunk.h in the element type. */
struct F(rule) {
    int is_float, levels;
    T bound;
    uint32_t shift;
    U rounded; /* this many magnitudes, from the smallest normal number on, may lose bits */
    struct F(level) level[LEVELS];
};

#define SIGN   ((U)1 << (8 * WIDTH - 1))
#define NORMAL ((U)1 << (WIDTH == 4 ? 23 : 52))

ZD_FN U F(magnitude)(U r)
{
    return (S)r < 0 ? (U)0 - r : r;
}

ZD_FN uint32_t F(bit_length)(U m)
{
    return 8 * WIDTH - F(zd_clz)(m);
}

ZD_FN U F(ordered_view)(U u)
{
    return u & SIGN ? u ^ (SIGN - 1) : u;
}

ZD_FN U F(shift_down)(U u, uint32_t shift)
{
    const U half = (U)1 << (shift - 1), magnitude = u & (SIGN - 1);
    return (u & SIGN) | (magnitude + half) >> shift;
}

ZD_FN U F(shift_up)(U u, uint32_t shift)
{
    return (u & SIGN) | (u << shift & (SIGN - 1));
}

ZD_FN int F(shift_fails)(U u, U rounded)
{
    const U magnitude = u & (SIGN - 1);
    return magnitude != 0 && magnitude - NORMAL >= rounded;
}

/* A quantized float: its integer, and the value that this stands for. Adding MAGIC rounds to the
 * nearest even integer and leaves it in the low bits, on top of MAGIC's own bits. Subtracting MAGIC
 * gives the integer as a float. */
struct F(quantized) {
    U q;
    T x;
};

ZD_FN struct F(quantized) F(quantize)(const struct F(level) *l, T x)
{
    const T sum = x * l->inverse + MAGIC;
    struct F(quantized) v;
    v.q = F(bits)(sum);
    v.x = (sum - MAGIC) * l->step;
    return v;
}

/* The integer of map 1 for a word; with the rule's shift if `shift` is not 0. */
ZD_FN U F(integer_of)(const struct F(rule) *rule, uint32_t shift, U word)
{
    if (!rule->is_float)
        return word;
    return F(ordered_view)(shift ? F(shift_down)(word, shift) : word);
}
