/*
 * kernels.c - every set of kernels that this machine can run, against the scalar reference: the
 * same bytes, the same decoded words, the same range. On chunks of random and of awkward shapes,
 * data and bounds; between guard pages; and on streams that were damaged.
 */
#include <float.h>
#include <stdio.h>

#include "hash.h"
#include "kernels.h"
#include "kit.h"

static struct zmpi_chunk_work *work;

static void make_work(void)
{
    work = zmpi_chunk_work_new();
    cr_assert_not_null(work);
}

static void free_work(void)
{
    free(work);
}

TestSuite(kernels, .init = make_work, .fini = free_work);

/* A tile inside a larger array of words. */
struct tile {
    enum zmpi_type type;
    size_t width;
    size_t extent[3];
    size_t bytes; /* from the first to behind the last word */
    size_t row, plane;
};

static struct tile tile_make(enum zmpi_type type, const size_t extent[3], size_t gap_x,
                             size_t gap_y)
{
    struct tile t = {.type = type, .width = type == ZMPI_F64 || type == ZMPI_I64 ? 8 : 4};
    memcpy(t.extent, extent, sizeof t.extent);
    t.row = (extent[2] + gap_x) * t.width;
    t.plane = (extent[1] + gap_y) * t.row;
    t.bytes = (extent[0] - 1) * t.plane + (extent[1] - 1) * t.row + extent[2] * t.width;
    return t;
}

static struct zmpi_rows tile_rows(const struct tile *t, unsigned char *at)
{
    return (struct zmpi_rows){.at = at, .row = t->row, .plane = t->plane};
}

static size_t encode(const struct zmpi_kernels *k, const struct tile *t,
                     const struct zmpi_chunk_rule *rule, unsigned char *src, unsigned char *dst)
{
    struct zmpi_rows rows = tile_rows(t, src);
    zmpi_chunk_encode_fn *f = t->width == 4 ? k->encode32 : k->encode64;
    return f(rule, t->extent, &rows, dst, work);
}

/* As an encoder of such tiles begins: what need not be made usable is not. */
static void begin_anew(const struct tile *t)
{
    const size_t row = t->extent[2] * t->width, plane = t->extent[0] > 1 ? t->extent[1] * row : 0;
    memset(work, 0xA5, sizeof *work);
    zmpi_chunk_work_init(work, plane, plane ? row + plane : 0);
}

static enum zmpi_status decode(const struct zmpi_kernels *k, const struct tile *t,
                               const unsigned char *src, size_t size, unsigned char *dst, bool past)
{
    struct zmpi_rows rows = tile_rows(t, dst);
    rows.stream = past;
    zmpi_chunk_decode_fn *f = t->width == 4 ? k->decode32 : k->decode64;
    return f(kit_is_float(t->type), t->extent, src, size, &rows, work);
}

static void compare_costs(const struct zmpi_kernels *k, const struct tile *t,
                          const struct zmpi_chunk_rule *rule, unsigned char *src, const char *what)
{
    const struct zmpi_kernels *s = &zmpi_kernels_scalar;
    const struct zmpi_rows rows = tile_rows(t, src);
    for (uint32_t position = 0; position < 65536; position += 9362) {
        size_t expected[8] = {0}, got[8] = {0};
        bool e =
            (t->width == 4 ? s->cost32 : s->cost64)(rule, t->extent, &rows, position, expected);
        bool g = (t->width == 4 ? k->cost32 : k->cost64)(rule, t->extent, &rows, position, got);
        cr_assert(e == g && memcmp(expected, got, sizeof got) == 0, "%s: costs", what);
    }
}

/* Encode by both, decode by both; all buffers end where memory ends, or begin where it begins. */
static void compare(const struct zmpi_kernels *k, const struct tile *t,
                    const struct zmpi_chunk_rule *rule, const unsigned char *data, const char *what)
{
    static unsigned char expected[ZMPI_CHUNK_ROOM], got[ZMPI_CHUNK_ROOM];
    static int turn;
    bool at_end = ++turn % 4 != 0;
    struct kit_guarded src = kit_guard(t->bytes, at_end);
    memcpy(src.data, data, t->bytes);
    size_t size = encode(&zmpi_kernels_scalar, t, rule, src.data, expected);
    compare_costs(k, t, rule, src.data, what);
    const bool anew = turn % 3 == 0;
    if (anew)
        begin_anew(t);
    cr_assert_eq(encode(k, t, rule, src.data, got), size, "%s: size", what);
    cr_assert(memcmp(expected, got, size) == 0, "%s: bytes", what);
    if (anew) /* for any tile */
        zmpi_chunk_work_init(work, ZMPI_CHUNK_INPUT_BYTES, ZMPI_CHUNK_BEFORE);

    const size_t odd = turn % 5 == 0 ? (size_t)turn / 5 % 8 : 0; /* an array that begins anywhere */
    struct kit_guarded coded = kit_guard(size, at_end), out = kit_guard(t->bytes + odd, at_end);
    unsigned char *reference = malloc(t->bytes);
    memcpy(coded.data, expected, size);
    memset(reference, 0xA5, t->bytes);
    memset(out.data, 0xA5, t->bytes + odd); /* what lies between the rows must stay */
    cr_assert_eq(decode(&zmpi_kernels_scalar, t, coded.data, size, reference, false), ZMPI_OK);
    cr_assert_eq(decode(k, t, coded.data, size, out.data, turn % 3 == 0), ZMPI_OK, "%s", what);
    cr_assert(memcmp(reference, out.data, t->bytes) == 0, "%s: decoded", what);
    for (size_t i = 0; i < odd; i++)
        cr_assert_eq(out.data[t->bytes + i], 0xA5, "%s: written behind the array", what);

    /* Bits flipped: the same verdict, and the same words if it is good. */
    for (int i = 0; i < 4; i++) {
        struct kit_random r = {(uint64_t)turn * 4 + (uint64_t)i};
        size_t bit = kit_below(&r, i < 2 && size > 300 ? 300 * 8 : size * 8);
        coded.data[bit / 8] ^= (unsigned char)(1U << bit % 8);
        enum zmpi_status s = decode(&zmpi_kernels_scalar, t, coded.data, size, reference, false);
        cr_assert_eq(decode(k, t, coded.data, size, out.data, turn % 3 == 0), s, "%s: verdict",
                     what);
        cr_assert(s || memcmp(reference, out.data, t->bytes) == 0, "%s: flipped", what);
        coded.data[bit / 8] ^= (unsigned char)(1U << bit % 8);
    }
    free(reference);
    kit_unguard(&src);
    kit_unguard(&coded);
    kit_unguard(&out);
}

/* ---- data ---- */

/* Besides the kinds of kit.h: integers of a given length of residuals, waves in y and z that want
 * other axes, limits, all up to a limit with one word that may be beyond, small residuals among
 * some of 15 to 17 bits, land of one value between waters. */
enum data {
    LENGTHS = KIT_DATA_KINDS,
    SHEETS,
    LIMITS,
    MOSTLY_FILL,
    EDGE,
    JUMPS,
    COASTS,
    DATA_KINDS
};

static double special_value(struct kit_random *r, const struct zmpi_chunk_rule *rule)
{
    const struct zmpi_step *l = &rule->level[kit_below(r, rule->levels ? (size_t)rule->levels : 1)];
    double sign = kit_below(r, 2) ? 1 : -1, m = (double)kit_below(r, 1000);
    switch (kit_below(r, 8)) {
    case 0:
        return sign * l->limit;
    case 1:
        return sign * nextafterf((float)l->limit, INFINITY);
    case 2:
        return sign * nextafter(l->limit, 0);
    case 3:
        return sign * (m + 0.5) * l->step;
    case 4:
        return sign * nextafter((m + 0.5) * l->step, 0);
    case 5:
        return kit_special(r, ZMPI_F64);
    default:
        return m * l->step;
    }
}

static int64_t jump(struct kit_random *r)
{
    static const int64_t large[] = {16383, 16384, 32767, 32768, 32769, 40000, 65535, 65536, 65537};
    int64_t d = kit_below(r, 60) ? (int64_t)kit_below(r, 5) : large[kit_below(r, KIT_COUNT(large))];
    return kit_below(r, 2) ? d : -d;
}

static void fill(struct kit_random *r, const struct tile *t, int kind,
                 const struct zmpi_chunk_rule *rule, unsigned char *data)
{
    const size_t n = t->bytes / t->width;
    if (kind < KIT_DATA_KINDS) {
        struct zmpi_array a = kit_array(t->type, 1, 1, n);
        kit_fill(r, &a, (enum kit_data)kind, data);
        return;
    }
    const unsigned length = (unsigned)kit_below(r, 8 * t->width + 1);
    const double coarse = rule->levels ? rule->level[0].step : 1;
    const int level = rule->levels ? (int)kit_below(r, (size_t)rule->levels) : 0;
    const size_t special = kit_below(r, 2 * n), slow = 1 + kit_below(r, 9);
    int64_t sum = 0;
    size_t shore = 0;
    double land = 0;
    for (size_t i = 0; i < n; i++) {
        size_t y = i * t->width / t->row, z = i * t->width / t->plane;
        double v = 0;
        if (kind == SHEETS)
            v = coarse * (double)((y * y * 77 + z * z * 1234 + kit_below(r, 2)) % 4001);
        else if (kind == LIMITS)
            v = kit_below(r, 20) ? coarse * (double)(i % 100) : special_value(r, rule);
        else if (kind == MOSTLY_FILL)
            v = i / 40 % 7 ? 1e20 : 3;
        else if (kind == EDGE)
            v = i == special ? special_value(r, rule)
                             : rule->level[level].limit * ((double)(i / slow % 1001) - 500) / 500;
        if (kind == COASTS && i == shore) {
            shore += 1 + kit_below(r, 90);
            land = land != 0 ? 0 : kit_below(r, 2) ? 1e20 : kit_special(r, ZMPI_F64);
        }
        if (kind == COASTS)
            v = land != 0 ? land : 3 + kit_unit(r);
        sum += kind == JUMPS ? jump(r) : 0;
        if (kind == JUMPS && rule->levels)
            v = coarse * (double)sum;
        if (kind == JUMPS && !rule->levels) { /* likewise */
            memcpy(data + i * t->width, &sum, t->width);
        } else if (kind == LENGTHS) { /* as bits: for integers, and for floats without a bound */
            uint64_t u = length ? kit_next(r) >> (64 - length) : 0;
            u = kit_below(r, 2) ? 0 - u : u;
            memcpy(data + i * t->width, &u, t->width);
        } else if (kit_is_float(t->type)) {
            kit_put(t->type, data, i, v);
        } else {
            uint64_t u = (uint64_t)(int64_t)fmin(v, 1e9);
            memcpy(data + i * t->width, &u, t->width);
        }
    }
}

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
    for (size_t i = 0; zmpi_kernels_at(i); i++)
        if (zmpi_kernels_at(i)->available() && zmpi_kernels_at(i) != &zmpi_kernels_scalar)
            for (int kind = 0; kind < DATA_KINDS; kind++)
                check(zmpi_kernels_at(i), type, kind, test_long() ? 250 : 100);
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

/* Rows shorter than a vector, so many of them in a plane that these are decoded in parts; without
 * gaps, with gaps between planes alone, and everywhere. */
static void check_short_rows(const struct zmpi_kernels *k, enum zmpi_type type)
{
    struct kit_random r = {11};
    for (size_t i = 0; i < 14 * 8 * 3; i++) {
        const size_t row = 2 + i / 24, y = 60 + kit_below(&r, 90), gaps = i / 8 % 3;
        const size_t z = 2 + kit_below(&r, 4096 / (row * y) + 2);
        const struct tile t = tile_make(type, (const size_t[]){z, y, row}, gaps == 2, gaps != 0);
        if (z * y * row * t.width <= ZMPI_CHUNK_INPUT_BYTES)
            check_tile(k, &t, (unsigned)(i % 8), &r);
    }
}

Test(kernels, short_rows)
{
    for (size_t i = 0; zmpi_kernels_at(i); i++)
        if (zmpi_kernels_at(i)->available() && zmpi_kernels_at(i) != &zmpi_kernels_scalar) {
            check_short_rows(zmpi_kernels_at(i), ZMPI_F32);
            check_short_rows(zmpi_kernels_at(i), ZMPI_F64);
        }
}

Test(kernels, rows)
{
    for (size_t i = 0; zmpi_kernels_at(i); i++)
        if (zmpi_kernels_at(i)->available() && zmpi_kernels_at(i) != &zmpi_kernels_scalar) {
            check_rows(zmpi_kernels_at(i), ZMPI_F32);
            check_rows(zmpi_kernels_at(i), ZMPI_F64);
            check_long_rows(zmpi_kernels_at(i), ZMPI_F32);
            check_long_rows(zmpi_kernels_at(i), ZMPI_F64);
        }
}

/* Residuals of -2^63, 64 bits long, in a block with an exception: its length byte has six for the
 * length. Along two axes they come of four integers of 2^61, along three of eight of 2^60. */
static void check_longest(const struct zmpi_kernels *k, unsigned axes, unsigned shift)
{
    const struct tile t = tile_make(ZMPI_F64, (const size_t[]){2, 20, 32}, 0, 0);
    const double below = 2 - ldexp(1, (int)shift - 52);
    static unsigned char coded[ZMPI_CHUNK_ROOM];
    static double data[2 * 20 * 32], out[2 * 20 * 32];
    struct zmpi_chunk_rule rule;
    zmpi_chunk_rule_relative(&rule, ZMPI_F64, ldexp(1.5, (int)shift - 53), (double)INFINITY);
    const size_t special = 640 + 32 + 5;
    cr_assert_eq(rule.shift, shift);
    rule.axes = axes;
    for (size_t i = 0; i < KIT_COUNT(data); i++)
        data[i] = i / 32 % 20 > 1 ? 1.5 : (i % 32 + i / 32 % 20 + i / 640) % 2 ? -below : 2;
    data[special] = (double)NAN;
    compare(k, &t, &rule, (const unsigned char *)data, "longest residuals");
    const size_t size = encode(k, &t, &rule, (unsigned char *)data, coded);
    cr_assert_eq(decode(k, &t, coded, size, (unsigned char *)out, false), ZMPI_OK);
    for (size_t i = 0; i < KIT_COUNT(data); i++)
        cr_assert(i == special ? isnan(out[i]) : fabs(out[i] / data[i] - 1) <= 1e-15, "%zu", i);
}

Test(kernels, longest_residuals_beside_exceptions)
{
    for (size_t i = 0; zmpi_kernels_at(i); i++)
        if (zmpi_kernels_at(i)->available()) {
            check_longest(zmpi_kernels_at(i), 3, 1);
            check_longest(zmpi_kernels_at(i), 7, 2);
        }
}

/* Fill value number i: among them such as fit a coarser level, and -0. */
static double fill_value(const struct zmpi_chunk_rule *rule, size_t i)
{
    const double values[] = {
        1e20, (double)NAN, -0.0, (double)INFINITY, -1e30, 1.5 * rule->level[0].limit};
    return values[i % KIT_COUNT(values)];
}

/* A word of the chunk: a fill value, or a NaN of another payload. */
static void put_fill(const struct tile *t, unsigned char *data, size_t i, double fill, bool payload)
{
    kit_put(t->type, data, i, fill);
    if (payload)
        data[i * t->width + 1] ^= 0x10;
}

/* Chunks with the fill value of the one before: in the first and last words of rows and of the
 * chunk, in coasts, everywhere; and then with a word of another value, or words up to the limit. */
static void check_fills(const struct zmpi_kernels *k, const struct tile *t, struct kit_random *r)
{
    struct zmpi_chunk_rule rule;
    unsigned char *data = malloc(t->bytes);
    const size_t n = t->bytes / t->width, row = t->row / t->width;
    zmpi_chunk_rule_make(&rule, t->type, (double)1e-3F, (double)INFINITY);
    rule.axes = (unsigned)kit_below(r, 8);
    size_t value = kit_below(r, 6);
    for (int chunk = 0; chunk < 12; chunk++) {
        const int how = (int)kit_below(r, 8);
        const double fill = fill_value(&rule, value);
        const double most =
            kit_below(r, 6) ? 3 : rule.level[kit_below(r, 3) % (size_t)rule.levels].limit / 2;
        size_t shore = 0;
        bool land = false;
        for (size_t i = 0; i < n; i++) {
            if (i == shore) {
                shore += 1 + kit_below(r, 70);
                land = !land;
            }
            kit_put(t->type, data, i, most + kit_unit(r));
            if (how == 0 || (land && how < 6) || (how == 6 && (i % row == 0 || i % row == row - 1)))
                put_fill(t, data, i, fill, false);
        }
        if (how == 1)
            put_fill(t, data, kit_below(r, n), fill_value(&rule, value + 1), false);
        if (how == 2)
            put_fill(t, data, kit_below(r, n), (double)NAN, true);
        put_fill(t, data, kit_below(r, 2) ? 0 : n - 1, fill, false);
        compare(k, t, &rule, data, "fill values");
        value += kit_below(r, 6) == 0;
    }
    free(data);
}

Test(kernels, fill_values)
{
    static const size_t shapes[][3] = {{3, 5, 64}, {2, 7, 45},  {1, 1, 1000}, {1, 4, 231},
                                       {9, 9, 3},  {4, 4, 32},  {6, 7, 90},   {5, 6, 33},
                                       {1, 1, 37}, {4, 8, 256}, {2, 25, 163}};
    struct kit_random r = {12};
    for (size_t i = 0; zmpi_kernels_at(i); i++)
        for (size_t j = 0; j < 3 * KIT_COUNT(shapes) && zmpi_kernels_at(i)->available(); j++) {
            const size_t *extent = shapes[j % KIT_COUNT(shapes)];
            for (int type = ZMPI_F32; type <= ZMPI_F64; type++) {
                const struct tile t = tile_make(type, extent, j % 2 * 3, 0);
                if (extent[0] * extent[1] * extent[2] * t.width <= ZMPI_CHUNK_INPUT_BYTES)
                    check_fills(zmpi_kernels_at(i), &t, &r);
            }
        }
}

/* Chunks in some part of what a level holds, up to its limit, with a word that may be beyond and
 * fill values or none. Encoders guess from the chunk before which part it is. */
static void check_windows(const struct zmpi_kernels *k, const struct tile *t, struct kit_random *r)
{
    struct zmpi_chunk_rule rule;
    unsigned char *data = malloc(t->bytes);
    const size_t n = t->bytes / t->width;
    zmpi_chunk_rule_make(&rule, t->type, (double)1e-3F,
                         kit_below(r, 3) ? (double)INFINITY : 6.5 + kit_unit(r));
    rule.axes = (unsigned)kit_below(r, 8);
    const double limit = rule.level[kit_below(r, 3) % (size_t)rule.levels].limit;
    double from = 0, to = 1;
    for (int chunk = 0; chunk < 12; chunk++) {
        const size_t special = kit_below(r, 2 * n), land = kit_below(r, 4) ? n : kit_below(r, n);
        if (kit_below(r, 2)) {
            from = kit_unit(r);
            to = kit_below(r, 2) ? 1 : kit_unit(r);
        }
        for (size_t i = 0; i < n; i++) {
            const double v = limit * (from + (to - from) * fabs(kit_unit(r)));
            kit_put(t->type, data, i, i == special ? special_value(r, &rule) : v);
            if (i >= land && i % 50 < 20)
                kit_put(t->type, data, i, 1e20);
        }
        compare(k, t, &rule, data, "windows");
    }
    free(data);
}

Test(kernels, windows)
{
    static const size_t shapes[][3] = {{3, 5, 64}, {2, 7, 45}, {1, 1, 1000}, {9, 9, 3}};
    struct kit_random r = {14};
    for (size_t i = 0; zmpi_kernels_at(i); i++)
        for (size_t j = 0; j < 16 * KIT_COUNT(shapes) && zmpi_kernels_at(i)->available(); j++)
            for (int type = ZMPI_F32; type <= ZMPI_F64; type++) {
                const struct tile t = tile_make(type, shapes[j % KIT_COUNT(shapes)], j % 8 / 4, 0);
                check_windows(zmpi_kernels_at(i), &t, &r);
            }
}

/* Words of one sign or far from 0: the first chunk may have to be looked at twice, not those behind
 * it. */
static void check_far(const struct zmpi_kernels *k, enum zmpi_type type, double from, double to)
{
    static unsigned char coded[ZMPI_CHUNK_ROOM];
    const struct tile t = tile_make(type, (const size_t[]){4, 8, 33}, 0, 0);
    struct zmpi_chunk_rule rule;
    struct kit_random r = {15};
    unsigned char *data = malloc(t.bytes);
    zmpi_chunk_rule_make(&rule, type, (double)1e-3F, (double)INFINITY);
    rule.axes = 7;
    zmpi_chunk_work_init(work, ZMPI_CHUNK_INPUT_BYTES, ZMPI_CHUNK_BEFORE);
    for (int chunk = 0; chunk < 4; chunk++) {
        for (size_t i = 0; i < t.bytes / t.width; i++)
            kit_put(type, data, i, rule.level[0].limit * (from + (to - from) * fabs(kit_unit(&r))));
        encode(k, &t, &rule, data, coded);
        cr_assert(chunk < 2 || !work->wide, "%s: chunk %d of words from %g to %g limits", k->name,
                  chunk, from, to);
    }
    free(data);
}

Test(kernels, far_from_0)
{
    for (size_t i = 0; zmpi_kernels_at(i); i++)
        for (int type = ZMPI_F32; type <= ZMPI_F64 && zmpi_kernels_at(i)->available(); type++) {
            check_far(zmpi_kernels_at(i), type, 0.6, 0.9);
            check_far(zmpi_kernels_at(i), type, -0.95, -0.6);
            check_far(zmpi_kernels_at(i), type, 0, 0.95);
            check_far(zmpi_kernels_at(i), type, -0.3, 0.6);
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
    for (size_t i = 0; zmpi_kernels_at(i); i++)
        for (int kind = 0; kind < KIT_DATA_KINDS && zmpi_kernels_at(i)->available(); kind++) {
            check_range(zmpi_kernels_at(i), ZMPI_F32, kind);
            check_range(zmpi_kernels_at(i), ZMPI_F64, kind);
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
