/* container_enhance.c - finds the network's section in a file (format.md 2.9). */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "container/container_private.h"
#include "enhance/enhance.h"

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

enum zmpi_status zmpi_enhancer_read(const struct zmpi_container *c, const struct zmpi_reader *in,
                                    struct zmpi_enhancer *e, bool *there)
{
    unsigned char pointer[ZMPI_POINTER_BYTES], none[ZMPI_POINTER_BYTES] = {0};
    const unsigned char *id = c->header.id;
    *there = false;
    enum zmpi_status status = in->read(in->context, ZMPI_POINTER_AT, pointer, sizeof pointer);
    if (status != ZMPI_OK || memcmp(pointer, none, sizeof none) == 0)
        return status;
    const uint64_t offset = zmpi_load64(pointer), length = zmpi_load64(pointer + 8);
    zmpi_enhancer_point(id, offset, length, none);
    if (memcmp(pointer, none, sizeof none) != 0)
        return ZMPI_ERR_CHECKSUM;
    if (!zmpi_fits(offset, length, in->file_size))
        return ZMPI_ERR_TRUNCATED;
    unsigned char *bytes = malloc((size_t)length + 1);
    if (bytes == NULL)
        return ZMPI_ERR_MEMORY;
    status = in->read(in->context, offset, bytes, (size_t)length);
    if (status == ZMPI_OK)
        status = zmpi_enhancer_parse(e, bytes, (size_t)length, zmpi_enhancer_seed(id, offset));
    if (status != ZMPI_OK)
        free(bytes);
    *there = status == ZMPI_OK;
    return status;
}
