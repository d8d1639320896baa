/* huffman_encode.c - an fle chunk to one of encoder 2 (format.md 1.4, 4.8). */
#include <string.h>

#include "base/bytes.h"
#include "huffman/huffman_loops.h"
#include "kernels/kernels.h"

/* NONE: the token that there is none. RUN_BITS: a run and a direct residual fit 56 bits. */
enum { STREAMS = ZMPI_HUFFMAN_STREAMS, NONE = 63, RUN_BITS = 36, DIRECT = ZMPI_HUFFMAN_DIRECT };

/* ---- the parts of a chunk ---- */

/* An fle chunk, which is trusted. */
struct fle {
    size_t head, blocks, padded; /* bytes, number of length bytes, with their padding */
    const unsigned char *lengths;
    size_t exceptions; /* where masks and values begin, in the chunk */
    bool coded;        /* has residuals */
    bool marked;       /* and exceptions */
};

static struct fle fle_of(size_t width, size_t words, const unsigned char *chunk, size_t size)
{
    struct fle f = {.head = zmpi_head_bytes(width, chunk),
                    .blocks = (words + ZMPI_BLOCK - 1) / ZMPI_BLOCK};
    f.coded = chunk[0] != ZMPI_MAP_STORED && !(chunk[2] & ZMPI_CHUNK_ZERO);
    f.padded = (f.blocks + 3) & ~(size_t)3;
    f.lengths = chunk + f.head;
    f.marked = f.coded && chunk[2] & ZMPI_CHUNK_EXCEPTIONS;
    f.exceptions = f.marked ? f.head + f.padded : size;
    for (size_t b = 0; f.marked && b < f.blocks; b++) {
        size_t length = f.lengths[b] & ZMPI_BLOCK_EXCEPTIONS ? f.lengths[b] & 0x3F : f.lengths[b];
        f.exceptions += length ? 4 * (length + 1) : 0;
    }
    return f;
}

/* Small chunks are not worth the sizes of several streams. */
static size_t streams_of(size_t fle_size)
{
    return fle_size >= 512 ? STREAMS : 1;
}

static struct zmpi_segment segment_of(const struct fle *f, size_t words, size_t streams, size_t k)
{
    size_t each = (f->blocks + streams - 1) / streams;
    size_t begin = k * each < f->blocks ? k * each : f->blocks;
    size_t end = begin + each < f->blocks ? begin + each : f->blocks;
    return (struct zmpi_segment){begin, end, words};
}

void zmpi_huffman_count(size_t width, size_t words, const unsigned char *chunk, size_t size,
                        const struct zmpi_chunk_work *work, uint32_t count[ZMPI_HUFFMAN_SYMBOLS])
{
    const struct zmpi_huffman_encode_loops *loops = zmpi_kernels()->huffman_encode;
    const struct fle f = fle_of(width, words, chunk, size);
    const size_t streams = streams_of(size);
    for (size_t k = 0; f.coded && k < streams; k++) {
        const struct zmpi_segment g = segment_of(&f, words, streams, k);
        (width == 4 ? loops->count32 : loops->count64)(work->kept, work->nonzero, g, count);
    }
}

/* ---- tables ---- */

static uint32_t token_of(uint64_t bits, unsigned n)
{
    return (uint32_t)bits << 6 | n;
}

void zmpi_huffman_encoder_set(struct zmpi_huffman_encoder *e, const struct zmpi_book *book)
{
    uint16_t code[ZMPI_HUFFMAN_SYMBOLS];
    zmpi_book_codes(book, code);
    e->book = book;
    for (unsigned s = 0; s < ZMPI_HUFFMAN_SYMBOLS; s++)
        e->symbol[s] = token_of(code[s], book->length[s]);
    e->short_runs = false;
    for (unsigned s = ZMPI_HUFFMAN_RUNS; s < ZMPI_HUFFMAN_LONG_RUNS; s++)
        e->short_runs |= book->length[s] > 0;
    for (unsigned i = 0; i < DIRECT; i++) {
        unsigned extra, symbol = zmpi_residual_symbol((int64_t)i - DIRECT / 2, &extra),
                        length = book->length[symbol];
        uint32_t rest = (i - DIRECT / 2) & ((1U << extra) - 1);
        e->direct[i] = length ? token_of(code[symbol] | rest << length, length + extra) : NONE;
    }
    e->direct[DIRECT] = NONE;
    for (unsigned run = 0; run < 32; run++) {
        unsigned char bytes[64] = {0};
        struct zmpi_bits b = {0, 0, bytes};
        zmpi_put_run(e, &b, run);
        size_t n = 8 * (size_t)(b.dst - bytes) + b.n;
        e->run[run] = n <= RUN_BITS ? zmpi_load64(bytes) << 6 | n : NONE;
    }
}

/* ---- exceptions ---- */

enum { BLOCKS = ZMPI_CHUNK_INPUT_BYTES / 4 / ZMPI_BLOCK };

/* The exceptions of a chunk as they are to be stored. */
struct exceptions {
    uint32_t mark[2][BLOCKS / 32];
    size_t words; /* of each */
    bool once;    /* mask[] and one value, in place of what the fle chunk has */
    uint32_t mask[BLOCKS];
    size_t masks, bytes; /* of masks and values */
};

/* Blocks with several values are left out at once. */
static bool is_once(const struct fle *f, const struct exceptions *x, size_t width,
                    const unsigned char *chunk, size_t size)
{
    const unsigned char *value = chunk + f->exceptions + 4 * x->masks;
    return memcmp(x->mark[0], x->mark[1], 4 * x->words) == 0 &&
           memcmp(value, value + width, (size_t)(chunk + size - value) - width) == 0;
}

/* Blocks that are exceptions to the last element need no mask. */
static void store_once(const struct fle *f, struct exceptions *x, size_t words,
                       const unsigned char *mask)
{
    const uint32_t last = 1U << (f->blocks - 1) % 32,
                   cut = (uint32_t)(ZMPI_BLOCK * f->blocks - words);
    x->masks = 0;
    for (size_t i = 0; i < x->words; i++) {
        x->mark[1][i] = 0;
        for (uint32_t left = x->mark[0][i]; left; left &= left - 1, mask += 4) {
            const bool full = zmpi_load32(mask) == UINT32_MAX;
            x->mask[x->masks] = zmpi_load32(mask);
            x->masks += !full;
            x->mark[1][i] |= full ? left & (~left + 1) : 0;
        }
    }
    if (cut > 0 && x->mark[0][x->words - 1] & last && x->mask[x->masks - 1] == UINT32_MAX >> cut) {
        x->masks--;
        x->mark[1][x->words - 1] |= last;
    }
}

static void mark_blocks(const struct fle *f, struct exceptions *x)
{
    for (size_t i = 0; i < x->words; i++) {
        const size_t left = f->blocks - 32 * i, n = left < 32 ? left : 32;
        uint32_t any = 0, uniform = 0;
        for (size_t b = 0; b < n; b++) {
            const uint32_t length = f->lengths[32 * i + b];
            any |= (length >> 7) << b;
            uniform |= (length >> 7 & length >> 6) << b;
        }
        x->mark[0][i] = any;
        x->mark[1][i] = uniform;
        x->masks += (size_t)__builtin_popcount(any);
    }
}

static void exceptions_of(const struct fle *f, size_t width, size_t words,
                          const unsigned char *chunk, size_t size, struct exceptions *x)
{
    x->words = f->marked ? (f->blocks + 31) / 32 : 0;
    x->bytes = size - f->exceptions;
    x->masks = 0;
    mark_blocks(f, x);
    x->once = f->marked && is_once(f, x, width, chunk, size);
    if (x->once) {
        store_once(f, x, words, chunk + f->exceptions);
        x->bytes = 4 * x->masks + width;
    }
}

/* ---- a chunk ---- */

/* Codes of a chunk's residuals. */
struct codes {
    unsigned number; /* of the book */
    size_t streams, bytes[STREAMS];
    unsigned char *part[STREAMS];
    size_t size; /* of all of the chunk behind its head */
};

static struct codes codes_of(const struct zmpi_huffman_encoder *e, const struct fle *f,
                             size_t width, size_t words, size_t size, const struct exceptions *x,
                             struct zmpi_chunk_work *work)
{
    const struct zmpi_huffman_encode_loops *loops = zmpi_kernels()->huffman_encode;
    struct codes c = {.streams = streams_of(size)};
    c.size = (c.streams > 1 ? 8 : 4) + 8 * x->words + x->bytes;
    for (size_t k = 0; k < c.streams; k++) {
        const struct zmpi_segment g = segment_of(f, words, c.streams, k);
        c.part[k] = work->coded + k * (ZMPI_CHUNK_CAPACITY / STREAMS);
        const unsigned char *end =
            (width == 4 ? loops->put32 : loops->put64)(e, work->kept, work->nonzero, g, c.part[k]);
        c.bytes[k] = (size_t)(end - c.part[k]);
        c.size += c.bytes[k];
    }
    c.size = (c.size + 3) & ~(size_t)3;
    return c;
}

/* Copies exceptions to dst; returns the end. `from`: as fle stored them, perhaps overlapping. */
static unsigned char *put_exceptions(const struct exceptions *x, size_t width,
                                     const unsigned char *from, size_t from_size,
                                     unsigned char *dst)
{
    unsigned char value[8], *to = dst + 8 * x->words;
    memcpy(value, from + from_size - width, x->once ? width : 0);
    if (!x->once)
        memmove(to, from, from_size);
    for (size_t i = 0; i < x->words; i++) {
        zmpi_store32(dst + 4 * i, x->mark[0][i]);
        zmpi_store32(dst + 4 * (x->words + i), x->mark[1][i]);
    }
    for (size_t i = 0; x->once && i < x->masks; i++)
        zmpi_store32(to + 4 * i, x->mask[i]);
    if (x->once)
        memcpy(to + 4 * x->masks, value, width);
    return to + x->bytes;
}

/* In place, behind the head of `head` bytes: every part moves down, or overwrites what was read
 * already. */
static void assemble(const struct fle *f, const struct codes *c, const struct exceptions *x,
                     size_t width, unsigned char *chunk, size_t fle_size, size_t head)
{
    unsigned char *dst = chunk + head, *end = dst + c->size;
    unsigned char sizes[8] = {(unsigned char)c->number, (unsigned char)c->streams};
    for (size_t k = 0; k + 1 < c->streams; k++)
        zmpi_store16(sizes + 2 + 2 * k, (uint16_t)c->bytes[k]);
    const size_t sized = c->streams > 1 ? 8 : 4;
    unsigned char *at =
        put_exceptions(x, width, chunk + f->exceptions, fle_size - f->exceptions, dst + sized);
    memcpy(dst, sizes, sized);
    for (size_t k = 0; k < c->streams; k++) {
        memcpy(at, c->part[k], c->bytes[k]);
        at += c->bytes[k];
    }
    memset(at, 0, (size_t)(end - at));
}

size_t zmpi_huffman_chunk(const struct zmpi_huffman_encoder *e, unsigned number, size_t width,
                          size_t words, unsigned char *chunk, size_t size,
                          struct zmpi_chunk_work *work)
{
    unsigned char head[ZMPI_HEAD_MAX];
    const size_t full = zmpi_head_bytes(width, chunk);
    const size_t head_size = zmpi_head_shorten(e->rule, width, chunk, head);
    const struct fle f = fle_of(width, words, chunk, size);
    size_t rest = size - full;
    struct exceptions x;
    struct codes c = {.size = rest};
    if (f.coded) {
        exceptions_of(&f, width, words, chunk, size, &x);
        c = codes_of(e, &f, width, words, size, &x, work);
        c.number = number;
    }
    if (c.size < rest) {
        assemble(&f, &c, &x, width, chunk, size, head_size);
        head[2] |= ZMPI_CHUNK_HUFFMAN | (x.once ? ZMPI_CHUNK_ONCE : 0);
        rest = c.size;
    } else if (head_size < full) {
        memmove(chunk + head_size, chunk + full, rest);
    }
    memcpy(chunk, head, head_size);
    return head_size + rest;
}
