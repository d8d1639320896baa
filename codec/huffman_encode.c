/* huffman_encode.c - an fle chunk to one of encoder 2 (format.md 1.4, 4.8). */
#include <string.h>

#include "bytes.h"
#include "huffman.h"

/* RUN_BITS: a run and a direct residual are put together, in at most 56 bits. */
enum { HEAD = 4, STREAMS = ZMPI_HUFFMAN_STREAMS, RUN_BITS = 36 };

/* ---- bits ---- */

struct bits {
    uint64_t acc; /* n < 8 bits that are not yet a byte; zeros above */
    unsigned n;
    unsigned char *dst;
};

/* Up to 56 bits; stores 8 bytes. */
static inline void put(struct bits *b, uint64_t value, unsigned n)
{
    b->acc |= value << b->n;
    b->n += n;
    zmpi_store64(b->dst, b->acc);
    b->dst += b->n >> 3;
    b->acc >>= b->n & ~7U;
    b->n &= 7;
}

/* A token: bits, and in the lowest 5 how many; 0: there is none. */
static inline void put_token(struct bits *b, uint32_t token)
{
    put(b, token >> 5, token & 31);
}

/* ---- runs of zeros: the longest symbol that fits and has a code, again and again ---- */

static unsigned run_symbol(size_t run)
{
    if (run >= ZMPI_HUFFMAN_LONGEST_RUN)
        return ZMPI_HUFFMAN_ESCAPE - 1;
    if (run >= 16)
        return ZMPI_HUFFMAN_LONG_RUNS + 27U - (unsigned)__builtin_clz((unsigned)run);
    return run > 1 ? ZMPI_HUFFMAN_RUNS + (unsigned)run - 2 : 16;
}

static size_t run_of(unsigned symbol)
{
    return symbol < ZMPI_HUFFMAN_RUNS ? 1 : zmpi_symbol_run(symbol);
}

static void count_run(size_t run, uint32_t *count)
{
    while (run) {
        unsigned symbol = run_symbol(run);
        count[symbol]++;
        run -= run_of(symbol);
    }
}

static void put_run(const struct zmpi_huffman_encoder *e, struct bits *b, size_t run)
{
    while (run) {
        unsigned symbol = run_symbol(run);
        while (symbol > ZMPI_HUFFMAN_RUNS && !e->symbol[symbol])
            symbol--;
        if (!e->symbol[symbol])
            symbol = 16;
        put_token(b, e->symbol[symbol]);
        run -= run_of(symbol);
    }
}

/* ---- the parts of a chunk ---- */

/* Blocks that have a stream of bits in common. */
struct segment {
    size_t begin, end; /* blocks */
    size_t words;      /* of the chunk */
};

static size_t segment_words(const struct segment *g)
{
    size_t end = g->end * ZMPI_BLOCK;
    return (end < g->words ? end : g->words) - g->begin * ZMPI_BLOCK;
}

/* An fle chunk, which is trusted. */
struct fle {
    size_t head, blocks, padded; /* bytes, number of length bytes, with their padding */
    const unsigned char *lengths;
    size_t exceptions; /* where masks and values begin, in the chunk */
    bool coded;        /* has residuals */
};

static struct fle fle_of(size_t width, size_t words, const unsigned char *chunk)
{
    struct fle f = {.head = HEAD + (chunk[0] == ZMPI_MAP_QUANTIZED ? 2 : 1) * width,
                    .blocks = (words + ZMPI_BLOCK - 1) / ZMPI_BLOCK};
    f.coded = chunk[0] != ZMPI_MAP_STORED && !(chunk[2] & ZMPI_CHUNK_ZERO);
    f.padded = (f.blocks + 3) & ~(size_t)3;
    f.lengths = chunk + f.head;
    f.exceptions = f.head + f.padded;
    for (size_t b = 0; f.coded && b < f.blocks; b++) {
        size_t length = f.lengths[b] & ZMPI_BLOCK_EXCEPTIONS ? f.lengths[b] & 0x3F : f.lengths[b];
        f.exceptions += length ? 4 * (length + 1) : 0;
    }
    return f;
}

/* Small chunks are not worth the sizes of several streams. */
static size_t streams_of(size_t fle_size)
{
    return fle_size >= 1024 ? STREAMS : 1;
}

static struct segment segment_of(const struct fle *f, size_t words, size_t streams, size_t k)
{
    size_t each = (f->blocks + streams - 1) / streams;
    size_t begin = k * each < f->blocks ? k * each : f->blocks;
    size_t end = begin + each < f->blocks ? begin + each : f->blocks;
    return (struct segment){begin, end, words};
}

#define U       uint32_t
#define S       int32_t
#define NAME(x) x##32
#include "huffman_encode_t.h"
#undef U
#undef S
#undef NAME
#define U       uint64_t
#define S       int64_t
#define NAME(x) x##64
#include "huffman_encode_t.h"

void zmpi_huffman_count(size_t width, size_t words, const unsigned char *chunk, size_t size,
                        const struct zmpi_chunk_work *work, uint32_t count[ZMPI_HUFFMAN_SYMBOLS])
{
    uint16_t at[ZMPI_CHUNK_INPUT_BYTES / 4 + 1];
    const struct fle f = fle_of(width, words, chunk);
    const size_t streams = streams_of(size);
    const void *r = work->kept;
    for (size_t k = 0; f.coded && k < streams; k++) {
        const struct segment g = segment_of(&f, words, streams, k);
        if (width == 4)
            count_segment32(r, f.lengths, g, at, count);
        else
            count_segment64(r, f.lengths, g, at, count);
    }
}

/* ---- tables ---- */

static uint32_t token_of(uint64_t bits, unsigned n)
{
    return (uint32_t)bits << 5 | n;
}

void zmpi_huffman_encoder_set(struct zmpi_huffman_encoder *e, const struct zmpi_book *book)
{
    uint16_t code[ZMPI_HUFFMAN_SYMBOLS];
    zmpi_book_codes(book, code);
    e->book = book;
    for (unsigned s = 0; s < ZMPI_HUFFMAN_SYMBOLS; s++)
        e->symbol[s] = token_of(code[s], book->length[s]);
    for (unsigned i = 0; i < 512; i++) {
        unsigned extra, symbol = symbol_of32(i - 256, &extra), length = book->length[symbol];
        uint32_t rest = (i - 256) & ((1U << extra) - 1);
        e->direct[i] = length ? token_of(code[symbol] | rest << length, length + extra) : 0;
    }
    for (unsigned run = 0; run < 32; run++) {
        unsigned char room[64] = {0};
        struct bits b = {0, 0, room};
        put_run(e, &b, run);
        size_t n = 8 * (size_t)(b.dst - room) + b.n;
        e->run[run] = n <= RUN_BITS ? zmpi_load64(room) << 6 | n : 0;
    }
    e->run[0] = 0;
}

/* ---- a chunk ---- */

/* Which blocks have exceptions, and which of those only one value. */
struct marks {
    uint32_t any[ZMPI_CHUNK_INPUT_BYTES / 4 / ZMPI_BLOCK / 32],
        uniform[ZMPI_CHUNK_INPUT_BYTES / 4 / ZMPI_BLOCK / 32];
    size_t words;
};

static struct marks marks_of(const struct fle *f)
{
    struct marks m = {.words = (f->blocks + 31) / 32};
    for (size_t b = 0; b < f->blocks; b++) {
        bool any = f->lengths[b] & ZMPI_BLOCK_EXCEPTIONS;
        m.any[b / 32] |= (uint32_t)any << b % 32;
        m.uniform[b / 32] |= (uint32_t)(any && f->lengths[b] & ZMPI_BLOCK_UNIFORM) << b % 32;
    }
    return m;
}

/* In place: every part moves down, or is written over what was read already. */
static void assemble(const struct fle *f, unsigned number, size_t streams,
                     unsigned char *const part[STREAMS], const size_t bytes[STREAMS],
                     unsigned char *chunk, size_t fle_size, size_t size)
{
    unsigned char *dst = chunk + f->head;
    const struct marks m = marks_of(f);
    const size_t marked = chunk[2] & ZMPI_CHUNK_EXCEPTIONS ? m.words : 0;
    unsigned char *sizes = dst, *end = chunk + size;
    dst += streams > 1 ? 8 : 4;
    memmove(dst + 8 * marked, chunk + f->exceptions, fle_size - f->exceptions);
    memset(sizes, 0, (size_t)(dst - sizes));
    sizes[0] = (unsigned char)number;
    sizes[1] = (unsigned char)streams;
    for (size_t k = 0; k + 1 < streams; k++)
        zmpi_store16(sizes + 2 + 2 * k, (uint16_t)bytes[k]);
    for (size_t i = 0; i < marked; i++) {
        zmpi_store32(dst + 4 * i, m.any[i]);
        zmpi_store32(dst + 4 * (marked + i), m.uniform[i]);
    }
    dst += 8 * marked + (fle_size - f->exceptions);
    for (size_t k = 0; k < streams; k++) {
        memcpy(dst, part[k], bytes[k]);
        dst += bytes[k];
    }
    memset(dst, 0, (size_t)(end - dst));
    chunk[2] |= ZMPI_CHUNK_HUFFMAN;
}

size_t zmpi_huffman_chunk(const struct zmpi_huffman_encoder *e, unsigned number, size_t width,
                          size_t words, unsigned char *chunk, size_t size,
                          struct zmpi_chunk_work *work)
{
    uint16_t at[ZMPI_CHUNK_INPUT_BYTES / 4 + 1];
    const struct fle f = fle_of(width, words, chunk);
    const size_t streams = streams_of(size);
    const void *r = work->kept;
    unsigned char *part[STREAMS];
    size_t bytes[STREAMS];
    if (!f.coded)
        return size;
    size_t coded = f.head + (streams > 1 ? 8 : 4) + (size - f.exceptions);
    if (chunk[2] & ZMPI_CHUNK_EXCEPTIONS)
        coded += 8 * ((f.blocks + 31) / 32);
    for (size_t k = 0; k < streams; k++) {
        const struct segment g = segment_of(&f, words, streams, k);
        part[k] = work->coded + k * (ZMPI_CHUNK_ROOM / STREAMS);
        const unsigned char *end = width == 4 ? put_segment32(e, r, f.lengths, g, at, part[k])
                                              : put_segment64(e, r, f.lengths, g, at, part[k]);
        bytes[k] = (size_t)(end - part[k]);
        coded += bytes[k];
    }
    coded = (coded + 3) & ~(size_t)3;
    if (coded >= size)
        return size;
    assemble(&f, number, streams, part, bytes, chunk, size, coded);
    return coded;
}
