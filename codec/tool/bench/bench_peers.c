/*
 * bench_peers.c - other compressors to compare with, if the build has found them: ZMPI_HAVE_ZFP,
 * ZMPI_HAVE_LZ4, ZMPI_HAVE_ZSTD.
 */
#include <stddef.h>

#include "tool/bench/bench.h"

#ifdef ZMPI_HAVE_ZFP
#include <zfp.h>

/* A stream over dst in zfp's fixed-accuracy mode, with zmpi's bound. */
static zfp_stream *zfp_start(double bound, void *dst, size_t capacity)
{
    zfp_stream *stream = zfp_stream_open(NULL);
    bitstream *bits = stream_open(dst, capacity);
    zfp_stream_set_bit_stream(stream, bits);
    zfp_stream_rewind(stream);
    zfp_stream_set_accuracy(stream, bound);
    return stream;
}

static void zfp_end(zfp_stream *stream)
{
    bitstream *bits = zfp_stream_bit_stream(stream);
    zfp_stream_close(stream);
    stream_close(bits);
}

/* Drops extents of 1, as zmpi does. */
static zfp_field *zfp_array(const struct zmpi_array *a, void *data)
{
    size_t e[3], n = 0;
    for (int i = 0; i < 3; i++)
        if (a->extent[i] > 1)
            e[n++] = a->extent[i];
    zfp_type type = a->type == ZMPI_F32 ? zfp_type_float : zfp_type_double;
    if (n == 3)
        return zfp_field_3d(data, type, e[2], e[1], e[0]);
    if (n == 2)
        return zfp_field_2d(data, type, e[1], e[0]);
    return zfp_field_1d(data, type, n ? e[0] : 1);
}

static size_t zfp_capacity(const struct zmpi_array *a, double bound)
{
    zfp_stream *stream = zfp_stream_open(NULL);
    zfp_field *field = zfp_array(a, NULL);
    zfp_stream_set_accuracy(stream, bound);
    size_t size = zfp_stream_maximum_size(stream, field);
    zfp_field_free(field);
    zfp_stream_close(stream);
    return size;
}

static size_t zfp_encode(const struct zmpi_array *a, double bound, void *dst, size_t capacity,
                         void *src)
{
    zfp_stream *stream = zfp_start(bound, dst, capacity);
    zfp_field *field = zfp_array(a, src);
    size_t size = zfp_compress(stream, field);
    zfp_field_free(field);
    zfp_end(stream);
    return size;
}

static bool zfp_decode(const struct zmpi_array *a, double bound, void *dst, void *src, size_t size)
{
    zfp_stream *stream = zfp_start(bound, src, size);
    zfp_field *field = zfp_array(a, dst);
    bool done = zfp_decompress(stream, field) != 0;
    zfp_field_free(field);
    zfp_end(stream);
    return done;
}
#endif

#if defined ZMPI_HAVE_LZ4 || defined ZMPI_HAVE_ZSTD
static size_t bytes_of(const struct zmpi_array *a)
{
    size_t bytes = 0;
    zmpi_array_bytes(a, &bytes);
    return bytes;
}
#endif

#ifdef ZMPI_HAVE_LZ4
#include <lz4.h>

static size_t lz4_capacity(const struct zmpi_array *a, double bound)
{
    (void)bound;
    size_t n = bytes_of(a);
    return n <= LZ4_MAX_INPUT_SIZE ? (size_t)LZ4_compressBound((int)n) : 0;
}

static size_t lz4_encode(const struct zmpi_array *a, double bound, void *dst, size_t capacity,
                         void *src)
{
    (void)bound;
    size_t n = bytes_of(a);
    int limit = capacity < 0x7FFFFFFF ? (int)capacity : 0x7FFFFFFF;
    int size = n <= LZ4_MAX_INPUT_SIZE ? LZ4_compress_default(src, dst, (int)n, limit) : 0;
    return size > 0 ? (size_t)size : 0;
}

static bool lz4_decode(const struct zmpi_array *a, double bound, void *dst, void *src, size_t size)
{
    (void)bound;
    size_t n = bytes_of(a);
    int got = LZ4_decompress_safe(src, dst, (int)size, (int)n);
    return got >= 0 && (size_t)got == n;
}
#endif

#ifdef ZMPI_HAVE_ZSTD
#include <zstd.h>

enum { ZSTD_LEVEL = 1 }; /* zstd's fastest ordinary level */

static size_t zstd_capacity(const struct zmpi_array *a, double bound)
{
    (void)bound;
    return ZSTD_compressBound(bytes_of(a));
}

static size_t zstd_encode(const struct zmpi_array *a, double bound, void *dst, size_t capacity,
                          void *src)
{
    (void)bound;
    size_t size = ZSTD_compress(dst, capacity, src, bytes_of(a), ZSTD_LEVEL);
    return ZSTD_isError(size) ? 0 : size;
}

static bool zstd_decode(const struct zmpi_array *a, double bound, void *dst, void *src, size_t size)
{
    (void)bound;
    size_t n = bytes_of(a);
    return ZSTD_decompress(dst, n, src, size) == n;
}
#endif

static const struct bench_peer peers[] = {
#ifdef ZMPI_HAVE_ZFP
    {"zfp", true, zfp_capacity, zfp_encode, zfp_decode},
#endif
#ifdef ZMPI_HAVE_LZ4
    {"lz4", false, lz4_capacity, lz4_encode, lz4_decode},
#endif
#ifdef ZMPI_HAVE_ZSTD
    {"zstd-1", false, zstd_capacity, zstd_encode, zstd_decode},
#endif
    {NULL, false, NULL, NULL, NULL},
};

const struct bench_peer *bench_peer(int i)
{
    return peers[i].name ? &peers[i] : NULL;
}
