/*
 * words_t.h - template: a chunk's words between the array and shared memory. After blocks.h.
 *
 * Parameters, for all templates: WIDTH, 4 or 8; U and S, words without and with sign; T, FABS,
 * MAGIC as in codec/quant_t.h; QUAD, the type of 16 bytes; F(name), the name with the width;
 * LOAD_QUAD and STORE_QUAD.
 */

/* Elements of a thread, and blocks of a warp: that many of 32 elements. */
#define VALUES  (CHUNK_BYTES / WIDTH / THREADS)
#define BLOCKS  (CHUNK_BYTES / WIDTH / 32)
#define IN_QUAD (16 / WIDTH)

/* One chunk in shared memory: its elements, its integers, or what it is coded to. */
union F(words) {
    U word[CHUNK_BYTES / WIDTH];
    QUAD quad[CHUNK_BYTES / 16];
    uint32_t coded[CODED_BYTES / 4];
};

/* 16 bytes, and all of a thread. */
union F(quad_words) {
    QUAD quad;
    U word[IN_QUAD];
};

union F(lane_words) {
    QUAD quad[VALUES / IN_QUAD];
    U word[VALUES];
};

/* Of an array that is only read, at any address; what lies behind its end is zero. */
ZD_FN U F(load_word)(const struct zmpi_cuda_tiles *t, const void *src, uint64_t at)
{
    const unsigned char *p = (const unsigned char *)src + at * WIDTH;
    const uint64_t left = t->bytes - at * WIDTH;
    if ((uintptr_t)p % WIDTH == 0 && left >= WIDTH)
        return *(const U *)(const void *)p;
    U u = 0;
    for (uint32_t i = 0; i < WIDTH && i < left; i++)
        u |= (U)p[i] << 8 * i;
    return u;
}

ZD_FN void F(store_word)(const struct zmpi_cuda_tiles *t, void *dst, uint64_t at, U u)
{
    unsigned char *p = (unsigned char *)dst + at * WIDTH;
    const uint64_t left = t->bytes - at * WIDTH;
    if ((uintptr_t)p % WIDTH == 0 && left >= WIDTH) {
        F(zd_st)((U *)(void *)p, u);
        return;
    }
    for (uint32_t i = 0; i < WIDTH && i < left; i++)
        zd_st_u8(p + i, (uint8_t)(u >> 8 * i));
}

/* The tile's elements, in order, and zeros behind them. A barrier must follow. */
ZD_FN void F(load_tile)(const struct zmpi_cuda_tiles *t, const struct tile *c, const void *src,
                        union F(words) *w)
{
    const uint32_t tid = zd_tid(), quads = c->vector ? c->count / IN_QUAD : 0;
    if (quads > 0) {
        QUAD v[VALUES / IN_QUAD];
        ZD_UNROLL
        for (uint32_t g = 0; g < VALUES / IN_QUAD; g++) {
            const uint32_t i = g * THREADS + tid;
            if (i < quads)
                v[g] = LOAD_QUAD(
                    (const QUAD *)(const void *)((const U *)src + word_at(t, c, i * IN_QUAD)));
        }
        ZD_UNROLL
        for (uint32_t g = 0; g < VALUES / IN_QUAD; g++)
            if (g * THREADS + tid < quads)
                w->quad[g * THREADS + tid] = v[g];
    }
    for (uint32_t e = quads * IN_QUAD + tid; e < c->count; e += THREADS)
        w->word[e] = F(load_word)(t, src, word_at(t, c, e));
    for (uint32_t e = c->count + tid; e < BLOCKS * 32; e += THREADS)
        w->word[e] = 0;
}
