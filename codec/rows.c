/* rows.c - tiles between an array and a chunk's buffers. */
#include <stdlib.h>
#include <string.h>

#include "chunk.h"

void zmpi_chunk_work_init(struct zmpi_chunk_work *work)
{
    memset(work->integers, 0, ZMPI_CHUNK_BEFORE);
}

struct zmpi_chunk_work *zmpi_chunk_work_new(void)
{
    struct zmpi_chunk_work *work = aligned_alloc(64, sizeof *work);
    if (work)
        zmpi_chunk_work_init(work);
    return work;
}

void zmpi_rows_gather(const struct zmpi_rows *src, const size_t extent[3], size_t bytes,
                      struct zmpi_chunk_work *work)
{
    unsigned char *word = work->words;
    if (src->at == word)
        return;
    for (size_t z = 0; z < extent[0]; z++)
        for (size_t y = 0; y < extent[1]; y++, word += bytes)
            memcpy(word, src->at + z * src->plane + y * src->row, bytes);
}

void zmpi_rows_scatter(const struct zmpi_rows *dst, const size_t extent[3], size_t bytes,
                       const struct zmpi_chunk_work *work)
{
    const unsigned char *word = work->words;
    if (dst->at == word)
        return;
    for (size_t z = 0; z < extent[0]; z++)
        for (size_t y = 0; y < extent[1]; y++, word += bytes)
            memcpy(dst->at + z * dst->plane + y * dst->row, word, bytes);
}
