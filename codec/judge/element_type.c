/* element_type.c - see element_type.h. */
#include "judge/element_type.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "bound/sample.h"

/* Rows of samples and elements of a row, and the same (MORE) for data that are mostly zeros. All
 * are even, since the two words of a pair count apart. */
enum { ROWS = 32, ROW = 16, MORE_ROWS = 256, MORE_ROW = 32 };

/* Of either half, fewer than LEAST values tell nothing; with ENOUGH values the first few rows
 * suffice. */
enum { LEAST = 16, ENOUGH = 64, TEXT_LEAST = 4 };

/* A larger mean distance between exponents is noise. Noise has 85 for f32, fields at most 22, whole
 * or in pieces; both have more for f64. */
#define ROUGH32 36
#define ROUGH64 45

/* Bits of an f64 that are zero if it was made from an f32; then its lower half tells nothing. */
#define BELOW_F32 0x1FFFFFFFu

/* The lower halves of f64 are f32 if the mean distance of their exponents is below this. Noise in n
 * values comes down to 85 - 300 / sqrt(n). */
#define SMOOTH_HALF 40

/* The two halves are alike if their histograms have more than this share in common. Fields have
 * 0.3. */
#define ALIKE 0.5

/* Data are not floats if nine tenths of their exponents are not within WIDE and reach ABOVE that of
 * 1 (waves that fade have as many exponents, but only below 1), or if their mean distance from 1 is
 * above FAR. */
enum { WIDE32 = 48, WIDE64 = 400, ABOVE32 = 17, ABOVE64 = 60, FAR32 = 75, FAR64 = 600 };

/* In a wave that fades, at least one value in FADING_SHARE is negative and below 1, as many others
 * are not, and no number is above 2^REACHED. Integers have one sign, or negative ones with the
 * largest exponents, which look like marks. */
enum { FADING_SHARE = 16, REACHED32 = 60, REACHED64 = 200 };

/* Marks for missing data are at least 2^MARKED, and have at most MARKS different values. */
enum { MARKED = 63, MARKS = 2 };

/* If data are mostly zeros, numbers are rarely so far from 1. Coded exactly, such data take little
 * space anyway. */
enum { SPARSE = 8, SPARSE32 = 45, SPARSE64 = 360 };

/* In text, at most one byte in so many cannot be printed. */
#define PRINTABLE 50

/* The exponents of one kind of words. */
struct exponents {
    int before;
    uint64_t last;
    unsigned steps, values, fading; /* negative ones below 1 */
    int least, most;                /* of values, if there are any */
    uint64_t step, far;
    uint64_t mark[MARKS];
    uint16_t seen[256]; /* f64: eight exponents share a place */
};

struct tally {
    unsigned width, words, unprintable, zero_even;
    struct exponents part[2]; /* f32: even and odd words; f64: lower halves, and whole words */
    /* High bytes of 16-bit integers, exponents of f32: in the upper half, and in the lower one. */
    uint16_t byte[2][256], half[2][512];
    unsigned bytes, halves;
};

/* Is this word one of the marks that were seen, or a new one that may be a mark? */
static bool is_mark(struct exponents *e, uint64_t word)
{
    for (int i = 0; i < MARKS; i++) {
        if (e->mark[i] == 0)
            e->mark[i] = word;
        if (e->mark[i] == word)
            return true;
    }
    return false;
}

/* Counts a word with `bits` mantissa bits; false: it tells nothing. */
static bool take(struct exponents *e, uint64_t word, unsigned bits)
{
    const int most = bits == 23 ? 255 : 2047, exponent = (int)(word >> bits) & most;
    const uint64_t magnitude = word << (bits == 23 ? 33 : 1);
    if (magnitude == 0 || word == e->last)
        return false;
    e->last = word;
    if (exponent >= most / 2 + MARKED && is_mark(e, word))
        return false;
    if (e->before >= 0) {
        e->step += (unsigned)abs(exponent - e->before);
        e->steps++;
    }
    e->before = exponent;
    e->far += (unsigned)abs(exponent - most / 2);
    e->fading += exponent < most / 2 && word >> (bits == 23 ? 31 : 63);
    e->least = e->values == 0 || exponent < e->least ? exponent : e->least;
    e->most = exponent > e->most ? exponent : e->most;
    e->values++;
    e->seen[bits == 23 ? exponent : exponent / 8]++;
    return true;
}

static void take32(struct tally *t, const unsigned char *at, size_t i)
{
    uint32_t word;
    memcpy(&word, at + i * sizeof word, sizeof word);
    t->zero_even += i % 2 == 0 && word == 0;
    if (take(&t->part[i % 2], word, 23) && (word & 0xFFFF)) {
        t->byte[0][word >> 24]++;
        t->byte[1][word >> 8 & 255]++;
        t->bytes++;
    }
}

static void take64(struct tally *t, const unsigned char *at, size_t i)
{
    uint64_t word;
    memcpy(&word, at + i * sizeof word, sizeof word);
    const uint32_t low = (uint32_t)word;
    if (!take(&t->part[1], word, 52) || (low & BELOW_F32) == 0)
        return;
    take(&t->part[0], low, 23);
    t->byte[0][word >> 56]++;
    t->byte[1][low >> 8 & 255]++;
    t->half[0][word >> 55]++;
    t->half[1][low >> 23]++;
    t->bytes++;
}

static unsigned unprintable(const unsigned char *at, size_t bytes)
{
    unsigned n = 0;
    for (size_t i = 0; i < bytes; i++)
        n += ((at[i] < 0x20) & ((at[i] < '\t') | (at[i] > '\r'))) | (at[i] > 0x7E);
    return n;
}

static uint32_t u32_at(const unsigned char *at)
{
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static uint64_t u64_at(const unsigned char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* How many words of a row count: two, if all are the same. Short rows are compared faster here than
 * by memcmp. */
static size_t telling(const struct tally *t, const unsigned char *at, size_t row)
{
    const size_t bytes = (row - 1) * t->width & ~(size_t)7;
    uint64_t differ = 0;
    if (row <= 2)
        return row;
    for (size_t i = 0; i < bytes; i += sizeof differ)
        differ |= u64_at(at + i) ^ u64_at(at + t->width + i);
    const bool same = differ == 0 && u32_at(at + bytes) == u32_at(at + (row - 1) * t->width);
    return same ? 2 : row;
}

static void take_rows(struct tally *t, const struct zmpi_sample *s)
{
    const size_t together = sizeof(double) / t->width; /* they often come again, or are zeros */
    for (size_t k = 0; k < s->rows; k++) {
        const unsigned char *at = s->at + k * s->stride * t->width;
        const size_t row = telling(t, at, s->row);
        for (int i = 0; i < 2; i++)
            t->part[i].before = -1;
        uint64_t before = 0;
        t->zero_even += row < s->row && u32_at(at) == 0 ? (unsigned)(s->row - row) / 2 : 0;
        for (size_t i = 0; i < row; i += together) {
            const bool whole = i + together <= row;
            const uint64_t words = whole ? u64_at(at + i * t->width) : 0;
            if (whole && words == before)
                t->zero_even += u32_at(at + i * t->width) == 0;
            else if (together == 1)
                take64(t, at, i);
            else
                for (size_t j = i; j < i + 2 && j < row; j++)
                    take32(t, at, j);
            before = words;
        }
        if (t->unprintable <= s->rows * s->row * t->width / PRINTABLE) /* it may still be text */
            t->unprintable += unprintable(at, s->row * t->width);
    }
    t->words += (unsigned)(s->rows * s->row);
}

static double share_in_common(const uint16_t *a, const uint16_t *b, size_t n, unsigned of)
{
    unsigned common = 0;
    for (size_t i = 0; i < n; i++)
        common += a[i] < b[i] ? a[i] : b[i];
    return (double)common / of;
}

static double mean_step(const struct exponents *e)
{
    return e->steps >= LEAST / 2 ? (double)e->step / e->steps : 0;
}

/* The exponent below which this percentage of the words lies. */
static int percentile(const struct exponents *e, unsigned percent)
{
    unsigned below = 0;
    int i = 0;
    for (; i < 255; i++) {
        below += e->seen[i];
        if (100 * below > percent * e->values)
            break;
    }
    return i;
}

static bool fades(const struct exponents *e, bool f32)
{
    const int most = f32 ? 127 + REACHED32 : 1023 + REACHED64;
    const unsigned share = 1 + e->values / FADING_SHARE;
    return e->mark[0] == 0 && e->most < most && e->fading >= share &&
           e->fading + share <= e->values;
}

/* Does no real data have these exponents, although neighbours are near one another? */
static bool is_wild(const struct exponents *e, bool f32)
{
    if (e->values < 2 * LEAST || fades(e, f32))
        return false;
    if ((double)e->far > (f32 ? FAR32 : FAR64) * (double)e->values)
        return true;
    const int wide = f32 ? WIDE32 : WIDE64, scale = f32 ? 1 : 8;
    if (e->most - e->least <= wide)
        return false;
    const int high = percentile(e, 95) * scale, low = percentile(e, 5) * scale;
    return high - low > wide && high > (f32 ? 127 + ABOVE32 : 1023 + ABOVE64);
}

/* A wave that fades has all exponents, as noise has all bytes, so it is left out. */
static bool bytes_are_alike(const struct tally *t)
{
    return t->bytes >= 2 * LEAST && !fades(&t->part[1], t->width == 4) &&
           share_in_common(t->byte[0], t->byte[1], 256, t->bytes) > ALIKE;
}

static enum zmpi_looks judge32(const struct tally *t)
{
    const struct exponents *even = &t->part[0], *odd = &t->part[1];
    const bool rough[2] = {mean_step(even) > ROUGH32, mean_step(odd) > ROUGH32};
    if (bytes_are_alike(t))
        return ZMPI_LOOKS_INTEGERS;
    if (rough[0] != rough[1] || (t->zero_even == t->words / 2 && odd->values >= 2 * LEAST))
        return ZMPI_LOOKS_F64;
    if (rough[0] || rough[1])
        return ZMPI_LOOKS_NOISE;
    return is_wild(even, true) || is_wild(odd, true) ? ZMPI_LOOKS_INTEGERS : ZMPI_LOOKS_RIGHT;
}

static enum zmpi_looks judge64(const struct tally *t)
{
    const struct exponents *low = &t->part[0], *all = &t->part[1];
    if (bytes_are_alike(t))
        return ZMPI_LOOKS_INTEGERS;
    if (t->bytes >= 2 * LEAST && share_in_common(t->half[0], t->half[1], 512, t->bytes) > ALIKE)
        return ZMPI_LOOKS_F32;
    if (low->values >= ENOUGH && low->steps >= ENOUGH / 2 && mean_step(low) < SMOOTH_HALF)
        return ZMPI_LOOKS_F32;
    if (mean_step(all) > ROUGH64)
        return ZMPI_LOOKS_NOISE;
    return is_wild(all, false) ? ZMPI_LOOKS_INTEGERS : ZMPI_LOOKS_RIGHT;
}

static bool is_sparse_and_far(const struct tally *t)
{
    const struct exponents *odd = &t->part[1], *even = t->width == 4 ? &t->part[0] : odd;
    const unsigned values = odd->values + (even == odd ? 0 : even->values);
    return t->words >= MORE_ROWS * MORE_ROW && values >= SPARSE && values < 2 * LEAST &&
           !fades(odd, t->width == 4) &&
           (double)(odd->far + (even == odd ? 0 : even->far)) >
               (double)values * (t->width == 4 ? SPARSE32 : SPARSE64);
}

static enum zmpi_looks judge(const struct tally *t)
{
    const unsigned values = t->part[0].values + t->part[1].values;
    if (values >= t->words / 4 && t->unprintable <= t->words * t->width / PRINTABLE)
        return ZMPI_LOOKS_TEXT;
    if (is_sparse_and_far(t))
        return ZMPI_LOOKS_INTEGERS;
    return t->width == 4 ? judge32(t) : judge64(t);
}

/* Reads this many rows, or all of a shorter array; false: they cannot be read. */
static bool look(struct tally *t, enum zmpi_type type, const void *src, size_t count, size_t rows,
                 size_t row)
{
    struct zmpi_sample s = {type, src, rows, row, count / rows & ~(size_t)1};
    if (count <= rows * row)
        s = (struct zmpi_sample){type, src, 1, count, count};
    void *copy = zmpi_device_holding(src) ? malloc(s.rows * s.row * t->width) : NULL;
    const bool at_hand = (copy || !zmpi_device_holding(src)) && zmpi_sample_fetch(&s, copy);
    if (at_hand)
        take_rows(t, &s);
    free(copy);
    return at_hand;
}

/* Are these few values text? One number that repeats is not. */
static bool few_are_text(enum zmpi_type type, const void *src, size_t count)
{
    unsigned char copy[ZMPI_LOOKS_LEAST * sizeof(double)];
    struct zmpi_sample s = {type, src, 1, count, count};
    const size_t width = zmpi_type_size(type), bytes = count * width;
    return zmpi_sample_fetch(&s, copy) && unprintable(s.at, bytes) == 0 &&
           memcmp(s.at, s.at + width, bytes - width) != 0;
}

enum zmpi_looks zmpi_looks_like(enum zmpi_type type, const void *src, size_t count)
{
    if ((type != ZMPI_F32 && type != ZMPI_F64) || count < TEXT_LEAST)
        return ZMPI_LOOKS_RIGHT;
    if (count < ZMPI_LOOKS_LEAST)
        return few_are_text(type, src, count) ? ZMPI_LOOKS_TEXT : ZMPI_LOOKS_RIGHT;
    struct tally t = {.width = (unsigned)zmpi_type_size(type)};
    if (!look(&t, type, src, count, ROWS, ROW))
        return ZMPI_LOOKS_RIGHT;
    const unsigned values = t.part[0].values + t.part[1].values;
    if (values < 2 * ENOUGH && count > (size_t)ROWS * ROW) {
        t = (struct tally){.width = t.width};
        if (!look(&t, type, src, count, MORE_ROWS, MORE_ROW))
            return ZMPI_LOOKS_RIGHT;
    }
    return judge(&t);
}

const char *zmpi_looks_name(enum zmpi_looks looks)
{
    static const char *const name[] = {
        [ZMPI_LOOKS_RIGHT] = "what its datatype says",
        [ZMPI_LOOKS_F64] = "64-bit floats",
        [ZMPI_LOOKS_F32] = "32-bit floats",
        [ZMPI_LOOKS_INTEGERS] = "integers",
        [ZMPI_LOOKS_TEXT] = "text",
        [ZMPI_LOOKS_NOISE] = "no numbers of its datatype",
    };
    return name[looks];
}
