/* emulator_scan.c - a kernel whose blocks wait for each other is right in every order of execution;
 * without its fences it is wrong, or the emulator reports it. */
#include <string.h>

#include <criterion/criterion.h>

#include "launch.h"
#include "scan.h"

enum { N = 6000, PARTS = (N + SCAN_THREADS - 1) / SCAN_THREADS };

static uint32_t in[N], ticket;
static uint64_t out[N], status[PARTS], apart[2 * PARTS];

static int run(const struct zmpi_emu_config *config, int value_apart, int fenced)
{
    const struct scan_args args = {
        in, out, status, apart, &ticket, N, (uint32_t)value_apart, (uint32_t)fenced};
    for (uint32_t i = 0; i < N; i++)
        in[i] = i * 2654435761u >> 8;
    memset(out, 0, sizeof out);
    memset(status, 0, sizeof status);
    memset(apart, 0xee, sizeof apart);
    ticket = 0;
    return RUN(*config, scan, PARTS, SCAN_THREADS, 0, args);
}

static int right(void)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < N; i++) {
        sum += in[i];
        if (out[i] != sum)
            return 0;
    }
    return 1;
}

Test(scan, right_in_any_order)
{
    static const unsigned residents[] = {1, 3, 8, 33};
    for (unsigned r = 0; r < 4; r++) {
        uint64_t spins = 0;
        for (uint64_t seed = 1; seed <= 4; seed++) {
            const struct zmpi_emu_config config = setting(residents[r], seed);
            for (int value_apart = 0; value_apart < 2; value_apart++) {
                cr_assert_eq(run(&config, value_apart, 1), 0, "%s", zmpi_emu_message());
                cr_assert(right(), "%u resident, seed %llu", residents[r],
                          (unsigned long long)seed);
                struct zmpi_emu_counts counts;
                zmpi_emu_take_counts(&counts);
                spins += counts.spins;
            }
        }
        /* A block that runs alone finds all blocks before it done; otherwise some blocks must have
         * waited. */
        cr_assert(residents[r] == 1 ? spins == 0 : spins > 0);
    }
}

Test(scan, same_seed_same_run)
{
    struct zmpi_emu_counts counts[3];
    const uint64_t seeds[3] = {5, 5, 6};
    for (int i = 0; i < 3; i++) {
        const struct zmpi_emu_config config = setting(8, seeds[i]);
        cr_assert_eq(run(&config, 1, 1), 0);
        zmpi_emu_take_counts(&counts[i]);
    }
    cr_assert_eq(counts[0].spins, counts[1].spins);
    cr_assert_neq(counts[0].spins, counts[2].spins);
}

Test(scan, missing_fences_are_seen)
{
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct zmpi_emu_config config = setting(8, seed);
        cr_assert(run(&config, 1, 0) != 0 || !right(), "seed %llu", (unsigned long long)seed);
        /* Only the fences matter: in the same order, with stores that are seen at once, the result
         * is right. */
        config.store_buffer = 0;
        cr_assert_eq(run(&config, 1, 0), 0, "%s", zmpi_emu_message());
        cr_assert(right());
    }
}
