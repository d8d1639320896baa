/* passes_t.h - template: the bits of a warp's blocks to planes and back, some planes of each block
 * in a pass. After words_t.h.
 *
 * In a pass a lane has four rows. Row j first gets the pass's bits of element j of each of the
 * lane's parts. Then bits change places with rows of the same lane, and with lanes of the same
 * block. Now row j is one of the four planes that this lane has, with one bit for each element. The
 * same exchange leads back. */

/* Planes of a block in a pass: each of its lanes has four. */
#define PASS (EACH * PART)

/* Constants of a lane. */
struct F(passes) {
    uint32_t pick; /* 8-byte words: selects bytes of the own row and of the other lane's */
    uint32_t bits; /* how far the other lane's bits are rotated */
    uint32_t keep; /* which of its own bits a lane keeps */
    uint32_t pairs;
};

ZD_FN struct F(passes) F(passes_make)(void)
{
    const uint32_t lane = zd_lane();
    struct F(passes) t;
    t.pick = lane & 2 ? 0x3715 : 0x6240;
    t.bits = lane & 1 ? 28 : 4;
    t.keep = lane & 1 ? 0xF0F0F0F0u : 0x0F0F0F0Fu;
    t.pairs = permuted_pairs(F(part_xor)());
    if (WIDTH == 8)
        ZD_KEEP(t.pick);
    else
        ZD_KEEP(t.pairs);
    ZD_KEEP(t.bits);
    ZD_KEEP(t.keep);
    return t;
}

ZD_FN void F(exchange)(const struct F(passes) *t, uint32_t row[PART])
{
    swap_within(row);
    ZD_UNROLL
    for (uint32_t j = 0; j < PART; j++) {
        if (WIDTH == 8)
            row[j] = zd_byte_perm(row[j], zd_shfl_xor_u32(row[j], 2), t->pick);
        const uint32_t other = zd_shfl_xor_u32(row[j], 1);
        row[j] = (row[j] & t->keep) | (zd_funnel_l(other, other, t->bits) & ~t->keep);
    }
}

/* Pass k's bits of element j of all parts, byte by byte. */
ZD_FN uint32_t F(pass_bits)(const struct F(passes) *t, const U m[VALUES], uint32_t j, uint32_t k)
{
    if (WIDTH == 4) {
        const uint32_t pick = k | (4 + k) << 4;
        return zd_byte_perm(zd_byte_perm((uint32_t)m[j], (uint32_t)m[PART + j], pick),
                            zd_byte_perm((uint32_t)m[2 * PART % VALUES + j],
                                         (uint32_t)m[3 * PART % VALUES + j], pick),
                            t->pairs);
    }
    return zd_byte_perm((uint32_t)((uint64_t)m[j] >> k / 2 * 32),
                        (uint32_t)((uint64_t)m[PART + j] >> k / 2 * 32), k % 2 ? 0x7632 : 0x5410);
}

/* Puts these bits back into magnitudes. Pass 0 must come first. */
ZD_FN void F(take_bits)(U m[VALUES], uint32_t j, uint32_t k, uint32_t row)
{
    if (WIDTH == 8) {
        m[j] |= (U)((uint64_t)(row & 0xFFFF) << 16 * k);
        m[PART + j] |= (U)((uint64_t)(row >> 16) << 16 * k);
        return;
    }
    row = zd_byte_perm(row, 0, permuted_bytes(F(part_xor)()));
    ZD_UNROLL
    for (uint32_t i = 0; i < PARTS; i++) {
        const uint32_t stay = 0x3210u & ~(0xFu << 4 * k);
        U *const to = &m[i * PART + j];
        *to = k == 0 ? (U)(row >> 8 * i & 255)
                     : (U)zd_byte_perm((uint32_t)*to, row, stay | (4 + i) << 4 * k);
    }
}
