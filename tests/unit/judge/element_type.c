/* element_type.c - data that are not what their datatype says are told, and no real field is taken
 * for such, whole or in pieces (codec/judge/element_type.h). */
#include "field.h"
#include "judge/judgement.h"

/* Fields that fill all values of 32 or 64 bits, and look like floats then. */
enum { MISSED = 5 };

static unsigned missed[2], fields, plain;

/* As files and collectives judge a call: what is plain for them is right for all judges. */
static bool is_right(enum zmpi_type type, const void *data, size_t bytes)
{
    struct zmpi_judgement j = {0};
    struct zmpi_taken taken;
    struct zmpi_order order = {0};
    const size_t count = bytes / zmpi_type_size(type);
    zmpi_sample_take(&taken, type, data, count);
    zmpi_judge(&j, &taken, false);
    zmpi_order_look(&order, type, data, count);
    const bool right =
        zmpi_looks_like(type, data, count) == ZMPI_LOOKS_RIGHT && !zmpi_order_is_wrong(&order);
    cr_assert_eq(j.is_wrong, !right, "plain: %d", j.plain.is);
    plain += j.plain.is;
    return right;
}

static void expect_type(const struct field *f, const char *dress, const void *data, size_t bytes)
{
    cr_assert_not(is_right(ZMPI_F32, data, bytes), "%s, %s as f32", f->path, dress);
    cr_assert_not(is_right(ZMPI_F64, data, bytes), "%s, %s as f64", f->path, dress);
}

static void check_own(const struct field *f)
{
    const size_t width = zmpi_type_size(f->array.type), count = kit_elements(&f->array);
    const unsigned char *data = f->data;
    fields++;
    cr_assert(is_right(f->array.type, data, count * width), "%s", f->path);
    for (size_t n = 64; n <= count; n *= 2)
        for (size_t at = 0; at + n <= count; at += n)
            cr_assert_eq(zmpi_looks_like(f->array.type, data + at * width, n), ZMPI_LOOKS_RIGHT,
                         "%s: %zu at %zu", f->path, n, at);
}

Test(element_type, fields, .timeout = 300)
{
    each_field(check_own);
    cr_assert_geq(2 * plain, fields, "%u of %u fields are plain", plain, fields);
}

static double value_of(const struct field *f, size_t i)
{
    return f->array.type == ZMPI_F32 ? (double)((const float *)f->data)[i]
                                     : ((const double *)f->data)[i];
}

/* f64 made from f32, and rounded to fewer bits, as restarts and archives have them. */
static void check_coarse(const struct field *f)
{
    static const unsigned bits[] = {29, 40, 32, 24, 20, 16, 8};
    const size_t count = kit_elements(&f->array);
    uint64_t *x = malloc(count * sizeof *x);
    for (size_t k = 0; k < KIT_COUNT(bits); k++) {
        for (size_t i = 0; i < count; i++) {
            const double v = bits[k] == 29 ? (double)(float)value_of(f, i) : value_of(f, i);
            memcpy(&x[i], &v, sizeof v);
            x[i] = x[i] >> bits[k] << bits[k];
        }
        cr_assert(is_right(ZMPI_F64, (unsigned char *)x, count * 8), "%s: %u bits less", f->path,
                  bits[k]);
        for (size_t n = 64; n <= count; n *= 4)
            for (size_t at = 0; at + n <= count; at += n)
                cr_assert_eq(zmpi_looks_like(ZMPI_F64, x + at, n), ZMPI_LOOKS_RIGHT,
                             "%s: %u bits less, %zu at %zu", f->path, bits[k], n, at);
    }
    free(x);
}

Test(element_type, coarse, .timeout = 300)
{
    each_field(check_coarse);
}

/* The other width, and the other byte order of both. */
static void check_width(const struct field *f)
{
    const bool f32 = f->array.type == ZMPI_F32;
    const size_t width = f32 ? 4 : 8, bytes = kit_bytes(&f->array);
    unsigned char *swapped = malloc(bytes);
    const unsigned char *data = f->data;
    for (size_t i = 0; i < bytes; i++)
        swapped[i] = data[i / width * width + width - 1 - i % width];
    cr_assert_not(is_right(f32 ? ZMPI_F64 : ZMPI_F32, data, bytes), "%s", f->path);
    expect_type(f, "turned", swapped, bytes);
    free(swapped);
}

Test(element_type, width)
{
    each_field(check_width);
}

static void check_text(const struct field *f)
{
    const size_t most = 50000, all = kit_elements(&f->array), count = all < most ? all : most;
    char *text = malloc(count * 32);
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += (size_t)snprintf(text + bytes, 32, "%.7g%c", value_of(f, i), i % 5 ? ' ' : '\n');
    cr_assert_eq(zmpi_looks_like(ZMPI_F32, text, bytes / 4), ZMPI_LOOKS_TEXT, "%s", f->path);
    cr_assert_eq(zmpi_looks_like(ZMPI_F64, text, bytes / 8), ZMPI_LOOKS_TEXT, "%s", f->path);
    free(text);
}

Test(element_type, text)
{
    each_field(check_text);
}

/* Numbers of so many bits and steps; some below zero, if they have a sign. */
static unsigned char *quantized(const struct field *f, unsigned bits, double steps, bool sign)
{
    const size_t count = kit_elements(&f->array);
    unsigned char *out = malloc(count * bits / 8);
    double min = INFINITY, max = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        const double x = value_of(f, i);
        if (fabs(x) < 1e19) {
            min = fmin(min, x);
            max = fmax(max, x);
        }
    }
    for (size_t i = 0; i < count; i++) {
        const double x = fmin(fmax(value_of(f, i), min), max); /* NaN is the smallest */
        const double q = floor((x - min) / (max - min) * steps);
        const uint64_t n = q < 0x1p64 ? (uint64_t)q : UINT64_MAX;
        const uint64_t shifted = n - (sign ? (uint64_t)(steps / 2) : 0);
        memcpy(out + i * bits / 8, &shifted, bits / 8);
    }
    return out;
}

static void check_quantized(const struct field *f, unsigned bits, double steps)
{
    char dress[80];
    for (int sign = 0; sign < 2; sign++) {
        unsigned char *data = quantized(f, bits, steps, sign);
        snprintf(dress, sizeof dress, "%u bits, %g steps, sign %d", bits, steps, sign);
        expect_type(f, dress, data, kit_elements(&f->array) * bits / 8);
        free(data);
    }
}

static void check_integers(const struct field *f)
{
    check_quantized(f, 8, 255);
    check_quantized(f, 16, 65535);
    check_quantized(f, 16, 4095);
    check_quantized(f, 32, 1e6);
    check_quantized(f, 64, 1e6);
}

Test(element_type, integers, .timeout = 300)
{
    each_field(check_integers);
}

/* Where all values of a type are used, a few fields look like floats. */
static void check_full(const struct field *f)
{
    const size_t count = kit_elements(&f->array);
    for (int wide = 0; wide < 2; wide++) {
        unsigned char *data = quantized(f, wide ? 64 : 32, wide ? 0x1p64 : 0x1p32 - 1, false);
        missed[wide] += is_right(wide ? ZMPI_F64 : ZMPI_F32, data, count * (wide ? 8 : 4));
        cr_assert_not(is_right(wide ? ZMPI_F32 : ZMPI_F64, data, count * (wide ? 8 : 4)), "%s",
                      f->path);
        free(data);
    }
}

Test(element_type, full_integers)
{
    each_field(check_full);
    cr_assert(missed[0] <= MISSED && missed[1] <= MISSED, "%u, %u", missed[0], missed[1]);
}

/* ---- made data ---- */

enum { N = 20000 };

Test(element_type, few_words_of_text)
{
    const char header[] = "#std 8  8  8  1        1000        1000  0.1000000000000E+00       100";
    const float floats[] = {1.5F, 2.25F, 3.125F, 100.1F};
    cr_assert_eq(zmpi_looks_like(ZMPI_F32, header, 16), ZMPI_LOOKS_TEXT);
    cr_assert_eq(zmpi_looks_like(ZMPI_F32, header, 4), ZMPI_LOOKS_TEXT);
    cr_assert_eq(zmpi_looks_like(ZMPI_F32, floats, 4), ZMPI_LOOKS_RIGHT);
    cr_assert_eq(zmpi_looks_like(ZMPI_F32, header, 0), ZMPI_LOOKS_RIGHT);
    cr_assert_eq(zmpi_looks_like(ZMPI_BYTES, header, 64), ZMPI_LOOKS_RIGHT);
}

/* What looks odd and is a float: waves that fade, one value, hardly any, marks, whole numbers. */
Test(element_type, floats)
{
    static float narrow[6][N];
    static double wide[6][N];
    for (int i = 0; i < N; i++) {
        const double x = (i - N / 2) * 1e-3;
        wide[0][i] = exp(-x * x);
        wide[1][i] = i % 7 ? 0 : 0.1;
        wide[2][i] = i / 100 % 2 ? 1e35F : sqrt(i);
        wide[3][i] = i * 3 % 1000;
        /* In front of it a wave in floats is a train of denormals, long before it arrives. */
        const double f32 = 1e-30 * exp(-8e-4 * i), f64 = 1e-300 * exp(-1e-3 * i);
        wide[4][i] = sin(0.3 * i) * f64;
        narrow[4][i] = (float)(sin(0.3 * i) * f32);
        wide[5][i] = 1e6 * sin(0.3 * i) * exp(-0.03 * i);
        for (int k = 0; k < 6; k++)
            narrow[k][i] = k == 4 ? narrow[k][i] : (float)wide[k][i];
    }
    for (int k = 0; k < 6; k++) {
        cr_assert_eq(zmpi_looks_like(ZMPI_F64, wide[k], N), ZMPI_LOOKS_RIGHT, "%d", k);
        cr_assert_eq(zmpi_looks_like(ZMPI_F32, narrow[k], N), ZMPI_LOOKS_RIGHT, "%d", k);
    }
}

/* Whole numbers have nothing in the lower half. */
Test(element_type, whole_numbers)
{
    static double whole[N];
    for (int i = 0; i < N; i++)
        whole[i] = 1 + i % 1000;
    cr_assert_eq(zmpi_looks_like(ZMPI_F32, whole, 2 * (size_t)N), ZMPI_LOOKS_F64);
}

Test(element_type, names)
{
    for (int k = ZMPI_LOOKS_RIGHT; k <= ZMPI_LOOKS_NOISE; k++)
        cr_assert_not_null(zmpi_looks_name((enum zmpi_looks)k));
}
