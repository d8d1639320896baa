/* chunk_decoder.h - what a thread needs to decode chunks of a checked stream. */
#ifndef ZMPI_CHUNK_DECODER_H
#define ZMPI_CHUNK_DECODER_H

#include "base/bytes.h"
#include "enhance/enhance.h"
#include "huffman/huffman.h"
#include "interp/interp.h"
#include "kernels/kernels.h"

/* The workspace of a thread for one stream. */
struct zmpi_chunk_decoder {
    struct zmpi_chunk_work *work;         /* for encoders 1 and 2 */
    struct zmpi_huffman_decoder *huffman; /* for encoder 2 */
    struct zmpi_interp_work *interp[2];   /* for encoder 3; [1]: for a chunk beside, or NULL */
    struct zmpi_interp_rule rule;
    struct zmpi_net_work *net; /* if values are enhanced */
    int8_t *net_out;           /* the network's output for a chunk */
    unsigned char *words;      /* memory for a chunk */
    unsigned char *own;        /* the same, if it is not a part of the work */
    unsigned char *coded;      /* coded chunks of a stream that is not in memory */
    size_t capacity;
    bool shares; /* the work belongs to another worker */
};

/* with: a decoder whose work this one uses too; NULL: none. apart: this one's words stay when the
 * other one decodes. plane: bytes of a tile's plane; 0: any. False: no memory, or parameters that
 * the format does not allow. */
bool zmpi_chunk_decoder_make(const struct zmpi_stream *s, size_t plane,
                             const struct zmpi_chunk_decoder *with, bool apart,
                             struct zmpi_chunk_decoder *v);
void zmpi_chunk_decoder_free(struct zmpi_chunk_decoder *v);

/* Decodes chunk k, `size` bytes at src, to its place in the array; place NULL: to v->words, without
 * gaps between rows. It is NULL for a big-endian stream, and where values are enhanced. */
enum zmpi_status zmpi_chunk_decoder_run(const struct zmpi_stream *s, size_t k,
                                        const unsigned char *src, size_t size, unsigned char *place,
                                        struct zmpi_chunk_decoder *v);

/* Decodes two chunks of encoder 3 side by side to their places, which are not NULL. False: nothing
 * is done, since that takes longer, a checksum is wrong, or there is no memory. */
bool zmpi_chunk_decoder_run_two(const struct zmpi_stream *s, const size_t k[2],
                                const unsigned char *const src[2], unsigned char *const place[2],
                                struct zmpi_chunk_decoder *v, enum zmpi_status status[2]);

/* The bytes of coded chunk k. */
static inline size_t zmpi_stream_chunk_size(const struct zmpi_stream *s, size_t k)
{
    return zmpi_load32(s->table + 8 * k);
}
/* Is coded chunk k, at src, as it was written, by its checksum? */
bool zmpi_stream_chunk_intact(const struct zmpi_stream *s, size_t k, const unsigned char *src);

#endif
