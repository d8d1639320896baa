/*
 * kernels_exceptions.c - every set of kernels that this machine can run, against the scalar
 * reference: chunks with words that are kept as they are, and with words about the limit from which
 * they are.
 */
#include "kernels_kit.h"

TestSuite(kernels_exceptions, .init = make_work, .fini = free_work);

/* Residuals of -2^63, 64 bits long, in a block with an exception: its length byte has six for the
 * length. Along two axes they come of four integers of 2^61, along three of eight of 2^60. */
static void check_longest(const struct zmpi_kernels *k, unsigned axes, unsigned shift)
{
    const struct tile t = tile_make(ZMPI_F64, (const size_t[]){2, 20, 32}, 0, 0);
    const double below = 2 - ldexp(1, (int)shift - 52);
    static unsigned char coded[ZMPI_CHUNK_CAPACITY];
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

Test(kernels_exceptions, longest_residuals_beside_one)
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

Test(kernels_exceptions, fill_values)
{
    static const size_t shapes[][3] = {{3, 5, 64}, {2, 7, 45},  {1, 1, 1000}, {1, 4, 231},
                                       {9, 9, 3},  {4, 4, 32},  {6, 7, 90},   {5, 6, 33},
                                       {1, 1, 37}, {4, 8, 256}, {2, 25, 163}};
    struct kit_random r = {12};
    const struct zmpi_kernels *k;
    for (size_t i = 0; (k = next_kernels(&i)) != NULL;)
        for (size_t j = 0; j < 3 * KIT_COUNT(shapes); j++) {
            const size_t *extent = shapes[j % KIT_COUNT(shapes)];
            for (int type = ZMPI_F32; type <= ZMPI_F64; type++) {
                const struct tile t = tile_make((enum zmpi_type)type, extent, j % 2 * 3, 0);
                if (extent[0] * extent[1] * extent[2] * t.width <= ZMPI_CHUNK_INPUT_BYTES)
                    check_fills(k, &t, &r);
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

Test(kernels_exceptions, windows)
{
    static const size_t shapes[][3] = {{3, 5, 64}, {2, 7, 45}, {1, 1, 1000}, {9, 9, 3}};
    struct kit_random r = {14};
    const struct zmpi_kernels *k;
    for (size_t i = 0; (k = next_kernels(&i)) != NULL;)
        for (size_t j = 0; j < 16 * KIT_COUNT(shapes); j++)
            for (int type = ZMPI_F32; type <= ZMPI_F64; type++) {
                const struct tile t =
                    tile_make((enum zmpi_type)type, shapes[j % KIT_COUNT(shapes)], j % 8 / 4, 0);
                check_windows(k, &t, &r);
            }
}
