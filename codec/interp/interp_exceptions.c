/* interp_exceptions.c - the elements of a tile that are no integers, in a chunk: runs of those with
 * the usual word, and of the others, with their words (format.md 1.5). */
#include <string.h>

#include "base/bytes.h"
#include "interp/interp_work.h"

enum { FLAG_FILL = 1, FLAG_OTHERS = 2, FLAG_BITS = 4, FLAG_DIFFER = 8 };

/* ---- numbers of any size ---- */

unsigned char *zmpi_interp_put_varint(unsigned char *at, uint64_t n)
{
    for (; n >= 128; n >>= 7)
        *at++ = (unsigned char)(n | 128);
    *at++ = (unsigned char)n;
    return at;
}

const unsigned char *zmpi_interp_take_varint(const unsigned char *at, const unsigned char *end,
                                             uint64_t *n)
{
    *n = 0;
    for (unsigned shift = 0; at < end && shift < 63; shift += 7) {
        *n |= (uint64_t)(*at & 127) << shift;
        if (*at++ < 128)
            return at;
    }
    return NULL;
}

/* ---- exceptions ---- */

/* A run of elements of one kind: begin <= i < end. Between two runs lies at least one element; the
 * first one follows a run that ends at -1. */
struct run {
    size_t begin, end;
};

static bool next_run(struct run *r, const unsigned char *kind, size_t n, unsigned char of)
{
    size_t i = r->end + 1;
    while (i < n && !(kind[i] & of))
        i++;
    r->begin = i;
    while (i < n && kind[i] & of)
        i++;
    r->end = i;
    return r->begin < i;
}

/* How numbers are written: in bits, with an order k. For b ones and a zero follow b + k bits. */
enum { ORDERS = 16 };

static unsigned ones_of(size_t number, unsigned order)
{
    return 31 - (unsigned)__builtin_clz((uint32_t)(number >> order) + 1);
}

static void put_number(struct put *p, size_t number, unsigned order)
{
    const unsigned ones = ones_of(number, order);
    put_bits(p, (1u << ones) - 1, ones + 1);
    put_bits(p, (uint32_t)number - (((1u << ones) - 1) << order), ones + order);
}

static size_t take_number(struct bits *b, unsigned order)
{
    unsigned ones = 0;
    while (take_bits(b, 1) && ones < 31)
        ones++;
    return ((((size_t)1 << ones) - 1) << order) + take_bits(b, ones + order);
}

/* The runs of a kind: how many, and how the gaps before them (0) and their lengths (1) are written
 * in the fewest bits. */
struct runs {
    size_t count, bits;
    unsigned order[2];
};

static struct runs measure_runs(const unsigned char *kind, size_t n, unsigned char of)
{
    size_t bits[2][ORDERS] = {0};
    struct runs all = {0};
    struct run r = {.end = (size_t)-1};
    for (size_t last = r.end; next_run(&r, kind, n, of); last = r.end, all.count++)
        for (unsigned k = 0; k < ORDERS; k++) {
            bits[0][k] += 2 * ones_of(r.begin - last - 1, k) + 1 + k;
            bits[1][k] += 2 * ones_of(r.end - r.begin - 1, k) + 1 + k;
        }
    for (int i = 0; i < 2; i++) {
        for (unsigned k = 1; k < ORDERS; k++)
            if (bits[i][k] < bits[i][all.order[i]])
                all.order[i] = k;
        all.bits += bits[i][all.order[i]];
    }
    return all;
}

/* NULL: they take too much. */
static unsigned char *put_runs(unsigned char *at, const unsigned char *end, const struct runs *all,
                               const unsigned char *kind, size_t n, unsigned char of)
{
    struct run r = {.end = (size_t)-1};
    if ((size_t)(end - at) < 32 + all->bits / 8)
        return NULL;
    *at++ = (unsigned char)(all->order[0] | all->order[1] << 4);
    struct put p = {.at = zmpi_interp_put_varint(at, all->count)};
    for (size_t last = r.end; next_run(&r, kind, n, of); last = r.end) {
        put_number(&p, r.begin - last - 1, all->order[0]);
        put_number(&p, r.end - r.begin - 1, all->order[1]);
    }
    put_end(&p);
    return p.at;
}

/* Reads runs and marks their elements; NULL: they are damaged. *count: the marked elements. */
static const unsigned char *take_runs(const unsigned char *at, const unsigned char *end,
                                      unsigned char *kind, size_t n, unsigned char of,
                                      size_t *count)
{
    uint64_t runs;
    *count = 0;
    if (at == end)
        return NULL;
    const unsigned order[2] = {*at & (ORDERS - 1), *at / ORDERS};
    if (!(at = zmpi_interp_take_varint(at + 1, end, &runs)) || !runs || runs > n)
        return NULL;
    struct bits b = {.at = at, .end = end};
    for (size_t i = 0, first = 1; runs > 0; runs--, first = 0) {
        const size_t gap = take_number(&b, order[0]) + !first,
                     length = take_number(&b, order[1]) + 1;
        if (b.over || gap > n - i || length > n - i - gap)
            return NULL;
        i += gap;
        for (size_t k = 0; k < length; k++) {
            if (kind[i])
                return NULL;
            kind[i++] = of;
        }
        *count += length;
    }
    return b.have ? NULL : b.at;
}

/* Reads runs of an older form: pairs of varints. */
static const unsigned char *take_pairs(const unsigned char *at, const unsigned char *end,
                                       unsigned char *kind, size_t n, unsigned char of,
                                       size_t *count)
{
    size_t i = 0;
    *count = 0;
    for (;;) {
        uint64_t gap, length;
        if (!(at = zmpi_interp_take_varint(at, end, &gap)) ||
            !(at = zmpi_interp_take_varint(at, end, &length)))
            return NULL;
        if (!length)
            return gap || !*count ? NULL : at;
        if (gap > n - i || length > n - i - gap || (!gap && *count))
            return NULL;
        i += gap;
        for (uint64_t k = 0; k < length; k++) {
            if (kind[i])
                return NULL;
            kind[i++] = of;
        }
        *count += length;
    }
}

/* Marks of the fill value, bit 0, become those of elements that differ from the same place of the
 * plane before, in the first plane from the row above: coasts are alike there. */
static void differences(unsigned char *kind, const size_t extent[3])
{
    const size_t row = extent[2], plane = extent[1] * row;
    for (size_t i = extent[0] * plane; i-- > plane;)
        kind[i] ^= kind[i - plane] & 1;
    for (size_t i = plane; i-- > row;)
        kind[i] ^= kind[i - row] & 1;
}

/* Makes marks of differences again. */
static void sum_differences(unsigned char *kind, const size_t extent[3])
{
    const size_t row = extent[2], plane = extent[1] * row, n = extent[0] * plane;
    for (size_t i = row; i < plane; i++)
        kind[i] ^= kind[i - row] & 1;
    for (size_t i = plane; i < n; i++)
        kind[i] ^= kind[i - plane] & 1;
}

/* Writes the runs of the fill value: of its elements or, if that is shorter, of differences. */
static unsigned char *put_fill_runs(unsigned char *kind, const size_t extent[3],
                                    unsigned char *flags, unsigned char *at,
                                    const unsigned char *end)
{
    const size_t n = extent[0] * extent[1] * extent[2];
    struct runs all = measure_runs(kind, n, 1);
    differences(kind, extent);
    const struct runs differ = measure_runs(kind, n, 1);
    if (differ.count && differ.bits < all.bits) {
        *flags |= FLAG_DIFFER;
        at = put_runs(at, end, &differ, kind, n, 1);
        sum_differences(kind, extent);
        return at;
    }
    sum_differences(kind, extent);
    return put_runs(at, end, &all, kind, n, 1);
}

/* Returns the word of most exceptions, if most are alike; NULL: there are no exceptions. Exceptions
 * that have only too large an error vote only if there are no others. */
static const unsigned char *usual_exception(const struct zmpi_interp_work *w,
                                            const size_t extent[3], const struct zmpi_rows *src,
                                            size_t width)
{
    const size_t n = extent[0] * extent[1] * extent[2];
    const unsigned char *candidate = NULL;
    unsigned char least = 2;
    size_t votes = 0;
    for (size_t i = 0; i < n && least == 2; i++)
        least = w->exception[i] == 1 ? 1 : least;
    for (size_t i = 0; i < n; i++) {
        if (w->exception[i] != least)
            continue;
        const unsigned char *word = zmpi_interp_word(src, extent, i, width);
        if (!votes)
            candidate = word;
        votes += memcmp(word, candidate, width) == 0 ? 1 : (size_t)-1;
    }
    return candidate;
}

unsigned char *zmpi_interp_put_exceptions(struct zmpi_interp_work *w, const size_t extent[3],
                                          const struct zmpi_rows *src, size_t width,
                                          unsigned char *flags, unsigned char *at,
                                          const unsigned char *end)
{
    const size_t n = extent[0] * extent[1] * extent[2];
    unsigned char *kind = w->exception, any = 0;
    for (size_t i = 0; i < n && !(w->sure && !w->flare); i++)
        any |= kind[i];
    if (!any)
        return at;
    const unsigned char *fill = usual_exception(w, extent, src, width);
    size_t others = 0;
    for (size_t i = 0; i < n; i++) {
        if (!kind[i])
            continue;
        kind[i] = memcmp(zmpi_interp_word(src, extent, i, width), fill, width) == 0 ? 1 : 2;
        others += kind[i] == 2;
    }
    *flags |= FLAG_BITS | FLAG_FILL;
    zmpi_copy_elements(at, fill, width, width);
    if (!(at = put_fill_runs(kind, extent, flags, at + width, end)))
        return NULL;
    if (!others)
        return at;
    *flags |= FLAG_OTHERS;
    const struct runs all = measure_runs(kind, n, 2);
    if (!(at = put_runs(at, end, &all, kind, n, 2)) || (size_t)(end - at) < others * width)
        return NULL;
    unsigned char last[sizeof(double)] = {0};
    for (size_t i = 0; i < n; i++)
        if (kind[i] == 2) {
            unsigned char word[sizeof last];
            zmpi_copy_elements(word, zmpi_interp_word(src, extent, i, width), width, width);
            for (size_t k = 0; k < width; k++)
                *at++ = word[k] ^ last[k];
            memcpy(last, word, width);
        }
    return at;
}

/* ---- decoder ---- */

const unsigned char *zmpi_interp_take_exceptions(struct zmpi_interp_work *w, unsigned flags,
                                                 const size_t extent[3], size_t width,
                                                 const unsigned char *at, const unsigned char *end,
                                                 struct zmpi_interp_exceptions *e)
{
    const size_t n = extent[0] * extent[1] * extent[2];
    const bool in_bits = flags & FLAG_BITS;
    *e = (struct zmpi_interp_exceptions){0};
    if (!flags)
        return at;
    if (flags > 15 || !(flags & (FLAG_FILL | FLAG_OTHERS)) ||
        (flags & FLAG_DIFFER && !(in_bits && flags & FLAG_FILL)))
        return NULL;
    memset(w->exception, 0, n);
    if (flags & FLAG_FILL) {
        if ((size_t)(end - at) < width)
            return NULL;
        e->fill = at;
        at = (in_bits ? take_runs : take_pairs)(at + width, end, w->exception, n, 1, &e->fills);
        if (!at)
            return NULL;
        if (flags & FLAG_DIFFER)
            sum_differences(w->exception, extent);
    }
    if (flags & FLAG_OTHERS) {
        at = (in_bits ? take_runs : take_pairs)(at, end, w->exception, n, 2, &e->others);
        if (!at || (size_t)(end - at) / width < e->others)
            return NULL;
        e->values = at;
        e->differ = in_bits;
        at += e->others * width;
    }
    return at;
}

void zmpi_interp_set_exceptions(const struct zmpi_interp_work *w,
                                const struct zmpi_interp_exceptions *e, const size_t extent[3],
                                const struct zmpi_rows *dst, size_t width)
{
    const size_t n = extent[0] * extent[1] * extent[2];
    const unsigned char *next = e->values;
    unsigned char other[sizeof(double)] = {0};
    if (!e->fills && !e->others)
        return;
    for (size_t i = 0; i < n; i++) {
        if (!w->exception[i])
            continue;
        const size_t row = i / extent[2];
        unsigned char *word = dst->at + row / extent[1] * dst->plane + row % extent[1] * dst->row +
                              i % extent[2] * width;
        for (size_t k = 0; k < width && w->exception[i] == 2; k++)
            other[k] = (unsigned char)((e->differ ? other[k] : 0) ^ *next++);
        zmpi_copy_elements(word, w->exception[i] == 1 ? e->fill : other, width, width);
    }
}
