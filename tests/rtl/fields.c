/* fields.c - the engine's streams are those of the CPU on real fields, from the folder ZMPI_DATA.
 */
#include <stdio.h>

#include "compare.h"

enum { LANES = 8 };

static const struct {
    const char *name;
    size_t extent[3];
} field[] = {{"nyx_baryon_density_32x32x32.f32", {32, 32, 32}},
             {"hacc_vel_3x32768.f32", {1, 3, 32768}},
             {"wrf_qcloud_4x14x48x48.f32", {56, 48, 48}},
             {"nek_cylinder_snapshot_2622x2x7x7.f32", {5244, 7, 7}},
             {"cesmlens_ts_nan_40x8761.f32", {1, 40, 8761}},
             {"foam_ocean_v_fill_24x128x128.f32", {24, 128, 128}}};

/* NULL where the folder has no such field. */
static float *load(const char *name, size_t bytes)
{
    char path[512];
    const char *folder = getenv("ZMPI_DATA");
    snprintf(path, sizeof path, "%s/%s", folder ? folder : "../shared/data", name);
    FILE *in = fopen(path, "rb");
    if (!in)
        return NULL;
    float *data = malloc(bytes);
    cr_assert_not_null(data);
    cr_assert_eq(fread(data, 1, bytes, in), bytes, "%s", path);
    fclose(in);
    return data;
}

Test(rtl, fields)
{
    struct zmpi_rtl *rtl = open_engine(LANES);
    size_t found = 0;
    for (size_t i = 0; i < KIT_COUNT(field); i++) {
        const size_t *n = field[i].extent;
        struct zmpi_array a = kit_array(ZMPI_F32, n[0], n[1], n[2]);
        float *data = load(field[i].name, kit_bytes(&a));
        if (!data)
            continue;
        found++;
        for (int encoder = 1; encoder <= 2; encoder++) {
            zmpi_rtl_count(rtl);
            struct kit_stream s =
                check_encoder(rtl, &a, kit_rel(1e-3), encoder, data, field[i].name);
            const struct zmpi_rtl_counts c = zmpi_rtl_count(rtl);
            cr_log_info("%s: encoder %d: ratio %.2f, %.4f cycles for a byte", field[i].name,
                        encoder, (double)kit_bytes(&a) / (double)s.size,
                        (double)c.cycles / (4.0 * LANES * (double)c.beats_in));
            free(s.data);
        }
        free(data);
    }
    zmpi_rtl_close(rtl);
    if (!found)
        cr_skip_test("no fields in the folder ZMPI_DATA");
}
