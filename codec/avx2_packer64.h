/*
 * avx2_packer64.h - the blocks of a chunk of 8-byte words, one after another, from residuals to
 * lengths and planes. Small ones wait, as in avx2_packer32.h.
 */

struct packer {
    unsigned char *lengths, *dst;
    unsigned any, last; /* all lengths ORed; that of the block before */
    U *keep;            /* the residuals go here too; or NULL */
    uint32_t *nonzero;
    __m256i bytes; /* of the block before */
    bool waits;
};

#include "vector_keep_t.h"

VECTOR void pack_length(struct packer *p, unsigned length)
{
    *p->lengths++ = (unsigned char)length;
    p->dst += 4 * (size_t)(length + (length != 0));
    p->any |= length;
    p->last = length;
}

/* Behind the last block, or before one that does not wait. */
VECTOR void pack_flush(struct packer *p)
{
    if (p->waits)
        pack_length(p, pack_bytes(p->bytes, p->dst));
    p->waits = false;
}

VECTOR void pack_next(struct packer *p, const V r[VECTORS])
{
    __m256i w[2];
    keep_residuals(p, r);
    saturate(r, w);
    const __m256i bytes = _mm256_packs_epi16(w[0], w[1]);
    pack_flush(p);
    if (__builtin_expect(bytes_fit(bytes), 1)) {
        p->bytes = bytes;
        p->waits = true;
        return;
    }
    unsigned length = p->last < 15 ? pack_pairs(w, p->dst) : 15;
    pack_length(p, length < 15 ? length : pack_long(r, p->dst));
}
