/* avx512_pack_t.h - template: eight blocks of residuals to planes together. After struct packer. */

#include "kernels/avx512/avx512_eight.h"

/* Stores the planes of eight blocks, or of the first n, one behind the other. Stores limit its
 * speed: nearly all stores of 64 bytes cross a cache line, fewer than half of those of 32 bytes do.
 * It stores 32 bytes until the chunk has a block of more than 7 planes, because the lengths of the
 * next eight blocks cannot be predicted. */
VECTOR void pack_eight(struct packer *p, struct eight e, const V planes[8], unsigned n)
{
    if ((e.lengths | p->any) & EIGHT_TIMES(0xF8)) {
        EACH(n) _mm512_storeu_si512(p->dst + eight_place(e, i), planes[i]);
    } else {
        EACH(n)
        _mm256_storeu_si256((__m256i *)(void *)(p->dst + eight_place(e, i)),
                            _mm512_castsi512_si256(planes[i]));
    }
    eight_store(p->lengths, e.lengths, n);
    p->dst += eight_bytes(e);
    p->lengths += n;
    p->any |= eight_any(e.lengths);
}
