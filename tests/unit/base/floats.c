/*
 * floats.c - what the program has set for its floating-point arithmetic changes nothing of ours,
 * and ours nothing of it: traps, flags, rounding, denormals.
 */
#define _GNU_SOURCE // feenableexcept
#include <fenv.h>

#include "device.h"
#include "kit.h"
#include "options/options.h"

enum { TRAPS = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW };

static const char *const bounds[] = {"abs=1e-3", "rel=1e-3",    "psnr=60",
                                     "ratio=8",  "pw_rel=1e-3", "lossless"};

/* Values of every kind that arithmetic stumbles over. */
static struct zmpi_array array_of(enum zmpi_type type)
{
    return (struct zmpi_array){type, {3, 100, 250}};
}

static void *make(enum zmpi_type type)
{
    static const double special[] = {NAN, INFINITY, -INFINITY, 1e30, -1e38, 1e-40, -0.0};
    struct zmpi_array a = array_of(type);
    size_t n = kit_elements(&a);
    void *src = malloc(kit_bytes(&a));
    cr_assert_not_null(src);
    for (size_t i = 0; i < n; i++) {
        double x = i % 101 == 7 ? special[i / 101 % 7] : sin(1e-3 * (double)i);
        if (type == ZMPI_F32)
            ((float *)src)[i] = (float)x;
        else
            ((double *)src)[i] = x;
    }
    return src;
}

static struct kit_stream compress(const struct zmpi_array *a, const char *text, const void *src)
{
    struct zmpi_bound bound;
    size_t capacity = zmpi_compress_capacity(a);
    struct kit_stream s = {malloc(capacity), 0};
    cr_assert_not_null(s.data);
    cr_assert_eq(zmpi_bound_parse(text, &bound), ZMPI_OK);
    cr_assert_eq(zmpi_compress(a, &bound, NULL, s.data, capacity, src, &s.size), ZMPI_OK);
    return s;
}

/* Numbers as text are the same, too; what is too large for a number is refused, not a trap. */
static void same_text(void (*set)(void))
{
    static const char *const texts[] = {"abs=0.001", "rel=0.0123", "abs=60", "ratio=7.3"};
    double threshold;
    for (size_t i = 0; i < KIT_COUNT(texts); i++) {
        struct zmpi_bound bound, again;
        char text[40];
        cr_assert_eq(zmpi_bound_parse(texts[i], &bound), ZMPI_OK);
        set();
        enum zmpi_status status = zmpi_bound_parse(texts[i], &again);
        zmpi_bound_format(&bound, text);
        bool large = zmpi_threshold_parse("1e999", &threshold);
        cr_assert_eq(fesetenv(FE_DFL_ENV), 0);
        cr_assert(!large && status == ZMPI_OK);
        cr_assert_float_eq(again.value, bound.value, 0);
        cr_assert_str_eq(text, texts[i]);
    }
}

/* The same stream and the same values as in the settings of a new program. */
static void same_under(void (*set)(void), enum zmpi_type type, const char *bound)
{
    struct zmpi_array a = array_of(type);
    void *src = make(type);
    struct kit_stream one = compress(&a, bound, src);
    void *back = kit_decompress(&one);

    set();
    struct kit_stream two = compress(&a, bound, src);
    void *again = kit_decompress(&two);
    enum zmpi_status verified = zmpi_stream_verify(two.data, two.size, NULL);
    cr_assert_eq(fesetenv(FE_DFL_ENV), 0);

    cr_assert_eq(verified, ZMPI_OK);
    cr_assert_eq(one.size, two.size, "%s", bound);
    cr_assert_arr_eq(one.data, two.data, one.size, "%s", bound);
    cr_assert_arr_eq(back, again, kit_bytes(&a), "%s", bound);
    free(src);
    free(one.data);
    free(two.data);
    free(back);
    free(again);
}

static void same_for_all(void (*set)(void))
{
    for (size_t i = 0; i < KIT_COUNT(bounds); i++) {
        same_under(set, ZMPI_F32, bounds[i]);
        same_under(set, ZMPI_F64, bounds[i]);
    }
}

static void round_up(void)
{
    cr_assert_eq(fesetround(FE_UPWARD), 0);
}

static void round_to_zero(void)
{
    cr_assert_eq(fesetround(FE_TOWARDZERO), 0);
}

Test(floats, other_rounding)
{
    same_for_all(round_up);
    same_for_all(round_to_zero);
    same_text(round_up);
    same_text(round_to_zero);
}

static void trap(void)
{
    feclearexcept(FE_ALL_EXCEPT);
    feenableexcept(TRAPS);
}

Test(floats, traps)
{
    trap();
    if (fegetexcept() != TRAPS)
        cr_skip_test("this machine has no traps");
    feclearexcept(FE_ALL_EXCEPT);
    fedisableexcept(FE_ALL_EXCEPT);
    same_for_all(trap);
    same_text(trap);
}

#ifdef __x86_64__
static void flush(void)
{
    __builtin_ia32_ldmxcsr(0x1F80 | 0x8040);
}

Test(floats, denormals_flushed)
{
    same_for_all(flush);
}
#endif

/* Flags are the program's, and so are its settings afterwards; with helpers too. */
Test(floats, program_keeps_its_own)
{
    struct zmpi_array a = array_of(ZMPI_F32);
    void *src = make(ZMPI_F32);
    struct zmpi_range range;
    fesetround(FE_DOWNWARD);
    feclearexcept(FE_ALL_EXCEPT);
    feraiseexcept(FE_UNDERFLOW);
    zmpi_range_of(ZMPI_F32, src, kit_elements(&a), &range);
    struct kit_stream s = compress(&a, "rel=1e-3", src);
    void *out = malloc(kit_bytes(&a));
    cr_assert_eq(zmpi_device_cpu()->decompress(out, kit_bytes(&a), s.data, s.size, NULL, 2),
                 ZMPI_OK);
    cr_assert_eq(fetestexcept(FE_INVALID | FE_OVERFLOW | FE_DIVBYZERO | FE_UNDERFLOW),
                 FE_UNDERFLOW);
    cr_assert_eq(fegetround(), FE_DOWNWARD);
    fesetenv(FE_DFL_ENV);
    free(src);
    free(out);
    free(s.data);
}
