/*
 * flare_ratio.c - what the profile FLARE costs against interp's own choice, factor by factor: one
 * property after the other is taken from interp until the profile is left.
 */
#include "flare_field.h"
#include "flare_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "huffman/huffman_loops.h"
#include "interp/flare/flare.h"
#include "layout/fills.h"
#include "layout/plan_rows.h"
#include "stream/compress_interp.h"

enum step {
    INTERP,     /* its own choice */
    FIXED,      /* one lattice, cubic, directions x, y, z; interp's tiles */
    NO_CONTEXT, /* one ideal code for all symbols of a tile */
    TILES,      /* blocks of 32^3 on three levels */
    HUFFMAN,    /* canonical books of the batches themselves, runs of zeros */
    NARROW,     /* codes of 8 bits */
    OLD_BOOKS,  /* those of the batch before: the profile */
    STEPS
};

static const char *const names[STEPS] = {
    "interp",      "fixed directions",       "no contexts", "blocks of 32^3", "Huffman",
    "8-bit codes", "old books: interp:flare"};

struct field {
    struct zmpi_array array;
    struct zmpi_job job;
    struct zmpi_plan plan;
    unsigned char *data;
    double bytes[STEPS];
};

/* ---- fields ---- */

static bool read_field(const char *path, double rel, struct field *f)
{
    struct flare_field file;
    const struct zmpi_bound bound = {ZMPI_REL, rel};
    memset(f, 0, sizeof *f);
    if (!flare_field_read(path, &file))
        return false;
    f->array = file.array;
    f->data = file.data;
    if (!zmpi_job_make(&f->array, &bound, &file.range, &f->job) &&
        !zmpi_plan_make(&f->array, &f->plan))
        return true;
    free(f->data);
    return false;
}

/* ---- streams ---- */

static double stream_bytes(struct field *f, enum zmpi_variant variant)
{
    const size_t capacity = zmpi_compress_capacity(&f->array);
    unsigned char *dst = malloc(capacity);
    size_t size = 0;
    bool known;
    f->job.encoder = ZMPI_INTERP;
    f->job.variant = variant;
    if (!dst || zmpi_interp_compress(&f->job, dst, capacity, f->data, &size, &known))
        size = 0;
    free(dst);
    return (double)size;
}

/* ---- one lattice ---- */

static double bits_of(const uint32_t *count, size_t n)
{
    double total = 0, bits = 0;
    for (size_t s = 0; s < n; s++)
        total += count[s];
    for (size_t s = 0; s < n; s++)
        bits -= count[s] ? count[s] * log2(count[s] / total) : 0;
    return bits;
}

/* Bits of a chunk's codes by one ideal code for all contexts. */
static double plain_bits(const struct zmpi_interp_work *w)
{
    uint32_t count[ZMPI_INTERP_SYMBOLS] = {0};
    double raw = 0;
    for (int c = 0; c < ZMPI_INTERP_CONTEXTS; c++)
        for (int s = 0; s < ZMPI_INTERP_SYMBOLS; s++)
            count[s] += w->histogram[c][s];
    for (int s = ZMPI_INTERP_ESCAPES; s < ZMPI_INTERP_SYMBOLS; s++)
        raw += (double)count[s] * (s - ZMPI_INTERP_ESCAPES + 3);
    return bits_of(count, ZMPI_INTERP_SYMBOLS) + raw;
}

/* The axis along which a class is predicted: the last of x, y, z in which its points are odd. */
static struct zmpi_interp_set fixed_set(const struct field *f, const size_t tile[3], unsigned shift)
{
    struct zmpi_interp_set set = {.family = ZMPI_INTERP_LATTICE, .shift = shift};
    for (unsigned i = 0; i < 3; i++)
        set.axes |= f->array.extent[2 - i] > 1 ? 1U << i : 0;
    set.levels = zmpi_interp_levels(set.axes, tile);
    for (unsigned l = 0; l < ZMPI_INTERP_LEVELS; l++)
        for (unsigned p = 1; p < 8; p++)
            set.way[l][p] = (unsigned char)((p & 4 ? 4 : p & 2 ? 2 : 1) | ZMPI_INTERP_CUBIC);
    return set;
}

static void place_tiles(struct zmpi_plan *p)
{
    p->chunks = 1;
    for (int i = 0; i < 3; i++) {
        p->grid[i] = (p->words[i] + p->tile[i] - 1) / p->tile[i];
        p->chunks *= p->grid[i];
    }
}

static struct zmpi_interp_rule rule_of(const struct field *f)
{
    struct zmpi_interp_rule rule = {.type = f->array.type,
                                    .unit = zmpi_interp_unit(f->job.abs_bound),
                                    .abs_bound = f->job.abs_bound,
                                    .keep = f->job.keep};
    for (int i = 0; i < ZMPI_FILLS; i++)
        rule.fill[i] = zmpi_fills_bits(&f->job.fills, rule.type, i);
    return rule;
}

/* The whole array by one set of parameters; *plain: without contexts. */
static double lattice_bytes(struct field *f, unsigned shift, double *plain)
{
    struct zmpi_interp_rule rule = rule_of(f);
    struct zmpi_plan *p = &f->plan;
    zmpi_interp_tile(p->words, 7, p->tile);
    place_tiles(p);
    rule.sets = 1;
    rule.set[0] = fixed_set(f, p->tile, shift);
    struct zmpi_interp_work *w = zmpi_interp_work_new(p->tile, rule.set, 1, true);
    unsigned char *dst = malloc(
        zmpi_interp_chunk_most(p->tile[0] * p->tile[1] * p->tile[2], zmpi_type_size(rule.type)));
    double bytes = 100, bits = 8 * bytes;
    for (size_t k = 0; w && dst && k < p->chunks; k++) {
        size_t at[3], extent[3];
        zmpi_plan_place(p, k, at);
        const struct zmpi_rows rows = zmpi_plan_rows(p, at, f->data, extent);
        bytes += 8 + (double)zmpi_interp_encode(w, &rule, 0, extent, &rows, dst, NULL);
        bits += 8 * 16 + plain_bits(w);
    }
    free(dst);
    zmpi_interp_work_free(w);
    *plain = bits / 8;
    return bytes;
}

/* ---- codes of the profile ---- */

struct profile_bits {
    double ideal, wide, narrow;
};

/* *escape: where the next one is. */
static int32_t take_escape(const struct zmpi_flare_codes *c, size_t *escape)
{
    uint32_t n = 0;
    for (unsigned shift = 0;; shift += 7) {
        const unsigned char byte = c->escape[(*escape)++];
        n |= (uint32_t)(byte & 127) << shift;
        if (byte < 128)
            return n & 1 ? (int32_t) ~(n >> 1) : (int32_t)(n >> 1);
    }
}

static int32_t code_at(const struct zmpi_flare_codes *c, size_t i, size_t *escape)
{
    return c->code[i] == ZMPI_FLARE_ESCAPE ? take_escape(c, escape) : c->code[i];
}

static void count_code(int32_t code, size_t *run, uint32_t count[ZMPI_HUFFMAN_SYMBOLS])
{
    unsigned extra;
    if (code == 0) {
        ++*run;
        return;
    }
    zmpi_count_run(*run, 1, count);
    *run = 0;
    count[zmpi_residual_symbol(code, &extra)]++;
}

static double huffman_bits(const uint32_t count[ZMPI_HUFFMAN_SYMBOLS])
{
    struct zmpi_book book;
    unsigned char stored[ZMPI_HUFFMAN_BOOK_MAX];
    zmpi_book_train(count, 2, false, ZMPI_SORT_EXACT, &book);
    return (double)zmpi_book_cost(&book, 4, count) + 8.0 * (double)zmpi_book_store(&book, stored);
}

/* Of one batch; *escape: the next one. */
static void add_batch(const struct zmpi_flare_codes *c, size_t from, size_t end, size_t *escape,
                      struct profile_bits *bits)
{
    uint32_t wide[ZMPI_HUFFMAN_SYMBOLS] = {0}, narrow[ZMPI_HUFFMAN_SYMBOLS] = {0};
    size_t wide_run = 0, narrow_run = 0;
    for (size_t i = from; i < end; i++) {
        const size_t before = *escape;
        count_code(c->code[i], &narrow_run, narrow);
        count_code(code_at(c, i, escape), &wide_run, wide);
        bits->narrow += 8 * (double)(*escape - before);
        if (i % 2048 == 2047 || i + 1 == end) { /* a stream of bits ends */
            zmpi_count_run(wide_run, 1, wide);
            zmpi_count_run(narrow_run, 1, narrow);
            wide_run = narrow_run = 0;
        }
    }
    bits->wide += huffman_bits(wide);
    bits->narrow += huffman_bits(narrow);
}

/* interp's symbols in one ideal code. */
static double ideal_bits(const struct zmpi_flare_codes *c, size_t escape)
{
    uint32_t count[ZMPI_INTERP_SYMBOLS] = {0};
    double raw = 0;
    for (size_t i = 0; i < c->codes; i++) {
        const int32_t code = code_at(c, i, &escape);
        const uint32_t m = (uint32_t)(code < 0 ? -code : code);
        unsigned symbol = code > 0 ? 2 * m - 1 : 2 * m;
        if (m > ZMPI_INTERP_DIRECT) {
            const unsigned e = 31 - (unsigned)__builtin_clz((m - 25) / 4 + 1);
            symbol = ZMPI_INTERP_ESCAPES + (e > 22 ? 22 : e);
            raw += e + 3;
        }
        count[symbol]++;
    }
    return bits_of(count, ZMPI_INTERP_SYMBOLS) + raw;
}

static bool flare_bits(struct field *f, struct profile_bits *bits)
{
    const struct zmpi_interp_rule rule = rule_of(f);
    static const struct zmpi_interp_set flat = {.family = ZMPI_INTERP_LORENZO};
    struct zmpi_plan *p = &f->plan;
    zmpi_flare_tile(p->words, p->tile);
    place_tiles(p);
    const size_t most = p->tile[0] * p->tile[1] * p->tile[2];
    struct zmpi_interp_work *w = zmpi_interp_work_new(p->tile, NULL, 0, false);
    struct zmpi_flare_codes c = {
        .code = malloc(most), .anchor = malloc(2 * most), .escape = malloc(4 * most)};
    const bool fine = w && c.code && c.anchor && c.escape;
    for (size_t k = 0; fine && k < p->chunks; k++) {
        size_t at[3], extent[3], escape = 0;
        double base;
        zmpi_plan_place(p, k, at);
        const struct zmpi_rows rows = zmpi_plan_rows(p, at, f->data, extent);
        zmpi_interp_layout(w, &flat, extent);
        w->mode = ENCODE;
        if (!w->loops->load[rule.type == ZMPI_F64](w, &rule, extent, &rows, &base))
            continue;
        zmpi_flare_predict(w, extent, &c);
        for (size_t i = 0; i < c.anchors; i++)
            if (c.anchor[i] == ZMPI_FLARE_ANCHOR_ESCAPE)
                take_escape(&c, &escape);
        const double anchors = 16.0 * (double)c.anchors + 8.0 * (double)escape + 8 * 24;
        bits->ideal += anchors + ideal_bits(&c, escape);
        bits->wide += anchors;
        bits->narrow += anchors;
        for (size_t b = 0; b < c.batches; b++)
            add_batch(&c, b ? c.end[b - 1] : 0, c.end[b], &escape, bits);
    }
    free(c.code);
    free(c.anchor);
    free(c.escape);
    zmpi_interp_work_free(w);
    return fine;
}

/* ---- the table ---- */

static bool measure(struct field *f)
{
    struct profile_bits bits = {800, 800, 800};
    f->bytes[FIXED] = 1e300;
    for (unsigned shift = 0; shift < ZMPI_INTERP_SHIFTS; shift++) {
        double plain, bytes = lattice_bytes(f, shift, &plain);
        f->bytes[FIXED] = bytes < f->bytes[FIXED] ? bytes : f->bytes[FIXED];
        f->bytes[NO_CONTEXT] = plain;
    }
    if (!flare_bits(f, &bits))
        return false;
    f->bytes[TILES] = bits.ideal / 8;
    f->bytes[HUFFMAN] = bits.wide / 8;
    f->bytes[NARROW] = bits.narrow / 8;
    f->bytes[INTERP] = stream_bytes(f, ZMPI_VARIANT_NONE);
    f->bytes[OLD_BOOKS] = stream_bytes(f, ZMPI_VARIANT_FLARE);
    return f->bytes[INTERP] > 0 && f->bytes[OLD_BOOKS] > 0;
}

int flare_ratios(double rel, char *const *files, int n)
{
    double logs[STEPS] = {0};
    int counted = 0;
    for (int i = 0; i < n; i++) {
        struct field f;
        size_t bytes;
        if (!read_field(files[i], rel, &f)) {
            fprintf(stderr,
                    "zmpi-flare-model: %s: not a file NAME_ZxYxX.f32 or .f64 of that size\n",
                    files[i]);
            return 2;
        }
        if (measure(&f)) {
            zmpi_array_bytes(&f.array, &bytes);
            for (int s = 0; s < STEPS; s++)
                logs[s] += log((double)bytes / f.bytes[s]);
            counted++;
        } else {
            fprintf(stderr, "zmpi-flare-model: %s: left out, encoder 3 does not code it\n",
                    files[i]);
        }
        free(f.data);
    }
    if (!counted)
        return 2;
    printf("Ratios at rel=%g, geometric mean of %d fields; each line takes one thing more away:\n\n"
           "| | ratio | over the line above | over interp |\n| --- | --- | --- | --- |\n",
           rel, counted);
    for (int s = 0; s < STEPS; s++)
        printf("| %s | %.2f | %.3f | %.3f |\n", names[s], exp(logs[s] / counted),
               s ? exp((logs[s] - logs[s - 1]) / counted) : 1, exp((logs[s] - logs[0]) / counted));
    return 0;
}
