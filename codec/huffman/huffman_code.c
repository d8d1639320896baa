/*
 * huffman_code.c - from counts to the lengths of codes, and from lengths to canonical codes (CEAZ
 * 3.2.1 and Fig. 1: filter, sort, create the tree, lengths, truncate, canonize).
 */
#include <stdlib.h>
#include <string.h>

#include "huffman/huffman_loops.h"

enum { SYMBOLS = ZMPI_HUFFMAN_SYMBOLS, LONGEST = ZMPI_HUFFMAN_LONGEST, ZERO = 16 };

unsigned zmpi_symbol_extra(unsigned symbol, size_t width)
{
    if (symbol == ZMPI_HUFFMAN_ESCAPE)
        return (unsigned)(8 * width);
    if (symbol < ZMPI_HUFFMAN_CLASSES || symbol >= ZMPI_HUFFMAN_RUNS)
        return 0;
    return (symbol - ZMPI_HUFFMAN_CLASSES) / 16 + 1;
}

unsigned zmpi_symbol_run(unsigned symbol)
{
    return symbol < ZMPI_HUFFMAN_LONG_RUNS ? symbol - ZMPI_HUFFMAN_RUNS + 2
                                           : 16U << (symbol - ZMPI_HUFFMAN_LONG_RUNS);
}

/* ---- sorting: symbols that count, the rarest first ---- */

struct item {
    uint32_t count;
    unsigned symbol;
};

static int rarer(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? -1 : 1;
    return x->symbol > y->symbol ? -1 : 1;
}

static size_t sort_exact(const uint32_t *count, struct item *items)
{
    size_t n = 0;
    for (unsigned s = 0; s < SYMBOLS; s++)
        if (count[s])
            items[n++] = (struct item){count[s], s};
    qsort(items, n, sizeof *items, rarer);
    return n;
}

/* The symbol of the residuals that are i-th from the middle, above (side 1) or below it. */
static unsigned symbol_from_middle(unsigned i, unsigned side)
{
    if (i < 16)
        return side ? 16 + i : 15 - i;
    unsigned class = (i - 16) / 8, step = (i - 16) % 8;
    return ZMPI_HUFFMAN_CLASSES + 16 * class + (side ? step : 15 - step);
}

/*
 * CEAZ, Algorithm 1: counts fall to both sides of the middle, so symbols at the same distance from
 * it are compared with each other alone. From the outermost pair inwards this gives the rarest
 * first. Runs, which fall with their length, are merged in.
 */
static size_t sort_approximate(const uint32_t *count, struct item *items)
{
    enum { SIDE = 16 + 8 * ZMPI_HUFFMAN_MOST_EXTRA };
    size_t n = 0;
    unsigned run = ZMPI_HUFFMAN_ESCAPE;
    for (unsigned i = SIDE; i-- > 0;) {
        unsigned pair[2] = {symbol_from_middle(i, 0), symbol_from_middle(i, 1)};
        unsigned first = count[pair[1]] < count[pair[0]];
        for (unsigned k = 0; k < 2; k++) {
            unsigned s = pair[first ^ k];
            if (!count[s])
                continue;
            for (; run >= ZMPI_HUFFMAN_RUNS && count[run] <= count[s]; run--)
                if (count[run])
                    items[n++] = (struct item){count[run], run};
            items[n++] = (struct item){count[s], s};
        }
    }
    for (; run >= ZMPI_HUFFMAN_RUNS; run--)
        if (count[run])
            items[n++] = (struct item){count[run], run};
    return n;
}

/* ---- the tree ---- */

/*
 * Counts the codes of each length. There are two queues, of symbols and of nodes; the smaller
 * head is next. If the symbols are not quite sorted, the tree is not optimal, but still a tree.
 */
static void count_lengths(const struct item *items, size_t n, uint16_t lengths[SYMBOLS])
{
    /* Symbols, then nodes: the node above, later the depth. The caller's stack may be a small one.
     */
    uint64_t weight[SYMBOLS];
    uint16_t up[2 * SYMBOLS];
    size_t symbol = 0, node = 0;
    for (size_t made = 0; made < n - 1; made++) {
        weight[made] = 0;
        for (int k = 0; k < 2; k++) {
            bool leaf = node == made || (symbol < n && items[symbol].count <= weight[node]);
            weight[made] += leaf ? items[symbol].count : weight[node];
            up[leaf ? symbol++ : n + node++] = (uint16_t)(n + made);
        }
    }
    memset(lengths, 0, SYMBOLS * sizeof *lengths);
    up[2 * n - 2] = 0;
    for (size_t i = 2 * n - 2; i-- > 0;) {
        up[i] = (uint16_t)(up[up[i]] + 1);
        if (i < n)
            lengths[up[i]]++;
    }
}

/* No code over LONGEST: two that are too long become one a bit shorter, and the other hangs beside
 * the longest that still can take one. */
static void truncate_lengths(uint16_t lengths[SYMBOLS])
{
    for (size_t i = SYMBOLS - 1; i > LONGEST; i--)
        while (lengths[i] > 0) {
            size_t j = i - 2;
            while (lengths[j] == 0)
                j--;
            lengths[i] = (uint16_t)(lengths[i] - 2);
            lengths[i - 1]++;
            lengths[j + 1] = (uint16_t)(lengths[j + 1] + 2);
            lengths[j]--;
        }
}

void zmpi_book_make(uint32_t count[SYMBOLS], enum zmpi_huffman_sort sort, struct zmpi_book *book)
{
    struct item items[SYMBOLS];
    uint16_t lengths[SYMBOLS];
    size_t i = 0;
    count[ZERO] += !count[ZERO];
    count[ZMPI_HUFFMAN_ESCAPE] += !count[ZMPI_HUFFMAN_ESCAPE];
    size_t n = sort == ZMPI_SORT_EXACT ? sort_exact(count, items) : sort_approximate(count, items);
    count_lengths(items, n, lengths);
    truncate_lengths(lengths);
    memset(book, 0, sizeof *book);
    for (size_t length = LONGEST; length > 0; length--)
        for (size_t k = 0; k < lengths[length]; k++)
            book->length[items[i++].symbol] = (unsigned char)length;
}

/* ---- canonical codes ---- */

void zmpi_book_codes(const struct zmpi_book *book, uint16_t code[SYMBOLS])
{
    unsigned next[LONGEST + 2] = {0}, n[LONGEST + 1] = {0};
    for (unsigned s = 0; s < SYMBOLS; s++)
        n[book->length[s]]++;
    n[0] = 0;
    for (unsigned l = 1; l <= LONGEST; l++)
        next[l + 1] = (next[l] + n[l]) << 1;
    for (unsigned s = 0; s < SYMBOLS; s++) {
        unsigned length = book->length[s], c = length ? next[length]++ : 0, reversed = 0;
        for (unsigned b = 0; b < length; b++)
            reversed |= (c >> b & 1) << (length - 1 - b);
        code[s] = (uint16_t)reversed;
    }
}

/* ---- runs of zeros ---- */

void zmpi_put_run(const struct zmpi_huffman_encoder *e, struct zmpi_bits *b, size_t run)
{
    while (run) {
        unsigned symbol = zmpi_run_symbol(run);
        while (symbol > ZMPI_HUFFMAN_RUNS && !e->symbol[symbol])
            symbol--;
        if (!e->symbol[symbol])
            symbol = ZMPI_ZERO_SYMBOL;
        zmpi_put(b, e->symbol[symbol] >> 6, e->symbol[symbol] & 63);
        run -= zmpi_run_length(symbol);
    }
}
