/*
 * sim_codec.c - csl/kernels on the simulated wafer: the same bytes as the CPU, and decoded the
 * same, on several grids, machines and orders of tasks, by DSD operations and in scalar code.
 */
#include "check.h"
#include "chip_sim.h"

static struct chip_sim open_chip(const char *program, unsigned width, unsigned height,
                                 struct chip_sim_options how)
{
    struct chip_sim c;
    cr_assert(chip_sim_open(&c, program, width, height, &how), "%s: %s", program, c.chip.problem);
    return c;
}

/* What decodes beside it: rows of the same pipelines, or four PEs. */
static struct chip_sim open_back(unsigned width, unsigned height, struct chip_sim_options how)
{
    how.decode = how.pipeline > 0;
    return how.pipeline ? open_chip("rows", width, height, how)
                        : open_chip("decompress", 2, 2, how);
}

/* One array of every kind; returns how many chunks PEs coded. */
static uint64_t check_grid(const char *program, unsigned width, unsigned height,
                           struct chip_sim_options how, const struct zmpi_array *a,
                           struct zmpi_bound bound)
{
    struct chip_sim from = open_chip(program, width, height, how);
    struct chip_sim to = open_back(width, height, how);
    struct wse_count count[2] = {{0, 0}, {0, 0}};
    struct kit_random r = {width + 10 * height + how.seed};
    for (int kind = 0; kind < KIT_DATA_KINDS; kind++) {
        float *data = kit_make(&r, a, (enum kit_data)kind);
        check_bytes(&from.chip, &to.chip, a, bound, data, count);
        free(data);
    }
    chip_sim_close(&from);
    chip_sim_close(&to);
    cr_assert_gt(count[1].chip, 0);
    return count[0].chip;
}

Test(wse_sim, grids)
{
    static const unsigned grid[][2] = {{1, 1}, {2, 3}, {8, 8}};
    const struct zmpi_array a = kit_array(ZMPI_F32, 1, 30, 290);
    for (size_t i = 0; i < KIT_COUNT(grid); i++)
        cr_assert_gt(check_grid("compress", grid[i][0], grid[i][1],
                                (struct chip_sim_options){.seed = i + 1}, &a, kit_rel(1e-3)),
                     0);
}

Test(wse_sim, machines)
{
    const struct zmpi_array a = kit_array(ZMPI_F32, 7, 20, 21);
    for (int arch = CSL_WSE2; arch <= CSL_WSE3; arch++)
        for (int scalar = 0; scalar < 2; scalar++)
            cr_assert_gt(check_grid("compress", 2, 1,
                                    (struct chip_sim_options){.arch = (enum csl_arch)arch,
                                                              .seed = 7,
                                                              .scalar = scalar != 0},
                                    &a, kit_abs(0.001)),
                         0);
}

/* Stages pipelined over columns, and several pipelines in a row. Only what is predicted along x is
 * theirs. */
Test(wse_sim, rows)
{
    static const unsigned shape[][3] = {{1, 1, 1}, {3, 2, 3}, {4, 1, 1},
                                        {5, 1, 1}, {6, 1, 2}, {8, 1, 8}};
    const struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, 8401);
    for (size_t i = 0; i < KIT_COUNT(shape); i++) {
        struct chip_sim_options how = {
            .seed = i, .scalar = i % 2 == 0, .pipeline = shape[i][2], .length = 8};
        cr_assert_gt(check_grid("rows", shape[i][0], shape[i][1], how, &a, kit_abs(0.003)), 0);
    }
}

/* As many chunks as fill all pipelines, and one more; in several launches, since no first PE has
 * memory for all of their blocks. */
static void check_rows_back(unsigned width, unsigned height, struct chip_sim_options how)
{
    struct chip_sim to = open_back(width, height, how);
    struct kit_random r = {how.seed};
    const size_t places = (size_t)height * (width / how.pipeline);
    const struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, places * 8192 + 33);
    float *data = kit_make(&r, &a, KIT_SMOOTH);
    for (size_t i = 0; i < kit_elements(&a); i++) /* blocks of many lengths, and of none */
        data[i] = i / 777 % 3 ? ldexpf(data[i], (int)(i / 999 % 8)) : i % 4096 ? 0 : NAN;
    struct kit_stream coded = kit_compress(&a, kit_rel(1e-4), data);
    struct wse_count count = {0, 0};
    check_back(&to.chip, &a, &coded, "rows", &count);
    cr_assert_gt(count.chip, places);
    free(coded.data);
    free(data);
    chip_sim_close(&to);
}

Test(wse_sim, rows_back)
{
    check_rows_back(1, 1, (struct chip_sim_options){.seed = 1, .pipeline = 1});
    check_rows_back(32, 1, (struct chip_sim_options){.seed = 2, .pipeline = 1});
    check_rows_back(4, 4, (struct chip_sim_options){.arch = CSL_WSE3, .seed = 3, .pipeline = 1});
    check_rows_back(6, 1, (struct chip_sim_options){.seed = 4, .pipeline = 3, .length = 4});
    check_rows_back(
        4, 1, (struct chip_sim_options){.arch = CSL_WSE3, .seed = 5, .pipeline = 2, .length = 9});
}

/* Task order, chunks that end early, how many PEs there are and for what a pipeline was planned
 * change nothing. */
Test(wse_sim, rows_lengths)
{
    static const struct {
        size_t length;
        unsigned width, height, pipeline;
    } row[] = {{1, 4, 1, 4},   {31, 4, 1, 1},   {32, 8, 2, 8},    {33, 5, 1, 1},
               {127, 6, 1, 2}, {129, 1, 32, 1}, {100, 32, 32, 1}, {8193, 4, 1, 1}};
    struct kit_random r = {9};
    struct wse_count count = {0, 0};
    for (size_t i = 0; i < KIT_COUNT(row); i++) {
        struct chip_sim_options how = {.seed = 20 + i,
                                       .pipeline = row[i].pipeline,
                                       .length = (unsigned)(3 * i),
                                       .scalar = i % 4 == 3};
        struct chip_sim to = open_back(row[i].width, row[i].height, how);
        struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, row[i].length);
        for (int kind = 0; kind < KIT_DATA_KINDS; kind++) {
            float *data = kit_make(&r, &a, (enum kit_data)kind);
            struct kit_stream coded = kit_compress(&a, kit_abs(1e-4), data);
            check_back(&to.chip, &a, &coded, "lengths", &count);
            free(coded.data);
            free(data);
        }
        chip_sim_close(&to);
    }
    cr_assert_gt(count.chip, count.host);
}

/* Predictions along any axes, in tiles whose rows begin within blocks. Sums that f32 does not hold
 * are the host's; integers hold all. */
Test(wse_sim, rows_wide)
{
    const struct zmpi_array all[] = {kit_array(ZMPI_F32, 8, 32, 32), kit_array(ZMPI_F32, 5, 13, 50),
                                     kit_array(ZMPI_F32, 1, 99, 7)};
    struct kit_random r = {8};
    for (int scalar = 0; scalar < 2; scalar++) {
        struct chip_sim_options how = {.seed = 1, .pipeline = 1, .scalar = scalar != 0};
        struct chip_sim to = open_back(1, 1, how);
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

/* Rows and planes of tiles that begin within blocks, and tiles that are too large. */
Test(wse_sim, rows_tiles)
{
    static const size_t extent[][3] = {{7, 20, 21}, {1, 30, 290}, {5, 3, 2},
                                       {9, 1, 100}, {1, 300, 7},  {2, 40, 90}};
    struct kit_random r = {12};
    struct wse_count count = {0, 0};
    for (size_t i = 0; i < KIT_COUNT(extent); i++) {
        struct chip_sim_options how = {
            .seed = 30 + i, .pipeline = i % 3 ? 1 : 2, .length = 6, .scalar = i == 1};
        struct chip_sim to = open_back(2, 1, how);
        struct zmpi_array a = kit_array(ZMPI_F32, extent[i][0], extent[i][1], extent[i][2]);
        for (int kind = 0; kind < KIT_DATA_KINDS; kind++) {
            float *data = kit_make(&r, &a, (enum kit_data)kind);
            struct kit_stream coded = kit_compress(&a, kit_rel(1e-4), data);
            check_back(&to.chip, &a, &coded, "tiles", &count);
            free(coded.data);
            free(data);
        }
        chip_sim_close(&to);
    }
    cr_assert_gt(count.chip, count.host);
}

/* Integers below 2^24 whose differences are not, as f32 does not hold them. */
Test(wse_sim, rows_steep)
{
    const struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, 8192);
    struct chip_sim to = open_back(1, 1, (struct chip_sim_options){.seed = 1, .pipeline = 1});
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

/* Sums along one axis that f32 does not hold, and which the next axis, or the base, makes small;
 * a tile that a PE does not hold. */
Test(wse_sim, rows_hidden)
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
    struct chip_sim to = open_back(1, 1, (struct chip_sim_options){.seed = 1, .pipeline = 1});
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
    const struct zmpi_array large = kit_array(ZMPI_F32, 2, 40, 90); /* a plane does not fit */
    struct kit_random r = {13};
    struct kit_stream s = check_residuals(&r, &large, 5, 7);
    check_back(&to.chip, &large, &s, "large", &count);
    cr_assert_eq(count.host, 5);
    free(s.data);
    chip_sim_close(&to);
}

/* The shortest residuals whose sums, and a base, f32 does not hold. */
Test(wse_sim, least_wide)
{
    enum { LENGTH = 11 };
    const struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, 8192);
    struct chip_sim rows = open_back(1, 1, (struct chip_sim_options){.seed = 1, .pipeline = 1});
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

/* A chip on which the n-th call fails. */
static int calls_left;
static struct chip_sim *failing;

static bool fail_to(struct chip *chip, const char *name, const uint32_t *src, unsigned elements)
{
    (void)chip;
    return calls_left-- > 0 && failing->chip.to(&failing->chip, name, src, elements);
}

static bool fail_from(struct chip *chip, const char *name, uint32_t *dst, unsigned elements)
{
    (void)chip;
    return calls_left-- > 0 && failing->chip.from(&failing->chip, name, dst, elements);
}

static bool fail_launch(struct chip *chip, const char *function)
{
    (void)chip;
    return calls_left-- > 0 && failing->chip.launch(&failing->chip, function);
}

Test(wse_sim, rows_failures)
{
    struct chip_sim to = open_back(2, 1, (struct chip_sim_options){.seed = 1, .pipeline = 1});
    struct chip chip = to.chip;
    struct kit_random r = {11};
    struct wse_count count = {0, 0};
    const struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, 400);
    float *data = kit_make(&r, &a, KIT_SPIKES);
    struct kit_stream coded = kit_compress(&a, kit_abs(0.01), data);
    struct zmpi_stream s;
    chip.to = fail_to;
    chip.from = fail_from;
    chip.launch = fail_launch;
    failing = &to;
    cr_assert_eq(zmpi_stream_parse(&s, coded.data, coded.size), ZMPI_OK);
    for (int calls = 0; calls <= 4; calls++) { /* job, blocks, launch, values */
        calls_left = calls;
        cr_assert_eq(wse_decompress(&chip, &s, NULL, data, &count),
                     calls < 4 ? ZMPI_ERR_DEVICE : ZMPI_OK);
    }
    cr_assert_eq(count.chip, 1);
    free(coded.data);
    free(data);
    chip_sim_close(&to);
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

/* Chunks without residuals are the PEs', too. */
Test(wse_sim, constant)
{
    struct chip_sim from = open_chip("compress", 2, 1, (struct chip_sim_options){.seed = 5});
    struct chip_sim to = open_chip("decompress", 2, 1, (struct chip_sim_options){.seed = 5});
    struct wse_count count[2] = {{0, 0}, {0, 0}};
    const struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, 20000);
    float *data = malloc(20000 * sizeof *data);
    cr_assert_not_null(data);
    for (size_t i = 0; i < 20000; i++)
        data[i] = 7.25F;
    check_bytes(&from.chip, &to.chip, &a, kit_abs(1e-2), data, count);
    cr_assert_eq(count[0].host, 0);
    cr_assert_eq(count[1].host, 0);
    free(data);
    chip_sim_close(&from);
    chip_sim_close(&to);
}
