/* container_sections.c - finds the sections that a header points to: the network's (format.md 2.9),
 * and that of a file's write calls (2.10). */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "container/container_private.h"
#include "enhance/enhance.h"
#include "format/calls.h"

void zmpi_enhancer_point(const unsigned char id[16], uint64_t offset, uint64_t length,
                         unsigned char dst[ZMPI_POINTER_BYTES])
{
    zmpi_store64(dst, offset);
    zmpi_store64(dst + 8, length);
    zmpi_store64(dst + 16, zmpi_hash(dst, 16, zmpi_seed(id, ZMPI_POINTER_AT)));
}

uint64_t zmpi_enhancer_seed(const unsigned char id[16], uint64_t offset)
{
    return zmpi_seed(id, offset);
}

/* Reads a pointer of `size` bytes at `at`, whose last 8 are a hash. *there: it is not all zeros. */
static enum zmpi_status read_pointer(const struct zmpi_container *c, const struct zmpi_reader *in,
                                     uint64_t at, unsigned char *pointer, size_t size, bool *there)
{
    *there = false;
    const enum zmpi_status status = in->read(in->context, at, pointer, size);
    if (status != ZMPI_OK || (pointer[0] == 0 && memcmp(pointer, pointer + 1, size - 1) == 0))
        return status;
    const uint64_t hash = zmpi_hash(pointer, size - 8, zmpi_seed(c->header.id, at));
    *there = zmpi_load64(pointer + size - 8) == hash;
    return *there ? ZMPI_OK : ZMPI_ERR_CHECKSUM;
}

/* Reads the section to *bytes, which is malloc'ed. */
static enum zmpi_status read_section(const struct zmpi_reader *in, const unsigned char *pointer,
                                     unsigned char **bytes, size_t *size)
{
    const uint64_t offset = zmpi_load64(pointer), length = zmpi_load64(pointer + 8);
    if (!zmpi_fits(offset, length, in->file_size))
        return ZMPI_ERR_TRUNCATED;
    *size = (size_t)length;
    *bytes = malloc(*size + 1);
    if (*bytes == NULL)
        return ZMPI_ERR_MEMORY;
    const enum zmpi_status status = in->read(in->context, offset, *bytes, *size);
    if (status != ZMPI_OK)
        free(*bytes);
    return status;
}

enum zmpi_status zmpi_enhancer_read(const struct zmpi_container *c, const struct zmpi_reader *in,
                                    struct zmpi_enhancer *e, bool *there)
{
    unsigned char pointer[ZMPI_POINTER_BYTES], *bytes;
    size_t size;
    enum zmpi_status status = read_pointer(c, in, ZMPI_POINTER_AT, pointer, sizeof pointer, there);
    if (!*there)
        return status;
    *there = false;
    status = read_section(in, pointer, &bytes, &size);
    if (status != ZMPI_OK)
        return status;
    status =
        zmpi_enhancer_parse(e, bytes, size, zmpi_enhancer_seed(c->header.id, zmpi_load64(pointer)));
    if (status != ZMPI_OK)
        free(bytes);
    *there = status == ZMPI_OK;
    return status;
}

enum zmpi_status zmpi_calls_read(const struct zmpi_container *c, const struct zmpi_reader *in,
                                 struct zmpi_calls *calls, bool *there)
{
    unsigned char pointer[ZMPI_CALLS_POINTER], *bytes;
    size_t size;
    enum zmpi_status status = read_pointer(c, in, ZMPI_CALLS_AT, pointer, sizeof pointer, there);
    if (status == ZMPI_ERR_CHECKSUM)
        status = ZMPI_OK; /* a writer was stopped while it wrote the pointer */
    const bool ours = c->header.tallied && c->header.tally == zmpi_load64(pointer + 16);
    if (!*there || !ours) {
        *there = false;
        return status;
    }
    *there = false;
    /* Behind the index lies that of a trim that was killed. */
    if (!zmpi_fits(zmpi_load64(pointer), zmpi_load64(pointer + 8), c->header.index_offset))
        return ZMPI_OK;
    if (zmpi_load64(pointer + 8) > ZMPI_CALLS_LONGEST)
        return ZMPI_ERR_CORRUPT;
    status = read_section(in, pointer, &bytes, &size);
    if (status != ZMPI_OK)
        return status;
    status = zmpi_calls_decode(calls, c->header.id, zmpi_load64(pointer), bytes, size);
    free(bytes);
    *there = status == ZMPI_OK;
    return status;
}
