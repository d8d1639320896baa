/* stream.c - header and chunk table of a stream (format.md 1.1, 1.3). src is untrusted. */
#include "layout/stream.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/floats.h"
#include "base/hash.h"
#include "huffman/huffman.h"
#include "interp/flare/flare.h"

#define STREAM_MAGIC   0x5254535AU
#define TABLE_ENTRY    8
#define SMALLEST_CHUNK 4
#define BOOKS_MAX      65536

/* Words of a chunk, at most. */
static size_t words_most(const struct zmpi_stream *s)
{
    return s->info.encoder == ZMPI_INTERP ? ZMPI_FLARE_WORDS : ZMPI_CHUNK_INPUT_BYTES / s->width;
}

/* Bytes of a coded chunk, at most. */
static size_t coded_most(const struct zmpi_stream *s)
{
    return s->info.encoder == ZMPI_INTERP ? 4 + ZMPI_FLARE_WORDS * s->width : ZMPI_CHUNK_CODED_MAX;
}

static enum zmpi_status parse_extents(struct zmpi_stream *s, const unsigned char *src)
{
    struct zmpi_stream_info *info = &s->info;
    size_t words = 1;
    for (int i = 0; i < 3; i++) {
        uint64_t extent = zmpi_load64(src + 24 + 8 * i);
        info->tile[i] = zmpi_load32(src + 12 + 4 * i);
        if (extent > (uint64_t)INT64_MAX)
            return ZMPI_ERR_SIZE;
        if (i < 3 - src[6] && extent != 1) /* a dimension that is not used */
            return ZMPI_ERR_CORRUPT;
        info->array.extent[i] = s->extent[i] = (size_t)extent;
        if (info->tile[i] == 0 || info->tile[i] > words_most(s))
            return ZMPI_ERR_CORRUPT;
        words *= info->tile[i]; /* at most 2^54 */
    }
    if (words > words_most(s))
        return ZMPI_ERR_CORRUPT;
    if (info->array.type == ZMPI_BYTES) {
        if (s->extent[0] != 1 || s->extent[1] != 1)
            return ZMPI_ERR_CORRUPT;
        s->extent[2] = s->extent[2] / 4 + (s->extent[2] % 4 != 0);
    }
    return zmpi_array_bytes(&info->array, &info->decoded_bytes);
}

static enum zmpi_status count_chunks(struct zmpi_stream *s)
{
    size_t n = 1;
    for (int i = 0; i < 3; i++) {
        size_t t = s->info.tile[i];
        s->grid[i] = s->extent[i] / t + (s->extent[i] % t != 0);
    }
    if (s->info.decoded_bytes == 0) /* whatever the other extents are */
        n = 0;
    for (int i = 0; i < 3 && n != 0; i++)
        if (__builtin_mul_overflow(n, s->grid[i], &n))
            return ZMPI_ERR_SIZE;
    size_t left = s->info.length - ZMPI_STREAM_HEADER_BYTES;
    s->info.chunks = n;
    if (s->books_size > left || n > (left - s->books_size) / (TABLE_ENTRY + SMALLEST_CHUNK))
        return ZMPI_ERR_CORRUPT;
    s->head = ZMPI_STREAM_HEADER_BYTES + TABLE_ENTRY * n + s->books_size;
    return ZMPI_OK;
}

static size_t books_most(unsigned encoder)
{
    return encoder == ZMPI_HUFFMAN ? BOOKS_MAX : encoder == ZMPI_INTERP ? ZMPI_INTERP_HEAD : 0;
}

/* Parses the 80 bytes, without the checksum. */
static enum zmpi_status parse_header(struct zmpi_stream *s, const unsigned char *src)
{
    struct zmpi_stream_info *info = &s->info;
    memset(s, 0, sizeof *s);
    if (zmpi_load32(src) != STREAM_MAGIC)
        return ZMPI_ERR_FORMAT;
    if (src[4] != 1)
        return ZMPI_ERR_VERSION;
    const unsigned type = src[5] & ~ZMPI_STREAM_BIG_ENDIAN;
    info->big_endian = type != src[5];
    if (type < ZMPI_F32 || type > ZMPI_BYTES || src[6] < 1 || src[6] > 3 || src[7] > ZMPI_PW_REL ||
        (info->big_endian && type > ZMPI_F64))
        return ZMPI_ERR_CORRUPT;
    if (src[8] < ZMPI_FLE)
        return ZMPI_ERR_CORRUPT;
    if (src[8] > ZMPI_ENCODERS) /* of a newer zmpi */
        return ZMPI_ERR_VERSION;
    s->books_size = 4 * (size_t)(zmpi_load32(src + 8) >> 8);
    if (s->books_size > books_most(src[8]))
        return ZMPI_ERR_CORRUPT;
    info->array.type = type;
    info->encoder = src[8];
    info->bound.mode = src[7];
    info->bound.value = zmpi_loadf64(src + 48);
    info->abs_bound = zmpi_loadf64(src + 56);
    uint64_t length = zmpi_load64(src + 64);
    if (!(info->bound.value >= 0) || !(info->abs_bound >= 0))
        return ZMPI_ERR_CORRUPT;
    if (src[8] == ZMPI_INTERP && type > ZMPI_F64)
        return ZMPI_ERR_CORRUPT;
    if (length < ZMPI_STREAM_HEADER_BYTES || length > (uint64_t)INT64_MAX)
        return ZMPI_ERR_CORRUPT;
    info->length = (size_t)length;
    s->width = info->array.type == ZMPI_F64 || info->array.type == ZMPI_I64 ? 8 : 4;
    enum zmpi_status status = parse_extents(s, src);
    return status ? status : count_chunks(s);
}

enum zmpi_status zmpi_stream_head_size(const void *src, size_t src_size, size_t *head)
{
    struct zmpi_stream s;
    if (src_size < ZMPI_STREAM_HEADER_BYTES)
        return ZMPI_ERR_TRUNCATED;
    enum zmpi_status status = parse_header(&s, src);
    if (!status)
        *head = s.head;
    return status;
}

/* The chunk sizes must fill the stream. */
static enum zmpi_status check_table(const struct zmpi_stream *s)
{
    size_t left = s->info.length - s->head;
    for (size_t k = 0; k < s->info.chunks; k++) {
        size_t size = zmpi_load32(s->table + k * TABLE_ENTRY);
        if (size < SMALLEST_CHUNK || size % 4 || size > coded_most(s) || size > left)
            return ZMPI_ERR_CORRUPT;
        left -= size;
    }
    return left ? ZMPI_ERR_CORRUPT : ZMPI_OK;
}

/* Finds the books, and checks that all are sound. */
static enum zmpi_status check_books(struct zmpi_stream *s)
{
    struct zmpi_book book;
    struct zmpi_interp_rule rule;
    size_t at = 1;
    if (s->info.encoder == ZMPI_INTERP) {
        if (s->books_size > ZMPI_INTERP_PROFILE_AT &&
            s->books[ZMPI_INTERP_PROFILE_AT] > ZMPI_INTERP_PROFILES) /* of a newer zmpi */
            return ZMPI_ERR_VERSION;
        if (!zmpi_interp_load(&rule, s->info.array.type, s->info.tile, s->books, s->books_size))
            return ZMPI_ERR_CORRUPT;
        s->info.family = rule.flare ? ZMPI_INTERP_FLARE : (int)rule.set[0].family;
        s->info.axes = rule.flare ? 7 : rule.set[0].axes;
        s->info.levels = rule.flare ? ZMPI_FLARE_LEVELS : rule.set[0].levels;
        s->info.lag = rule.set[0].lag;
        s->info.books = rule.books;
        return ZMPI_OK;
    }
    if (!s->books_size)
        return ZMPI_OK;
    s->book_count = s->books[0];
    if (s->book_count < 1 || s->book_count > ZMPI_STREAM_BOOKS)
        return ZMPI_ERR_CORRUPT;
    for (unsigned i = 0; i < s->book_count; i++) {
        size_t size = zmpi_book_load(&book, s->books + at, s->books_size - at);
        if (!size)
            return ZMPI_ERR_CORRUPT;
        s->book_at[i] = (uint16_t)at;
        at += size;
    }
    if (s->books_size - at > 3)
        return ZMPI_ERR_CORRUPT;
    for (; at < s->books_size; at++)
        if (s->books[at])
            return ZMPI_ERR_CORRUPT;
    return ZMPI_OK;
}

bool zmpi_stream_book(const struct zmpi_stream *s, unsigned i, struct zmpi_book *book)
{
    size_t at = i < s->book_count ? s->book_at[i] : s->books_size;
    return zmpi_book_load(book, s->books + at, s->books_size - at) != 0;
}

enum zmpi_status zmpi_stream_parse(struct zmpi_stream *s, const void *src, size_t src_size)
{
    const unsigned char *p = src;
    if (src_size < ZMPI_STREAM_HEADER_BYTES)
        return ZMPI_ERR_TRUNCATED;
    const struct zmpi_floats program = zmpi_floats_begin(); /* its numbers may be anything */
    enum zmpi_status status = parse_header(s, p);
    zmpi_floats_end(program);
    if (status)
        return status;
    if (src_size < s->info.length)
        return ZMPI_ERR_TRUNCATED;
    s->src = p;
    s->table = p + ZMPI_STREAM_HEADER_BYTES;
    s->books = p + (s->head - s->books_size);
    if (zmpi_hash2(p, 72, s->table, s->head - ZMPI_STREAM_HEADER_BYTES, 0) != zmpi_load64(p + 72))
        return ZMPI_ERR_CHECKSUM;
    status = check_table(s);
    return status ? status : check_books(s);
}

enum zmpi_status zmpi_stream_info(const void *src, size_t src_size, struct zmpi_stream_info *info)
{
    struct zmpi_stream s;
    enum zmpi_status status = zmpi_stream_parse(&s, src, src_size);
    if (!status)
        *info = s.info;
    return status;
}

void zmpi_stream_tile(const struct zmpi_stream *s, size_t k, size_t first[3], size_t extent[3])
{
    size_t at[3] = {k / s->grid[2] / s->grid[1], k / s->grid[2] % s->grid[1], k % s->grid[2]};
    for (int i = 0; i < 3; i++) {
        size_t t = s->info.tile[i];
        first[i] = at[i] * t;
        extent[i] = s->extent[i] - first[i] < t ? s->extent[i] - first[i] : t;
    }
}

/* Marks the tiles of one row that hold words [x0, x1]. */
static void mark_row(const struct zmpi_stream *s, size_t z, size_t y, size_t x0, size_t x1,
                     unsigned char *need)
{
    const uint32_t *t = s->info.tile;
    size_t row = (z / t[0] * s->grid[1] + y / t[1]) * s->grid[2];
    for (size_t k = x0 / t[2]; k <= x1 / t[2]; k++)
        need[row + k] = 1;
}

void zmpi_stream_mark(const struct zmpi_stream *s, size_t begin, size_t end, unsigned char *need)
{
    const size_t *e = s->extent;
    if (end > s->info.decoded_bytes)
        end = s->info.decoded_bytes;
    if (begin >= end)
        return;
    /* All rows in one row of tiles mark the same tiles, and so do all planes in one layer. So after
     * a whole row or plane the others of its tiles are skipped. */
    const uint32_t *t = s->info.tile;
    const size_t plane = e[1] * e[2], first = begin / s->width, last = (end - 1) / s->width;
    for (size_t w = first; w <= last;) {
        const size_t x = w % e[2], row = w / e[2], y = row % e[1], z = row / e[1];
        const size_t left = last - w;
        if (x == 0 && y == 0 && left >= plane - 1) {
            memset(need + z / t[0] * s->grid[1] * s->grid[2], 1, s->grid[1] * s->grid[2]);
            w = (z / t[0] + 1) * t[0] * plane;
            continue;
        }
        mark_row(s, z, y, x, left < e[2] - x ? x + left : e[2] - 1, need);
        if (x == 0 && left >= e[2] - 1) {
            const size_t next = (y / t[1] + 1) * t[1];
            w = (z * e[1] + (next < e[1] ? next : e[1])) * e[2];
        } else {
            w += e[2] - x;
        }
    }
}
