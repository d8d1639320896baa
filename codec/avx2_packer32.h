/*
 * avx2_packer32.h - the blocks of a chunk of 4-byte words, one after another, from residuals to
 * lengths and planes.
 *
 * Small residuals become bytes, and these planes when the next block comes: it takes some twenty
 * instructions, each of which waits for the one before, and meanwhile the next words are quantized.
 */

struct packer {
    unsigned char *lengths, *dst;
    unsigned any, last; /* all lengths ORed; how many blocks are taken for long */
    U *keep;            /* the residuals go here too; or NULL */
    uint32_t *nonzero;
    V bytes; /* of the block before */
    bool waits;
};

#include "vector_keep_t.h"

VECTOR void pack_length(struct packer *p, unsigned length)
{
    *p->lengths++ = (unsigned char)length;
    p->dst += 4 * (size_t)(length + (length != 0));
    p->any |= length;
}

/* Behind the last block, or before one that does not wait. */
VECTOR void pack_flush(struct packer *p)
{
    if (p->waits)
        pack_length(p, block_pack_bytes(p->bytes, p->dst));
    p->waits = false;
}

/* Behind a block that does not fit in bytes more are likely: branches on each would be hard to
 * predict. */
enum { LONG_RUN = 16 };

VECTOR void pack_next(struct packer *p, const V r[VECTORS])
{
    keep_residuals(p, r);
    const V bytes = block_bytes(r);
    pack_flush(p);
    if (__builtin_expect(p->last == 0 && bytes_fit(bytes), 1)) {
        p->bytes = bytes;
        p->waits = true;
        return;
    }
    p->last = p->last ? p->last - 1 : LONG_RUN;
    pack_length(p, block_pack_words(r, p->dst));
}
