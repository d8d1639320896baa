/*
 * record_salvage.c - the good chunks of a damaged record, and a list of the lost bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "container/container_private.h"

#define PAGE ((size_t)4096)

enum zmpi_status zmpi_losses_add(struct zmpi_losses *l, const struct zmpi_loss *loss)
{
    struct zmpi_loss *last = l->count > 0 ? &l->loss[l->count - 1] : NULL;
    if (last != NULL && last->offset + last->length == loss->offset &&
        last->record == loss->record && last->why == loss->why && last->kind == loss->kind) {
        last->length += loss->length;
        return ZMPI_OK;
    }
    if (l->count == l->capacity) {
        const size_t capacity = 2 * l->capacity + 64;
        struct zmpi_loss *grown = realloc(l->loss, capacity * sizeof *grown);
        if (grown == NULL)
            return ZMPI_ERR_MEMORY;
        l->loss = grown;
        l->capacity = capacity;
    }
    l->loss[l->count++] = *loss;
    return ZMPI_OK;
}

void zmpi_losses_free(struct zmpi_losses *l)
{
    free(l->loss);
    *l = (struct zmpi_losses){0};
}

struct salvage {
    const struct zmpi_reader *in;
    const struct zmpi_copy *copy;
    size_t copies;
    uint64_t base; /* the logical byte at position 0 of dst */
    struct zmpi_loss loss;
    unsigned char *dst;
};

/* Reads as much of the record as possible. The rest becomes zeros, which fit no checksum. */
static enum zmpi_status read_what_can_be(const struct zmpi_reader *in, uint64_t offset,
                                         unsigned char *dst, size_t size)
{
    const uint64_t rest = offset < in->file_size ? in->file_size - offset : 0;
    const size_t there = size < rest ? size : (size_t)rest;
    memset(dst + there, 0, size - there);
    if (there == 0 || in->read(in->context, offset, dst, there) == ZMPI_OK)
        return there == size ? ZMPI_OK : ZMPI_ERR_TRUNCATED;
    for (size_t at = 0; at < there; at += PAGE) {
        const size_t n = there - at < PAGE ? there - at : PAGE;
        if (in->read(in->context, offset + at, dst + at, n) != ZMPI_OK)
            memset(dst + at, 0, n);
    }
    return ZMPI_ERR_IO;
}

/* Bytes [begin, end) of the payload are lost. Those that were requested become zero. */
static enum zmpi_status lose(struct salvage *s, uint64_t begin, uint64_t end)
{
    size_t first = 0, last = s->copies;
    enum zmpi_status status = ZMPI_OK;
    while (first < last) {
        const size_t middle = first + (last - first) / 2;
        if (s->copy[middle].from + s->copy[middle].length > begin)
            last = middle;
        else
            first = middle + 1;
    }
    for (size_t i = first; i < s->copies && s->copy[i].from < end && status == ZMPI_OK; i++) {
        const struct zmpi_copy *c = &s->copy[i];
        const uint64_t from = c->from > begin ? c->from : begin;
        const uint64_t to = c->from + c->length < end ? c->from + c->length : end;
        struct zmpi_loss loss = s->loss;
        loss.offset = s->base + c->to + (from - c->from);
        loss.length = to - from;
        memset(s->dst + c->to + (from - c->from), 0, to - from);
        status = zmpi_losses_add(s->in->losses, &loss);
    }
    return status;
}

/* The lost bytes of chunk k, row by row of its tile. */
static enum zmpi_status lose_chunk(struct salvage *s, const struct zmpi_stream *stream, size_t k)
{
    size_t first[3], extent[3];
    enum zmpi_status status = ZMPI_OK;
    zmpi_stream_tile(stream, k, first, extent);
    for (size_t z = first[0]; z < first[0] + extent[0]; z++)
        for (size_t y = first[1]; y < first[1] + extent[1] && status == ZMPI_OK; y++) {
            const uint64_t word = (z * stream->extent[1] + y) * stream->extent[2] + first[2];
            status = lose(s, word * stream->width, (word + extent[2]) * stream->width);
        }
    return status;
}

/* Decodes each needed chunk by itself. Only lost ones stay marked. */
static enum zmpi_status decode_chunks(const struct zmpi_stream *stream, unsigned char *need,
                                      unsigned char *one, unsigned char *array)
{
    enum zmpi_status status = ZMPI_OK;
    for (size_t k = 0; k < stream->info.chunks && status != ZMPI_ERR_MEMORY; k++) {
        if (!need[k])
            continue;
        one[k] = 1;
        status = zmpi_stream_decode(stream, one, 1, array, NULL);
        one[k] = 0;
        need[k] = status != ZMPI_OK;
    }
    return status == ZMPI_ERR_MEMORY ? status : ZMPI_OK;
}

static enum zmpi_status decode(struct salvage *s, const struct zmpi_stream *stream)
{
    const size_t chunks = stream->info.chunks;
    unsigned char *array = malloc(stream->info.decoded_bytes + 1);
    unsigned char *need = calloc(chunks + 1, 2);
    enum zmpi_status status = array != NULL && need != NULL ? ZMPI_OK : ZMPI_ERR_MEMORY;
    for (size_t i = 0; i < s->copies && status == ZMPI_OK; i++)
        zmpi_stream_mark(stream, s->copy[i].from, s->copy[i].from + s->copy[i].length, need);
    if (status == ZMPI_OK)
        status = decode_chunks(stream, need, need + chunks, array);
    for (size_t i = 0; i < s->copies && status == ZMPI_OK; i++)
        memcpy(s->dst + s->copy[i].to, array + s->copy[i].from, s->copy[i].length);
    for (size_t k = 0; k < chunks && status == ZMPI_OK; k++)
        if (need[k])
            status = lose_chunk(s, stream, k);
    free(need);
    free(array);
    return status;
}

/* Is this the record that the index promised, and its payload a stream of that size? Does not check
 * the chunks, nor a head with a list, whose copy may replace it (zmpi_record_load_list). */
static enum zmpi_status parse(const struct zmpi_record *r, const unsigned char id[16],
                              const unsigned char *bytes, struct zmpi_stream *stream)
{
    const size_t head = zmpi_record_head_size(r);
    struct zmpi_record found;
    enum zmpi_status status = ZMPI_OK;
    if (r->extent.levels != ZMPI_EXTENT_LIST) {
        status = zmpi_record_decode(&found, id, r->offset, bytes, head);
        if (status == ZMPI_OK && !zmpi_record_same(&found, r))
            status = ZMPI_ERR_CORRUPT;
    }
    if (status == ZMPI_OK)
        status = zmpi_stream_parse(stream, bytes + head, r->payload_length);
    if (status == ZMPI_OK && stream->info.decoded_bytes != r->extent.bytes)
        status = ZMPI_ERR_CORRUPT;
    return status == ZMPI_ERR_FORMAT ? ZMPI_ERR_CORRUPT : status;
}

enum zmpi_status zmpi_record_salvage(const struct zmpi_record *r, const unsigned char id[16],
                                     const struct zmpi_reader *in, const struct zmpi_copy *copies,
                                     size_t n, uint64_t base, unsigned char *dst)
{
    struct salvage s = {.in = in, .copy = copies, .copies = n, .base = base, .dst = dst};
    struct zmpi_stream stream;
    s.loss = (struct zmpi_loss){.record = r->offset, .why = ZMPI_ERR_TRUNCATED};
    if (r->offset > in->file_size ||
        zmpi_record_size(r) > in->file_size - r->offset + ZMPI_SALVAGE_CUT_MOST)
        return lose(&s, 0, r->extent.bytes);
    unsigned char *bytes = malloc(zmpi_record_size(r));
    if (bytes == NULL)
        return ZMPI_ERR_MEMORY;
    const enum zmpi_status read = read_what_can_be(in, r->offset, bytes, zmpi_record_size(r));
    enum zmpi_status status = parse(r, id, bytes, &stream);
    s.loss.why = read != ZMPI_OK ? read : status != ZMPI_OK ? status : ZMPI_ERR_CHECKSUM;
    if (status == ZMPI_OK)
        status = decode(&s, &stream);
    else if (status != ZMPI_ERR_MEMORY)
        status = lose(&s, 0, r->extent.bytes);
    free(bytes);
    return status;
}
