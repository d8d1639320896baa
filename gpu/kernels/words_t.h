/*
 * words_t.h - template: moves a chunk's words between the array and shared memory. After blocks.h.
 *
 * Parameters of all templates: WIDTH, 4 or 8; U and S, unsigned and signed words; T, FABS and MAGIC
 * as in codec/kernels/quant_t.h; QUAD, a type of 16 bytes, LOAD_QUAD and STORE_QUAD; F(name), the
 * name with the width.
 */

/* VALUES: elements of a thread, which is also the number of 32-element blocks of a warp. */
#define VALUES  (CHUNK_BYTES / WIDTH / THREADS)
#define BLOCKS  (CHUNK_BYTES / WIDTH / 32)
#define IN_QUAD (16 / WIDTH)
#define LEVELS  3

/* Lanes that share a block. Each has PARTS parts of it; a part is PART consecutive elements. */
#define EACH  (32 / VALUES)
#define PART  4
#define PARTS (VALUES / PART)

/* Here, and one word before, the chunk's first integer is stored several times, for elements
 * without a neighbour. */
#define ORIGIN (BLOCKS * 32 + PART)

/* One chunk in shared memory: its elements, its integers, or its coded bytes. */
union F(words) {
    U word[CHUNK_BYTES / WIDTH + 2 * PART];
    QUAD quad[CHUNK_BYTES / 16 + 2 * PART / IN_QUAD];
    uint32_t coded[CODED_BYTES / 4];
};

/* 16 bytes; all elements of a thread. */
union F(quad_words) {
    QUAD quad;
    U word[IN_QUAD];
};

union F(lane_words) {
    QUAD quad[VALUES / IN_QUAD];
    U word[VALUES];
};

/* A part of a block. */
union F(part) {
    QUAD quad[PART / IN_QUAD];
    U word[PART];
};

/* The block of this lane. */
ZD_FN uint32_t F(own_block)(void)
{
    return zd_warp() * VALUES + zd_lane() / EACH;
}

/* All blocks begin in the same bank of shared memory. So that lanes do not wait for each other,
 * they take their parts in different orders: part i of a lane is the block's part i ^
 * F(part_xor)(). */
ZD_FN uint32_t F(part_xor)(void)
{
    return WIDTH == 4 ? zd_lane() / EACH % PARTS : 0;
}

/* The first element of this thread's part i. */
ZD_FN uint32_t F(part_at)(uint32_t i)
{
    const uint32_t first = (zd_lane() % EACH + F(part_xor)() * EACH) * PART;
    return (F(own_block)() * 32 + first) ^ (i * EACH * PART);
}

ZD_FN union F(part) F(load_part)(const union F(words) *w, uint32_t e)
{
    union F(part) p;
    ZD_UNROLL
    for (uint32_t g = 0; g < PART / IN_QUAD; g++)
        p.quad[g] = w->quad[e / IN_QUAD + g];
    return p;
}

ZD_FN void F(store_part)(union F(words) *w, uint32_t e, union F(part) p)
{
    ZD_UNROLL
    for (uint32_t g = 0; g < PART / IN_QUAD; g++)
        w->quad[e / IN_QUAD + g] = p.quad[g];
}

/* One bit for each element of a block, on all its lanes. Takes bits of the own parts: bit PART *
 * EACH * i + j is element j of part i. */
ZD_FN uint32_t F(block_bits)(uint32_t bits)
{
    if (WIDTH == 4)
        bits = zd_byte_perm(bits, 0, permuted_bytes(F(part_xor)()));
    bits <<= zd_lane() % EACH * PART;
    ZD_UNROLL
    for (uint32_t d = 1; d < EACH; d *= 2)
        bits |= zd_shfl_xor_u32(bits, d);
    return bits;
}

/* Sets what elements without a neighbour are compared with: `first` of thread 0. All threads call
 * it; a barrier must follow. */
ZD_FN void F(set_origin)(union F(words) *w, U first)
{
    const U base = F(zd_shfl)(first, 0);
    if (zd_tid() < 2 * PART)
        w->word[BLOCKS * 32 + zd_tid()] = base;
}

/* Reads a word of an array that nobody writes, at any address. Bytes behind the array's end are
 * zero. */
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

/* whole: a constant. */
ZD_FN void F(load_quads)(const struct tile *c, const void *src, union F(words) *w, int whole)
{
    const uint32_t quads = c->count / IN_QUAD;
    const unsigned char *from = (const unsigned char *)src + c->at * WIDTH;
    QUAD v[VALUES / IN_QUAD];
    ZD_UNROLL
    for (uint32_t g = 0; g < VALUES / IN_QUAD; g++) {
        const uint32_t i = g * THREADS + zd_tid(), in = i < quads ? i : 0;
        v[g] =
            LOAD_QUAD((const QUAD *)(const void *)(from + bytes_to(c, WIDTH, in * IN_QUAD, whole)));
    }
    ZD_UNROLL
    for (uint32_t g = 0; g < VALUES / IN_QUAD; g++)
        if (g * THREADS + zd_tid() < quads)
            w->quad[g * THREADS + zd_tid()] = v[g];
}

/* Loads the tile's elements, in order, and zeros behind them. A barrier must follow. */
ZD_FN void F(load_tile)(const struct zmpi_cuda_tiles *t, const struct tile *c, const void *src,
                        union F(words) *w)
{
    const uint32_t quads = c->vector ? c->count / IN_QUAD : 0;
    if (quads > 0 && c->by_run.d == c->count)
        F(load_quads)(c, src, w, 1);
    else if (quads > 0)
        F(load_quads)(c, src, w, 0);
    for (uint32_t e = quads * IN_QUAD + zd_tid(); e < c->count; e += THREADS)
        w->word[e] = F(load_word)(t, src, word_at(t, c, e));
    for (uint32_t e = c->count + zd_tid(); e < BLOCKS * 32; e += THREADS)
        w->word[e] = 0;
}
