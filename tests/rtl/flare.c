/*
 * flare.c - FLARE's prediction engine: its codes, and what they are decoded to, are the C's, with
 * random stalls on both sides, forth and back; its cycles are the model's.
 */
#include "flare_model.h"
#include "flare_sim.h"
#include "field.h"

#include "huffman/huffman_loops.h"
#include "interp/flare.h"

static int checked; /* fields */

/* By the C: values and codes, all of the latter in full. */
struct expected {
    int32_t *value, *code;
    size_t codes;
};

/* Waves in units, noise; some have no value, some are far from all others. */
static void make_values(int32_t *value, const size_t e[3], struct kit_random *r)
{
    for (size_t i = 0; i < e[0] * e[1] * e[2]; i++) {
        const double x = (double)(i % e[2]), y = (double)(i / e[2] % e[1]);
        const double z = (double)(i / e[2] / e[1]);
        value[i] = (int32_t)(2e5 * sin(0.13 * x + 0.02 * y) * cos(0.09 * z) + 900 * kit_unit(r));
        if (kit_below(r, 200) == 0)
            value[i] = kit_below(r, 2) ? INT32_MIN : (int32_t)(6e7 * (kit_unit(r) - 0.5));
    }
}

/* The C's answer; in place of given values of anchors those that they are decoded to. */
static struct expected predict(const size_t e[3], int32_t *given)
{
    static const struct zmpi_interp_set flat = {.family = ZMPI_INTERP_LORENZO};
    const size_t n = e[0] * e[1] * e[2], anchors = zmpi_flare_anchors(e);
    struct zmpi_interp_work *w = zmpi_interp_work_new(e, NULL, 0, false);
    struct zmpi_flare_codes c = {
        .code = malloc(n), .anchor = malloc(2 * n), .escape = malloc(4 * n)};
    struct expected x = {malloc(n * sizeof(int32_t)), malloc(n * sizeof(int32_t)), n - anchors};
    zmpi_interp_layout(w, &flat, e);
    const struct cells *f = &w->flat;
    for (size_t i = 0; i < n; i++)
        f->value[i / e[2] / e[1] * f->plane + i / e[2] % e[1] * f->row + i % e[2]] = given[i];
    w->mode = ENCODE;
    zmpi_flare_predict(w, e, &c);
    cr_assert_eq(c.codes, x.codes);
    for (size_t i = 0; i < n; i++) {
        const size_t place[3] = {i / e[2] / e[1], i / e[2] % e[1], i % e[2]};
        x.value[i] = f->value[place[0] * f->plane + place[1] * f->row + place[2]];
        if ((place[0] | place[1] | place[2]) % ZMPI_FLARE_ANCHORS == 0)
            given[i] = x.value[i];
    }
    /* Escapes, of which those of anchors come first. */
    size_t at = 0;
    for (size_t i = 0; i < c.anchors + c.codes; i++) {
        const bool anchor = i < c.anchors;
        const int32_t small = anchor ? c.anchor[i] : c.code[i - c.anchors];
        int32_t code = small;
        if (small == (anchor ? ZMPI_FLARE_ANCHOR_ESCAPE : ZMPI_FLARE_ESCAPE)) {
            uint32_t v = 0;
            for (unsigned shift = 0;; shift += 7) {
                v |= (uint32_t)(c.escape[at] & 127) << shift;
                if (c.escape[at++] < 128)
                    break;
            }
            code = v & 1 ? (int32_t) ~(v >> 1) : (int32_t)(v >> 1);
        }
        if (!anchor)
            x.code[i - c.anchors] = code;
    }
    free(c.code);
    free(c.anchor);
    free(c.escape);
    zmpi_interp_work_free(w);
    return x;
}

/* These values, forth and back. */
static struct flare_sim_cycles check_values(unsigned arrays, const size_t e[3], unsigned stall,
                                            const int32_t *value)
{
    const size_t n = e[0] * e[1] * e[2];
    struct flare_sim *s = flare_sim_open(arrays);
    struct flare_sim_cycles cycles, back;
    cr_assert(s, "%u arrays are not built", arrays);
    struct flare_sim_chunk c = {.extent = {e[0], e[1], e[2]},
                                .value = malloc(n * sizeof(int32_t)),
                                .code = calloc(n, sizeof(int32_t))};
    memcpy(c.value, value, n * sizeof *value);
    const struct expected x = predict(e, c.value);
    c.codes = x.codes;
    cr_assert(flare_sim_run(s, &c, stall, &cycles), "%zux%zux%zu", e[0], e[1], e[2]);
    cr_assert_arr_eq(c.code, x.code, x.codes * sizeof *x.code);
    cr_assert_arr_eq(c.value, x.value, n * sizeof *x.value);
    for (size_t i = 0; i < n; i++) /* anchors stay */
        if ((i / e[2] / e[1] | i / e[2] % e[1] | i % e[2]) % ZMPI_FLARE_ANCHORS)
            c.value[i] = -1;
    c.decode = true;
    cr_assert(flare_sim_run(s, &c, stall, &back), "back");
    cr_assert_arr_eq(c.value, x.value, n * sizeof *x.value);
    free(c.value);
    free(c.code);
    free(x.value);
    free(x.code);
    flare_sim_close(s);
    return cycles;
}

static struct flare_sim_cycles check(unsigned arrays, const size_t e[3], unsigned stall)
{
    struct kit_random r = {e[0] * e[1] * e[2] + stall};
    int32_t *value = malloc(e[0] * e[1] * e[2] * sizeof *value);
    make_values(value, e, &r);
    const struct flare_sim_cycles cycles = check_values(arrays, e, stall, value);
    free(value);
    return cycles;
}

Test(flare_rtl, codes_and_values)
{
    static const unsigned arrays[] = {1, 2, 4, 8};
    static const size_t shapes[][3] = {{33, 34, 35}, {1, 70, 41}, {9, 1, 67},  {1, 1, 130},
                                       {5, 2, 3},    {1, 1, 1},   {67, 12, 9}, {129 - 1, 9, 17}};
    for (size_t i = 0; i < KIT_COUNT(shapes); i++)
        for (unsigned stall = 0; stall <= 128; stall += 128)
            for (size_t k = 0; k < KIT_COUNT(arrays); k++)
                check(arrays[k], shapes[i], stall);
}

/* Without stalls, by as many arrays: what a block takes, and the whole chunk. */
static void check_cycles(unsigned arrays, const size_t e[3])
{
    struct flare_slab slab[7];
    const size_t n = flare_schedule(e, 3, slab, 7);
    struct flare_core core = {.arrays = arrays, .cycles_of_point = 1, .drain = FLARE_RTL_DRAIN};
    const struct flare_sim_cycles got = check(arrays, e, 0);
    uint64_t runs = 0, busy = 0;
    for (size_t i = 0; i < n; i++) {
        core.loads = true;
        busy += flare_predict_cycles(&core, e, &slab[i]);
        core.loads = false;
        core.arrays = 1; /* all that they do */
        runs += flare_predict_cycles(&core, e, &slab[i]);
        core.arrays = arrays;
    }
    cr_log_info("%u arrays: %llu cycles, model %llu; predicting %llu, model %llu", arrays,
                (unsigned long long)got.busy, (unsigned long long)busy,
                (unsigned long long)got.runs, (unsigned long long)runs);
    cr_assert_float_eq((double)got.runs / (double)runs, 1, 0.02, "%llu, model %llu",
                       (unsigned long long)got.runs, (unsigned long long)runs);
    cr_assert_float_eq((double)got.busy / (double)busy, 1, 0.02, "%llu, model %llu",
                       (unsigned long long)got.busy, (unsigned long long)busy);
}

Test(flare_rtl, cycles_of_the_model)
{
    static const size_t cube[3] = {64, 64, 64}, odd[3] = {40, 50, 70};
    check_cycles(1, cube);
    check_cycles(2, cube);
    check_cycles(4, cube);
    check_cycles(4, odd);
    check_cycles(8, odd);
}

/* Codes of a batch to sections, by an offline book, which lacks some symbols. */
static void check_sections(const signed char *code, size_t n, unsigned number, unsigned stall)
{
    enum { SECTION = 8192 };
    static int32_t residual[SECTION];
    uint16_t bits[ZMPI_HUFFMAN_SYMBOLS];
    static uint16_t table[ZMPI_HUFFMAN_TABLE];
    static signed char back[SECTION];
    struct zmpi_huffman_encoder *e = malloc(sizeof *e);
    struct zmpi_huffman_decoder *d = malloc(sizeof *d);
    const struct zmpi_book *book = zmpi_book_offline(number);
    unsigned char *want = calloc(n * 6 + 4096, 1), *got = calloc(n * 6 + 4096, 1), *at = want;
    zmpi_huffman_encoder_set(e, book);
    zmpi_book_codes(book, bits);
    for (unsigned s = 0; s < ZMPI_HUFFMAN_SYMBOLS; s++)
        bits[s] = (uint16_t)(bits[s] | book->length[s] << 12);
    zmpi_huffman_decoder_set(d, book);
    for (unsigned i = 0; i < ZMPI_HUFFMAN_TABLE; i++)
        table[i] = (uint16_t)(d->symbol[i] | d->length[d->symbol[i]] << 10);
    for (size_t from = 0; from < n; from += SECTION) {
        const size_t words = n - from < SECTION ? n - from : SECTION;
        const size_t blocks = (words + 31) / 32, each = (blocks + 3) / 4;
        uint32_t nonzero[SECTION / 32] = {0};
        unsigned char *to = at + 8;
        for (size_t i = 0; i < words; i++) {
            residual[i] = code[from + i];
            nonzero[i / 32] |= (uint32_t)(code[from + i] != 0) << i % 32;
        }
        for (size_t k = 0; k < 4; k++) {
            const size_t begin = k * each < blocks ? k * each : blocks;
            const size_t end = begin + each < blocks ? begin + each : blocks;
            unsigned char *next = zmpi_kernels()->huffman_encode->put32(
                e, residual, nonzero, (struct zmpi_segment){begin, end, words}, to);
            zmpi_store16(at + 2 * k, (uint16_t)(next - to));
            to = next;
        }
        const size_t size = (size_t)(to - at);
        cr_assert(flare_sim_decode(at, size, words, table, stall, back), "%zu codes back", words);
        cr_assert_arr_eq(back, code + from, words);
        to[-1] ^= 0x40; /* damaged: refused, or other codes, and an end */
        if (flare_sim_decode(at, size, words, table, stall, back))
            cr_assert_neq(memcmp(back, code + from, words), 0);
        to[-1] ^= 0x40;
        cr_assert_not(
            flare_sim_decode(at, size, words + 1 < SECTION ? words + 100 : 1, table, stall, back));
        at = to;
    }
    cr_assert_eq(flare_sim_code(code, n, bits, stall, got), (size_t)(at - want), "%zu codes", n);
    cr_assert_arr_eq(got, want, (size_t)(at - want), "%zu codes, book %u", n, number);
    free(e);
    free(d);
    free(want);
    free(got);
}

Test(flare_rtl, sections)
{
    static const size_t sizes[] = {1, 3, 31, 33, 130, 4096, 8191, 8192, 8195, 20001};
    struct kit_random r = {4};
    signed char code[20001];
    for (size_t i = 0; i < KIT_COUNT(sizes); i++) {
        for (size_t k = 0; k < sizes[i]; k++)
            code[k] = (signed char)(kit_below(&r, 4) ? (int)kit_below(&r, i % 3 ? 5 : 1)
                                                     : (int)kit_below(&r, 256) - 128);
        check_sections(code, sizes[i], (unsigned)(i % 6), 0);
        check_sections(code, sizes[i], (unsigned)(i % 6), 128);
    }
}

/* Four small real fields, at 1e-3 of their range. */
static void check_field(const struct field *f)
{
    static const struct zmpi_interp_set flat = {.family = ZMPI_INTERP_LORENZO};
    const size_t most[3] = {128, 64, 128};
    struct zmpi_interp_rule rule = {.type = f->array.type, .keep = INFINITY};
    const size_t width = zmpi_type_size(f->array.type);
    const size_t row = f->array.extent[2] * width;
    const struct zmpi_rows rows = {.at = f->data, .row = row, .plane = f->array.extent[1] * row};
    struct zmpi_range range;
    size_t e[3];
    double base;
    if (checked == 4 || f->filled || kit_bytes(&f->array) > 1 << 20)
        return;
    for (int i = 0; i < 3; i++)
        e[i] = f->array.extent[i] < most[i] ? f->array.extent[i] : most[i];
    zmpi_range_of(f->array.type, f->data, kit_elements(&f->array), &range);
    rule.unit = zmpi_interp_unit(1e-3 * (range.max - range.min));
    struct zmpi_interp_work *w = zmpi_interp_work_new(e, NULL, 0, true);
    zmpi_interp_layout(w, &flat, e);
    if (w->loops->load[f->array.type == ZMPI_F64](w, &rule, e, &rows, &base)) {
        int32_t *value = malloc(e[0] * e[1] * e[2] * sizeof *value);
        for (size_t r = 0; r < e[0] * e[1]; r++)
            memcpy(value + r * e[2],
                   w->flat.value + r / e[1] * w->flat.plane + r % e[1] * w->flat.row,
                   e[2] * sizeof *value);
        check_values(4, e, 0, value);
        free(value);
        checked++;
    }
    zmpi_interp_work_free(w);
}

Test(flare_rtl, fields)
{
    each_field(check_field);
}
