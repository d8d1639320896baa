/* huffman_table.c - what a decoder of encoder 2 looks up: the table of a book. */
#include <string.h>

#include "bytes.h"
#include "huffman_loops.h"

enum { SYMBOLS = ZMPI_HUFFMAN_SYMBOLS, LONGEST = ZMPI_HUFFMAN_LONGEST, TABLE = ZMPI_HUFFMAN_TABLE };

enum { NARROW_EXTRA = 11, WIDE_BITS = 56 / ZMPI_WIDE_LOOKS };

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
    uint32_t plain[LONGEST + 1] = {0}, runs = 0, wide = 0, several = 0, bits = 0; /* of 4096 */
    for (unsigned s = 0; s < SYMBOLS; s++) {
        const unsigned length = d->length[s], extra = zmpi_symbol_extra(s, 8);
        const uint32_t share = length ? (uint32_t)TABLE >> length : 0;
        bits += share * (length + extra);
        if (length == LONGEST) /* as rare as that, or nearly never */
            continue;
        if (is_run(s))
            runs += share;
        else if (!extra)
            plain[length] += share;
        else if (extra > NARROW_EXTRA)
            wide += share;
    }
    for (unsigned i = 1; i <= LONGEST; i++)
        for (unsigned k = 1; i + k <= LONGEST; k++)
            several += plain[i] * plain[k] / TABLE;
    d->kind = several + runs > TABLE / 4 || runs > TABLE / 64 ? ZMPI_ENTRY_LONG
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

/* Does an entry with so many extra bits hold this symbol? */
static bool fits(unsigned symbol, unsigned length, unsigned most)
{
    const unsigned extra = zmpi_symbol_extra(symbol, 8);
    return !is_run(symbol) && extra <= most && length + extra <= WIDE_BITS;
}

static struct zmpi_wide_entry wide_entry(unsigned symbol, unsigned length)
{
    const unsigned extra = zmpi_symbol_extra(symbol, 8);
    if (!fits(symbol, length, WIDE_BITS))
        return (struct zmpi_wide_entry){bits_of(ZMPI_ENTRY_CARE, 0), 0};
    return (struct zmpi_wide_entry){bits_of(length + extra, length),
                                    zmpi_symbol_first(symbol) * (1 << extra)};
}

static struct zmpi_entry single_entry(unsigned symbol, unsigned length)
{
    if (!fits(symbol, length, NARROW_EXTRA))
        return (struct zmpi_entry){bits_of(ZMPI_ENTRY_CARE, 0), 0};
    const struct zmpi_wide_entry e = wide_entry(symbol, length);
    return (struct zmpi_entry){e.bits, (int16_t)e.first};
}

static struct zmpi_long_entry long_entry(unsigned symbol, unsigned length)
{
    if (is_run(symbol) && zmpi_symbol_run(symbol) <= ZMPI_FAST_RUN)
        return (struct zmpi_long_entry){{bits_of(length, length), 0},
                                        {(int8_t)zmpi_symbol_run(symbol)}};
    return (struct zmpi_long_entry){single_entry(symbol, length),
                                    {fits(symbol, length, NARROW_EXTRA)}};
}

/* Residuals without extra bits, as many as the index holds; without branches, which nobody could
 * predict. */
static struct zmpi_long_entry plain_entry(const struct zmpi_huffman_decoder *d, uint32_t index)
{
    unsigned bits = d->length[d->symbol[index]], more = 1;
    struct zmpi_long_entry e = {{0, (int16_t)(d->symbol[index] - ZMPI_ZERO_SYMBOL)}, {1}};
    for (unsigned n = 1; n < 4; n++) {
        const unsigned symbol = d->symbol[index >> bits], length = d->length[symbol];
        more &= (symbol < ZMPI_HUFFMAN_CLASSES) & (bits + length <= LONGEST);
        bits += length & (0 - more);
        e.rest[n] = (int8_t)((symbol - ZMPI_ZERO_SYMBOL) & (0 - more));
        e.rest[0] = (int8_t)(e.rest[0] + (int)more);
    }
    e.of.bits = bits_of(bits, bits);
    return e;
}

/* All indexes that begin with the code of symbol s. */
#define EACH_INDEX(i) (uint32_t i = codes[s]; i < TABLE; i += 1U << length)

void zmpi_huffman_decoder_set(struct zmpi_huffman_decoder *d, const struct zmpi_book *book)
{
    uint16_t codes[SYMBOLS];
    zmpi_book_codes(book, codes);
    memcpy(d->length, book->length, sizeof d->length);
    choose_kind(d);
    for (unsigned s = 0; s < SYMBOLS; s++) {
        const unsigned length = book->length[s];
        const struct zmpi_entry single = single_entry(s, length);
        const struct zmpi_wide_entry wide = wide_entry(s, length);
        const struct zmpi_long_entry several = long_entry(s, length);
        if (!length)
            continue;
        for
            EACH_INDEX(i)
        d->symbol[i] = (uint16_t)s;
        if (d->kind == ZMPI_ENTRY_SINGLE)
            for
                EACH_INDEX(i)
        d->single[i] = single;
        else if (d->kind == ZMPI_ENTRY_WIDE)
            for EACH_INDEX (i)
                d->wide[i] = wide;
        else if (s >= ZMPI_HUFFMAN_CLASSES)
            for EACH_INDEX (i)
                d->several[i] = several;
    }
    for (uint32_t i = 0; d->kind == ZMPI_ENTRY_LONG && i < TABLE; i++)
        if (d->symbol[i] < ZMPI_HUFFMAN_CLASSES)
            d->several[i] = plain_entry(d, i);
}
