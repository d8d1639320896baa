/*
 * sim_sums.c - rows of PEs that decode what no encoder writes: any residuals. Those whose sums f32
 * does not hold are the host's; all are decoded as on the CPU.
 */
#include "chips.h"

static struct chip_sim open_back(struct chip_sim_options how)
{
    how.seed = how.pipeline = 1;
    how.decode = true;
    return open_chip("rows", 1, 1, how);
}

/* Predictions along any axes, in tiles whose rows begin within blocks. Sums that f32 does not hold
 * are the host's; integers hold all. */
Test(wse_sums, wide)
{
    const struct zmpi_array all[] = {kit_array(ZMPI_F32, 8, 32, 32), kit_array(ZMPI_F32, 5, 13, 50),
                                     kit_array(ZMPI_F32, 1, 99, 7)};
    struct kit_random r = {8};
    for (int scalar = 0; scalar < 2; scalar++) {
        struct chip_sim to = open_back((struct chip_sim_options){.scalar = scalar != 0});
        struct wse_count count = {0, 0};
        for (unsigned i = 0; i < 24; i += scalar ? 3 : 1) {
            const struct zmpi_array *a = &all[i / (scalar ? 3 : 1) % 3];
            const unsigned length = 23 - 5 * i % 21;
            struct kit_stream s = check_residuals(&r, a, length, i % 8 & (i % 3 == 2 ? 3U : 7U));
            check_back(&to.chip, a, &s, "residuals", &count);
            free(s.data);
        }
        cr_assert_gt(count.chip, 5);
        cr_assert(scalar ? count.host == 0 : count.host > 2);
        chip_sim_close(&to);
    }
}

/* Integers below 2^24 whose differences are not, as f32 does not hold them. */
Test(wse_sums, steep)
{
    const struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, 8192);
    struct chip_sim to = open_back((struct chip_sim_options){.scalar = false});
    struct kit_random r = {10};
    struct wse_count count = {0, 0};
    struct kit_stream s = check_residuals(NULL, &a, CHIP_WIDEST, ZMPI_AXIS_X);
    for (size_t k = 0; k < 256; k++) { /* eight residuals x y -y -x -z -w w z, four times */
        unsigned char *planes = check_planes(&s, &a, CHIP_WIDEST, k);
        zmpi_store32(planes, 0x3c3c3c3c);
        for (size_t bit = 0; bit < CHIP_WIDEST; bit++) {
            const uint32_t n = bit < 7 ? kit_next(&r) & 15 : 15;
            const uint32_t eight =
                (n & 3) | (n & 1) << 3 | (n & 2) << 1 | (n & 12) << 2 | (n & 4) << 5 | (n & 8) << 3;
            zmpi_store32(planes + 4 + 4 * bit, eight * 0x01010101);
        }
    }
    check_seal(&s);
    check_back(&to.chip, &a, &s, "steep", &count);
    cr_assert_eq(count.chip, 1);
    free(s.data);
    chip_sim_close(&to);
}

static void put_residual(const struct kit_stream *s, const struct zmpi_array *a, size_t i,
                         int32_t residual)
{
    unsigned char *planes = check_planes(s, a, CHIP_WIDEST, i / 32);
    const uint32_t bits[2] = {residual < 0, (uint32_t)abs(residual)};
    for (size_t k = 0; k <= CHIP_WIDEST; k++) {
        const uint32_t bit = k ? bits[1] >> (k - 1) & 1 : bits[0];
        zmpi_store32(planes + 4 * k, zmpi_load32(planes + 4 * k) | bit << i % 32);
    }
}

/* Sums along one axis that f32 does not hold, and which the next axis, or the base, makes small.
 */
Test(wse_sums, hidden)
{
    enum { M = 8388607 };
    static const struct {
        unsigned axes;
        int32_t base, at[8][2];
    } hidden[] = {
        {3, 0, {{1, -M}, {2, -M}, {33, M}, {34, M}, {35, M}, {36, M - 1}, {65, -M}, {66, 1 - M}}},
        {7, 0, {{1, -M}, {2, -M}, {1025, M}, {1026, M - 1}, {1057, M}, {1058, M}}},
        {3, -(1 << 22), {{1, M}, {2, M - 1}, {33, 4}}},
        {3, 1 << 22, {{1, M}, {2, M - 1}}},
        {1, 1 << 22, {{1, M}, {2, M - 1}, {4, -M}}},
    };
    const struct zmpi_array a = kit_array(ZMPI_F32, 8, 32, 32);
    struct chip_sim to = open_back((struct chip_sim_options){.scalar = false});
    struct wse_count count = {0, 0};
    for (size_t i = 0; i < KIT_COUNT(hidden); i++) {
        struct kit_stream s = check_residuals(NULL, &a, CHIP_WIDEST, hidden[i].axes);
        zmpi_store32(s.data + CHECK_HEAD + 8, (uint32_t)hidden[i].base);
        for (size_t k = 0; k < 8 && hidden[i].at[k][0]; k++)
            put_residual(&s, &a, (size_t)hidden[i].at[k][0], hidden[i].at[k][1]);
        check_seal(&s);
        check_back(&to.chip, &a, &s, "hidden", &count);
        free(s.data);
    }
    cr_assert_eq(count.host, 4);
    chip_sim_close(&to);
}

/* The largest rows and planes that are kept, and what no encoder writes: sums along axes on which
 * there is one element, of which rows of PEs do not keep as much. */
Test(wse_sums, large)
{
    static const struct {
        size_t extent[3];
        unsigned axes;
        bool host;
    } large[] = {{{2, 40, 90}, 7, false},  {{2, 2, 2048}, 7, false}, {{2, 2, 2048}, 5, false},
                 {{1, 2, 4096}, 3, false}, {{1, 1, 8192}, 2, false}, {{1, 1, 8192}, 7, true}};
    struct chip_sim to = open_back((struct chip_sim_options){.scalar = false});
    struct kit_random r = {13};
    for (size_t i = 0; i < KIT_COUNT(large); i++) {
        const size_t *n = large[i].extent;
        const struct zmpi_array a = kit_array(ZMPI_F32, n[0], n[1], n[2]);
        struct kit_stream s = check_residuals(&r, &a, 5, large[i].axes);
        for (size_t axis = 0; axis < 3; axis++) /* one tile */
            zmpi_store32(s.data + 12 + 4 * axis, (uint32_t)n[axis]);
        check_seal(&s);
        struct wse_count count = {0, 0};
        check_back(&to.chip, &a, &s, "large", &count);
        cr_assert_eq(count.host, large[i].host, "case %zu", i);
        free(s.data);
    }
    chip_sim_close(&to);
}

/* The shortest residuals whose sums, and a base, f32 does not hold. */
Test(wse_sums, least_wide)
{
    enum { LENGTH = 11 };
    const struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, 8192);
    struct chip_sim rows = open_back((struct chip_sim_options){.scalar = false});
    struct chip_sim pes = open_chip("decompress", 1, 1, (struct chip_sim_options){.seed = 1});
    struct kit_stream s = check_residuals(NULL, &a, LENGTH, ZMPI_AXIS_X);
    struct wse_count count = {0, 0};
    zmpi_store32(s.data + CHECK_HEAD + 8, 1 << 22);
    for (size_t k = 0; k < 256; k++) /* signs are +, all bits set */
        memset(check_planes(&s, &a, LENGTH, k) + 4, 0xff, (size_t)4 * LENGTH);
    check_seal(&s);
    check_back(&rows.chip, &a, &s, "rows", &count);
    check_back(&pes.chip, &a, &s, "PEs", &count);
    cr_assert_eq(count.host, 2);
    free(s.data);
    chip_sim_close(&rows);
    chip_sim_close(&pes);
}
