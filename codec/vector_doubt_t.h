/*
 * vector_doubt_t.h - template: was there a word that cannot be quantized? For instruction sets that
 * have nothing better than to look at each.
 */

/* The lanes that held such a word. */
struct doubt {
    M lanes;
};

VECTOR struct doubt doubt_none(void)
{
    return (struct doubt){m_none()};
}

VECTOR void doubt_add(struct doubt *d, F x, V v, F error, F limit, F bound)
{
    (void)v;
    M wide = f_not_le(f_abs(x), limit), wrong = f_not_lt(f_abs(error), bound);
    /* x - x' is -0 for x = -0, and for nothing else. */
    M minus_zero = v_equal(f_bits(error), v_set1(SIGN_BIT));
    d->lanes = m_or(m_or(d->lanes, wide), m_or(wrong, minus_zero));
}

VECTOR bool doubt_any(const struct doubt *d, F limit, F bound)
{
    (void)limit, (void)bound;
    return m_any(d->lanes);
}

/* May there be words beyond the limit that doubt_any does not tell of? */
VECTOR bool doubt_wide(const struct doubt *d, U window)
{
    (void)d, (void)window;
    return false;
}
