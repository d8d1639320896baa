/* bench_stages.c - how long a block takes in one PE, beside CereSZ's tables 1 to 3. */
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "costs.h"
#include "planner.h"

/* The commands of csl/kernels/profile.csl, those of coding first. */
static const struct {
    const char *command, *name;
    bool plane; /* its argument is a plane's number */
    bool factor;
} stage[] = {{"multiply", "Multiplication", false, true},
             {"add", "Addition", false, false},
             {"lorenzo", "Lorenzo", false, false},
             {"sign", "Sign", false, false},
             {"max", "Max", false, false},
             {"get_length", "GetLength", false, false},
             {"shuffle", "1-bit shuffle", true, false},
             {"clear", "", false, false},
             {"unshuffle", "1-bit unshuffle", true, false},
             {"unsign", "Sign", false, false},
             {"prefix_sum", "Prefix sum", false, false},
             {"unquantize", "Multiplication", false, true}};
enum { CODING = STAGE_SHUFFLE + 1, CLEAR = CODING, STAGES = sizeof stage / sizeof *stage };

static uint32_t float_bits(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

/* Cycles of a PE in one launch. */
static uint64_t timed(struct chip_sim *c, const char *function, uint32_t argument, size_t count)
{
    const struct csl_arg arg = {argument};
    struct csl_counters n;
    csl_reset_counters(c->sim);
    if (csl_launch(c->sim, function, &arg, count))
        bench_stop(function, csl_error(c->sim));
    csl_total_counters(c->sim, &n);
    return n.cycles;
}

/* Cycles of each sub-stage for a block of 17 bits, as CESM-ATM has them; the shuffle is that of
 * plane 3. */
static void measure(const struct csl_costs *costs, double cycles[STAGES])
{
    struct chip_sim c =
        bench_open("profile", 1, 1, (struct chip_sim_options){.seed = 1, .costs = costs});
    uint32_t block[60] = {0};
    for (int i = 1; i <= 32; i++)
        block[i] = float_bits((i % 2 ? -0.4F : 0.4F) * 0x1p17F * (float)(i % 5 + 1) / 5);
    if (!c.chip.to(&c.chip, "block", block, 1, 60))
        bench_stop("profile", c.chip.problem);
    const double none = (double)timed(&c, "nothing", 0, 0);
    for (int i = 0; i < STAGES; i++)
        cycles[i] = (double)timed(&c, stage[i].command, stage[i].plane ? 3 : float_bits(1),
                                  stage[i].plane || stage[i].factor) -
                    none;
    chip_sim_close(&c);
}

/* The number of operations of each class for a block: the cycles if operations of this class take
 * one cycle and all others none. */
void bench_counts(void)
{
#define X(name, estimated, fitted, bytes) #name,
    static const char *const class[] = {CSL_SCALAR_COSTS(X)};
#undef X
    printf("class");
    for (int i = 0; i < STAGES; i++)
        printf(" %s", stage[i].command);
    printf("\n");
    for (int k = 0; k < COST_NONE; k++) {
        struct csl_costs one = {{0}};
        double count[STAGES];
        one.cycles[k] = 1;
        measure(&one, count);
        printf("%s", class[k]);
        for (int i = 0; i < STAGES; i++)
            printf(" %.0f", count[i]);
        printf("\n");
    }
}

static double error(double ours, double theirs)
{
    return 100 * (ours / theirs - 1);
}

/* Cycles of one PE that does everything for a block. */
static double whole(unsigned bits, bool decode)
{
    const struct chip_sim_options how = {
        .seed = 1, .pipeline = 1, .scalar = true, .decode = decode, .costs = &csl_costs_fitted};
    return bench_row(1, 1, bits, how).each;
}

/* Table 1 again: its three steps on the first three PEs, by the kernels that code streams. */
static void steps(void)
{
    static const char *const step[] = {"pre-quantization", "prediction", "encoding"};
    printf("\n| data set (bits) | step | CereSZ, cycles | simulated, cycles | error |\n"
           "| --- | --- | --- | --- | --- |\n");
    for (int i = 0; i < PUBLISHED_SETS; i++) {
        const struct published_set *set = &published_sets[i];
        const struct chip_sim_options how = {.seed = 1,
                                             .pipeline = 3,
                                             .groups = STAGE_LORENZO << 5 | STAGE_SIGN << 10,
                                             .costs = &csl_costs_fitted};
        const struct row_run run = bench_row(3, 1, set->length, how);
        double ours = 0, theirs = 0;
        for (int k = 0; k < 3; k++) {
            printf("| %s (%u) | %s | %.0f | %.0f | %+.1f %% |\n", set->name, set->length, step[k],
                   set->step[k], run.busy[k], error(run.busy[k], set->step[k]));
            ours += run.busy[k];
            theirs += set->step[k];
        }
        printf("| %s (%u) | all, three PEs | %.0f | %.0f | %+.1f %% |\n", set->name, set->length,
               theirs, ours, error(ours, theirs));
        ours = whole(set->length, false);
        printf("| %s (%u) | all, one PE | %.0f | %.0f | %+.1f %% |\n", set->name, set->length,
               theirs, ours, error(ours, theirs));
    }
}

static void rate_line(const char *what, double bits, double cycles, double published, double relay)
{
    const double ours = bench_rate(cycles, relay);
    printf("| %s | %.1f | %.0f | %.1f | %.1f | %.2f | %+.1f %% |\n", what, bits, cycles, relay,
           ours, published, error(ours, published));
}

/* Means at 512 x 512, which were not fitted: for the lengths of table 1, and for the length at
 * which coding is as fast as the paper's. The paper does not say what decoding relays. */
static void rates(void)
{
    double each[2][PUBLISHED_SETS], mean[3] = {0, 0, 0}, bits = 0, cycles = 0;
    for (int i = 0; i < PUBLISHED_SETS; i++) {
        const unsigned length = published_sets[i].length;
        each[0][i] = whole(length, false);
        each[1][i] = whole(length, true);
        mean[0] += bench_rate(each[0][i], RELAY) / PUBLISHED_SETS;
        mean[1] += bench_rate(each[1][i], RELAY) / PUBLISHED_SETS;
        mean[2] += bench_rate(each[1][i], length + 2) / PUBLISHED_SETS;
        bits += (double)length / PUBLISHED_SETS;
        cycles += each[1][i] / PUBLISHED_SETS;
    }
    printf("\n| 512 x 512, extrapolated | bits | cycles, one PE | words relayed | GB/s | CereSZ, "
           "mean | error |\n| --- | --- | --- | --- | --- | --- | --- |\n");
    printf("| coding, 17, 13, 12 bits, mean | %.1f | %.0f | %d | %.1f | %.2f | %+.1f %% |\n", bits,
           (each[0][0] + each[0][1] + each[0][2]) / PUBLISHED_SETS, RELAY, mean[0],
           published_rate[0], error(mean[0], published_rate[0]));
    for (int k = 1; k < 3; k++)
        printf("| decoding, the same | %.1f | %.0f | %s | %.1f | %.2f | %+.1f %% |\n", bits, cycles,
               k == 1 ? "32" : "bits + 2", mean[k], published_rate[1],
               error(mean[k], published_rate[1]));
    /* cycles are linear in the bits */
    const double first = published_sets[2].length, run = published_sets[0].length - first;
    const double pes = (double)ROWS * COLUMNS;
    const double coding = pes * 128 * HERTZ / (published_rate[0] * 1e9) - COLUMNS * RELAY;
    bits = first + run * (coding - each[0][2]) / (each[0][0] - each[0][2]);
    cycles = each[1][2] + (bits - first) / run * (each[1][0] - each[1][2]);
    rate_line("coding, as fast as CereSZ's", bits, coding, published_rate[0], RELAY);
    rate_line("decoding, the same", bits, cycles, published_rate[1], RELAY);
    rate_line("decoding, the same", bits, cycles, published_rate[1], bits + 2);
}

void bench_stages(void)
{
    double estimated[STAGES], fitted[STAGES], sum[3] = {0, 0, 0};
    measure(&csl_costs_estimated, estimated);
    measure(&csl_costs_fitted, fitted);
    printf("| sub-stage (one block, scalar code) | CereSZ, cycles | estimated costs | error | "
           "fitted costs | error |\n| --- | --- | --- | --- | --- | --- |\n");
    for (int i = 0; i < CODING; i++) {
        const double published = stages_published.cycles[i];
        const double each[3] = {published, estimated[i], fitted[i]};
        printf("| %s | %.0f | %.0f | %+.0f %% | %.0f | %+.0f %% |\n", stage[i].name, published,
               estimated[i], error(estimated[i], published), fitted[i],
               error(fitted[i], published));
        for (int k = 0; k < 3; k++)
            sum[k] += each[k] * (i == STAGE_SHUFFLE ? 17 : 1);
    }
    printf("| all, a block of 17 bits | %.0f | %.0f | %+.0f %% | %.0f | %+.1f %% |\n", sum[0],
           sum[1], error(sum[1], sum[0]), sum[2], error(sum[2], sum[0]));
    steps();
    printf("\n| decoding | estimated costs | fitted costs | planned with |\n"
           "| --- | --- | --- | --- |\n");
    for (int i = CLEAR + 1; i < STAGES; i++)
        printf("| %s | %.0f | %.0f | %.0f |\n", stage[i].name, estimated[i], fitted[i],
               stages_back_simulated.cycles[i - CLEAR - 1]);
    rates();
}
