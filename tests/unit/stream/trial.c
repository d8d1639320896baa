/* trial.c - what an array would take, by samples: near what it takes, within the time, all bounds.
 */
#include "kit.h"
#include "stream/trial.h"

enum { NZ = 80, NY = 100, NX = 160, COUNT = NZ * NY * NX, SMALL = 20 * NY * NX, LOSSLESS = 1 };

static float value[COUNT];

static void make_field(void)
{
    struct kit_random random = {3};
    for (size_t i = 0; i < COUNT; i++) {
        const double x = (double)(i % NX), y = (double)(i / NX % NY), z = (double)(i / NX / NY);
        value[i] = (float)(sin(x * 0.05) * cos(y * 0.07) + sin(z * 0.1) +
                           1e-3 * (double)kit_below(&random, 1000) / 1000);
    }
}

static struct zmpi_trial_array planes(size_t n)
{
    return (struct zmpi_trial_array){.array = {ZMPI_F32, {n, NY, NX}},
                                     .data = value,
                                     .bytes = (double)(n * NY * NX * sizeof *value)};
}

static double real_size(const struct zmpi_trial_array *a, int bound, int encoder)
{
    const struct zmpi_bound b = zmpi_trial_bound(bound, a->user);
    const struct zmpi_codec_options o = {.size = sizeof o, .encoder = encoder + 1, .threads = 1};
    const size_t capacity = zmpi_compress_capacity(&a->array);
    unsigned char *out = malloc(capacity);
    size_t size;
    cr_assert_eq(zmpi_compress_with(&o, &a->array, &b, a->range, out, capacity, a->data, &size),
                 ZMPI_OK);
    free(out);
    return (double)size;
}

/* A part of a large array stands for it; a small one is coded whole. */
Test(trial, sizes)
{
    make_field();
    const struct zmpi_bound user = {ZMPI_ABS, 0.02};
    const struct zmpi_range range = {-2, 2, (double)INFINITY};
    for (int whole = 0; whole <= 1; whole++) {
        struct zmpi_trial_array a = planes(whole ? 20 : NZ);
        struct zmpi_trials t = {0};
        struct zmpi_trial_most most = {0};
        a.user = &user;
        a.range = &range;
        zmpi_trials_add(&t, &most, &a, 1e9);
        cr_assert(t.floats == a.bytes && t.whole == 0);
        for (int b = 0; b < ZMPI_TRIAL_BOUNDS; b++)
            for (int e = 0; e < 2; e++) {
                const struct zmpi_trial_sum *s = &t.sum[b][e];
                const double real = real_size(&a, b, e), off = whole ? 1e-9 : 0.1;
                cr_assert(s->raw == a.bytes && fabs(s->coded - real) <= off * real,
                          "bound %d, encoder %d: %g, really %g", b, e, s->coded, real);
            }
        cr_assert(most.bound[ZMPI_TRIAL_USER] > 0 && most.bound[ZMPI_TRIAL_USER] <= 0.02);
        for (int b = LOSSLESS + 1; b < ZMPI_TRIAL_BOUNDS; b++) {
            const double asked = zmpi_trial_bound(b, NULL).value;
            cr_assert(most.share[b] > 0.5 * asked && most.share[b] <= 1.0001 * asked,
                      "bound %d: %g of the range", b, most.share[b]);
        }
    }
}

/* No time: nothing is coded. No bound of the user's: nothing is said of it. */
Test(trial, time)
{
    make_field();
    const struct zmpi_trial_array a = planes(20);
    struct zmpi_trials t = {0};
    struct zmpi_trial_most most = {0};
    zmpi_trials_add(&t, &most, &a, 0);
    for (int b = 0; b < ZMPI_TRIAL_BOUNDS; b++)
        for (int e = 0; e < ZMPI_TRIAL_ENCODERS; e++)
            cr_assert(t.sum[b][e].raw == 0);
    zmpi_trials_add(&t, &most, &a, 1e9);
    cr_assert(t.sum[ZMPI_TRIAL_USER][0].raw == 0 && t.sum[LOSSLESS][0].raw == a.bytes);
    zmpi_trials_add(&t, &most, &a, 1e9);
    cr_assert(t.sum[LOSSLESS][0].raw == 2 * a.bytes);
}

/* What is exact whatever the bound has the size of lossless by all; whole numbers are known. */
Test(trial, exact_and_whole)
{
    for (size_t i = 0; i < SMALL; i++)
        value[i] = (float)(i * 7919 % 1000);
    struct zmpi_trial_array a = planes(20);
    struct zmpi_trials t = {0};
    struct zmpi_trial_most most = {0};
    a.exact = true;
    zmpi_trials_add(&t, &most, &a, 1e9);
    cr_assert(t.whole == a.bytes);
    for (int b = LOSSLESS; b < ZMPI_TRIAL_BOUNDS; b++)
        cr_assert(t.sum[b][0].coded == t.sum[LOSSLESS][0].coded && t.sum[b][0].coded > 0);
    cr_assert(fabs(t.sum[LOSSLESS][0].coded - real_size(&a, LOSSLESS, 0)) < 1);
}
