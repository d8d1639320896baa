/*
 * huffman_stream.c - encoder 2: what comes back is what fle would give, bit for bit, from no more
 * bytes; by any number of threads; any part; and damage is seen.
 */
#include "kit.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "device.h"
#include "huffman/huffman.h"

/* threads: below 0 by the approximate sort. */
static struct kit_stream compress(const struct zmpi_array *a, struct zmpi_bound bound, int encoder,
                                  int threads, const void *src)
{
    struct zmpi_range range;
    struct zmpi_job job;
    size_t capacity = zmpi_compress_capacity(a);
    struct kit_stream s = {malloc(capacity), 0};
    zmpi_range_of(a->type, src, kit_elements(a), &range);
    cr_assert_eq(zmpi_job_make(a, &bound, &range, &job), ZMPI_OK);
    job.encoder = encoder;
    job.variant = threads < 0 ? ZMPI_VARIANT_APPROXIMATE : ZMPI_VARIANT_NONE;
    job.threads = abs(threads);
    cr_assert_eq(zmpi_device_cpu()->compress(&job, s.data, capacity, src, &s.size), ZMPI_OK);
    return s;
}

static void check_data(const struct zmpi_array *a, struct zmpi_bound bound, const void *src,
                       const char *what)
{
    struct kit_stream fle = compress(a, bound, ZMPI_FLE, 1, src);
    struct kit_stream s = compress(a, bound, ZMPI_HUFFMAN, 1, src);
    cr_assert_leq(s.size, fle.size, "%s: %zu bytes, not %zu", what, s.size, fle.size);
    /* Between guard pages: no read behind the stream. */
    struct kit_guarded in = kit_guard(s.size, true), out = kit_guard(kit_bytes(a), true);
    memcpy(in.data, s.data, s.size);
    enum zmpi_status status = zmpi_decompress(out.data, kit_bytes(a), in.data, s.size);
    cr_assert_eq(status, ZMPI_OK, "%s: %s", what, zmpi_strerror(status));
    void *expected = kit_decompress(&fle);
    cr_assert_arr_eq(out.data, expected, kit_bytes(a), "%s", what);
    kit_check(a, src, out.data, kit_abs_bound(&s), what);
    kit_unguard(&in);
    kit_unguard(&out);
    free(expected);
    free(fle.data);
    free(s.data);
}

static void check(const struct zmpi_array *a, struct zmpi_bound bound, enum kit_data kind)
{
    struct kit_random r = {7 + kit_elements(a)};
    char what[100];
    snprintf(what, sizeof what, "type %d, %zux%zux%zu, kind %d, mode %d", a->type, a->extent[0],
             a->extent[1], a->extent[2], kind, bound.mode);
    void *src = kit_make(&r, a, kind);
    check_data(a, bound, src, what);
    free(src);
}

static const struct zmpi_bound bounds[] = {{ZMPI_ABS, 1e-2},    {ZMPI_REL, 1e-3},
                                           {ZMPI_REL, 1e-7},    {ZMPI_PSNR, 70},
                                           {ZMPI_PW_REL, 1e-3}, {ZMPI_LOSSLESS, 0}};

static const size_t shapes[][3] = {{1, 1, 1},    {1, 1, 31},    {1, 1, 33},   {1, 1, 270},
                                   {1, 1, 8192}, {1, 1, 20001}, {1, 70, 117}, {1, 300, 3},
                                   {9, 25, 37},  {5, 64, 64},   {40, 3, 50},  {1, 2, 5000}};

Test(huffman, floats)
{
    for (size_t i = 0; i < KIT_COUNT(shapes); i++)
        for (size_t b = 0; b < KIT_COUNT(bounds); b++)
            for (int kind = 0; kind < KIT_DATA_KINDS; kind++)
                for (enum zmpi_type type = ZMPI_F32; type <= ZMPI_F64; type++) {
                    struct zmpi_array a = kit_array(type, shapes[i][0], shapes[i][1], shapes[i][2]);
                    check(&a, bounds[b], (enum kit_data)kind);
                }
}

/* A chunk's errors are measured, by decoding it, before its residuals are coded: they must still
 * be there. Rows of any length, along y and z too, with land of one value in them. */
Test(huffman, measured_beside_exceptions)
{
    for (enum zmpi_type type = ZMPI_F32; type <= ZMPI_F64; type++) {
        struct zmpi_array a = kit_array(type, 20, 50, 61);
        void *src = malloc(kit_bytes(&a));
        for (size_t i = 0; i < kit_elements(&a); i++) {
            const size_t x = i % 61, y = i / 61 % 50, z = i / 61 / 50;
            const double water = sin((double)x * 0.1) * cos((double)y * 0.07) + (double)z * 0.01;
            kit_put(type, src, i, x * y > 1500 ? 1e20 : water);
        }
        check_data(&a, (struct zmpi_bound){ZMPI_PSNR, 60}, src, "measured");
        free(src);
    }
}

Test(huffman, integers_and_bytes)
{
    for (size_t i = 0; i < KIT_COUNT(shapes); i++)
        for (enum zmpi_type type = ZMPI_I32; type <= ZMPI_BYTES; type++) {
            struct zmpi_array a = kit_array(type, shapes[i][0], shapes[i][1], shapes[i][2]);
            check(&a, bounds[0], KIT_SMOOTH);
            check(&a, bounds[0], KIT_BITS);
        }
    struct zmpi_array none = kit_array(ZMPI_F32, 1, 0, 5);
    struct kit_stream s = compress(&none, bounds[0], ZMPI_HUFFMAN, 1, "");
    cr_assert_eq(s.size, ZMPI_STREAM_HEADER_BYTES);
    free(s.data);
}

/* Residuals of every width, and runs of every length. */
static void *odd_integers(const struct zmpi_array *a)
{
    struct kit_random r = {11};
    size_t n = kit_elements(a);
    uint64_t *wide = malloc(8 * n), value = 0;
    uint32_t *narrow = malloc(4 * n);
    for (size_t i = 0; i < n; i++) {
        if (i % 1300 < 40 || kit_below(&r, 50) == 0)
            value += kit_next(&r) >> kit_below(&r, 64);
        wide[i] = value;
        narrow[i] = (uint32_t)value;
    }
    free(a->type == ZMPI_I64 ? (void *)narrow : wide);
    return a->type == ZMPI_I64 ? (void *)wide : narrow;
}

Test(huffman, wide_residuals_and_long_runs)
{
    for (enum zmpi_type type = ZMPI_I32; type <= ZMPI_I64; type++) {
        struct zmpi_array a = kit_array(type, 1, 1, 300001);
        void *src = odd_integers(&a);
        struct kit_stream fle = compress(&a, bounds[0], ZMPI_FLE, 1, src);
        struct kit_stream s = compress(&a, bounds[0], ZMPI_HUFFMAN, 1, src);
        void *out = kit_decompress(&s);
        cr_assert_arr_eq(out, src, kit_bytes(&a));
        cr_assert_lt(s.size, fle.size / 2);
        free(out);
        free(src);
        free(s.data);
        free(fle.data);
    }
}

/* Differences from a bell as wide as asked, one in 2,000 far outside it. */
static int32_t *bell_sums(const struct zmpi_array *a, double width, uint32_t count[4096])
{
    struct kit_random r = {17};
    size_t n = kit_elements(a);
    int32_t *x = malloc(kit_bytes(a)), sum = 0;
    memset(count, 0, 4096 * sizeof *count);
    for (size_t i = 0; i < n; i++) {
        double d = width * (kit_unit(&r) + kit_unit(&r) + kit_unit(&r));
        int32_t step = (int32_t)lrint(kit_below(&r, 2000) ? d : 20 * d);
        count[2048 + step]++;
        x[i] = sum += step;
    }
    return x;
}

/* Heads aside, 2.5 % above the entropy of residuals in no order at most, from 2.5 bits on: below, a
 * code takes whole bits. Of chunks that are all samples, and of more. */
Test(huffman, sizes_are_near_the_entropy)
{
    static const size_t chunks[] = {20, 100};
    static uint32_t count[4096];
    for (size_t c = 0; c < KIT_COUNT(chunks); c++)
        for (double width = 1.4; width < 30; width *= 1.4) {
            struct zmpi_array a = kit_array(ZMPI_I32, 1, 1, 8192 * chunks[c]);
            int32_t *src = bell_sums(&a, width, count);
            struct kit_stream s = compress(&a, bounds[0], ZMPI_HUFFMAN, 1, src);
            double bits = 0, all = (double)kit_elements(&a);
            for (size_t i = 0; i < 4096; i++)
                bits += count[i] ? count[i] * log2(all / count[i]) : 0;
            const double heads = 80 + 32 * (double)chunks[c];
            const double over = ((double)s.size - heads) / (bits / 8) - 1;
            cr_log_info("%zu chunks, %.2f bits: %.2f %% over the entropy", chunks[c], bits / all,
                        100 * over);
            cr_assert_lt(over, 0.025, "%zu chunks, width %g: %.2f %%", chunks[c], width,
                         100 * over);
            free(src);
            free(s.data);
        }
}

/* CEAZ's sort: other books, that are read as any, of much the same use. */
Test(huffman, approximate_sort)
{
    static uint32_t count[4096];
    struct zmpi_array a = kit_array(ZMPI_I32, 1, 1, 100000);
    int32_t *src = bell_sums(&a, 6, count);
    struct kit_stream exact = compress(&a, bounds[0], ZMPI_HUFFMAN, 1, src);
    struct kit_stream s = compress(&a, bounds[0], ZMPI_HUFFMAN, -1, src);
    void *out = kit_decompress(&s);
    cr_assert_arr_eq(out, src, kit_bytes(&a));
    cr_assert(s.size != exact.size && s.size < exact.size / 100 * 103, "%zu, %zu", s.size,
              exact.size);
    free(out);
    free(src);
    free(s.data);
    free(exact.data);
}

/* As many elements as fit a chunk, where rows are few: heads of chunks cost. */
Test(huffman, few_rows_fill_chunks)
{
    static const struct {
        size_t extent[3], tile[3];
    } of[] = {{{1, 3, 32768}, {1, 3, 2528}},
              {{1, 16, 9000}, {1, 16, 512}},
              {{4, 2, 3000}, {4, 2, 1024}},
              {{1, 2, 300}, {1, 2, 300}},
              {{1, 17, 9000}, {1, 17, 250}}};
    for (size_t i = 0; i < KIT_COUNT(of); i++) {
        struct zmpi_array a =
            kit_array(ZMPI_F32, of[i].extent[0], of[i].extent[1], of[i].extent[2]);
        struct kit_random r = {i};
        void *src = kit_make(&r, &a, KIT_SMOOTH);
        struct kit_stream s = compress(&a, kit_rel(1e-3), ZMPI_HUFFMAN, 1, src);
        struct zmpi_stream_info info;
        cr_assert_eq(zmpi_stream_info(s.data, s.size, &info), ZMPI_OK);
        for (int k = 0; k < 3; k++)
            cr_assert_eq(info.tile[k], of[i].tile[k], "%zu: %u", i, info.tile[k]);
        free(src);
        free(s.data);
        check(&a, kit_rel(1e-3), KIT_SMOOTH);
        check(&a, kit_rel(1e-5), KIT_PATCHES);
    }
}

/* 20 MiB whose statistics change: several sections, with books of their own. */
static void *changing(const struct zmpi_array *a)
{
    struct kit_random r = {3};
    size_t n = kit_elements(a);
    float *x = malloc(4 * n);
    for (size_t i = 0; i < n; i++)
        x[i] = (float)((i < n / 3 ? 1.0 : i < n / 2 ? 40.0 : 0.0) * kit_unit(&r));
    return x;
}

Test(huffman, threads_write_the_same_bytes)
{
    struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, 5 << 20);
    float *src = changing(&a), *out = malloc(kit_bytes(&a));
    struct kit_stream one = compress(&a, kit_abs(1e-2), ZMPI_HUFFMAN, 1, src);
    struct zmpi_stream s;
    cr_assert_eq(zmpi_stream_parse(&s, one.data, one.size), ZMPI_OK);
    cr_assert_geq(s.book_count, 2);
    for (int threads = 2; threads < 6; threads++) {
        struct kit_stream t = compress(&a, kit_abs(1e-2), ZMPI_HUFFMAN, threads, src);
        cr_assert_eq(t.size, one.size);
        cr_assert_arr_eq(t.data, one.data, t.size);
        cr_assert_eq(zmpi_stream_decode(&s, NULL, threads, out, NULL), ZMPI_OK);
        kit_check(&a, src, out, 1e-2, "threads");
        free(t.data);
    }
    unsigned char *need = calloc(s.info.chunks, 1);
    zmpi_stream_mark(&s, kit_bytes(&a) / 3, kit_bytes(&a) / 3 + 100, need);
    zmpi_stream_mark(&s, kit_bytes(&a) - 4, kit_bytes(&a), need);
    float *part = calloc(kit_bytes(&a), 1);
    cr_assert_eq(zmpi_stream_decode(&s, need, 2, part, NULL), ZMPI_OK);
    cr_assert_arr_eq((char *)part + kit_bytes(&a) / 3, (char *)out + kit_bytes(&a) / 3, 100);
    cr_assert_eq(memcmp(part + kit_elements(&a) - 1, out + kit_elements(&a) - 1, 4), 0);
    free(need);
    free(part);
    free(out);
    free(src);
    free(one.data);
}

/* A room that holds the stream and nothing more will do; one byte less will not. */
Test(huffman, capacity)
{
    struct zmpi_array a = kit_array(ZMPI_F32, 1, 100, 200);
    struct kit_random r = {5};
    void *src = kit_make(&r, &a, KIT_SMOOTH);
    struct kit_stream s = compress(&a, kit_abs(1e-3), ZMPI_HUFFMAN, 1, src);
    struct zmpi_bound bound = kit_abs(1e-3);
    struct zmpi_job job;
    size_t size;
    cr_assert_eq(zmpi_job_make(&a, &bound, NULL, &job), ZMPI_OK);
    job.encoder = ZMPI_HUFFMAN;
    struct kit_guarded g = kit_guard(s.size, true);
    cr_assert_eq(zmpi_device_cpu()->compress(&job, g.data, s.size, src, &size), ZMPI_OK);
    cr_assert_arr_eq(g.data, s.data, s.size);
    for (size_t capacity = 0; capacity < s.size; capacity += 1 + capacity / 8)
        cr_assert_eq(zmpi_device_cpu()->compress(&job, g.data, capacity, src, &size),
                     ZMPI_ERR_SPACE);
    kit_unguard(&g);
    free(src);
    free(s.data);
}

/* ---- damage ---- */

/* A small stream with a book of its own, exceptions, runs and wide residuals. */
static struct kit_stream victim(struct zmpi_array *a)
{
    struct kit_random r = {9};
    *a = kit_array(ZMPI_F32, 1, 60, 70);
    float *src = kit_make(&r, a, KIT_SMOOTH);
    for (size_t i = 0; i < kit_elements(a); i++) {
        src[i] = i < 700 ? 1 : (float)kit_below(&r, 5) * 0.37F;
        if (i % 97 == 50)
            src[i] = i % 2 ? NAN : 3e4F;
    }
    struct kit_stream s = compress(a, kit_abs(1e-2), ZMPI_HUFFMAN, 1, src);
    struct zmpi_stream parsed;
    cr_assert_eq(zmpi_stream_parse(&parsed, s.data, s.size), ZMPI_OK);
    cr_assert_eq(parsed.book_count, 1);
    cr_assert(parsed.src[parsed.head + 2] & ZMPI_CHUNK_HUFFMAN);
    cr_assert(parsed.src[parsed.head + 2] & ZMPI_CHUNK_EXCEPTIONS);
    free(src);
    return s;
}

Test(huffman, truncations_and_flips_are_seen)
{
    struct zmpi_array a;
    struct kit_stream s = victim(&a);
    unsigned char *out = malloc(kit_bytes(&a));
    for (size_t n = 0; n < s.size; n++) {
        struct kit_guarded g = kit_guard(n, true);
        memcpy(g.data, s.data, n);
        cr_assert_neq(zmpi_decompress(out, kit_bytes(&a), g.data, n), ZMPI_OK, "%zu bytes", n);
        kit_unguard(&g);
    }
    for (size_t bit = 0; bit<8 * s.size; bit += TEST_LESS> 1 ? 13 : 1) {
        s.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
        cr_assert_neq(zmpi_decompress(out, kit_bytes(&a), s.data, s.size), ZMPI_OK, "bit %zu", bit);
        s.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    free(out);
    free(s.data);
}

static void fix_checksums(unsigned char *data, const struct zmpi_stream *s)
{
    size_t at = s->head;
    for (size_t k = 0; k < s->info.chunks; k++) {
        unsigned char *entry = data + ZMPI_STREAM_HEADER_BYTES + 8 * k;
        zmpi_store32(entry + 4, (uint32_t)zmpi_hash(data + at, zmpi_load32(entry), 0));
        at += zmpi_load32(entry);
    }
    zmpi_store64(data + 72, zmpi_hash2(data, 72, data + ZMPI_STREAM_HEADER_BYTES,
                                       s->head - ZMPI_STREAM_HEADER_BYTES, 0));
}

/* With right checksums anything may come back, but nothing may be read or written outside. */
Test(huffman, forged_streams_do_not_crash)
{
    struct zmpi_array a;
    struct kit_stream s = victim(&a);
    struct kit_guarded in = kit_guard(s.size, true), out = kit_guard(kit_bytes(&a), true);
    struct zmpi_stream parsed;
    size_t decoded = 0, refused = 0;
    cr_assert_eq(zmpi_stream_parse(&parsed, s.data, s.size), ZMPI_OK);
    size_t books = parsed.head - parsed.books_size;
    for (size_t bit = 8 * books; bit<8 * s.size; bit += TEST_LESS> 1 ? 13 : 1) {
        memcpy(in.data, s.data, s.size);
        in.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
        fix_checksums(in.data, &parsed);
        if (zmpi_decompress(out.data, kit_bytes(&a), in.data, s.size))
            refused++;
        else
            decoded++;
    }
    struct kit_random r = {1};
    for (int i = 0; i < test_rounds(test_long() ? 3000 : 1000); i++) {
        memcpy(in.data, s.data, s.size);
        for (size_t n = kit_below(&r, 40); n > 0; n--)
            in.data[books + kit_below(&r, s.size - books)] = (unsigned char)kit_next(&r);
        fix_checksums(in.data, &parsed);
        refused += zmpi_decompress(out.data, kit_bytes(&a), in.data, s.size) != ZMPI_OK;
    }
    cr_assert_gt(decoded, 100 / (2 * TEST_LESS));
    cr_assert_gt(refused, 3000 / (2 * TEST_LESS));
    kit_unguard(&in);
    kit_unguard(&out);
    free(s.data);
}

/* Behind the books lie at most 3 bytes, which are zero. */
Test(huffman, padding_of_books)
{
    struct zmpi_array a;
    struct kit_stream s = victim(&a);
    struct zmpi_stream parsed;
    struct zmpi_book book;
    unsigned char *longer = calloc(1, s.size + 4);
    cr_assert_eq(zmpi_stream_parse(&parsed, s.data, s.size), ZMPI_OK);
    size_t used = 1 + zmpi_book_load(&book, parsed.books + 1, parsed.books_size - 1);
    cr_assert_lt(used, parsed.books_size);
    memcpy(longer, s.data, parsed.head);
    longer[parsed.head - 1] = 1;
    memcpy(longer + parsed.head, s.data + parsed.head, s.size - parsed.head);
    fix_checksums(longer, &parsed);
    cr_assert_eq(zmpi_stream_parse(&parsed, longer, s.size), ZMPI_ERR_CORRUPT);
    cr_assert_eq(zmpi_stream_parse(&parsed, s.data, s.size), ZMPI_OK);
    memcpy(longer, s.data, parsed.head);
    memset(longer + parsed.head, 0, 4);
    memcpy(longer + parsed.head + 4, s.data + parsed.head, s.size - parsed.head);
    zmpi_store32(longer + 8, zmpi_load32(longer + 8) + (1u << 8));
    zmpi_store64(longer + 64, s.size + 4);
    parsed.head += 4;
    fix_checksums(longer, &parsed);
    cr_assert_eq(zmpi_stream_parse(&parsed, longer, s.size + 4), ZMPI_ERR_CORRUPT);
    free(longer);
    free(s.data);
}

/* ---- ratios ---- */

/* Residuals that are nearly all zero, but for one in a hundred: far below a bit each. */
Test(huffman, ratios_above_32)
{
    struct zmpi_array a = kit_array(ZMPI_F32, 64, 64, 64);
    struct kit_random r = {2};
    float *src = malloc(kit_bytes(&a));
    for (size_t i = 0; i < kit_elements(&a); i++)
        src[i] = (float)(1 + (kit_below(&r, 100) == 0));
    struct kit_stream fle = compress(&a, kit_abs(0.1), ZMPI_FLE, 1, src);
    struct kit_stream s = compress(&a, kit_abs(0.1), ZMPI_HUFFMAN, 1, src);
    cr_assert_lt(fle.size, kit_bytes(&a));
    cr_assert_lt(s.size, kit_bytes(&a) / 100 * 3);
    free(src);
    free(fle.data);
    free(s.data);
}

/* As threads of task runtimes have. (Sanitizers take more.) */
enum { STACK = 64 << 10 };

static struct zmpi_array small_stack_array = {ZMPI_F32, {8, 64, 512}};

static void *both_ways(void *src)
{
    const struct zmpi_bound bound = {ZMPI_REL, 1e-4};
    for (int threads = -1; threads <= 1; threads += 2) {
        struct kit_stream s = compress(&small_stack_array, bound, ZMPI_HUFFMAN, threads, src);
        free(kit_decompress(&s));
        free(s.data);
    }
    return src;
}

Test(huffman, small_stacks)
{
#ifdef __SANITIZE_ADDRESS__
    cr_skip("its frames are larger");
#endif
    struct kit_random r = {3};
    void *src = kit_make(&r, &small_stack_array, KIT_SMOOTH), *back = NULL;
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    cr_assert_eq(pthread_attr_setstacksize(&attributes, STACK), 0);
    cr_assert_eq(pthread_create(&thread, &attributes, both_ways, src), 0);
    cr_assert_eq(pthread_join(thread, &back), 0);
    cr_assert_eq(back, src);
    pthread_attr_destroy(&attributes);
    free(src);
}
