/*
 * vector_block_t.h - template: a block of residuals to its bytes and back, from smaller operations,
 * and other functions for instruction sets that have nothing better.
 */

/* x - steps * step, each operation rounded. */
VECTOR F f_error(F x, F steps, F step)
{
    return f_sub(x, f_mul(steps, step));
}

/* May there be words beyond the limit that doubt_any does not tell of? */
VECTOR bool doubt_wide(const struct doubt *d, U window)
{
    (void)d, (void)window;
    return false;
}

/* The bits that eight times all magnitudes of a block take. */
struct longest {
    unsigned bits[8], most;
};

/* Of the magnitudes in all lanes of each of eight vectors. */
VECTOR struct longest v_longest(const V v[8])
{
    struct longest l = {.most = 0};
    for (unsigned i = 0; i < 8; i++) {
        l.bits[i] = v_length(v[i]);
        l.most = l.most < l.bits[i] ? l.bits[i] : l.most;
    }
    return l;
}

/* Are all less than 2^n? */
VECTOR bool longest_below(struct longest l, unsigned n)
{
    return l.most <= n;
}

/* To each of eight costs, planes and signs of the block. */
VECTOR void longest_cost(struct longest l, size_t cost[8])
{
    for (unsigned i = 0; i < 8; i++)
        cost[i] += l.bits[i] + (l.bits[i] != 0);
}

/* Signs and planes to dst; returns the length. May write up to 28 bytes more than the block has.
 * before: a guess at the length. */
VECTOR unsigned block_pack(const V r[VECTORS], unsigned char *dst, unsigned before)
{
    (void)before;
    V m[VECTORS];
    V all = m[0] = v_abs(r[0]);
    for (unsigned k = 1; k < VECTORS; k++) {
        m[k] = v_abs(r[k]);
        all = v_or(all, m[k]);
    }
    unsigned length = v_length(all);
    zmpi_store32(dst, block_signs(r));
    block_store(m, length, dst + 4);
    return length;
}

/* Bytes that unpacking a block may read. */
enum { BLOCK_READ = 4 + 4 * 8 * WIDTH };

/* Residuals from signs and planes. */
VECTOR void block_unpack(const unsigned char *src, unsigned length, V r[VECTORS])
{
    const V signs = v_set1(zmpi_load32(src));
    V m[VECTORS];
    block_load(src + 4, length, m);
    for (unsigned k = 0; k < VECTORS; k++)
        r[k] = v_signed(m[k], signs, k);
}

/* Their running sums over the block. */
VECTOR void block_unpack_scan(const unsigned char *src, unsigned length, V r[VECTORS])
{
    block_unpack(src, length, r);
    r[0] = v_scan(r[0]);
    for (unsigned k = 1; k < VECTORS; k++)
        r[k] = v_add(v_scan(r[k]), v_last(r[k - 1]));
}

/* ---- exceptions ---- */

/* Where x can be quantized: within the limit, with an error below the bound, and not -0. */
VECTOR uint32_t f_fine(F x, F error, F limit, F bound)
{
    M bad = m_or(f_not_le(f_abs(x), limit), f_not_lt(f_abs(error), bound));
    bad = m_or(bad, v_equal(f_bits(x), v_set1(SIGN_BIT)));
    return ~m_bits(bad) & UINT32_MAX >> (32 - LANES);
}

/* In the lanes whose bits are not set what the last one below has whose bit is, or what `before`
 * ends with. */
VECTOR V v_hold(V v, uint32_t fine, V before)
{
    U lane[LANES];
    if (fine == UINT32_MAX >> (32 - LANES))
        return v;
    before = v_last(before);
    if (!fine)
        return before;
    v_store(lane, before);
    U last = lane[0];
    v_store(lane, v);
    for (unsigned i = 0; i < LANES; i++) /* no branch: such masks are hard to predict */
        lane[i] = last = fine >> i & 1 ? lane[i] : last;
    return v_load(lane);
}

/* The words of a block whose bits are set to dst. Returns the end. */
VECTOR U *words_compress(U *dst, const unsigned char *x, uint32_t bits)
{
    for (; bits; bits &= bits - 1)
        *dst++ = load_word(x + WIDTH * (size_t)__builtin_ctz(bits));
    return dst;
}

/* The lanes whose bits are set from words at src. */
VECTOR V v_expand(V v, uint32_t bits, const unsigned char *src)
{
    U lane[LANES];
    v_store(lane, v);
    for (; bits; bits &= bits - 1, src += WIDTH)
        lane[__builtin_ctz(bits)] = load_word(src);
    return v_load(lane);
}
