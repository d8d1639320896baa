/* judgement.c - one answer about a call's data: what is plain, what is not and why, as text too
 * (codec/judge/judgement.h). Real fields in every dress are in element_type.c. */
#include "judge/judgement.h"
#include "kit.h"

enum { N = 40000 };

static double wide[N];
static float narrow[N];

static void make(double offset, double size)
{
    for (int i = 0; i < N; i++) {
        wide[i] = offset + size * sin(0.01 * i);
        narrow[i] = (float)wide[i];
    }
}

static struct zmpi_judgement judge(enum zmpi_type type, const void *data, size_t count)
{
    struct zmpi_judgement j = {0};
    struct zmpi_taken taken;
    zmpi_sample_take(&taken, type, data, count);
    zmpi_judge(&j, &taken, false);
    return j;
}

static void expect(const struct zmpi_judgement *j, enum zmpi_type type, bool wrong,
                   const char *part)
{
    char text[ZMPI_JUDGEMENT_TEXT];
    zmpi_judgement_text(j, type, text);
    cr_assert_eq(j->is_wrong, wrong, "%s", text);
    cr_assert_not_null(strstr(text, part), "%s", text);
}

/* Of any size about 1, with marks for missing data, and zeros. */
Test(judgement, plain)
{
    for (int e = -40; e <= 40; e += 8) {
        make(ldexp(3, e), ldexp(1, e));
        for (int i = 0; i < N; i++) {
            narrow[i] = i % 3 == 1 ? 1e30F : i % 5 == 0 ? 0 : narrow[i];
            wide[i] = i % 3 == 1 ? NAN : i % 5 == 0 ? 0 : wide[i];
        }
        const struct zmpi_judgement j[2] = {judge(ZMPI_F64, wide, N), judge(ZMPI_F32, narrow, N)};
        for (int k = 0; k < 2; k++) {
            expect(&j[k], k ? ZMPI_F32 : ZMPI_F64, false, k ? "clearly f32" : "clearly f64");
            cr_assert(j[k].plain.least == e + 1 && j[k].plain.most <= e + 2, "%d: %d to %d", e,
                      j[k].plain.least, j[k].plain.most);
            cr_assert_gt(j[k].plain.marks, 0U);
        }
    }
}

/* Zeros but in a few clumps, of values of very different sizes. */
static void make_sparse(void)
{
    make(0, 1);
    for (int i = 0; i < N; i++) {
        const double x = i % 1000 < 60 ? ldexp(1 + 0.3 * sin(i), -12 - i % 25) : 0;
        wide[i] = x;
        narrow[i] = (float)x;
    }
}

Test(judgement, mostly_empty)
{
    make_sparse();
    struct zmpi_judgement j = judge(ZMPI_F32, narrow, N);
    expect(&j, ZMPI_F32, false, "clearly f32, 2^-37 to 2^-12");
    j = judge(ZMPI_F64, wide, N);
    expect(&j, ZMPI_F64, false, "clearly f64");
    j = judge(ZMPI_F32, wide, (size_t)2 * N);
    expect(&j, ZMPI_F32, true, "64-bit floats, not f32");
    for (int i = 0; i < N; i++) {
        const int32_t small = i % 1000 < 60 ? i : 0;
        memcpy(&narrow[i], &small, sizeof small);
    }
    j = judge(ZMPI_F32, narrow, N);
    expect(&j, ZMPI_F32, true, "integers");
    memset(narrow, 0, sizeof narrow);
    j = judge(ZMPI_F32, narrow, N);
    expect(&j, ZMPI_F32, false, "as far as samples tell");
}

/* What has nothing to tell, too much, or two kinds of marks is for the judges, who find nothing. */
Test(judgement, not_plain)
{
    memset(wide, 0, sizeof wide);
    struct zmpi_judgement j = judge(ZMPI_F64, wide, N);
    expect(&j, ZMPI_F64, false, "as far as samples tell");
    for (int i = 0; i < N; i++)
        wide[i] = 1e6 * sin(0.3 * i) * exp(-0.03 * i);
    j = judge(ZMPI_F64, wide, N);
    expect(&j, ZMPI_F64, false, "as far as samples tell");
    make(3, 1);
    for (int i = 0; i < N; i += 2)
        narrow[i] = i % 4 ? 1e30F : -1e34F;
    j = judge(ZMPI_F32, narrow, N);
    expect(&j, ZMPI_F32, false, "as far as samples tell");
    make(3, 1);
    j = judge(ZMPI_F32, narrow, 40);
    expect(&j, ZMPI_F32, false, "as far as samples tell");
}

Test(judgement, wrong)
{
    static uint64_t turned[N];
    make(3, 1);
    for (int i = 0; i < N; i++) {
        memcpy(&turned[i], &wide[i], sizeof *turned);
        turned[i] = __builtin_bswap64(turned[i]);
    }
    struct zmpi_judgement j = judge(ZMPI_F64, turned, N);
    cr_assert(j.is_wrong && !j.plain.is);
    j = judge(ZMPI_F32, wide, (size_t)2 * N);
    expect(&j, ZMPI_F32, true, "64-bit floats, not f32");
    j = judge(ZMPI_F64, narrow, N / 2);
    expect(&j, ZMPI_F64, true, "32-bit floats, not f64");
    for (int i = 0; i < N; i++)
        turned[i] = (uint64_t)i;
    j = judge(ZMPI_F64, turned, N);
    expect(&j, ZMPI_F64, true, ""); /* each half by itself, too, looks like something */
    cr_assert(zmpi_order_has_integers(&j.order));
    memset(turned, '7', sizeof turned);
    for (int i = 0; i < N; i++)
        turned[i] += (uint64_t)(i % 3);
    j = judge(ZMPI_F64, turned, N);
    expect(&j, ZMPI_F64, true, "text");
    j = judge(ZMPI_I64, turned, N);
    cr_assert_not(j.is_wrong);
}

/* Doubles of 20 bits, taken for f32: every other word is 0, and the others look like floats. */
Test(judgement, short_doubles)
{
    struct kit_random r = {7};
    for (int i = 0; i < N; i++)
        wide[i] = 1 + (double)kit_below(&r, 1 << 20) / (1 << 20);
    const struct zmpi_judgement j = judge(ZMPI_F32, wide, (size_t)2 * N);
    expect(&j, ZMPI_F32, true, "64-bit floats, not f32");
}

/* Names such as XYZ7: their exponents and mantissas look like those of floats. */
Test(judgement, names)
{
    static unsigned char names[4 * N];
    struct kit_random r = {7};
    for (int i = 0; i < 4 * N; i++)
        names[i] = (unsigned char)(i % 4 == 3 ? '0' + kit_below(&r, 10) : 'A' + kit_below(&r, 26));
    const struct zmpi_judgement j = judge(ZMPI_F32, names, N);
    expect(&j, ZMPI_F32, true, "text");
}

/* A few wrong values of each row that is looked at, as in records: it is not plain then. */
Test(judgement, members_of_records)
{
    for (int size = 2; size <= 16; size++) {
        make(3, 1);
        for (int64_t i = size - 1; i < N; i += size)
            memcpy(&wide[i], &i, sizeof wide[i]);
        const struct zmpi_judgement j = judge(ZMPI_F64, wide, N);
        cr_assert(j.is_wrong && !j.plain.is, "%d", size);
    }
}

/* Integers in a twentieth of an array, wherever that is: the judges are asked. */
Test(judgement, a_part)
{
    for (int part = 0; part < 20; part++) {
        make(3, 1);
        for (int64_t i = part * N / 20; i < (part + 1) * N / 20; i++)
            memcpy(&wide[i], &i, sizeof wide[i]);
        const struct zmpi_judgement j = judge(ZMPI_F64, wide, N);
        cr_assert_not(j.plain.is, "%d", part);
    }
}

/* Few values at a time: together with those before, but where the program says what each is. */
Test(judgement, few)
{
    struct zmpi_judgement j = {0}, apart;
    struct zmpi_taken taken;
    for (int i = 0; i < ZMPI_ORDER_ENOUGH && !j.is_wrong; i++) {
        double x = 0.1 * i + 0.3;
        uint64_t word;
        memcpy(&word, &x, sizeof word);
        word = __builtin_bswap64(word);
        zmpi_sample_take(&taken, ZMPI_F64, &word, 1);
        zmpi_judge(&j, &taken, false);
        apart = j;
        zmpi_judge(&apart, &taken, true);
        cr_assert_eq(apart.order.values, 1U);
    }
    cr_assert(j.is_wrong && j.order.values > 1);
}
