/* join.c - streams that are the interleaved components of an array: any pieces of it, by every
 * encoder, of like and of unlike tiles; damage. */
#include "kit.h"

#include "layout/stream.h"

enum { MOST = 12, PIECES = 40 };

struct state {
    size_t n, width, bytes; /* components; of an element; of all */
    unsigned char *data;    /* what the streams decode to, as it takes turns */
    unsigned char *coded[MOST], *need[MOST];
    struct zmpi_stream stream[MOST];
};

static struct state make(struct kit_random *random, bool alike)
{
    struct state s = {.n = 2 + kit_below(random, MOST - 1)};
    const struct zmpi_array a = {kit_below(random, 2) ? ZMPI_F32 : ZMPI_F64,
                                 {1 + kit_below(random, 2) * kit_below(random, 9),
                                  1 + kit_below(random, 2) * kit_below(random, 24),
                                  1 + kit_below(random, 400)}};
    const size_t points = a.extent[0] * a.extent[1] * a.extent[2];
    const size_t capacity = zmpi_compress_capacity(&a);
    const struct zmpi_bound bound = {ZMPI_REL, 1e-3};
    const int encoder = 1 + (int)kit_below(random, 3);
    unsigned char *one = malloc(8 * points);
    s.width = zmpi_type_size(a.type);
    s.bytes = points * s.n * s.width;
    s.data = malloc(s.bytes);
    for (size_t c = 0; c < s.n; c++) {
        const struct zmpi_codec_options o = {
            .size = sizeof o, .encoder = alike ? encoder : 1 + (int)kit_below(random, 3)};
        size_t size;
        for (size_t i = 0; i < points; i++) {
            const double v =
                (double)c + sin(0.01 * (double)i) + 1e-3 * (double)kit_below(random, 9);
            if (a.type == ZMPI_F64)
                ((double *)(void *)one)[i] = v;
            else
                ((float *)(void *)one)[i] = (float)v;
        }
        s.coded[c] = malloc(capacity);
        cr_assert_eq(zmpi_compress_with(&o, &a, &bound, NULL, s.coded[c], capacity, one, &size),
                     ZMPI_OK);
        cr_assert_eq(zmpi_stream_parse(&s.stream[c], s.coded[c], size), ZMPI_OK);
        cr_assert_eq(zmpi_decompress(one, points * s.width, s.coded[c], size), ZMPI_OK);
        for (size_t i = 0; i < points; i++)
            memcpy(s.data + (i * s.n + c) * s.width, one + i * s.width, s.width);
        s.need[c] = calloc(s.stream[c].info.chunks, 1);
    }
    free(one);
    return s;
}

static void free_state(struct state *s)
{
    for (size_t c = 0; c < s->n; c++) {
        free(s->coded[c]);
        free(s->need[c]);
    }
    free(s->data);
}

/* Pieces in order, with gaps or without, from and to any bytes; the chunks that they are in. */
static size_t cut(struct state *s, struct kit_random *random, struct zmpi_copy copy[PIECES])
{
    const size_t point = s->n * s->width, most = 1 + s->bytes / (1 + kit_below(random, PIECES));
    size_t count = 0, at = kit_below(random, 3) ? kit_below(random, s->bytes) : 0, to = 0;
    for (; count < PIECES && at < s->bytes; count++) {
        size_t length =
            count || at || kit_below(random, 2) ? 1 + kit_below(random, most) : s->bytes;
        length = s->bytes - at < length ? s->bytes - at : length;
        copy[count] = (struct zmpi_copy){at, to, length};
        to += length + kit_below(random, 3);
        for (size_t c = 0; c < s->n; c++)
            zmpi_stream_mark(&s->stream[c], at / point * s->width,
                             (at + length + point - 1) / point * s->width, s->need[c]);
        at += length + kit_below(random, 2) * kit_below(random, 3 * point);
    }
    return count;
}

Test(join, any_pieces)
{
    struct kit_random random = {4};
    for (int round = 0; round < test_rounds(150); round++) {
        struct state s = make(&random, round % 3);
        struct zmpi_copy copy[PIECES];
        const size_t count = cut(&s, &random, copy), capacity = s.bytes + 3 * PIECES;
        unsigned char *got = malloc(capacity), *want = malloc(capacity);
        memset(got, 0x5A, capacity);
        memset(want, 0x5A, capacity);
        for (size_t i = 0; i < count; i++)
            memcpy(want + copy[i].to, s.data + copy[i].from, copy[i].length);
        cr_assert_eq(zmpi_streams_join(s.stream, s.n, s.need, 1 + round % 4, copy, count, got),
                     ZMPI_OK);
        cr_assert_eq(memcmp(got, want, capacity), 0, "round %d", round);
        free(got);
        free(want);
        free_state(&s);
    }
}

Test(join, damage_is_reported)
{
    struct kit_random random = {6};
    for (int round = 0; round < test_rounds(60); round++) {
        struct state s = make(&random, round % 3);
        const struct zmpi_copy all = {0, 0, s.bytes};
        const struct zmpi_stream *bad = &s.stream[kit_below(&random, s.n)];
        unsigned char *got = malloc(s.bytes);
        for (size_t c = 0; c < s.n; c++)
            memset(s.need[c], 1, s.stream[c].info.chunks);
        ((unsigned char *)(uintptr_t)bad->src)[bad->info.length - 1] ^= 4;
        cr_assert_eq(zmpi_streams_join(s.stream, s.n, s.need, 1 + round % 3, &all, 1, got),
                     ZMPI_ERR_CHECKSUM);
        free(got);
        free_state(&s);
    }
}
