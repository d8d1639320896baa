/*
 * range_t.h - template, included once per float type: T the type, FABS its fabs, RANGE_NAME the
 * function.
 *
 * It works in groups. A group of ordinary values takes a minimum and maximum without branches,
 * which compilers vectorise; any other group goes value by value. The array may begin at any
 * address.
 */
static void RANGE_NAME(const void *src, size_t n, struct zmpi_range *r)
{
    enum { GROUP = 256 };
    typedef T __attribute__((aligned(1), may_alias)) unaligned;
    const unaligned *x = src;
    for (size_t i = 0; i < n; i += GROUP) {
        size_t m = n - i < GROUP ? n - i : GROUP;
        const unaligned *g = x + i;
        T lo = g[0], hi = g[0];
        int odd = 0;
        for (size_t j = 0; j < m; j++) {
            lo = g[j] < lo ? g[j] : lo;
            hi = g[j] > hi ? g[j] : hi;
            odd |= !(FABS(g[j]) < (T)ZMPI_ORDINARY);
        }
        if (!odd) {
            r->min = fmin(r->min, (double)lo);
            r->max = fmax(r->max, (double)hi);
            continue;
        }
        for (size_t j = 0; j < m; j++) {
            const T value = g[j]; /* gcc 14 for AArch64 cannot pass what is unaligned */
            zmpi_range_take(r, (double)value);
        }
    }
}

#undef T
#undef FABS
#undef RANGE_NAME
