/* huffman_sections.c - see huffman_sections.h. */
#include "huffman/huffman_sections.h"

#include <string.h>

enum { STREAMS = ZMPI_HUFFMAN_STREAMS, SIZES = ZMPI_SECTION_SIZES };

static struct zmpi_segment segment_of(size_t words, size_t stream)
{
    const size_t blocks = (words + ZMPI_BLOCK - 1) / ZMPI_BLOCK;
    const size_t each = (blocks + STREAMS - 1) / STREAMS, begin = stream * each;
    const size_t end = begin + each;
    return (struct zmpi_segment){begin < blocks ? begin : blocks, end < blocks ? end : blocks,
                                 words};
}

static void mark(struct zmpi_sections *s, size_t n)
{
    memset(s->nonzero, 0, sizeof s->nonzero);
    for (size_t i = 0; i < n; i++)
        s->nonzero[i / ZMPI_BLOCK] |= (uint32_t)(s->code[i] != 0) << i % ZMPI_BLOCK;
}

void zmpi_section_count(struct zmpi_sections *s, size_t n)
{
    mark(s, n);
    for (size_t k = 0; k < STREAMS; k++)
        zmpi_kernels()->huffman_encode->count32(s->code, s->nonzero, segment_of(n, k), s->count);
}

/* From s->bits, if there is room. */
static unsigned char *move(const struct zmpi_sections *s, size_t size, unsigned char *at,
                           const unsigned char *end)
{
    if (!at || (size_t)(end - at) < size)
        return NULL;
    memcpy(at, s->bits, size);
    return at + size;
}

unsigned char *zmpi_section_put(struct zmpi_sections *s, size_t n, unsigned char *at,
                                const unsigned char *end)
{
    unsigned char *to = s->bits + SIZES;
    mark(s, n);
    for (size_t k = 0; k < STREAMS; k++) {
        unsigned char *next = zmpi_kernels()->huffman_encode->put32(
            &s->encoder, s->code, s->nonzero, segment_of(n, k), to);
        zmpi_store16(s->bits + 2 * k, (uint16_t)(next - to));
        to = next;
    }
    return move(s, (size_t)(to - s->bits), at, end);
}

unsigned char *zmpi_section_put_book(struct zmpi_sections *s, unsigned char *at,
                                     const unsigned char *end)
{
    zmpi_huffman_encoder_set(&s->encoder, &s->book);
    return move(s, zmpi_book_store(&s->book, s->bits), at, end);
}

const unsigned char *zmpi_section_take(struct zmpi_sections *s, size_t n, const unsigned char *at,
                                       const unsigned char *end)
{
    size_t from[STREAMS + 1] = {0};
    if (end - at < SIZES)
        return NULL;
    for (size_t k = 0; k < STREAMS; k++)
        from[k + 1] = from[k] + zmpi_load16(at + 2 * k);
    const size_t bytes = from[STREAMS];
    at += SIZES;
    if (bytes > ZMPI_SECTION_BITS || (size_t)(end - at) < bytes)
        return NULL;
    memcpy(s->bits, at, bytes);
    memset(s->bits + bytes, 0, ZMPI_HUFFMAN_LOOKED);
    if (!zmpi_huffman_residuals(&s->decoder, s->bits, from, STREAMS, n, 4, s->code))
        return NULL;
    return at + bytes;
}

const unsigned char *zmpi_section_take_book(struct zmpi_sections *s, const unsigned char *at,
                                            const unsigned char *end)
{
    const size_t size = zmpi_book_load(&s->book, at, (size_t)(end - at));
    if (!size)
        return NULL;
    zmpi_huffman_decoder_set(&s->decoder, &s->book);
    return at + size;
}
