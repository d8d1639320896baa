/*
 * interp_values_t.h - template, included once per float type: T the type, BITS its bits, FABS its
 * fabs, NEXT its nextafter, NAME(f) the functions. Loops are simple, so that compilers turn them
 * into vectors.
 */

typedef T __attribute__((aligned(1), may_alias)) NAME(any_place);

/* Tells which elements are not values: NaN, Inf, -0, fill values, and all from `keep` on. */
struct NAME(kept) {
    T keep;
    BITS fill[2];
};

static struct NAME(kept) NAME(kept_of)(const struct zmpi_interp_rule *rule)
{
    const T keep = (T)rule->keep; /* rounded up below: for x of type T, |x| < it is the same */
    return (struct NAME(kept)){.keep = (double)keep < rule->keep ? NEXT(keep, (T)INFINITY) : keep,
                               .fill = {(BITS)rule->fill[0], (BITS)rule->fill[1]}};
}

/* Returns x, or NaN if it is not a value. Has no branch, so that loops become vectors. */
static inline T NAME(value_of)(T x, const struct NAME(kept) * kept)
{
    BITS b;
    memcpy(&b, &x, sizeof b);
    const BITS is = (BITS)((FABS(x) < kept->keep) & (b != (BITS)1 << (8 * sizeof(T) - 1)) &
                           (b != kept->fill[0]) & (b != kept->fill[1]));
    b |= is - 1;
    memcpy(&x, &b, sizeof x);
    return x;
}

/* Returns row z, y of the tile, which can be read up to whole vectors. It prefetches later ones:
 * rows are too far apart for the hardware to do so. */
static const NAME(any_place) * NAME(row)(const struct zmpi_interp_work *w, const size_t extent[3],
                                         const struct zmpi_rows *src, size_t z, size_t y)
{
    const size_t bytes = extent[2] * sizeof(T);
    const unsigned char *row = src->at + z * src->plane + y * src->row;
    const unsigned char *last = src->at + (extent[0] - 1) * src->plane + (extent[1] - 1) * src->row;
    const unsigned char *ahead = row_ahead(src, extent, z, y);
    for (size_t b = 0; b < bytes; b += 64)
        __builtin_prefetch(ahead + b);
    if ((size_t)(last - row) >= 16 * sizeof(T))
        return (const NAME(any_place) *)row;
    memcpy(w->clean[0], row, bytes); /* the array may end there */
    return w->clean[0];
}

/* Returns a value in the middle of sampled ones. */
static double NAME(middle)(const struct zmpi_interp_rule *rule, const size_t extent[3],
                           const struct zmpi_rows *src)
{
    enum { MOST = 255 };
    const size_t n = extent[0] * extent[1] * extent[2], each = n / MOST + 1;
    const struct NAME(kept) kept = NAME(kept_of)(rule);
    T sample[MOST + 1];
    size_t count = 0;
    for (size_t i = 0; i < n && count < MOST; i += each) {
        T x;
        memcpy(&x, zmpi_interp_word(src, extent, i, sizeof x), sizeof x);
        x = NAME(value_of)(x, &kept);
        if (isnan(x))
            continue;
        size_t k = count++;
        for (; k > 0 && sample[k - 1] > x; k--)
            sample[k] = sample[k - 1];
        sample[k] = x;
    }
    return count ? (double)sample[count / 2] : 0;
}

/* Makes a row's integers, less the base. Those beyond REACH, and elements that are not values,
 * become NO_VALUE. Also finds the range of the values of each column. True: not all have one. */
static bool NAME(load_row)(const NAME(any_place) * x, size_t n, const struct NAME(kept) * kept,
                           double inverse, double base, int32_t *restrict value, T *restrict lo,
                           T *restrict hi)
{
    const size_t m = whole(n, 16);
    const struct NAME(kept) k = *kept;
    const double magic = 0x1.8p52; /* a sum with it is rounded as rint does, to its last bits */
    const uint32_t reach = (uint32_t)REACH;
    uint32_t most = 0;
    uint64_t zero;
    memcpy(&zero, &magic, sizeof zero);
    zero += (uint64_t)(int64_t)base - reach;
    for (size_t i = 0; i < m; i++) {
        const T y = NAME(value_of)(x[i], &k);
        lo[i] = y < lo[i] ? y : lo[i];
        hi[i] = y > hi[i] ? y : hi[i];
        const double d = (double)y * inverse + magic;
        uint64_t b;
        memcpy(&b, &d, sizeof b);
        b -= zero;
        const uint32_t v = (uint32_t)(b < 2 * reach + 1 ? b : 2 * reach + 1);
        value[i] = v > 2 * reach ? NO_VALUE : (int32_t)(v - reach);
        most = v > most ? v : most;
    }
    if (fabs(base) < 0x1p50)
        return most > 2 * reach;
    for (size_t i = 0; i < n; i++) {
        const double d = rint((double)NAME(value_of)(x[i], &k) * inverse) - base;
        value[i] = fabs(d) <= REACH ? (int32_t)d : NO_VALUE;
    }
    return true;
}

/* Loads the tile's integers and marks the exceptions; finds the range of the values, whose least is
 * above the most if there are none. True: there may be exceptions. */
static bool NAME(load_rows)(struct zmpi_interp_work *w, const struct zmpi_interp_rule *rule,
                            const size_t extent[3], const struct zmpi_rows *src, double base,
                            double *least, double *most)
{
    const struct NAME(kept) kept = NAME(kept_of)(rule);
    unsigned char *exception = w->exception;
    T *lo = (T *)w->clean[1], *hi = (T *)w->clean[2];
    bool any = false;
    memset(exception, 0, extent[0] * extent[1] * extent[2]);
    for (size_t i = 0; i < extent[2]; i++) {
        lo[i] = (T)INFINITY;
        hi[i] = -(T)INFINITY;
    }
    for (size_t z = 0; z < extent[0]; z++)
        for (size_t y = 0; y < extent[1]; y++, exception += extent[2]) {
            int32_t *value = w->flat.value + z * w->flat.plane + y * w->flat.row;
            if (!NAME(load_row)(NAME(row)(w, extent, src, z, y), extent[2], &kept, 1 / rule->unit,
                                base, value, lo, hi))
                continue;
            for (size_t i = 0; i < extent[2]; i++)
                exception[i] = value[i] == NO_VALUE;
            any = true;
        }
    *least = INFINITY;
    *most = -INFINITY;
    for (size_t i = 0; i < extent[2]; i++) {
        *least = (double)lo[i] < *least ? (double)lo[i] : *least;
        *most = (double)hi[i] > *most ? (double)hi[i] : *most;
    }
    return any;
}

/* Is every decoded value, with half a step and half a unit of error, within the bound, however it
 * was rounded? Elements are at most so large. */
static bool NAME(is_sure)(const struct zmpi_interp_rule *rule, double largest)
{
    const double last = sizeof(T) == 4 ? 0x1p-24 : 0x1p-53, units = largest / rule->unit + 256;
    return rule->unit > (sizeof(T) == 4 ? 0x1p-120 : 0x1p-960) &&
           units * rule->unit < (sizeof(T) == 4 ? 0x1p127 : 0x1p1000) &&
           (128.5 + units * (last + 0x1p-51)) * rule->unit < rule->abs_bound * (1 - 0x1p-30);
}

/* Loads by the base of the tile before, and goes over to the tile's own, which its range tells.
 * False: no value could be an integer. */
static bool NAME(load)(struct zmpi_interp_work *w, const struct zmpi_interp_rule *rule,
                       const size_t extent[3], const struct zmpi_rows *src, double *base)
{
    const double inverse = 1 / rule->unit, before = w->base;
    const size_t all = w->flat.plane * extent[0] - 2 * PAD;
    double least, most;
    bool any = NAME(load_rows)(w, rule, extent, src, before, &least, &most);
    *base = 0;
    w->sure = false;
    if (least <= most) {
        const bool wide = (most / 2 - least / 2) * inverse > REACH - 2 * ZMPI_INTERP_STEP;
        double middle = least / 2 + most / 2;
        if ((most / 2 - least / 2) * inverse > REACH)
            middle = NAME(middle)(rule, extent, src);
        *base = rint(middle * inverse / ZMPI_INTERP_STEP) * ZMPI_INTERP_STEP;
        if (!(fabs(*base) <= ZMPI_INTERP_BASE_MOST))
            return false;
        w->sure = NAME(is_sure)(rule, fmax(fabs(least), fabs(most)));
        w->base = *base;
        any = any || wide;
    }
    const uint32_t shift = any ? 0 : (uint32_t)(int32_t)(*base - before);
    if (any && (*base < before || *base > before))
        any = NAME(load_rows)(w, rule, extent, src, *base, &least, &most);
    else if (shift)
        for (size_t i = 0; i < all; i++)
            w->flat.value[i] = (int32_t)((uint32_t)w->flat.value[i] - shift);
    w->sure &= !any;
    return true;
}

/* base + v is a whole number below 2^53 and so exact: the product rounds once, and once more to
 * f32. */
static void NAME(unload_row)(const int32_t *restrict v, size_t n, int bits, double unit,
                             double base, NAME(any_place) *restrict x)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (T)((base + (double)(int32_t)((uint32_t)v[i] << bits)) * unit);
}

/* Are the values, with few left out, such as integers decode to? Zeros tell nothing. */
static bool NAME(decoded)(const struct zmpi_interp_work *w, const struct zmpi_interp_rule *rule,
                          const size_t extent[3], const struct zmpi_rows *src, double base)
{
    const unsigned char *exception = w->exception;
    size_t right = 0, seen = 0;
    for (size_t r = 0; r < extent[0] * extent[1]; r++, exception += extent[2]) {
        const int32_t *v =
            w->flat.value + r / extent[1] * w->flat.plane + r % extent[1] * w->flat.row;
        const NAME(any_place) *x = (const NAME(any_place) *)(src->at + r / extent[1] * src->plane +
                                                             r % extent[1] * src->row);
        for (size_t i = 0; i < extent[2]; i++) {
            const T y = (T)((base + (double)v[i]) * rule->unit);
            const bool tells = x[i] != 0 && (double)FABS(x[i]) < rule->keep;
            seen += tells;
            right += tells && !exception[i] && x[i] == y;
        }
        if (seen - right > extent[0] * extent[1] * extent[2] / 8) /* most data that were not decoded
                                                                   * end here */
            return false;
    }
    return seen > 0 && seen - right <= seen / 8;
}

/* Is a decoded value as far as the bound, or farther, from its original? NaN does not count: such
 * elements are exceptions already. */
static bool NAME(is_far)(const NAME(any_place) * x, const int32_t *v, size_t n, double unit,
                         double base, double abs_bound)
{
    uint64_t far = 0;
    for (size_t i = 0; i < n; i++) {
        const T y = (T)((base + (double)v[i]) * unit);
        far |= fabs((double)x[i] - (double)y) >= abs_bound;
    }
    return far;
}

static void NAME(mark_row)(const NAME(any_place) * x, const int32_t *v, size_t n, double unit,
                           double base, double abs_bound, unsigned char *exception)
{
    for (size_t i = 0; i < n; i++) {
        const T y = (T)((base + (double)v[i]) * unit);
        const bool right = fabs((double)x[i] - (double)y) < abs_bound;
        exception[i] = (unsigned char)(exception[i] ? exception[i] : right ? 0 : 2);
    }
}

/*
 * Makes an exception of each value that would be decoded farther than the bound from its original;
 * mostly there is none. The computed difference is rounded, but if it is below the bound, so is the
 * true one.
 */
static void NAME(verify)(const struct zmpi_interp_work *w, const struct zmpi_interp_rule *rule,
                         const size_t extent[3], const struct zmpi_rows *src, double base)
{
    unsigned char *exception = w->exception;
    for (size_t z = 0; z < extent[0]; z++)
        for (size_t y = 0; y < extent[1]; y++, exception += extent[2]) {
            const NAME(any_place) *x = NAME(row)(w, extent, src, z, y);
            const int32_t *v = w->flat.value + z * w->flat.plane + y * w->flat.row;
            if (NAME(is_far)(x, v, extent[2], rule->unit, base, rule->abs_bound))
                NAME(mark_row)
            (x, v, extent[2], rule->unit, base, rule->abs_bound, exception);
        }
}

#undef T
#undef BITS
#undef FABS
#undef NEXT
#undef NAME
