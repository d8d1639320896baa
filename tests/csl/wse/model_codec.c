/*
 * model_codec.c - the arithmetic of csl/kernels, in its C model: the same bytes as the CPU for all
 * kinds of data and bounds, and decoded the same, whatever the residuals.
 */
#include "check.h"

#include "bound/ratio.h"
#include "model.h"

static void all_kinds(const struct zmpi_array *a, struct zmpi_bound bound, uint64_t seed,
                      struct wse_count count[2])
{
    struct chip *chip = wse_model_new(3, 2);
    struct kit_random r = {seed};
    for (int kind = 0; kind < KIT_DATA_KINDS; kind++) {
        float *data = kit_make(&r, a, (enum kit_data)kind);
        check_bytes(chip, chip, a, bound, data, count);
        const unsigned axes = ZMPI_AXES_GIVEN | (unsigned)kit_below(&r, 8);
        check_along(chip, chip, a, bound, axes, data, count);
        free(data);
    }
    wse_model_free(chip);
}

static const double bounds[] = {1e-7, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 100};

Test(wse_model, bounds)
{
    struct wse_count count[2] = {{0, 0}, {0, 0}};
    for (size_t i = 0; i < KIT_COUNT(bounds); i++) {
        struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, 20000), b = kit_array(ZMPI_F32, 30, 31, 32);
        all_kinds(&a, kit_abs(bounds[i]), i, count);
        all_kinds(&b, kit_rel(bounds[i] < 1 ? bounds[i] : 1e-6), 100 + i, count);
    }
    for (int i = 0; i < 2; i++) /* PEs do most of it: the test is about them */
        cr_assert_gt(count[i].chip, count[i].host);
}

Test(wse_model, lengths)
{
    struct wse_count count[2] = {{0, 0}, {0, 0}};
    static const size_t lengths[] = {0,   1,   2,   31,  32,  33,   63,   64,   65,   127,  128,
                                     129, 191, 192, 255, 257, 1000, 4097, 8191, 8192, 8193, 16385};
    for (size_t i = 0; i < KIT_COUNT(lengths); i++) {
        struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, lengths[i]);
        all_kinds(&a, kit_abs(0.01), i, count);
        all_kinds(&a, kit_rel(1e-5), i, count);
    }
}

Test(wse_model, shapes)
{
    struct wse_count count[2] = {{0, 0}, {0, 0}};
    static const size_t shape[][3] = {{1, 3, 5},    {1, 300, 300}, {2, 2, 2},  {7, 1, 9},
                                      {40, 40, 40}, {3, 257, 65},  {100, 2, 3}};
    for (size_t i = 0; i < KIT_COUNT(shape); i++) {
        struct zmpi_array a = kit_array(ZMPI_F32, shape[i][0], shape[i][1], shape[i][2]);
        all_kinds(&a, kit_abs(0.001), i, count);
        all_kinds(&a, kit_rel(1e-4), i, count);
    }
}

/* Values near decisions: half steps, the limits of levels, zeros of either sign. */
Test(wse_model, edges)
{
    struct chip *chip = wse_model_new(2, 1);
    struct wse_count count[2] = {{0, 0}, {0, 0}};
    struct kit_random r = {5};
    struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, 8192 * 3);
    float *data = malloc(kit_bytes(&a));
    for (int round = 0; round < 40; round++) {
        struct zmpi_bound bound = kit_abs(ldexp(1 + kit_unit(&r) / 2, (int)kit_below(&r, 40) - 20));
        struct zmpi_chunk_rule *rule = malloc(sizeof *rule);
        zmpi_chunk_rule_make(rule, ZMPI_F32, zmpi_bound_round(ZMPI_F32, bound.value), 1e20);
        const struct zmpi_step *l = &rule->level[round % rule->levels];
        const bool wide = round % 3 == 0;
        for (size_t i = 0; i < kit_elements(&a); i++) {
            double k = (double)kit_below(&r, wide ? 1U << 21 : 1000) + (kit_below(&r, 2) ? 0.5 : 0);
            float x = (float)(k * l->step);
            for (size_t n = kit_below(&r, 3); n > 0; n--)
                x = nextafterf(x, kit_below(&r, 2) ? INFINITY : 0);
            if (kit_below(&r, 50) == 0)
                x = kit_below(&r, 2) ? (float)l->limit : nextafterf((float)l->limit, INFINITY);
            if (kit_below(&r, 200) == 0)
                x = 0;
            data[i] = kit_below(&r, 2) ? x : -x;
        }
        check_bytes(chip, chip, &a, bound, data, count);
        free(rule);
    }
    free(data);
    wse_model_free(chip);
}

/* A stream of one chunk with any residuals. The host must decode what wraps around or is not exact
 * in a float. */
Test(wse_model, any_residuals)
{
    struct chip *chip = wse_model_new(1, 1);
    struct wse_count count = {0, 0};
    struct kit_random r = {6};
    struct zmpi_array a = kit_array(ZMPI_F32, 8, 32, 32);
    for (int round = 0; round < 300; round++) {
        const unsigned length = 1 + (unsigned)kit_below(&r, 23);
        struct kit_stream s = check_residuals(&r, &a, length, (unsigned)kit_below(&r, 8));
        check_back(chip, &a, &s, "residuals", &count);
        free(s.data);
    }
    cr_assert_gt(count.chip, 50);
    cr_assert_gt(count.host, 50);
    wse_model_free(chip);
}

/* A chip on which the n-th call fails. */
static int calls_left;
static struct chip *failing_model;

static bool fail_to(struct chip *chip, const char *name, const uint32_t *src, unsigned columns,
                    unsigned elements)
{
    (void)chip;
    return calls_left-- > 0 && failing_model->to(failing_model, name, src, columns, elements);
}

static bool fail_from(struct chip *chip, const char *name, uint32_t *dst, unsigned elements)
{
    (void)chip;
    return calls_left-- > 0 && failing_model->from(failing_model, name, dst, elements);
}

static bool fail_launch(struct chip *chip, const char *function)
{
    (void)chip;
    return calls_left-- > 0 && failing_model->launch(failing_model, function);
}

Test(wse_model, failures)
{
    struct chip failing = {
        .width = 1, .height = 1, .to = fail_to, .from = fail_from, .launch = fail_launch};
    struct kit_random r = {7};
    struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, 10000);
    struct zmpi_bound bound = kit_abs(0.01);
    struct zmpi_job job;
    struct zmpi_stream s;
    struct wse_count count = {0, 0};
    float *data = kit_make(&r, &a, KIT_SPIKES);
    unsigned char *coded = malloc(zmpi_compress_capacity(&a));
    size_t size;
    failing_model = wse_model_new(1, 1);
    cr_assert_eq(zmpi_job_make(&a, &bound, NULL, &job), ZMPI_OK);
    for (int calls = 0;;
         calls++) { /* until none fails: two chunks of eight calls, with exceptions */
        calls_left = calls;
        enum zmpi_status status =
            wse_compress(&failing, &job, coded, zmpi_compress_capacity(&a), data, &size, &count);
        cr_assert_eq(status, calls < 16 ? ZMPI_ERR_DEVICE : ZMPI_OK);
        if (!status)
            break;
    }
    cr_assert_eq(zmpi_stream_parse(&s, coded, size), ZMPI_OK);
    for (int calls = 0;; calls++) {
        calls_left = calls;
        enum zmpi_status status = wse_decompress(&failing, &s, NULL, data, &count);
        cr_assert_eq(status, calls < 16 ? ZMPI_ERR_DEVICE : ZMPI_OK);
        if (!status)
            break;
    }
    /* No room, by a byte. */
    calls_left = 1000;
    cr_assert_eq(wse_compress(&failing, &job, coded, size - 1, data, &size, &count),
                 ZMPI_ERR_SPACE);
    free(data);
    free(coded);
    wse_model_free(failing_model);
}

/* Parts of a stream: chunks that are not needed stay untouched, and a chunk with a wrong checksum
 * is refused. */
Test(wse_model, parts)
{
    struct chip *chip = wse_model_new(2, 1);
    struct kit_random r = {8};
    struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, 5 * 8192);
    struct wse_count count = {0, 0};
    struct zmpi_stream s;
    float *data = kit_make(&r, &a, KIT_PATCHES), *back = calloc(1, kit_bytes(&a));
    struct kit_stream coded = kit_compress(&a, kit_abs(0.01), data);
    float *right = kit_decompress(&coded);
    const unsigned char need[5] = {0, 1, 1, 0, 1};
    cr_assert_eq(zmpi_stream_parse(&s, coded.data, coded.size), ZMPI_OK);
    cr_assert_eq(s.info.chunks, 5);
    cr_assert_eq(wse_decompress(chip, &s, need, back, &count), ZMPI_OK);
    for (size_t i = 0; i < 5 * 8192; i++)
        if (!need[i / 8192])
            right[i] = 0;
    cr_assert(memcmp(back, right, kit_bytes(&a)) == 0);
    coded.data[coded.size - 1] ^= 1;
    cr_assert_eq(wse_decompress(chip, &s, need, back, &count), ZMPI_ERR_CHECKSUM);
    free(coded.data);
    free(right);
    free(data);
    free(back);
    wse_model_free(chip);
}
