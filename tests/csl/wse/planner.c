/* planner.c - Algorithm 1 of CereSZ, its sample of lengths, and the shape of its formulas. */
#include "../../unit/kit.h"

#include "device.h"
#include "layout/stream.h"
#include "planner.h"

/* Every stage is somewhere, in order, and no PE takes a stage more than Algorithm 1 gives it. */
static void check_distribution(bool back)
{
    double cycles[STAGES_MOST], sum;
    for (unsigned length = 0; length <= 23; length++) {
        size_t stages = back ? stages_back_of(&stages_back_simulated, length, cycles, &sum)
                             : stages_of(&stages_published, length, cycles, &sum);
        size_t first[STAGES_MOST + 1];
        for (size_t pes = 1; pes <= stages; pes++) {
            double slowest = stages_distribute(cycles, stages, pes, first), group = 0;
            cr_assert_eq(first[0], 0);
            cr_assert_eq(first[pes], stages);
            for (size_t i = 0; i + 1 < pes; i++) {
                cr_assert_leq(first[i], first[i + 1]);
                group = 0;
                for (size_t k = first[i]; k + 1 < first[i + 1]; k++)
                    group += cycles[k];
                cr_assert_lt(group, sum / (double)pes); /* it was right to take the last */
            }
            cr_assert_geq(slowest, sum / (double)pes * (1 - 1e-12));
            /* it cannot be divided */
            cr_assert_geq(slowest, cycles[back ? length + BACK_MULTIPLY - 1 : STAGE_MULTIPLY]);
        }
    }
}

Test(wse_planner, distribution)
{
    check_distribution(false);
    check_distribution(true);
}

/* Three PEs for CESM-ATM (17 bits), by hand: 44124 cycles, 14708 for each. */
Test(wse_planner, example)
{
    double cycles[STAGES_MOST], sum;
    size_t first[4], stages = stages_of(&stages_published, 17, cycles, &sum);
    cr_assert_eq(stages, 23);
    cr_assert_float_eq(sum, 44142, 0.5);
    double slowest = stages_distribute(cycles, stages, 3, first);
    cr_assert_eq(first[1], 9); /* 10550 of all else, and 3 bits: 16478 */
    cr_assert_eq(first[2], 17);
    cr_assert_float_eq(slowest, 16478, 0.5);
}

/* The same of a stream, by its length bytes. */
static unsigned sample_coded(const struct zmpi_array *a, struct zmpi_bound bound, const float *x)
{
    struct kit_stream coded = kit_compress(a, bound, x);
    struct zmpi_stream s;
    cr_assert_eq(zmpi_stream_parse(&s, coded.data, coded.size), ZMPI_OK);
    unsigned length = stages_sample_stream(&s);
    free(coded.data);
    return length;
}

/* Blocks whose length is known. */
Test(wse_planner, sample)
{
    struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, 64000);
    struct zmpi_bound bound = kit_abs(0.5);
    struct zmpi_job job;
    float *x = malloc(kit_bytes(&a));
    cr_assert_eq(zmpi_job_make(&a, &bound, NULL, &job), ZMPI_OK);
    for (unsigned length = 1; length < 14; length++) {
        for (size_t i = 0; i < 64000; i++) /* differences of 0.7 times 2^length steps */
            x[i] = i % 2 ? 0.7F * (float)(1U << length) : 0;
        cr_assert_eq(stages_sample_length(&job, x), length, "%u: %u", length,
                     stages_sample_length(&job, x));
        cr_assert_eq(sample_coded(&a, bound, x), length);
    }
    memset(x, 0, kit_bytes(&a));
    cr_assert_eq(stages_sample_length(&job, x), 0);
    cr_assert_eq(sample_coded(&a, bound, x), 0);
    free(x);
}

/* CereSZ 4.4: twice the rows are twice as fast, and a pipeline of one PE is the fastest. */
static void check_rows(const double *cycles, size_t stages)
{
    double before = 1e300;
    size_t first[STAGES_MOST + 1];
    for (size_t pipeline = 1; pipeline <= 4; pipeline++) {
        struct row_model m = {512, pipeline, stages_distribute(cycles, stages, pipeline, first), 33,
                              60};
        double rate = row_rate(&m, 512);
        cr_assert_lt(rate, before);
        cr_assert_float_eq(row_rate(&m, 256), rate / 2, 1e-6 * rate);
        before = rate;
    }
}

Test(wse_planner, rows)
{
    double cycles[STAGES_MOST], sum;
    check_rows(cycles, stages_of(&stages_published, 13, cycles, &sum));
    check_rows(cycles, stages_back_of(&stages_back_simulated, 13, cycles, &sum));
}
