/*
 * capacity.c - buffers between guard pages: nothing is read or written outside them, whatever the
 * capacity.
 */
#include "kit.h"

static const enum zmpi_type types[] = {ZMPI_F32, ZMPI_F64, ZMPI_I32, ZMPI_I64, ZMPI_BYTES};

/* One array and its stream, and room to make it again. */
struct bench {
    struct zmpi_array array;
    struct zmpi_bound bound;
    struct kit_guarded src;
    unsigned char *expected;
    size_t size; /* of the stream */
};

static enum zmpi_status compress_into(const struct bench *b, size_t capacity, bool at_end)
{
    struct kit_guarded dst = kit_guard(capacity, at_end);
    size_t size = 0;
    enum zmpi_status s =
        zmpi_compress(&b->array, &b->bound, NULL, dst.data, capacity, b->src.data, &size);
    if (s == ZMPI_OK) {
        cr_assert_eq(size, b->size);
        cr_assert_eq(memcmp(dst.data, b->expected, size), 0);
    }
    kit_unguard(&dst);
    return s;
}

static void bench_make(struct bench *b, struct kit_random *r, const struct zmpi_array *a,
                       enum kit_data kind, struct zmpi_bound bound)
{
    size_t capacity = zmpi_compress_capacity(a);
    *b = (struct bench){*a, bound, kit_guard(kit_bytes(a), true), malloc(capacity), 0};
    kit_fill(r, a, kind, b->src.data);
    enum zmpi_status s =
        zmpi_compress(a, &bound, NULL, b->expected, capacity, b->src.data, &b->size);
    cr_assert_eq(s, ZMPI_OK, "%s", zmpi_strerror(s));
    cr_assert_leq(b->size, capacity);
}

static void bench_free(struct bench *b)
{
    kit_unguard(&b->src);
    free(b->expected);
}

/* Decoding from a buffer that ends with the stream, into one that ends with the array. */
static void check_decode(const struct bench *b)
{
    size_t bytes = kit_bytes(&b->array);
    struct kit_guarded src = kit_guard(b->size, true), dst = kit_guard(bytes, true);
    memcpy(src.data, b->expected, b->size);
    cr_assert_eq(zmpi_decompress(dst.data, bytes, src.data, b->size), ZMPI_OK);
    if (bytes > 0)
        cr_assert_eq(zmpi_decompress(dst.data, bytes - 1, src.data, b->size), ZMPI_ERR_SPACE);
    kit_unguard(&src);
    kit_unguard(&dst);
}

static void check_capacities(struct kit_random *r, const struct bench *b)
{
    size_t most = zmpi_compress_capacity(&b->array);
    cr_assert_eq(compress_into(b, most, true), ZMPI_OK);
    cr_assert_eq(compress_into(b, most, false), ZMPI_OK);
    cr_assert_eq(compress_into(b, b->size, true), ZMPI_OK);
    for (int i = 0; i < 8 + test_rounds(32); i++) {
        size_t capacity = i < 8 ? b->size - 1 - (size_t)i : kit_below(r, b->size);
        cr_assert_eq(compress_into(b, capacity, i % 2 == 0), ZMPI_ERR_SPACE, "%zu of %zu bytes",
                     capacity, b->size);
    }
    check_decode(b);
}

static void check_type(enum zmpi_type type)
{
    static const size_t shapes[][3] = {{1, 1, 1},   {1, 1, 0},    {1, 1, 33},    {2, 3, 5},
                                       {1, 90, 91}, {20, 31, 33}, {1, 1, 40001}, {8192, 1, 2}};
    struct kit_random r = {(uint64_t)type};
    for (size_t i = 0; i < KIT_COUNT(shapes); i++)
        for (int kind = 0; kind < KIT_DATA_KINDS; kind++) {
            struct zmpi_array a = kit_array(type, shapes[i][0], shapes[i][1], shapes[i][2]);
            struct bench b;
            bench_make(&b, &r, &a, (enum kit_data)kind,
                       kind % 2 != 0 ? kit_abs(1e-3) : (struct zmpi_bound){ZMPI_LOSSLESS, 0});
            check_capacities(&r, &b);
            bench_free(&b);
        }
}

Test(capacity, f32)
{
    check_type(ZMPI_F32);
}

Test(capacity, f64)
{
    check_type(ZMPI_F64);
}

Test(capacity, integers)
{
    check_type(ZMPI_I32);
    check_type(ZMPI_I64);
}

Test(capacity, bytes)
{
    check_type(ZMPI_BYTES);
}

/* Noise cannot be compressed, but must not grow by more than header, table and chunk headers. */
Test(capacity, noise_hardly_grows)
{
    struct kit_random r = {5};
    for (size_t t = 0; t < KIT_COUNT(types); t++) {
        struct zmpi_array a = kit_array(types[t], 1, 1, 500000);
        void *src = kit_make(&r, &a, KIT_BITS);
        struct kit_stream s = kit_compress(&a, (struct zmpi_bound){ZMPI_LOSSLESS, 0}, src);
        cr_assert_leq(s.size, kit_bytes(&a) + 80 + 12 * (kit_bytes(&a) / 32000 + 1));
        free(s.data);
        free(src);
    }
}
