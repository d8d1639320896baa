/*
 * flare.h - the profile of encoder 3 that FLARE's hardware makes (format.md 1.6): cubic prediction
 * on three levels, depth first, in blocks of 32^3 that are independent of each other; codes of 8
 * bits; Huffman codes by a book made from the batch before.
 */
#ifndef ZMPI_INTERP_FLARE_H
#define ZMPI_INTERP_FLARE_H

#include "huffman/huffman.h"
#include "interp/interp_work.h"

enum {
    ZMPI_FLARE_BLOCK = 32, /* points of a block along an axis; slices of a batch */
    ZMPI_FLARE_LEVELS = 3,
    ZMPI_FLARE_ANCHORS = 1 << ZMPI_FLARE_LEVELS, /* distance of anchors, in points */
    ZMPI_FLARE_SLICES = 128,                     /* of a chunk, at most */
    ZMPI_FLARE_BATCHES = ZMPI_FLARE_SLICES / ZMPI_FLARE_BLOCK,
    ZMPI_FLARE_ESCAPE = -128,         /* marks a code that does not fit 8 bits; */
    ZMPI_FLARE_ANCHOR_ESCAPE = -32768 /* or 16 bits: its value is among the escapes */
};

/* ---- flare_levels.c: the part that hardware predicts ---- */

/* Codes in the order of prediction. An encoder appends escapes; a decoder reads them. */
struct zmpi_flare_codes {
    signed char *code;
    int16_t *anchor;
    unsigned char *escape;                   /* numbers of 1 to 4 bytes */
    size_t codes, anchors, escapes;          /* escapes: their bytes */
    size_t batches, end[ZMPI_FLARE_BATCHES]; /* codes up to the end of each batch */
    size_t coarse;                           /* codes of the first batch that are not of level 1 */
    size_t most;                             /* decoder: bytes of escapes that exist */
    bool over;                               /* the decoder needed more */
};

/* Anchors of a tile. */
size_t zmpi_flare_anchors(const size_t extent[3]);
/* Fills c->codes, c->batches and their ends for a tile of this shape, without any data. */
void zmpi_flare_plan(const size_t extent[3], struct zmpi_flare_codes *c);
/* Encoder: turns the tile in w->flat into decoded values, and makes its codes c. Decoder: makes the
 * tile from c. */
void zmpi_flare_predict(struct zmpi_interp_work *w, const size_t extent[3],
                        struct zmpi_flare_codes *c);

/* ---- flare_engine.c: hardware for both parts ---- */

struct zmpi_flare_engine {
    /* Turns a tile's integers, row by row, into decoded ones, and writes what zmpi_flare_pack would
     * to dst. Returns its size; 0: it cannot, and the C code does it. Several threads may call it
     * at once. */
    size_t (*encode)(const size_t extent[3], int32_t *value, unsigned char *dst, size_t most);
    /* src is untrusted. False: it cannot, or src is damaged; then the C code decides. */
    bool (*decode)(const size_t extent[3], const unsigned char *src, size_t size, int32_t *value);
};
/* Sets the engine of this process; NULL: none. Nothing may be coded meanwhile. */
void zmpi_flare_use(const struct zmpi_flare_engine *e);

struct zmpi_flare_made {
    int32_t *value;
    unsigned char *bytes;
    size_t size; /* 0: the engine made nothing */
    bool zero;   /* all codes are 0 */
};
bool zmpi_flare_engine_encode(struct zmpi_flare_made *m, struct zmpi_interp_work *w,
                              const size_t extent[3]);
bool zmpi_flare_engine_decode(struct zmpi_interp_work *w, const size_t extent[3],
                              const unsigned char *src, size_t size);
void zmpi_flare_made_free(struct zmpi_flare_made *m);

/* ---- flare_codes.c: the part that hardware codes ---- */

/* The book of a batch, which is made from the counts of the batch before. That of the first
 * batch is an offline one, chosen by the codes that come before its level 1. Returns its number,
 * 0 to 6. */
unsigned zmpi_flare_book(size_t batch, const uint32_t count[ZMPI_HUFFMAN_SYMBOLS],
                         struct zmpi_book *book);

struct zmpi_flare_coder;
/* NULL: no memory. most: elements of a tile. */
struct zmpi_flare_coder *zmpi_flare_coder_new(size_t most, bool encode);
void zmpi_flare_coder_free(struct zmpi_flare_coder *k);

/* Predicts and codes the tile in w->flat. True: all codes are 0. */
bool zmpi_flare_encode(struct zmpi_interp_work *w, const size_t extent[3]);
/* Writes its result to dst and returns the size; 0: it is not below `most` bytes. */
size_t zmpi_flare_pack(struct zmpi_interp_work *w, unsigned char *dst, size_t most);
/* src is untrusted. */
bool zmpi_flare_decode(struct zmpi_interp_work *w, const size_t extent[3], const unsigned char *src,
                       size_t size);

#endif
