/*
 * chunk.h - one chunk of at most 32 KiB, from words to bytes and back (format.md 1.2, 4.4 to 4.6).
 *
 * This is the scalar reference: chunk32.c and chunk64.c are the same template for 4- and 8-byte
 * words.
 */
#ifndef ZMPI_CHUNK_H
#define ZMPI_CHUNK_H

#include "layout/stream.h"

#define ZMPI_STEP_LEVELS 3

enum zmpi_map { ZMPI_MAP_QUANTIZED = 0, ZMPI_MAP_INTEGER = 1, ZMPI_MAP_STORED = 2 };
enum zmpi_axis { ZMPI_AXIS_X = 1, ZMPI_AXIS_Y = 2, ZMPI_AXIS_Z = 4 };
enum zmpi_chunk_flag {
    ZMPI_CHUNK_ZERO = 1,
    ZMPI_CHUNK_EXCEPTIONS = 2,
    /* Flags of encoder 2 (format.md 1.4): codes; one value for all exceptions; a base of 4 bytes.
     */
    ZMPI_CHUNK_HUFFMAN = 4,
    ZMPI_CHUNK_ONCE = 8,
    ZMPI_CHUNK_NARROW = 16
};
/* Bits of a length byte. */
enum { ZMPI_BLOCK_EXCEPTIONS = 0x80, ZMPI_BLOCK_UNIFORM = 0x40 };

/* Steps to choose from, coarsest first (format.md 4.4). All numbers are exact in the element type.
 */
struct zmpi_step {
    double step, inverse;
    double limit; /* largest magnitude that may be quantized */
    /* A power of two: values that round to integers of at most this magnitude lie within the limit
     * (others may, too); or 0. */
    double window;
    double margin; /* even: the middle of as many integers may be so far from 0 */
    int bits;      /* of the step: what the level is called in a stream */
};

struct zmpi_chunk_rule {
    bool is_float;
    double abs_bound; /* 0: lossless, unless there is a shift */
    unsigned axes;    /* along which to take differences, where a tile is not flat */
    int levels;       /* usable entries of level[] */
    struct zmpi_step level[ZMPI_STEP_LEVELS];
    unsigned shift;      /* lowest bits of a magnitude that may be dropped (4.7); 0: none */
    uint64_t magnitudes; /* magnitudes below this one, as bits, may lose them */
};

/* Without axes. */
void zmpi_chunk_rule_make(struct zmpi_chunk_rule *rule, enum zmpi_type type, double abs_bound,
                          double keep);
/* The rule for multiples of `unit`, a power of two that is not below abs_bound: its only step.
 * False: there are no such steps. */
bool zmpi_chunk_rule_unit(struct zmpi_chunk_rule *rule, enum zmpi_type type, double abs_bound,
                          double unit, double keep);
/* The rule for the pointwise relative bound r. */
void zmpi_chunk_rule_relative(struct zmpi_chunk_rule *rule, enum zmpi_type type, double r,
                              double keep);
/* The shift that r allows. */
unsigned zmpi_shift_of(enum zmpi_type type, double r);

/* Where the rows of a tile begin in an array: row y of plane z at `at + z * plane + y * row`, in
 * bytes. */
struct zmpi_rows {
    unsigned char *at; /* an encoder only reads */
    size_t row, plane;
    /* Encoder: the next tile, which is prefetched meanwhile; or NULL. */
    const unsigned char *next;
    /* The array fits no cache. A decoder then stores past the caches. The caller puts such stores
     * in order before another thread reads: a fence for each chunk would wait for memory each time.
     */
    bool stream;
};

/* Arrays of at least this size. */
#define ZMPI_STREAM_BYTES ((size_t)8 << 20)

/* Bytes of zeros in front of the integers, for what lies before the first row and plane; and bytes
 * behind them that vector loads may touch. */
#define ZMPI_CHUNK_BEFORE (ZMPI_CHUNK_INPUT_BYTES + 256)
#define ZMPI_CHUNK_BEHIND 512
/* Bytes that an encoder needs: planes, lengths and exceptions at their worst, before it knows that
 * the chunk is small enough. */
#define ZMPI_CHUNK_CAPACITY (3 * ZMPI_CHUNK_INPUT_BYTES)

/* Which elements of a chunk of this shape have a neighbour before them in their row, and a row
 * above: one mask per block. */
struct zmpi_chunk_edges {
    size_t extent[3];
    unsigned axes; /* along which that is known */
    uint32_t left[ZMPI_CHUNK_INPUT_BYTES / 4 / ZMPI_BLOCK];
    uint32_t above[ZMPI_CHUNK_INPUT_BYTES / 4 / ZMPI_BLOCK];
};

/* Buffers for one chunk, reused from chunk to chunk; one per thread. */
struct zmpi_chunk_work {
    /* The chunk's elements; quantized or ordered integers; differences of these; a row of sums, or
     * of integers; a row outside the chunk. */
    _Alignas(64) unsigned char words[ZMPI_CHUNK_INPUT_BYTES + ZMPI_CHUNK_BEHIND];
    _Alignas(
        64) unsigned char integers[ZMPI_CHUNK_BEFORE + ZMPI_CHUNK_INPUT_BYTES + ZMPI_CHUNK_BEHIND];
    _Alignas(64) unsigned char residuals[ZMPI_CHUNK_INPUT_BYTES + ZMPI_CHUNK_BEHIND];
    _Alignas(64) unsigned char sums[ZMPI_CHUNK_INPUT_BYTES + ZMPI_CHUNK_BEHIND];
    _Alignas(64) unsigned char bases[ZMPI_CHUNK_INPUT_BYTES + ZMPI_CHUNK_BEHIND];
    /* Decoders: residuals that rows have not taken yet. Encoders: values of exceptions. */
    _Alignas(64) unsigned char ahead[ZMPI_CHUNK_INPUT_BYTES + ZMPI_CHUNK_BEHIND];
    /* One mask per block, or one for each block that has exceptions; vector loads may read behind
     * the last. */
    uint32_t exception[ZMPI_CHUNK_INPUT_BYTES / 4 / ZMPI_BLOCK + 1];
    unsigned char marks[ZMPI_CHUNK_INPUT_BYTES / 4 / ZMPI_BLOCK];
    struct zmpi_chunk_edges edges;
    int level;   /* level of the last chunk's step, or -1: a guess, for speed alone */
    bool masked; /* another guess: there are exceptions */
    bool filled; /* another guess: if so, all are this word */
    /* Another guess: in how many of the next chunks integers are too far apart for 16 bits; and how
     * many chunks that were. */
    unsigned char apart, apart_run;
    uint64_t fill;
    bool cached; /* another guess: encoders' words are in the second-level cache */
    bool keep;   /* encoders store the residuals in kept[] too, and in nonzero[] which of each block
                    are not 0 */
    bool given;  /* decoders find the residuals in residuals[], and the chunk has no planes */
    unsigned char
        far; /* decoders, a guess: in how many of the next chunks integers are far from the base */
    uint32_t nonzero[ZMPI_CHUNK_INPUT_BYTES / 4 / ZMPI_BLOCK];
    _Alignas(64) unsigned char kept[ZMPI_CHUNK_INPUT_BYTES + ZMPI_CHUNK_BEHIND];
    /* Decoders: exceptions in their places. Not in kept[]: an encoder may decode before it codes
     * what is there. */
    _Alignas(64) unsigned char patches[ZMPI_CHUNK_INPUT_BYTES + ZMPI_CHUNK_BEHIND];
    _Alignas(64) unsigned char coded[ZMPI_CHUNK_CAPACITY];
};

/* Prepares fresh memory. Small arrays do not wait for zeros that nothing reads. It clears, in
 * front, as many bytes as planes have, for the plane before the first; and right before the
 * integers as many as encoders look back, a row and a plane where there are several planes. */
void zmpi_chunk_work_init(struct zmpi_chunk_work *work, size_t plane, size_t before);
/* free() it. NULL: no memory. */
struct zmpi_chunk_work *zmpi_chunk_work_for(size_t plane, size_t before);
struct zmpi_chunk_work *zmpi_chunk_work_new(void); /* for any tile */

/*
 * Encode the tile `src` of extent[] words to dst, which has room for ZMPI_CHUNK_CAPACITY bytes;
 * returns the size, at most ZMPI_CHUNK_CODED_MAX. All kernels write the same bytes.
 */
typedef size_t zmpi_chunk_encode_fn(const struct zmpi_chunk_rule *rule, const size_t extent[3],
                                    const struct zmpi_rows *src, unsigned char *dst,
                                    struct zmpi_chunk_work *work);

/*
 * Decode the `size` bytes at src to the tile `dst`. Never reads outside src, nor writes outside the
 * tile; on error the tile's contents are undefined.
 */
typedef enum zmpi_status zmpi_chunk_decode_fn(bool is_float, const size_t extent[3],
                                              const unsigned char *src, size_t size,
                                              const struct zmpi_rows *dst,
                                              struct zmpi_chunk_work *work);

/*
 * Adds to cost[] what one block of a tile would cost under each set of axes (format.md 4.6).
 * False: the block tells nothing. position: where in the tile, in 1/65536 of its blocks.
 */
typedef bool zmpi_chunk_cost_fn(const struct zmpi_chunk_rule *rule, const size_t extent[3],
                                const struct zmpi_rows *src, uint32_t position, size_t cost[8]);

zmpi_chunk_cost_fn zmpi_chunk32_cost, zmpi_chunk64_cost;
zmpi_chunk_encode_fn zmpi_chunk32_encode, zmpi_chunk64_encode; /* the scalar reference */
zmpi_chunk_decode_fn zmpi_chunk32_decode, zmpi_chunk64_decode;

/* Copies a tile with rows of `bytes` bytes to words, without gaps. Does nothing if it is there
 * already. */
void zmpi_rows_gather(const struct zmpi_rows *src, const size_t extent[3], size_t bytes,
                      unsigned char *words);
/* Copies words back to a tile with rows, by memcpy or the like. */
typedef void *zmpi_copy_fn(void *dst, const void *src, size_t size);
void zmpi_rows_scatter(const struct zmpi_rows *dst, const size_t extent[3], size_t bytes,
                       const unsigned char *words, zmpi_copy_fn *copy);

#endif
