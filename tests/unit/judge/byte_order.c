/* byte_order.c - floats in the other byte order are told by their exponents, and integers from
 * floats (codec/judge/byte_order.h).
 */
#include "judge/byte_order.h"
#include "kit.h"

enum { N = 1000 };

static double data[N];

/* The data, as f32 or f64, as they are or turned around. */
static bool is_other(enum zmpi_type type, size_t count, bool swapped)
{
    struct zmpi_order order = {0};
    unsigned char bytes[sizeof data];
    const size_t width = zmpi_type_size(type);
    for (size_t i = 0; i < count; i++) {
        const float narrow = (float)data[i];
        const unsigned char *value = (const unsigned char *)&narrow;
        if (type == ZMPI_F64)
            value = (const unsigned char *)&data[i];
        for (size_t k = 0; k < width; k++)
            bytes[i * width + k] = value[swapped ? width - 1 - k : k];
    }
    zmpi_order_look(&order, type, bytes, count);
    return zmpi_order_is_other(&order);
}

static void expect(const char *what, size_t count, bool recognized)
{
    for (int i = 0; i < 2; i++) {
        const enum zmpi_type type = i ? ZMPI_F64 : ZMPI_F32;
        cr_assert_not(is_other(type, count, false), "%s, f%d", what, i ? 64 : 32);
        cr_assert_eq(is_other(type, count, true), recognized, "%s, f%d, turned", what, i ? 64 : 32);
    }
}

Test(byte_order, recognized)
{
    struct kit_random random = {1};
    for (int i = 0; i < N; i++)
        data[i] = i;
    expect("whole numbers", N, true);
    for (int i = 0; i < N; i++)
        data[i] = sin(i * 0.01) + 2;
    expect("a wave", N, true);
    for (int i = 0; i < N; i++)
        data[i] = ldexp((double)kit_below(&random, 1 << 20), (int)kit_below(&random, 40) - 40);
    expect("many sizes", N, true);
    for (int i = 0; i < N; i++)
        data[i] = i / 100 % 2 ? 1e35F : sqrt(i);
    expect("marks for missing data", N, true);
    for (int i = 0; i < N; i++)
        data[i] = i % 3 ? NAN : 273.15 + i;
    expect("NaN", N, true);
    for (int i = 0; i < N; i++)
        data[i] = i == 700 || i == 702 ? 1 : 0;
    expect("hardly any", N, true);
    data[0] = 1.5;
    expect("one value", 1, true);
}

/* What no order can be seen in stays as it is. */
Test(byte_order, not_recognized)
{
    struct kit_random random = {2};
    memset(data, 0, sizeof data);
    expect("zeros", N, false);
    expect("nothing", 0, false);
    data[0] = 0.1;
    expect("one value", 1, false);
    for (int i = 0; i < N; i++) {
        const uint64_t word = kit_next(&random);
        memcpy(&data[i], &word, sizeof word);
    }
    cr_assert_not(is_other(ZMPI_F64, N, false), "noise");
    for (int i = 0; i < N; i++) /* a tail that fades below the normal numbers of f32 */
        data[i] = sin(i) * exp(-i * 0.1);
    cr_assert_not(is_other(ZMPI_F32, N, false), "a tail");
    for (int i = 0; i < N; i++) /* where a wave has just come */
        data[i] = i % 8 < 5 ? 0 : ldexp(i % 8 - 4, -149);
    cr_assert_not(is_other(ZMPI_F32, N, false), "the edge of a wave");
}

/* One number alone is a verdict for the array, but not for all that is in its file. */
Test(byte_order, sure)
{
    static const uint32_t mass = 0x71C8C8BF, one = 0x803F, others[2] = {0xCDCC8C3F, 0x9A99993F};
    uint32_t words[3][N];
    for (int i = 0; i < N; i++) {
        words[0][i] = mass; /* of the sun, in kg */
        words[1][i] = one;  /* turned around, as 1.1 and 1.2 */
        words[2][i] = others[i % 2];
    }
    for (int k = 0; k < 3; k++) {
        struct zmpi_order order = {0};
        zmpi_order_look(&order, ZMPI_F32, words[k], N);
        cr_assert(zmpi_order_is_other(&order), "%d", k);
        cr_assert_eq(zmpi_order_is_sure(&order), k > 0, "%d", k);
    }
}

/* A few values at a time tell it together; bytes and integers never do. */
Test(byte_order, together)
{
    struct zmpi_order order = {0};
    for (int i = 0; i < ZMPI_ORDER_ENOUGH && !zmpi_order_is_other(&order); i++) {
        double x = 0.1 * i + 0.3, swapped;
        for (size_t k = 0; k < sizeof x; k++)
            ((unsigned char *)&swapped)[k] = ((unsigned char *)&x)[sizeof x - 1 - k];
        zmpi_order_look(&order, ZMPI_F64, &swapped, 1);
    }
    cr_assert(zmpi_order_is_other(&order));
    order = (struct zmpi_order){0};
    zmpi_order_look(&order, ZMPI_BYTES, data, sizeof data);
    zmpi_order_look(&order, ZMPI_I32, data, 2 * N);
    cr_assert_eq(order.values, 0);
}

static bool has_integers(enum zmpi_type type, const void *src, size_t count)
{
    struct zmpi_order order = {0};
    zmpi_order_look(&order, type, src, count);
    return zmpi_order_has_integers(&order);
}

Test(byte_order, integers)
{
    int32_t narrow[N];
    int64_t wide[N];
    for (int i = 0; i < N; i++) {
        narrow[i] = i * 100;
        wide[i] = ((int64_t)i << 36) + i;
    }
    cr_assert(has_integers(ZMPI_F32, narrow, N));
    cr_assert(has_integers(ZMPI_F64, narrow, N / 2), "pairs");
    cr_assert(has_integers(ZMPI_F64, wide, N), "pointers");
    for (int i = 0; i < N; i++) {
        wide[i] = i / 4;
        data[i] = sin(i * 0.01) + 2;
        if (i % 4 == 3)
            memcpy(&data[i], &wide[i], sizeof wide[i]);
    }
    cr_assert(has_integers(ZMPI_F64, data, N), "particles");
}

Test(byte_order, no_integers)
{
    float narrow[N];
    for (int i = 0; i < N; i++) {
        data[i] = exp(-i);
        narrow[i] = (float)data[i];
    }
    cr_assert_not(has_integers(ZMPI_F64, data, N), "a tail");
    cr_assert_not(has_integers(ZMPI_F64, data + 700, N - 700), "its end");
    cr_assert_not(has_integers(ZMPI_F32, narrow, N), "a tail, f32");
    for (int i = 0; i < N; i++)
        narrow[i] = (float)(i % 8 < 5 ? 0 : ldexp(i % 8 - 6.5, -149 + i % 5));
    cr_assert_not(has_integers(ZMPI_F32, narrow, N), "the edge of a wave");
    for (int i = 0; i < N; i++)
        data[i] = i % 7 == 0 ? 1e-312 : i;
    cr_assert_not(has_integers(ZMPI_F64, data, N), "what is left of something");
}

/* Wherever in a particle, and though all parts that are looked at may begin at the same place of
 * one. */
Test(byte_order, integers_in_particles)
{
    enum { PARTICLES = 1024, MOST = 16 };
    static double packed[PARTICLES * MOST];
    for (int size = 2; size <= MOST; size++)
        for (int place = 0; place < size; place++) {
            for (int64_t i = 0; i < PARTICLES * size; i++) {
                packed[i] = sin((double)i * 0.01) + 2;
                if (i % size == place)
                    memcpy(&packed[i], &(int64_t){i + 1}, sizeof packed[i]);
            }
            cr_assert(has_integers(ZMPI_F64, packed, (size_t)(PARTICLES * size)), "%d of %d", place,
                      size);
        }
}

/* Each of the parts that are looked at begins with the row's zeros and denormals. */
Test(byte_order, wave_in_rows)
{
    enum { ROW = 512, ROWS = 128 };
    static double wave[ROW * ROWS];
    static float narrow[ROW * ROWS];
    for (int i = 0; i < ROW * ROWS; i++) {
        const double x = (i % ROW) / (double)ROW - 0.5;
        wave[i] = exp(-x * x * 4000);
        narrow[i] = (float)wave[i];
    }
    cr_assert_not(has_integers(ZMPI_F64, wave, ROW * ROWS));
    cr_assert_not(has_integers(ZMPI_F32, narrow, ROW * ROWS), "f32");
}

/* A number, zeros, and rows that begin with denormals: these are not beside that. */
Test(byte_order, wave_after_numbers)
{
    static double wave[64 * 100];
    for (int i = 0; i < 64 * 100; i++)
        wave[i] = i < 50 ? sin(i) : i % 100 < 50 ? 0 : ldexp(1, (i % 100 - 50) * 8 - 1074);
    cr_assert_not(has_integers(ZMPI_F64, wave, 64 * 100));
}
