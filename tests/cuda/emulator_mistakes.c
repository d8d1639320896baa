/* emulator_mistakes.c - what the emulator must report of wrong kernels: kernel, block, thread and
 * line. The same kernel without its mistake must pass. */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "launch.h"
#include "mistakes.h"

enum { THREADS = 128 };

static uint64_t words[8 * THREADS];
static uint32_t flag[2];

#define TRY_WITH(threads, config, kernel, blocks, mistake)                                         \
    (memset(words, 0, sizeof words), memset(flag, 0, sizeof flag),                                 \
     RUN(config, kernel, blocks, threads, 0, ((struct mistake_args){words, flag, mistake})))
#define TRY(...) TRY_WITH(THREADS, __VA_ARGS__)

#define SAYS(text)                                                                                 \
    cr_assert_not_null(strstr(zmpi_emu_message(), text), "%s: %s", text, zmpi_emu_message())

Test(mistakes, diverging)
{
    static const char *const says[] = {"",          "have returned", "divergent",
                                       "divergent", "divergent",     "have returned",
                                       "divergent", "divergent",     "return"};
    for (uint32_t which = 0; which < sizeof says / sizeof *says; which++) {
        for (uint64_t seed = 0; seed < 8; seed++) {
            const struct zmpi_emu_config config = setting(2, seed);
            const int result = TRY(config, mistake_diverge, 3, which);
            cr_assert_eq(result, which == 0 ? 0 : -1, "mistake %u", which);
            SAYS(says[which]);
            if (which == 0)
                continue;
            SAYS("kernel mistake_diverge, block ");
            SAYS(", thread ");
            SAYS("mistakes.h:");
        }
    }
}

/* With one warp there are no two barriers that differ: all threads wait for ever. */
Test(mistakes, standing_still)
{
    const struct zmpi_emu_config config = setting(2, 1);
    cr_assert_eq(TRY_WITH(32, config, mistake_diverge, 3, 2), -1);
    SAYS("in a warp operation, while thread 5 is in ZD_SYNC at");
}

Test(mistakes, waiting_for_ever)
{
    for (uint32_t which = 0; which < 4; which++) {
        struct zmpi_emu_config config = setting(2, which);
        config.spin_limit = 20000;
        cr_assert_eq(TRY(config, mistake_wait, 2, which), -1, "mistake %u", which);
        SAYS("waits for ever");
        SAYS("kernel mistake_wait, block ");
    }
    struct zmpi_emu_config config = setting(2, 0);
    config.spin_limit = 20000;
    cr_assert_eq(TRY(config, mistake_wait, 2, 0), -1);
    SAYS("mistakes.h:");
}

/* It ends if all blocks are resident, but a GPU need not have room for them. */
Test(mistakes, waiting_for_a_later_block)
{
    int ended = 0, stood = 0;
    for (uint64_t seed = 0; seed < 8; seed++) {
        struct zmpi_emu_config config = setting(1, seed);
        config.spin_limit = 20000;
        stood += TRY(config, mistake_wait, 4, 4) != 0;
        config.resident = 4;
        ended += TRY(config, mistake_wait, 4, 4) == 0;
    }
    cr_assert(stood > 0 && stood < 8, "%d", stood); /* as the order of the blocks is */
    cr_assert_eq(ended, 8);
}

/* How many of 4 blocks' words are not those of the thread `step` behind, of threads whose neighbour
 * is in their warp. */
static unsigned wrong_neighbours(unsigned step)
{
    unsigned wrong = 0;
    for (unsigned i = 0; i < 4 * THREADS; i++)
        if ((i + step) % THREADS / 32 == i % THREADS / 32)
            wrong += words[i] != (i + step) % THREADS;
    return wrong;
}

Test(mistakes, missing_barrier)
{
    const struct zmpi_emu_config config = setting(3, 7);
    for (uint32_t which = 0; which < 3; which++) {
        cr_assert_eq(TRY(config, mistake_shared, 4, which), 0);
        const unsigned wrong = wrong_neighbours(which == 2 ? THREADS - 1 : 1);
        cr_assert(which == 1 ? wrong == 0 : wrong > 4, "mistake %u: %u", which, wrong);
    }
    cr_assert_eq(TRY(config, mistake_global, 4, 0), 0);
    cr_assert_gt(wrong_neighbours(1), 4);
    cr_assert_eq(TRY(config, mistake_global, 4, 1), 0);
    cr_assert_eq(wrong_neighbours(1), 0);
    cr_assert_eq(TRY(config, mistake_global, 4, 2), 0);
    for (unsigned i = 0; i < 4 * THREADS; i++)
        cr_assert_eq(words[i], (i ^ 1) % THREADS);
}

/* Shared memory has arbitrary contents before anybody writes there. */
Test(mistakes, not_initialised)
{
    const struct zmpi_emu_config config = setting(4, 7);
    cr_assert_eq(TRY(config, mistake_shared, 4, 3), 0);
    cr_assert(words[0] != 0 || words[THREADS] != 0);
}

static int published_right(void)
{
    for (unsigned i = 0; i < THREADS; i++)
        if (words[128 + i] != 1000 + (i + 31) % THREADS)
            return 0;
    return 1;
}

Test(mistakes, publishing)
{
    unsigned seen[BY_FLAG + 1] = {0};
    const unsigned seeds = 20;
    for (uint32_t how = 0; how <= BY_FLAG; how++) {
        for (uint64_t seed = 0; seed < seeds; seed++) {
            const struct zmpi_emu_config config = setting(2, seed);
            const int result = TRY(config, mistake_publish, 2, how);
            seen[how] += result != 0 || !published_right();
            cr_assert(how < BY_FENCES || seen[how] == 0, "%s", zmpi_emu_message());
        }
    }
    for (unsigned how = 0; how < BY_FENCES; how++)
        cr_assert_gt(seen[how], seeds / 4, "mistake %u: seen in %u of %u runs", how, seen[how],
                     seeds);
}

Test(mistakes, no_acquire)
{
    struct zmpi_emu_config config = setting(2, 0);
    config.delay = 0;
    cr_assert_eq(TRY(config, mistake_publish, 2, NO_READ_FENCE), -1);
    SAYS("no acquire");
    cr_assert_eq(TRY(config, mistake_publish, 2, NO_ACQUIRE), -1);
    SAYS("no acquire");
}

Test(mistakes, stack)
{
    const struct zmpi_emu_config config = setting(2, 0);
    cr_assert_eq(TRY(config, mistake_stack, 1, 0), -1);
    SAYS("stack overflow");
    cr_assert_eq(TRY(config, mistake_no_stack, 1, 0), 0, "%s", zmpi_emu_message());
}

Test(mistakes, launches)
{
    const struct zmpi_emu_config config = setting(2, 1);
    struct mistake_args args = {words, flag, 0};
    cr_assert_eq(RUN(config, mistake_access, 1, 32, 64, args), -1);
    SAYS("misaligned");
    args.which = 1;
    cr_assert_eq(RUN(config, mistake_access, 1, 32, 0, args), -1);
    SAYS("launched with none");
    cr_assert_eq(RUN(config, mistake_access, 1, 32, 128, args), 0);
    cr_assert_eq(RUN(config, mistake_bounds, 1, 96, 0, args), -1);
    SAYS("declared for up to 64");
    cr_assert_eq(RUN(config, mistake_bounds, 1, 64, 0, args), 0);
    cr_assert_eq(RUN(config, mistake_bounds, 1, 48, 0, args), -1);
    SAYS("multiple of 32");
    cr_assert_eq(RUN(config, mistake_bounds, 0, 64, 0, args), -1);
    cr_assert_eq(RUN(config, mistake_bounds, 1, 64, 0, words), -1);
    SAYS("argument of");
}
