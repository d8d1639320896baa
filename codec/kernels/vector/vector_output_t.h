/*
 * vector_output_t.h - template: what packers of blocks share: residuals that are kept for another
 * encoder, and prefetches of the memory that planes go to. After struct packer.
 */

/* Keeps the residuals of a block, if another encoder needs them. */
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
 * Planes were written to from..to. It prefetches as many lines, `ahead` bytes further on, where
 * planes will go. A store to a line that is not in a cache holds up the stores behind it, and soon
 * everything. Part of the words may take as many bytes as they have themselves, those of 16 bits
 * half of that. (PREFETCHW does nothing on a processor that does not know it.)
 */
enum { OUTPUT_AHEAD = 8192, OUTPUT_AHEAD_16 = 4096 };

VECTOR void prefetch_output(const unsigned char *from, const unsigned char *to, size_t ahead)
{
    for (; from < to; from += 64)
        __builtin_prefetch((const void *)((uintptr_t)from + ahead), 1);
}
