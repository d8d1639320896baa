/*
 * flare_codes.c - codes of 8 bits to bits and back (format.md 1.6): in sections as large as chunks
 * of encoder 2, each in its four streams, so that one coder in hardware serves both.
 */
#include <stdlib.h>
#include <string.h>

#include "huffman/huffman_loops.h"
#include "interp/flare.h"

enum {
    SECTION = ZMPI_CHUNK_INPUT_BYTES / 4,
    STREAMS = ZMPI_HUFFMAN_STREAMS,
    OWN = ZMPI_HUFFMAN_OFFLINE, /* number of a batch's own book */
    SIZES = 2 * STREAMS
};

struct zmpi_flare_coder {
    struct zmpi_flare_codes codes;
    int32_t section[SECTION];
    uint32_t nonzero[SECTION / ZMPI_BLOCK];
    uint32_t count[ZMPI_HUFFMAN_SYMBOLS];
    struct zmpi_book book;
    union {
        struct zmpi_huffman_encoder encoder;
        struct zmpi_huffman_decoder decoder;
    };
    unsigned char bits[SECTION * 8 + ZMPI_HUFFMAN_BEHIND]; /* of a section */
};

void zmpi_flare_coder_free(struct zmpi_flare_coder *k)
{
    if (!k)
        return;
    free(k->codes.code);
    free(k->codes.anchor);
    free(k->codes.escape);
    free(k);
}

struct zmpi_flare_coder *zmpi_flare_coder_new(size_t most, bool encode)
{
    struct zmpi_flare_coder *k = calloc(1, sizeof *k);
    if (!k)
        return NULL;
    k->codes.code = malloc(most);
    k->codes.anchor = malloc(most * sizeof *k->codes.anchor); /* all are, where axes are short */
    k->codes.escape = encode ? malloc(4 * most) : NULL;
    if (k->codes.code && k->codes.anchor && (k->codes.escape || !encode))
        return k;
    zmpi_flare_coder_free(k);
    return NULL;
}

/* ---- encoder ---- */

bool zmpi_flare_encode(struct zmpi_interp_work *w, const size_t extent[3])
{
    struct zmpi_flare_codes *c = &w->flare->codes;
    unsigned any = 0;
    zmpi_flare_predict(w, extent, c);
    for (size_t i = 0; i < c->codes; i++)
        any |= (unsigned char)c->code[i];
    for (size_t i = 0; i < c->anchors; i++)
        any |= (unsigned)(uint16_t)c->anchor[i];
    return !any;
}

/* Codes as residuals, and which are not 0; returns how many. */
static size_t load_section(struct zmpi_flare_coder *k, size_t from, size_t end)
{
    const size_t n = end - from < SECTION ? end - from : SECTION;
    memset(k->nonzero, 0, sizeof k->nonzero);
    for (size_t i = 0; i < n; i++) {
        k->section[i] = k->codes.code[from + i];
        k->nonzero[i / ZMPI_BLOCK] |= (uint32_t)(k->section[i] != 0) << i % ZMPI_BLOCK;
    }
    return n;
}

static struct zmpi_segment segment_of(size_t words, size_t stream)
{
    const size_t blocks = (words + ZMPI_BLOCK - 1) / ZMPI_BLOCK;
    const size_t each = (blocks + STREAMS - 1) / STREAMS, begin = stream * each;
    const size_t end = begin + each;
    return (struct zmpi_segment){begin < blocks ? begin : blocks, end < blocks ? end : blocks,
                                 words};
}

/* The symbols of codes [from, end). */
static void count(struct zmpi_flare_coder *k, size_t from, size_t end)
{
    memset(k->count, 0, sizeof k->count);
    for (; from < end; from += SECTION) {
        const size_t n = load_section(k, from, end);
        for (size_t s = 0; s < STREAMS; s++)
            zmpi_kernels()->huffman_encode->count32(k->section, k->nonzero, segment_of(n, s),
                                                    k->count);
    }
}

/* Of the books that all have, what is cheapest for the codes that a batch begins with: those of the
 * coarse levels. */
static unsigned offline_book(struct zmpi_flare_coder *k)
{
    unsigned best = 0;
    uint64_t least = UINT64_MAX;
    count(k, 0, k->codes.coarse);
    for (unsigned i = 0; i < OWN; i++) {
        const uint64_t cost = zmpi_book_cost(zmpi_book_offline(i), 4, k->count);
        best = cost < least ? i : best;
        least = cost < least ? cost : least;
    }
    return best;
}

/* From k->bits, if there is room; NULL: there is none. */
static unsigned char *move(const struct zmpi_flare_coder *k, size_t size, unsigned char *at,
                           const unsigned char *end)
{
    if (!at || (size_t)(end - at) < size)
        return NULL;
    memcpy(at, k->bits, size);
    return at + size;
}

/* The book of batch b: offline, or what fits the batch before. */
static unsigned char *put_book(struct zmpi_flare_coder *k, size_t b, unsigned char *at,
                               const unsigned char *end)
{
    const struct zmpi_flare_codes *c = &k->codes;
    const unsigned number = b ? OWN : offline_book(k);
    size_t size = 1;
    k->bits[0] = (unsigned char)number;
    if (b) {
        count(k, b > 1 ? c->end[b - 2] : 0, c->end[b - 1]);
        zmpi_book_train(k->count, 2, true, ZMPI_SORT_EXACT, &k->book);
        size += zmpi_book_store(&k->book, k->bits + 1);
    } else {
        k->book = *zmpi_book_offline(number);
    }
    zmpi_huffman_encoder_set(&k->encoder, &k->book);
    return move(k, size, at, end);
}

static unsigned char *put_section(struct zmpi_flare_coder *k, size_t words, unsigned char *at,
                                  const unsigned char *end)
{
    unsigned char *to = k->bits + SIZES;
    for (size_t s = 0; s < STREAMS; s++) {
        unsigned char *next = zmpi_kernels()->huffman_encode->put32(
            &k->encoder, k->section, k->nonzero, segment_of(words, s), to);
        zmpi_store16(k->bits + 2 * s, (uint16_t)(next - to));
        to = next;
    }
    return move(k, (size_t)(to - k->bits), at, end);
}

size_t zmpi_flare_pack(struct zmpi_interp_work *w, unsigned char *dst, size_t most)
{
    struct zmpi_flare_coder *k = w->flare;
    const struct zmpi_flare_codes *c = &k->codes;
    unsigned char *at = dst, *end = dst + most;
    if (most < 4 + c->escapes + 2 * c->anchors)
        return 0;
    zmpi_store32(at, (uint32_t)c->escapes);
    memcpy(at + 4, c->escape, c->escapes);
    at += 4 + c->escapes;
    for (size_t i = 0; i < c->anchors; i++, at += 2)
        zmpi_store16(at, (uint16_t)c->anchor[i]);
    for (size_t b = 0, from = 0; b < c->batches && at; b++) {
        at = put_book(k, b, at, end);
        for (size_t n; from < c->end[b] && at; from += n) {
            n = load_section(k, from, c->end[b]);
            at = put_section(k, n, at, end);
        }
    }
    return at ? (size_t)(at - dst) : 0;
}

/* ---- decoder ---- */

static const unsigned char *take_book(struct zmpi_flare_coder *k, const unsigned char *at,
                                      const unsigned char *end)
{
    if (at == end || *at > OWN)
        return NULL;
    const unsigned number = *at++;
    if (number == OWN) {
        const size_t size = zmpi_book_load(&k->book, at, (size_t)(end - at));
        if (!size)
            return NULL;
        at += size;
    } else {
        k->book = *zmpi_book_offline(number);
    }
    zmpi_huffman_decoder_set(&k->decoder, &k->book);
    return at;
}

static const unsigned char *take_section(struct zmpi_flare_coder *k, size_t words,
                                         const unsigned char *at, const unsigned char *end,
                                         signed char *code)
{
    size_t from[STREAMS + 1] = {0};
    if (end - at < SIZES)
        return NULL;
    for (size_t s = 0; s < STREAMS; s++)
        from[s + 1] = from[s] + zmpi_load16(at + 2 * s);
    const size_t bytes = from[STREAMS];
    at += SIZES;
    if (bytes > SECTION * 8 || (size_t)(end - at) < bytes)
        return NULL;
    memcpy(k->bits, at, bytes);
    memset(k->bits + bytes, 0, ZMPI_HUFFMAN_LOOKED);
    if (!zmpi_huffman_residuals(&k->decoder, k->bits, from, STREAMS, words, 4, k->section))
        return NULL;
    for (size_t i = 0; i < words; i++) {
        code[i] = (signed char)k->section[i];
        if (code[i] != k->section[i])
            return NULL;
    }
    return at + bytes;
}

/* Codes of all batches; NULL: they are none. */
static const unsigned char *take_batches(struct zmpi_flare_coder *k, const unsigned char *at,
                                         const unsigned char *end)
{
    const struct zmpi_flare_codes *c = &k->codes;
    for (size_t b = 0, from = 0; b < c->batches; b++) {
        if (!(at = take_book(k, at, end)))
            return NULL;
        while (from < c->end[b]) {
            const size_t left = c->end[b] - from, n = left < SECTION ? left : SECTION;
            if (!(at = take_section(k, n, at, end, c->code + from)))
                return NULL;
            from += n;
        }
    }
    return at;
}

bool zmpi_flare_decode(struct zmpi_interp_work *w, const size_t extent[3], const unsigned char *src,
                       size_t size)
{
    struct zmpi_flare_coder *k = w->flare;
    struct zmpi_flare_codes *c = &k->codes;
    const unsigned char *at = src, *end = src + size;
    const size_t anchors = zmpi_flare_anchors(extent);
    zmpi_flare_plan(extent, c);
    if (size < 4)
        return false;
    c->most = zmpi_load32(at);
    c->over = false;
    at += 4;
    if ((size_t)(end - at) < c->most || (size_t)(end - at) - c->most < 2 * anchors)
        return false;
    c->escape = (unsigned char *)at; /* only read */
    at += c->most;
    for (size_t i = 0; i < anchors; i++, at += 2)
        c->anchor[i] = (int16_t)zmpi_load16(at);
    at = take_batches(k, at, end);
    if (at && end - at <= 3) {
        for (; at < end; at++)
            c->over |= *at != 0;
        zmpi_flare_predict(w, extent, c);
    }
    c->escape = NULL;
    return at == end && !c->over && c->escapes == c->most;
}
