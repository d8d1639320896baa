/*
 * interp_values_t.h - template, included once per float type: T the type, BITS its bits, FABS its
 * fabs, NEXT its nextafter, NAME(f) the functions. Simple loops, which compilers make vectors of.
 */

/* A row, with NaN for elements that cannot be integers, and behind it. */
static void NAME(clean_row)(const unsigned char *row, size_t n, const struct zmpi_interp_rule *rule,
                            T *restrict clean)
{
    const BITS minus_0 = (BITS)1 << (8 * sizeof(T) - 1);
    const BITS fill[] = {(BITS)rule->fill[0], (BITS)rule->fill[1]};
    const T keep = (double)(T)rule->keep < rule->keep ? NEXT((T)rule->keep, (T)INFINITY)
                                                      : (T)rule->keep; /* |x| < it: the same */
    const size_t m = whole(n, 16);
    for (size_t i = m - 16; i < m; i++)
        clean[i] = (T)NAN;
    memcpy(clean, row, n * sizeof *clean);
    for (size_t i = 0; i < m; i++) {
        const T x = clean[i];
        BITS b;
        memcpy(&b, clean + i, sizeof b);
        const bool is_value = (FABS(x) < keep) & (b != minus_0) & (b != fill[0]) & (b != fill[1]);
        clean[i] = is_value ? x : (T)NAN;
    }
}

/* The elements of row r, those with a value. Rows of a tile are too far apart for the machine to
 * fetch them by itself. */
static const T *NAME(clean)(const struct zmpi_interp_work *w, const struct zmpi_interp_rule *rule,
                            const size_t extent[3], const struct zmpi_rows *src, size_t r)
{
    T *clean = (T *)w->clean[0];
    const size_t ahead = r + 8;
    if (ahead < extent[0] * extent[1])
        for (size_t b = 0; b < extent[2] * sizeof(T); b += 64)
            __builtin_prefetch(src->at + ahead / extent[1] * src->plane +
                               ahead % extent[1] * src->row + b);
    NAME(clean_row)
    (src->at + r / extent[1] * src->plane + r % extent[1] * src->row, extent[2], rule, clean);
    return clean;
}

static void NAME(range_row)(const T *restrict x, size_t n, T *restrict lo, T *restrict hi)
{
    const size_t m = whole(n, 16);
    for (size_t i = 0; i < m; i++) {
        lo[i] = x[i] < lo[i] ? x[i] : lo[i];
        hi[i] = x[i] > hi[i] ? x[i] : hi[i];
    }
}

/* Of the elements with a value: column by column, then of all. */
static bool NAME(range)(const struct zmpi_interp_work *w, const struct zmpi_interp_rule *rule,
                        const size_t extent[3], const struct zmpi_rows *src, double *least,
                        double *most)
{
    T *lo = (T *)w->clean[1], *hi = (T *)w->clean[2];
    for (size_t i = 0; i < extent[2]; i++) {
        lo[i] = (T)INFINITY;
        hi[i] = -(T)INFINITY;
    }
    for (size_t r = 0; r < extent[0] * extent[1]; r++)
        NAME(range_row)(NAME(clean)(w, rule, extent, src, r), extent[2], lo, hi);
    *least = INFINITY;
    *most = -INFINITY;
    for (size_t i = 0; i < extent[2]; i++) {
        *least = (double)lo[i] < *least ? (double)lo[i] : *least;
        *most = (double)hi[i] > *most ? (double)hi[i] : *most;
    }
    return *least <= *most;
}

/* A value in the middle of many: of samples. */
static double NAME(middle)(const struct zmpi_interp_rule *rule, const size_t extent[3],
                           const struct zmpi_rows *src)
{
    enum { MOST = 255 };
    const size_t n = extent[0] * extent[1] * extent[2], each = n / MOST + 1;
    T sample[MOST + 1];
    size_t count = 0;
    for (size_t i = 0; i < n && count < MOST; i += each) {
        T row[16];
        NAME(clean_row)(zmpi_interp_word(src, extent, i, sizeof(T)), 1, rule, row);
        const T x = row[0];
        if (isnan(x))
            continue;
        size_t k = count++;
        for (; k > 0 && sample[k - 1] > x; k--)
            sample[k] = sample[k - 1];
        sample[k] = x;
    }
    return count ? (double)sample[count / 2] : 0;
}

/* Integers of a row, less the base; those that reach too far, and NaN, are exceptions. */
static void NAME(load_row)(const T *restrict x, size_t n, double inverse, double base,
                           int32_t *restrict value, unsigned char *restrict exception)
{
    const size_t m = whole(n, 16);
    if (fabs(base) < 0x1p50) /* sums round as rint does, and vectors have them */
        for (size_t i = 0; i < m; i++) {
            const double d = ((double)x[i] * inverse + 0x1.8p52) - 0x1.8p52 - base;
            value[i] = (int32_t)(fabs(d) <= REACH ? d : (double)NO_VALUE);
            exception[i] = value[i] == NO_VALUE;
        }
    else
        for (size_t i = 0; i < n; i++) {
            const double d = rint((double)x[i] * inverse) - base;
            value[i] = (int32_t)(fabs(d) <= REACH ? d : (double)NO_VALUE);
            exception[i] = value[i] == NO_VALUE;
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
    if (NAME(range)(w, rule, extent, src, &least, &most)) {
        double middle = least / 2 + most / 2;
        if ((most / 2 - least / 2) * inverse > REACH)
            middle = NAME(middle)(rule, extent, src);
        *base = rint(middle * inverse / ZMPI_INTERP_STEP) * ZMPI_INTERP_STEP;
        if (!(fabs(*base) <= ZMPI_INTERP_BASE_MOST))
            return false;
    }
    for (size_t r = 0; r < extent[0] * extent[1]; r++, exception += extent[2])
        NAME(load_row)
    (NAME(clean)(w, rule, extent, src, r), extent[2], inverse, *base,
     w->flat.value + r / extent[1] * w->flat.plane + r % extent[1] * w->flat.row, exception);
    return true;
}

/* Both sums and products of whole numbers below 2^53: one rounding, and one more to f32. */
static void NAME(unload_row)(const int32_t *restrict v, size_t n, double unit, double base,
                             T *restrict x)
{
    const size_t m = whole(n, 16);
    for (size_t i = 0; i < m; i++)
        x[i] = (T)((base + (double)v[i]) * unit);
}

static void NAME(unload)(const struct zmpi_interp_work *w, const struct zmpi_interp_rule *rule,
                         const size_t extent[3], const struct zmpi_rows *dst, double base)
{
    T *x = (T *)w->clean[0];
    for (size_t r = 0; r < extent[0] * extent[1]; r++) {
        NAME(unload_row)
        (w->flat.value + r / extent[1] * w->flat.plane + r % extent[1] * w->flat.row, extent[2],
         rule->unit, base, x);
        memcpy(dst->at + r / extent[1] * dst->plane + r % extent[1] * dst->row, x,
               extent[2] * sizeof *x);
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
        if (seen - right > extent[0] * extent[1] * extent[2] / 8) /* mostly soon */
            return false;
    }
    return seen > 0 && seen - right <= seen / 8;
}

/* The largest differences of each column. NaN has none: such elements are exceptions already. */
static void NAME(difference_row)(const T *restrict x, const T *restrict y, size_t n,
                                 double *restrict most)
{
    const size_t m = whole(n, 16);
    for (size_t i = 0; i < m; i++) {
        const double d = fabs((double)x[i] - (double)y[i]);
        most[i] = d > most[i] ? d : most[i];
    }
}

static void NAME(mark_row)(const unsigned char *row, const T *y, size_t n, double abs_bound,
                           unsigned char *exception)
{
    for (size_t i = 0; i < n; i++) {
        T x;
        memcpy(&x, row + i * sizeof x, sizeof x);
        const bool right = fabs((double)x - (double)y[i]) < abs_bound;
        exception[i] = (unsigned char)(exception[i] ? exception[i] : right ? 0 : 2);
    }
}

/*
 * What would be decoded further than the bound from its original becomes an exception: mostly there
 * is none. The difference is rounded, but a rounded difference below the bound is of a true one
 * below it.
 */
static void NAME(verify)(const struct zmpi_interp_work *w, const struct zmpi_interp_rule *rule,
                         const size_t extent[3], const struct zmpi_rows *src, double base)
{
    T *x = (T *)w->clean[0], *y = (T *)w->clean[1];
    double *most = (double *)w->clean[2];
    bool wrong = false;
    memset(most, 0, extent[2] * sizeof *most);
    for (int pass = 0; pass < 1 + wrong; pass++) {
        unsigned char *exception = w->exception;
        for (size_t r = 0; r < extent[0] * extent[1]; r++, exception += extent[2]) {
            const unsigned char *row =
                src->at + r / extent[1] * src->plane + r % extent[1] * src->row;
            NAME(unload_row)
            (w->flat.value + r / extent[1] * w->flat.plane + r % extent[1] * w->flat.row, extent[2],
             rule->unit, base, y);
            memcpy(x, row, extent[2] * sizeof *x);
            if (pass)
                NAME(mark_row)(row, y, extent[2], rule->abs_bound, exception);
            else
                NAME(difference_row)(x, y, extent[2], most);
        }
        for (size_t i = 0; i < extent[2]; i++)
            wrong |= !(most[i] < rule->abs_bound);
    }
}

#undef T
#undef BITS
#undef FABS
#undef NEXT
#undef NAME
