/* extents.c - runs, nests and lists against a map of single bytes. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "format/extents.h"
#include "kit.h"

#define SPACE    4096 /* logical bytes that the random extents stay in */
#define RUNS_MAX SPACE

static struct kit_random random_numbers;

static inline uint64_t random_next(void)
{
    return kit_next(&random_numbers);
}

static inline uint64_t random_below(uint64_t n)
{
    return kit_below(&random_numbers, n);
}

/* Every byte of e, looked up through runs and seek, is a byte of the map, in order. */
static void check_against_map(const struct zmpi_extent *e, const unsigned char *map)
{
    uint64_t runs = zmpi_extent_runs(e), position = 0, total = 0, i = 0;
    for (size_t b = 0; b < SPACE; b++)
        total += map[b];
    cr_assert_eq(e->bytes, total);
    for (uint64_t b = 0; b < SPACE; b++) {
        uint64_t at;
        cr_assert_eq(zmpi_extent_seek(e, b), i, "seek %llu", (unsigned long long)b);
        if (i == runs) {
            cr_assert_eq(map[b], 0);
            continue;
        }
        struct zmpi_run run = zmpi_extent_run(e, i, &at);
        if (b < run.offset) {
            cr_assert_eq(map[b], 0);
            continue;
        }
        cr_assert_eq(map[b], 1);
        cr_assert_eq(at + (b - run.offset), position);
        position++;
        if (b + 1 == run.offset + run.length)
            i++;
    }
    cr_assert_eq(i, runs);
}

static void fill_map(unsigned char *map, const struct zmpi_run *runs, size_t n)
{
    memset(map, 0, SPACE);
    for (size_t i = 0; i < n; i++)
        memset(map + runs[i].offset, 1, runs[i].length);
}

/* What a record stores brings the same extent back. */
static void check_coding(const struct zmpi_extent *e, const unsigned char *map)
{
    struct zmpi_extent back = {.lo = e->lo, .hi = e->hi, .bytes = e->bytes, .levels = e->levels};
    if (e->levels == ZMPI_EXTENT_LIST) {
        unsigned char *stream;
        size_t size;
        cr_assert_eq(zmpi_extent_list_encode(e, &stream, &size), ZMPI_OK);
        cr_assert_eq(zmpi_extent_list_decode(&back, stream, size), ZMPI_OK);
        free(stream);
    } else {
        unsigned char nest[8 + 16 * ZMPI_EXTENT_LEVELS];
        size_t size = zmpi_extent_nest_size(e->levels);
        zmpi_extent_nest_encode(e, nest);
        cr_assert_eq(zmpi_extent_nest_decode(&back, nest, size), ZMPI_OK);
    }
    check_against_map(&back, map);
    zmpi_extent_free(&back);
}

/* A random nest of up to `levels` levels in SPACE, as its runs; returns their number. */
static size_t random_nest(struct zmpi_run *runs, unsigned levels)
{
    uint64_t start[RUNS_MAX], length = 1 + random_below(12), span = length;
    size_t n = 1;
    start[0] = 0;
    for (unsigned k = 0; k < levels; k++) {
        uint64_t count = 2 + random_below(4), stride = span + random_below(2) * random_below(20);
        if ((count - 1) * stride + span > SPACE - 64)
            break;
        for (uint64_t c = 1; c < count; c++)
            for (size_t i = 0; i < n; i++)
                start[c * n + i] = c * stride + start[i];
        n *= count;
        span += (count - 1) * stride;
    }
    uint64_t lo = random_below(SPACE - span);
    for (size_t i = 0; i < n; i++)
        runs[i] = (struct zmpi_run){lo + start[i], length};
    return n;
}

Test(extents, nests_are_found)
{
    static struct zmpi_run runs[RUNS_MAX];
    unsigned char map[SPACE];
    random_numbers.state = 1;
    for (int round = 0; round < 3000; round++) {
        struct zmpi_extent e;
        size_t n = random_nest(runs, (unsigned)(round % 5));
        cr_assert_eq(zmpi_extent_from_runs(&e, runs, n), ZMPI_OK);
        cr_assert_neq(e.levels, ZMPI_EXTENT_LIST, "round %d: a nest became a list", round);
        fill_map(map, runs, n);
        check_against_map(&e, map);
        check_coding(&e, map);
        zmpi_extent_free(&e);
    }
}

Test(extents, lists)
{
    static struct zmpi_run runs[RUNS_MAX];
    unsigned char map[SPACE];
    random_numbers.state = 2;
    for (int round = 0; round < 3000; round++) {
        size_t n = 0, limit = 1 + random_below(200);
        uint64_t end = random_below(50), gap_max = 1 + random_below(40);
        while (n < limit && end < SPACE - 100) {
            uint64_t gap = random_below(3) == 0 ? 0 : random_below(gap_max);
            runs[n] = (struct zmpi_run){end + gap, 1 + random_below(20)};
            end = runs[n].offset + runs[n].length;
            n++;
        }
        struct zmpi_extent e;
        cr_assert_eq(zmpi_extent_from_runs(&e, runs, n), ZMPI_OK);
        fill_map(map, runs, n);
        check_against_map(&e, map);
        check_coding(&e, map);
        zmpi_extent_free(&e);
    }
}

Test(extents, touching_runs_become_one)
{
    struct zmpi_run runs[] = {{10, 5}, {15, 1}, {16, 100}};
    struct zmpi_extent e;
    cr_assert_eq(zmpi_extent_from_runs(&e, runs, 3), ZMPI_OK);
    cr_assert_eq(e.levels, 0);
    cr_assert_eq(e.lo, 10);
    cr_assert_eq(e.hi, 116);
    cr_assert_eq(e.bytes, 106);
}

Test(extents, subarray_of_four_dimensions_is_a_nest)
{
    struct zmpi_run runs[4 * 3 * 5];
    size_t n = 0;
    for (uint64_t t = 0; t < 4; t++)
        for (uint64_t z = 0; z < 3; z++)
            for (uint64_t y = 0; y < 5; y++)
                runs[n++] = (struct zmpi_run){((t * 10 + z + 2) * 20 + y + 7) * 400 + 80, 120};
    struct zmpi_extent e;
    cr_assert_eq(zmpi_extent_from_runs(&e, runs, n), ZMPI_OK);
    cr_assert_eq(e.levels, 3);
    cr_assert_eq(e.run, 120);
    cr_assert(e.count[0] == 5 && e.count[1] == 3 && e.count[2] == 4);
    cr_assert(e.stride[0] == 400 && e.stride[1] == 8000 && e.stride[2] == 80000);
}

Test(extents, five_levels_are_a_list)
{
    struct zmpi_run runs[32];
    for (uint64_t i = 0; i < 32; i++)
        runs[i].offset = (i & 1) * 3 + (i >> 1 & 1) * 10 + (i >> 2 & 1) * 30 + (i >> 3 & 1) * 100 +
                         (i >> 4) * 1000,
        runs[i].length = 1;
    struct zmpi_extent e;
    cr_assert_eq(zmpi_extent_from_runs(&e, runs, 32), ZMPI_OK);
    cr_assert_eq(e.levels, ZMPI_EXTENT_LIST);
    cr_assert_eq(e.list_count, 32);
    zmpi_extent_free(&e);
    zmpi_extent_free(&e);
}

Test(extents, bad_runs)
{
    struct zmpi_extent e;
    struct zmpi_run overlap[] = {{0, 10}, {9, 2}}, decrease[] = {{10, 1}, {0, 1}};
    struct zmpi_run empty[] = {{0, 10}, {20, 0}};
    struct zmpi_run far[] = {{INT64_MAX, 1}}, farther[] = {{UINT64_MAX - 1, 4}};
    struct zmpi_run last[] = {{INT64_MAX - 1, 1}}, all[] = {{0, INT64_MAX}};
    cr_assert_eq(zmpi_extent_from_runs(&e, overlap, 0), ZMPI_ERR_ARG);
    cr_assert_eq(zmpi_extent_from_runs(&e, overlap, 2), ZMPI_ERR_ARG);
    cr_assert_eq(zmpi_extent_from_runs(&e, decrease, 2), ZMPI_ERR_ARG);
    cr_assert_eq(zmpi_extent_from_runs(&e, empty, 2), ZMPI_ERR_ARG);
    cr_assert_eq(zmpi_extent_from_runs(&e, far, 1), ZMPI_ERR_SIZE);
    cr_assert_eq(zmpi_extent_from_runs(&e, farther, 1), ZMPI_ERR_SIZE);
    cr_assert_eq(zmpi_extent_from_runs(&e, last, 1), ZMPI_OK);
    cr_assert_eq(zmpi_extent_from_runs(&e, all, 1), ZMPI_OK);
}

Test(extents, huge_offsets)
{
    uint64_t tb = UINT64_C(1) << 40;
    struct zmpi_run runs[] = {{tb, 7}, {3 * tb, 7}, {1000000 * tb, 7}, {1000002 * tb, 7}};
    struct zmpi_extent e;
    cr_assert_eq(zmpi_extent_from_runs(&e, runs, 4), ZMPI_OK);
    cr_assert_eq(e.levels, 2);
    for (uint64_t i = 0; i < 4; i++) {
        cr_assert_eq(zmpi_extent_seek(&e, runs[i].offset), i);
        cr_assert_eq(zmpi_extent_seek(&e, runs[i].offset + 6), i);
        cr_assert_eq(zmpi_extent_seek(&e, runs[i].offset + 7), i + 1);
    }
    cr_assert_eq(zmpi_extent_seek(&e, UINT64_MAX), 4);
}

/* The invariants that everything else relies on. */
static void check_sound(const struct zmpi_extent *e)
{
    uint64_t end = e->lo, runs = zmpi_extent_runs(e), bytes = 0;
    for (uint64_t i = 0; i < runs && i < 1000; i++) {
        uint64_t position;
        struct zmpi_run run = zmpi_extent_run(e, i, &position);
        cr_assert(run.length > 0 && run.offset >= end && position == bytes);
        end = run.offset + run.length;
        bytes += run.length;
        cr_assert(end <= e->hi && bytes <= e->bytes);
    }
}

/* A nest whose bytes were changed is refused or sound. */
Test(extents, damaged_nests)
{
    static struct zmpi_run runs[RUNS_MAX];
    random_numbers.state = 3;
    for (int round = 0; round < 20000; round++) {
        struct zmpi_extent e;
        size_t n = random_nest(runs, 1 + (unsigned)(round % 4));
        cr_assert_eq(zmpi_extent_from_runs(&e, runs, n), ZMPI_OK);
        size_t size = zmpi_extent_nest_size(e.levels);
        unsigned char nest[8 + 16 * ZMPI_EXTENT_LEVELS];
        zmpi_extent_nest_encode(&e, nest);
        if (size > 0 && random_below(4) != 0)
            nest[random_below(size)] ^= (unsigned char)(1u << random_below(8));
        if (size > 0 && random_below(4) == 0)
            zmpi_store64(nest + 8 * random_below(size / 8), UINT64_C(1) << random_below(64));
        struct zmpi_extent back = {e.lo, e.hi, .bytes = e.bytes, .levels = e.levels};
        if (random_below(8) == 0)
            back.bytes = random_next();
        if (random_below(8) == 0)
            back.hi = random_next() >> random_below(64);
        if (zmpi_extent_nest_decode(&back, nest, size) == ZMPI_OK)
            check_sound(&back);
        cr_assert_neq(zmpi_extent_nest_decode(&back, nest, size + 8), ZMPI_OK);
    }
}

/* Nests that add up, but are none by format.md 2.2. */
Test(extents, wrong_nests)
{
    static const struct zmpi_extent wrong[] = {
        {.lo = 9, .hi = 19, .bytes = 10, .levels = 1, .run = 10, .count = {1}, .stride = {10}},
        {.lo = 9, .hi = 9, .bytes = 0, .levels = 1, .run = 0, .count = {2}},
        {.lo = 9, .hi = 27, .bytes = 30, .levels = 1, .run = 10, .count = {3}, .stride = {4}},
        /* runs of one byte at 0, 10, 5, 15, 10 and 20 */
        {.hi = 21, .bytes = 6, .levels = 2, .run = 1, .count = {2, 3}, .stride = {10, 5}},
        /* 2^64 bytes more than it says */
        {.hi = INT64_MAX,
         .bytes = 8,
         .levels = 2,
         .run = 8,
         .count = {2, (UINT64_C(1) << 60) + 1},
         .stride = {8, 16}},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct zmpi_extent e = wrong[i], back = wrong[i];
        unsigned char nest[8 + 16 * ZMPI_EXTENT_LEVELS];
        zmpi_extent_nest_encode(&e, nest);
        cr_assert_eq(zmpi_extent_nest_decode(&back, nest, zmpi_extent_nest_size(e.levels)),
                     ZMPI_ERR_CORRUPT, "case %zu", i);
        cr_assert_eq(zmpi_extent_close(&e), ZMPI_ERR_CORRUPT, "case %zu", i);
    }
}

/* A list that is a right stream of wrong numbers is refused. */
Test(extents, wrong_lists)
{
    static const int64_t wrong[][6] = {
        {1, 5, 5, 10, 10, 10},        /* first gap */
        {0, -5, 5, 10, 10, 10},       /* overlap */
        {0, 5, 5, 10, 0, 20},         /* empty run */
        {0, 5, 5, 10, -10, 40},       /* negative */
        {0, 5, 5, 10, 10, 11},        /* too far */
        {0, 5, 4, 10, 10, 10},        /* too short */
        {0, 5, INT64_MAX, 10, 10, 1}, /* overflow */
        {0, -5, 15, 10, 10, 10},      /* overlap that adds up */
        {0, 5, 5, 10, 10, INT64_MAX},
    };
    static const int64_t back_again[6] = {0, 10, -10, 5, 30, 5};
    struct zmpi_array array = {ZMPI_I64, {1, 2, 3}};
    struct zmpi_bound lossless = {ZMPI_LOSSLESS, 0};
    unsigned char stream[1024];
    int64_t right[6] = {0, 5, 5, 10, 10, 10};
    size_t size;
    struct zmpi_extent e = {.lo = 100, .hi = 140, .bytes = 30, .levels = ZMPI_EXTENT_LIST};
    cr_assert(zmpi_compress_capacity(&array) <= sizeof stream);
    cr_assert_eq(zmpi_compress(&array, &lossless, NULL, stream, sizeof stream, right, &size), 0);
    cr_assert_eq(zmpi_extent_list_decode(&e, stream, size), ZMPI_OK);
    cr_assert_eq(e.list_count, 3);
    cr_assert_neq(zmpi_extent_list_decode(&e, stream, size - 1), ZMPI_OK);
    zmpi_extent_free(&e);
    e.bytes = 29;
    cr_assert_neq(zmpi_extent_list_decode(&e, stream, size), ZMPI_OK);
    e.bytes = 30;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cr_assert_eq(zmpi_compress(&array, &lossless, NULL, stream, sizeof stream, wrong[i], &size),
                     ZMPI_OK);
        cr_assert_eq(zmpi_extent_list_decode(&e, stream, size), ZMPI_ERR_CORRUPT, "case %zu", i);
        cr_assert_null(e.list);
    }
    e.bytes = 40;
    cr_assert_eq(zmpi_compress(&array, &lossless, NULL, stream, sizeof stream, back_again, &size),
                 ZMPI_OK);
    cr_assert_eq(zmpi_extent_list_decode(&e, stream, size), ZMPI_ERR_CORRUPT);
    e.bytes = 30;
    array.type = ZMPI_F64;
    cr_assert_eq(zmpi_compress(&array, &lossless, NULL, stream, sizeof stream, right, &size), 0);
    cr_assert_eq(zmpi_extent_list_decode(&e, stream, size), ZMPI_ERR_CORRUPT);
    array.type = ZMPI_I64;
    array.extent[1] = 3;
    array.extent[2] = 2;
    cr_assert_eq(zmpi_compress(&array, &lossless, NULL, stream, sizeof stream, right, &size), 0);
    cr_assert_neq(zmpi_extent_list_decode(&e, stream, size), ZMPI_OK);
}

/* One run is never written as a list by this library, but another writer may. */
Test(extents, list_of_one)
{
    struct zmpi_run *one = malloc(sizeof *one + sizeof(uint64_t));
    *one = (struct zmpi_run){50, 7};
    struct zmpi_extent e = {.lo = 50, .hi = 57, .bytes = 7, .levels = ZMPI_EXTENT_LIST};
    unsigned char *stream;
    size_t size;
    e.list = one;
    e.list_count = 1;
    cr_assert_eq(zmpi_extent_list_encode(&e, &stream, &size), ZMPI_OK);
    zmpi_extent_free(&e);
    cr_assert_eq(zmpi_extent_list_decode(&e, stream, size), ZMPI_OK);
    cr_assert(e.list_count == 1 && e.list[0].offset == 50 && e.list[0].length == 7);
    zmpi_extent_free(&e);
    free(stream);
}
