/*
 * huffman_loops_t.h - template: residuals to bits.
 *
 * Parameters: U the unsigned word, S its signed form, NAME(x), and TARGET, what it is compiled for.
 */

#define INLINE TARGET __attribute__((always_inline)) static inline

/* ---- encoding ---- */

/* The slow path for pairs without a token: zeros, then a residual. By value, so that the bits stay
 * in registers. */
INLINE struct zmpi_bits NAME(put_slowly)(const struct zmpi_huffman_encoder *e, struct zmpi_bits b,
                                         size_t zeros, U r)
{
    if (zeros) {
        struct zmpi_bits run = b; /* b is in registers */
        zmpi_put_run(e, &run, zeros);
        b = run;
    }
    zmpi_put_residual(e, &b, (S)r, sizeof(U));
    return b;
}

/* Two tokens, if they fit. */
INLINE bool NAME(put_two)(struct zmpi_bits *b, uint64_t first, uint64_t second)
{
    const unsigned n = first & 63, both = n + (second & 63);
    if (__builtin_expect(both > 56, 0))
        return false;
    zmpi_put(b, first >> 6 | second >> 6 << n, both);
    return true;
}

/* n residuals, two at a time: none is zero, or zeros are coded one by one. */
INLINE void NAME(put_each)(const struct zmpi_huffman_encoder *e, struct zmpi_bits *b, const U *r,
                           size_t n)
{
    for (size_t i = 0; i < n; i += 2) {
        const bool both = i + 1 < n;
        const U u = r[i] + ZMPI_HUFFMAN_DIRECT / 2;
        const U v = both ? r[i + 1] + ZMPI_HUFFMAN_DIRECT / 2 : 0;
        if (__builtin_expect((u | v) < ZMPI_HUFFMAN_DIRECT, 1) &&
            NAME(put_two)(b, e->direct[u], both ? e->direct[v] : 0))
            continue;
        *b = NAME(put_slowly)(e, *b, 0, r[i]);
        if (both)
            *b = NAME(put_slowly)(e, *b, 0, r[i + 1]);
    }
}

/* A block by a book without short runs; false, and nothing done, if it needs a longer one. */
INLINE bool NAME(put_singly)(const struct zmpi_huffman_encoder *e, struct zmpi_bits *b, const U *r,
                             uint32_t nonzero, size_t *run)
{
    if (!nonzero)
        return false;
    const unsigned first = (unsigned)__builtin_ctz(nonzero);
    const unsigned last = 31U - (unsigned)__builtin_clz(nonzero);
    uint32_t zeros = ~nonzero & (UINT32_MAX >> (31 - last)); /* those behind may go on */
    zeros &= zeros >> 1;
    zeros &= zeros >> 2;
    zeros &= zeros >> 4;
    zeros &= zeros >> 8;
    if (zeros || *run + first >= 16 || !NAME(put_two)(b, e->run[*run + first], 0))
        return false;
    NAME(put_each)(e, b, r + first, last + 1 - first);
    *run = 31 - last;
    return true;
}

/* Writes a block's residuals that are not zero. *run: zeros before the block, then at its end. */
INLINE void NAME(put_some)(const struct zmpi_huffman_encoder *e, struct zmpi_bits *b, const U *r,
                           uint32_t nonzero, size_t *run)
{
    size_t next = 0 - *run;
    for (; nonzero; nonzero &= nonzero - 1) {
        const size_t i = (size_t)__builtin_ctz(nonzero), zeros = i - next;
        const U u = r[i] + ZMPI_HUFFMAN_DIRECT / 2;
        next = i + 1;
        if (__builtin_expect(u < ZMPI_HUFFMAN_DIRECT && zeros < 32, 1) &&
            NAME(put_two)(b, e->run[zeros], e->direct[u]))
            continue;
        *b = NAME(put_slowly)(e, *b, zeros, r[i]);
    }
    *run = ZMPI_BLOCK - next;
}

TARGET static unsigned char *NAME(put_segment)(const struct zmpi_huffman_encoder *e,
                                               const void *src, const uint32_t *nonzero,
                                               struct zmpi_segment g, unsigned char *dst)
{
    const U *r = src;
    struct zmpi_bits b = {0, 0, dst};
    size_t run = 0;
    for (size_t k = g.begin; k < g.end; k++) {
        const uint32_t some = zmpi_nonzero_of(nonzero, &g, k);
        if (!run && some == UINT32_MAX)
            NAME(put_each)(e, &b, r + k * ZMPI_BLOCK, ZMPI_BLOCK);
        else if (!e->short_runs && NAME(put_singly)(e, &b, r + k * ZMPI_BLOCK, some, &run))
            continue;
        else
            NAME(put_some)(e, &b, r + k * ZMPI_BLOCK, some, &run);
    }
    const size_t behind = g.end * ZMPI_BLOCK; /* zeros that the chunk does not have */
    struct zmpi_bits last = b;
    zmpi_put_run(e, &last, run - (g.end > g.begin && behind > g.words ? behind - g.words : 0));
    return last.dst + (last.n > 0);
}

TARGET static void NAME(count_segment)(const void *src, const uint32_t *nonzero,
                                       struct zmpi_segment g, uint32_t *count)
{
    const U *r = src;
    uint32_t direct[ZMPI_HUFFMAN_DIRECT] = {0}, runs[64] = {0};
    unsigned extra;
    size_t next = g.begin * ZMPI_BLOCK;
    for (size_t k = g.begin; k < g.end; k++) {
        uint32_t some = zmpi_nonzero_of(nonzero, &g, k);
        for (; some; some &= some - 1) {
            const size_t i = k * ZMPI_BLOCK + (size_t)__builtin_ctz(some), zeros = i - next;
            next = i + 1;
            if (zeros < 64)
                runs[zeros]++;
            else
                zmpi_count_run(zeros, 1, count);
            if ((U)(r[i] + ZMPI_HUFFMAN_DIRECT / 2) < ZMPI_HUFFMAN_DIRECT)
                direct[r[i] + ZMPI_HUFFMAN_DIRECT / 2]++;
            else
                count[zmpi_residual_symbol((S)r[i], &extra)]++;
        }
    }
    zmpi_count_run(g.begin * ZMPI_BLOCK + zmpi_segment_words(&g) - next, 1, count);
    for (unsigned i = 1; i < 64; i++)
        if (runs[i])
            zmpi_count_run(i, runs[i], count);
    for (unsigned i = 0; i < ZMPI_HUFFMAN_DIRECT; i++)
        if (direct[i])
            count[zmpi_residual_symbol((int64_t)i - ZMPI_HUFFMAN_DIRECT / 2, &extra)] += direct[i];
}

#undef INLINE
