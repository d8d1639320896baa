/*
 * vector_block_t.h - template: a block of residuals to its bytes and back, from smaller operations.
 */

/* Writes signs and planes to dst; returns the length. May write up to 28 bytes more than the block
 * has. */
VECTOR unsigned block_pack(const V r[VECTORS], unsigned char *dst)
{
    V m[VECTORS];
    V all = m[0] = v_abs(r[0]);
    for (unsigned k = 1; k < VECTORS; k++) {
        m[k] = v_abs(r[k]);
        all = v_or(all, m[k]);
    }
    unsigned length = v_length(all);
    zmpi_store32(dst, block_signs(r));
    block_store(m, length, dst + 4);
    return length;
}

/* Bytes that unpacking a block may read. */
enum { BLOCK_READ = 4 + 4 * 8 * WIDTH };

/* Unpacks residuals from signs and planes. */
VECTOR void block_unpack(const unsigned char *src, unsigned length, V r[VECTORS])
{
    const V signs = v_set1(zmpi_load32(src));
    V m[VECTORS];
    block_load(src + 4, length, m);
    for (unsigned k = 0; k < VECTORS; k++)
        r[k] = v_signed(m[k], signs, k);
}

/* Their running sums over the block. */
VECTOR void block_unpack_scan(const unsigned char *src, unsigned length, V r[VECTORS])
{
    block_unpack(src, length, r);
    r[0] = v_scan(r[0]);
    for (unsigned k = 1; k < VECTORS; k++)
        r[k] = v_add(v_scan(r[k]), v_last(r[k - 1]));
}
