/*
 * avx2_packer_t.h - template: blocks of a chunk to lengths and planes. Making planes is a long
 * chain of instructions, each of which waits for the one before. So these loops work on several
 * blocks at a time. After avx2_block_t.h.
 */

struct packer {
    unsigned char *lengths, *dst;
    unsigned any, last; /* all lengths ORed; how many of the next blocks are treated as long */
    unsigned run;       /* the length of that run */
    U *keep;            /* residuals are also copied to here; or NULL */
    uint32_t *nonzero;
};

#include "kernels/vector/vector_output_t.h"

/* The part of the packer that stays in registers: stores of bytes may alias anything else. */
struct lengths {
    unsigned char *lengths, *dst;
    unsigned any;
};

VECTOR struct lengths lengths_begin(const struct packer *p)
{
    return (struct lengths){p->lengths, p->dst, p->any};
}

VECTOR void lengths_end(const struct lengths *l, struct packer *p)
{
    p->lengths = l->lengths;
    p->dst = l->dst;
    p->any = l->any;
}

VECTOR void pack_length(struct lengths *p, unsigned length)
{
    *p->lengths++ = (unsigned char)length;
    p->dst += 4 * (size_t)(length + (length != 0));
    p->any |= length;
}

/* Stores eight planes to dst, signs first. Returns a bit for each plane that is zero. */
VECTOR unsigned store_eight(unsigned char *dst, __m256i planes)
{
    const __m256i zero = _mm256_cmpeq_epi32(planes, _mm256_setzero_si256());
    _mm256_storeu_si256((__m256i *)(void *)dst, planes);
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(zero));
}

/* The signs of bytes b below their magnitudes a. */
VECTOR __m256i signed_bytes(__m256i b, __m256i a)
{
    const __m256i negative = _mm256_cmpgt_epi8(_mm256_setzero_si256(), b);
    return _mm256_add_epi8(a, _mm256_sub_epi8(a, negative));
}

/* Turns the result of store_eight into a length. */
#define USED(m)   (31 - __builtin_clz((0xFFU - (m)) | 1U))
#define USED4(m)  USED(m), USED((m) + 1), USED((m) + 2), USED((m) + 3)
#define USED16(m) USED4(m), USED4((m) + 4), USED4((m) + 8), USED4((m) + 12)
#define USED64(m) USED16(m), USED16((m) + 16), USED16((m) + 32), USED16((m) + 48)
static const uint8_t length_of_zeros[256] = {USED64(0), USED64(64), USED64(128), USED64(192)};

/* Block b of those behind each other. */
VECTOR void load_block(const U *from, size_t b, V r[VECTORS])
{
    for (unsigned k = 0; k < VECTORS; k++)
        r[k] = v_load(from + b * ZMPI_BLOCK + k * LANES);
}

/* Packs blocks from `b` on as long as residuals are below 127; returns where it stopped. */
KERNEL size_t pack_bytes(struct packer *packer, const U *from, size_t b, size_t end)
{
    struct lengths p = lengths_begin(packer);
    for (; b < end; b++) {
        V r[VECTORS];
        __m256i w[2];
        load_block(from, b, r);
        saturate(r, w);
        const __m256i bytes = _mm256_packs_epi16(w[0], w[1]), a = _mm256_abs_epi8(bytes);
        if (__builtin_expect(_mm256_movemask_epi8(_mm256_add_epi8(a, _mm256_set1_epi8(1))), 0))
            break;
        pack_length(&p,
                    length_of_zeros[store_eight(p.dst, avx2_planes_of(signed_bytes(bytes, a)))]);
    }
    lengths_end(&p, packer);
    return b;
}

/* Stores signs and up to 14 planes; returns the length. 15 means that the block may have more. */
VECTOR unsigned store_pairs(const __m256i w[2], unsigned char *dst)
{
    const __m256i split = _mm256_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15, 0,
                                           2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15);
    __m256i s[2];
    for (unsigned i = 0; i < 2; i++) {
        const __m256i a = _mm256_abs_epi16(w[i]);
        const __m256i negative = _mm256_srai_epi16(w[i], 15);
        s[i] = _mm256_adds_epu16(a, _mm256_sub_epi16(a, negative));
        s[i] = _mm256_shuffle_epi8(s[i], split);
    }
    const __m256i bytes[] = {_mm256_unpacklo_epi64(s[0], s[1]), _mm256_unpackhi_epi64(s[0], s[1])};
    const unsigned low = store_eight(dst, avx2_planes_of(bytes[0]));
    const unsigned zero = low | store_eight(dst + 32, avx2_planes_of(bytes[1])) << 8;
    return 31 - (unsigned)_lzcnt_u32((~zero & 0xFFFF) | 1);
}

/* The same as long as lengths are below 15. */
KERNEL size_t pack_pairs(struct packer *packer, const U *from, size_t b, size_t end)
{
    struct lengths p = lengths_begin(packer);
    for (; b < end; b++) {
        V r[VECTORS];
        __m256i w[2];
        load_block(from, b, r);
        saturate(r, w);
        const unsigned length = store_pairs(w, p.dst);
        if (__builtin_expect(length == 15, 0))
            break;
        pack_length(&p, length);
    }
    lengths_end(&p, packer);
    return b;
}

/* Packs all blocks. */
KERNEL size_t pack_any(struct packer *packer, const U *from, size_t b, size_t end)
{
    struct lengths p = lengths_begin(packer);
    for (; b < end; b++) {
        V r[VECTORS];
        load_block(from, b, r);
        pack_length(&p, pack_long(r, p.dst));
    }
    lengths_end(&p, packer);
    return b;
}

/* After a block that does not fit in bytes, more such blocks are likely. A branch on each would be
 * hard to predict, so a run of them is treated as long. If the first block after the run does not
 * fit either, the next run is longer. */
enum { LONG_RUN = 16, LONGEST_RUN = 64 };

TARGET static void pack_words(struct packer *p, const U *r, size_t blocks)
{
    for (size_t b = 0; p->keep && b < blocks; b++) {
        V v[VECTORS];
        load_block(r, b, v);
        keep_residuals(p, v);
    }
    for (size_t b = 0;;) {
        if (p->last == 0) {
            const size_t first = b;
            b = pack_bytes(p, r, b, blocks);
            if (b == blocks)
                return;
            p->run = b > first || !p->run ? LONG_RUN : LONGEST_RUN;
            p->last = p->run;
        }
        const size_t end = blocks - b < p->last ? blocks : b + p->last;
        size_t next = pack_pairs(p, r, b, end);
        if (next < end)
            next = pack_any(p, r, next, end);
        p->last -= (unsigned)(next - b);
        b = next;
        if (b == blocks)
            return;
    }
}
