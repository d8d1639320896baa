/*
 * bound.c - error bounds as text, and back.
 */
#include <fenv.h>
#include <float.h>
#include <stdio.h>

#include "../../comma.h"
#include "device.h"
#include "kit.h"
#include "options/options.h"

static enum zmpi_status parse(const char *text, struct zmpi_bound *bound)
{
    *bound = (struct zmpi_bound){(enum zmpi_mode)77, 77};
    return zmpi_bound_parse(text, bound);
}

Test(bound, good)
{
    struct zmpi_bound b;
    cr_assert_eq(parse("abs=1e-3", &b), ZMPI_OK);
    cr_assert(b.mode == ZMPI_ABS && b.value == 1e-3);
    cr_assert_eq(parse("rel=0.01", &b), ZMPI_OK);
    cr_assert(b.mode == ZMPI_REL && b.value == 0.01);
    cr_assert_eq(parse("lossless", &b), ZMPI_OK);
    cr_assert(b.mode == ZMPI_LOSSLESS && b.value == 0);
    cr_assert_eq(parse("abs=1000", &b), ZMPI_OK);
    cr_assert_eq(parse("abs=1.7976931348623157e308", &b), ZMPI_OK);
    cr_assert(b.value == DBL_MAX);
    cr_assert_eq(parse("abs=4.9406564584124654e-324", &b), ZMPI_OK);
    cr_assert(b.value == 0x1p-1074);
    cr_assert_eq(parse("rel=0.9999999", &b), ZMPI_OK);
    cr_assert_eq(parse("psnr=80", &b), ZMPI_OK);
    cr_assert(b.mode == ZMPI_PSNR && b.value == 80);
    cr_assert_eq(parse("psnr=300", &b), ZMPI_OK);
    cr_assert_eq(parse("ratio=10.5", &b), ZMPI_OK);
    cr_assert(b.mode == ZMPI_RATIO && b.value == 10.5);
    cr_assert_eq(parse("pw_rel=1e-3", &b), ZMPI_OK);
    cr_assert(b.mode == ZMPI_PW_REL && b.value == 1e-3);
}

/* The program's rounding is its own again. */
Test(bound, rounding)
{
    struct zmpi_bound b;
    double threshold = 0;
    cr_assert_eq(fesetround(FE_UPWARD), 0);
    const bool good = zmpi_threshold_parse("1e20", &threshold);
    const int behind_threshold = fegetround();
    const enum zmpi_status status = parse("abs=0.1", &b);
    const int behind_bound = fegetround();
    fesetround(FE_TONEAREST);
    cr_assert(good && threshold == 1e20 && behind_threshold == FE_UPWARD);
    cr_assert(status == ZMPI_OK && b.value == 0.1 && behind_bound == FE_UPWARD);
}

/* Of no use, and in no header. */
Test(bound, value_of_lossless)
{
    const struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, 10);
    const struct zmpi_bound b = {ZMPI_LOSSLESS, 3};
    struct zmpi_job job;
    cr_assert_eq(zmpi_job_make(&a, &b, NULL, &job), ZMPI_OK);
    cr_assert(job.bound.value == 0);
}

Test(bound, bad)
{
    static const char *const bad[] = {"",           "abs",        "abs=",       "abs=0",
                                      "abs=-1",     "abs=nan",    "abs=inf",    "abs=1e400",
                                      "rel=1",      "rel=2",      "rel=0",      "rel=-1e-3",
                                      "rel=x",      "rel=1e-3 ",  " rel=1e-3",  "rel= 1e-3",
                                      "REL=1e-3",   "rel=1e-3x",  "lossless=1", "lossless ",
                                      "1e-3",       "abs=0x10",   "abs=1,5",    "psnr=0",
                                      "psnr=-60",   "psnr=300.1", "psnr=inf",   "psnr=60dB",
                                      "ratio=1",    "ratio=0.5",  "ratio=-8",   "ratio=inf",
                                      "ratio=nan",  "ratio=8x",   "pw_rel=0",   "pw_rel=1",
                                      "pw_rel=nan", "pw=1e-3",    "=1",         "abs=1e-400",
                                      "abs=-0",     "rel==1e-3",  "rel",        "abs=1e-3,rel=1e-3",
                                      "abs=+",      "abs=e5",     "abs=.",      "abs=infinity",
                                      "abs=1e",     "lossles"};
    for (size_t i = 0; i < KIT_COUNT(bad); i++) {
        struct zmpi_bound b;
        cr_assert_eq(parse(bad[i], &b), ZMPI_ERR_BOUND, "\"%s\"", bad[i]);
        cr_assert(b.value == 77, "written on error");
    }
}

static void check_text(enum zmpi_mode mode, double value)
{
    struct zmpi_bound b = {mode, value}, back;
    char text[41];
    memset(text, 'x', sizeof text);
    zmpi_bound_format(&b, text);
    cr_assert_eq(text[40], 'x', "more than 40 bytes");
    cr_assert_lt(strnlen(text, 40), 40);
    cr_assert_eq(parse(text, &back), ZMPI_OK, "%s", text);
    cr_assert(back.mode == mode && back.value == value, "%s is not %a", text, value);
}

Test(bound, format_and_parse)
{
    struct kit_random r = {1};
    check_text(ZMPI_LOSSLESS, 0);
    check_text(ZMPI_ABS, DBL_MAX);
    check_text(ZMPI_ABS, 0x1p-1074);
    check_text(ZMPI_ABS, DBL_MIN);
    check_text(ZMPI_REL, nextafter(1, 0));
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = kit_next(&r) >> 1;
        double value;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value) || value == 0)
            continue;
        check_text(ZMPI_ABS, value);
        if (value < 1)
            check_text(i % 2 ? ZMPI_REL : ZMPI_PW_REL, value);
        if (value <= 300)
            check_text(ZMPI_PSNR, value);
    }
}

Test(bound, short_texts)
{
    char text[40];
    struct zmpi_bound b = {ZMPI_REL, 1e-3};
    zmpi_bound_format(&b, text);
    cr_assert(strcmp(text, "rel=0.001") == 0 || strcmp(text, "rel=1e-3") == 0 ||
                  strcmp(text, "rel=1e-03") == 0,
              "%s", text);
    zmpi_bound_format(&(struct zmpi_bound){ZMPI_PSNR, 60}, text);
    cr_assert_str_eq(text, "psnr=60");
}

/* A program that writes 0,5 gets and gives the same texts. */
Test(bound, comma)
{
    struct zmpi_bound b = {ZMPI_ABS, 0.5}, back;
    char text[40];
    if (!comma_set())
        cr_skip_test("no localedef here");
    zmpi_bound_format(&b, text);
    cr_assert_str_eq(text, "abs=0.5");
    cr_assert_eq(parse(text, &back), ZMPI_OK);
    cr_assert_eq(back.value, 0.5);
    cr_assert_eq(parse("abs=0,5", &back), ZMPI_ERR_BOUND);
    snprintf(text, sizeof text, "%.1f", 0.5);
    cr_assert_str_eq(text, "0,5", "the program's locale is as it was");
}
