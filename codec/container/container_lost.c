/*
 * container_lost.c - containers whose first page never reached the disk, because the machine
 * stopped before it was synchronised. In place of the header there are only zeros. The file id is
 * lost with the header, and without it no record's checksum can be verified, so that nothing can be
 * read. But such a file must not be taken for a plain one either.
 */
#include <stdlib.h>
#include <string.h>

#include "container/container_private.h"

#define WINDOW ((size_t)1 << 20)
/* A record that a collective call wrote may be this long; the next record follows it. */
#define LOOKED_AT ((uint64_t)20 << 20)

static bool is_zero(const unsigned char *p, size_t n)
{
    return n != 0 && *p == 0 && memcmp(p, p + 1, n - 1) == 0;
}

/* Does a data record begin here, a stream in it? */
static bool has_stream(const struct zmpi_reader *in, uint64_t offset)
{
    unsigned char head[ZMPI_RECORD_HEADER_BYTES], magic[4];
    if (in->file_size - offset < sizeof head ||
        in->read(in->context, offset, head, sizeof head) != ZMPI_OK ||
        zmpi_load16(head + 4) != ZMPI_RECORD_DATA)
        return false;
    const uint64_t stream = offset + sizeof head + zmpi_pad8(zmpi_load32(head + 48));
    return stream + sizeof magic <= in->file_size &&
           in->read(in->context, stream, magic, sizeof magic) == ZMPI_OK &&
           memcmp(magic, "ZSTR", sizeof magic) == 0;
}

/* Does a segment or a directory of an index seem to begin here? */
static bool is_frame(const unsigned char head[ZMPI_SEGMENT_HEADER_BYTES], uint64_t rest)
{
    const uint32_t magic = zmpi_load32(head), count = zmpi_load32(head + 4);
    const uint64_t length = zmpi_load64(head + 8);
    if (count == 0 || length > rest)
        return false;
    return (magic == ZMPI_SEGMENT_MAGIC && count <= ZMPI_SEGMENT_RECORDS_LIMIT &&
            length >= count) ||
           (magic == ZMPI_DIRECTORY_MAGIC &&
            length == (uint64_t)count * ZMPI_DIRECTORY_ENTRY_BYTES);
}

static bool find_record(const struct zmpi_reader *in, unsigned char *window)
{
    uint64_t at = ZMPI_HEADER_BYTES;
    if (in->data_at != NULL)
        at = in->data_at(in->context, at) & ~(uint64_t)7;
    const uint64_t rest = at < in->file_size ? in->file_size - at : 0;
    const uint64_t end = at + (rest < LOOKED_AT ? rest : LOOKED_AT);
    for (size_t size; at < end && end - at >= ZMPI_RECORD_LIKELY; at += size) {
        size = end - at < WINDOW ? (size_t)(end - at) : WINDOW;
        if (in->read(in->context, at, window, size) != ZMPI_OK)
            return false;
        for (size_t i = 0; size - i >= ZMPI_RECORD_LIKELY; i += 8)
            if ((zmpi_record_likely(window + i) && has_stream(in, at + i)) ||
                (size - i >= ZMPI_SEGMENT_HEADER_BYTES &&
                 is_frame(window + i, in->file_size - at - i)))
                return true;
    }
    return false;
}

bool zmpi_container_lost(const unsigned char *head, size_t size, const struct zmpi_reader *in)
{
    if (size < ZMPI_HEADER_BYTES || !is_zero(head, ZMPI_HEADER_BYTES))
        return false;
    unsigned char *window = malloc(WINDOW);
    const bool found = window != NULL && find_record(in, window);
    free(window);
    return found;
}

/* Of a plain file that begins with zeros only the end is read. */
bool zmpi_container_copied(const unsigned char *head, size_t size, const struct zmpi_reader *in)
{
    struct zmpi_header h;
    const bool is_readable = size != 0;
    if (in->file_size < ZMPI_HEADER_BYTES + ZMPI_HEADER_COPY_BYTES ||
        (is_readable && (size < ZMPI_HEADER_BYTES || !is_zero(head, ZMPI_HEADER_BYTES))))
        return false;
    if (zmpi_header_find_copy(in, ZMPI_COPY_AT_END, NULL, &h))
        return true;
    return (!is_readable || zmpi_container_lost(head, size, in)) &&
           zmpi_header_find_copy(in, ZMPI_COPY_BEHIND, NULL, &h);
}
