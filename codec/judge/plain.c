/* plain.c - see plain.h. Loops over blocks of samples, which compilers turn into vectors: as long
 * ones as the machine has, since small calls are judged as often as they are written. */
#include "judge/plain.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernels.h"

#define INLINE static inline __attribute__((always_inline))

/* Samples of a block; at least TELLING of all, and one in ONE_IN, must tell something. */
enum { BLOCK = 128, TELLING = 64, ONE_IN = 8 };

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
    unsigned place, most, second;
    int one, span, far, weight, denormal;
    uint32_t lower, mantissa; /* masks of the lower half */
};

static const struct kind kinds[2] = {{23, 255, 1, 127, 32, 60, 8, 500, 0, 0xFFFF},
                                     {20, 2047, 4, 1023, 100, 500, 1, 4000, UINT32_MAX, BELOW_F32}};

/* high, low: the halves of words, for f32 both the whole word; before them stands one that differs
 * from the first, behind them zeros, so that loops have a constant length and thus little code,
 * which is rarely in a cache. swapped: exponents of the swapped words. tells: -1 if a word tells
 * something, else 0. */
struct block {
    int n;
    uint32_t high[1 + BLOCK], low[1 + BLOCK];
    int32_t exponent[1 + BLOCK], swapped[1 + BLOCK], tells[1 + BLOCK];
};

struct sums {
    int words, even, telling, marks, odd, mantissas, like, halves, half_steps, included;
    int least, most, here, other, half_step, mark_least, mark_most;
};

/* Loads `n` words. (Constant widths make it a copy.) */
INLINE void load(const unsigned char *at, size_t n, size_t width, struct block *b)
{
    b->n = (int)n;
    for (size_t i = 0; i < n && width == 8; i++) {
        uint64_t word;
        memcpy(&word, at + 8 * i, sizeof word);
        b->low[1 + i] = (uint32_t)word;
        b->high[1 + i] = (uint32_t)(word >> 32);
    }
    if (width == 4) {
        memcpy(b->low + 1, at, 4 * n);
        memcpy(b->high + 1, at, 4 * n);
    }
    memset(b->high + 1 + n, 0, (BLOCK - n) * sizeof *b->high);
    memset(b->low + 1 + n, 0, (BLOCK - n) * sizeof *b->low);
    b->high[0] = ~b->high[1];
    b->low[0] = b->low[1];
    b->exponent[0] = b->swapped[0] = b->tells[0] = 0;
}

INLINE int least_of(int a, int b)
{
    return a < b ? a : b;
}

INLINE int most_of(int a, int b)
{
    return a > b ? a : b;
}

INLINE void classify(const struct kind *k, struct block *b, struct sums *s)
{
    int even = 0, telling = 0, marks = 0, odd = 0, least = INT_MAX, most = 0;
    int mark_least = INT_MAX, mark_most = 0;
    const int first_mark = k->one + MARK;
    for (int i = 1; i <= BLOCK; i++) {
        const uint32_t h = b->high[i], l = b->low[i];
        const int e = (int)(h >> k->place & k->most), is_mark = -(e >= first_mark);
        const int is_zero = -((h << 1 | (l & k->lower)) == 0);
        const int same = -(((h ^ b->high[i - 1]) | (l ^ b->low[i - 1])) == 0);
        const int tells = ~(is_zero | is_mark | same), magnitude = (int)(h & INT_MAX);
        b->exponent[i] = e;
        b->tells[i] = tells;
        even |= tells & -(i & 1);
        marks -= is_mark;
        telling -= tells;
        odd += (((h - 0x08080808) | h | (l - 0x08080808) | l) & 0x80808080) != 0;
        least = least_of(least, e | (~tells & INT_MAX));
        most = most_of(most, e & tells);
        mark_least = least_of(mark_least, magnitude | (~is_mark & INT_MAX));
        mark_most = most_of(mark_most, magnitude & is_mark);
    }
    s->words += b->n;
    s->even |= even;
    s->telling += telling;
    s->marks += marks;
    s->odd += odd - (BLOCK - b->n); /* zeros count */
    s->least = least_of(s->least, least);
    s->most = most_of(s->most, most);
    s->mark_least = least_of(s->mark_least, mark_least);
    s->mark_most = most_of(s->mark_most, mark_most);
}

/* Counts lower bytes and lower halves that could belong to an exponent that was seen. */
INLINE void compare_bytes(const struct kind *k, struct block *b, struct sums *s)
{
    int mantissas = 0, like = 0, halves = 0;
    const int least = s->least, most = s->most, byte = (int)k->second;
    const int byte_least = least >> byte, byte_most = most >> byte;
    const int half_least = least >> 3, half_most = most >> 3;
    const uint32_t ones = (1U << k->second) - 1, up = k->second, down = 16 - k->second;
    for (int i = 1; i <= BLOCK; i++) {
        const uint32_t l = b->low[i];
        const int second = (int)(l >> 8 & 0x7F), half = (int)(l >> 23 & 0xFF);
        const int tells = -b->tells[i] & ((l & k->mantissa) != 0);
        b->swapped[i] = (int)((l & 0x7F) << up | (l >> down & ones));
        mantissas += tells;
        like += tells & (second >= byte_least) & (second <= byte_most);
        halves += tells & (half >= half_least) & (half <= half_most);
    }
    s->mantissas += mantissas;
    s->like += like;
    s->halves += halves;
}

/* Adds the steps from one exponent to the next, for swapped words and for lower halves. */
INLINE void add_steps(const struct kind *k, const struct block *b, struct sums *s)
{
    int here = 0, other = 0, included = 0, half_step = 0, half_steps = 0;
    const int one = k->one, first_mark = k->one + MARK;
    for (int i = 1; i <= BLOCK; i++) {
        const int both = b->tells[i] & b->tells[i - 1];
        const int x = b->exponent[i], y = b->swapped[i], before = b->swapped[i - 1];
        const int datum = both & -(y < first_mark) & -(before < first_mark);
        const int denormal = -(y == 0);
        const uint32_t l = b->low[i], l0 = b->low[i - 1];
        const int fine = both & -((l & BELOW_F32) != 0) & -((l0 & BELOW_F32) != 0);
        here += both & (4 * abs(x - b->exponent[i - 1]) + abs(x - one));
        other +=
            datum & ((denormal & k->denormal) | (~denormal & (4 * abs(y - before) + abs(y - one))));
        half_step += fine & abs((int)(l >> 23 & 0xFF) - (int)(l0 >> 23 & 0xFF));
        included -= datum;
        half_steps -= fine;
    }
    s->here += here;
    s->other += other;
    s->included += included;
    s->half_step += half_step;
    s->half_steps += half_steps;
}

static bool is_near(const struct kind *k, const struct sums *s)
{
    return s->most - s->least <= k->span && s->least >= k->one - k->far &&
           s->most <= k->one + k->far && (s->marks == 0 || s->mark_least == s->mark_most);
}

static bool has_mantissas(const struct sums *s, bool f64)
{
    if (LIKE * s->like > s->mantissas)
        return false;
    return !f64 || s->mantissas == 0 ||
           (LIKE * s->halves <= s->mantissas && s->half_steps >= TELLING / 2 &&
            s->half_step >= ROUGH_HALF * s->half_steps);
}

static bool is_this_order(const struct kind *k, const struct sums *s)
{
    const int here = k->weight * (s->here / 4), other = k->weight * (s->other / 4);
    return here <= LIGHT * s->telling + other ||
           (s->included >= s->telling / ONE_IN && other >= HEAVY * s->included);
}

INLINE struct zmpi_plain look(const struct zmpi_sample *sample)
{
    const bool f64 = sample->type == ZMPI_F64;
    const struct kind *k = &kinds[f64];
    struct sums s = {.least = INT_MAX, .mark_least = INT_MAX};
    struct block b;
    const size_t width = zmpi_type_size(sample->type), words = sample->rows * sample->row;
    const size_t blocks = (words + BLOCK - 1) / BLOCK;
    bool is = words > 0;
    for (size_t i = 0; i < blocks && is; i++) {
        load(sample->at + words / blocks * i * width, words / blocks, width, &b);
        classify(k, &b, &s);
        is = s.telling == 0 || is_near(k, &s);
        compare_bytes(k, &b, &s);
        add_steps(k, &b, &s);
    }
    is = is && s.telling >= TELLING && s.telling >= s.words / ONE_IN && s.even &&
         PRINTABLE * s.odd > s.words * (f64 ? 8 : 4) && has_mantissas(&s, f64) &&
         is_this_order(k, &s);
    return (struct zmpi_plain){.words = (unsigned)s.words,
                               .telling = (unsigned)s.telling,
                               .marks = (unsigned)s.marks,
                               .least = s.telling ? s.least - k->one : 0,
                               .most = s.telling ? s.most - k->one : 0,
                               .is = is};
}

#ifdef __x86_64__

__attribute__((target("avx2"))) static struct zmpi_plain look_avx2(const struct zmpi_sample *sample)
{
    return look(sample);
}

struct zmpi_plain zmpi_plain_look(const struct zmpi_sample *sample)
{
    return zmpi_kernels() == &zmpi_kernels_scalar ? look(sample) : look_avx2(sample);
}

#else

struct zmpi_plain zmpi_plain_look(const struct zmpi_sample *sample)
{
    return look(sample);
}

#endif
