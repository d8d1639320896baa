/* huffman_table.c - what a decoder of encoder 2 looks up: the table of a book. */
#include <string.h>

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
        if (is_run(s))
            runs += share;
        else if (!extra)
            plain[length] += share;
        else if (extra > NARROW_EXTRA && length + extra <= WIDE_BITS)
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

static struct zmpi_wide_entry wide_entry(unsigned symbol, unsigned length)
{
    const unsigned extra = zmpi_symbol_extra(symbol, 8), all = length + extra;
    if (is_run(symbol) || all > WIDE_BITS)
        return (struct zmpi_wide_entry){ZMPI_ENTRY_CARE, 0, 0};
    return (struct zmpi_wide_entry){(uint8_t)all, (uint8_t)length,
                                    zmpi_symbol_first(symbol) * (1 << extra)};
}

static struct zmpi_entry single_entry(unsigned symbol, unsigned length)
{
    const struct zmpi_wide_entry e = wide_entry(symbol, length);
    if (e.bits == ZMPI_ENTRY_CARE || zmpi_symbol_extra(symbol, 8) > NARROW_EXTRA)
        return (struct zmpi_entry){ZMPI_ENTRY_CARE, 0, 0};
    return (struct zmpi_entry){e.bits, e.code, (int16_t)e.first};
}

static struct zmpi_long_entry long_entry(unsigned symbol, unsigned length)
{
    const uint8_t bits = (uint8_t)length;
    if (is_run(symbol) && zmpi_symbol_run(symbol) <= ZMPI_FAST_RUN)
        return (struct zmpi_long_entry){{bits, bits, 0}, {(int8_t)zmpi_symbol_run(symbol)}};
    const struct zmpi_entry e = single_entry(symbol, length);
    return (struct zmpi_long_entry){e, {e.bits != ZMPI_ENTRY_CARE}};
}

/* One residual without extra bits. */
static bool is_plain(const struct zmpi_long_entry *e)
{
    return e->of.bits == e->of.code && e->rest[0] == 1;
}

/* An entry and what follows. */
static struct zmpi_long_entry longer(const struct zmpi_huffman_decoder *d, uint32_t index)
{
    struct zmpi_long_entry e = d->several[index];
    unsigned bits = e.of.bits;
    if (!is_plain(&e))
        return e;
    for (int8_t n = 1; n < 4; n++) {
        const struct zmpi_long_entry *next = &d->several[index >> bits];
        if (!is_plain(next) || bits + next->of.bits > LONGEST)
            break;
        bits += next->of.bits;
        e.rest[n] = (int8_t)next->of.first;
        e.rest[0] = (int8_t)(n + 1);
    }
    e.of.bits = e.of.code = (uint8_t)bits;
    return e;
}

#define FILL(table, value)                                                                         \
    for (uint32_t i = codes[s]; i < TABLE; i += 1U << length)                                      \
    (table)[i] = value

void zmpi_huffman_decoder_set(struct zmpi_huffman_decoder *d, const struct zmpi_book *book)
{
    uint16_t codes[SYMBOLS];
    zmpi_book_codes(book, codes);
    memcpy(d->length, book->length, sizeof d->length);
    choose_kind(d);
    for (unsigned s = 0; s < SYMBOLS; s++) {
        const unsigned length = book->length[s];
        if (!length)
            continue;
        FILL(d->symbol, (uint16_t)s);
        if (d->kind == ZMPI_ENTRY_SINGLE) {
            const struct zmpi_entry e = single_entry(s, length);
            FILL(d->single, e);
        } else if (d->kind == ZMPI_ENTRY_WIDE) {
            const struct zmpi_wide_entry e = wide_entry(s, length);
            FILL(d->wide, e);
        } else {
            const struct zmpi_long_entry e = long_entry(s, length);
            FILL(d->several, e);
        }
    }
    /* From the top down: what follows lies below, and is not yet followed by anything. */
    for (uint32_t i = TABLE; d->kind == ZMPI_ENTRY_LONG && i-- > 0;)
        d->several[i] = longer(d, i);
}
