/*
 * stream.h - inside view of the stream (docs/format.md part 1), for the container, the devices
 * and the tests.
 */
#ifndef ZMPI_STREAM_H
#define ZMPI_STREAM_H

#include "zmpi_codec.h"
#include <stdbool.h>

#define ZMPI_STREAM_HEADER_BYTES 80
#define ZMPI_CHUNK_INPUT_BYTES   32768
#define ZMPI_BLOCK               32
/* Largest coded chunk: map 2 of 32 KiB. */
#define ZMPI_CHUNK_CODED_MAX (ZMPI_CHUNK_INPUT_BYTES + 4)

/* Of the element type's byte in a header. */
#define ZMPI_STREAM_BIG_ENDIAN 0x80u

#define ZMPI_ENCODERS 3
/* Words of a chunk of encoder 3, at most, and by its profile FLARE; and bytes of any chunk. */
#define ZMPI_INTERP_WORDS      262144
#define ZMPI_FLARE_WORDS       2097152
#define ZMPI_CHUNK_DECODED_MAX (8 * (size_t)ZMPI_FLARE_WORDS)

/* Books of codes that a stream may have of its own. */
#define ZMPI_STREAM_BOOKS 250

struct zmpi_enhanced;

/* A checked stream in memory. Points into src; nothing is owned. */
struct zmpi_stream {
    struct zmpi_stream_info info;
    const unsigned char *src;
    /* Not NULL: chunks are not at src. Who decodes them reads [begin, begin + size) of the stream;
     * several threads at once. */
    enum zmpi_status (*read)(const void *context, size_t begin, void *dst, size_t size);
    const void *context;
    const unsigned char *table; /* info.chunks entries of 8 bytes */
    const unsigned char *books; /* the section behind it, if the encoder has one: books, or what
                                   encoder 3 predicts by */
    size_t books_size;
    size_t head; /* where chunks begin */
    unsigned book_count;
    uint16_t book_at[ZMPI_STREAM_BOOKS];  /* in the section */
    size_t width;                         /* bytes of a coded word, 4 or 8 */
    size_t extent[3];                     /* words; for ZMPI_BYTES x = ceil(bytes / 4) */
    size_t grid[3];                       /* chunks along each axis */
    const struct zmpi_enhanced *enhanced; /* what is done to decoded values (enhance/enhance.h), or
                                             NULL: they stay as they are */
};

enum zmpi_status zmpi_stream_parse(struct zmpi_stream *s, const void *src, size_t src_size);

/*
 * Bytes that must be at hand before zmpi_stream_parse can run: header, table and books, from the
 * first 80 bytes.
 */
enum zmpi_status zmpi_stream_head_size(const void *src, size_t src_size, size_t *head);

/* Where chunk k lies in the array (first element z,y,x and clipped extents, in words). */
void zmpi_stream_tile(const struct zmpi_stream *s, size_t k, size_t first[3], size_t extent[3]);

/*
 * Mark (set to 1) in need[0..chunks) the chunks that hold any of the decoded bytes [begin, end).
 */
void zmpi_stream_mark(const struct zmpi_stream *s, size_t begin, size_t end, unsigned char *need);

/*
 * Decode the chunks with need[k] != 0 (all if need is NULL) into their places of the array at dst
 * (info.decoded_bytes bytes; other bytes are not touched), with up to `threads` >= 1 threads. dst
 * NULL: only check that they can be decoded. *bad_chunk (may be NULL) is set on error: the first
 * chunk that is damaged.
 */
enum zmpi_status zmpi_stream_decode(const struct zmpi_stream *s, const unsigned char *need,
                                    int threads, void *dst, size_t *bad_chunk);

/* A piece of the decoded array and its place in the destination. */
struct zmpi_copy {
    uint64_t from; /* byte of the array */
    uint64_t to;   /* in the destination */
    uint64_t length;
};

/* The same for n pieces of the array (from increasing, none overlaps the next), which the needed
 * chunks hold, to dst: nothing as large as the array is allocated. */
enum zmpi_status zmpi_stream_copy(const struct zmpi_stream *s, const unsigned char *need,
                                  int threads, const struct zmpi_copy *copies, size_t n,
                                  unsigned char *dst);

/* The same of n streams, the interleaved components of one array: `from` counts the bytes of all of
 * them as they take turns. Words of all are as wide. need[c]: of stream c. */
enum zmpi_status zmpi_streams_join(const struct zmpi_stream *s, size_t n,
                                   unsigned char *const *need, int threads,
                                   const struct zmpi_copy *copies, size_t count,
                                   unsigned char *dst);

/* Are all chunks as they were written, by their checksums? */
bool zmpi_stream_intact(const struct zmpi_stream *s);
/* Is `array` what the stream decodes to, as far as `samples` of its chunks tell?
 * ZMPI_ERR_DEVICE: it is not. */
enum zmpi_status zmpi_stream_compare(const struct zmpi_stream *s, const void *array,
                                     size_t samples);

#endif
