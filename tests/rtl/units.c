/* units.c - modules of the engine one by one, with random gaps in what they get and, where they can
 * wait, in what is taken from them: against the codec's functions, or what format.md says. */
#include "huffman/huffman_loops.h"
#include "kit.h"
#include "units.h"

enum { N = UNIT_LANES, ITEMS = 4096, STALL = 90 };

static uint32_t in[ITEMS][UNIT_WORDS], out[ITEMS][UNIT_WORDS];

static struct units *begin(enum unit unit, uint32_t a, uint32_t b, uint32_t c)
{
    struct units *u = units_open(STALL, unit + 1);
    memset(in, 0, sizeof in);
    units_select(u, unit, a, b, c);
    return u;
}

static uint32_t bits_of(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static float float_of(uint32_t u)
{
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

/* Any float, one that is near the limit, one that is small, a multiple of the step. */
static float some_float(struct kit_random *r, float step, float limit)
{
    switch (kit_below(r, 4)) {
    case 0:
        return float_of((uint32_t)kit_next(r));
    case 1:
        return limit * (float)(1 + 1e-6 * kit_unit(r));
    case 2:
        return (float)kit_unit(r) * step * 40;
    default:
        return step * (float)((int)kit_below(r, 1 << 20) - (1 << 19));
    }
}

static bool can_be_quantized(uint32_t x, float limit)
{
    return (x & 0x7FFFFFFF) <= bits_of(limit) && x != 0x80000000;
}

/* Steps of 9 bits; multiples of at most 24 where the step's level is asked for (format.md 4.4). */
Test(rtl_units, quantization)
{
    struct kit_random r = {1};
    size_t fitting = 0;
    for (int round = 0; round < 16; round++) {
        const float step = ldexpf((float)(256 + kit_below(&r, 256)), (int)kit_below(&r, 60) - 40);
        const float inverse = 1 / step, limit = step * (round % 2 ? 0x1p13f : 0x1p21f);
        struct units *u = begin(round % 2 ? UNIT_LEVEL : UNIT_QUANT, bits_of(inverse),
                                bits_of(limit), bits_of(step));
        for (size_t i = 0; i < ITEMS; i++)
            in[i][0] = bits_of(some_float(&r, step, limit));
        cr_assert_eq(units_run(u, in, ITEMS, out, ITEMS), ITEMS);
        for (size_t i = 0; i < ITEMS; i++) {
            const bool ok = can_be_quantized(in[i][0], limit);
            const float x = float_of(in[i][0]), q = ok ? rintf(x * inverse) : 0;
            fitting += ok;
            if (round % 2) {
                cr_assert_eq(out[i][0], ok && q * step != x, "%a in steps of %a", x, step);
            } else {
                cr_assert_eq(out[i][1], ok, "%a to %a", x, limit);
                cr_assert(!ok || (int32_t)out[i][0] == (int32_t)q, "%a in steps of %a: %d", x, step,
                          (int)out[i][0]);
            }
        }
        units_close(u);
    }
    cr_assert(fitting > ITEMS);
}

Test(rtl_units, exceptions_take_the_integer_before_them)
{
    struct kit_random r = {2};
    struct units *u = begin(UNIT_HOLD, 0, 0, 0);
    for (int chunk = 0; chunk < 60; chunk++) {
        const size_t beats = 1 + kit_below(&r, 20),
                     rare = kit_below(&r, 3) ? 1 + kit_below(&r, 30) : 0;
        for (size_t i = 0; i < beats; i++) {
            in[i][N] = i == 0 ? 1u << N : 0;
            for (unsigned k = 0; k < N; k++) {
                in[i][k] = (uint32_t)kit_next(&r);
                in[i][N] |= (uint32_t)(rare && kit_below(&r, rare) == 0) << k;
            }
        }
        cr_assert_eq(units_run(u, in, beats, out, ITEMS), beats);
        bool begun = false;
        uint32_t base = in[0][0], last = 0;
        for (size_t i = 0; i < beats * N && !begun; i++)
            if (in[i / N][N] >> i % N & 1) {
                base = in[i / N][i % N];
                begun = true;
            }
        for (size_t i = 0; i < beats * N && begun; i++) {
            if (in[i / N][N] >> i % N & 1)
                last = in[i / N][i % N] - base;
            cr_assert_eq(out[i / N][i % N], last, "chunk %d, word %zu", chunk, i);
        }
        if (begun)
            cr_assert_eq(out[beats - 1][N], base);
    }
    units_close(u);
}

/* Shapes of one to three dimensions, also with rows and planes shorter than a beat. */
Test(rtl_units, differences)
{
    enum { WORDS = 8192 };
    static uint32_t x[WORDS];
    struct kit_random r = {3};
    struct units *u = begin(UNIT_LORENZO, 0, 0, 0);
    for (int chunk = 0; chunk < 80; chunk++) {
        const size_t row = 1 + kit_below(&r, chunk % 3 ? 40 : 500), rows = 1 + kit_below(&r, 6);
        const size_t plane = row * rows, most = WORDS / plane < 6 ? WORDS / plane : 6;
        const size_t count = plane * (1 + kit_below(&r, most)), beats = (count + N - 1) / N;
        const uint32_t axes =
            (uint32_t)kit_below(&r, 8) &
            ((row > 1) | (unsigned)(plane > row) << 1 | (unsigned)(count > plane) << 2);
        units_select(u, UNIT_LORENZO, (uint32_t)row, (uint32_t)plane, axes);
        for (size_t i = 0; i < beats * N; i++)
            in[i / N][i % N] = x[i] = i < count ? (uint32_t)kit_next(&r) : 0;
        for (size_t i = 0; i < beats; i++)
            in[i][N] = i == 0;
        units_start(u);
        cr_assert_eq(units_run(u, in, beats, out, ITEMS), beats);
        for (size_t i = count; i-- > 0 && axes & 4;)
            x[i] -= i >= plane ? x[i - plane] : 0;
        for (size_t i = count; i-- > 0 && axes & 2;)
            x[i] -= i % plane >= row ? x[i - row] : 0;
        for (size_t i = count; i-- > 1 && axes & 1;)
            x[i] -= axes == 1 || i % row ? x[i - 1] : 0;
        for (size_t i = 0; i < count; i++)
            cr_assert_eq(out[i / N][i % N], x[i], "chunk %d, word %zu: row %zu, plane %zu, axes %u",
                         chunk, i, row, plane, axes);
    }
    units_close(u);
}

/* Chunks of some blocks, the last one perhaps cut; words of few bits. Returns the beats. */
static size_t make_blocks(struct kit_random *r, size_t *count)
{
    *count = 1 + kit_below(r, 200);
    const size_t beats = (*count + N - 1) / N;
    unsigned shift = 0;
    for (size_t i = 0; i < beats * N; i++) {
        if (i % 32 == 0)
            shift = (unsigned)kit_below(r, 33);
        in[i / N][i % N] = i < *count ? (uint32_t)((int64_t)(int32_t)kit_next(r) >> shift) : 0;
        in[i / N][N] = 0;
    }
    return beats;
}

Test(rtl_units, planes)
{
    struct kit_random r = {4};
    struct units *u = begin(UNIT_BLOCK, 0, 0, 0);
    for (int chunk = 0; chunk < 60; chunk++) {
        size_t count, beats = make_blocks(&r, &count), blocks = (count + 31) / 32;
        in[beats - 1][N] = 1;
        cr_assert_eq(units_run(u, in, beats, out, ITEMS), blocks);
        for (size_t b = 0; b < blocks; b++) {
            uint32_t wanted[33] = {0}, length = 0;
            for (size_t j = 0; j < 32 && b * 32 + j < count; j++) {
                const uint32_t word = in[(b * 32 + j) / N][j % N], m = word >> 31 ? 0 - word : word;
                wanted[0] |= (word >> 31) << j;
                for (unsigned k = 0; k < 32; k++) {
                    wanted[1 + k] |= (m >> k & 1) << j;
                    length = m >> k && k + 1 > length ? k + 1 : length;
                }
            }
            cr_assert_arr_eq(out[b], wanted, sizeof wanted, "chunk %d, block %zu", chunk, b);
            cr_assert_eq(out[b][33], length | (uint32_t)(b + 1 == blocks) << 8);
        }
    }
    units_close(u);
}

Test(rtl_units, exceptions)
{
    struct kit_random r = {5};
    struct units *u = begin(UNIT_OUTLIERS, 0, 0, 0);
    size_t uniform = 0, several = 0, full = 0, full_end = 0;
    for (int chunk = 0; chunk < 100; chunk++) {
        size_t count, beats = make_blocks(&r, &count), blocks = (count + 31) / 32;
        const size_t rare = 1 + kit_below(&r, 40);
        for (size_t i = 0; i < beats; i++)
            in[i][N + 1] = 0;
        for (size_t i = 0; i < count; i++) {
            const bool filled = chunk % 3 == 0 && i / 32 % 2 == 0;
            in[i / N][i % N] = chunk % 2 ? (uint32_t)kit_below(&r, 2) : (uint32_t)(i / 32);
            in[i / N][N] |= (uint32_t)(filled || kit_below(&r, rare) == 0) << i % N;
            in[i / N][N + 1] |= 1u << i % N;
        }
        in[beats - 1][N] |= 1u << N;
        cr_assert_eq(units_run(u, in, beats, out, ITEMS), blocks);
        for (size_t b = 0; b < blocks; b++) {
            uint32_t mask = 0, first = 0, values = 0;
            bool same = true;
            for (size_t j = 0; j < 32 && b * 32 + j < count; j++) {
                const uint32_t *beat = in[(b * 32 + j) / N];
                if (!(beat[N] >> j % N & 1))
                    continue;
                first = mask ? first : beat[j % N];
                same &= beat[j % N] == first;
                mask |= 1u << j;
                values++;
            }
            same &= mask != 0;
            uniform += same;
            several += mask && !same;
            const size_t elements = b + 1 < blocks ? 32 : count - b * 32;
            const bool all = values == elements;
            full += all;
            full_end += all && elements < 32;
            cr_assert_eq(out[b][0], mask, "chunk %d, block %zu", chunk, b);
            cr_assert_eq(out[b][1], (uint32_t)all << 7 | (uint32_t)same << 6 | (same ? 1 : values));
            cr_assert(!mask || out[b][2] == first, "chunk %d, block %zu", chunk, b);
        }
    }
    cr_assert(uniform && several && full_end && full > full_end);
    units_close(u);
}

/* The symbols of a run, by the codes there are. */
static size_t run_to(uint32_t (*wanted)[4], size_t n, size_t run, uint32_t codes)
{
    while (run) {
        unsigned symbol = zmpi_run_symbol(run);
        while (symbol >= ZMPI_HUFFMAN_RUNS && !(codes >> (symbol - ZMPI_HUFFMAN_RUNS) & 1))
            symbol--;
        symbol = symbol < ZMPI_HUFFMAN_RUNS ? ZMPI_ZERO_SYMBOL : symbol;
        run -= zmpi_run_length(symbol);
        wanted[n][0] = symbol;
        wanted[n][1] = wanted[n][2] = 0;
        wanted[n++][3] = run == 0;
    }
    return n;
}

Test(rtl_units, symbols)
{
    static uint32_t wanted[ITEMS][4];
    struct kit_random r = {6};
    struct units *u = begin(UNIT_SYMBOLS, 0, 0, 0);
    for (int stream = 0; stream < 12; stream++) {
        const uint32_t codes = stream ? (uint32_t)kit_next(&r) & 0x1FFFFF : 0x1FFFFF;
        const size_t items = 1 + kit_below(&r, 1500);
        size_t n = 0, run = 0;
        units_select(u, UNIT_SYMBOLS, codes, 0, 0);
        units_start(u);
        for (size_t i = 0; i < items; i++) {
            const int32_t x =
                kit_below(&r, 4) ? 0 : (int32_t)((int64_t)kit_next(&r) >> (32 + kit_below(&r, 32)));
            /* Many zeros at once only now and then: they make more symbols than they take cycles.
             */
            const uint32_t times = !x && !kit_below(&r, 40) ? 1 + (uint32_t)kit_below(&r, 8) : 1;
            in[i][0] = (uint32_t)x;
            in[i][1] = times;
            in[i][2] = i + 1 == items;
            run += x ? 0 : times;
            if (x || i + 1 == items) {
                size_t first = n;
                n = run_to(wanted, n, run, codes);
                run = 0;
                for (size_t k = first; x && k < n; k++)
                    wanted[k][3] = 0;
            }
            if (x) {
                unsigned extra;
                wanted[n][0] = zmpi_residual_symbol(x, &extra);
                wanted[n][1] = extra;
                wanted[n][2] = (uint32_t)x;
                wanted[n++][3] = 1;
            }
            for (size_t k = 0; i + 1 < items && k < n; k++)
                wanted[k][3] = 0;
        }
        cr_assert_eq(units_run(u, in, items, out, ITEMS), n, "stream %d", stream);
        for (size_t i = 0; i < n; i++)
            cr_assert_arr_eq(out[i], wanted[i], sizeof wanted[i], "stream %d, symbol %zu", stream,
                             i);
    }
    units_close(u);
}

Test(rtl_units, bits)
{
    static uint32_t wanted[2 * ITEMS + 4];
    struct kit_random r = {7};
    struct units *u = begin(UNIT_BITS, 0, 0, 0);
    for (int stream = 0; stream < 20; stream++) {
        const size_t items = 1 + kit_below(&r, 1500);
        size_t bits = 0;
        memset(wanted, 0, sizeof wanted);
        units_start(u);
        for (size_t i = 0; i < items; i++) {
            const unsigned n = 1 + (unsigned)kit_below(&r, stream % 2 ? 44 : 9);
            const uint64_t value = kit_next(&r) >> (64 - n);
            in[i][0] = (uint32_t)value;
            in[i][1] = (uint32_t)(value >> 32);
            in[i][2] = n;
            in[i][3] = i + 1 == items;
            for (unsigned k = 0; k < n; k++, bits++)
                wanted[bits / 32] |= (uint32_t)(value >> k & 1) << bits % 32;
        }
        const size_t words = (bits + 63) / 64;
        cr_assert_eq(units_run(u, in, items, out, ITEMS), words, "stream %d", stream);
        for (size_t i = 0; i < words; i++) {
            cr_assert_eq(out[i][0], i);
            cr_assert(out[i][1] == wanted[2 * i] && out[i][2] == wanted[2 * i + 1],
                      "stream %d, word %zu", stream, i);
        }
        cr_assert_eq(units_look(u, 3), 1, "done, and it fitted");
        cr_assert_eq(units_look(u, 4), (bits + 7) / 8);
    }
    units_close(u);
}

Test(rtl_units, words_moved_together)
{
    struct kit_random r = {8};
    struct units *u = begin(UNIT_COMPACT, 0, 0, 0);
    for (size_t i = 0; i < 1 << N; i++) {
        in[i][N] = (uint32_t)i;
        for (unsigned k = 0; k < N; k++)
            in[i][k] = (uint32_t)kit_next(&r);
    }
    cr_assert_eq(units_run(u, in, 1 << N, out, ITEMS), 1 << N);
    for (size_t i = 0; i < 1 << N; i++) {
        uint32_t wanted[N + 1] = {0};
        for (unsigned k = 0; k < N; k++)
            if (i >> k & 1)
                wanted[wanted[N]++] = in[i][k];
        cr_assert_arr_eq(out[i], wanted, sizeof wanted, "mask %zx", i);
    }
    units_close(u);
}

Test(rtl_units, beats_without_gaps)
{
    static uint32_t words[ITEMS];
    struct kit_random r = {9};
    struct units *u = begin(UNIT_PACK, 0, 0, 0);
    for (int packet = 0; packet < 80; packet++) {
        const size_t items = 1 + kit_below(&r, 60), most = packet % 2 ? 33 : 3;
        size_t n = 0;
        for (size_t i = 0; i < items; i++) {
            /* A packet is not empty: its first item has words. */
            const size_t count = i ? kit_below(&r, most + 1) : 1 + kit_below(&r, most);
            for (size_t k = 0; k < 33; k++) {
                in[i][k] = (uint32_t)kit_next(&r); /* also behind the item */
                if (k < count)
                    words[n++] = in[i][k];
            }
            in[i][33] = (uint32_t)count | (uint32_t)(i + 1 == items) << 8;
        }
        const size_t beats = (n + N - 1) / N;
        cr_assert_eq(units_run(u, in, items, out, ITEMS), beats, "packet %d", packet);
        for (size_t i = 0; i < beats; i++) {
            const bool last = i + 1 == beats;
            const size_t here = last ? n - i * N : N;
            cr_assert_eq(out[i][N], here | (uint32_t)last << 7, "packet %d, beat %zu", packet, i);
            cr_assert_arr_eq(out[i], words + i * N, 4 * here, "packet %d, beat %zu", packet, i);
        }
    }
    units_close(u);
}

/* The same symbol in several streams, and in cycles one after the other. */
Test(rtl_units, counts)
{
    struct kit_random r = {10};
    struct units *u = begin(UNIT_HISTOGRAM, 0, 0, 0);
    for (int round = 0; round < 3; round++) {
        uint32_t wanted[ZMPI_HUFFMAN_SYMBOLS] = {0};
        units_start(u);
        for (size_t i = 0; i < ITEMS; i++) {
            in[i][4] = (uint32_t)kit_below(&r, 16);
            for (unsigned k = 0; k < 4; k++) {
                in[i][k] = (uint32_t)kit_below(&r, kit_below(&r, 2) ? 3 : ZMPI_HUFFMAN_SYMBOLS);
                wanted[in[i][k]] += in[i][4] >> k & 1;
            }
        }
        units_run(u, in, ITEMS, out, 0);
        for (uint32_t s = 0; s < ZMPI_HUFFMAN_SYMBOLS; s++) {
            units_select(u, UNIT_HISTOGRAM, s, 0, 0);
            cr_assert_eq(units_look(u, 0), wanted[s], "symbol %u", s);
        }
    }
    units_close(u);
}
