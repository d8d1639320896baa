/* raw_bytes.c - bytes are known as the floats that they are, and nothing else is taken for floats
 * (codec/judge/raw_bytes.h). */
#include "field.h"
#include "judge/raw_bytes.h"

/* Each field as bytes, whole and in pieces: its own type or none. Most pieces must tell. */
static void check_field(const struct field *f)
{
    const enum zmpi_type own = f->array.type, other = own == ZMPI_F32 ? ZMPI_F64 : ZMPI_F32;
    const size_t bytes = kit_elements(&f->array) * zmpi_type_size(own);
    const unsigned char *data = f->data;
    cr_assert_eq(zmpi_raw_type(data, bytes), own, "%s", f->path);
    size_t pieces = 0, right = 0;
    for (size_t n = 8192; n <= bytes; n *= 4)
        for (size_t at = 0; at + n <= bytes; at += n) {
            const enum zmpi_type is = zmpi_raw_type(data + at, n);
            cr_assert_neq(is, other, "%s: %zu at %zu", f->path, n, at);
            pieces++;
            right += is == own;
        }
    cr_assert(2 * right > pieces, "%s: %zu of %zu", f->path, right, pieces);
}

Test(raw_bytes, fields, .timeout = 300)
{
    each_field(check_field);
}

/* The same in the other byte order, shifted by bytes, and of the least significant ones. */
static void check_disguised(const struct field *f)
{
    const size_t width = zmpi_type_size(f->array.type), bytes = kit_elements(&f->array) * width;
    unsigned char *swapped = malloc(bytes);
    const unsigned char *data = f->data;
    for (size_t i = 0; i < bytes; i++)
        swapped[i] = data[i / width * width + (width - 1 - i % width)];
    cr_assert_eq(zmpi_raw_type(swapped, bytes), ZMPI_BYTES, "%s", f->path);
    cr_assert_eq(zmpi_raw_type_swapped(swapped, bytes), f->array.type, "%s", f->path);
    cr_assert_eq(zmpi_raw_type_swapped(data, bytes), ZMPI_BYTES, "%s", f->path);
    const size_t cut = (bytes - 8) / 8 * 8;
    memcpy(swapped, data + 1, cut);
    cr_assert_eq(zmpi_raw_type(swapped, cut), ZMPI_BYTES, "%s, shifted", f->path);
    free(swapped);
}

Test(raw_bytes, disguised, .timeout = 300)
{
    each_field(check_disguised);
}

enum { N = 40000 };

static void expect_none(const char *what, const void *data, size_t bytes)
{
    for (size_t n = 8192; n <= bytes; n *= 2)
        for (size_t at = 0; at + n <= bytes; at += n) {
            const char *part = (const char *)data + at;
            cr_assert_eq(zmpi_raw_type(part, n), ZMPI_BYTES, "%s: %zu at %zu", what, n, at);
            cr_assert_eq(zmpi_raw_type_swapped(part, n), ZMPI_BYTES, "%s swapped: %zu at %zu", what,
                         n, at);
        }
}

Test(raw_bytes, integers)
{
    static int32_t narrow[N];
    static int64_t wide[N];
    static const struct {
        const char *what;
        int64_t first, step;
        uint64_t spread;
    } kinds[] = {{"counted", 0, 1, 0},
                 {"counted from 10^9 on", 1000000000, 1, 0},
                 {"elements of four", 1000000, 3, 8},
                 {"small", -1000, 0, 2000},
                 {"up to a million", 0, 0, 1000000},
                 {"any", INT32_MIN, 0, UINT32_MAX},
                 {"zero", 0, 0, 0}};
    for (size_t k = 0; k < KIT_COUNT(kinds); k++) {
        uint64_t random = 1;
        for (int i = 0; i < N; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            const uint64_t more = kinds[k].spread ? (random >> 20) % kinds[k].spread : 0;
            wide[i] = kinds[k].first + i * kinds[k].step + (int64_t)more;
            narrow[i] = (int32_t)wide[i];
        }
        expect_none(kinds[k].what, narrow, sizeof narrow);
        expect_none(kinds[k].what, wide, sizeof wide);
    }
}

/* Integers and floats side by side, as records of particles have them. */
Test(raw_bytes, records)
{
    static struct {
        int32_t name;
        float x[3];
    } narrow[N];
    static struct {
        int64_t name;
        double x[3];
    } wide[N];
    for (int i = 0; i < N; i++) {
        narrow[i].name = i;
        wide[i].name = i;
        for (int k = 0; k < 3; k++) {
            wide[i].x[k] = k + sin(i * 0.37 + k);
            narrow[i].x[k] = (float)wide[i].x[k];
        }
    }
    expect_none("int and 3 floats", narrow, sizeof narrow);
    expect_none("int64 and 3 doubles", wide, sizeof wide);
}

/* In one call, as PnetCDF makes one of many: a few integers before doubles, in both byte orders;
 * and doubles behind an odd number of integers, whose lower halves are zero. */
enum { HEAD = 1000, ALL = HEAD + 2 * N };

static void expect_mixed(const char *what, int head, int32_t first, double (*value)(int))
{
    static int32_t mixed[ALL], swapped[ALL];
    for (int i = 0; i < head; i++)
        mixed[i] = first + i;
    for (int i = 0; i < N; i++) {
        const double x = value(i);
        memcpy(mixed + head + 2 * i, &x, sizeof x);
    }
    const size_t bytes = (size_t)(head + 2 * N) / 2 * 8;
    cr_assert_eq(zmpi_raw_type(mixed, bytes), ZMPI_BYTES, "%s", what);
    for (int i = 0; i < head; i++)
        swapped[i] = (int32_t)__builtin_bswap32((uint32_t)mixed[i]);
    for (int i = 0; i < N; i++) {
        uint64_t word;
        memcpy(&word, mixed + head + 2 * i, sizeof word);
        word = __builtin_bswap64(word);
        memcpy(swapped + head + 2 * i, &word, sizeof word);
    }
    cr_assert_eq(zmpi_raw_type_swapped(swapped, bytes), ZMPI_BYTES, "%s swapped", what);
}

static double wave(int i)
{
    return 300 + 20 * sin(0.003 * i);
}

static double constant(int i)
{
    return 1 + i / 4096;
}

Test(raw_bytes, mixed)
{
    expect_mixed("counts and waves", HEAD, 0, wave);
    expect_mixed("two counts and waves", 2, 1, wave);
    expect_mixed("names from 10^7 on and waves", HEAD, 10000000, wave);
    expect_mixed("counts and constants", HEAD, 1, constant);
    expect_mixed("counts and constants, cut", HEAD - 1, 1, constant);
    expect_mixed("constants, cut", 1, 0, constant);
}

/* What fades by itself has small numbers of all sizes. */
Test(raw_bytes, fading)
{
    static double x[N];
    static float narrow[N];
    for (int i = 0; i < N; i++) {
        x[i] = (2 + sin(0.01 * i)) * exp(-0.02 * i);
        narrow[i] = (float)((2 + sin(0.01 * i)) * exp(-0.002 * i));
    }
    cr_assert_eq(zmpi_raw_type(x, sizeof x), ZMPI_F64);
    cr_assert_eq(zmpi_raw_type(narrow, sizeof narrow), ZMPI_F32);
}

Test(raw_bytes, edges)
{
    static double x[ZMPI_RAW_LEAST];
    for (int i = 0; i < ZMPI_RAW_LEAST; i++)
        x[i] = 1 + sin(i * 0.01);
    cr_assert_eq(zmpi_raw_type(x, sizeof x), ZMPI_F64);
    cr_assert(zmpi_raw_is(ZMPI_F64, x, sizeof x) && !zmpi_raw_is(ZMPI_F32, x, sizeof x));
    cr_assert_eq(zmpi_raw_type(x, sizeof x - 8), ZMPI_BYTES);
    cr_assert_not(zmpi_raw_is(ZMPI_F64, x, sizeof x - 1));
    cr_assert_eq(zmpi_raw_type(x, 0), ZMPI_BYTES);
}
