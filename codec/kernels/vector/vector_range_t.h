/*
 * vector_range_t.h - template: range_t.h in vectors, in one pass even if there are fill values. It
 * replaces these by NaN, which minimum and maximum ignore. Parameter: NAME(range), the name of the
 * function.
 */

enum { RANGE_GROUP = 8 * LANES };

/* Prefetches into the second-level cache run so many bytes ahead. A core then reads memory a
 * quarter faster than with the hardware's prefetchers alone. */
enum { RANGE_AHEAD = 8192 };

/* Takes the values of a group that are not ordinary, one by one. */
KERNEL void take_strange(struct zmpi_range *r, const unsigned char *x)
{
    for (size_t i = 0; i < RANGE_GROUP; i++) {
        const T v = value_of(load_word(x + i * WIDTH));
        if (!(FABS(v) < (T)ZMPI_ORDINARY))
            zmpi_range_take(r, (double)v);
    }
}

TARGET void NAME(range)(const void *src, size_t n, struct zmpi_range *r)
{
    const unsigned char *x = src;
    const F ordinary = f_set1((T)ZMPI_ORDINARY), infinity = f_set1((T)INFINITY);
    F low = f_set1((T)INFINITY), high = f_set1(-(T)INFINITY), fill = f_set1((T)r->fill);
    T l[LANES], h[LANES];
    size_t i = 0;
    for (; i + RANGE_GROUP <= n; i += RANGE_GROUP) {
        M unknown = m_none();
        for (unsigned k = 0; k < RANGE_GROUP; k += LANES) {
            if (k * WIDTH % 64 == 0)
                v_prefetch(x + (i + k) * WIDTH, RANGE_AHEAD);
            const F v = f_load(x + (i + k) * WIDTH), a = f_abs(v);
            const M strange = f_not_lt(a, ordinary);
            const F or_nan = f_nan_where(strange, v);
            low = f_min(or_nan, low); /* gives the second operand if one is NaN */
            high = f_max(or_nan, high);
            const V skipped = f_bits(f_min(a, infinity)); /* NaN becomes infinity */
            const M finite = m_differ(strange, skipped, f_bits(infinity));
            unknown = m_or(unknown, m_differ(finite, skipped, f_bits(fill)));
        }
        if (__builtin_expect(m_any(unknown), 0)) {
            take_strange(r, x + i * WIDTH);
            fill = f_set1((T)r->fill);
        }
    }
    v_store((U *)(void *)l, f_bits(low));
    v_store((U *)(void *)h, f_bits(high));
    for (unsigned k = 0; k < LANES; k++) {
        zmpi_range_take(r, (double)l[k]); /* infinity, which is skipped, if there was none */
        zmpi_range_take(r, (double)h[k]);
    }
    for (; i < n; i++)
        zmpi_range_take(r, (double)value_of(load_word(x + i * WIDTH)));
}
