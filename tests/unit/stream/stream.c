/*
 * stream.c - arrays of every type and shape through a stream and back, whole and in parts; what a
 * stream says of itself; bad arguments.
 */
#include <float.h>
#include <stdio.h>

#include "kit.h"

static const enum zmpi_type types[] = {ZMPI_F32, ZMPI_F64, ZMPI_I32, ZMPI_I64, ZMPI_BYTES};

/* ---- round trips ---- */

static void check_shape(struct kit_random *r, const struct zmpi_array *a)
{
    char what[120];
    enum kit_data kind = (enum kit_data)kit_below(r, KIT_DATA_KINDS);
    struct zmpi_bound bounds[] = {{ZMPI_LOSSLESS, 0},  kit_abs(1e-3),   kit_rel(1e-3),
                                  {ZMPI_PW_REL, 1e-3}, {ZMPI_PSNR, 60}, {ZMPI_RATIO, 5}};
    void *src = kit_make(r, a, kind);
    for (size_t b = 0; b < KIT_COUNT(bounds); b++) {
        snprintf(what, sizeof what, "type %d %zux%zux%zu data %d mode %d", a->type, a->extent[0],
                 a->extent[1], a->extent[2], kind, bounds[b].mode);
        free(kit_round_trip(a, bounds[b], src, what));
    }
    free(src);
}

Test(stream, shapes)
{
    static const size_t extents[] = {0, 1, 2, 31, 33};
    struct kit_random r = {1};
    size_t n = KIT_COUNT(extents);
    for (size_t t = 0; t < KIT_COUNT(types); t++)
        for (size_t i = 0; i < n * n * n; i++) {
            struct zmpi_array a =
                kit_array(types[t], extents[i / n / n], extents[i / n % n], extents[i % n]);
            check_shape(&r, &a);
        }
}

Test(stream, any_address)
{
    struct kit_random r = {21};
    for (size_t t = 0; t < KIT_COUNT(types); t++)
        for (size_t odd = 1; odd < 8; odd++) {
            const struct zmpi_array a = kit_array(types[t], 3, 40, 57 + odd);
            const struct zmpi_bound bounds[] = {{ZMPI_LOSSLESS, 0}, kit_abs(1e-3),
                                                kit_rel(1e-3),      {ZMPI_PW_REL, 1e-3},
                                                {ZMPI_PSNR, 60},    {ZMPI_RATIO, 5}};
            const size_t bytes = kit_bytes(&a), capacity = zmpi_compress_capacity(&a);
            unsigned char *src = malloc(bytes + odd), *out = malloc(bytes + odd);
            unsigned char *coded = malloc(capacity + odd);
            void *even = kit_make(&r, &a, KIT_SPECIAL);
            memcpy(src + odd, even, bytes);
            for (size_t b = 0; b < KIT_COUNT(bounds); b++) {
                struct kit_stream should = kit_compress(&a, bounds[b], even);
                void *back = kit_decompress(&should);
                size_t size;
                cr_assert_eq(
                    zmpi_compress(&a, &bounds[b], NULL, coded + odd, capacity, src + odd, &size),
                    ZMPI_OK);
                cr_assert(size == should.size && memcmp(coded + odd, should.data, size) == 0);
                cr_assert_eq(zmpi_decompress(out + odd, bytes, coded + odd, size), ZMPI_OK);
                cr_assert(memcmp(out + odd, back, bytes) == 0);
                free(back);
                free(should.data);
            }
            free(even);
            free(coded);
            free(out);
            free(src);
        }
}

Test(stream, awkward_shapes)
{
    static const size_t shapes[][3] = {
        {1, 1, 8191},  {1, 1, 8192},  {1, 1, 8193},  {1, 1, 100003}, {1, 3, 30001},
        {1, 30001, 3}, {30001, 1, 3}, {10007, 2, 2}, {2, 2, 10007},  {2, 10007, 2},
        {1, 257, 257}, {65, 66, 67},  {17, 1, 1025}, {1, 129, 511},  {3, 255, 256},
        {99991, 1, 1}, {1, 99991, 1}, {41, 43, 47},  {2, 1, 50001},  {1, 2, 50001},
    };
    struct kit_random r = {2};
    for (size_t t = 0; t < KIT_COUNT(types); t++)
        for (size_t i = 0; i < KIT_COUNT(shapes); i++) {
            struct zmpi_array a = kit_array(types[t], shapes[i][0], shapes[i][1], shapes[i][2]);
            check_shape(&r, &a);
        }
}

Test(stream, random_shapes)
{
    struct kit_random r = {3};
    for (int i = 0; i < test_rounds(test_long() ? 1000 : 250); i++) {
        size_t most = (size_t[]){8, 40, 90}[kit_below(&r, 3)];
        struct zmpi_array a = kit_array(types[kit_below(&r, KIT_COUNT(types))], kit_below(&r, most),
                                        kit_below(&r, most), kit_below(&r, most));
        check_shape(&r, &a);
    }
}

Test(stream, same_input_same_bytes)
{
    struct kit_random r = {4};
    struct zmpi_array a = kit_array(ZMPI_F32, 20, 30, 40);
    float *src = kit_make(&r, &a, KIT_SPECIAL);
    struct kit_stream first = kit_compress(&a, kit_rel(1e-3), src);
    struct kit_stream second = kit_compress(&a, kit_rel(1e-3), src);
    cr_assert_eq(first.size, second.size);
    cr_assert_eq(memcmp(first.data, second.data, first.size), 0);
    free(first.data);
    free(second.data);
    free(src);
}

Test(stream, info)
{
    struct kit_random r = {5};
    struct zmpi_array a = kit_array(ZMPI_F64, 12, 1, 300);
    double *src = kit_make(&r, &a, KIT_NOISE);
    struct kit_stream s = kit_compress(&a, kit_abs(0.25), src);
    struct zmpi_stream_info info;
    cr_assert_eq(zmpi_stream_info(s.data, s.size, &info), ZMPI_OK);
    cr_assert_eq(info.array.type, ZMPI_F64);
    cr_assert_eq(kit_elements(&info.array), 3600);
    cr_assert_eq(info.decoded_bytes, 28800);
    cr_assert_eq(info.bound.mode, ZMPI_ABS);
    cr_assert(info.bound.value == 0.25 && info.abs_bound == 0.25);
    cr_assert_eq(info.encoder, 1);
    cr_assert_eq(info.length, s.size);
    free(s.data);
    free(src);
}

/* ---- parts ---- */

/* A whole stream, and what a decoder of a part of it wrote. */
struct parts {
    struct zmpi_stream stream;
    unsigned char *whole, *part, *need;
};

/* Bytes of chunks not asked for must not be touched. */
static void check_untouched(const struct parts *p)
{
    const struct zmpi_stream *s = &p->stream;
    for (size_t k = 0; k < s->info.chunks; k++) {
        size_t first[3], extent[3];
        if (p->need[k])
            continue;
        zmpi_stream_tile(s, k, first, extent);
        for (size_t i = 0; i < extent[0] * extent[1]; i++) {
            size_t row = (first[0] + i / extent[1]) * s->extent[1] + first[1] + i % extent[1];
            size_t at = (row * s->extent[2] + first[2]) * s->width;
            size_t end = at + extent[2] * s->width;
            if (end > s->info.decoded_bytes)
                end = s->info.decoded_bytes;
            for (; at < end; at++)
                cr_assert_eq(p->part[at], 0xA5, "byte %zu of chunk %zu was written", at, k);
        }
    }
}

/* Just the chunks that hold words of bytes [begin, end) are marked. */
static void check_marks(const struct parts *p, size_t begin, size_t end)
{
    const struct zmpi_stream *s = &p->stream;
    const uint32_t *t = s->info.tile;
    unsigned char *expected = calloc(s->info.chunks, 1);
    for (size_t w = begin / s->width; begin < end && w <= (end - 1) / s->width; w++) {
        const size_t row = w / s->extent[2];
        const size_t z = row / s->extent[1] / t[0], y = row % s->extent[1] / t[1];
        expected[(z * s->grid[1] + y) * s->grid[2] + w % s->extent[2] / t[2]] = 1;
    }
    cr_assert_eq(memcmp(p->need, expected, s->info.chunks), 0, "bytes %zu to %zu", begin, end);
    free(expected);
}

static void check_part(struct parts *p, size_t begin, size_t end)
{
    const struct zmpi_stream *s = &p->stream;
    memset(p->need, 0, s->info.chunks);
    memset(p->part, 0xA5, s->info.decoded_bytes);
    zmpi_stream_mark(s, begin, end, p->need);
    check_marks(p, begin, end);
    cr_assert_eq(zmpi_stream_decode(s, p->need, 1, p->part, NULL), ZMPI_OK);
    cr_assert_eq(memcmp(p->part + begin, p->whole + begin, end - begin), 0, "bytes %zu to %zu",
                 begin, end);
    check_untouched(p);
}

static void check_parts(struct kit_random *r, const struct zmpi_array *a)
{
    void *src = kit_make(r, a, KIT_SPECIAL);
    struct kit_stream coded = kit_compress(a, kit_abs(1e-2), src);
    struct parts p;
    cr_assert_eq(zmpi_stream_parse(&p.stream, coded.data, coded.size), ZMPI_OK);
    size_t n = p.stream.info.decoded_bytes;
    p.whole = kit_decompress(&coded);
    p.part = malloc(n);
    p.need = malloc(p.stream.info.chunks);
    check_part(&p, 0, n);
    check_part(&p, 0, 0);
    check_part(&p, n, n);
    check_part(&p, n - 1, n);
    for (int i = 0; i < 30; i++) {
        size_t begin = kit_below(r, n);
        size_t most = i % 2 != 0 ? 100 : n;
        size_t length = kit_below(r, most);
        check_part(&p, begin, length < n - begin ? begin + length : n);
    }
    free(p.whole);
    free(p.part);
    free(p.need);
    free(coded.data);
    free(src);
}

Test(stream, parts)
{
    static const size_t shapes[][3] = {{1, 1, 50000}, {1, 301, 299}, {30, 70, 50}, {1000, 3, 7}};
    struct kit_random r = {6};
    for (size_t t = 0; t < KIT_COUNT(types); t++)
        for (size_t i = 0; i < KIT_COUNT(shapes); i++) {
            struct zmpi_array a = kit_array(types[t], shapes[i][0], shapes[i][1], shapes[i][2]);
            check_parts(&r, &a);
        }
}

/* Header and table are what a reader must fetch first; 80 bytes tell how much that is. */
Test(stream, head_size)
{
    struct kit_random r = {7};
    struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, 100000), none = kit_array(ZMPI_F32, 1, 1, 0);
    float *src = kit_make(&r, &a, KIT_SMOOTH);
    struct kit_stream s = kit_compress(&a, kit_abs(1e-3), src);
    struct kit_stream empty = kit_compress(&none, kit_abs(1e-3), src);
    struct zmpi_stream_info info;
    cr_assert_eq(zmpi_stream_info(s.data, s.size, &info), ZMPI_OK);
    size_t head = 0;
    cr_assert_eq(zmpi_stream_head_size(s.data, 80, &head), ZMPI_OK);
    cr_assert_eq(head, 80 + 8 * info.chunks);
    cr_assert_eq(zmpi_stream_head_size(empty.data, 80, &head), ZMPI_OK);
    cr_assert_eq(head, 80);
    cr_assert_neq(zmpi_stream_head_size(s.data, 79, &head), ZMPI_OK);
    cr_assert_eq(empty.size, 80);
    free(s.data);
    free(empty.data);
    free(src);
}

/* ---- bad arguments ---- */

Test(stream, bad_bounds)
{
    static const struct zmpi_bound bad[] = {
        {ZMPI_ABS, 0},    {ZMPI_ABS, -1},        {ZMPI_ABS, NAN},       {ZMPI_ABS, INFINITY},
        {ZMPI_REL, 0},    {ZMPI_REL, 1},         {ZMPI_REL, -1e-3},     {ZMPI_REL, NAN},
        {ZMPI_REL, 1e30}, {ZMPI_ABS, -INFINITY}, {ZMPI_PSNR, 0},        {ZMPI_PSNR, NAN},
        {ZMPI_PSNR, 301}, {ZMPI_PW_REL, 0},      {ZMPI_PW_REL, 1},      {ZMPI_PW_REL, NAN},
        {ZMPI_RATIO, 1},  {ZMPI_RATIO, NAN},     {ZMPI_RATIO, INFINITY}};
    struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, 100);
    float src[100] = {0};
    unsigned char dst[4096];
    for (size_t i = 0; i < KIT_COUNT(bad); i++) {
        size_t size = 77;
        enum zmpi_status s = zmpi_compress(&a, &bad[i], NULL, dst, sizeof dst, src, &size);
        cr_assert_eq(s, ZMPI_ERR_BOUND, "mode %d value %g: %s", bad[i].mode, bad[i].value,
                     zmpi_strerror(s));
        cr_assert_eq(size, 77, "written on error");
    }
    struct zmpi_bound unknown[] = {{(enum zmpi_mode)6, 0.1}, {(enum zmpi_mode)9, 0.1}};
    size_t size;
    for (size_t i = 0; i < KIT_COUNT(unknown); i++)
        cr_assert_eq(zmpi_compress(&a, &unknown[i], NULL, dst, sizeof dst, src, &size),
                     ZMPI_ERR_BOUND);
}

/* No elements, whatever the other extents are. */
Test(stream, nothing_of_much)
{
    static const size_t most = INT64_MAX;
    const size_t extents[][3] = {{0, most, most}, {most, 0, most}, {most, most, 0}};
    for (size_t i = 0; i < KIT_COUNT(extents); i++) {
        struct zmpi_array a = {ZMPI_F32, {extents[i][0], extents[i][1], extents[i][2]}};
        struct zmpi_bound bound = {ZMPI_ABS, 1};
        struct zmpi_stream_info info;
        unsigned char dst[256], none;
        size_t size;
        cr_assert_eq(zmpi_compress(&a, &bound, NULL, dst, sizeof dst, &none, &size), ZMPI_OK);
        cr_assert_eq(zmpi_stream_info(dst, size, &info), ZMPI_OK);
        cr_assert(info.chunks == 0 && info.decoded_bytes == 0);
        cr_assert_eq(zmpi_decompress(&none, 0, dst, size), ZMPI_OK);
    }
}

Test(stream, bad_arrays)
{
    static const struct zmpi_array bad[] = {
        {ZMPI_F32, {SIZE_MAX, SIZE_MAX, SIZE_MAX}},
        {ZMPI_F64, {1, 1, SIZE_MAX / 8 + 1}},
        {ZMPI_I32, {1, (size_t)1 << 33, (size_t)1 << 33}},
        {ZMPI_F32, {0, (size_t)INT64_MAX + 1, 1}},
        {(enum zmpi_type)0, {1, 1, 1}},
        {(enum zmpi_type)6, {1, 1, 1}},
    };
    struct zmpi_bound bound = {ZMPI_LOSSLESS, 0};
    unsigned char dst[256], src[8] = {0};
    for (size_t i = 0; i < KIT_COUNT(bad); i++) {
        size_t size, count;
        cr_assert_neq(zmpi_compress(&bad[i], &bound, NULL, dst, sizeof dst, src, &size), ZMPI_OK);
        cr_assert_neq(zmpi_array_bytes(&bad[i], &count), ZMPI_OK);
        cr_assert_eq(zmpi_compress_capacity(&bad[i]), 0);
    }
}

Test(stream, every_status_has_a_text)
{
    for (int i = 0; i <= ZMPI_ERR_UNSUPPORTED; i++)
        cr_assert_gt(strlen(zmpi_strerror((enum zmpi_status)i)), 3);
    cr_assert_not_null(zmpi_strerror((enum zmpi_status)999));
    cr_assert_not_null(zmpi_strerror((enum zmpi_status) - 1));
}
