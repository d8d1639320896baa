/* sim_fields.c - the kernels in the simulator on pieces of the real f32 fields of the folder
 * ZMPI_DATA. */
#include <dirent.h>
#include <stdio.h>

#include "check.h"
#include "chip_sim.h"

enum { Z = 3, Y = 20, X = 100, COUNT = Z * Y * X };

static struct chip_sim from, to, rows;
static struct wse_count count[3];
static size_t fields;

/* From the middle of the file: a piece of it as a row, as a plane and as a box, each with another
 * bound. Back on a row of PEs, too. */
static void check_field(const char *folder, const char *name)
{
    static float x[COUNT];
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *in = fopen(path, "rb");
    cr_assert_not_null(in, "%s", path);
    cr_assert_eq(fseek(in, 0, SEEK_END), 0);
    long elements = ftell(in) / 4;
    cr_assert_geq(elements, COUNT, "%s", path);
    cr_assert_eq(fseek(in, (elements - COUNT) / 2 * 4, SEEK_SET), 0);
    cr_assert_eq(fread(x, 4, COUNT, in), COUNT);
    fclose(in);
    const struct zmpi_array shape[] = {kit_array(ZMPI_F32, 1, 1, COUNT),
                                       kit_array(ZMPI_F32, 1, Z * Y, X),
                                       kit_array(ZMPI_F32, Z, Y, X)};
    for (size_t i = 0; i < 3; i++)
        check_bytes(&from.chip, &to.chip, &shape[i], kit_rel(pow(10, -2 - (double)i)), x, count);
    for (size_t i = 0; i < 3; i++) {
        struct kit_stream coded = kit_compress(&shape[i], kit_rel(1e-3), x);
        check_back(&rows.chip, &shape[i], &coded, name, &count[2]);
        free(coded.data);
    }
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
    cr_assert(chip_sim_open(&from, "compress", 1, 1, &(struct chip_sim_options){.seed = 2}));
    cr_assert(chip_sim_open(&to, "decompress", 1, 1, &(struct chip_sim_options){.seed = 2}));
    cr_assert(chip_sim_open(&rows, "rows", 3, 1,
                            &(struct chip_sim_options){.seed = 2, .pipeline = 1, .decode = true}));
    for (struct dirent *e; (e = readdir(dir)) != NULL;)
        if (strstr(e->d_name, ".f32"))
            check_field(folder, e->d_name);
    closedir(dir);
    cr_assert_gt(fields, 0);
    cr_assert_gt(count[0].chip, count[0].host);
    cr_assert_gt(count[1].chip, count[1].host);
    cr_assert_gt(count[2].chip, count[2].host);
    chip_sim_close(&from);
    chip_sim_close(&to);
    chip_sim_close(&rows);
}
