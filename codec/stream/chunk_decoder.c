/* chunk_decoder.c - decodes one chunk of a checked stream to an array's place, or to its own words,
 * by the stream's encoder. */
#include "stream/chunk_decoder.h"

#include <stdlib.h>

void zmpi_chunk_decoder_free(struct zmpi_chunk_decoder *v)
{
    zmpi_interp_work_free(v->interp[0]);
    zmpi_interp_work_free(v->interp[1]);
    zmpi_net_work_free(v->net);
    free(v->net_out);
    free(v->own);
    free(v->coded);
    free(v->huffman);
    if (!v->shares)
        free(v->work);
}

static struct zmpi_interp_work *new_interp(const struct zmpi_stream *s,
                                           const struct zmpi_interp_rule *rule)
{
    size_t tile[3];
    for (int i = 0; i < 3; i++)
        tile[i] = s->info.tile[i] < s->extent[i] ? s->info.tile[i] : s->extent[i];
    return zmpi_interp_work_new(tile, rule->set, rule->sets, false);
}

static bool need_interp(const struct zmpi_stream *s, struct zmpi_chunk_decoder *v)
{
    size_t bytes = s->width;
    for (int i = 0; i < 3; i++)
        bytes *= s->info.tile[i] < s->extent[i] ? s->info.tile[i] : s->extent[i];
    if (!zmpi_interp_load(&v->rule, s->info.array.type, s->info.tile, s->books, s->books_size))
        return false;
    v->interp[0] = new_interp(s, &v->rule);
    v->words = v->own = v->interp[0] ? malloc(bytes) : NULL;
    return v->words != NULL;
}

static bool need_net(const struct zmpi_stream *s, struct zmpi_chunk_decoder *v)
{
    const uint32_t *tile = s->info.tile;
    if (!s->enhanced)
        return true;
    v->net = zmpi_net_work_new(&s->enhanced->of->net);
    v->net_out = malloc((size_t)tile[0] * tile[1] * tile[2]);
    return v->net && v->net_out;
}

bool zmpi_chunk_decoder_make(const struct zmpi_stream *s, size_t plane,
                             const struct zmpi_chunk_decoder *with, bool apart,
                             struct zmpi_chunk_decoder *v)
{
    *v =
        (struct zmpi_chunk_decoder){.work = with ? with->work : NULL, .shares = with && with->work};
    if (s->info.encoder == ZMPI_INTERP) {
        if (need_interp(s, v) && need_net(s, v))
            return true;
    } else {
        if (!v->work)
            v->work = plane ? zmpi_chunk_work_for(plane, 0) : zmpi_chunk_work_new();
        if (v->work && s->info.encoder == ZMPI_HUFFMAN)
            v->huffman = zmpi_huffman_decoder_new(s);
        v->words = v->work ? v->work->words : NULL;
        if (v->work && apart)
            v->words = v->own = aligned_alloc(64, ZMPI_CHUNK_INPUT_BYTES);
        if (v->words && (v->huffman || s->info.encoder != ZMPI_HUFFMAN))
            return true;
    }
    zmpi_chunk_decoder_free(v);
    *v = (struct zmpi_chunk_decoder){0};
    return false;
}

/* The rows of a chunk. place: its first word in the array; NULL: the rows lie in the work's buffer,
 * without gaps. */
static struct zmpi_rows tile_rows(const struct zmpi_stream *s, const size_t extent[3],
                                  unsigned char *place, unsigned char *words)
{
    if (!place)
        return (struct zmpi_rows){
            .at = words,
            .row = extent[2] * s->width,
            .plane = extent[1] * extent[2] * s->width,
        };
    return (struct zmpi_rows){
        .at = place,
        .row = s->extent[2] * s->width,
        .plane = s->extent[1] * s->extent[2] * s->width,
        .stream = s->info.decoded_bytes >= ZMPI_STREAM_BYTES,
    };
}

bool zmpi_stream_chunk_intact(const struct zmpi_stream *s, size_t k, const unsigned char *src)
{
    return (uint32_t)zmpi_kernels()->hash(src, zmpi_stream_chunk_size(s, k)) ==
           zmpi_load32(s->table + 8 * k + 4);
}

/* `place` is NULL for a big-endian stream, and where values are enhanced. */
static enum zmpi_status decode_words(const struct zmpi_stream *s, size_t k,
                                     const unsigned char *src, size_t size, unsigned char *place,
                                     struct zmpi_chunk_decoder *v)
{
    const struct zmpi_kernels *kernels = zmpi_kernels();
    size_t first[3], extent[3];
    if (!zmpi_stream_chunk_intact(s, k, src))
        return ZMPI_ERR_CHECKSUM;
    zmpi_stream_tile(s, k, first, extent);
    bool is_float = s->info.array.type == ZMPI_F32 || s->info.array.type == ZMPI_F64;
    struct zmpi_rows rows = tile_rows(s, extent, place, v->words);
    enum zmpi_status status = ZMPI_OK;
    if (v->interp[0]) {
        const struct zmpi_interp_coded c = {src, size, {extent[0], extent[1], extent[2]}, rows};
        zmpi_interp_decode(v->interp, &v->rule, &c, 1, &status);
        return status;
    }
    if (v->huffman)
        status = zmpi_huffman_unpack(v->huffman, s, extent[0] * extent[1] * extent[2], src, size,
                                     v->work, &src, &size);
    if (!status)
        status = s->width == 4 ? kernels->decode32(is_float, extent, src, size, &rows, v->work)
                               : kernels->decode64(is_float, extent, src, size, &rows, v->work);
    if (!status && s->info.array.type == ZMPI_BYTES) /* on a big-endian machine */
        zmpi_copy_elements(rows.at, rows.at, extent[2] * s->width, s->width);
    return status;
}

enum zmpi_status zmpi_chunk_decoder_run(const struct zmpi_stream *s, size_t k,
                                        const unsigned char *src, size_t size, unsigned char *place,
                                        struct zmpi_chunk_decoder *v)
{
    size_t first[3], extent[3];
    const enum zmpi_status status = decode_words(s, k, src, size, place, v);
    if (!status && v->net && zmpi_enhanced_has(s->enhanced, k))
        zmpi_enhance_chunk(s->enhanced, k, s, v->net, v->net_out, v->words);
    if (!status && s->info.big_endian) {
        zmpi_stream_tile(s, k, first, extent);
        zmpi_bytes_big_endian(v->words, v->words, extent[0] * extent[1] * extent[2], s->width);
    }
    return status;
}

bool zmpi_chunk_decoder_run_two(const struct zmpi_stream *s, const size_t k[2],
                                const unsigned char *const src[2], unsigned char *const place[2],
                                struct zmpi_chunk_decoder *v, enum zmpi_status status[2])
{
    struct zmpi_interp_coded c[2];
    for (int i = 0; i < 2; i++) {
        size_t first[3];
        zmpi_stream_tile(s, k[i], first, c[i].extent);
        c[i].src = src[i];
        c[i].size = zmpi_stream_chunk_size(s, k[i]);
        c[i].rows = tile_rows(s, c[i].extent, place[i], NULL);
    }
    if (!zmpi_interp_two_pay(c) || !zmpi_stream_chunk_intact(s, k[0], src[0]) ||
        !zmpi_stream_chunk_intact(s, k[1], src[1]))
        return false;
    v->interp[1] = v->interp[1] ? v->interp[1] : new_interp(s, &v->rule);
    if (!v->interp[1])
        return false;
    zmpi_interp_decode(v->interp, &v->rule, c, 2, status);
    return true;
}
