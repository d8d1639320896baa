/* flat.c - chunks that became constants. */
#include "stream/flat.h"

#include <string.h>

#include "base/bytes.h"
#include "layout/chunk.h"

enum { SAMPLES = 8, CHUNKS = 64 };

/* Encoder 3 has a kind where the others have a map; a chunk that is stored has no flags (format.md
 * 1.2, 1.5). */
static bool is_constant(const struct zmpi_stream *s, const unsigned char *chunk)
{
    return s->info.encoder == ZMPI_INTERP ? chunk[0] == 0 && chunk[1] == 0
                                          : chunk[2] & ZMPI_CHUNK_ZERO;
}

static bool varies(const struct zmpi_stream *s, size_t k, const unsigned char *src,
                   size_t *elements)
{
    size_t first[3], extent[3];
    zmpi_stream_tile(s, k, first, extent);
    const size_t n = *elements = extent[0] * extent[1] * extent[2];
    const unsigned char *begin = NULL;
    for (size_t i = 0; i < SAMPLES && i < n; i++) {
        const size_t at = i * (n - 1) / (SAMPLES - 1) % n, row = at / extent[2];
        const size_t z = first[0] + row / extent[1], y = first[1] + row % extent[1],
                     x = first[2] + at % extent[2];
        const unsigned char *word = src + ((z * s->extent[1] + y) * s->extent[2] + x) * s->width;
        begin = begin ? begin : word;
        if (memcmp(begin, word, s->width) != 0)
            return true;
    }
    return false;
}

/* The next constant chunk from *k on, at *chunk. */
static bool next_constant(const struct zmpi_stream *s, size_t *k, const unsigned char **chunk)
{
    while (*k < s->info.chunks && !is_constant(s, *chunk))
        *chunk += zmpi_load32(s->table + 8 * (*k)++);
    return *k < s->info.chunks;
}

/* Of many constants some are looked at: true ones are coded faster than memory is read. */
uint64_t zmpi_flat_count(const struct zmpi_stream *s, const void *src)
{
    const unsigned char *chunk = s->src + s->head;
    size_t constants = 0, looks = 0, elements;
    uint64_t flat = 0;
    for (size_t k = 0; next_constant(s, &k, &chunk); constants++)
        chunk += zmpi_load32(s->table + 8 * k++);
    chunk = s->src + s->head;
    for (size_t k = 0, i = 0; next_constant(s, &k, &chunk); i++) {
        if (i % (constants / CHUNKS + 1) == 0) {
            flat += varies(s, k, src, &elements) ? elements : 0;
            looks++;
        }
        chunk += zmpi_load32(s->table + 8 * k++);
    }
    return looks ? flat * constants / looks : 0;
}
