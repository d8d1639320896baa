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

VECTOR void doubt_add(struct doubt *d, V x, V v, F limit)
{
    (void)v;
    const M wide = f_not_le(f_abs(f_of_bits(x)), limit), minus_zero = v_equal(x, v_set1(SIGN_BIT));
    d->lanes = m_or(d->lanes, m_or(wide, minus_zero));
}

VECTOR bool doubt_any(const struct doubt *d, F limit)
{
    (void)limit;
    return m_any(d->lanes);
}

/* May there be words beyond the limit that doubt_any does not tell of? */
VECTOR bool doubt_wide(const struct doubt *d, U window)
{
    (void)d, (void)window;
    return false;
}
