/*
 * flare_engine.c - FLARE's engine: its bytes, what they are decoded to and the ranges of slices are
 * the C's, with random stalls on all sides, forth and back; its cycles are the model's.
 */
#include "flare_chunk.h"
#include "flare_model.h"
#include "flare_sim.h"
#include "field.h"

#include "huffman/huffman_loops.h"
#include "layout/fills.h"

static int checked; /* fields */

/* ---- by the engine ---- */

static void check_slices(const struct flare_sim_chunk *c, const int32_t *value)
{
    const size_t plane = c->extent[1] * c->extent[2];
    for (size_t z = 0; z < c->extent[0]; z++) {
        int32_t least = INT32_MAX, largest = INT32_MIN;
        for (size_t i = z * plane; i < (z + 1) * plane; i++) {
            least = value[i] < least ? value[i] : least;
            largest = value[i] > largest ? value[i] : largest;
        }
        cr_assert_eq(c->least[z], least, "slice %zu", z);
        cr_assert_eq(c->largest[z], largest, "slice %zu", z);
    }
}

/* Bits that are flipped: engine and C agree on what comes of it. */
static void check_damage(struct flare_sim *s, const size_t e[3], unsigned char *bytes, size_t size)
{
    const size_t n = count_of(e);
    struct kit_random r = {size};
    struct flare_sim_chunk c = {.extent = {e[0], e[1], e[2]}, .value = malloc(n * sizeof(int32_t))};
    int32_t *want = malloc(n * sizeof *want);
    for (int i = 0; i < 6; i++) {
        const size_t at = kit_below(&r, size);
        const unsigned char flip = (unsigned char)(1 << kit_below(&r, 8));
        bytes[at] ^= flip;
        const bool good = back_by_c(e, bytes, size, want);
        cr_assert_eq(flare_sim_decode(s, &c, bytes, size), good, "byte %zu of %zu", at, size);
        if (good)
            cr_assert_arr_eq(c.value, want, n * sizeof *want);
        bytes[at] ^= flip;
    }
    cr_assert_not(flare_sim_decode(s, &c, bytes, size / 2));
    free(c.value);
    free(want);
}

struct cycles {
    uint64_t cycles, predict, back;
};

/* These values, forth and back. */
static struct cycles check_values(unsigned arrays, const size_t e[3], unsigned stall,
                                  const int32_t *value, bool damage)
{
    const size_t n = count_of(e);
    struct flare_sim *s = flare_sim_open(arrays);
    cr_assert(s, "%u arrays are not built", arrays);
    flare_sim_stall(s, stall);
    size_t size;
    int32_t *want = malloc(n * sizeof *want);
    memcpy(want, value, n * sizeof *want);
    unsigned char *bytes = by_c(e, want, &size), *got = malloc(size);
    struct flare_sim_chunk c = {.extent = {e[0], e[1], e[2]}, .value = malloc(n * sizeof(int32_t))};
    memcpy(c.value, value, n * sizeof *value);
    cr_assert_eq(flare_sim_encode(s, &c, got, size), size, "%u: %zux%zux%zu, stall %u", arrays,
                 e[0], e[1], e[2], stall);
    cr_assert_arr_eq(got, bytes, size);
    cr_assert_arr_eq(c.value, want, n * sizeof *want);
    check_slices(&c, want);
    struct cycles took = {c.cycles, c.predict, 0};
    const uint64_t codes = c.codes;
    for (size_t i = 0; i < n; i++)
        c.value[i] = -1;
    cr_assert(flare_sim_decode(s, &c, bytes, size), "%u: %zux%zux%zu back", arrays, e[0], e[1],
              e[2]);
    cr_assert_arr_eq(c.value, want, n * sizeof *want);
    check_slices(&c, want);
    cr_log_info("%u arrays, %zux%zux%zu: %llu cycles, predicting %llu, coding %llu; back %llu",
                arrays, e[0], e[1], e[2], (unsigned long long)took.cycles,
                (unsigned long long)took.predict, (unsigned long long)codes,
                (unsigned long long)c.cycles);
    took.back = c.cycles;
    if (damage)
        check_damage(s, e, bytes, size);
    free(c.value);
    free(want);
    free(bytes);
    free(got);
    flare_sim_close(s);
    return took;
}

static void check(unsigned arrays, const size_t e[3], unsigned stall)
{
    struct kit_random r = {count_of(e) + stall};
    int32_t *value = malloc(count_of(e) * sizeof *value);
    make_values(value, e, &r);
    check_values(arrays, e, stall, value, arrays == 4 && count_of(e) < 50000);
    free(value);
}

Test(flare_engine, bytes_and_values)
{
    static const unsigned arrays[] = {1, 2, 4, 8};
    static const size_t shapes[][3] = {{33, 34, 35}, {1, 70, 41}, {9, 1, 67},  {1, 1, 130},
                                       {5, 2, 3},    {1, 1, 1},   {67, 12, 9}, {129 - 1, 9, 17}};
    for (size_t i = 0; i < KIT_COUNT(shapes); i++)
        for (unsigned stall = 0; stall <= 128; stall += 128)
            for (size_t k = 0; k < KIT_COUNT(arrays); k++)
                check(arrays[k], shapes[i], stall);
}

/* Without stalls: what prediction takes, and all. */
static void check_cycles(unsigned arrays, const size_t e[3])
{
    const size_t n = count_of(e);
    const struct flare_core core = {
        .arrays = arrays, .cycles_of_point = 1, .drain = FLARE_RTL_DRAIN, .loads = true};
    struct kit_random r = {n};
    struct zmpi_interp_work *w = work_of(e, true);
    struct zmpi_flare_codes c = {
        .code = malloc(n), .anchor = malloc(2 * n), .escape = malloc(4 * n)};
    int32_t *value = malloc(n * sizeof *value);
    make_values(value, e, &r);
    for (size_t i = 0; i < n; i++)
        *cell(w, e, i) = value[i] /= arrays == 2 ? 100 : 1; /* or most codes are 0 */
    zmpi_flare_predict(w, e, &c);
    const struct flare_engine_times t = flare_engine_time(&core, e, c.code);
    const struct cycles got = check_values(arrays, e, 0, value, false);
    cr_log_info("%u arrays: %llu cycles, model %.0f; predicting %llu, model %.0f", arrays,
                (unsigned long long)got.cycles, t.total, (unsigned long long)got.predict,
                t.predict);
    cr_expect_float_eq((double)got.predict / t.predict, 1, 0.02);
    cr_expect_float_eq((double)got.cycles / t.total, 1, 0.02);
    struct flare_section *list = calloc(n / 8192 + 8, sizeof *list);
    size_t size;
    unsigned char *bytes = by_c(e, value, &size);
    const double back = flare_back_time(&core, e, list, flare_sections(e, bytes, list));
    cr_log_info("back: %llu cycles, model %.0f", (unsigned long long)got.back, back);
    cr_expect_float_eq((double)got.back / back, 1, 0.02);
    free(list);
    free(bytes);
    free(value);
    free(c.code);
    free(c.anchor);
    free(c.escape);
    zmpi_interp_work_free(w);
}

Test(flare_engine, cycles_of_the_model)
{
    static const size_t cube[3] = {64, 64, 64}, odd[3] = {40, 50, 70}, wide[3] = {33, 96, 96};
    for (unsigned arrays = 1; arrays <= 8; arrays *= 2)
        check_cycles(arrays, cube);
    check_cycles(4, odd);
    check_cycles(8, wide);
}

Test(flare_engine, shapes_that_fit)
{
    cr_assert(flare_sim_fits((size_t[3]){128, 128, 128}));
    cr_assert(flare_sim_fits((size_t[3]){1, 512, 512}));
    cr_assert_not(flare_sim_fits((size_t[3]){1, 1, 65536}));
    cr_assert_not(flare_sim_fits((size_t[3]){1, 1448, 1448}));
}

/* The decoder by itself: sections by an offline book, which lacks some symbols. */
static void check_section(const signed char *code, size_t words, unsigned number, unsigned stall)
{
    enum { SECTION = 8192 };
    static int32_t residual[SECTION];
    static uint16_t table[ZMPI_HUFFMAN_TABLE];
    static signed char back[SECTION];
    static unsigned char bytes[8 + 6 * SECTION];
    static struct zmpi_huffman_encoder e;
    static struct zmpi_huffman_decoder d;
    const struct zmpi_book *book = zmpi_book_offline(number);
    const size_t blocks = (words + 31) / 32, each = (blocks + 3) / 4;
    uint32_t nonzero[SECTION / 32] = {0};
    unsigned char *to = bytes + 8;
    zmpi_huffman_encoder_set(&e, book);
    zmpi_huffman_decoder_set(&d, book);
    for (unsigned i = 0; i < ZMPI_HUFFMAN_TABLE; i++)
        table[i] = (uint16_t)(d.symbol[i] | d.length[d.symbol[i]] << 10);
    for (size_t i = 0; i < words; i++) {
        residual[i] = code[i];
        nonzero[i / 32] |= (uint32_t)(code[i] != 0) << i % 32;
    }
    for (size_t k = 0; k < 4; k++) {
        const size_t begin = k * each < blocks ? k * each : blocks;
        const size_t end = begin + each < blocks ? begin + each : blocks;
        unsigned char *next = zmpi_kernels()->huffman_encode->put32(
            &e, residual, nonzero, (struct zmpi_segment){begin, end, words}, to);
        zmpi_store16(bytes + 2 * k, (uint16_t)(next - to));
        to = next;
    }
    const size_t size = (size_t)(to - bytes);
    cr_assert(flare_sim_section(bytes, size, words, table, stall, back), "%zu codes back", words);
    cr_assert_arr_eq(back, code, words);
    to[-1] ^= 0x40; /* damaged: refused, or other codes, and an end */
    if (flare_sim_section(bytes, size, words, table, stall, back))
        cr_assert_neq(memcmp(back, code, words), 0);
    to[-1] ^= 0x40;
    cr_assert_not(
        flare_sim_section(bytes, size, words + 1 < SECTION ? words + 100 : 1, table, stall, back));
}

Test(flare_engine, sections)
{
    static const size_t sizes[] = {1, 3, 31, 33, 130, 4096, 8191, 8192};
    struct kit_random r = {4};
    signed char code[8192];
    for (size_t i = 0; i < KIT_COUNT(sizes); i++) {
        for (size_t k = 0; k < sizes[i]; k++)
            code[k] = (signed char)(kit_below(&r, 4) ? (int)kit_below(&r, i % 3 ? 5 : 1)
                                                     : (int)kit_below(&r, 256) - 128);
        check_section(code, sizes[i], (unsigned)(i % 6), 0);
        check_section(code, sizes[i], (unsigned)(i % 6), 128);
    }
}

/* A chunk of a field, at 1e-3 of its range, by engines of `least` to `most` arrays. */
static void check_chunk(const struct field *f, const struct zmpi_interp_rule *rule,
                        const size_t at[3], const size_t e[3], unsigned least, unsigned most)
{
    static const struct zmpi_interp_set flat = {.family = ZMPI_INTERP_LORENZO};
    const size_t width = zmpi_type_size(f->array.type), row = f->array.extent[2] * width;
    const size_t plane = f->array.extent[1] * row;
    const struct zmpi_rows rows = {.at = (unsigned char *)f->data + at[0] * plane + at[1] * row +
                                         at[2] * width,
                                   .row = row,
                                   .plane = plane};
    double base;
    struct zmpi_interp_work *w = zmpi_interp_work_new(e, NULL, 0, true);
    zmpi_interp_layout(w, &flat, e);
    if (w->loops->load[f->array.type == ZMPI_F64](w, rule, e, &rows, &base)) {
        int32_t *value = malloc(count_of(e) * sizeof *value);
        for (size_t i = 0; i < count_of(e); i++)
            value[i] = *cell(w, e, i);
        for (unsigned arrays = least; arrays <= most; arrays *= 2)
            check_values(arrays, e, 0, value, false);
        free(value);
    }
    zmpi_interp_work_free(w);
}

/* Four small real fields, a part of each, M = 1 to 8; or all of f32, M = 4, whole, in chunks that
 * the engine's memories hold. Fill values, which are 1e20 and more, have no code. */
static void check_field(const struct field *f)
{
    const bool all = getenv("ZMPI_TEST_LONG") != NULL;
    struct zmpi_interp_rule rule = {.type = f->array.type, .keep = f->filled ? 1e19 : INFINITY};
    struct zmpi_range range;
    size_t tile[3], at[3];
    const size_t *n = f->array.extent;
    if (f->array.type != ZMPI_F32 ||
        (!all && (checked == 4 || f->filled || kit_bytes(&f->array) > 1 << 20 || n[0] < 8)))
        return;
    zmpi_flare_tile(n, tile);
    for (int i = 1; i < 3 && !all; i++)
        tile[i] = tile[i] < 64 ? tile[i] : 64;
    while (!flare_sim_fits(tile))
        tile[1 + (tile[2] > tile[1])] /= 2;
    zmpi_range_scan(f->array.type, f->data, kit_elements(&f->array), rule.keep, 1, &range);
    rule.unit = zmpi_interp_unit(1e-3 * (range.max - range.min));
    for (int i = 0; i < ZMPI_FILLS; i++)
        rule.fill[i] = zmpi_fills_bits(&(struct zmpi_fills){0}, rule.type, i);
    for (at[0] = 0; at[0] < (all ? n[0] : 1); at[0] += tile[0])
        for (at[1] = 0; at[1] < (all ? n[1] : 1); at[1] += tile[1])
            for (at[2] = 0; at[2] < (all ? n[2] : 1); at[2] += tile[2]) {
                size_t e[3];
                for (int i = 0; i < 3; i++)
                    e[i] = n[i] - at[i] < tile[i] ? n[i] - at[i] : tile[i];
                check_chunk(f, &rule, at, e, all ? 4 : 1, all ? 4 : 8);
            }
    checked++;
    cr_log_info("%s", f->path);
}

Test(flare_engine, fields)
{
    each_field(check_field);
    cr_assert_geq(checked, 4);
}
