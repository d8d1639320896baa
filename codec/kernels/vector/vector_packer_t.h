/*
 * vector_packer_t.h - template: the blocks of a chunk, one after another, from residuals to lengths
 * and planes.
 */

struct packer {
    unsigned char *lengths, *dst;
    unsigned any, last; /* all lengths ORed; that of the block before */
    U *keep;            /* the residuals go here too; or NULL */
    uint32_t *nonzero;
};

#include "kernels/vector/vector_output_t.h"
#ifdef PACKS_EIGHT
#include "kernels/avx512/avx512_pack_t.h"
#endif

VECTOR void pack_next(struct packer *p, const V r[VECTORS])
{
    keep_residuals(p, r);
    unsigned length = p->last = block_pack(r, p->dst, p->last);
    *p->lengths++ = (unsigned char)length;
    p->dst += 4 * (size_t)(length + (length != 0));
    p->any |= length;
}

/* So many blocks, one behind the other. */
KERNEL void pack_words(struct packer *packer, const U *r, size_t blocks)
{
    struct packer own = *packer; /* in registers: bytes stored may be anything */
    size_t b = 0;
#ifdef PACKS_TOGETHER
    if (own.last < 15 && !own.keep)
        b = pack_together(&own, r, blocks);
#endif
    for (; b < blocks; b++) {
        V v[VECTORS];
        for (unsigned k = 0; k < VECTORS; k++)
            v[k] = v_load(r + b * ZMPI_BLOCK + k * LANES);
        pack_next(&own, v);
    }
    *packer = own;
}
