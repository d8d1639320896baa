/*
 * zmpi_codec.h - error-bounded compression of float arrays, without MPI.
 *
 * One array of up to three dimensions becomes one self-describing stream (docs/format.md, part 1)
 * and back. The same input and parameters give the same bytes on every device, with any number of
 * threads.
 *
 *     struct zmpi_array a = { ZMPI_F32, { nz, ny, nx } };
 *     struct zmpi_bound b;
 *     zmpi_bound_parse("rel=1e-3", &b);
 *     size_t cap = zmpi_compress_capacity(&a), size;
 *     enum zmpi_status s = zmpi_compress(&a, &b, NULL, out, cap, field, &size);
 *
 * Conventions: functions return ZMPI_OK or an error; outputs are written only on ZMPI_OK unless
 * said otherwise. No function prints, exits or keeps a pointer it was given; buffers are the
 * caller's, may begin at any address, and may not overlap. No pointer may be NULL unless said
 * otherwise. All are safe to call from any thread at once; each works in its caller's thread alone,
 * but for zmpi_compress_with and zmpi_decompress_with.
 * Sizes are in bytes, extents in elements, order z, y, x with x fastest; unused leading extents are
 * 1.
 */
#ifndef ZMPI_CODEC_H
#define ZMPI_CODEC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ZMPI_VERSION_MAJOR 0
#define ZMPI_VERSION_MINOR 1
#define ZMPI_VERSION_PATCH 0
#define ZMPI_API           __attribute__((visibility("default")))

/* What zmpi_bound_parse takes, for messages. */
#define ZMPI_BOUNDS                                                                                \
    "abs=V, rel=V, pw_rel=V (V > 0, rel and pw_rel < 1), psnr=dB (up to 300), ratio=R (R > 1) or " \
    "lossless"

/* One list makes the enum and the strings. Numbers are pinned: never renumber, only append. */
#define ZMPI_STATUS_LIST(X)                                                                        \
    X(OK, 0, "success")                                                                            \
    X(ERR_ARG, 1, "invalid argument")                                                              \
    X(ERR_BOUND, 2, "error bound is none of " ZMPI_BOUNDS)                                         \
    X(ERR_MEMORY, 3, "out of memory")                                                              \
    X(ERR_SPACE, 4, "output buffer too small")                                                     \
    X(ERR_FORMAT, 5, "not a zmpi stream or container")                                             \
    X(ERR_VERSION, 6, "written by a newer version of the format")                                  \
    X(ERR_TRUNCATED, 7, "truncated")                                                               \
    X(ERR_CHECKSUM, 8, "checksum mismatch: the data are damaged")                                  \
    X(ERR_CORRUPT, 9, "inconsistent data: damaged, or written by a faulty encoder")                \
    X(ERR_SIZE, 10, "size overflows what can be addressed")                                        \
    X(ERR_IO, 11, "input/output error")                                                            \
    X(ERR_NO_SPACE, 12, "no space left on device")                                                 \
    X(ERR_DEVICE, 13, "device not available or failed")                                            \
    X(ERR_UNSUPPORTED, 14, "not supported")

enum zmpi_status {
#define X(name, number, text) ZMPI_##name = (number),
    ZMPI_STATUS_LIST(X)
#undef X
};

/* Static English text of a status; never NULL. */
ZMPI_API const char *zmpi_strerror(enum zmpi_status status);

/* "0.1.0" */
ZMPI_API const char *zmpi_version(void);

/* Element types; numbers are those of the format. */
enum zmpi_type {
    ZMPI_F32 = 1,
    ZMPI_F64 = 2,
    ZMPI_I32 = 3,  /* any 4-byte integer, exact   */
    ZMPI_I64 = 4,  /* any 8-byte integer, exact   */
    ZMPI_BYTES = 5 /* anything else, exact        */
};

/* Bytes per element: 4, 8, 4, 8, 1; 0 for an unknown type. */
ZMPI_API size_t zmpi_type_size(enum zmpi_type type);

/* Numbers are those of the format. */
enum zmpi_mode {
    ZMPI_LOSSLESS = 0, /* bit for bit */
    ZMPI_ABS = 1,      /* every |x - x'| <= value */
    ZMPI_REL = 2,      /* every |x - x'| <= value * (max - min) */
    ZMPI_PSNR = 3,     /* 20 log10((max - min) / rmse) >= value, rmse that of the piece coded */
    ZMPI_RATIO = 4, /* the smallest bound, like abs, with which the stream is 1/value of the data */
    ZMPI_PW_REL = 5 /* every |x - x'| <= value * |x| */
};

/* What the user asks. max, min and rmse are of the values that struct zmpi_range is of. */
struct zmpi_bound {
    enum zmpi_mode mode;
    double value; /* finite, > 0; below 1 for rel and pw_rel, at most 300 for psnr, over 1 for
                     ratio; 0 for lossless */
};

/* "abs=V", "rel=V", "pw_rel=V", "psnr=dB", "ratio=R" or "lossless", all decimal. ZMPI_ERR_BOUND if
 * it is none of these or the value is out of range. */
ZMPI_API enum zmpi_status zmpi_bound_parse(const char *text, struct zmpi_bound *bound);

/* Writes what zmpi_bound_parse reads, at most 40 bytes with the terminating zero. */
ZMPI_API void zmpi_bound_format(const struct zmpi_bound *bound, char text[40]);

/* The elements lie one behind the other, without gaps. Any extent may be 0: no elements.
 * None may be beyond INT64_MAX. */
struct zmpi_array {
    enum zmpi_type type;
    size_t extent[3]; /* z, y, x */
};

/* Elements, or bytes: ZMPI_ERR_SIZE if that is 2^63 or more, ZMPI_ERR_ARG if the type is unknown
 * (bytes alone). */
ZMPI_API enum zmpi_status zmpi_array_count(const struct zmpi_array *array, size_t *count);
ZMPI_API enum zmpi_status zmpi_array_bytes(const struct zmpi_array *array, size_t *bytes);

/*
 * Value range of an array, over finite elements that are not fill values (format.md 4.2). Ranges of
 * pieces merge into the range of the whole: the rel and psnr bounds of a distributed array are
 * those of the merged range.
 */
struct zmpi_range {
    double min;  /* +inf if there is no element */
    double max;  /* -inf if there is no element */
    double fill; /* smallest magnitude of a fill value, +inf if none */
};

#define ZMPI_RANGE_EMPTY ((struct zmpi_range){__builtin_inf(), -__builtin_inf(), __builtin_inf()})

/* Of `count` elements; ZMPI_RANGE_EMPTY for types that are not floats. */
ZMPI_API void zmpi_range_of(enum zmpi_type type, const void *src, size_t count,
                            struct zmpi_range *range);
/* *range becomes that of both. */
ZMPI_API void zmpi_range_merge(struct zmpi_range *range, const struct zmpi_range *other);

/* The largest size that the stream of an array may have; 0 if the array is too large. */
ZMPI_API size_t zmpi_compress_capacity(const struct zmpi_array *array);

/*
 * Compress `src` (array->extent elements) into dst. `range` is that of the whole distributed array,
 * or NULL: then it is that of src (one more pass over the data, for all bounds but abs and
 * lossless). Integer types are always coded exactly. On success *size is the length of the stream;
 * otherwise what is in dst is undefined. A capacity of zmpi_compress_capacity is always enough; for
 * a ratio, what is tried first may need more room than the stream in the end.
 *
 * ZMPI_ERR_ARG, ZMPI_ERR_BOUND, ZMPI_ERR_SIZE (the array), ZMPI_ERR_SPACE (dst), ZMPI_ERR_MEMORY.
 */
ZMPI_API enum zmpi_status zmpi_compress(const struct zmpi_array *array,
                                        const struct zmpi_bound *bound,
                                        const struct zmpi_range *range, void *dst,
                                        size_t dst_capacity, const void *src, size_t *size);

/* How residuals become bits; numbers are those of the format. */
enum zmpi_encoder {
    ZMPI_FLE = 1,     /* fast */
    ZMPI_HUFFMAN = 2, /* smaller, a quarter of the speed */
    ZMPI_INTERP = 3   /* smaller again, for data that are kept: far slower. Where it gains nothing
                         the stream is one of ZMPI_HUFFMAN */
};

/* How a call is done. Later versions may have more members: `size` first, all else 0. A structure
 * of an earlier version is taken; members that this one does not know must be 0. */
struct zmpi_codec_options {
    size_t size;      /* sizeof(struct zmpi_codec_options) */
    int encoder;      /* enum zmpi_encoder; 0: ZMPI_FLE. Decoding does not look at it */
    int threads;      /* at most; 0: as many as there are CPUs for this process. Any number gives
                         the same bytes. Helpers are started by the first call and kept */
    double threshold; /* values with |x| >= threshold are kept exactly, and are no part of the
                         range; 0: none but fill values. `range` must leave them out too */
    int fills; /* number of values in `fill`, up to 2: these are kept exactly, and are no part of
                  the range, wherever they lie. `range` must leave them out too */
    double fill[2];
    const char *device; /* "auto", or a device's name (zmpi options device); NULL: "cpu". What it
                           cannot do, or fails at, the CPU does: a failure is one line on standard
                           error. All devices give the same bytes */
    int rewritten;      /* not 0: parts of src may have been decoded from streams of this absolute
                           bound, and are to come out as they are. ZMPI_INTERP: from any stream;
                           else from those of encoders 1 and 2, or 3 by Lorenzo (`family`) */
};

/* zmpi_compress, as the options say; NULL: all 0. zmpi_compress_capacity holds for all encoders.
 * ZMPI_ERR_ARG too if an option is none of these, ZMPI_ERR_DEVICE if there is no such device,
 * ZMPI_ERR_UNSUPPORTED if a member is set that this version does not know. */
ZMPI_API enum zmpi_status zmpi_compress_with(const struct zmpi_codec_options *options,
                                             const struct zmpi_array *array,
                                             const struct zmpi_bound *bound,
                                             const struct zmpi_range *range, void *dst,
                                             size_t dst_capacity, const void *src, size_t *size);

/* What a stream's header says. */
struct zmpi_stream_info {
    struct zmpi_array array;
    struct zmpi_bound bound; /* as asked */
    double abs_bound;        /* of every finite element; 0: exact, +inf: none (pw_rel) */
    int encoder;             /* enum zmpi_encoder */
    uint32_t tile[3]; /* extents of a chunk, z, y, x; those at the array's ends may be smaller */
    size_t chunks;
    size_t length;        /* of the stream */
    size_t decoded_bytes; /* of the array  */
    int big_endian;       /* floats that are big-endian when they are decoded */
    /* ZMPI_INTERP: 1 from coarse points to fine (lattice), 2 from neighbours (Lorenzo), 3 a lattice
     * in planes that may be coded less those `lag` before (planes), 4 as FLARE's hardware does; the
     * axes along which, 1: x, 2: y, 4: z; how often a lattice's chunks are halved. Else 0. */
    int family;
    unsigned axes, levels, lag;
    int books; /* ZMPI_INTERP: it has Huffman codes (interp:huffman) */
};

/* Parse and check header and chunk table of the stream at src. src_size may be larger than the
 * stream, here and below. ZMPI_ERR_FORMAT, _VERSION, _TRUNCATED, _CHECKSUM, _CORRUPT or _SIZE. */
ZMPI_API enum zmpi_status zmpi_stream_info(const void *src, size_t src_size,
                                           struct zmpi_stream_info *info);

/* Decode a whole stream. ZMPI_ERR_SPACE if dst_capacity < decoded_bytes, ZMPI_ERR_MEMORY, and those
 * of zmpi_stream_info. On error what is in dst is undefined. */
ZMPI_API enum zmpi_status zmpi_decompress(void *dst, size_t dst_capacity, const void *src,
                                          size_t src_size);

/* zmpi_decompress by several threads, or a device; NULL: all 0. */
ZMPI_API enum zmpi_status zmpi_decompress_with(const struct zmpi_codec_options *options, void *dst,
                                               size_t dst_capacity, const void *src,
                                               size_t src_size);

/* Check every checksum and decode every chunk to nowhere. Errors are those of zmpi_decompress; then
 * *bad_chunk (may be NULL) is the number of the first damaged chunk, 0 if it is the header. */
ZMPI_API enum zmpi_status zmpi_stream_verify(const void *src, size_t src_size, size_t *bad_chunk);

#ifdef __cplusplus
}
#endif
#endif
