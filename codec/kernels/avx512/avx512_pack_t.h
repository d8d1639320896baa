/* avx512_pack_t.h - template: eight blocks of residuals to planes together. After struct packer. */

#include "kernels/avx512/avx512_eight.h"

/* Planes of eight blocks, or of the first n, one behind the other. It is stores that limit this:
 * nearly all of 64 bytes lie in two lines of the cache, of 32 bytes less than half do. These serve
 * until the chunk has a block of more than 7 planes: what the next eight have cannot be foreseen.
 */
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

#ifdef ZMPI_VBMI
#define PACKS_TOGETHER
/* Eight at a time, while they are all of less than 15 planes: returns how many blocks were. */
VECTOR size_t pack_together(struct packer *p, const U *from, size_t blocks)
{
    size_t b = 0;
    for (; b + 8 <= blocks; b += 8) {
        V w[8], magnitude[8];
        EACH(8)
        {
            V r[VECTORS];
            for (unsigned k = 0; k < VECTORS; k++)
                r[k] = v_load(from + (b + i) * ZMPI_BLOCK + k * LANES);
            w[i] = words_signed(r);
        }
        EACH(8) magnitude[i] = _mm512_abs_epi16(w[i]);
        const struct eight e = eight_of(eight_lengths(magnitude));
        if (__builtin_expect(((e.lengths + EIGHT_TIMES(1)) & EIGHT_TIMES(0x10)) != 0, 0))
            break;
        EACH(8) w[i] = signs_to(magnitude[i], w[i]);
        EACH(8) w[i] = block_bytes(w[i]);
        EACH(8) w[i] = signs_and_planes_of(w[i]);
        pack_eight(p, e, w, 8);
    }
    return b;
}
#endif
