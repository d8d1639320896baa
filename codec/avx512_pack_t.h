/*
 * avx512_pack_t.h - template: differences to planes, in loops for all axes and sources. After
 * struct packer and vector_residuals_t.h.
 */

#include "vector_differences_t.h"

/* Each instruction that packs a block waits for the one before, and so few of them are looked at
 * at a time (64 on Zen 4) that one block after another is waited for. So four take turns. */
enum { TOGETHER = 4 };

#ifdef ZMPI_VBMI
/* While they are all of less than 15 planes: returns how many blocks were. */
VECTOR size_t pack_together(struct packer *p, const struct differences *n, size_t blocks,
                            enum rest rest)
{
    size_t b = 0;
    for (; b + TOGETHER <= blocks; b += TOGETHER) {
        V planes[TOGETHER];
        unsigned length[TOGETHER], all = 0;
        for (unsigned i = 0; i < TOGETHER; i++) {
            V r[VECTORS];
            made_of(n, b + i, rest, r);
            planes[i] = words_signed(r);
        }
        for (unsigned i = 0; i < TOGETHER; i++)
            planes[i] = sign_and_magnitude(planes[i]);
        for (unsigned i = 0; i < TOGETHER; i++)
            planes[i] = block_bytes(planes[i]);
        for (unsigned i = 0; i < TOGETHER; i++)
            planes[i] = signs_and_planes_of(planes[i]);
        for (unsigned i = 0; i < TOGETHER; i++)
            length[i] = signed_planes_length(planes[i]);
        for (unsigned i = 0; i < TOGETHER; i++)
            all |= length[i] + 1;
        if (__builtin_expect((all & 16) != 0, 0))
            break;
        for (unsigned i = 0; i < TOGETHER; i++) {
            _mm512_storeu_si512(p->dst, planes[i]);
            p->lengths[i] = (unsigned char)length[i];
            p->dst += 4 * (size_t)(length[i] + (length[i] != 0));
            p->any |= length[i];
        }
        p->lengths += TOGETHER;
    }
    return b;
}
#endif

VECTOR void pack_each(struct packer *packer, const struct differences *differences, size_t blocks,
                      enum rest rest)
{
    struct packer own = *packer; /* in registers: bytes stored may be anything */
    const struct differences n = *differences;
    size_t b = 0;
#ifdef ZMPI_VBMI
    if (own.last < 15 && !own.keep)
        b = pack_together(&own, &n, blocks, rest);
#endif
    for (; b < blocks; b++) {
        V r[VECTORS];
        made_of(&n, b, rest, r);
        pack_next(&own, r);
    }
    *packer = own;
}

#define CASE(rest)                                                                                 \
    KERNEL void pack_##rest(struct packer *p, const struct differences *n, size_t blocks)          \
    {                                                                                              \
        pack_each(p, n, blocks, rest);                                                             \
    }
CASE(NOTHING)
CASE(LEFT)
CASE(LEFT_IN_ROWS)
#undef CASE

TARGET static void pack_differences(struct packer *p, struct differences n, size_t blocks,
                                    enum rest rest)
{
    if (rest == NOTHING)
        pack_NOTHING(p, &n, blocks);
    else if (rest == LEFT)
        pack_LEFT(p, &n, blocks);
    else
        pack_LEFT_IN_ROWS(p, &n, blocks);
}
