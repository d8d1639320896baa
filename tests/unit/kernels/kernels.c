/*
 * kernels.c - every set of kernels that this machine can run, against the scalar reference: chunks
 * of random and of awkward shapes, data and bounds; ranges and hashes; which set is chosen.
 */
#include <unistd.h>

#include "base/hash.h"
#include "kernels_kit.h"

TestSuite(kernels, .init = make_work, .fini = free_work);

static struct zmpi_chunk_rule rule_for(struct kit_random *r, enum zmpi_type type)
{
    static const double relative[] = {1e-3, 1e-2, 1e-5, 0.9, 1e-7};
    static const double bounds[] = {0, 1e-3, 1e-3, 1e-6, 0.7, 1e3, 1e-40, 1e30, 2e38};
    struct zmpi_chunk_rule rule;
    double bound = bounds[kit_below(r, KIT_COUNT(bounds))];
    if (type == ZMPI_F32)
        bound = (double)(float)bound;
    if (kit_is_float(type) && kit_below(r, 4) == 0) {
        zmpi_chunk_rule_relative(&rule, type, relative[kit_below(r, KIT_COUNT(relative))],
                                 kit_below(r, 3) ? (double)INFINITY : 7);
        return rule;
    }
    zmpi_chunk_rule_make(&rule, type, bound, kit_below(r, 3) ? 1e20 : (double)INFINITY);
    rule.axes = (unsigned)kit_below(r, 8);
    return rule;
}

static void extents(struct kit_random *r, size_t max, size_t extent[3])
{
    static const size_t edge[] = {1,  2,  3,  4,  7,  8,  9,  15,  16,
                                  17, 31, 32, 33, 63, 64, 65, 128, 256};
    do {
        for (int i = 0; i < 3; i++)
            extent[i] =
                kit_below(r, 3) ? edge[kit_below(r, KIT_COUNT(edge))] : 1 + kit_below(r, 70);
        if (kit_below(r, 3) == 0)
            extent[0] = 1;
        if (kit_below(r, 3) == 0)
            extent[1] = 1;
        if (kit_below(r, 40) == 0)
            extent[kit_below(r, 3)] = max;
    } while (extent[0] * extent[1] * extent[2] > max);
}

static void check(const struct zmpi_kernels *k, enum zmpi_type type, int kind, int cases)
{
    struct kit_random r = {1000 * (uint64_t)type + (uint64_t)kind};
    for (int i = 0; i < cases; i++) {
        size_t extent[3];
        extents(&r, ZMPI_CHUNK_INPUT_BYTES / zmpi_type_size(type), extent);
        bool gaps = kit_below(&r, 2) != 0;
        struct tile t = tile_make(type, extent, gaps ? kit_below(&r, 20) : 0, gaps ? 1 : 0);
        struct zmpi_chunk_rule rule = rule_for(&r, type);
        unsigned char *data = malloc(t.bytes);
        char what[120];
        fill(&r, &t, kind, &rule, data);
        snprintf(what, sizeof what, "%s type %d kind %d case %d: %zux%zux%zu bound %g axes %u",
                 k->name, type, kind, i, extent[0], extent[1], extent[2], rule.abs_bound,
                 rule.axes);
        compare(k, &t, &rule, data, what);
        free(data);
    }
}

static void check_type(enum zmpi_type type)
{
    const struct zmpi_kernels *k;
    for (size_t i = 0; (k = next_kernels(&i)) != NULL;)
        for (int kind = 0; kind < DATA_KINDS; kind++)
            check(k, type, kind, test_long() ? 250 : 100);
}

Test(kernels, f32)
{
    check_type(ZMPI_F32);
}

Test(kernels, f64)
{
    check_type(ZMPI_F64);
}

Test(kernels, i32)
{
    check_type(ZMPI_I32);
}

Test(kernels, i64)
{
    check_type(ZMPI_I64);
}

/* Some kind of data along these axes. */
static void check_tile(const struct zmpi_kernels *k, const struct tile *t, unsigned axes,
                       struct kit_random *r)
{
    static const int kinds[] = {KIT_SMOOTH, COASTS, LENGTHS, JUMPS};
    struct zmpi_chunk_rule rule = rule_for(r, t->type);
    rule.axes = axes;
    unsigned char *data = malloc(t->bytes);
    char what[120];
    fill(r, t, kinds[kit_below(r, KIT_COUNT(kinds))], &rule, data);
    snprintf(what, sizeof what, "%s type %d: %zux%zux%zu axes %u, rows %zu, planes %zu bytes apart",
             k->name, t->type, t->extent[0], t->extent[1], t->extent[2], axes, t->row, t->plane);
    compare(k, t, &rule, data, what);
    free(data);
}

/* Rows of each length up to more than a block, of chunks of one, two and three dimensions;
 * planes of a few words, too; along all axes. */
static void check_rows(const struct zmpi_kernels *k, enum zmpi_type type)
{
    struct kit_random r = {7};
    for (size_t i = 0; i < 40 * 3 * 8; i++) {
        const size_t row = 1 + i / 24, dimensions = 1 + i / 8 % 3;
        const size_t y = dimensions < 2   ? 1
                         : dimensions < 3 ? 40 + kit_below(&r, 40)
                                          : 1 + kit_below(&r, kit_below(&r, 2) ? 4 : 12);
        const size_t z = dimensions < 3 ? 1 : 2 + kit_below(&r, 4096 / (row * y) - 1);
        const bool gaps = kit_below(&r, 4) == 0;
        const struct tile t = tile_make(type, (const size_t[]){z, y, row},
                                        gaps ? kit_below(&r, 20) : 0, gaps ? 1 : 0);
        check_tile(k, &t, (unsigned)(i % 8), &r);
    }
}

/* Rows of several blocks: with AVX2, those of 64 (f64) or 128 words and more go past the caches in
 * another way than shorter ones; and whole blocks in another again, 128 (f64) or 256 words at a
 * time. */
static void check_long_rows(const struct zmpi_kernels *k, enum zmpi_type type)
{
    static const size_t rows[] = {32,  63,  64,  65,  67,  91,  127, 128, 129,
                                  130, 160, 251, 256, 288, 300, 384, 544};
    struct kit_random r = {13};
    for (size_t i = 0; i < 600; i++) {
        const size_t row = rows[kit_below(&r, KIT_COUNT(rows))], z = 1 + kit_below(&r, 3);
        const size_t most = ZMPI_CHUNK_INPUT_BYTES / zmpi_type_size(type) / (row * z);
        const size_t y = 1 + kit_below(&r, most < 8 ? most : 8);
        const size_t gap = kit_below(&r, 3) ? 0 : kit_below(&r, 20);
        const struct tile t = tile_make(type, (const size_t[]){z, y, row}, gap, kit_below(&r, 2));
        check_tile(k, &t, (unsigned)(i % 8), &r);
    }
}

/* Rows shorter than a vector, so many of them in a plane that these are decoded in parts, or few in
 * many planes; without gaps, with gaps between planes alone, and everywhere. */
static void check_short_rows(const struct zmpi_kernels *k, enum zmpi_type type)
{
    struct kit_random r = {11};
    for (size_t i = 0; i < 14 * 8 * 3; i++) {
        const size_t row = 2 + i / 24, gaps = i / 8 % 3;
        const size_t y = kit_below(&r, 3) ? 60 + kit_below(&r, 90) : 1 + kit_below(&r, 6);
        const size_t z = 2 + kit_below(&r, 4096 / (row * y) + 2);
        const struct tile t = tile_make(type, (const size_t[]){z, y, row}, gaps == 2, gaps != 0);
        if (z * y * row * t.width <= ZMPI_CHUNK_INPUT_BYTES)
            check_tile(k, &t, (unsigned)(i % 8), &r);
    }
}

Test(kernels, short_rows)
{
    const struct zmpi_kernels *k;
    for (size_t i = 0; (k = next_kernels(&i)) != NULL;) {
        check_short_rows(k, ZMPI_F32);
        check_short_rows(k, ZMPI_F64);
    }
}

Test(kernels, rows)
{
    const struct zmpi_kernels *k;
    for (size_t i = 0; (k = next_kernels(&i)) != NULL;) {
        check_rows(k, ZMPI_F32);
        check_rows(k, ZMPI_F64);
        check_long_rows(k, ZMPI_F32);
        check_long_rows(k, ZMPI_F64);
    }
}

/* ---- range and hash ---- */

static void check_range(const struct zmpi_kernels *k, enum zmpi_type type, int kind)
{
    struct kit_random r = {77 + (uint64_t)kind};
    for (int i = 0; i < 60; i++) {
        struct zmpi_array a = kit_array(type, 1, 1, kit_below(&r, 700));
        const size_t bytes = kit_bytes(&a), odd = (size_t)i % zmpi_type_size(type);
        unsigned char *made = kit_make(&r, &a, (enum kit_data)kind);
        struct kit_guarded array = kit_guard(bytes + odd, false); /* it begins anywhere */
        const unsigned char *data = memcpy(array.data + odd, made, bytes);
        struct zmpi_range e = ZMPI_RANGE_EMPTY, g = ZMPI_RANGE_EMPTY;
        bool f32 = type == ZMPI_F32;
        (f32 ? zmpi_kernels_scalar.range32 : zmpi_kernels_scalar.range64)(data, a.extent[2], &e);
        (f32 ? k->range32 : k->range64)(data, a.extent[2], &g);
        cr_assert(e.min == g.min && e.max == g.max && e.fill == g.fill, "%s data %d case %d",
                  k->name, kind, i);
        free(made);
        kit_unguard(&array);
    }
}

Test(kernels, range)
{
    const struct zmpi_kernels *k;
    for (size_t i = 0; (k = next_kernels(&i)) != NULL;)
        for (int kind = 0; kind < KIT_DATA_KINDS; kind++) {
            check_range(k, ZMPI_F32, kind);
            check_range(k, ZMPI_F64, kind);
        }
}

Test(kernels, hash)
{
    struct kit_random r = {5};
    struct zmpi_array a = kit_array(ZMPI_BYTES, 1, 1, ZMPI_CHUNK_CODED_MAX);
    unsigned char *data = kit_make(&r, &a, KIT_BITS);
    for (size_t n = 0; n <= ZMPI_CHUNK_CODED_MAX; n += n < 2100 ? 1 : 997)
        for (size_t i = 0; zmpi_kernels_at(i); i++)
            if (zmpi_kernels_at(i)->available())
                cr_assert_eq(zmpi_kernels_at(i)->hash(data, n), zmpi_hash(data, n, 0), "%zu", n);
    free(data);
}

/* ---- choice ---- */

static bool always(void)
{
    return true;
}

static uint64_t wrong_hash(const void *src, size_t size)
{
    return zmpi_hash(src, size, 1);
}

/* Right for less than 240 bytes, as when xxHash's loop takes other arguments. */
static uint64_t wrong_loop(const void *src, size_t size)
{
    return zmpi_hash(src, size, size > 240);
}

static size_t wrong_encode(const struct zmpi_chunk_rule *rule, const size_t extent[3],
                           const struct zmpi_rows *src, unsigned char *dst,
                           struct zmpi_chunk_work *w)
{
    const size_t size = zmpi_chunk64_encode(rule, extent, src, dst, w);
    dst[size - 1] ^= 1;
    return size;
}

static enum zmpi_status wrong_decode(bool is_float, const size_t extent[3],
                                     const unsigned char *src, size_t size,
                                     const struct zmpi_rows *dst, struct zmpi_chunk_work *w)
{
    const enum zmpi_status status = zmpi_chunk32_decode(is_float, extent, src, size, dst, w);
    dst->at[(extent[2] - 1) * 4] ^= 1; /* of the first row */
    return status;
}

static bool wrong_cost(const struct zmpi_chunk_rule *rule, const size_t extent[3],
                       const struct zmpi_rows *src, uint32_t position, size_t cost[8])
{
    const bool known = zmpi_chunk32_cost(rule, extent, src, position, cost);
    cost[1]++;
    return known;
}

static void wrong_range(const void *src, size_t count, struct zmpi_range *range)
{
    zmpi_kernels_scalar.range64(src, count - 1, range);
}

Test(kernels, right)
{
    const struct zmpi_kernels *k;
    for (size_t i = 0; (k = zmpi_kernels_at(i)); i++)
        if (k->available())
            cr_assert_null(zmpi_kernels_difference(k), "%s", k->name);
}

/* A set that is wrong in one thing is passed over for the next one, and a line says so. */
Test(kernels, wrong)
{
    struct zmpi_kernels good = zmpi_kernels_scalar, bad[6];
    static const char *const what[] = {"hash", "hash", "encoder", "decoder", "costs", "range"};
    good.name = "good";
    for (size_t i = 0; i < 6; i++) {
        bad[i] = zmpi_kernels_scalar;
        bad[i].name = "bad";
        bad[i].available = always;
    }
    bad[0].hash = wrong_hash;
    bad[1].hash = wrong_loop;
    bad[2].encode64 = wrong_encode;
    bad[3].decode32 = wrong_decode;
    bad[4].cost32 = wrong_cost;
    bad[5].range64 = wrong_range;
    FILE *log = tmpfile();
    const int stderr_fd = dup(2);
    dup2(fileno(log), 2);
    for (size_t i = 0; i < 6; i++) {
        const struct zmpi_kernels *sets[] = {&bad[i], &good, &zmpi_kernels_scalar, NULL};
        cr_assert_str_eq(zmpi_kernels_difference(&bad[i]), what[i]);
        cr_assert_eq(zmpi_kernels_choose(sets, NULL), &good, "%zu", i);
        cr_assert_eq(zmpi_kernels_choose(sets, "good"), &zmpi_kernels_scalar, "%zu", i);
        cr_assert_eq(zmpi_kernels_choose(sets + 1, "bad"), &good);
    }
    dup2(stderr_fd, 2);
    char line[300];
    size_t lines = 0;
    for (rewind(log); fgets(line, sizeof line, log); lines++)
        cr_assert(strstr(line, "bad kernels") && strstr(line, what[lines / 2]), "%s", line);
    cr_assert_eq(lines, 12);
    fclose(log);
}

Test(kernels, lists)
{
    cr_assert(zmpi_kernels_list_ok(""));
    cr_assert(zmpi_kernels_list_ok("avx2"));
    cr_assert(zmpi_kernels_list_ok("neon,avx2")); /* whatever the machine */
    cr_assert_not(zmpi_kernels_list_ok("avx"));
    cr_assert_not(zmpi_kernels_list_ok("avx2,"));
    cr_assert_not(zmpi_kernels_list_ok(",avx2"));
    cr_assert_not(zmpi_kernels_list_ok("scalar"));
}

Test(kernels, newest)
{
    unsetenv("ZMPI_DISABLE");
    size_t i = 0;
    while (!zmpi_kernels_at(i)->available())
        i++;
    cr_assert_eq(zmpi_kernels(), zmpi_kernels_at(i));
#ifdef __AARCH64EL__
    cr_assert_str_eq(zmpi_kernels()->name, "neon");
#endif
}

Test(kernels, disable)
{
    char all[100] = "";
    for (size_t i = 0; zmpi_kernels_at(i) != &zmpi_kernels_scalar; i++) {
        strcat(all, i ? "," : "");
        strcat(all, zmpi_kernels_at(i)->name);
    }
    cr_assert(zmpi_kernels_list_ok(all));
    setenv("ZMPI_DISABLE", all, 1);
    cr_assert_str_eq(zmpi_kernels()->name, "scalar");
}
