/*
 * huffman_sections.h - codes to bits and back by the books of encoder 2: in sections as large as
 * its chunks, each in its four streams (format.md 1.6), so that one coder, in hardware too, serves
 * all.
 */
#ifndef ZMPI_HUFFMAN_SECTIONS_H
#define ZMPI_HUFFMAN_SECTIONS_H

#include "huffman/huffman_loops.h"

enum {
    ZMPI_SECTION = ZMPI_CHUNK_INPUT_BYTES / 4, /* codes */
    ZMPI_SECTION_SIZES = 2 * ZMPI_HUFFMAN_STREAMS,
    ZMPI_SECTION_BITS = ZMPI_SECTION * 8 /* bytes, at most */
};

struct zmpi_sections {
    int32_t code[ZMPI_SECTION]; /* of the section at hand */
    uint32_t nonzero[ZMPI_SECTION / ZMPI_BLOCK];
    uint32_t count[ZMPI_HUFFMAN_SYMBOLS];
    struct zmpi_book book;
    union {
        struct zmpi_huffman_encoder encoder; /* by the book */
        struct zmpi_huffman_decoder decoder;
    };
    unsigned char bits[ZMPI_SECTION_BITS + ZMPI_HUFFMAN_BEHIND];
};

/* Add the symbols of the n codes at hand to s->count. */
void zmpi_section_count(struct zmpi_sections *s, size_t n);
/* The n codes at hand to `at`; where they end; NULL: not at `end` or before, or at is NULL. */
unsigned char *zmpi_section_put(struct zmpi_sections *s, size_t n, unsigned char *at,
                                const unsigned char *end);
/* s->book to `at`, and ready to encode by it. */
unsigned char *zmpi_section_put_book(struct zmpi_sections *s, unsigned char *at,
                                     const unsigned char *end);
/* Bytes are untrusted. n codes; what follows them, or NULL: they are none. */
const unsigned char *zmpi_section_take(struct zmpi_sections *s, size_t n, const unsigned char *at,
                                       const unsigned char *end);
const unsigned char *zmpi_section_take_book(struct zmpi_sections *s, const unsigned char *at,
                                            const unsigned char *end);

#endif
