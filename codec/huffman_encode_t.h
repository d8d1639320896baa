/*
 * huffman_encode_t.h - template: residuals to symbols, counted or written.
 *
 * Parameters: U the unsigned word, S its signed form, NAME(x).
 */

/* Where the residuals of blocks [begin, end) that are not zero are, from the first block on;
 * lengths: those of fle, 0 where all are zero. */
static inline size_t NAME(nonzeros)(const U *r, const unsigned char *lengths, size_t begin,
                                    size_t end, size_t words, uint16_t *at)
{
    size_t n = 0;
    for (size_t b = begin; b < end; b++) {
        const size_t first = b * ZMPI_BLOCK, left = words - first;
        if (!(lengths[b] & 0x80 ? lengths[b] & 0x3F : lengths[b]))
            continue;
        for (size_t i = 0; i < ZMPI_BLOCK && i < left; i++) { /* no branch: hard to predict */
            at[n] = (uint16_t)(first + i);
            n += r[first + i] != 0;
        }
    }
    return n;
}

static inline unsigned NAME(symbol_of)(U u, unsigned *extra)
{
    int64_t r = (S)u, m = r < 0 ? ~r : r;
    *extra = 0;
    if (m < 16)
        return (unsigned)(r + 16);
    *extra = 60U - (unsigned)__builtin_clzll((unsigned long long)m); /* all bits but four */
    return ZMPI_HUFFMAN_CLASSES + 16 * (*extra - 1) + (r < 0 ? 8 : 0) +
           ((unsigned)(r >> *extra) & 7);
}

static void NAME(count_segment)(const U *r, const unsigned char *lengths, struct segment g,
                                uint16_t *at, uint32_t *count)
{
    const size_t n = NAME(nonzeros)(r, lengths, g.begin, g.end, g.words, at);
    size_t next = g.begin * ZMPI_BLOCK;
    unsigned extra;
    for (size_t k = 0; k < n; k++) {
        count_run(at[k] - next, count);
        count[NAME(symbol_of)(r[at[k]], &extra)]++;
        next = (size_t)at[k] + 1;
    }
    count_run(segment_words(&g) - (next - g.begin * ZMPI_BLOCK), count);
}

/* A residual that is not among the direct ones. */
static void NAME(put_rare)(const struct zmpi_huffman_encoder *e, U u, struct bits *b)
{
    unsigned extra, symbol = NAME(symbol_of)(u, &extra);
    uint64_t rest = (uint64_t)u & (((uint64_t)1 << extra) - 1);
    if (!e->symbol[symbol]) {
        symbol = ZMPI_HUFFMAN_ESCAPE;
        extra = 8 * sizeof(U);
        rest = u;
    }
    put_token(b, e->symbol[symbol]);
    put(b, rest & UINT32_MAX, extra < 32 ? extra : 32);
    if (extra > 32)
        put(b, rest >> 32, extra - 32);
}

/* Returns the end of what was written to dst. */
static unsigned char *NAME(put_segment)(const struct zmpi_huffman_encoder *e, const U *r,
                                        const unsigned char *lengths, struct segment g,
                                        uint16_t *at, unsigned char *dst)
{
    const size_t n = NAME(nonzeros)(r, lengths, g.begin, g.end, g.words, at);
    size_t next = g.begin * ZMPI_BLOCK;
    struct bits b = {0, 0, dst};
    for (size_t k = 0; k < n; k++) {
        const size_t run = at[k] - next;
        const U u = r[at[k]];
        next = (size_t)at[k] + 1;
        uint64_t zeros = run < 32 ? e->run[run] : 0;
        uint32_t token = (U)(u + 256) < 512 ? e->direct[u + 256] : 0;
        if (__builtin_expect((run && !zeros) || !token, 0)) {
            put_run(e, &b, run);
            NAME(put_rare)(e, u, &b);
            continue;
        }
        uint64_t bits = zeros >> 6 | (uint64_t)(token >> 5) << (zeros & 63);
        put(&b, bits, (unsigned)(zeros & 63) + (token & 31));
    }
    put_run(e, &b, segment_words(&g) - (next - g.begin * ZMPI_BLOCK));
    return b.dst + (b.n > 0);
}
