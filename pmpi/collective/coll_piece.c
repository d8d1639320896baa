/*
 * coll_piece.c - a piece of a block as a message, which says itself what it is. It lives no longer
 * than the call, so that its form is not part of docs/format.md.
 *
 *     0  4  "ZPCE"            16  8  first byte of the piece in the block     40  8  hash of bytes
 *     4  4  streams from 64   24  8  bytes of the piece                              0..40
 *           on, 0: as it is   32  8  bytes behind the head                           seed: the rank
 *     8  8  number of the call on the communicator                                   it is from
 *                                                                             48  8  us since began
 *                                                                             56  8  0
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "collective/coll.h"
#include "mpi/runtime.h"
#include "stream/compress_job.h"

enum { MAGIC = 0x4543505A, HASHED = 40, SENT = 48 };

size_t zpiece_capacity(const struct zmpi_options *o, uint64_t bytes)
{
    return ZPIECE_HEAD + (o->collective_piece < bytes ? o->collective_piece : bytes);
}

/* Makes a stream, or one for each component. */
static size_t compress(struct zcall *c, const struct zpart *part, struct zmpi_job *job,
                       size_t bytes, unsigned char *dst, int *streams)
{
    const bool apart = c->components > 1 && job->bound.mode != ZMPI_LOSSLESS;
    *streams = apart ? c->components : 1;
    return apart ? zapart_compress(c, job, part->data, bytes, dst)
                 : zpiece_stream(c, part->holder, part->data, job, dst, bytes);
}

/*
 * A piece that did not become smaller is sent as it is. If measured time chose the encoder, the
 * other one might have made it smaller. So the piece gets the values that both would give it.
 */
static enum zmpi_status decode_own(const struct zcall *c, const struct zmpi_job *job,
                                   unsigned char *data, size_t bytes)
{
    return c->components > 1 ? zapart_decode_own(c, job, data, bytes)
                             : zpiece_decode_own(job, data, bytes);
}

/* Writes the piece as streams, or as it is. Returns the bytes; 0: it cannot be read. */
static size_t encode(struct zcall *c, const struct zblock *b, uint64_t at, const struct zpart *part,
                     size_t bytes, unsigned char *dst, int *streams)
{
    struct zmpi_job job;
    const int block = zapart_block(c, b, at);
    bool made = zpiece_job(c, b, part->data, bytes, c->way, &job);
    if (made && block >= 0) {
        const struct zmpi_job whole = job;
        made = zapart_job(c, &whole, block, &job);
    }
    const size_t size = made ? compress(c, part, &job, bytes, dst, streams) : 0;
    if (size)
        return size;
    *streams = 0;
    if (zmpi_device_move(part->holder, dst, part->data, bytes))
        return 0;
    if (made && job.bound.mode != ZMPI_LOSSLESS && zcall_picks(c) &&
        decode_own(c, &job, dst, bytes))
        zmpi_log(ZMPI_LOG_WARN, "%s on %d ranks: no memory on rank %d: some data are sent exactly",
                 zop_name(c->op), c->state->ranks, c->state->rank);
    return bytes;
}

static uint64_t hash_of(const unsigned char *message, size_t size, int origin)
{
    return zmpi_hash2(message, HASHED, message + ZPIECE_HEAD, size, (uint64_t)origin);
}

int zpiece_encode(struct zcall *c, const struct zblock *b, uint64_t at, unsigned char *dst,
                  unsigned char *scratch)
{
    double start = zmpi_seconds();
    size_t bytes = zblock_piece(b, at), size = 0;
    struct zpart part;
    int streams = 0;
    if (zblock_read(b, at, bytes, scratch, &part)) {
        if (c->components <= 1 || zpart_to_host(&part, bytes, scratch))
            size = encode(c, b, at, &part, bytes, dst + ZPIECE_HEAD, &streams);
        zpart_free(&part);
    }
    memset(dst, 0, ZPIECE_HEAD);
    if (!size) { /* an empty message: the receiver must neither take it for data nor wait */
        zcall_unreadable(c, b);
        return ZPIECE_HEAD;
    }
    zmpi_store32(dst, MAGIC);
    zmpi_store32(dst + 4, (uint32_t)streams);
    zmpi_store64(dst + 8, c->sequence);
    zmpi_store64(dst + 16, at);
    zmpi_store64(dst + 24, bytes);
    zmpi_store64(dst + 32, size);
    zmpi_store64(dst + HASHED, hash_of(dst, size, c->state->rank));
    double now = zmpi_seconds();
    c->codec += now - start;
    c->compress += now - start;
    zmpi_store64(dst + SENT, (uint64_t)(1e6 * (now - c->began)));
    return (int)(ZPIECE_HEAD + size);
}

double zpiece_age(const struct zcall *c, const unsigned char *message, int size)
{
    const double sent = size < ZPIECE_HEAD ? 0 : 1e-6 * (double)zmpi_load64(message + SENT);
    return fmax(zmpi_seconds() - c->began - sent, 0);
}

uint64_t zpiece_raw(const struct zcall *c, const unsigned char *message, int size)
{
    uint64_t raw = size < ZPIECE_HEAD ? 0 : zmpi_load64(message + 24);
    return raw <= c->state->options.collective_piece ? raw : 0;
}

static const char *wrong(const struct zcall *c, int origin, const unsigned char *m, size_t size)
{
    if (size < ZPIECE_HEAD || zmpi_load32(m) != MAGIC || zmpi_load64(m + 32) != size - ZPIECE_HEAD)
        return "not a piece, or not all of it";
    if (zmpi_load64(m + HASHED) != hash_of(m, size - ZPIECE_HEAD, origin))
        return "checksum mismatch";
    return zmpi_load64(m + 8) == c->sequence ? NULL : "of another call";
}

bool zpiece_check(struct zcall *c, const struct zblock *b, int origin, const unsigned char *message,
                  int size, struct zpiece_head *h)
{
    double start = zmpi_seconds();
    const char *why = wrong(c, origin, message, (size_t)size);
    c->codec += zmpi_seconds() - start;
    if (why) {
        zcall_fail(c, MPI_ERR_OTHER,
                   "a message of %d bytes from rank %d to rank %d, for a block of %llu bytes, is "
                   "damaged (%s)",
                   size, origin, c->state->rank, (unsigned long long)b->bytes, why);
        return false;
    }
    *h = (struct zpiece_head){zmpi_load64(message + 16), zmpi_load64(message + 24),
                              (int)zmpi_load32(message + 4)};
    if (h->at > b->bytes || h->raw > b->bytes - h->at ||
        (!h->streams && h->raw != (size_t)size - ZPIECE_HEAD)) {
        zcall_fail(c, MPI_ERR_TRUNCATE,
                   "rank %d sent more than the %llu bytes that rank %d expects", origin,
                   (unsigned long long)b->bytes, c->state->rank);
        return false;
    }
    return true;
}

/* Decodes one stream. */
static enum zmpi_status decode(struct zcall *c, const struct zpart *part, uint64_t raw,
                               const unsigned char *data, size_t size)
{
    struct zmpi_stream_info info;
    const enum zmpi_status status = zmpi_stream_info(data, size, &info);
    if (status || info.decoded_bytes != raw)
        return status ? status : ZMPI_ERR_CORRUPT;
    return zmpi_offload_decompress(&c->state->offload, part->holder, part->data, raw, data, size,
                                   zruntime_threads(&c->state->options));
}

/* Decodes components and puts them together in the host's memory; scratch holds a piece. */
static enum zmpi_status decode_apart(struct zcall *c, const struct zpart *part,
                                     const struct zpiece_head *h, const unsigned char *data,
                                     size_t size, unsigned char *scratch)
{
    const enum zmpi_status status =
        zapart_decode(c, h->streams, data, size, part->holder ? scratch : part->data, h->raw);
    if (status || !part->holder)
        return status;
    return zmpi_device_move(part->holder, part->data, scratch, h->raw);
}

static enum zmpi_status place_streams(struct zcall *c, const struct zblock *b,
                                      const struct zpiece_head *h, const unsigned char *data,
                                      size_t size, unsigned char *scratch)
{
    struct zpart part;
    zblock_destination(b, h->at, h->raw, scratch, &part);
    enum zmpi_status status = h->streams == 1 ? decode(c, &part, h->raw, data, size)
                                              : decode_apart(c, &part, h, data, size, scratch);
    if (!status && !zblock_place(b, h->at, h->raw, &part))
        status = ZMPI_ERR_DEVICE;
    zpart_free(&part);
    return status;
}

/* The hash has shown that these bytes are the sender's. Decoding can still fail if memory is
 * missing. */
bool zpiece_place(struct zcall *c, const struct zblock *b, int origin, const unsigned char *message,
                  int size, const struct zpiece_head *h, unsigned char *scratch)
{
    double start = zmpi_seconds();
    const unsigned char *data = message + ZPIECE_HEAD;
    size_t n = (size_t)size - ZPIECE_HEAD;
    enum zmpi_status status = ZMPI_OK;
    if (h->streams)
        status = place_streams(c, b, h, data, n, scratch);
    else if (!zblock_put(b, h->at, n, data))
        status = ZMPI_ERR_DEVICE;
    c->codec += zmpi_seconds() - start;
    if (status)
        zcall_fail(c, MPI_ERR_OTHER, "%llu bytes from rank %d cannot be decoded on rank %d: %s",
                   (unsigned long long)h->raw, origin, c->state->rank, zmpi_strerror(status));
    return !status;
}
