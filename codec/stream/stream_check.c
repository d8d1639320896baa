/* stream_check.c - whether the chunks of a stream can be decoded, are as they were written, and
 * decode to a given array. */
#include <string.h>

#include "stream/chunk_decoder.h"

enum zmpi_status zmpi_stream_verify(const void *src, size_t src_size, size_t *bad_chunk)
{
    struct zmpi_stream s;
    enum zmpi_status status = zmpi_stream_parse(&s, src, src_size);
    if (status) {
        if (bad_chunk)
            *bad_chunk = 0;
        return status;
    }
    return zmpi_stream_decode(&s, NULL, 1, NULL, bad_chunk);
}

bool zmpi_stream_intact(const struct zmpi_stream *s)
{
    const unsigned char *src = s->src + s->head;
    for (size_t k = 0; k < s->info.chunks; src += zmpi_load32(s->table + 8 * k++))
        if (!zmpi_stream_chunk_intact(s, k, src))
            return false;
    return true;
}

/* Is chunk k, which was decoded to `word`, in the array bit for bit? */
static bool is_there(const struct zmpi_stream *s, size_t k, const unsigned char *array,
                     const unsigned char *word)
{
    size_t first[3], extent[3];
    zmpi_stream_tile(s, k, first, extent);
    for (size_t z = 0; z < extent[0]; z++)
        for (size_t y = 0; y < extent[1]; y++) {
            const size_t row = (first[0] + z) * s->extent[1] + first[1] + y;
            const size_t at = (row * s->extent[2] + first[2]) * s->width;
            size_t bytes = extent[2] * s->width;
            if (bytes > s->info.decoded_bytes - at) /* the array ends within the last word */
                bytes = s->info.decoded_bytes - at;
            if (memcmp(array + at, word, bytes) != 0)
                return false;
            word += extent[2] * s->width;
        }
    return true;
}

/* Picks one of the chunks [first, end) by a checksum: as good as by chance. */
static size_t pick(const struct zmpi_stream *s, size_t first, size_t end)
{
    return first + zmpi_load32(s->table + 8 * first + 4) % (end - first);
}

enum zmpi_status zmpi_stream_compare(const struct zmpi_stream *s, const void *array, size_t samples)
{
    const size_t chunks = s->info.chunks, n = samples < chunks ? samples : chunks;
    const unsigned char *src = s->src + s->head;
    struct zmpi_chunk_decoder v;
    enum zmpi_status status =
        zmpi_chunk_decoder_make(s, 0, NULL, false, &v) ? ZMPI_OK : ZMPI_ERR_MEMORY;
    for (size_t i = 0, k = 0; i < n && !status; i++) {
        const size_t next = pick(s, i * chunks / n, (i + 1) * chunks / n);
        for (; k < next; k++)
            src += zmpi_stream_chunk_size(s, k);
        status = zmpi_chunk_decoder_run(s, k, src, zmpi_stream_chunk_size(s, k), NULL, &v);
        if (!status && !is_there(s, k, array, v.words))
            status = ZMPI_ERR_DEVICE;
    }
    zmpi_chunk_decoder_free(&v);
    return status;
}
