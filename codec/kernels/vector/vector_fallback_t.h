/*
 * vector_fallback_t.h - template: operations for instruction sets that have nothing better for
 * them.
 */

/* Where x can be quantized: it is within the limit and is not -0. If all steps are finite, the
 * limit keeps the bound (format.md 4.4). */
VECTOR uint32_t f_fine(F x, F limit)
{
    const M bad = m_or(f_not_le(f_abs(x), limit), v_equal(f_bits(x), v_set1(SIGN_BIT)));
    return ~m_bits(bad) & UINT32_MAX >> (32 - LANES);
}

/* Copies those words of a block whose bits are set to dst. Returns the end. */
VECTOR U *words_compress(U *dst, const unsigned char *x, uint32_t bits)
{
    for (; bits; bits &= bits - 1)
        *dst++ = load_word(x + WIDTH * (size_t)__builtin_ctz(bits));
    return dst;
}

/* Replaces the lanes whose bits are set by words at src. */
VECTOR V v_expand(V v, uint32_t bits, const unsigned char *src)
{
    U lane[LANES];
    v_store(lane, v);
    for (; bits; bits &= bits - 1, src += WIDTH)
        lane[__builtin_ctz(bits)] = load_word(src);
    return v_load(lane);
}
