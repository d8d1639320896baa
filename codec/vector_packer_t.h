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

#include "vector_keep_t.h"
#include "vector_room_t.h"

VECTOR void pack_next(struct packer *p, const V r[VECTORS])
{
    keep_residuals(p, r);
    unsigned length = p->last = block_pack(r, p->dst, p->last);
    *p->lengths++ = (unsigned char)length;
    p->dst += 4 * (size_t)(length + (length != 0));
    p->any |= length;
}

/* Behind the last block. */
VECTOR void pack_flush(struct packer *p)
{
    (void)p;
}
