/* flare_sections.c - the sections of a coded chunk, as our RTL's decoder takes them (format.md
 * 1.6). */
#include "flare_model.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "huffman/huffman_loops.h"
#include "interp/flare/flare.h"

enum { SECTION = 8192, STREAMS = 4 };

/* Symbols that a stream's codes are. */
static uint64_t count_symbols(const struct zmpi_huffman_decoder *d, const unsigned char *at,
                              size_t size, size_t codes)
{
    uint64_t symbols = 0;
    for (size_t bit = 0, got = 0; got < codes; symbols++) {
        uint64_t w = 0;
        for (size_t i = 0; i < 8 && bit / 8 + i < size; i++)
            w |= (uint64_t)at[bit / 8 + i] << 8 * i;
        const unsigned s = d->symbol[(w >> bit % 8) % ZMPI_HUFFMAN_TABLE];
        const bool run = s >= 976 && s != 997;
        bit += d->length[s] + (s < 32 || run ? 0u : s == 997 ? 32u : (s - 32) / 16 + 1);
        got += !run ? 1 : s < 990 ? s - 974 : (size_t)16 << (s - 990);
    }
    return symbols;
}

/* The section of so many codes at `at`; returns its end. */
static const unsigned char *take_section(const struct zmpi_huffman_decoder *d,
                                         const unsigned char *at, size_t codes,
                                         struct flare_section *section)
{
    const size_t each = ((codes + 31) / 32 + STREAMS - 1) / STREAMS * 32;
    const unsigned char *stream = at + 2 * STREAMS;
    for (size_t k = 0; k < STREAMS; k++) {
        const size_t size = zmpi_load16(at + 2 * k), begin = k * each;
        const size_t own = begin >= codes ? 0 : codes - begin < each ? codes - begin : each;
        section->stream[k] =
            (struct flare_stream){own, count_symbols(d, stream, size, own), (size + 7) / 8};
        stream += size;
    }
    return stream;
}

size_t flare_sections(const size_t extent[3], const unsigned char *bytes,
                      struct flare_section *section)
{
    struct zmpi_huffman_decoder *d = calloc(1, sizeof *d);
    struct zmpi_flare_codes c = {0};
    struct zmpi_book book;
    size_t n = 0;
    if (!d)
        return 0;
    zmpi_flare_plan(extent, &c);
    bytes += 4 + zmpi_load32(bytes) + 2 * zmpi_flare_anchors(extent);
    for (size_t b = 0, from = 0; b < c.batches; b++) {
        const unsigned number = *bytes++;
        if (number == ZMPI_HUFFMAN_OFFLINE)
            bytes += zmpi_book_load(&book, bytes, ZMPI_HUFFMAN_BOOK_MAX);
        else
            book = *zmpi_book_offline(number);
        zmpi_huffman_decoder_set(d, &book);
        for (bool first = true; from < c.end[b]; first = false, n++) {
            const size_t codes = c.end[b] - from < SECTION ? c.end[b] - from : SECTION;
            section[n].begins_batch = first;
            bytes = take_section(d, bytes, codes, &section[n]);
            from += codes;
        }
    }
    free(d);
    return n;
}
