/*
 * fix_checksums.h - corrects the checksums of a changed stream or container, as far as its parts
 * can be found, so that a fuzzer gets past them to the code that they protect.
 */
#ifndef FIX_CHECKSUMS_H
#define FIX_CHECKSUMS_H

#include "base/bytes.h"
#include "base/hash.h"
#include "container/container.h"
#include "layout/stream.h"

/* docs/format.md 1.1. With `length`, the stream's length is set to `size` too. */
static inline void fix_stream(uint8_t *src, size_t size, int length)
{
    size_t head;
    if (size < ZMPI_STREAM_HEADER_BYTES)
        return;
    if (length)
        zmpi_store64(src + 64, size);
    if (zmpi_stream_head_size(src, size, &head) != ZMPI_OK || head > size)
        return;
    size_t at = head, books = 4 * (size_t)(zmpi_load32(src + 8) >> 8);
    for (uint8_t *entry = src + ZMPI_STREAM_HEADER_BYTES; entry < src + (head - books);
         entry += 8) {
        size_t chunk = zmpi_load32(entry);
        if (chunk > size - at)
            break;
        zmpi_store32(entry + 4, (uint32_t)zmpi_hash(src + at, chunk, 0));
        at += chunk;
    }
    zmpi_store64(src + 72, zmpi_hash2(src, 72, src + ZMPI_STREAM_HEADER_BYTES,
                                      head - ZMPI_STREAM_HEADER_BYTES, 0));
}

/* docs/format.md 2.2. `rest` is all from the record to the end of the file. */
static inline void fix_record(uint8_t *record, size_t rest, uint64_t seed)
{
    size_t extents = zmpi_load32(record + 48);
    if (extents > rest - ZMPI_RECORD_HEADER_BYTES)
        return;
    size_t head = ZMPI_RECORD_HEADER_BYTES + zmpi_pad8(extents);
    uint64_t payload = zmpi_load64(record + 40);
    if (zmpi_load16(record + 6) == ZMPI_EXTENT_LIST)
        fix_stream(record + ZMPI_RECORD_HEADER_BYTES, extents, 0);
    if (head <= rest && payload <= rest - head)
        fix_stream(record + head, payload, 0);
    zmpi_store64(record + 56,
                 zmpi_hash2(record, 56, record + ZMPI_RECORD_HEADER_BYTES, extents, seed));
}

/* docs/format.md 2.2: of the record that ends at `at`. */
static inline void fix_copy(uint8_t *copy, size_t rest, uint64_t id, uint64_t at)
{
    size_t extents = zmpi_load32(copy + 48);
    uint64_t payload = zmpi_load64(copy + 40);
    if (extents > rest - ZMPI_RECORD_HEADER_BYTES || payload > at)
        return;
    uint64_t head = ZMPI_RECORD_HEADER_BYTES + zmpi_pad8(extents);
    fix_stream(copy + ZMPI_RECORD_HEADER_BYTES, extents, 0);
    zmpi_store32(copy, 0x4345525A);
    zmpi_store64(copy + 56, zmpi_hash2(copy, 56, copy + ZMPI_RECORD_HEADER_BYTES, extents,
                                       id ^ (at - head - zmpi_pad8(payload))));
    zmpi_store32(copy, 0x5950435A);
}

/* The same of parity. */
static inline void fix_parity(uint8_t *parity, size_t rest)
{
    const uint64_t extents = zmpi_pad8(zmpi_load32(parity + 48));
    const uint64_t size = 72 + zmpi_pad8(4 * (extents / 512 + 2)) + 512;
    if (size <= rest)
        zmpi_store64(parity + 64, zmpi_hash2(parity, 64, parity + 72, size - 72, 0));
}

/* docs/format.md 2.3; the directory has the same frame. */
static inline void fix_segment(uint8_t *segment, size_t rest, uint64_t seed)
{
    uint64_t length = zmpi_load64(segment + 8);
    if (length <= rest - 24)
        zmpi_store64(segment + 16, zmpi_hash2(segment, 16, segment + 24, length, seed));
}

/* 2.9: the pointer, and the section that it points to. */
static inline void fix_network(uint8_t *file, size_t size, uint64_t id)
{
    const uint64_t at = zmpi_load64(file + 440), length = zmpi_load64(file + 448);
    if (at == 0 && length == 0)
        return;
    zmpi_store64(file + 456, zmpi_hash(file + 440, 16, id ^ 440));
    if (at <= size && length <= size - at && length >= 24)
        zmpi_store64(file + at + 16,
                     zmpi_hash2(file + at, 16, file + at + 24, length - 24, id ^ at));
}

/* 2.10: the same; tally: that of the header. */
static inline void fix_calls(uint8_t *file, size_t size, uint64_t id, uint64_t tally)
{
    const uint64_t at = zmpi_load64(file + 464), length = zmpi_load64(file + 472);
    if (at == 0 && length == 0)
        return;
    zmpi_store64(file + 480, tally);
    zmpi_store64(file + 488, zmpi_hash(file + 464, 24, id ^ 464));
    if (at <= size && length <= size - at && length >= 24)
        zmpi_store64(file + at + 16,
                     zmpi_hash2(file + at, 16, file + at + 24, length - 24, id ^ at));
}

/* 2.8: it has an id of its own. */
static inline void fix_header_copy(uint8_t *copy, size_t rest, uint64_t at)
{
    if (rest < 136)
        return;
    const uint64_t id = zmpi_load64(copy + 16) ^ zmpi_load64(copy + 24);
    zmpi_store64(copy + 64, at + 136);
    zmpi_store64(copy + 128, zmpi_hash(copy, 128, id ^ at));
}

static inline void fix_container(uint8_t *file, size_t size)
{
    struct zmpi_header h;
    if (size < ZMPI_HEADER_BYTES)
        return;
    for (size_t slot = 0; slot <= 256; slot += 256)
        if (zmpi_is_container(file + slot, 8))
            zmpi_store64(file + slot + 120, zmpi_hash(file + slot, 120, 0));
    for (size_t at = ZMPI_HEADER_BYTES; at <= size && size - at >= ZMPI_RECORD_HEADER_BYTES;
         at += 8)
        if (zmpi_load32(file + at) == 0x5244485A)
            fix_header_copy(file + at, size - at, at);
    if (zmpi_header_decode(&h, file) != ZMPI_OK)
        return;
    uint64_t id = zmpi_load64(h.id) ^ zmpi_load64(h.id + 8);
    for (size_t at = ZMPI_HEADER_BYTES; at <= size && size - at >= ZMPI_RECORD_HEADER_BYTES;
         at += 8) {
        if (zmpi_load32(file + at) == 0x4345525A)
            fix_record(file + at, size - at, id ^ at);
        else if (zmpi_load32(file + at) == 0x5950435A)
            fix_copy(file + at, size - at, id, at);
        else if (zmpi_load32(file + at) == 0x5241505A)
            fix_parity(file + at, size - at);
        else if (zmpi_load32(file + at) == 0x5844495A || zmpi_load32(file + at) == 0x5249445A)
            fix_segment(file + at, size - at, id ^ at);
    }
    fix_network(file, size, id);
    fix_calls(file, size, id, h.tally);
}

#endif
