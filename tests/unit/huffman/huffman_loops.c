/*
 * huffman_loops.c - encoder 2's loops of every set of kernels against those for any machine: the
 * same bits, the same counts, whatever the residuals, the book and the part of a chunk.
 */
#include "kit.h"

#include "huffman/huffman_loops.h"
#include "kernels/kernels.h"

enum {
    SYMBOLS = ZMPI_HUFFMAN_SYMBOLS,
    BLOCKS = ZMPI_CHUNK_INPUT_BYTES / 4 / ZMPI_BLOCK,
    WORDS = BLOCKS * ZMPI_BLOCK
};

/* Residuals of a chunk in words of 4 bytes and of 8. */
struct residuals {
    size_t words;
    uint32_t nonzero[BLOCKS];
    _Alignas(64) int32_t r32[WORDS + ZMPI_CHUNK_BEHIND / 4];
    _Alignas(64) int64_t r64[WORDS + ZMPI_CHUNK_BEHIND / 8];
};

/* What they are like. */
struct recipe {
    unsigned gap;     /* one in so many is followed by zeros; 0: none is */
    unsigned longest; /* such a run */
    unsigned bits;    /* magnitudes are below 2 to this; of 8-byte words */
    unsigned rare;    /* one in so many is much larger; 0: none is */
};

static const struct recipe recipes[] = {
    {0, 0, 1, 0},   {0, 0, 8, 0},    {0, 0, 10, 0},   {0, 0, 40, 0},     {0, 0, 63, 2},
    {0, 0, 4, 40},  {2, 3, 3, 0},    {2, 14, 2, 0},   {3, 40, 3, 0},     {1, 30, 5, 0},
    {1, 35, 9, 60}, {9, 1200, 4, 0}, {1, 3000, 3, 9}, {1, 9000, 63, 0},  {40, 2, 8, 0},
    {1, 1, 1, 0},   {5, 100, 12, 0}, {64, 64, 9, 33}, {16, 16, 6, 1000},
};

static void fill(struct residuals *x, const struct recipe *p, struct kit_random *r)
{
    size_t zeros = p->gap ? kit_below(r, p->longest + 1) : 0;
    memset(x, 0, sizeof *x);
    x->words = kit_below(r, 3) ? WORDS : 1 + kit_below(r, WORDS);
    for (size_t i = 0; i < x->words; i++) {
        if (zeros) {
            zeros--;
            continue;
        }
        const unsigned bits = p->rare && !kit_below(r, p->rare) ? 64 : p->bits;
        const uint64_t m = kit_next(r) >> (64 - bits);
        x->r64[i] = (int64_t)(kit_below(r, 2) ? ~m : m + !m);
        x->r32[i] = (int32_t)x->r64[i];
        if (!x->r32[i]) /* the same are zero */
            x->r32[i] = INT32_MIN;
        x->nonzero[i / ZMPI_BLOCK] |= UINT32_C(1) << i % ZMPI_BLOCK;
        if (p->gap && !kit_below(r, p->gap))
            zeros = kit_below(r, p->longest + 1);
    }
    for (size_t i = x->words; i < WORDS; i++) /* what is behind does not matter */
        x->nonzero[i / ZMPI_BLOCK] |= UINT32_C(1) << i % ZMPI_BLOCK;
}

static const void *words_of(const struct residuals *x, size_t width)
{
    return width == 4 ? (const void *)x->r32 : x->r64;
}

static void count(const struct zmpi_huffman_encode_loops *loops, const struct residuals *x,
                  size_t width, struct zmpi_segment g, uint32_t counts[SYMBOLS])
{
    memset(counts, 0, SYMBOLS * sizeof *counts);
    (width == 4 ? loops->count32 : loops->count64)(words_of(x, width), x->nonzero, g, counts);
}

static size_t put(const struct zmpi_huffman_encode_loops *loops,
                  const struct zmpi_huffman_encoder *e, const struct residuals *x, size_t width,
                  struct zmpi_segment g, unsigned char *dst)
{
    const unsigned char *end =
        (width == 4 ? loops->put32 : loops->put64)(e, words_of(x, width), x->nonzero, g, dst);
    return (size_t)(end - dst);
}

/* Books: offline; trained on the residuals themselves, with short runs and without; and on few of
 * them, so that escapes are many. */
static void book_make(struct zmpi_book *book, const uint32_t counts[SYMBOLS], struct kit_random *r)
{
    static const unsigned shortest[] = {2, 4, 16};
    uint32_t some[SYMBOLS];
    const size_t kind = kit_below(r, 4);
    for (unsigned s = 0; s < SYMBOLS; s++)
        some[s] = kind == 3 && kit_below(r, 2) ? 0 : counts[s];
    if (kind == 0)
        *book = *zmpi_book_offline((unsigned)kit_below(r, ZMPI_HUFFMAN_OFFLINE));
    else
        zmpi_book_train(some, shortest[kit_below(r, 3)], kind == 1, ZMPI_SORT_EXACT, book);
}

static void compare(const struct residuals *x, size_t width, struct zmpi_segment g,
                    struct kit_random *r)
{
    static unsigned char expected[16 * WORDS], got[16 * WORDS];
    static struct zmpi_huffman_encoder e;
    uint32_t counts[SYMBOLS], same[SYMBOLS];
    struct zmpi_book book;
    count(&zmpi_huffman_encode_any, x, width, g, counts);
    book_make(&book, counts, r);
    zmpi_huffman_encoder_set(&e, &book);
    const size_t size = put(&zmpi_huffman_encode_any, &e, x, width, g, expected);
    const struct zmpi_kernels *k;
    for (size_t i = 0; (k = zmpi_kernels_at(i)); i++) {
        if (!k->available())
            continue;
        count(k->huffman_encode, x, width, g, same);
        cr_assert_arr_eq(same, counts, sizeof counts, "%s: counts, %zu bytes", k->name, width);
        cr_assert_eq(put(k->huffman_encode, &e, x, width, g, got), size, "%s", k->name);
        cr_assert_arr_eq(got, expected, size, "%s: bits, %zu bytes", k->name, width);
    }
}

Test(huffman_loops, same_by_all_kernels)
{
    static struct residuals x;
    struct kit_random r = {12};
    for (int turn = 0; turn < 8; turn++)
        for (size_t i = 0; i < KIT_COUNT(recipes); i++)
            for (size_t width = 4; width <= 8; width += 4) {
                fill(&x, &recipes[i], &r);
                const size_t blocks = (x.words + ZMPI_BLOCK - 1) / ZMPI_BLOCK;
                const size_t begin = kit_below(&r, blocks + 1);
                const size_t end = begin + kit_below(&r, blocks - begin + 1);
                compare(&x, width, (struct zmpi_segment){0, blocks, x.words}, &r);
                compare(&x, width, (struct zmpi_segment){begin, end, x.words}, &r);
                compare(&x, width, (struct zmpi_segment){begin, blocks, x.words}, &r);
            }
}

/* A long residual, an escape, a long run in each place of 64 ordinary ones. */
Test(huffman_loops, in_every_lane)
{
    static struct residuals x;
    struct kit_random r = {13};
    static const int64_t odd[] = {511, 512, -512, -513, INT32_MAX, INT32_MIN, 0, 1 << 20};
    for (size_t place = 0; place < 2 * ZMPI_BLOCK; place++)
        for (size_t i = 0; i < KIT_COUNT(odd); i++)
            for (size_t zeros = 0; zeros < 40; zeros += 13) {
                memset(&x, 0, sizeof x);
                x.words = 2 * ZMPI_BLOCK + zeros;
                for (size_t k = 0; k < x.words; k++) {
                    const bool run = k >= place && k < place + zeros;
                    x.r64[k] = run ? 0 : k == place + zeros ? odd[i] : (int64_t)(k % 5) - 2;
                    x.r32[k] = (int32_t)x.r64[k];
                    x.nonzero[k / ZMPI_BLOCK] |= (uint32_t)(x.r32[k] != 0) << k % ZMPI_BLOCK;
                }
                const struct zmpi_segment g = {0, (x.words + ZMPI_BLOCK - 1) / ZMPI_BLOCK, x.words};
                compare(&x, 4, g, &r);
                compare(&x, 8, g, &r);
            }
}
