/* sim_fields.c - the kernels in the simulator on pieces of the real fields of the folder ZMPI_DATA;
 * those of f64 become f32. */
#include <dirent.h>
#include <stdio.h>

#include "chips.h"

enum { Z = 3, Y = 20, X = 100, COUNT = Z * Y * X };

/* By PEs alone, by pipelines of one PE, and of three. */
static struct chip_sim from[3], to[3];
static struct wse_count count[3][2];
static size_t fields;

/* From the middle of the file, as floats. */
static void read_piece(const char *folder, const char *name, float x[COUNT])
{
    static double wide[COUNT];
    const bool is_f64 = strstr(name, ".f64") != NULL;
    const long width = is_f64 ? 8 : 4;
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *in = fopen(path, "rb");
    cr_assert_not_null(in, "%s", path);
    cr_assert_eq(fseek(in, 0, SEEK_END), 0);
    const long elements = ftell(in) / width;
    cr_assert_geq(elements, COUNT, "%s", path);
    cr_assert_eq(fseek(in, (elements - COUNT) / 2 * width, SEEK_SET), 0);
    cr_assert_eq(fread(is_f64 ? (void *)wide : x, (size_t)width, COUNT, in), COUNT);
    for (size_t i = 0; is_f64 && i < COUNT; i++)
        x[i] = (float)wide[i];
    fclose(in);
}

/* A piece as a row, as a plane and as a box, each with another bound, in turns or all; by long
 * pipelines a part of it. */
static void check_field(const char *folder, const char *name)
{
    static float x[COUNT];
    read_piece(folder, name, x);
    const struct zmpi_array shape[] = {kit_array(ZMPI_F32, 1, 1, COUNT),
                                       kit_array(ZMPI_F32, 1, Z * Y, X),
                                       kit_array(ZMPI_F32, Z, Y, X)};
    const struct zmpi_array part = kit_array(ZMPI_F32, Z, Y / 4, X);
    for (size_t i = test_long() ? 0 : fields % 3; i < 3; i += test_long() ? 1 : 3)
        for (size_t k = 0; k < 2; k++)
            check_bytes(&from[k].chip, &to[k].chip, &shape[i], kit_rel(pow(10, -2 - (double)i)), x,
                        count[k]);
    check_bytes(&from[2].chip, &to[2].chip, &part, kit_rel(1e-3), x, count[2]);
    fields++;
}

Test(wse_sim, fields)
{
    const char *folder = getenv("ZMPI_DATA");
    if (!folder || !*folder)
        folder = "../shared/data";
    DIR *dir = opendir(folder);
    if (!dir)
        cr_skip_test("no folder of real fields");
    for (unsigned k = 0; k < 3; k++) {
        struct chip_sim_options how = {.seed = 2, .pipeline = k == 2 ? 3 : k, .length = 7};
        from[k] = open_chip(k ? "rows" : "compress", k ? 3 : 1, 1, how);
        how.decode = k > 0;
        to[k] = open_chip(k ? "rows" : "decompress", k ? 3 : 1, 1, how);
    }
    for (struct dirent *e; (e = readdir(dir)) != NULL;)
        if (strstr(e->d_name, ".f32") || strstr(e->d_name, ".f64"))
            check_field(folder, e->d_name);
    closedir(dir);
    if (fields == 0)
        cr_skip_test("no real fields in %s", folder);
    cr_assert_leq(count[1][0].host, count[0][0].host); /* rows leave no more */
    for (size_t k = 0; k < 3; k++) {
        cr_assert_gt(count[k][0].chip, 5 * count[k][0].host);
        cr_assert_gt(count[k][1].chip, 5 * count[k][1].host);
        chip_sim_close(&from[k]);
        chip_sim_close(&to[k]);
    }
}
