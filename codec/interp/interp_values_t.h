/*
 * interp_values_t.h - template, included once per float type: T the type, BITS its bits, FABS its
 * fabs, NAME(f) the functions. Simple loops, which compilers make vectors of.
 */

/* Elements that cannot be integers. */
static void NAME(mark)(const unsigned char *row, size_t n, const struct zmpi_interp_rule *rule,
                       unsigned char *exception)
{
    typedef T __attribute__((aligned(1), may_alias)) unaligned;
    typedef BITS __attribute__((aligned(1), may_alias)) unaligned_bits;
    const unaligned *x = (const unaligned *)row;
    const unaligned_bits *b = (const unaligned_bits *)row;
    const BITS minus_0 = (BITS)1 << (8 * sizeof(T) - 1);
    const BITS fill[] = {(BITS)rule->fill[0], (BITS)rule->fill[1]};
    for (size_t i = 0; i < n; i++)
        exception[i] = (unsigned char)(!((double)FABS(x[i]) < rule->keep) | (b[i] == minus_0) |
                                       (b[i] == fill[0]) | (b[i] == fill[1]));
}

static bool NAME(range)(const struct zmpi_interp_work *w, const size_t extent[3],
                        const struct zmpi_rows *src, double *least, double *most)
{
    typedef T __attribute__((aligned(1), may_alias)) unaligned;
    const unsigned char *exception = w->exception;
    T lo = (T)INFINITY, hi = -(T)INFINITY;
    for (size_t r = 0; r < extent[0] * extent[1]; r++, exception += extent[2]) {
        const unaligned *x =
            (const unaligned *)(src->at + r / extent[1] * src->plane + r % extent[1] * src->row);
        for (size_t i = 0; i < extent[2]; i++) {
            lo = !exception[i] && x[i] < lo ? x[i] : lo;
            hi = !exception[i] && x[i] > hi ? x[i] : hi;
        }
    }
    *least = (double)lo;
    *most = (double)hi;
    return lo <= hi;
}

/* A value in the middle of many: of samples. */
static double NAME(middle)(const struct zmpi_interp_work *w, const size_t extent[3],
                           const struct zmpi_rows *src)
{
    enum { MOST = 255 };
    const size_t n = extent[0] * extent[1] * extent[2], each = n / MOST + 1;
    T sample[MOST + 1];
    size_t count = 0;
    for (size_t i = 0; i < n && count < MOST; i += each) {
        T x;
        if (w->exception[i])
            continue;
        memcpy(&x, word_at(src, extent, i, sizeof x), sizeof x);
        size_t k = count++;
        for (; k > 0 && sample[k - 1] > x; k--)
            sample[k] = sample[k - 1];
        sample[k] = x;
    }
    return count ? (double)sample[count / 2] : 0;
}

/* Integers of a row, less the base; those that reach too far are exceptions. */
static void NAME(load_row)(const unsigned char *row, size_t n, double inverse, double base,
                           int32_t *value, unsigned char *exception)
{
    typedef T __attribute__((aligned(1), may_alias)) unaligned;
    const unaligned *x = (const unaligned *)row;
    for (size_t i = 0; i < n; i++) {
        double d = rint((double)x[i] * inverse) - base;
        const bool fits = fabs(d) <= REACH && !exception[i];
        d = fits ? d : 0;
        exception[i] = (unsigned char)!fits;
        value[i] = fits ? (int32_t)d : NO_VALUE;
    }
}

/* False: there is nothing that could be an integer. */
static bool NAME(load)(struct zmpi_interp_work *w, const struct zmpi_interp_rule *rule,
                       const size_t extent[3], const struct zmpi_rows *src, double *base)
{
    const double inverse = 1 / rule->unit;
    double least, most;
    unsigned char *exception = w->exception;
    *base = 0;
    for (size_t r = 0; r < extent[0] * extent[1]; r++)
        NAME(mark)
    (src->at + r / extent[1] * src->plane + r % extent[1] * src->row, extent[2], rule,
     exception + r * extent[2]);
    if (NAME(range)(w, extent, src, &least, &most)) {
        double middle = least / 2 + most / 2;
        if ((most / 2 - least / 2) * inverse > REACH)
            middle = NAME(middle)(w, extent, src);
        *base = rint(middle * inverse / STEP) * STEP;
        if (!(fabs(*base) <= BASE_MOST))
            return false;
    }
    for (size_t r = 0; r < extent[0] * extent[1]; r++, exception += extent[2])
        NAME(load_row)
    (src->at + r / extent[1] * src->plane + r % extent[1] * src->row, extent[2], inverse, *base,
     w->flat.value + r / extent[1] * w->flat.plane + r % extent[1] * w->flat.row, exception);
    return true;
}

/* Both sums and products of whole numbers below 2^53: one rounding, and one more to f32. */
static void NAME(unload)(const struct zmpi_interp_work *w, const struct zmpi_interp_rule *rule,
                         const size_t extent[3], const struct zmpi_rows *dst, double base)
{
    typedef T __attribute__((aligned(1), may_alias)) unaligned;
    for (size_t r = 0; r < extent[0] * extent[1]; r++) {
        const int32_t *v =
            w->flat.value + r / extent[1] * w->flat.plane + r % extent[1] * w->flat.row;
        unaligned *x =
            (unaligned *)(dst->at + r / extent[1] * dst->plane + r % extent[1] * dst->row);
        for (size_t i = 0; i < extent[2]; i++)
            x[i] = (T)((base + (double)v[i]) * rule->unit);
    }
}

/* Are the values what integers are decoded to, but for some? Zeros tell nothing. */
static bool NAME(decoded)(const struct zmpi_interp_work *w, const struct zmpi_interp_rule *rule,
                          const size_t extent[3], const struct zmpi_rows *src, double base)
{
    typedef T __attribute__((aligned(1), may_alias)) unaligned;
    const unsigned char *exception = w->exception;
    size_t right = 0, seen = 0;
    for (size_t r = 0; r < extent[0] * extent[1]; r++, exception += extent[2]) {
        const int32_t *v =
            w->flat.value + r / extent[1] * w->flat.plane + r % extent[1] * w->flat.row;
        const unaligned *x =
            (const unaligned *)(src->at + r / extent[1] * src->plane + r % extent[1] * src->row);
        for (size_t i = 0; i < extent[2]; i++) {
            const T y = (T)((base + (double)v[i]) * rule->unit);
            const bool tells = x[i] != 0 && (double)FABS(x[i]) < rule->keep;
            seen += tells;
            right += tells && !exception[i] && x[i] == y;
        }
    }
    return seen > 0 && seen - right <= seen / 8;
}

/*
 * What would be decoded further than the bound from its original becomes an exception. The
 * difference is rounded, but a rounded difference below the bound is of a true one below it.
 */
static void NAME(verify)(const struct zmpi_interp_work *w, const struct zmpi_interp_rule *rule,
                         const size_t extent[3], const struct zmpi_rows *src, double base)
{
    typedef T __attribute__((aligned(1), may_alias)) unaligned;
    unsigned char *exception = w->exception;
    for (size_t r = 0; r < extent[0] * extent[1]; r++, exception += extent[2]) {
        const int32_t *v =
            w->flat.value + r / extent[1] * w->flat.plane + r % extent[1] * w->flat.row;
        const unaligned *x =
            (const unaligned *)(src->at + r / extent[1] * src->plane + r % extent[1] * src->row);
        for (size_t i = 0; i < extent[2]; i++) {
            const T y = (T)((base + (double)v[i]) * rule->unit);
            const bool right = fabs((double)x[i] - (double)y) < rule->abs_bound;
            exception[i] = (unsigned char)(exception[i] ? exception[i] : right ? 0 : 2);
        }
    }
}

#undef T
#undef BITS
#undef FABS
#undef NAME
