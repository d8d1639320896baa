/*
 * flare.h - the profile of encoder 3 that FLARE's hardware makes (format.md 1.6): cubic prediction
 * in blocks of 32^3 that know nothing of each other, on three levels, depth first; codes of 8 bits;
 * Huffman codes by the book of the batch before.
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
    ZMPI_FLARE_ESCAPE = -128,         /* a code of 8 bits, or */
    ZMPI_FLARE_ANCHOR_ESCAPE = -32768 /* of 16, whose value is among the escapes */
};

/* ---- flare_levels.c: what hardware predicts ---- */

/* Codes in the order of prediction. An encoder appends escapes, a decoder takes them. */
struct zmpi_flare_codes {
    signed char *code;
    int16_t *anchor;
    unsigned char *escape;                   /* numbers of 1 to 4 bytes */
    size_t codes, anchors, escapes;          /* escapes: their bytes */
    size_t batches, end[ZMPI_FLARE_BATCHES]; /* codes up to the end of each batch */
    size_t coarse;                           /* codes of the first batch that are not of level 1 */
    size_t most;                             /* decoder: bytes of escapes there are */
    bool over;                               /* more were asked for */
};

/* Anchors of a tile. */
size_t zmpi_flare_anchors(const size_t extent[3]);
/* Codes of a tile: c->codes, c->batches and their ends, without any data. */
void zmpi_flare_plan(const size_t extent[3], struct zmpi_flare_codes *c);
/* The tile in w->flat becomes what a decoder has, and its codes c's; or the other way round. */
void zmpi_flare_predict(struct zmpi_interp_work *w, const size_t extent[3],
                        struct zmpi_flare_codes *c);

/* ---- flare_engine.c: hardware that does both ---- */

struct zmpi_flare_engine {
    /* A tile's integers, row by row, become what a decoder has; what zmpi_flare_pack makes goes to
     * dst. Returns its size; 0: it cannot, and the C does it. From several threads at once. */
    size_t (*encode)(const size_t extent[3], int32_t *value, unsigned char *dst, size_t most);
    /* src is untrusted. False: it cannot, or src is damaged, which the C finds out. */
    bool (*decode)(const size_t extent[3], const unsigned char *src, size_t size, int32_t *value);
};
/* From now on, in this process; NULL: none. Not while something is coded. */
void zmpi_flare_use(const struct zmpi_flare_engine *e);

struct zmpi_flare_made {
    int32_t *value;
    unsigned char *bytes;
    size_t size; /* 0: it made nothing */
    bool zero;   /* all codes are 0 */
};
bool zmpi_flare_engine_encode(struct zmpi_flare_made *m, struct zmpi_interp_work *w,
                              const size_t extent[3]);
bool zmpi_flare_engine_decode(struct zmpi_interp_work *w, const size_t extent[3],
                              const unsigned char *src, size_t size);
void zmpi_flare_made_free(struct zmpi_flare_made *m);

/* ---- flare_codes.c: what hardware codes ---- */

/* The book of a batch: of the first one, counts are of the codes that come before its level 1, and
 * the book is an offline one; of others they are of the batch before. Returns its number, 0 to 6.
 */
unsigned zmpi_flare_book(size_t batch, const uint32_t count[ZMPI_HUFFMAN_SYMBOLS],
                         struct zmpi_book *book);

struct zmpi_flare_coder;
/* NULL: no memory. most: elements of a tile. */
struct zmpi_flare_coder *zmpi_flare_coder_new(size_t most, bool encode);
void zmpi_flare_coder_free(struct zmpi_flare_coder *k);

/* Predict and code the tile in w->flat. True: all codes are 0. */
bool zmpi_flare_encode(struct zmpi_interp_work *w, const size_t extent[3]);
/* What it made to dst; returns the size; 0: not below `most` bytes. */
size_t zmpi_flare_pack(struct zmpi_interp_work *w, unsigned char *dst, size_t most);
/* src is untrusted. */
bool zmpi_flare_decode(struct zmpi_interp_work *w, const size_t extent[3], const unsigned char *src,
                       size_t size);

#endif
