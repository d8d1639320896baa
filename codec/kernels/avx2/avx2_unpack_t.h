/*
 * avx2_unpack_t.h - template: planes of several blocks to bytes ahead of their use. After
 * vector_coded_t.h.
 *
 * That takes twenty instructions, each of which waits for the one before, so several blocks must be
 * in progress at once.
 */

#define UNPACKS_AHEAD
/* A block of up to 7 planes as deinterleaved bytes, with signs above the magnitudes. */
VECTOR V short_bytes(const unsigned char *src, unsigned length)
{
    const V signs = _mm256_set1_epi32((int)zmpi_load32(src));
    return avx2_bytes_of(_mm256_blend_epi32(avx2_first_planes(src + 4, length), signs, 0x80));
}

/* The same for up to 15 planes, which take two bytes: the lower bytes... */
VECTOR V low_bytes_of(const unsigned char *src, unsigned length)
{
    return avx2_bytes_of(avx2_first_planes(src + 4, length < 8 ? length : 8));
}

/* ... and the upper ones. */
VECTOR V high_bytes_of(const unsigned char *src, unsigned length)
{
    const V signs = _mm256_set1_epi32((int)zmpi_load32(src)),
            planes = avx2_first_planes(src + 36, length < 8 ? 0 : length - 8);
    return avx2_bytes_of(_mm256_blend_epi32(planes, signs, 0x80));
}

enum { BLOCKS_AHEAD = 8 };

/* All of some blocks are treated like the longest of them: a branch on each would be hard to
 * predict. */
enum kind { SHORT, MIDDLE, LONG };

struct unpacker {
    struct coded coded;
    size_t blocks;
    /* Some blocks, whose planes are bytes already unless they are LONG: */
    enum kind kind;
    const unsigned char *src[BLOCKS_AHEAD];
    unsigned char length[BLOCKS_AHEAD];
    unsigned char low[BLOCKS_AHEAD][ZMPI_BLOCK], high[BLOCKS_AHEAD][ZMPI_BLOCK];
};

VECTOR void unpacker_begin(struct unpacker *u, const struct parts *p,
                           const struct zmpi_chunk_work *work, unsigned char *tail)
{
    coded_begin(&u->coded, p, work, tail);
    u->blocks = (size_t)(p->planes - p->lengths); /* includes the padding */
}

/* Reads the lengths of the next n blocks; returns how the longest must be treated. */
VECTOR enum kind unpack_lengths(struct unpacker *u, size_t n)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t bytes = 0;
    memcpy(&bytes, u->coded.lengths + u->coded.block, n);
    const uint64_t marked = bytes & 0x80 * ones;
    bytes &= ~(marked | marked >> 1); /* block_length */
    memcpy(u->length, &bytes, sizeof bytes);
    return bytes & 0xF0 * ones ? LONG : bytes & 0xF8 * ones ? MIDDLE : SHORT;
}

/* Unpacks those n blocks. end: they may be the chunk's last ones. */
VECTOR void unpack_some(struct unpacker *u, size_t n, enum kind kind, bool end)
{
    struct coded c = u->coded;
    for (size_t i = 0; i < n; i++) {
        if (end && __builtin_expect(c.src > c.safe, 0))
            coded_tail(&c);
        const unsigned length = u->length[i];
        fetch_planes(&c, kind == LONG ? length : 0);
        if (kind == LONG) {
            u->src[i] = c.src;
        } else if (kind == MIDDLE) {
            v_store((U *)(void *)u->low[i], low_bytes_of(c.src, length));
            v_store((U *)(void *)u->high[i], high_bytes_of(c.src, length));
        } else {
            v_store((U *)(void *)u->low[i], short_bytes(c.src, length));
        }
        c.src += 4 * (size_t)(length + (length != 0));
    }
    u->coded.src = c.src;
    u->coded.safe = c.safe;
}

KERNEL void unpack_ahead(struct unpacker *u)
{
    enum { MOST = (BLOCKS_AHEAD - 1) * 4 * (15 + 1) }; /* bytes of all but the last, unless LONG */
    const size_t left = u->blocks - u->coded.block, n = left < BLOCKS_AHEAD ? left : BLOCKS_AHEAD;
    const bool end = n < BLOCKS_AHEAD || u->coded.safe - u->coded.src < MOST;
    u->kind = end ? unpack_lengths(u, n) : unpack_lengths(u, BLOCKS_AHEAD);
    if (u->kind == LONG)
        unpack_some(u, n, LONG, true);
    else if (u->kind == MIDDLE && end)
        unpack_some(u, n, MIDDLE, true);
    else if (u->kind == MIDDLE)
        unpack_some(u, BLOCKS_AHEAD, MIDDLE, false);
    else if (end)
        unpack_some(u, n, SHORT, true);
    else
        unpack_some(u, BLOCKS_AHEAD, SHORT, false);
}
