/*
 * huffman_take.c - the loops of encoder 2's decoder: symbols of every kind at every place of a look
 * and of a stream, by every instruction set; nothing is written behind a stream, whatever its bits.
 */
#include "kit.h"

#include "huffman/huffman_loops.h"
#include "kernels/kernels.h"

enum { SYMBOLS = ZMPI_HUFFMAN_SYMBOLS, STREAMS = ZMPI_HUFFMAN_STREAMS, MOST = 700, SPARE = 64 };

/* Books for each kind of entry, and for each number of looks. */
static const struct {
    double scale; /* of the residuals */
    uint32_t zeros, runs;
    enum zmpi_entry_kind kind;
    unsigned looks;
} books[] = {
    {0.5, 5000000, 9000, ZMPI_ENTRY_LONG, ZMPI_MANY_LOOKS},
    {2, 0, 0, ZMPI_ENTRY_LONG, ZMPI_MANY_LOOKS},
    {60, 0, 0, ZMPI_ENTRY_SINGLE, ZMPI_MANY_LOOKS},
    {60, 0, 8, ZMPI_ENTRY_SINGLE, ZMPI_MANY_LOOKS},
    {600, 0, 1, ZMPI_ENTRY_SINGLE, ZMPI_SOME_LOOKS},
    {1e5, 0, 1, ZMPI_ENTRY_WIDE, ZMPI_SOME_LOOKS},
    {1e9, 0, 1, ZMPI_ENTRY_WIDEST, ZMPI_SOME_LOOKS},
    {1e17, 0, 1, ZMPI_ENTRY_NONE, ZMPI_SOME_LOOKS},
};

static void make_book(size_t i, struct zmpi_book *book)
{
    uint32_t count[SYMBOLS];
    for (unsigned s = 0; s < SYMBOLS; s++) {
        const unsigned extra = zmpi_symbol_extra(s, 8);
        const double width = ldexp(1, (int)extra);
        const double middle = s < ZMPI_HUFFMAN_RUNS ? (zmpi_symbol_first(s) + 0.5) * width : 0;
        const double share = width / books[i].scale * exp(-fabs(middle) / books[i].scale);
        count[s] = s < ZMPI_HUFFMAN_RUNS ? (uint32_t)(1e5 * share) : books[i].runs;
        count[s] +=
            s < ZMPI_HUFFMAN_RUNS && width < fmax(8 * books[i].scale, 4096); /* now and then */
    }
    count[ZMPI_ZERO_SYMBOL] += books[i].zeros;
    zmpi_book_make(count, ZMPI_SORT_EXACT, book);
}

/* ---- streams ---- */

struct streams {
    unsigned char *bytes; /* and what may be read behind them */
    size_t bits, words;   /* so far */
    size_t from[STREAMS], to[STREAMS], begin[STREAMS], end[STREAMS];
    uint64_t value[STREAMS * MOST];
};

static void put(struct streams *s, uint64_t value, unsigned n)
{
    for (unsigned i = 0; i < n; i++, s->bits++)
        if (value >> i & 1)
            s->bytes[s->bits / 8] |= (unsigned char)(1u << s->bits % 8);
}

/* A symbol as likely as its code is short, or any. */
static unsigned any_symbol(const struct zmpi_huffman_decoder *d, struct kit_random *r, bool likely)
{
    for (;;) {
        const unsigned symbol =
            likely ? d->symbol[kit_below(r, ZMPI_HUFFMAN_TABLE)] : (unsigned)kit_below(r, SYMBOLS);
        if (d->length[symbol])
            return symbol;
    }
}

static void put_symbol(struct streams *s, const uint16_t *codes,
                       const struct zmpi_huffman_decoder *d, unsigned symbol, size_t width,
                       struct kit_random *r)
{
    put(s, codes[symbol], d->length[symbol]);
    if (symbol >= ZMPI_HUFFMAN_RUNS && symbol != ZMPI_HUFFMAN_ESCAPE) {
        for (unsigned n = zmpi_symbol_run(symbol); n > 0; n--)
            s->value[s->words++] = 0;
        return;
    }
    const unsigned extra = zmpi_symbol_extra(symbol, width);
    const uint64_t x = extra ? kit_next(r) >> (64 - extra) : 0;
    const int first = symbol == ZMPI_HUFFMAN_ESCAPE ? 0 : zmpi_symbol_first(symbol);
    put(s, x, extra);
    s->value[s->words++] = (first ? (uint64_t)first << extra : 0) + x;
}

static size_t run_of(unsigned symbol)
{
    return symbol >= ZMPI_HUFFMAN_RUNS && symbol != ZMPI_HUFFMAN_ESCAPE ? zmpi_symbol_run(symbol)
                                                                        : 1;
}

/* Four streams of up to MOST elements; unlikely: how many of 100 symbols are any. */
static void make_streams(struct streams *s, const uint16_t *codes,
                         const struct zmpi_huffman_decoder *d, size_t width, size_t unlikely,
                         struct kit_random *r)
{
    const size_t common = kit_below(r, 2) ? kit_below(r, MOST) : 0;
    s->bits = s->words = 0;
    for (size_t k = 0; k < STREAMS; k++) {
        s->bits = (s->bits + 7) / 8 * 8;
        s->from[k] = s->bits;
        s->begin[k] = s->words;
        s->end[k] = s->words + (common ? common : kit_below(r, MOST));
        while (s->words < s->end[k]) {
            const unsigned symbol = any_symbol(d, r, kit_below(r, 100) >= unlikely);
            if (run_of(symbol) <= s->end[k] - s->words)
                put_symbol(s, codes, d, symbol, width, r);
        }
        s->to[k] = s->bits;
    }
}

/* ---- decoding them ---- */

static void take(const struct zmpi_huffman_loops *loops, const struct zmpi_huffman_decoder *d,
                 const struct streams *s, size_t width, size_t limit,
                 struct zmpi_lane lane[STREAMS], void *out)
{
    for (size_t k = 0; k < STREAMS; k++)
        lane[k] = (struct zmpi_lane){s->from[k], s->begin[k], s->end[k]};
    (width == 4 ? loops->four32 : loops->four64)(d, s->bytes, limit, lane, out);
    for (size_t k = 0; k < STREAMS; k++)
        (width == 4 ? loops->one32 : loops->one64)(d, s->bytes, limit, &lane[k], out);
}

enum { BYTES = STREAMS * MOST * 10 + 1000 };

/* With 1 or with 0 behind the bits: what is there does not count. */
static void check(const struct zmpi_huffman_decoder *d, struct streams *s, size_t width)
{
    const size_t bytes = (s->bits + 7) / 8, all = (s->words + SPARE) * width;
    unsigned char *out = malloc(all), *expected = calloc(all, 1);
    for (size_t i = 0; i < s->words; i++)
        for (size_t b = 0; b < width; b++)
            expected[i * width + b] = (unsigned char)(s->value[i] >> 8 * b);
    for (size_t i = 0; zmpi_kernels_at(i); i++) {
        struct zmpi_lane lane[STREAMS];
        if (!zmpi_kernels_at(i)->available())
            continue;
        memset(s->bytes + bytes, i % 2 ? 0 : 0xFF, BYTES - bytes);
        memset(out, 0, all);
        take(zmpi_kernels_at(i)->huffman, d, s, width, 8 * bytes, lane, out);
        for (size_t k = 0; k < STREAMS; k++) {
            cr_assert_eq(lane[k].element, s->end[k], "%s", zmpi_kernels_at(i)->name);
            cr_assert_eq(lane[k].at, s->to[k], "%s", zmpi_kernels_at(i)->name);
        }
        cr_assert_arr_eq(out, expected, all, "%s", zmpi_kernels_at(i)->name);
    }
    free(out);
    free(expected);
}

/* Of no bound. */
static const struct zmpi_stream none;

Test(huffman_take, every_kind_of_entry)
{
    struct zmpi_huffman_decoder *d = zmpi_huffman_decoder_new(&none);
    struct streams *s = malloc(sizeof *s);
    struct zmpi_book book;
    uint16_t codes[SYMBOLS];
    for (size_t i = 0; i < KIT_COUNT(books); i++) {
        struct kit_random r = {i};
        make_book(i, &book);
        zmpi_book_codes(&book, codes);
        zmpi_huffman_decoder_set(d, &book);
        cr_assert_eq(d->kind, books[i].kind, "book %zu: %d", i, d->kind);
        cr_assert_eq(d->looks, books[i].looks, "book %zu: %u", i, d->looks);
        for (int n = 0; n < 160; n++) {
            const size_t width = n % 2 ? 4 : 8, unlikely = (size_t[]){0, 2, 20, 100}[n / 2 % 4];
            s->bytes = calloc(BYTES, 1);
            make_streams(s, codes, d, width, unlikely, &r);
            check(d, s, width);
            free(s->bytes);
        }
    }
    free(s);
    free(d);
}

/* Any bits: all sets come to the same, or agree that it is wrong; between guard pages. */
Test(huffman_take, any_bits)
{
    struct zmpi_huffman_decoder *d = zmpi_huffman_decoder_new(&none);
    struct streams *s = malloc(sizeof *s);
    struct zmpi_book book;
    size_t right = 0;
    for (size_t n = 0; n < 1200; n++) {
        struct kit_random r = {n};
        const size_t width = n % 2 ? 4 : 8, words = 4 * (1 + kit_below(&r, MOST)), bytes = words;
        struct kit_guarded in = kit_guard(bytes + 7 * words + 32, true);
        struct kit_guarded out = kit_guard(words * width, true), first = kit_guard(out.map_size, 0);
        make_book(n / 2 % KIT_COUNT(books), &book);
        zmpi_huffman_decoder_set(d, &book);
        s->bytes = in.data;
        for (size_t i = 0; i < bytes; i++)
            in.data[i] = (unsigned char)(n % 7 ? kit_next(&r) : 0);
        for (size_t k = 0; k < STREAMS; k++) {
            s->from[k] = 8 * (k * bytes / 8);
            s->begin[k] = k * words / 4;
            s->end[k] = (k + 1) * words / 4;
        }
        int good = -1;
        for (size_t i = 0; zmpi_kernels_at(i); i++) {
            struct zmpi_lane lane[STREAMS];
            int ends = 0;
            if (!zmpi_kernels_at(i)->available())
                continue;
            memset(out.data, 0, words * width);
            take(zmpi_kernels_at(i)->huffman, d, s, width, 8 * bytes, lane, out.data);
            for (size_t k = 0; k < STREAMS; k++)
                ends += lane[k].element == s->end[k];
            if (good >= 0)
                cr_assert_eq(good == STREAMS, ends == STREAMS);
            if (good == STREAMS)
                cr_assert_arr_eq(out.data, first.data, words * width);
            good = ends;
            memcpy(first.data, out.data, words * width);
        }
        right += good == STREAMS;
        kit_unguard(&in);
        kit_unguard(&out);
        kit_unguard(&first);
    }
    cr_assert_gt(right, 100);
    free(s);
    free(d);
}
