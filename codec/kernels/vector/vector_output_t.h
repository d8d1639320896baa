/*
 * vector_output_t.h - template: what packers of blocks share: residuals that are kept for another
 * encoder, and memory that planes are about to be written to. After struct packer.
 */

/* The residuals of a block, if they are asked for. */
VECTOR void keep_residuals(struct packer *p, const V r[VECTORS])
{
    if (p->keep) {
        uint32_t zero = 0;
        for (unsigned k = 0; k < VECTORS; k++) {
            v_store(p->keep + k * LANES, r[k]);
            zero |= m_bits(v_equal(r[k], v_set1(0))) << (k * LANES);
        }
        p->keep += ZMPI_BLOCK;
        *p->nonzero++ = ~zero;
    }
}

/*
 * Planes were written from..to: so many lines are asked for that will be, `ahead` bytes further on.
 * A store to a line that must come from memory keeps those behind it waiting, and soon all else.
 * What is made of a part of the words may have as many bytes as these, of 16 bits half of it.
 * (PREFETCHW does nothing where a processor does not know it.)
 */
enum { OUTPUT_AHEAD = 8192, OUTPUT_AHEAD_16 = 4096 };

VECTOR void prefetch_output(const unsigned char *from, const unsigned char *to, size_t ahead)
{
    for (; from < to; from += 64)
        __builtin_prefetch((const void *)((uintptr_t)from + ahead), 1);
}
