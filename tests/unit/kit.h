/*
 * kit.h - what the stream tests share: reproducible random data, buffers between guard pages, and
 * the check of the promise (every finite element within the bound, everything else bit for bit).
 */
#ifndef ZMPI_KIT_H
#define ZMPI_KIT_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "layout/stream.h"
#include "long.h"

#define KIT_COUNT(a) (sizeof(a) / sizeof(a)[0])

/* ---- random numbers (splitmix64): the same on every machine ---- */

struct kit_random {
    uint64_t state;
};

static inline uint64_t kit_next(struct kit_random *r)
{
    uint64_t x = r->state += 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

static inline size_t kit_below(struct kit_random *r, size_t n)
{
    return (size_t)(kit_next(r) % n);
}

/* In [-1, 1). */
static inline double kit_unit(struct kit_random *r)
{
    return (double)(int64_t)kit_next(r) * 0x1p-63;
}

/* ---- buffers with an inaccessible page on either side ---- */

struct kit_guarded {
    unsigned char *data; /* `size` bytes */
    void *map;
    size_t map_size;
};

/* The buffer touches the page behind it, or the one before it. */
static inline struct kit_guarded kit_guard(size_t size, bool at_end)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t inside = (size + page - 1) / page * page;
    struct kit_guarded g = {.map_size = inside + 2 * page};
    g.map = mmap(NULL, g.map_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert(g.map != MAP_FAILED);
    unsigned char *first = (unsigned char *)g.map + page;
    if (inside != 0)
        cr_assert(mprotect(first, inside, PROT_READ | PROT_WRITE) == 0);
    g.data = at_end ? first + (inside - size) : first;
    return g;
}

static inline void kit_unguard(struct kit_guarded *g)
{
    munmap(g->map, g->map_size);
}

/* ---- arrays ---- */

static inline struct zmpi_array kit_array(enum zmpi_type type, size_t nz, size_t ny, size_t nx)
{
    return (struct zmpi_array){type, {nz, ny, nx}};
}

static inline size_t kit_elements(const struct zmpi_array *a)
{
    return a->extent[0] * a->extent[1] * a->extent[2];
}

static inline size_t kit_bytes(const struct zmpi_array *a)
{
    return kit_elements(a) * zmpi_type_size(a->type);
}

static inline bool kit_is_float(enum zmpi_type type)
{
    return type == ZMPI_F32 || type == ZMPI_F64;
}

static inline struct zmpi_bound kit_abs(double value)
{
    return (struct zmpi_bound){ZMPI_ABS, value};
}

static inline struct zmpi_bound kit_rel(double value)
{
    return (struct zmpi_bound){ZMPI_REL, value};
}

static inline void kit_put(enum zmpi_type type, void *dst, size_t i, double value)
{
    if (type == ZMPI_F32)
        ((float *)dst)[i] = (float)value;
    else
        ((double *)dst)[i] = value;
}

static inline double kit_get(enum zmpi_type type, const void *src, size_t i)
{
    return type == ZMPI_F32 ? (double)((const float *)src)[i] : ((const double *)src)[i];
}

/* ---- data ---- */

enum kit_data {
    KIT_SMOOTH,   /* waves around an offset                        */
    KIT_NOISE,    /* uniform                                       */
    KIT_DECADES,  /* every magnitude, either sign                  */
    KIT_BITS,     /* random bit patterns: NaN payloads, Inf, ...   */
    KIT_SPIKES,   /* smooth with 1e30 here and there               */
    KIT_SPECIAL,  /* smooth with NaN, Inf, -0, denormals, fills    */
    KIT_CONSTANT, /* one value                                     */
    KIT_PATCHES,  /* zero, smooth, noise and fill in long stretches */
    KIT_ISLANDS,  /* fill, and smooth where no chunk in a row is sampled */
    KIT_DATA_KINDS
};

static inline double kit_special(struct kit_random *r, enum zmpi_type type)
{
    static const double special[] = {1e20, 1e35,  9.96921e36, -9.999e20, 0x1.fffffep127, -0.0,
                                     0.0,  1e-44, -1e-310,    0x1p-126,  1e30,           -1e30};
    size_t k = kit_below(r, KIT_COUNT(special) + 3);
    if (k >= KIT_COUNT(special))
        return k == KIT_COUNT(special) ? (double)NAN : k % 2 != 0 ? (double)INFINITY : -INFINITY;
    return type == ZMPI_F32 ? (double)(float)special[k] : special[k];
}

static inline double kit_value(struct kit_random *r, enum zmpi_type type, enum kit_data kind,
                               size_t i)
{
    double wave = 5 + 3 * sin(0.03 * (double)i) + 0.5 * cos(0.4 * (double)i);
    switch (kind) {
    case KIT_NOISE:
        return kit_unit(r);
    case KIT_DECADES:
        return kit_unit(r) * pow(10, 36 * kit_unit(r));
    case KIT_SPIKES:
        return kit_below(r, 50) == 0 ? 1e30 : wave;
    case KIT_SPECIAL:
        return kit_below(r, 10) == 0 ? kit_special(r, type) : wave;
    case KIT_CONSTANT:
        return -273.15;
    case KIT_PATCHES:
        return (double[]){0, wave, 100 * kit_unit(r), 1e20}[i / 777 % 4];
    case KIT_ISLANDS:
        return i % 4096 - 300 < 200 ? wave : 1e20; /* each eighth or 16th block is sampled */
    default:
        return wave;
    }
}

static inline void kit_fill(struct kit_random *r, const struct zmpi_array *a, enum kit_data kind,
                            void *dst)
{
    size_t n = kit_elements(a);
    if (kind == KIT_BITS || !kit_is_float(a->type)) {
        /* Integers: small numbers in long runs of the same, and sometimes anything. */
        unsigned char *byte = dst;
        for (size_t i = 0; i < kit_bytes(a); i++)
            byte[i] = kind == KIT_BITS || i / 500 % 3 == 0
                          ? (unsigned char)kit_next(r)
                          : (unsigned char)(i % 4 == 0 ? i / 64 : 0);
        return;
    }
    for (size_t i = 0; i < n; i++)
        kit_put(a->type, dst, i, kit_value(r, a->type, kind, i));
}

/* A new array full of data; free() it. */
static inline void *kit_make(struct kit_random *r, const struct zmpi_array *a, enum kit_data kind)
{
    void *data = malloc(kit_bytes(a) + 1);
    cr_assert_not_null(data);
    kit_fill(r, a, kind, data);
    return data;
}

/* ---- streams ---- */

struct kit_stream {
    unsigned char *data; /* free() it */
    size_t size;
};

static inline struct kit_stream kit_compress(const struct zmpi_array *a, struct zmpi_bound bound,
                                             const void *src)
{
    size_t capacity = zmpi_compress_capacity(a);
    struct kit_stream s = {malloc(capacity), 0};
    cr_assert_not_null(s.data);
    enum zmpi_status status = zmpi_compress(a, &bound, NULL, s.data, capacity, src, &s.size);
    cr_assert_eq(status, ZMPI_OK, "compress: %s", zmpi_strerror(status));
    cr_assert_leq(s.size, capacity);
    return s;
}

/* The decoded array; free() it. */
static inline void *kit_decompress(const struct kit_stream *s)
{
    struct zmpi_stream_info info;
    cr_assert_eq(zmpi_stream_info(s->data, s->size, &info), ZMPI_OK);
    cr_assert_eq(info.length, s->size);
    void *out = malloc(info.decoded_bytes + 1);
    cr_assert_not_null(out);
    enum zmpi_status status = zmpi_decompress(out, info.decoded_bytes, s->data, s->size);
    cr_assert_eq(status, ZMPI_OK, "decompress: %s", zmpi_strerror(status));
    return out;
}

static inline double kit_abs_bound(const struct kit_stream *s)
{
    struct zmpi_stream_info info;
    cr_assert_eq(zmpi_stream_info(s->data, s->size, &info), ZMPI_OK);
    return info.abs_bound;
}

/* Must this element come back bit for bit, whatever the bound? */
static inline bool kit_exact(double x)
{
    return !isfinite(x) || (x == 0 && signbit(x));
}

/* Is |x - y| <= bound in exact arithmetic? The rounded difference and its rounding error (Knuth's
 * TwoSum) together are exact. */
static inline bool kit_within(double x, double y, double bound)
{
    double d = x - y, b = d - x, rest = (x - (d - b)) + (-y - b);
    if (isinf(bound))
        return isfinite(y);
    if (d < 0)
        rest = -rest;
    return fabs(d) < bound || (fabs(d) == bound && rest <= 0);
}

/*
 * Is |x - y| <= r |x|, r < 1, in exact arithmetic? All three are m 2^e with integers m below 2^53.
 * The exponents of x and y may differ by 8, more than any rounding of a magnitude makes of them.
 */
static inline bool kit_relative(double x, double y, double r)
{
    int ex, ey, er;
    if (x == y)
        return true;
    if (!isfinite(x) || !isfinite(y) || x == 0 || signbit(x) != signbit(y))
        return false;
    __int128 mx = (__int128)ldexp(frexp(fabs(x), &ex), 53);
    __int128 my = (__int128)ldexp(frexp(fabs(y), &ey), 53);
    __int128 mr = (__int128)ldexp(frexp(r, &er), 53);
    if (y == 0 || ex - ey > 8 || ey - ex > 8)
        return false;
    int least = ex < ey ? ex : ey;
    __int128 fx = mx << (ex - least), d = fx - (my << (ey - least));
    d = d < 0 ? -d : d;
    __int128 most = fx * mr; /* below 2^114; d <= most 2^(er-53), and d is an integer */
    int cut = 53 - er;
    return cut < 120 && d <= most >> cut;
}

/* Number of the first element that breaks the promise, n if none does. */
static inline size_t kit_first_bad(const struct zmpi_array *a, const void *src, const void *out,
                                   double abs_bound)
{
    size_t n = kit_elements(a), size = zmpi_type_size(a->type);
    for (size_t i = 0; i < n; i++) {
        const unsigned char *x = (const unsigned char *)src + i * size;
        const unsigned char *y = (const unsigned char *)out + i * size;
        if (memcmp(x, y, size) == 0)
            continue;
        if (!kit_is_float(a->type) || kit_exact(kit_get(a->type, src, i)))
            return i;
        if (!kit_within(kit_get(a->type, src, i), kit_get(a->type, out, i), abs_bound))
            return i;
    }
    return n;
}

static inline void kit_check(const struct zmpi_array *a, const void *src, const void *out,
                             double abs_bound, const char *what)
{
    size_t i = kit_first_bad(a, src, out, abs_bound);
    if (i == kit_elements(a))
        return;
    if (kit_is_float(a->type))
        cr_assert_fail("%s: element %zu: %a became %a, bound %a", what, i, kit_get(a->type, src, i),
                       kit_get(a->type, out, i), abs_bound);
    cr_assert_fail("%s: element %zu is not exact", what, i);
}

static inline void kit_check_relative(const struct zmpi_array *a, const void *src, const void *out,
                                      double r, const char *what)
{
    for (size_t i = 0; i < kit_elements(a); i++) {
        double x = kit_get(a->type, src, i), y = kit_get(a->type, out, i);
        if (!kit_exact(x) && !kit_relative(x, y, r))
            cr_assert_fail("%s: element %zu: %a became %a, bound %a", what, i, x, y, r);
    }
}

/* The ratio in dB that a psnr bound speaks of; +inf if nothing changed. */
static inline double kit_psnr(const struct zmpi_array *a, const void *src, const void *out)
{
    struct zmpi_range range;
    long double squares = 0, count = 0;
    zmpi_range_of(a->type, src, kit_elements(a), &range);
    for (size_t i = 0; i < kit_elements(a); i++) {
        double x = kit_get(a->type, src, i);
        if (!isfinite(x) || fabs(x) >= range.fill)
            continue;
        long double d = (long double)x - kit_get(a->type, out, i);
        squares += d * d;
        count++;
    }
    long double width = (long double)range.max - range.min;
    return squares > 0 ? (double)(20 * log10l(width) - 10 * log10l(squares / count))
                       : (double)INFINITY;
}

/* Compress, decompress, check the promise. Returns the decoded array; free() it. */
static inline void *kit_round_trip(const struct zmpi_array *a, struct zmpi_bound bound,
                                   const void *src, const char *what)
{
    struct kit_stream s = kit_compress(a, bound, src);
    void *out = kit_decompress(&s);
    double abs_bound = kit_abs_bound(&s);
    if (bound.mode == ZMPI_ABS)
        cr_assert(abs_bound <= bound.value, "%s: abs bound %a", what, abs_bound);
    kit_check(a, src, out, abs_bound, what);
    if (bound.mode == ZMPI_PW_REL && kit_is_float(a->type))
        kit_check_relative(a, src, out, bound.value, what);
    if (bound.mode == ZMPI_PSNR && kit_is_float(a->type))
        cr_assert_geq(kit_psnr(a, src, out), bound.value, "%s", what);
    free(s.data);
    return out;
}

#endif
