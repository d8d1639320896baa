/* raw_bytes.c - see raw_bytes.h. */
#include "judge/raw_bytes.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "judge/byte_order.h"
#include "judge/element_type.h"

/* The largest mean weight of a value of real data in its own byte order. */
#define LIKELY 192

/* Neighbours that differ by fewer than NEAR units of the last place are integers that count up or
 * lie close together, not floats. PAIRS of them are compared at each of LAGS distances; one near
 * pair in SHARE tells. */
enum { PAIRS = 512, LAGS = 4, NEAR32 = 16, NEAR64 = 4096, SHARE = 4 };

/* Members of a record, and values taken of each. */
enum { MEMBERS = 5, MEMBER = 256 };

/* Integers up to about 10^8 have exponents up to LOW; MIDDLE ends the exponents between them and
 * ordinary numbers. There are integers if more than EACH words are low for each one between. */
enum { LOW32 = 24, MIDDLE32 = 60, LOW64 = 64, MIDDLE64 = 512, EACH = 8 };

/* One word in so many has zeros on both sides. */
enum { ALONE = 4 };

/* Blocks that are byte-swapped and then judged; each has whole records of up to 5 members. */
enum { BLOCKS = 64, BLOCK_UNIT = 60, BLOCK = 4 * BLOCK_UNIT };

static uint64_t word_at(const unsigned char *at, size_t width)
{
    uint32_t half;
    uint64_t word;
    if (width == sizeof half) {
        memcpy(&half, at, sizeof half);
        return half;
    }
    memcpy(&word, at, sizeof word);
    return word;
}

/* Are these integers of about 10^9? As f32 they look like any other numbers, but neighbours are too
 * near one another. Pairs of words are compared as i64. */
static bool are_numbered(const unsigned char *at, size_t width, size_t count)
{
    const size_t step = count / PAIRS ? count / PAIRS : 1;
    const uint64_t near = width == 4 ? NEAR32 : NEAR64;
    for (size_t lag = 1; lag <= LAGS; lag++) {
        unsigned differ = 0, close = 0;
        for (size_t i = 0; i + lag < count; i += step | 1) {
            const uint64_t a = word_at(at + i * width, width),
                           b = word_at(at + (i + lag) * width, width);
            differ += a != b;
            close += a != b && (a > b ? a - b : b - a) < near;
        }
        if (SHARE * close > differ)
            return true;
    }
    return false;
}

static uint64_t word_of(const unsigned char *at, size_t width, bool swapped)
{
    const uint64_t word = word_at(at, width);
    if (!swapped)
        return word;
    return width == 4 ? __builtin_bswap32((uint32_t)word) : __builtin_bswap64(word);
}

/* Are there integers beside floats in this call, which the samples did not see? All words are
 * checked. A wave that fades to numbers as small as integers has values between, too. (Faster with
 * a constant width.) */
static inline bool words_hide_integers(const unsigned char *at, size_t width, size_t count,
                                       bool swapped)
{
    const unsigned mantissa = width == 4 ? 23 : 52, most = width == 4 ? 255 : 2047,
                   lowest = width == 4 ? LOW32 : LOW64, middle = width == 4 ? MIDDLE32 : MIDDLE64;
    size_t low = 0, between = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t word = word_of(at + i * width, width, swapped);
        const unsigned exponent = (unsigned)(word >> mantissa) & most;
        low += word << (64 - 8 * width + 1) != 0 && exponent <= lowest;
        between += exponent > lowest && exponent <= middle;
    }
    return low > EACH * between;
}

static bool hide_integers(enum zmpi_type type, const unsigned char *at, size_t count, bool swapped)
{
    return type == ZMPI_F32 ? words_hide_integers(at, 4, count, swapped)
                            : words_hide_integers(at, 8, count, swapped);
}

/* Are these f32 the halves of doubles with few bits, such as whole numbers? Then every other word
 * is zero, and the words between pass for f32. */
static bool are_halves(enum zmpi_type type, const unsigned char *at, size_t count)
{
    size_t alone = 0, values = 0;
    if (type != ZMPI_F32)
        return false;
    for (size_t i = 1; i + 1 < count; i++) {
        const bool is = word_at(at + i * 4, 4) != 0;
        values += is;
        alone += is && word_at(at + (i - 1) * 4, 4) == 0 && word_at(at + (i + 1) * 4, 4) == 0;
    }
    return ALONE * alone > values;
}

static bool looks_right(enum zmpi_type type, const void *src, size_t count)
{
    struct zmpi_order order = {0};
    if (zmpi_looks_like(type, src, count) != ZMPI_LOOKS_RIGHT)
        return false;
    zmpi_order_look(&order, type, src, count);
    return !zmpi_order_is_other(&order) && !zmpi_order_has_integers(&order);
}

/* If these are records, each member by itself must be floats of this type. */
static bool members_are_right(enum zmpi_type type, const unsigned char *src, size_t count,
                              size_t members)
{
    unsigned char member[MEMBER * sizeof(double)];
    const size_t width = zmpi_type_size(type), all = count / members;
    const size_t taken = all < MEMBER ? all : MEMBER, step = all / taken * members;
    for (size_t k = 0; k < members; k++) {
        for (size_t i = 0; i < taken; i++)
            memcpy(member + i * width, src + (i * step + k) * width, width);
        if (!looks_right(type, member, taken))
            return false;
    }
    return true;
}

/* Judges by samples. */
static bool seem_to_be(enum zmpi_type type, const void *src, uint64_t bytes)
{
    const size_t width = zmpi_type_size(type), count = (size_t)(bytes / width);
    struct zmpi_order order = {0};
    if (count < ZMPI_RAW_LEAST || bytes % width != 0 || !looks_right(type, src, count))
        return false;
    zmpi_order_look(&order, type, src, count);
    bool are = order.values >= ZMPI_ORDER_ENOUGH && order.here <= LIKELY * order.values &&
               !are_numbered(src, width, count);
    for (size_t members = 3; are && members <= MEMBERS; members++)
        are = members_are_right(type, src, count, members);
    return are;
}

bool zmpi_raw_is(enum zmpi_type type, const void *src, uint64_t bytes)
{
    const size_t count = (size_t)(bytes / zmpi_type_size(type));
    return seem_to_be(type, src, bytes) && !are_halves(type, src, count) &&
           !hide_integers(type, src, count, false);
}

static enum zmpi_type one_of(bool f32, bool f64)
{
    return f32 == f64 ? ZMPI_BYTES : f32 ? ZMPI_F32 : ZMPI_F64;
}

enum zmpi_type zmpi_raw_type(const void *src, uint64_t bytes)
{
    return one_of(zmpi_raw_is(ZMPI_F32, src, bytes), zmpi_raw_is(ZMPI_F64, src, bytes));
}

bool zmpi_raw_is_swapped(enum zmpi_type type, const void *src, uint64_t bytes)
{
    const size_t width = zmpi_type_size(type), count = (size_t)(bytes / width);
    const size_t blocks = count > BLOCKS * BLOCK ? BLOCKS : 1;
    const size_t block = blocks > 1 ? BLOCK : count,
                 step = count / blocks / BLOCK_UNIT * BLOCK_UNIT;
    if (count < ZMPI_RAW_LEAST || bytes % width != 0)
        return false;
    unsigned char *sample = malloc(blocks * block * width);
    for (size_t k = 0; sample && k < blocks; k++)
        zmpi_bytes_big_endian(sample + k * block * width,
                              (const unsigned char *)src + k * step * width, block, width);
    const bool are = sample && seem_to_be(type, sample, blocks * block * width);
    free(sample);
    return are && !are_halves(type, src, count) && !hide_integers(type, src, count, true);
}

enum zmpi_type zmpi_raw_type_swapped(const void *src, uint64_t bytes)
{
    return one_of(zmpi_raw_is_swapped(ZMPI_F32, src, bytes),
                  zmpi_raw_is_swapped(ZMPI_F64, src, bytes));
}
