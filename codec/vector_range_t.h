/* vector_range_t.h - template: range_t.h in vectors. Values that are not ordinary are taken one by
 * one. */

enum { RANGE_GROUP = 8 * LANES };

/* Bytes from what is read to what is fetched into the second-level cache: a core reads from memory
 * a quarter faster than by the hardware's prefetchers alone. */
enum { RANGE_AHEAD = 8192 };

/* The lanes that are not ordinary. Most will be the one fill value of a field, which is known after
 * the first. */
VECTOR void take_lanes(struct zmpi_range *r, const unsigned char *x, M strange)
{
    const M known = v_equal(f_bits(f_abs(f_load(x))), f_bits(f_set1((T)r->fill)));
    /* Before the first, "fill" is infinity, which is skipped just as well. */
    uint32_t odd = m_bits(strange) & ~m_bits(known);
    for (; odd; odd &= odd - 1)
        zmpi_range_take(r, (double)value_of(load_word(x + (size_t)__builtin_ctz(odd) * WIDTH)));
}

TARGET void RANGE(const void *src, size_t n, struct zmpi_range *r)
{
    const unsigned char *x = src;
    const F ordinary = f_set1((T)ZMPI_ORDINARY);
    F low = f_set1((T)INFINITY), high = f_set1(-(T)INFINITY);
    T l[LANES], h[LANES];
    size_t i = 0;
    for (; i + RANGE_GROUP <= n; i += RANGE_GROUP) {
        F lo = low, hi = high;
        M odd = m_none();
        for (unsigned k = 0; k < RANGE_GROUP; k += LANES) {
            if (k * WIDTH % 64 == 0)
                v_prefetch(x + (i + k) * WIDTH, RANGE_AHEAD);
            F v = f_load(x + (i + k) * WIDTH);
            lo = f_min(lo, v);
            hi = f_max(hi, v);
            odd = m_or(odd, f_not_lt(f_abs(v), ordinary));
        }
        if (__builtin_expect(!m_any(odd), 1)) {
            low = lo;
            high = hi;
            continue;
        }
        for (unsigned k = 0; k < RANGE_GROUP; k += LANES) {
            const unsigned char *at = x + (i + k) * WIDTH;
            F v = f_load(at);
            M strange = f_not_lt(f_abs(v), ordinary);
            F or_nan = f_nan_where(strange, v);
            low = f_min(or_nan, low); /* the second if one is NaN */
            high = f_max(or_nan, high);
            take_lanes(r, at, strange);
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
