/*
 * huffman_decode_t.h - template: streams of bits to residuals.
 *
 * Parameters: U the unsigned word, NAME(x). src: the bits, behind which much more can be read than
 * any stream of bits goes too far. Places in it are in bits.
 */

/* Bits of one stream, and where its residuals go; `end` is that of its elements. */
struct NAME(lane) {
    size_t at, element, end;
};

/* The extra bits of a wide class or an escape. */
static uint64_t NAME(wide)(const unsigned char *src, size_t limit, struct NAME(lane) * l,
                           unsigned extra)
{
    const size_t at = l->at;
    l->at += extra;
    if (l->at > limit) { /* cannot be right: stops here */
        l->end = 0;
        return 0;
    }
    const unsigned char *p = src + (at >> 3);
    uint64_t low = zmpi_load64(p) >> (at & 7), high = (uint64_t)p[8] << 1 << (63 - (at & 7));
    return extra < 64 ? (low | high) & (((uint64_t)1 << extra) - 1) : low | high;
}

/* The next symbols: two, if pairs is set and both are there, else one. Writes one element, with
 * pairs two. */
static inline __attribute__((always_inline)) void NAME(step)(const struct zmpi_huffman_decoder *d,
                                                             const unsigned char *src, size_t limit,
                                                             struct NAME(lane) * l, U *out,
                                                             bool pairs)
{
    const uint64_t w = zmpi_load64(src + (l->at >> 3)) >> (l->at & 7);
    const uint32_t t = d->entry[w & (TABLE - 1)];
    const unsigned extra = t >> 15 & 63;
    unsigned length = t >> 11 & 15, n = t & 0x7FF;
    const int64_t first = (int32_t)(t << 6) >> 27;
    if (!pairs && t >> 31) {
        length = d->length[16 + first];
        n = 1;
    }
    uint64_t rest = w >> length & (((uint64_t)1 << extra) - 1);
    l->at += length;
    if (__builtin_expect(extra > MOST_EXTRA, 0))
        rest = NAME(wide)(src, limit, l, extra == ESCAPE_EXTRA ? 8 * sizeof(U) : extra);
    else
        l->at += extra;
    out[l->element] = (U)(((uint64_t)first << extra) + rest);
    if (pairs)
        out[l->element + 1] = (U)(int64_t)((int32_t)(t << 1) >> 27);
    l->element += n;
}

/* All of one stream. */
static void NAME(finish)(const struct zmpi_huffman_decoder *d, const unsigned char *src,
                         size_t limit, struct NAME(lane) * lane, U *out)
{
    struct NAME(lane) l = *lane;
    while (l.element + 1 < l.end)
        NAME(step)(d, src, limit, &l, out, true);
    while (l.element < l.end)
        NAME(step)(d, src, limit, &l, out, false);
    *lane = l;
}

/* Four streams at once, so that the waits of one are the work of another. */
static void NAME(four)(const struct zmpi_huffman_decoder *d, const unsigned char *src, size_t limit,
                       struct NAME(lane) lane[STREAMS], U *out)
{
    struct NAME(lane) a = lane[0], b = lane[1], c = lane[2], e = lane[3];
    while (a.element + 1 < a.end && b.element + 1 < b.end && c.element + 1 < c.end &&
           e.element + 1 < e.end) {
        NAME(step)(d, src, limit, &a, out, true);
        NAME(step)(d, src, limit, &b, out, true);
        NAME(step)(d, src, limit, &c, out, true);
        NAME(step)(d, src, limit, &e, out, true);
    }
    lane[0] = a;
    lane[1] = b;
    lane[2] = c;
    lane[3] = e;
}

/* from[k]..from[k + 1]: the bytes of stream k. False if they are not what an encoder writes. */
static bool NAME(residuals)(const struct zmpi_huffman_decoder *d, const unsigned char *src,
                            const size_t from[STREAMS + 1], size_t streams, size_t words, U *out)
{
    struct NAME(lane) lane[STREAMS];
    size_t end[STREAMS];
    const size_t blocks = (words + ZMPI_BLOCK - 1) / ZMPI_BLOCK;
    const size_t each = (blocks + streams - 1) / streams * ZMPI_BLOCK, limit = 8 * from[streams];
    memset(out, 0, blocks * ZMPI_BLOCK * sizeof *out);
    for (size_t k = 0; k < streams; k++) {
        size_t first = k * each < words ? k * each : words;
        end[k] = first + each < words ? first + each : words;
        lane[k] = (struct NAME(lane)){8 * from[k], first, end[k]};
    }
    if (streams == STREAMS)
        NAME(four)(d, src, limit, lane, out);
    for (size_t k = 0; k < streams; k++) {
        NAME(finish)(d, src, limit, &lane[k], out);
        if (lane[k].element != end[k] || !ends_at(src, lane[k].at, from[k + 1], k + 1 == streams))
            return false;
    }
    return true;
}
