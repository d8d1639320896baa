/*
 * sim_codec.c - csl/kernels on the simulated wafer, a chunk on each PE: the same bytes as the CPU,
 * and decoded the same, on several grids, machines and orders of tasks, by DSD operations and in
 * scalar code.
 */
#include "chips.h"

/* One array of every kind; returns how many chunks PEs coded. */
static uint64_t check_grid(unsigned width, unsigned height, struct chip_sim_options how,
                           const struct zmpi_array *a, struct zmpi_bound bound)
{
    struct chip_sim from = open_chip("compress", width, height, how);
    struct chip_sim to = open_chip("decompress", 2, 2, how);
    struct wse_count count[2] = {{0, 0}, {0, 0}};
    struct kit_random r = {width + 10 * height + how.seed};
    check_kinds(&from.chip, &to.chip, &r, a, bound, count);
    chip_sim_close(&from);
    chip_sim_close(&to);
    cr_assert_gt(count[1].chip, 0);
    return count[0].chip;
}

Test(wse_sim, grids)
{
    static const unsigned grid[][2] = {{1, 1}, {2, 3}, {8, 8}, {1, 32}, {32, 32}};
    const struct zmpi_array a = kit_array(ZMPI_F32, 1, 30, 290);
    for (size_t i = 0; i < KIT_COUNT(grid); i++)
        cr_assert_gt(check_grid(grid[i][0], grid[i][1], (struct chip_sim_options){.seed = i + 1},
                                &a, kit_rel(1e-3)),
                     0);
}

Test(wse_sim, machines)
{
    const struct zmpi_array a = kit_array(ZMPI_F32, 7, 20, 21);
    for (int arch = CSL_WSE2; arch <= CSL_WSE3; arch++)
        for (int scalar = 0; scalar < 2; scalar++)
            cr_assert_gt(check_grid(2, 1,
                                    (struct chip_sim_options){.arch = (enum csl_arch)arch,
                                                              .seed = 7,
                                                              .scalar = scalar != 0},
                                    &a, kit_abs(0.001)),
                         0);
}

Test(wse_sim, lengths)
{
    static const size_t lengths[] = {1, 31, 32, 33, 127, 129, 1000, 8193};
    struct chip_sim from = open_chip("compress", 2, 1, (struct chip_sim_options){.seed = 3});
    struct chip_sim to = open_chip("decompress", 2, 1, (struct chip_sim_options){.seed = 3});
    struct wse_count count[2] = {{0, 0}, {0, 0}};
    struct kit_random r = {4};
    for (size_t i = 0; i < KIT_COUNT(lengths); i++) {
        struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, lengths[i]);
        float *data = kit_make(&r, &a, i % 2 ? KIT_SPECIAL : KIT_SMOOTH);
        check_bytes(&from.chip, &to.chip, &a, kit_abs(1e-4), data, count);
        free(data);
    }
    chip_sim_close(&from);
    chip_sim_close(&to);
}

/* The PEs code them all: chunks without residuals, those whose samples are all exceptions, and
 * those of which a few words are beyond the first level. */
Test(wse_sim, all_on_the_chip)
{
    struct chip_sim from = open_chip("compress", 2, 1, (struct chip_sim_options){.seed = 5});
    struct chip_sim to = open_chip("decompress", 2, 1, (struct chip_sim_options){.seed = 5});
    struct wse_count count[2] = {{0, 0}, {0, 0}};
    struct kit_random r = {5};
    const struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, 20000);
    static const enum kit_data kinds[] = {KIT_CONSTANT, KIT_ISLANDS, KIT_SMOOTH};
    for (size_t i = 0; i < KIT_COUNT(kinds); i++) {
        float *data = kit_make(&r, &a, kinds[i]);
        check_bytes(&from.chip, &to.chip, &a, kit_abs(5e-4), data, count);
        free(data);
    }
    cr_assert_eq(count[0].host, 0);
    cr_assert_eq(count[1].host, 0);
    chip_sim_close(&from);
    chip_sim_close(&to);
}
