/* byte_order.c - see byte_order.h. */
#include "judge/byte_order.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/kernels.h"

/* The array is cut into PARTS equal parts. Each gives its first values that tell something, which
 * zeros, marks for missing data, and repeated values do not. The parts begin at different places of
 * their first PART_LEAST elements, so that all members of records are seen. */
enum { PARTS = 64, PART_LEAST = 16, SHIFT = 5, OF_PART = 4, OF_FEW = 16 };

/* First only so many elements of each part are read, since in mostly empty data the first values
 * that tell something are far away. If all parts give fewer than NEAR_ENOUGH, all are read. */
enum { NEAR = 256, NEAR_ENOUGH = 64 };

/* Elements that are compared at a time while all are the same: many at first, then fewer. */
enum { RUN_MOST = 1024, RUN_LEAST = 16 };

/* The weight of a denormal: real data have only a few, where they fade to zero. */
#define DENORMAL 1000

/* The largest mean weight of a value of real data. */
#define LIKELY 192

/* Exponent of an f64 of ordinary size, 2^-128 or more: a wave that fades does not fall from there
 * to denormals in one step. */
#define ORDINARY (1023 - 128)

/* As many integers must be seen beside floats for a verdict. */
#define BESIDE 4

/* The sum of weights for one of the two byte orders. */
struct way {
    int before;   /* exponent of the last value; -1: none */
    uint64_t sum; /* of weights, in quarters */
};

static inline uint64_t load(const unsigned char *src, size_t width, bool swapped)
{
    uint32_t half;
    uint64_t word;
    if (width == 4) {
        memcpy(&half, src, sizeof half);
        return swapped ? __builtin_bswap32(half) : half;
    }
    memcpy(&word, src, sizeof word);
    return swapped ? __builtin_bswap64(word) : word;
}

/* Is the word neither zero nor a mark for missing data? */
static inline bool is_datum(uint64_t word, size_t width)
{
    const uint32_t half = (uint32_t)word;
    struct zmpi_range range = ZMPI_RANGE_EMPTY;
    float f;
    double x;
    memcpy(&f, &half, sizeof f);
    memcpy(&x, &word, sizeof x);
    x = width == 4 ? (double)f : x;
    if ((word << (width == 4 ? 33 : 1)) == 0)
        return false;
    if (x < ZMPI_ORDINARY && x > -ZMPI_ORDINARY)
        return true;
    zmpi_range_take(&range, x);
    return range.min <= range.max;
}

/* Are RUN_LEAST elements all this word? Inline, as a call takes longer than they do. */
static inline bool are_all(const unsigned char *at, size_t width, uint64_t word)
{
    typedef uint64_t pair __attribute__((vector_size(16)));
    const uint64_t words = width == 4 ? word << 32 | word : word;
    pair differ = {0}, x;
    for (size_t i = 0; i < RUN_LEAST * width; i += sizeof x) {
        memcpy(&x, at + i, sizeof x);
        differ |= x ^ words;
    }
    return (differ[0] | differ[1]) == 0;
}

/* Returns how many elements after this one, which is `word`, have the same bits. */
static inline size_t run_of(const unsigned char *at, size_t width, size_t count, uint64_t word)
{
    size_t k = 0;
    while (k + RUN_MOST < count &&
           memcmp(at + k * width, at + (k + 1) * width, RUN_MOST * width) == 0)
        k += RUN_MOST;
    while (k + RUN_LEAST < count && are_all(at + (k + 1) * width, width, word))
        k += RUN_LEAST;
    return k;
}

static inline int exponent_of(uint64_t word, size_t width)
{
    return width == 4 ? (int)(word >> 23 & 255) : (int)(word >> 52 & 2047);
}

/* Adds the weight of a value: the distance of its exponent from that of the value before, and a
 * quarter of its distance from the exponent of 1. Distances of f32 count eight times, since its
 * exponents have an eighth of the range of f64's. */
static inline void add(struct way *w, uint64_t word, size_t width)
{
    const int exponent = exponent_of(word, width), scale = width == 4 ? 8 : 1;
    const int one = width == 4 ? 127 : 1023;
    if (exponent == 0) {
        w->sum += 4 * DENORMAL;
        return;
    }
    if (w->before >= 0)
        w->sum += (unsigned)(4 * scale * abs(exponent - w->before));
    w->sum += (unsigned)(scale * abs(exponent - one));
    w->before = exponent;
}

/* State within a part: the exponent of the last number (-1: none), and the integers before any
 * number. */
struct near {
    int before;
    unsigned first;
};

/* Adds a word that is not zero. */
static inline void note(struct zmpi_order *o, struct near *n, uint64_t word, size_t width)
{
    const int exponent = exponent_of(word, width);
    const bool is_integer = word <= INT32_MAX && width == 8;
    if (exponent != 0) {
        o->beside += exponent >= ORDINARY ? n->first : 0;
        *n = (struct near){exponent, 0};
        return;
    }
    o->positive += word >> (8 * width - 1) == 0;
    o->tiny += word > INT32_MAX;
    o->beside += is_integer && n->before >= ORDINARY;
    n->first += is_integer && n->before < 0;
}

/* Where a wave that is nowhere negative begins, the first values of all parts are positive
 * denormals, but most others are not. If these are integers, most others are positive denormals,
 * too. (Faster with a constant width.) */
static inline bool most_of(const unsigned char *at, size_t width, size_t count)
{
    const int special = width == 4 ? 255 : 2047;
    size_t positive = 0, numbers = 0;
    for (size_t k = 0; k < count; k++) {
        const uint64_t word = load(at + k * width, width, false);
        const int exponent = exponent_of(word, width);
        numbers += (word << (width == 4 ? 33 : 1)) != 0 && exponent != special;
        positive += word != 0 && word >> (width == 4 ? 23 : 52) == 0;
    }
    return 2 * positive >= numbers;
}

static bool most_are_positive_denormals(const unsigned char *at, size_t width, size_t count)
{
    return width == 4 ? most_of(at, 4, count) : most_of(at, 8, count);
}

/* A part of the array, from its shifted beginning on. */
struct part {
    const unsigned char *at;
    size_t count;
};

static struct part part_of(const unsigned char *at, size_t width, size_t count, size_t parts,
                           size_t i)
{
    const size_t each = count / parts, shift = parts < PARTS ? 0 : i * SHIFT % PART_LEAST;
    return (struct part){at + (each * i + shift) * width,
                         (i + 1 == parts ? count - each * i : each) - shift};
}

static inline unsigned look_at_part(struct zmpi_order *o, const struct part *p, size_t width,
                                    unsigned most, struct way *here, struct way *other)
{
    unsigned taken = 0;
    uint64_t last = 0;
    struct near near = {-1, 0};
    for (size_t k = 0; k < p->count && taken < most; k++) {
        const uint64_t word = load(p->at + k * width, width, false);
        if (word == last) {
            k += run_of(p->at + k * width, width, p->count - k, word);
            continue;
        }
        last = word;
        const uint64_t swapped = load(p->at + k * width, width, true);
        if (!is_datum(word, width) || !is_datum(swapped, width))
            continue;
        note(o, &near, word, width);
        add(here, word, width);
        add(other, swapped, width);
        o->first = o->values + taken ? o->first : word;
        o->varied |= word != o->first || width == 8;
        taken++;
    }
    return taken;
}

/* Looks at the first `within` elements of each part. */
static inline void look_at_parts(struct zmpi_order *o, const struct part *part, size_t parts,
                                 size_t width, size_t within)
{
    const unsigned most = parts * OF_PART < OF_FEW ? OF_FEW : OF_PART;
    struct way here = {-1, 0}, other = {-1, 0};
    for (size_t i = 0; i < parts; i++) {
        const struct part p = {part[i].at, part[i].count < within ? part[i].count : within};
        o->values += look_at_part(o, &p, width, most, &here, &other);
    }
    o->here += (double)here.sum / 4;
    o->other += (double)other.sum / 4;
}

/* Faster with a constant width. */
static inline void look_at(struct zmpi_order *o, size_t width, const unsigned char *at,
                           size_t count)
{
    const size_t parts = count < PARTS * PART_LEAST ? count / PART_LEAST + 1 : PARTS;
    const struct zmpi_order before = *o;
    struct part part[PARTS];
    for (size_t i = 0; i < parts; i++) {
        part[i] = part_of(at, width, count, parts, i);
        __builtin_prefetch(part[i].at); /* so that the cache misses overlap */
    }
    look_at_parts(o, part, parts, width, NEAR);
    if (o->values - before.values >= NEAR_ENOUGH || count / parts <= NEAR)
        return;
    *o = before;
    look_at_parts(o, part, parts, width, count);
}

void zmpi_order_look(struct zmpi_order *o, enum zmpi_type type, const void *src, size_t count)
{
    if (type != ZMPI_F32 && type != ZMPI_F64)
        return;
    if (type == ZMPI_F64)
        look_at(o, 8, src, count);
    else
        look_at(o, 4, src, count);
    if (o->positive && o->positive == o->values &&
        !most_are_positive_denormals(src, zmpi_type_size(type), count))
        o->positive = 0;
}

/* The fewer the values, the more the two weights must differ, since one or two values of any size
 * are likely enough. Byte-swapped the values must also look like data: where waves fade, values are
 * denormals of few bits, which look like data in neither byte order. */
bool zmpi_order_is_other(const struct zmpi_order *o)
{
    return o->here > 2 * o->other + 32 * o->values + 512 && o->other < LIKELY * o->values;
}

bool zmpi_order_is_sure(const struct zmpi_order *o)
{
    return zmpi_order_is_other(o) && o->values >= ZMPI_ORDER_ENOUGH &&
           (o->varied || o->here > 0.5 * DENORMAL * o->values);
}

bool zmpi_order_has_integers(const struct zmpi_order *o)
{
    return (o->values >= ZMPI_ORDER_ENOUGH && o->positive == o->values) ||
           (o->beside >= BESIDE && o->tiny == 0);
}

bool zmpi_order_is_wrong(const struct zmpi_order *o)
{
    return zmpi_order_is_other(o) || zmpi_order_has_integers(o);
}
