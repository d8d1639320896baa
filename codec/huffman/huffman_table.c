/* huffman_table.c - what a decoder of encoder 2 looks up: the table of a book. */
#include <string.h>

#include "base/bytes.h"
#include "huffman/huffman_loops.h"

enum { SYMBOLS = ZMPI_HUFFMAN_SYMBOLS, LONGEST = ZMPI_HUFFMAN_LONGEST, TABLE = ZMPI_HUFFMAN_TABLE };

enum { NARROW_EXTRA = 11, WIDE_BITS = 56 / ZMPI_WIDE_LOOKS, WIDEST_BITS = 56 };

static bool is_run(unsigned symbol)
{
    return symbol >= ZMPI_HUFFMAN_RUNS && symbol != ZMPI_HUFFMAN_ESCAPE;
}

/*
 * Codes are as long as their symbols are rare, so lengths tell what looks will find. More than one
 * residual in every fourth is worth the longer entry; so are runs, for which others are slow.
 */
static void choose_kind(struct zmpi_huffman_decoder *d)
{
    uint32_t plain[LONGEST + 1] = {0}, runs = 0, wide = 0, widest = 0, none = 0, several = 0,
                             bits = 0;
    for (unsigned s = 0; s < SYMBOLS; s++) {
        const unsigned length = d->length[s], extra = zmpi_symbol_extra(s, 8);
        const uint32_t share = length ? (uint32_t)TABLE >> length : 0;
        bits += share * (length + extra);
        if (length == LONGEST) /* may be far rarer than that */
            continue;
        if (is_run(s))
            runs += share;
        else if (!extra)
            plain[length] += share;
        else if (length + extra > WIDEST_BITS)
            none += share;
        else if (length + extra > WIDE_BITS)
            widest += share;
        else if (extra > NARROW_EXTRA)
            wide += share;
    }
    for (unsigned i = 1; i <= LONGEST; i++)
        for (unsigned k = 1; i + k <= LONGEST; k++)
            several += plain[i] * plain[k] / TABLE;
    d->kind = several + runs > TABLE / 4 || runs > TABLE / 64 ? ZMPI_ENTRY_LONG
              : none > TABLE / 4                              ? ZMPI_ENTRY_NONE
              : widest > TABLE / 16                           ? ZMPI_ENTRY_WIDEST
              : wide > TABLE / 64                             ? ZMPI_ENTRY_WIDE
                                                              : ZMPI_ENTRY_SINGLE;
    d->looks = bits <= TABLE * 17 / 2 ? ZMPI_MANY_LOOKS : ZMPI_SOME_LOOKS;
}

/* ---- entries ---- */

/* The loops load them with what follows. */
static uint16_t bits_of(unsigned bits, unsigned code)
{
    uint16_t v;
    zmpi_store16(&v, (uint16_t)(bits | code * ZMPI_ENTRY_CODE));
    return v;
}

/* Does an entry with so many bits, and so many extra ones, hold this symbol? */
static bool fits(unsigned symbol, unsigned length, unsigned all, unsigned most)
{
    const unsigned extra = zmpi_symbol_extra(symbol, 8);
    return !is_run(symbol) && extra <= most && length + extra <= all;
}

static struct zmpi_wide_entry wide_entry(unsigned symbol, unsigned length, bool widest)
{
    const unsigned extra = zmpi_symbol_extra(symbol, 8);
    if (!fits(symbol, length, widest ? WIDEST_BITS : WIDE_BITS, WIDEST_BITS))
        return (struct zmpi_wide_entry){bits_of(ZMPI_ENTRY_CARE, 0), 0};
    return (struct zmpi_wide_entry){bits_of(length + extra, length),
                                    zmpi_symbol_first(symbol) * (widest ? 1 : 1 << extra)};
}

static struct zmpi_entry single_entry(unsigned symbol, unsigned length)
{
    if (!fits(symbol, length, WIDE_BITS, NARROW_EXTRA))
        return (struct zmpi_entry){bits_of(ZMPI_ENTRY_CARE, 0), 0};
    const struct zmpi_wide_entry e = wide_entry(symbol, length, false);
    return (struct zmpi_entry){e.bits, (int16_t)e.first};
}

static struct zmpi_long_entry long_entry(unsigned symbol, unsigned length)
{
    if (is_run(symbol) && zmpi_symbol_run(symbol) <= ZMPI_FAST_RUN)
        return (struct zmpi_long_entry){{bits_of(length, length), 0},
                                        {(int8_t)zmpi_symbol_run(symbol)}};
    return (struct zmpi_long_entry){single_entry(symbol, length),
                                    {fits(symbol, length, WIDE_BITS, NARROW_EXTRA)}};
}

/* ---- residuals without extra bits, behind one another ---- */

struct plain {
    struct zmpi_long_entry *table;
    unsigned count, symbol[ZMPI_HUFFMAN_CLASSES]; /* those with codes, the shortest first */
    const unsigned char *length;
    const uint16_t *codes;
};

static void find_plain(struct plain *p)
{
    p->count = 0;
    for (unsigned length = 1; length <= LONGEST; length++)
        for (unsigned s = 0; s < ZMPI_HUFFMAN_CLASSES; s++)
            if (p->length[s] == length)
                p->symbol[p->count++] = s;
}

/* `n` of them are the `bits` lowest bits of the index, and in e. To all such indexes; then those
 * that go on with one more. */
static void add_plain(const struct plain *p, uint32_t index, unsigned bits, unsigned n,
                      struct zmpi_long_entry e)
{
    e.of.bits = bits_of(bits, bits);
    e.rest[0] = (int8_t)n;
    for (uint32_t i = index; n > 0 && i < TABLE; i += 1U << bits)
        p->table[i] = e;
    for (unsigned k = 0; n < 4 && k < p->count; k++) {
        const unsigned s = p->symbol[k], length = p->length[s];
        if (bits + length > LONGEST)
            break;
        if (n == 0)
            e.of.first = (int16_t)(s - ZMPI_ZERO_SYMBOL);
        else
            e.rest[n] = (int8_t)(s - ZMPI_ZERO_SYMBOL);
        add_plain(p, index | (uint32_t)p->codes[s] << bits, bits + length, n + 1, e);
    }
}

/* Writes an entry to all indexes that begin with the code of symbol s. */
static void add_symbol(struct zmpi_huffman_decoder *d, unsigned s, uint32_t code)
{
    const unsigned length = d->length[s];
    const uint32_t step = 1U << length;
    for (uint32_t i = code; i < TABLE; i += step)
        d->symbol[i] = (uint16_t)s;
    if (d->kind == ZMPI_ENTRY_SINGLE) {
        const struct zmpi_entry e = single_entry(s, length);
        for (uint32_t i = code; i < TABLE; i += step)
            d->single[i] = e;
    } else if (d->kind == ZMPI_ENTRY_WIDE || d->kind == ZMPI_ENTRY_WIDEST) {
        const struct zmpi_wide_entry e = wide_entry(s, length, d->kind == ZMPI_ENTRY_WIDEST);
        for (uint32_t i = code; i < TABLE; i += step)
            d->wide[i] = e;
    } else if (d->kind == ZMPI_ENTRY_LONG && s >= ZMPI_HUFFMAN_CLASSES) {
        const struct zmpi_long_entry e = long_entry(s, length);
        for (uint32_t i = code; i < TABLE; i += step)
            d->several[i] = e;
    }
}

void zmpi_huffman_decoder_set(struct zmpi_huffman_decoder *d, const struct zmpi_book *book)
{
    uint16_t codes[SYMBOLS];
    zmpi_book_codes(book, codes);
    memcpy(d->length, book->length, sizeof d->length);
    choose_kind(d);
    for (unsigned s = 0; s < SYMBOLS; s++)
        if (d->length[s])
            add_symbol(d, s, codes[s]);
    if (d->kind == ZMPI_ENTRY_LONG) {
        struct plain p = {.table = d->several, .length = d->length, .codes = codes};
        find_plain(&p);
        add_plain(&p, 0, 0, 0, (struct zmpi_long_entry){{0, 0}, {0}});
    }
}
