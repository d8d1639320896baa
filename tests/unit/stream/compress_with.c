/* compress_with.c - zmpi_compress_with and zmpi_decompress_with: every encoder, threads, threshold.
 */
#include "kit.h"

enum { NZ = 40, NY = 50, NX = 60, ARRAY = NZ * NY * NX };

Test(compress_with, encoders_threads_threshold)
{
    static float value[ARRAY], back[ARRAY];
    const struct zmpi_array a = {ZMPI_F32, {NZ, NY, NX}};
    const struct zmpi_bound bound = {ZMPI_REL, 1e-3};
    const size_t capacity = zmpi_compress_capacity(&a);
    unsigned char *out = malloc(capacity), *other = malloc(capacity);
    for (size_t i = 0; i < ARRAY; i++)
        value[i] = i % 7 ? sinf((float)i * 0.01f) : 1e9f; /* out of the range by the threshold */
    for (int encoder = 0; encoder <= ZMPI_INTERP; encoder++) {
        struct zmpi_codec_options o = {
            .size = sizeof o, .encoder = encoder, .threads = 1, .threshold = 1e6};
        size_t size, same;
        struct zmpi_stream_info info;
        cr_assert_eq(zmpi_compress_with(&o, &a, &bound, NULL, out, capacity, value, &size),
                     ZMPI_OK);
        o.threads = 3;
        cr_assert_eq(zmpi_compress_with(&o, &a, &bound, NULL, other, capacity, value, &same),
                     ZMPI_OK);
        cr_assert(size == same && memcmp(out, other, size) == 0);
        cr_assert_eq(zmpi_stream_info(out, size, &info), ZMPI_OK);
        cr_assert(info.abs_bound <= 2e-3 && info.encoder <= (encoder ? encoder : ZMPI_FLE));
        o.threads = 0;
        cr_assert_eq(zmpi_decompress_with(&o, back, sizeof back, out, size), ZMPI_OK);
        for (size_t i = 0; i < ARRAY; i++)
            cr_assert(i % 7 ? fabs((double)back[i] - (double)value[i]) <= 2e-3
                            : back[i] == value[i]);
        cr_assert_eq(zmpi_decompress_with(NULL, back, sizeof back, out, size), ZMPI_OK);
    }
    const double nan = (double)NAN;
    const struct zmpi_codec_options wrong[] = {{.size = 4},
                                               {.size = sizeof *wrong, .fills = 3},
                                               {.size = sizeof *wrong, .fills = -1},
                                               {.size = sizeof *wrong, .encoder = 4},
                                               {.size = sizeof *wrong, .encoder = -1},
                                               {.size = sizeof *wrong, .threads = -1},
                                               {.size = sizeof *wrong, .threads = 1025},
                                               {.size = sizeof *wrong, .threshold = -1},
                                               {.size = sizeof *wrong, .threshold = nan}};
    for (size_t i = 0; i < KIT_COUNT(wrong); i++) {
        size_t size;
        cr_assert_eq(zmpi_compress_with(&wrong[i], &a, &bound, NULL, out, capacity, value, &size),
                     ZMPI_ERR_ARG);
        cr_assert_eq(zmpi_decompress_with(&wrong[i], back, sizeof back, out, capacity),
                     ZMPI_ERR_ARG);
    }
    free(out);
    free(other);
}

/* What a program passes that was compiled with the first version of the structure, and one of a
 * later version. */
Test(compress_with, other_versions)
{
    struct {
        size_t size;
        int encoder, threads;
        double threshold;
    } first = {sizeof first, ZMPI_HUFFMAN, 1, 0};
    struct {
        struct zmpi_codec_options now;
        long more[2];
    } later = {{.size = sizeof later, .encoder = ZMPI_HUFFMAN}, {0, 0}};
    const struct zmpi_codec_options now = {.size = sizeof now, .encoder = ZMPI_HUFFMAN},
                                    *const given[] = {&now, (void *)&first, &later.now};
    static float value[1000], back[1000];
    const struct zmpi_array a = {ZMPI_F32, {1, 10, 100}};
    const struct zmpi_bound bound = {ZMPI_ABS, 1e-2};
    unsigned char out[3][6000];
    size_t size[3];
    for (int i = 0; i < 1000; i++)
        value[i] = cosf((float)i * 0.1f);
    cr_assert_eq(sizeof first, 24);
    for (int i = 0; i < 3; i++) {
        /* Behind the structure of the first version lies what is none of its members. */
        struct {
            unsigned char options[sizeof later], rest[64];
        } memory;
        memset(&memory, i == 1 ? 0xFF : 0, sizeof memory);
        memcpy(memory.options, given[i], given[i]->size);
        const void *o = memory.options;
        cr_assert_eq(
            zmpi_compress_with(o, &a, &bound, NULL, out[i], sizeof out[i], value, &size[i]),
            ZMPI_OK);
        cr_assert(size[i] == size[0] && memcmp(out[i], out[0], size[0]) == 0);
        cr_assert_eq(zmpi_decompress_with(o, back, sizeof back, out[i], size[i]), ZMPI_OK);
    }
    later.more[1] = 1;
    cr_assert_eq(
        zmpi_compress_with(&later.now, &a, &bound, NULL, out[0], sizeof out[0], value, &size[0]),
        ZMPI_ERR_UNSUPPORTED);
}

/* Fill values among the others stay exact and out of the range; so do those of a threshold. */
Test(compress_with, fills)
{
    static double value[ARRAY], back[ARRAY];
    const struct zmpi_array a = {ZMPI_F64, {NZ, NY, NX}};
    const struct zmpi_bound bound = {ZMPI_REL, 1e-4};
    const size_t capacity = zmpi_compress_capacity(&a);
    unsigned char *out = malloc(capacity);
    for (size_t i = 0; i < ARRAY; i++)
        value[i] = i % 11 == 0 ? -0.123 : i % 13 == 0 ? 77.7 : sin((double)i * 0.01);
    for (int encoder = 1; encoder <= ZMPI_INTERP; encoder++) {
        const struct zmpi_codec_options o = {
            .size = sizeof o, .encoder = encoder, .fills = 2, .fill = {-0.123, 77.7}};
        size_t size;
        struct zmpi_stream_info info;
        cr_assert_eq(zmpi_compress_with(&o, &a, &bound, NULL, out, capacity, value, &size),
                     ZMPI_OK);
        cr_assert_eq(zmpi_stream_info(out, size, &info), ZMPI_OK);
        cr_assert(info.abs_bound <= 2e-4, "%g", info.abs_bound);
        cr_assert_eq(zmpi_decompress_with(&o, back, sizeof back, out, size), ZMPI_OK);
        for (size_t i = 0; i < ARRAY; i++)
            cr_assert(i % 11 == 0 || i % 13 == 0 ? back[i] == value[i]
                                                 : fabs(back[i] - value[i]) <= 2e-4);
    }
    free(out);
}

/* Large values, such as fill values, give a chunk a finer step. When a program has replaced them,
 * what else was decoded comes out as it is, and the new values within the bound. */
Test(compress_with, rewritten)
{
    static float value[ARRAY], first[ARRAY], again[2][ARRAY];
    const struct zmpi_array a = {ZMPI_F32, {NZ, NY, NX}};
    const struct zmpi_bound bound = {ZMPI_ABS, 1e-3};
    const size_t capacity = zmpi_compress_capacity(&a);
    unsigned char *out = malloc(capacity);
    for (int encoder = 1; encoder <= ZMPI_HUFFMAN; encoder++)
        for (size_t large = 2; large < 20; large *= 7) { /* rarer ones are exceptions */
            struct zmpi_codec_options o = {.size = sizeof o, .encoder = encoder};
            size_t size, moved = 0;
            for (size_t i = 0; i < ARRAY; i++)
                value[i] =
                    i % large ? 90 * sinf((float)i * 0.01f) : 1000 + 0.01f * (float)(i % 999);
            cr_assert_eq(zmpi_compress_with(&o, &a, &bound, NULL, out, capacity, value, &size),
                         ZMPI_OK);
            cr_assert_eq(zmpi_decompress(first, sizeof first, out, size), ZMPI_OK);
            for (size_t i = 0; i < ARRAY; i += large) /* some whole numbers among them */
                value[i] = first[i] = i % 3 ? 90 * sinf((float)i * 0.01f) : 17;
            for (o.rewritten = 0; o.rewritten < 2; o.rewritten++) {
                cr_assert_eq(zmpi_compress_with(&o, &a, &bound, NULL, out, capacity, first, &size),
                             ZMPI_OK);
                cr_assert_eq(zmpi_decompress(again[o.rewritten], sizeof first, out, size), ZMPI_OK);
            }
            for (size_t i = 0; i < ARRAY; i++) {
                moved += i % large && again[0][i] != first[i];
                cr_assert(i % large == 0 || again[1][i] == first[i], "%zu, %zu", large, i);
                cr_assert(fabs((double)again[1][i] - (double)value[i]) <= 1e-3);
            }
            cr_assert(moved > ARRAY / 4, "%zu: only %zu move anyway", large, moved);
        }
    free(out);
}

/* Values that different steps made lie in one chunk: those of its small values beside those of its
 * large ones. New values take their places, again and again: whole numbers, small and large ones.
 * Elements that nobody writes do not move, and fill values are exact. */
Test(compress_with, rewritten_by_steps)
{
    static float value[ARRAY], stored[ARRAY], before[ARRAY];
    const struct zmpi_array a = {ZMPI_F32, {NZ, NY, NX}};
    const struct zmpi_bound bound = {ZMPI_ABS, 1e-3};
    const size_t capacity = zmpi_compress_capacity(&a);
    unsigned char *out = malloc(capacity);
    int lattices = 0;
    for (int trial = 0; trial < 4 * ZMPI_INTERP; trial++) {
        struct zmpi_codec_options o = {.size = sizeof o,
                                       .encoder = 1 + trial % ZMPI_INTERP,
                                       .fills = trial / ZMPI_INTERP % 2,
                                       .fill = {0.7123}};
        for (size_t i = 0; i < ARRAY; i++)
            value[i] = stored[i] = -999.25F;
        for (unsigned step = 0; step < 12; step++) {
            const float large[] = {1, 100, 1000, 0.1F};
            const size_t from = step * 7919 % ARRAY, every = 1 + (step + (unsigned)trial) % 5;
            struct zmpi_stream_info info;
            size_t size;
            for (size_t i = from; i < ARRAY && i < from + ARRAY / 2; i += every)
                value[i] = stored[i] = step % 6 == 5 ? (float)(i % 9)
                                       : i % 53      ? large[step % 4] * sinf((float)i * 0.01f)
                                                     : 0.7123F;
            memcpy(before, stored, sizeof before);
            cr_assert_eq(zmpi_compress_with(&o, &a, &bound, NULL, out, capacity, stored, &size),
                         ZMPI_OK);
            cr_assert_eq(zmpi_decompress(stored, sizeof stored, out, size), ZMPI_OK);
            for (size_t i = 0; i < ARRAY; i++)
                cr_assert(fabs((double)stored[i] - (double)value[i]) <=
                                  (o.fills && value[i] == 0.7123F ? 0 : 1e-3) &&
                              (before[i] == value[i] || before[i] == stored[i]),
                          "%d, step %u, %zu: %.9g, then %.9g, not %.9g", trial, step, i,
                          (double)before[i], (double)stored[i], (double)value[i]);
            cr_assert_eq(zmpi_stream_info(out, size, &info), ZMPI_OK);
            if (info.family == 1 || info.family == 3)
                o.rewritten = ZMPI_INTERP;
            lattices += info.family == 1 || info.family == 3;
            o.rewritten = o.rewritten ? o.rewritten : 1;
        }
    }
    cr_assert(lattices > 0);
    free(out);
}

/* The CPU by its name, whichever is best, and one that is not there. */
Test(compress_with, device)
{
    static float value[ARRAY], back[ARRAY];
    const struct zmpi_array a = {ZMPI_F32, {NZ, NY, NX}};
    const struct zmpi_bound bound = {ZMPI_ABS, 1e-3};
    const size_t capacity = zmpi_compress_capacity(&a);
    unsigned char *out = malloc(capacity), *other = malloc(capacity);
    size_t size, same;
    for (size_t i = 0; i < ARRAY; i++)
        value[i] = sinf((float)i * 0.01f);
    cr_assert_eq(zmpi_compress_with(NULL, &a, &bound, NULL, out, capacity, value, &size), ZMPI_OK);
    for (int i = 0; i < 2; i++) {
        const struct zmpi_codec_options o = {.size = sizeof o, .device = i ? "auto" : "cpu"};
        cr_assert_eq(zmpi_compress_with(&o, &a, &bound, NULL, other, capacity, value, &same),
                     ZMPI_OK);
        cr_assert(same == size && memcmp(out, other, size) == 0);
        cr_assert_eq(zmpi_decompress_with(&o, back, sizeof back, out, size), ZMPI_OK);
        cr_assert(fabsf(back[777] - value[777]) <= 1e-3f);
        cr_assert_eq(zmpi_decompress_with(&o, back, sizeof back - 1, out, size), ZMPI_ERR_SPACE);
    }
    const struct zmpi_codec_options o = {.size = sizeof o, .device = "abacus"};
    cr_assert_eq(zmpi_compress_with(&o, &a, &bound, NULL, out, capacity, value, &size),
                 ZMPI_ERR_DEVICE);
    cr_assert_eq(zmpi_decompress_with(&o, back, sizeof back, out, capacity), ZMPI_ERR_DEVICE);
    free(out);
    free(other);
}

/* The capacity is enough for every encoder, whatever the data and the shape; and no byte more. */
Test(compress_with, capacity_for_all_encoders)
{
    struct kit_random random = {8};
    for (int round = 0; round < test_rounds(300); round++) {
        const struct zmpi_array a = {
            kit_below(&random, 2) ? ZMPI_F32 : ZMPI_F64,
            {1 + kit_below(&random, 6), 1 + kit_below(&random, 30), 1 + kit_below(&random, 400)}};
        const struct zmpi_bound bound = {ZMPI_ABS, kit_below(&random, 2) ? 1e-30 : 1e-3};
        const struct zmpi_codec_options o = {.size = sizeof o, .encoder = 1 + round % 3};
        size_t bytes, size = 0;
        cr_assert_eq(zmpi_array_bytes(&a, &bytes), ZMPI_OK);
        unsigned char *data = malloc(bytes);
        for (size_t i = 0; i < bytes; i++)
            data[i] = (unsigned char)kit_next(&random);
        struct kit_guarded g = kit_guard(zmpi_compress_capacity(&a), true);
        cr_assert_eq(zmpi_compress_with(&o, &a, &bound, NULL, g.data, zmpi_compress_capacity(&a),
                                        data, &size),
                     ZMPI_OK);
        cr_assert(size <= zmpi_compress_capacity(&a));
        kit_unguard(&g);
        free(data);
    }
}
