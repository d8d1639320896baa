/* flare_codes.c - codes of 8 bits to bits and back, batch by batch (format.md 1.6). */
#include <stdlib.h>
#include <string.h>

#include "interp/flare/flare.h"
#include "huffman/huffman_sections.h"

enum { OWN = ZMPI_HUFFMAN_OFFLINE /* number of a batch's own book */ };

struct zmpi_flare_coder {
    struct zmpi_flare_codes codes;
    struct zmpi_flare_made made;
    struct zmpi_sections sections;
};

void zmpi_flare_coder_free(struct zmpi_flare_coder *k)
{
    if (!k)
        return;
    free(k->codes.code);
    free(k->codes.anchor);
    free(k->codes.escape);
    zmpi_flare_made_free(&k->made);
    free(k);
}

struct zmpi_flare_coder *zmpi_flare_coder_new(size_t most, bool encode)
{
    struct zmpi_flare_coder *k = calloc(1, sizeof *k);
    if (!k)
        return NULL;
    k->codes.code = malloc(most);
    k->codes.anchor = malloc(most * sizeof *k->codes.anchor); /* all points, if axes are short */
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
    if (zmpi_flare_engine_encode(&w->flare->made, w, extent))
        return w->flare->made.zero;
    zmpi_flare_predict(w, extent, c);
    for (size_t i = 0; i < c->codes; i++)
        any |= (unsigned char)c->code[i];
    for (size_t i = 0; i < c->anchors; i++)
        any |= (unsigned)(uint16_t)c->anchor[i];
    return !any;
}

/* Loads the codes of the section that begins at `from`; returns their number. */
static size_t load_section(struct zmpi_flare_coder *k, size_t from, size_t end)
{
    const size_t n = end - from < ZMPI_SECTION ? end - from : ZMPI_SECTION;
    for (size_t i = 0; i < n; i++)
        k->sections.code[i] = k->codes.code[from + i];
    return n;
}

/* Counts the symbols of codes [from, end). */
static void count(struct zmpi_flare_coder *k, size_t from, size_t end)
{
    memset(k->sections.count, 0, sizeof k->sections.count);
    for (; from < end; from += ZMPI_SECTION)
        zmpi_section_count(&k->sections, load_section(k, from, end));
}

unsigned zmpi_flare_book(size_t batch, const uint32_t count[ZMPI_HUFFMAN_SYMBOLS],
                         struct zmpi_book *book)
{
    unsigned best = 0;
    uint64_t least = UINT64_MAX;
    if (batch) {
        zmpi_book_train(count, 2, true, ZMPI_SORT_EXACT, book);
        return OWN;
    }
    for (unsigned i = 0; i < OWN; i++) {
        const uint64_t cost = zmpi_book_cost(zmpi_book_offline(i), 4, count);
        best = cost < least ? i : best;
        least = cost < least ? cost : least;
    }
    *book = *zmpi_book_offline(best);
    return best;
}

/* The book of batch b: an offline one, or one that fits the batch before. */
static unsigned char *put_book(struct zmpi_flare_coder *k, size_t b, unsigned char *at,
                               const unsigned char *end)
{
    const struct zmpi_flare_codes *c = &k->codes;
    struct zmpi_sections *s = &k->sections;
    const size_t from = b > 1 ? c->end[b - 2] : 0;
    if (at == end)
        return NULL;
    count(k, from, b ? c->end[b - 1] : c->coarse);
    const unsigned number = zmpi_flare_book(b, s->count, &s->book);
    *at++ = (unsigned char)number;
    if (number == OWN)
        return zmpi_section_put_book(s, at, end);
    zmpi_huffman_encoder_set(&s->encoder, &s->book);
    return at;
}

size_t zmpi_flare_pack(struct zmpi_interp_work *w, unsigned char *dst, size_t most)
{
    struct zmpi_flare_coder *k = w->flare;
    const struct zmpi_flare_codes *c = &k->codes;
    unsigned char *at = dst, *end = dst + most;
    if (k->made.size > most)
        return 0;
    if (k->made.size)
        memcpy(dst, k->made.bytes, k->made.size);
    if (k->made.size)
        return k->made.size;
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
            at = zmpi_section_put(&k->sections, n, at, end);
        }
    }
    return at ? (size_t)(at - dst) : 0;
}

/* ---- decoder ---- */

static const unsigned char *take_book(struct zmpi_flare_coder *k, const unsigned char *at,
                                      const unsigned char *end)
{
    struct zmpi_sections *s = &k->sections;
    if (at == end || *at > OWN)
        return NULL;
    const unsigned number = *at++;
    if (number == OWN)
        return zmpi_section_take_book(s, at, end);
    s->book = *zmpi_book_offline(number);
    zmpi_huffman_decoder_set(&s->decoder, &s->book);
    return at;
}

static const unsigned char *take_section(struct zmpi_flare_coder *k, size_t n,
                                         const unsigned char *at, const unsigned char *end,
                                         signed char *code)
{
    at = zmpi_section_take(&k->sections, n, at, end);
    for (size_t i = 0; i < n && at; i++) {
        code[i] = (signed char)k->sections.code[i];
        if (code[i] != k->sections.code[i])
            return NULL;
    }
    return at;
}

/* Decodes the codes of all batches; NULL: they are damaged. */
static const unsigned char *take_batches(struct zmpi_flare_coder *k, const unsigned char *at,
                                         const unsigned char *end)
{
    const struct zmpi_flare_codes *c = &k->codes;
    for (size_t b = 0, from = 0; b < c->batches; b++) {
        if (!(at = take_book(k, at, end)))
            return NULL;
        while (from < c->end[b]) {
            const size_t left = c->end[b] - from, n = left < ZMPI_SECTION ? left : ZMPI_SECTION;
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
    if (zmpi_flare_engine_decode(w, extent, src, size))
        return true;
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
