/*
 * vector_keep_t.h - template: the residuals of a block, which are kept for another encoder. After
 * struct packer.
 */

/* If they are asked for. */
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
