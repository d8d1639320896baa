/* huffman_encode.c - an fle chunk to one of encoder 2 (format.md 1.4, 4.8). */
#include <string.h>

#include "bytes.h"
#include "huffman_loops.h"
#include "kernels.h"

/* NONE: the token that there is none. RUN_BITS: a run and a direct residual fit 56 bits. */
enum {
    HEAD = 4,
    STREAMS = ZMPI_HUFFMAN_STREAMS,
    NONE = 63,
    RUN_BITS = 36,
    DIRECT = ZMPI_HUFFMAN_DIRECT
};

/* ---- bits ---- */

static void put_token(struct zmpi_bits *b, uint32_t token)
{
    zmpi_put(b, token >> 6, token & 63);
}

void zmpi_put_run(const struct zmpi_huffman_encoder *e, struct zmpi_bits *b, size_t run)
{
    while (run) {
        unsigned symbol = zmpi_run_symbol(run);
        while (symbol > ZMPI_HUFFMAN_RUNS && !e->symbol[symbol])
            symbol--;
        if (!e->symbol[symbol])
            symbol = ZMPI_ZERO_SYMBOL;
        put_token(b, e->symbol[symbol]);
        run -= zmpi_run_length(symbol);
    }
}

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
    struct fle f = {.head = HEAD + (chunk[0] == ZMPI_MAP_QUANTIZED ? 2 : 1) * width,
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
        unsigned char room[64] = {0};
        struct zmpi_bits b = {0, 0, room};
        zmpi_put_run(e, &b, run);
        size_t n = 8 * (size_t)(b.dst - room) + b.n;
        e->run[run] = n <= RUN_BITS ? zmpi_load64(room) << 6 | n : NONE;
    }
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
    struct marks m = {.words = f->marked ? (f->blocks + 31) / 32 : 0};
    for (size_t b = 0; f->marked && b < f->blocks; b++) {
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
    unsigned char *sizes = dst, *end = chunk + size;
    dst += streams > 1 ? 8 : 4;
    memmove(dst + 8 * m.words, chunk + f->exceptions, fle_size - f->exceptions);
    memset(sizes, 0, (size_t)(dst - sizes));
    sizes[0] = (unsigned char)number;
    sizes[1] = (unsigned char)streams;
    for (size_t k = 0; k + 1 < streams; k++)
        zmpi_store16(sizes + 2 + 2 * k, (uint16_t)bytes[k]);
    for (size_t i = 0; i < m.words; i++) {
        zmpi_store32(dst + 4 * i, m.any[i]);
        zmpi_store32(dst + 4 * (m.words + i), m.uniform[i]);
    }
    dst += 8 * m.words + (fle_size - f->exceptions);
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
    const struct zmpi_huffman_encode_loops *loops = zmpi_kernels()->huffman_encode;
    const struct fle f = fle_of(width, words, chunk, size);
    const size_t streams = streams_of(size);
    unsigned char *part[STREAMS];
    size_t bytes[STREAMS];
    if (!f.coded)
        return size;
    size_t coded = f.head + (streams > 1 ? 8 : 4) + (size - f.exceptions);
    if (f.marked)
        coded += 8 * ((f.blocks + 31) / 32);
    for (size_t k = 0; k < streams; k++) {
        const struct zmpi_segment g = segment_of(&f, words, streams, k);
        part[k] = work->coded + k * (ZMPI_CHUNK_ROOM / STREAMS);
        const unsigned char *end =
            (width == 4 ? loops->put32 : loops->put64)(e, work->kept, work->nonzero, g, part[k]);
        bytes[k] = (size_t)(end - part[k]);
        coded += bytes[k];
    }
    coded = (coded + 3) & ~(size_t)3;
    if (coded >= size)
        return size;
    assemble(&f, number, streams, part, bytes, chunk, size, coded);
    return coded;
}
