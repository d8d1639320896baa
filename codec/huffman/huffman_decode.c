/* huffman_decode.c - a chunk of encoder 2 to residuals and an fle chunk without planes (format.md
 * 1.4). src is untrusted. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/floats.h"
#include "huffman/huffman_loops.h"
#include "kernels/kernels.h"

enum { STREAMS = ZMPI_HUFFMAN_STREAMS };

/* ---- streams of bits ---- */

/* A stream that was read up to bit `at` fills the bytes up to `end`, but for bits that are 0; the
 * last but for up to 3 bytes more. */
static bool ends_at(const unsigned char *src, size_t at, size_t end, bool last)
{
    const size_t bytes = (at + 7) / 8;
    if (bytes > end || end - bytes > (last ? 3 : 0) || (at % 8 && src[at / 8] >> at % 8))
        return false;
    for (size_t i = bytes; i < end; i++)
        if (src[i])
            return false;
    return true;
}

bool zmpi_huffman_residuals(const struct zmpi_huffman_decoder *d, const unsigned char *src,
                            const size_t from[STREAMS + 1], size_t streams, size_t words,
                            size_t width, void *out)
{
    const struct zmpi_huffman_loops *loops = zmpi_kernels()->huffman;
    struct zmpi_lane lane[STREAMS];
    size_t end[STREAMS];
    const size_t blocks = (words + ZMPI_BLOCK - 1) / ZMPI_BLOCK;
    const size_t each = (blocks + streams - 1) / streams * ZMPI_BLOCK, limit = 8 * from[streams];
    memset(out, 0, blocks * ZMPI_BLOCK * width);
    for (size_t k = 0; k < streams; k++) {
        size_t first = k * each < words ? k * each : words;
        end[k] = first + each < words ? first + each : words;
        lane[k] = (struct zmpi_lane){8 * from[k], first, end[k]};
    }
    if (streams == STREAMS)
        (width == 4 ? loops->four32 : loops->four64)(d, src, limit, lane, out);
    for (size_t k = 0; k < streams; k++) {
        (width == 4 ? loops->one32 : loops->one64)(d, src, limit, &lane[k], out);
        if (lane[k].element != end[k] || !ends_at(src, lane[k].at, from[k + 1], k + 1 == streams))
            return false;
    }
    return true;
}

/* ---- a chunk ---- */

/* Offsets of the parts of a chunk. */
struct places {
    size_t sizes, marks, masks, values, bits;
    size_t streams, from[STREAMS + 1]; /* in the bits, bytes */
    bool once;                         /* one value for all exceptions */
};

static size_t bit_count(const unsigned char *src, size_t bytes)
{
    size_t n = 0;
    for (size_t i = 0; i < bytes; i += 4)
        n += (size_t)__builtin_popcount(zmpi_load32(src + i));
    return n;
}

/* Of masks that are there. */
static size_t count_values(const struct places *p, size_t blocks, const unsigned char *src)
{
    const unsigned char *any = src + p->marks, *uniform = any + (blocks + 31) / 32 * 4;
    const unsigned char *mask = src + p->masks;
    size_t values = 0;
    for (size_t b = 0; b < blocks; b++) {
        if (!(any[b / 8] >> b % 8 & 1))
            continue;
        values += uniform[b / 8] >> b % 8 & 1 ? 1 : bit_count(mask, 4);
        mask += 4;
    }
    return values;
}

/* Masks and values behind `marks`; false if they do not fit. Whether the masks are sound is for the
 * kernels to see. */
static bool find_exceptions(struct places *p, size_t width, size_t blocks, const unsigned char *src,
                            size_t size)
{
    const size_t bytes = (blocks + 31) / 32 * 4;
    if (size - p->marks < 2 * bytes)
        return false;
    const unsigned char *any = src + p->marks, *uniform = any + bytes;
    for (size_t i = 0; i < bytes; i += 4)
        if (zmpi_load32(uniform + i) & ~zmpi_load32(any + i))
            return false;
    if (blocks % 32 && zmpi_load32(any + bytes - 4) >> blocks % 32)
        return false;
    p->masks = p->marks + 2 * bytes;
    const size_t masks = bit_count(any, bytes) - (p->once ? bit_count(uniform, bytes) : 0);
    if (size - p->masks < 4 * masks)
        return false;
    p->values = p->masks + 4 * masks;
    p->bits = p->values + width * (p->once ? 1 : count_values(p, blocks, src));
    return p->bits <= size;
}

/* Finds them in the `size` bytes at src, whose first `head` bytes are the head. */
static bool find_places(struct places *p, size_t width, size_t blocks, const unsigned char *src,
                        size_t size, size_t head)
{
    const unsigned flags = src[2];
    p->sizes = head;
    p->once = flags & ZMPI_CHUNK_ONCE;
    if (src[0] >= ZMPI_MAP_STORED || flags & ZMPI_CHUNK_ZERO ||
        (p->once && !(flags & ZMPI_CHUNK_EXCEPTIONS)) || size < p->sizes + 8)
        return false;
    p->streams = src[p->sizes + 1];
    if (p->streams != 1 && p->streams != STREAMS)
        return false;
    p->marks = p->masks = p->values = p->bits = p->sizes + (p->streams > 1 ? 8 : 4);
    if (p->streams == 1 && zmpi_load16(src + p->sizes + 2))
        return false;
    if (flags & ZMPI_CHUNK_EXCEPTIONS && !find_exceptions(p, width, blocks, src, size))
        return false;
    p->from[0] = 0;
    for (size_t k = 0; k + 1 < p->streams; k++)
        p->from[k + 1] = p->from[k] + zmpi_load16(src + p->sizes + 2 + 2 * k);
    p->from[p->streams] = size - p->bits;
    return p->from[p->streams - 1] <= p->from[p->streams];
}

/* Masks of all blocks with exceptions, and the value for each. */
static unsigned char *repeat_once(const struct places *p, size_t width, size_t words,
                                  const unsigned char *src, unsigned char *dst)
{
    const size_t blocks = (words + ZMPI_BLOCK - 1) / ZMPI_BLOCK, bytes = (blocks + 31) / 32 * 4;
    const unsigned char *any = src + p->marks, *full = any + bytes, *mask = src + p->masks;
    size_t marked = 0;
    for (size_t i = 0; i < bytes; i += 4) {
        uint32_t left = zmpi_load32(any + i), whole = zmpi_load32(full + i);
        for (; left; left &= left - 1, marked++) {
            const bool stored = !(whole & left & (~left + 1));
            zmpi_store32(dst + 4 * marked, stored ? zmpi_load32(mask) : UINT32_MAX);
            mask += stored ? 4 : 0;
        }
    }
    if (zmpi_load32(full + bytes - 4) >> (blocks - 1) % 32) /* the last block may be shorter */
        zmpi_store32(dst + 4 * (marked - 1), UINT32_MAX >> (ZMPI_BLOCK * blocks - words));
    for (dst += 4 * marked; marked; marked--, dst += width)
        memcpy(dst, src + p->values, width);
    return dst;
}

/* A chunk as the kernels take it behind its head of `head` bytes at dst; returns its size. */
static size_t without_planes(const struct places *p, size_t width, size_t words,
                             const unsigned char *src, unsigned char *dst, size_t head)
{
    const size_t blocks = (words + ZMPI_BLOCK - 1) / ZMPI_BLOCK;
    const size_t padded = (blocks + 3) & ~(size_t)3, bytes = (blocks + 31) / 32 * 4;
    const unsigned char *marks = src + p->marks;
    unsigned char *lengths = dst + head, *behind = lengths + padded;
    dst[2] &= (unsigned char)~(ZMPI_CHUNK_HUFFMAN | ZMPI_CHUNK_ONCE);
    memset(lengths, 0, padded);
    for (size_t i = 0; i < bytes && p->values > p->marks; i += 4) {
        const uint32_t any = zmpi_load32(marks + i);
        const uint32_t uniform = p->once ? any : zmpi_load32(marks + bytes + i);
        for (unsigned b = 0; b < 32 && any; b++) /* zeros behind the last block */
            lengths[8 * i + b] = (unsigned char)((any >> b & 1) << 7 | (uniform >> b & 1) << 6);
    }
    if (p->once)
        return (size_t)(repeat_once(p, width, words, src, behind) - dst);
    memcpy(behind, src + p->masks, p->bits - p->masks);
    return head + padded + (p->bits - p->masks);
}

struct zmpi_huffman_decoder *zmpi_huffman_decoder_new(const struct zmpi_stream *s)
{
    struct zmpi_huffman_decoder *d = malloc(sizeof *d);
    if (!d)
        return NULL;
    const struct zmpi_floats program = zmpi_floats_begin();
    zmpi_chunk_rule_make(&d->rule, s->info.array.type, s->info.abs_bound, (double)INFINITY);
    zmpi_floats_end(program);
    d->number = -1;
    return d;
}

static enum zmpi_status use_book(struct zmpi_huffman_decoder *d, const struct zmpi_stream *s,
                                 unsigned number)
{
    struct zmpi_book book;
    if (d->number == (int)number)
        return ZMPI_OK;
    if (number < ZMPI_HUFFMAN_OFFLINE)
        book = *zmpi_book_offline(number);
    else if (!zmpi_stream_book(s, number - ZMPI_HUFFMAN_OFFLINE, &book))
        return ZMPI_ERR_CORRUPT;
    zmpi_huffman_decoder_set(d, &book);
    d->number = (int)number;
    return ZMPI_OK;
}

/* Copies the head of src to dst. Returns its size, 0 if it is invalid. *taken: bytes of src. */
static size_t load_head(const struct zmpi_huffman_decoder *d, size_t width,
                        const unsigned char *src, size_t size, unsigned char *dst, size_t *taken)
{
    const size_t head = zmpi_head_bytes(width, src);
    *taken = head;
    if (src[0] == ZMPI_MAP_QUANTIZED && src[3])
        *taken = zmpi_head_lengthen(&d->rule, width, src, size, dst);
    else if (size >= head)
        memcpy(dst, src, head);
    return *taken && size >= *taken ? head : 0;
}

enum zmpi_status zmpi_huffman_unpack(struct zmpi_huffman_decoder *d, const struct zmpi_stream *s,
                                     size_t words, const unsigned char *src, size_t src_size,
                                     struct zmpi_chunk_work *work, const unsigned char **chunk,
                                     size_t *size)
{
    const size_t blocks = (words + ZMPI_BLOCK - 1) / ZMPI_BLOCK;
    unsigned char full[ZMPI_HEAD_MAX];
    size_t taken;
    struct places p;
    work->given = src[2] & ZMPI_CHUNK_HUFFMAN;
    *chunk = src;
    *size = src_size;
    if (!work->given && !(src[0] == ZMPI_MAP_QUANTIZED && src[3]))
        return ZMPI_OK;
    const size_t head = load_head(d, s->width, src, src_size, full, &taken);
    if (!head)
        return ZMPI_ERR_CORRUPT;
    if (!work->given) {
        memcpy(work->coded, full, head);
        memcpy(work->coded + head, src + taken, src_size - taken);
        *chunk = work->coded;
        *size = head + (src_size - taken);
        return ZMPI_OK;
    }
    if (!find_places(&p, s->width, blocks, src, src_size, taken))
        return ZMPI_ERR_CORRUPT;
    enum zmpi_status status = use_book(d, s, src[p.sizes]);
    if (status)
        return status;
    const size_t bytes = p.from[p.streams], behind = (bytes + ZMPI_HUFFMAN_BEHIND + 63) / 64 * 64;
    memcpy(work->coded, src + p.bits, bytes);
    memset(work->coded + bytes, 0, ZMPI_HUFFMAN_LOOKED);
    if (!zmpi_huffman_residuals(d, work->coded, p.from, p.streams, words, s->width,
                                work->residuals))
        return ZMPI_ERR_CORRUPT;
    memcpy(work->coded + behind, full, head);
    *chunk = work->coded + behind;
    *size = without_planes(&p, s->width, words, src, work->coded + behind, head);
    return ZMPI_OK;
}
