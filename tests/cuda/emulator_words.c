/* emulator_words.c - each operation of device_code.h gives what CUDA documents, in several orders
 * of execution. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "launch.h"
#include "words.h"

enum { BLOCKS = 5, THREADS = 96, ALL = BLOCKS * THREADS };

static uint64_t in[2 * ALL], out[WORDS * ALL];
static uint32_t counters[16] __attribute__((aligned(8)));

static uint64_t random_word(void)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * UINT64_C(0x2545f4914f6cdd1d);
}

static const struct words_args args = {in, out, counters};

/* Runs kernel, then check(i) for each thread, under several seeds and residencies. */
#define FOR_ALL_ORDERS(kernel, shared_bytes, check)                                                \
    for (uint64_t order = 0; order < 6; order++) {                                                 \
        const struct zmpi_emu_config config = setting(1 + (unsigned)order, 77 * order);            \
        memset(out, 0xee, sizeof out);                                                             \
        cr_assert_eq(RUN(config, kernel, BLOCKS, THREADS, shared_bytes, args), 0, "%s",            \
                     zmpi_emu_message());                                                          \
        for (size_t i = 0; i < ALL; i++)                                                           \
            check(i);                                                                              \
    }

static uint64_t got(size_t i, unsigned word)
{
    return out[word * ALL + i];
}

#define SAME(i, word, expected)                                                                    \
    cr_assert_eq(got(i, word), (uint64_t)(expected), "thread %zu, word %u: %llx, not %llx", i,     \
                 word, (unsigned long long)got(i, word), (unsigned long long)(expected))

static void random_input(void)
{
    for (size_t i = 0; i < 2 * ALL; i++)
        in[i] = random_word() >> random_word() % 64;
}

/* ---- warps ---- */

static void check_warp(size_t i)
{
    const size_t warp = i / 32 * 32, lane = i % 32, n = in[2 * i + 1] % 32;
    uint32_t odd = 0, full = 0, bits = 0, sum = 0;
    for (unsigned k = 0; k < 32; k++) {
        bits |= (uint32_t)in[2 * (warp + k)] & 0x0f0f0f0f;
        sum += (uint32_t)in[2 * (warp + k)];
        odd |= (uint32_t)(in[2 * (warp + k)] & 1) << k;
        full += in[2 * (warp + k)] % 32 == 31;
    }
#define OF(k) in[2 * (warp + (k))]
    SAME(i, 0, OF(n));
    SAME(i, 1, OF(lane >= n ? lane - n : lane));
    SAME(i, 2, OF(lane + n < 32 ? lane + n : lane));
    SAME(i, 3, OF(lane ^ n));
    SAME(i, 4, (uint32_t)OF(n));
    SAME(i, 5, (uint32_t)OF(lane > 0 ? lane - 1 : 0));
    SAME(i, 6, (uint32_t)OF(lane == 0 ? 31 : lane));
    SAME(i, 7, (uint32_t)OF(lane ^ 16));
    SAME(i, 8, (uint32_t)OF(lane >= 3 ? lane - 3 : lane));
    SAME(i, 9, OF(lane ^ 5));
    SAME(i, 10, odd);
    SAME(i, 11, full > 0);
    SAME(i, 12, full == 0);
    SAME(i, 13, lane);
    SAME(i, 14, i % THREADS / 32);
    SAME(i, 15, bits);
    SAME(i, 16, sum);
}

Test(words, warp)
{
    random_input();
    for (size_t i = 0; i < 2 * ALL;
         i += 2) /* as float or double no signalling NaN, which a move may change */
        in[i] &= UINT64_C(0xbfffffffbfffffff);
    FOR_ALL_ORDERS(words_warp, 0, check_warp)
}

/* ---- blocks ---- */

static void check_block(size_t i)
{
    const size_t block = i / THREADS * THREADS, tid = i % THREADS;
    uint32_t sum = 0, odd = 0;
    uint64_t largest = 0;
    int zero = 0;
    for (size_t k = block; k < block + THREADS; k++) {
        sum += (uint32_t)in[2 * k];
        odd += in[2 * k] & 1;
        largest = in[2 * k] > largest ? in[2 * k] : largest;
        zero |= in[2 * k] == 0;
    }
    SAME(i, 0, in[2 * (block + THREADS - 1 - tid)]);
    SAME(i, 1, (uint32_t)in[2 * (block + (tid + 40) % THREADS)]);
    SAME(i, 2, odd);
    SAME(i, 5, zero);
    SAME(i, 6, !zero);
    SAME(i, 7, i / THREADS);
    SAME(i, 8, THREADS);
    SAME(i, 9, BLOCKS);
    /* Behind the barrier in zd_sync_count all have added. */
    SAME(i, 3, sum);
    SAME(i, 4, largest);
}

Test(words, block)
{
    random_input();
    in[2 * (THREADS + 50)] = 0; /* in one block */
    FOR_ALL_ORDERS(words_block, THREADS * sizeof(uint32_t), check_block)
}

/* ---- bits ---- */

static void check_bits(size_t i)
{
    const uint64_t v = in[2 * i], w = in[2 * i + 1];
    uint64_t reversed = 0;
    unsigned ones[2] = {0}, last = 0, first = 0, last32 = 0,
             first32 = 0; /* counted from 1; 0: none */
    for (unsigned k = 0; k < 64; k++) {
        const unsigned bit = v >> k & 1;
        reversed |= (uint64_t)bit << (63 - k);
        ones[0] += k < 32 ? bit : 0;
        ones[1] += bit;
        last = bit ? k + 1 : last;
        first = bit && first == 0 ? k + 1 : first;
        last32 = k < 32 && bit ? k + 1 : last32;
        first32 = k < 32 ? first : first32;
    }
    SAME(i, 0, ones[0]);
    SAME(i, 1, ones[1]);
    SAME(i, 2, 32 - last32);
    SAME(i, 3, 64 - last);
    SAME(i, 4, first32);
    SAME(i, 5, first);
    SAME(i, 6, reversed >> 32);
    SAME(i, 7, reversed);
    const unsigned n = w % 32;
    SAME(i, 8, n == 0 ? v >> 32 : (uint32_t)(v >> (32 - n)));
    SAME(i, 9, (uint32_t)(v >> n));
    uint32_t picked = 0;
    for (unsigned k = 0; k < 4; k++) {
        const unsigned selector = (unsigned)(w >> 4 * k) % 16;
        uint32_t byte = (uint32_t)(v >> 8 * (selector % 8)) % 256;
        if (selector >= 8)
            byte = byte >= 128 ? 255 : 0;
        picked |= byte << 8 * k;
    }
    SAME(i, 10, picked);
    SAME(i, 11, (v % (UINT64_C(1) << 32)) * (w % (UINT64_C(1) << 32)) >> 32);
    SAME(i, 12, (uint64_t)((__extension__(unsigned __int128) v * w) >> 64));
}

Test(words, bits)
{
    random_input();
    in[0] = in[1] = 0;
    in[2] = in[3] = UINT64_MAX;
    FOR_ALL_ORDERS(words_bits, 0, check_bits)
}

/* ---- floating point ---- */

static uint64_t bits64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static uint32_t bits32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* The nearest integer, even of two, in other words than the emulator's: by the remainder. */
static double nearest(double x)
{
    const double down = floor(x), rest = x - down;
    if (rest == 0.5)
        return fmod(down, 2) == 0 ? down : down + 1;
    return rest > 0.5 ? down + 1 : down;
}

static int64_t into(double x, double limit, int64_t least, int64_t most)
{
    return x >= limit ? most : x < -limit ? least : (int64_t)x;
}

static void check_floats(size_t i)
{
    double x, y;
    memcpy(&x, &in[2 * i], sizeof x);
    memcpy(&y, &in[2 * i + 1], sizeof y);
    const float f = (float)x, g = (float)y;
    SAME(i, 0, bits64(x + y));
    SAME(i, 1, bits64(x - y));
    SAME(i, 2, bits64(x * y));
    SAME(i, 3, bits64(x / y));
    SAME(i, 4, bits64(sqrt(fabs(x))));
    SAME(i, 6, bits32(f + g));
    SAME(i, 7, bits32(f - g));
    SAME(i, 8, bits32(f * g));
    SAME(i, 9, bits32(f / g));
    SAME(i, 10, bits32(sqrtf(fabsf(f))));
    cr_assert_eq(nearest(x), rint(x));
    SAME(i, 5, bits64(copysign(nearest(x), x)));
    SAME(i, 11, bits32(copysignf((float)nearest(f), f)));
    SAME(i, 12, into(nearest(x), 0x1p31, INT32_MIN, INT32_MAX));
    SAME(i, 13, into(nearest(x), 0x1p63, INT64_MIN, INT64_MAX));
    SAME(i, 14, into(nearest(f), 0x1p31, INT32_MIN, INT32_MAX));
    SAME(i, 15, into(nearest(f), 0x1p63, INT64_MIN, INT64_MAX));
    SAME(i, 16, bits32((float)(int32_t)(uint32_t)in[0]));
    SAME(i, 17, bits64((int32_t)(uint32_t)in[0]));
    SAME(i, 18, bits32((float)(int64_t)in[0]));
    SAME(i, 19, bits64((double)(int64_t)in[0]));
    SAME(i, 20, bits32((float)in[0]));
    SAME(i, 21, bits64((double)in[0]));
}

Test(words, floats)
{
    for (size_t i = 0; i < 2 * ALL; i++) {
        double x = ldexp((double)random_word() - 0x1p63, (int)(random_word() % 140) - 130);
        if (i % 5 == 0)
            x = (double)(int64_t)(random_word() % 2000) / 2 - 500; /* halves */
        memcpy(&in[i], &x, sizeof x);
    }
    FOR_ALL_ORDERS(words_floats, 0, check_floats)
}

/* ---- memory ---- */

static void check_memory(size_t i)
{
    unsigned char expected[64] = {0};
    const uint32_t n = (uint32_t)i, four[4] = {n, n + 1, n + 2, n + 3};
    const uint64_t two[2] = {n, ~(uint64_t)n};
    memcpy(expected, four, 16);
    memcpy(expected + 16, two, 16);
    expected[0] = (unsigned char)(expected[4] + 1);
    memcpy(expected + 2, (uint16_t[]){0x1234}, 2);
    memcpy(expected + 32, (float[]){1.5f}, 4);
    memset(expected + 36, 0xee, 4);
    memcpy(expected + 40, (double[]){1.5}, 8);
    memcpy(expected + 48, &four[1], 4);
    memcpy(expected + 52, (uint32_t[]){178}, 4);
    memcpy(expected + 56, &two[1], 8);
    cr_assert_arr_eq((unsigned char *)&out[8 * i], expected, 64);
}

/* Of the last run, since the counters begin anew in each. */
static void check_counters(size_t i)
{
    if (i == 0) { /* before anything else of a run is looked at */
        uint32_t largest = 0, least = UINT32_MAX;
        uint64_t sum = 0, least64 = UINT64_MAX, half;
        for (size_t k = 0; k < ALL; k++) {
            const uint64_t v = in[2 * k];
            largest = (uint32_t)v > largest ? (uint32_t)v : largest;
            least = (uint32_t)v < least ? (uint32_t)v : least;
            least64 = v < least64 ? v : least64;
            sum += v;
        }
        cr_assert_eq(counters[0], 3 * ALL);
        cr_assert_eq(counters[1], largest);
        cr_assert_eq(counters[2], least);
        cr_assert_eq(counters[3], UINT32_MAX);
        cr_assert_eq(counters[4], 0);
        memcpy(&half, &counters[6], sizeof half);
        cr_assert_eq(half, sum);
        memcpy(&half, &counters[8], sizeof half);
        cr_assert_eq(half, least64);
        cr_assert_eq(counters[10], ALL);
        cr_assert_lt(counters[11], ALL);
        memset(counters, 0, sizeof counters);
        counters[2] = counters[4] = counters[8] = counters[9] = UINT32_MAX;
    }
    check_memory(i);
}

Test(words, memory)
{
    random_input();
    counters[2] = counters[4] = counters[8] = counters[9] = UINT32_MAX;
    FOR_ALL_ORDERS(words_memory, 0, check_counters)
}
