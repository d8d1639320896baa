/*
 * vector_packer_t.h - template: the blocks of a chunk, one after another, from residuals to lengths
 * and planes.
 */

struct packer {
    unsigned char *lengths, *dst;
    unsigned any; /* all lengths ORed */
    U *keep;      /* residuals are also copied to here; or NULL */
    uint32_t *nonzero;
};

#include "kernels/vector/vector_output_t.h"
#ifdef PACKS_EIGHT
#include "kernels/avx512/avx512_pack_t.h"
#endif

VECTOR void pack_next(struct packer *p, const V r[VECTORS])
{
    keep_residuals(p, r);
    const unsigned length = block_pack(r, p->dst);
    *p->lengths++ = (unsigned char)length;
    p->dst += 4 * (size_t)(length + (length != 0));
    p->any |= length;
}

/* Packs so many blocks, which lie one behind the other. */
KERNEL void pack_words(struct packer *packer, const U *r, size_t blocks)
{
    struct packer own = *packer; /* in registers: stores of bytes may alias anything */
    for (size_t b = 0; b < blocks; b++) {
        V v[VECTORS];
        for (unsigned k = 0; k < VECTORS; k++)
            v[k] = v_load(r + b * ZMPI_BLOCK + k * LANES);
        pack_next(&own, v);
    }
    *packer = own;
}
