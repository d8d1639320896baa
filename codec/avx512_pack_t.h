/*
 * avx512_pack_t.h - template: differences to planes, in loops for all axes and sources. After
 * struct packer and vector_residuals_t.h.
 */

#include "vector_differences_t.h"

VECTOR void pack_each(struct packer *packer, const struct differences *differences, size_t blocks,
                      enum rest rest)
{
    struct packer own = *packer; /* in registers: bytes stored may be anything */
    const struct differences n = *differences;
    for (size_t b = 0; b < blocks; b++) {
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
