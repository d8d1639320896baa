/*
 * huffman_loops.h - the loops of encoder 2 that take the time, once for any machine and once for
 * those with better instructions for bits.
 */
#ifndef ZMPI_HUFFMAN_LOOPS_H
#define ZMPI_HUFFMAN_LOOPS_H

#include "base/bytes.h"
#include "huffman/huffman.h"
#include "kernels/kernels.h"

/* Blocks of a chunk that have a stream of bits in common. */
struct zmpi_segment {
    size_t begin, end; /* blocks */
    size_t words;      /* of the chunk */
};

/* The last segments may have none. */
static inline size_t zmpi_segment_words(const struct zmpi_segment *g)
{
    const size_t begin = g->begin * ZMPI_BLOCK, end = g->end * ZMPI_BLOCK;
    return g->end > g->begin ? (end < g->words ? end : g->words) - begin : 0;
}

/* A mask of the residuals of block b that are not zero, of those that the chunk has. */
static inline uint32_t zmpi_nonzero_of(const uint32_t *nonzero, const struct zmpi_segment *g,
                                       size_t b)
{
    const size_t left = g->words - b * ZMPI_BLOCK;
    return left < ZMPI_BLOCK ? nonzero[b] & ~(UINT32_MAX << left) : nonzero[b];
}

/* Decoder: the bits of one stream, and where its residuals go; `end` is that of its elements.
 * Where the stream cannot be right, end becomes 0. */
struct zmpi_lane {
    size_t at, element, end;
};

/* Writes residuals r to dst; nonzero[] says which of them are not zero. Returns the end. */
typedef unsigned char *zmpi_huffman_put_fn(const struct zmpi_huffman_encoder *e, const void *r,
                                           const uint32_t *nonzero, struct zmpi_segment g,
                                           unsigned char *dst);
typedef void zmpi_huffman_count_fn(const void *r, const uint32_t *nonzero, struct zmpi_segment g,
                                   uint32_t count[ZMPI_HUFFMAN_SYMBOLS]);
/* Four streams from the bits at src, together, until one of them nearly ends. limit: bits at src;
 * much more can be read. */
typedef void zmpi_huffman_take_fn(const struct zmpi_huffman_decoder *d, const unsigned char *src,
                                  size_t limit, struct zmpi_lane *lane, void *out);

struct zmpi_huffman_encode_loops {
    zmpi_huffman_put_fn *put32, *put64;
    zmpi_huffman_count_fn *count32, *count64;
};

struct zmpi_huffman_loops {
    zmpi_huffman_take_fn *four32, *four64, *one32, *one64; /* one: all of one stream */
};

/* ---- the symbols of format.md 1.4 ---- */

enum { ZMPI_ZERO_SYMBOL = 16 };

static inline unsigned zmpi_residual_symbol(int64_t r, unsigned *extra)
{
    uint64_t m = (uint64_t)(r < 0 ? ~r : r);
    *extra = 0;
    if (m < 16)
        return (unsigned)(r + 16);
    *extra = 60U - (unsigned)__builtin_clzll(m); /* all bits but four */
    return ZMPI_HUFFMAN_CLASSES + 16 * (*extra - 1) + (r < 0 ? 8 : 0) +
           ((unsigned)(r >> *extra) & 7);
}

/* The longest symbol for at most `run` zeros. */
static inline unsigned zmpi_run_symbol(size_t run)
{
    if (run >= ZMPI_HUFFMAN_LONGEST_RUN)
        return ZMPI_HUFFMAN_ESCAPE - 1;
    if (run >= 16)
        return ZMPI_HUFFMAN_LONG_RUNS + 27U - (unsigned)__builtin_clz((unsigned)run);
    return run > 1 ? ZMPI_HUFFMAN_RUNS + (unsigned)run - 2 : ZMPI_ZERO_SYMBOL;
}

static inline size_t zmpi_run_length(unsigned symbol)
{
    return symbol < ZMPI_HUFFMAN_RUNS ? 1 : zmpi_symbol_run(symbol);
}

/* Add the symbols of `times` runs. */
static inline void zmpi_count_run(size_t run, uint32_t times, uint32_t *count)
{
    while (run) {
        unsigned symbol = zmpi_run_symbol(run);
        count[symbol] += times;
        run -= zmpi_run_length(symbol);
    }
}

/* ---- bits ---- */

struct zmpi_bits {
    uint64_t acc; /* n < 8 bits that are not yet a byte; zeros above */
    unsigned n;
    unsigned char *dst;
};

/* Up to 56 bits; stores 8 bytes. */
__attribute__((always_inline)) static inline void zmpi_put(struct zmpi_bits *b, uint64_t value,
                                                           unsigned n)
{
    b->acc |= value << b->n;
    b->n += n;
    zmpi_store64(b->dst, b->acc);
    b->dst += b->n >> 3;
    b->acc >>= b->n & 56;
    b->n &= 7;
}

/* The longest symbols that fit and have a code, again and again. */
void zmpi_put_run(const struct zmpi_huffman_encoder *e, struct zmpi_bits *b, size_t run);
/* A residual of any kind; width: of a word in bytes. */
__attribute__((always_inline)) static inline void
zmpi_put_residual(const struct zmpi_huffman_encoder *e, struct zmpi_bits *b, int64_t r,
                  size_t width)
{
    unsigned extra, symbol = zmpi_residual_symbol(r, &extra);
    uint64_t rest = (uint64_t)r & (((uint64_t)1 << extra) - 1);
    if (!e->symbol[symbol]) {
        symbol = ZMPI_HUFFMAN_ESCAPE;
        extra = (unsigned)(8 * width);
        rest = width == 4 ? (uint32_t)r : (uint64_t)r;
    }
    const uint32_t token = e->symbol[symbol];
    const unsigned n = token & 63, low = extra < 32 ? extra : 32;
    zmpi_put(b, token >> 6 | (rest & UINT32_MAX) << n, n + low);
    if (extra > 32)
        zmpi_put(b, rest >> 32, extra - 32);
}

/* ---- a decoder's table ---- */

enum {
    ZMPI_ENTRY_CARE = 63,      /* bits of an entry that needs care */
    ZMPI_ENTRY_CODE = 1 << 10, /* times how many of the bits are codes */
    ZMPI_FAST_RUN = 64,        /* zeros of a long entry */
    /* Looks for the 56 bits that are loaded at once. */
    ZMPI_MANY_LOOKS = 5,
    ZMPI_SOME_LOOKS = 3,
    ZMPI_WIDE_LOOKS = 2,
    ZMPI_LONG_LOOKS = 4
};

static inline bool zmpi_needs_care(const struct zmpi_huffman_decoder *d, size_t index)
{
    const void *e = d->kind == ZMPI_ENTRY_SINGLE ? (const void *)&d->single[index]
                    : d->kind != ZMPI_ENTRY_LONG ? (const void *)&d->wide[index]
                                                 : (const void *)&d->several[index];
    return zmpi_load16(e) == ZMPI_ENTRY_CARE;
}

/* A residual without its extra bits: -16..15. */
static inline int zmpi_symbol_first(unsigned symbol)
{
    if (symbol < ZMPI_HUFFMAN_CLASSES)
        return (int)symbol - 16;
    return symbol & 8 ? (int)(symbol & 7) - 16 : (int)(symbol & 7) + 8;
}

#endif
