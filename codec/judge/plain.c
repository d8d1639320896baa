/* plain.c - see plain.h. Loops over vectors of samples, in little code: small calls are judged as
 * often as they are written, and by then the code has left the caches. */
#include "judge/plain.h"

#include <limits.h>
#include <string.h>

#include "kernels/kernels.h"

#define INLINE static inline __attribute__((always_inline))

/* One sample in ONE_IN must tell something. */
enum { ONE_IN = 8 };

/* A value of 2^63 or more is a mark if all such values are alike. */
enum { MARK = 63 };

/* Plain data are far from all that the judges call text, integers, the other byte order or f32:
 * - PRINTABLE: of all bytes, more than one in so many cannot be printed;
 * - LIKE: of lower bytes (or halves), at most one in so many could belong to an exponent;
 * - LIGHT, HEAVY: the mean weight of exponents (byte_order.c) is small as they are, or large if
 *   they are byte-swapped;
 * - ROUGH_HALF: exponents of lower halves, taken for f32, are at least so far apart. */
enum { PRINTABLE = 40, LIKE = 2, LIGHT = 32, HEAVY = 2 * 192, ROUGH_HALF = 50 };

/* Bits of an f64 that are zero if it was made from an f32. */
#define BELOW_F32 0x1FFFFFFFu

/* Of a float type: place: where the exponent lies in the upper half of a word; most: its largest
 * value; second: its bits in the second byte of a swapped word; one: the exponent of 1; span, far:
 * how far exponents may be from each other and from that of 1; weight: of a quarter of a step;
 * denormal: the weight of a denormal. */
struct kind {
    unsigned place, second;
    int most, one, span, far, weight, denormal;
    uint32_t lower, mantissa; /* masks of the lower half */
};

static const struct kind kinds[2] = {{23, 1, 255, 127, 48, 60, 8, 500, 0, 0xFFFF},
                                     {20, 4, 2047, 1023, 100, 500, 1, 4000, UINT32_MAX, BELOW_F32}};

#pragma GCC diagnostic ignored "-Wpsabi" /* all functions of vectors are inlined */
typedef int32_t vector __attribute__((vector_size(32)));
typedef uint32_t bits __attribute__((vector_size(32)));
enum { LANES = sizeof(vector) / sizeof(int32_t), MOST = ZMPI_TAKEN_MOST };

/* The halves of words, for f32 both the whole word; exponents, -1 if a word tells nothing. In front
 * stands one that differs from the first word, and zeros complete the last vector. */
struct words {
    size_t n;
    uint32_t low[1 + MOST + LANES], high[1 + MOST + LANES];
    int32_t exponent[1 + MOST + LANES];
};

struct sums {
    int words, telling, marks, odd, mantissas, like, halves, half_steps, half_step;
    int here, other, included, least, most, even, ones, zeros;
};

INLINE vector at(const int32_t *from)
{
    vector v;
    memcpy(&v, from, sizeof v);
    return v;
}

INLINE bits bits_at(const uint32_t *from)
{
    bits v;
    memcpy(&v, from, sizeof v);
    return v;
}

INLINE vector size_of(vector x)
{
    const vector sign = x >> 31;
    return (x ^ sign) - sign;
}

INLINE vector most_of(vector a, vector b)
{
    const vector more = a > b;
    return (a & more) | (b & ~more);
}

/* Exponents of the byte-swapped words. */
INLINE vector swapped(const struct kind *k, bits low)
{
    return (vector)((low & 0x7F) << k->second |
                    (low >> (16 - k->second) & ((1U << k->second) - 1)));
}

INLINE vector lower_half(bits low)
{
    return (vector)(low >> 23 & 0xFF);
}

INLINE void load(struct words *w, const struct zmpi_taken *t, bool f64)
{
    const size_t n = t->rows * t->row;
    w->n = n;
    if (f64)
        for (size_t i = 0; i < n; i++) {
            uint64_t word;
            memcpy(&word, t->copy + i, sizeof word);
            w->low[1 + i] = (uint32_t)word;
            w->high[1 + i] = (uint32_t)(word >> 32);
        }
    else
        memcpy(w->low + 1, t->copy, n * sizeof *w->low);
    memset(w->low + 1 + n, 0, LANES * sizeof *w->low);
    memset(w->high + 1 + n, 0, LANES * sizeof *w->high);
    w->low[0] = ~w->low[1];
    w->high[0] = w->high[1];
    w->exponent[0] = -1;
}

/* Finds out which words tell something. */
INLINE void classify(const struct kind *k, bool f64, struct words *w, struct sums *s)
{
    const uint32_t *const low = w->low, *const high = f64 ? w->high : w->low;
    const vector first = {-1, 0, -1, 0, -1, 0, -1, 0};
    vector even = {0}, telling = {0}, marks = {0}, odd = {0}, least = {0}, most = {0};
    vector ones = {0}, zeros = {0}; /* bits of marks */
    for (size_t i = 0; i < w->n; i += LANES) {
        const bits h = bits_at(high + 1 + i), l = bits_at(low + 1 + i);
        const vector e = (vector)(h >> k->place) & k->most, is_mark = e >= k->one + MARK;
        const vector same = ((h ^ bits_at(high + i)) | (l ^ bits_at(low + i))) == 0;
        const vector tells = ~(is_mark | same | ((h << 1 | (l & k->lower)) == 0));
        const vector exponent = e | ~tells;
        memcpy(w->exponent + 1 + i, &exponent, sizeof exponent);
        even |= tells & first;
        telling -= tells;
        marks -= is_mark;
        odd -= (((h - 0x08080808) | h | (l - 0x08080808) | l) & 0x80808080) != 0;
        least = most_of(least, (k->most - e) & tells);
        most = most_of(most, e & tells);
        ones |= (vector)h & is_mark & INT_MAX;
        zeros |= (vector)~h & is_mark & INT_MAX;
    }
    s->words = (int)w->n;
    s->odd = -(int)(-w->n % LANES); /* zeros count */
    s->least = k->most;
    for (int i = 0; i < LANES; i++) {
        s->even |= even[i];
        s->telling += telling[i];
        s->marks += marks[i];
        s->odd += odd[i];
        s->least = s->least < k->most - least[i] ? s->least : k->most - least[i];
        s->most = s->most > most[i] ? s->most : most[i];
        s->ones |= ones[i];
        s->zeros |= zeros[i];
    }
}

/* Counts lower bytes and lower halves that could belong to an exponent that was seen, and adds the
 * steps from one exponent to the next. */
INLINE void compare(const struct kind *k, bool f64, const struct words *w, struct sums *s)
{
    const int least = s->least >> k->second, most = s->most >> k->second;
    vector mantissas = {0}, like = {0}, here = {0}, halves = {0}, half_step = {0}, half_steps = {0};
    for (size_t i = 0; i < w->n; i += LANES) {
        const bits l = bits_at(w->low + 1 + i), l0 = bits_at(w->low + i);
        const vector e = at(w->exponent + 1 + i), e0 = at(w->exponent + i);
        const vector tells = (e >= 0) & ((l & k->mantissa) != 0), both = (e | e0) >= 0;
        const vector second = (vector)(l >> 8 & 0x7F), half = lower_half(l);
        mantissas -= tells;
        like -= tells & (second >= least) & (second <= most);
        here += both & (4 * size_of(e - e0) + size_of(e - k->one));
        if (f64) {
            const vector fine = both & ((l & BELOW_F32) != 0) & ((l0 & BELOW_F32) != 0);
            halves -= tells & (half >= s->least >> 3) & (half <= s->most >> 3);
            half_step += fine & size_of(half - lower_half(l0));
            half_steps -= fine;
        }
    }
    for (int i = 0; i < LANES; i++) {
        s->mantissas += mantissas[i];
        s->like += like[i];
        s->here += here[i];
        s->halves += halves[i];
        s->half_step += half_step[i];
        s->half_steps += half_steps[i];
    }
}

/* Adds the steps of the swapped words. */
INLINE void add_other(const struct kind *k, const struct words *w, struct sums *s)
{
    vector other = {0}, included = {0};
    for (size_t i = 0; i < w->n; i += LANES) {
        const vector y = swapped(k, bits_at(w->low + 1 + i)), y0 = swapped(k, bits_at(w->low + i));
        const vector both = (at(w->exponent + 1 + i) | at(w->exponent + i)) >= 0;
        const vector datum = both & (y < k->one + MARK) & (y0 < k->one + MARK), denormal = y == 0;
        other += datum & ((denormal & k->denormal) |
                          (~denormal & (4 * size_of(y - y0) + size_of(y - k->one))));
        included -= datum;
    }
    for (int i = 0; i < LANES; i++) {
        s->other += other[i];
        s->included += included[i];
    }
}

static bool is_near(const struct kind *k, const struct sums *s)
{
    return s->most - s->least <= k->span && s->least >= k->one - k->far &&
           s->most <= k->one + k->far && (s->ones & s->zeros) == 0;
}

static bool has_mantissas(const struct sums *s, bool f64)
{
    if (LIKE * s->like > s->mantissas)
        return false;
    return !f64 || s->mantissas == 0 ||
           (LIKE * s->halves <= s->mantissas && s->half_steps >= ZMPI_PLAIN_LEAST / 2 &&
            s->half_step >= ROUGH_HALF * s->half_steps);
}

INLINE bool is_this_order(const struct kind *k, const struct words *w, struct sums *s)
{
    const int here = k->weight * (s->here / 4);
    if (here <= LIGHT * s->telling)
        return true;
    add_other(k, w, s);
    const int other = k->weight * (s->other / 4);
    return here <= LIGHT * s->telling + other ||
           (s->included >= s->telling / ONE_IN && other >= HEAVY * s->included);
}

INLINE struct zmpi_plain look(const struct zmpi_taken *t, bool f64)
{
    const struct kind *const k = &kinds[f64];
    struct words w;
    struct sums s = {0};
    load(&w, t, f64);
    classify(k, f64, &w, &s);
    bool is = s.telling >= ZMPI_PLAIN_LEAST && s.telling >= s.words / ONE_IN && s.even &&
              is_near(k, &s) && PRINTABLE * s.odd > s.words * (f64 ? 8 : 4);
    if (is) {
        compare(k, f64, &w, &s);
        is = has_mantissas(&s, f64) && is_this_order(k, &w, &s);
    }
    return (struct zmpi_plain){.words = (unsigned)s.words,
                               .telling = (unsigned)s.telling,
                               .marks = (unsigned)s.marks,
                               .least = s.telling ? s.least - k->one : 0,
                               .most = s.telling ? s.most - k->one : 0,
                               .is = is};
}

#ifdef __x86_64__

__attribute__((target("avx2"))) static struct zmpi_plain look_avx2(const struct zmpi_taken *t)
{
    return t->type == ZMPI_F64 ? look(t, true) : look(t, false);
}

struct zmpi_plain zmpi_plain_look(const struct zmpi_taken *t)
{
    if (zmpi_kernels() != &zmpi_kernels_scalar)
        return look_avx2(t);
    return t->type == ZMPI_F64 ? look(t, true) : look(t, false);
}

#else

struct zmpi_plain zmpi_plain_look(const struct zmpi_taken *t)
{
    return t->type == ZMPI_F64 ? look(t, true) : look(t, false);
}

#endif
