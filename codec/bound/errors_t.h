/*
 * errors_t.h - template, included once per float type: T is the type, FABS its fabs, ADD_ROW the
 * function. The difference and the product are rounded by less than the rounding up to the next
 * unit adds. The loops are simple, so that compilers make vectors of them.
 */
static void ADD_ROW(struct zmpi_errors *e, const unsigned char *src, const unsigned char *decoded,
                    size_t n, double bound, double keep)
{
    enum { GROUP = 256 }; /* the squares of so many elements fit in 32 bits */
    typedef T __attribute__((aligned(1), may_alias)) unaligned;
    const unaligned *x = (const unaligned *)src, *y = (const unaligned *)decoded;
    const T scale = (T)(UNIT / bound);
    T below = (T)keep, error[GROUP], counts[GROUP];
    if ((double)below < keep)
        below = (T)nextafterf((float)below, INFINITY);
    for (size_t i = 0; i < n; i += GROUP, x += GROUP, y += GROUP) {
        const size_t m = n - i < GROUP ? n - i : GROUP;
        int32_t squares = 0, count = 0;
        for (size_t j = 0; j < m; j++) {
            error[j] = FABS(x[j] - y[j]) * scale;
            counts[j] = FABS(x[j]) < below ? 1 : 0; /* 0 for NaN and infinities */
        }
        for (size_t j = 0; j < m; j++)
            error[j] = counts[j] > 0 ? error[j] : 0;
        for (size_t j = 0; j < m; j++)
            error[j] += error[j] > 0 ? 1 : 0;
        for (size_t j = 0; j < m; j++) {
            T units = (T)(int32_t)error[j];
            squares += (int32_t)(units * units); /* exact */
            count += (int32_t)counts[j];
        }
        e->squares += (uint64_t)squares;
        e->count += (uint64_t)count;
    }
}

#undef T
#undef FABS
#undef ADD_ROW
