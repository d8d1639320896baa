/*
 * avx512_long64.h - blocks of 8-byte words with many planes back to words, with VBMI and GFNI: all
 * 64 planes at once, without a branch that asks for their number, which differs from block to
 * block. Part of avx512_words64.h.
 *
 * Vector v of four has planes 16 v to 16 v + 15, that is bytes 2 v and 2 v + 1 of all words. They
 * are transposed so that what goes to vector r of words comes to lie at places (r + v) % 4: then
 * vectors are exchanged by selecting bits, which any port can do, and one permutation is left.
 */

/* a where bits are set, else b. */
VECTOR V chosen(V bits, V a, V b)
{
    return _mm512_ternarylogic_epi64(bits, a, b, 0xCA);
}

/* At place p, vector r gets what vector (p - r) % 4 has there. Places 1 and 3 are odd, 2 and 3
 * upper. */
VECTOR void exchange(V t[4], V odd, V upper)
{
    const V a = chosen(odd, t[1], t[0]), b = chosen(odd, t[2], t[1]);
    const V c = chosen(odd, t[3], t[2]), d = chosen(odd, t[0], t[3]);
    t[0] = chosen(upper, c, a);
    t[1] = chosen(upper, b, d);
    t[2] = chosen(upper, a, c);
    t[3] = chosen(upper, d, b);
}

#define FOUR(MACRO, v)  MACRO(v, 0), MACRO(v, 1), MACRO(v, 2), MACRO(v, 3)
#define EIGHT(MACRO, v) FOUR(MACRO, v), MACRO(v, 4), MACRO(v, 5), MACRO(v, 6), MACRO(v, 7)

/* What is transposed of vector v of planes, in quarter p. */
#define COLUMNS(v, p)  COLUMN(0, ((p) - (v)) & 3), COLUMN(8, ((p) - (v)) & 3)
#define ALL_COLUMNS(v) FOUR(COLUMNS, v)
static const unsigned char columns_of[4][64] = {
    {ALL_COLUMNS(0)}, {ALL_COLUMNS(1)}, {ALL_COLUMNS(2)}, {ALL_COLUMNS(3)}};

/* Word j of vector r, byte after byte. */
#define WORD_BYTE(r, j, b) 16 * (((r) + (b) / 2) & 3) + 8 * ((b) % 2) + (j)
#define WORD(r, j)                                                                                 \
    WORD_BYTE(r, j, 0), WORD_BYTE(r, j, 1), WORD_BYTE(r, j, 2), WORD_BYTE(r, j, 3),                \
        WORD_BYTE(r, j, 4), WORD_BYTE(r, j, 5), WORD_BYTE(r, j, 6), WORD_BYTE(r, j, 7)
#define WORDS(r) EIGHT(WORD, r)

/* Places are quarters. What lies behind the block's planes is read, too. */
VECTOR void block_unpack_all(const unsigned char *src, unsigned length, V r[VECTORS])
{
    static const unsigned char words[4][64] = {{WORDS(0)}, {WORDS(1)}, {WORDS(2)}, {WORDS(3)}};
    const uint32_t signs = zmpi_load32(src);
    const V keep = v_set1(_bzhi_u64(~(U)0, length));
    for (unsigned k = 0; k < VECTORS; k++) {
        const V planes = _mm512_loadu_si512(src + 4 + 64 * k);
        r[k] = transpose(_mm512_permutexvar_epi8(table(columns_of[k]), planes));
    }
    exchange(r, _mm512_setr_epi64(0, 0, -1, -1, 0, 0, -1, -1),
             _mm512_setr_epi64(0, 0, 0, 0, -1, -1, -1, -1));
    for (unsigned k = 0; k < VECTORS; k++) {
        const V m = v_and(_mm512_permutexvar_epi8(table(words[k]), r[k]), keep);
        r[k] = _mm512_mask_sub_epi64(m, (M)(signs >> 8 * k), v_set1(0), m);
    }
}

/* Word 4 l + r, byte after byte. */
#define FOURTH_BYTE(r, l, b) 16 * ((l) / 2) + 8 * ((b) % 2) + 4 * ((l) % 2) + (((r) + (b) / 2) & 3)
#define FOURTH(r, l)                                                                               \
    FOURTH_BYTE(r, l, 0), FOURTH_BYTE(r, l, 1), FOURTH_BYTE(r, l, 2), FOURTH_BYTE(r, l, 3),        \
        FOURTH_BYTE(r, l, 4), FOURTH_BYTE(r, l, 5), FOURTH_BYTE(r, l, 6), FOURTH_BYTE(r, l, 7)
#define FOURTHS(r) EIGHT(FOURTH, r)

/* Vectors of each fourth word to vectors of words in order. */
VECTOR void in_order(V r[VECTORS])
{
    const V lower = _mm512_setr_epi64(0, 1, 2, 3, 8, 9, 10, 11);
    const V upper = _mm512_setr_epi64(4, 5, 6, 7, 12, 13, 14, 15);
    const V even = _mm512_setr_epi64(0, 4, 8, 12, 1, 5, 9, 13);
    const V odd = _mm512_setr_epi64(2, 6, 10, 14, 3, 7, 11, 15);
    const V a = _mm512_permutex2var_epi64(r[0], lower, r[1]);
    const V b = _mm512_permutex2var_epi64(r[2], lower, r[3]);
    const V c = _mm512_permutex2var_epi64(r[0], upper, r[1]);
    const V d = _mm512_permutex2var_epi64(r[2], upper, r[3]);
    r[0] = _mm512_permutex2var_epi64(a, even, b);
    r[1] = _mm512_permutex2var_epi64(a, odd, b);
    r[2] = _mm512_permutex2var_epi64(c, even, d);
    r[3] = _mm512_permutex2var_epi64(c, odd, d);
}

/* Running sums of all words. They are made with each fourth word in a vector, so that one scan of
 * lanes is enough. Places are bytes of each half of 8: the bytes of the matrix that transposes are
 * moved. */
VECTOR void block_unpack_sums(const unsigned char *src, unsigned length, V r[VECTORS])
{
    static const unsigned char words[4][64] = {
        {FOURTHS(0)}, {FOURTHS(1)}, {FOURTHS(2)}, {FOURTHS(3)}};
    static const U moved[4] = {0x8040201008040201, 0x4020108004020108, 0x2010804002010804,
                               0x1080402001080402};
    const uint32_t signs = zmpi_load32(src);
    const V keep = v_set1(_bzhi_u64(~(U)0, length));
    for (unsigned k = 0; k < VECTORS; k++) {
        const V planes = _mm512_loadu_si512(src + 4 + 64 * k);
        r[k] = _mm512_gf2p8affine_epi64_epi8(
            v_set1(moved[k]), _mm512_permutexvar_epi8(table(columns_of[0]), planes), 0);
    }
    exchange(r, _mm512_set1_epi32((int)0xFF00FF00), _mm512_set1_epi32((int)0xFFFF0000));
    for (unsigned k = 0; k < VECTORS; k++) {
        const V m = v_and(_mm512_permutexvar_epi8(table(words[k]), r[k]), keep);
        r[k] = _mm512_mask_sub_epi64(m, (M)_pext_u32(signs >> k, 0x11111111), v_set1(0), m);
    }
    for (unsigned k = 1; k < VECTORS; k++)
        r[k] = v_add(r[k], r[k - 1]);
    const V before = v_sub(v_scan(r[3]), r[3]);
    for (unsigned k = 0; k < VECTORS; k++)
        r[k] = v_add(r[k], before);
    in_order(r);
}

#undef FOUR
#undef EIGHT
