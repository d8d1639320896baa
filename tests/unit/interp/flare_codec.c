/*
 * flare.c - the profile FLARE of encoder 3: the promise on data of all kinds and shapes; the order
 * of blocks; decoded data stay as they are; damage is seen; what a newer version wrote is said to
 * be.
 */
#include "interp/flare/flare.h"
#include "interp_streams.h"

static struct kit_stream compress(const struct zmpi_array *a, struct zmpi_bound bound, int threads,
                                  const void *src)
{
    return compress_by(a, bound, ZMPI_INTERP, ZMPI_VARIANT_FLARE, threads, src);
}

/* Compresses, decodes between guard pages, checks the promise. */
static bool check_data(const struct zmpi_array *a, struct zmpi_bound bound, const void *src,
                       const char *what)
{
    struct kit_stream s = compress(a, bound, 1, src);
    const bool taken = family_of(&s) == ZMPI_INTERP_FLARE;
    struct kit_guarded in = kit_guard(s.size, true), out = kit_guard(kit_bytes(a), true);
    memcpy(in.data, s.data, s.size);
    enum zmpi_status status = zmpi_decompress(out.data, kit_bytes(a), in.data, s.size);
    cr_assert_eq(status, ZMPI_OK, "%s: %s", what, zmpi_strerror(status));
    kit_check(a, src, out.data, kit_abs_bound(&s), what);
    kit_unguard(&in);
    kit_unguard(&out);
    free(s.data);
    return taken;
}

static bool check(const struct zmpi_array *a, struct zmpi_bound bound, enum kit_data kind)
{
    char what[100];
    void *src = make_kind(a, bound, kind, what);
    const bool taken = check_data(a, bound, src, what);
    free(src);
    return taken;
}

Test(flare, keeps_the_promise)
{
    static const size_t shapes[][3] = {
        {1, 1, 5000}, {1, 70, 131}, {23, 19, 31}, {60, 60, 2}, {130, 5, 9}};
    const struct zmpi_bound bounds[] = {kit_abs(1e-2), kit_abs(1e-30), kit_abs(3e8),
                                        kit_rel(1e-3), kit_rel(1e-7),  {ZMPI_PSNR, 60}};
    int taken = 0;
    for (enum zmpi_type type = ZMPI_F32; type <= ZMPI_F64; type++)
        for (size_t i = 0; i < KIT_COUNT(shapes); i++)
            for (size_t j = i % 2; j < KIT_COUNT(bounds); j += test_long() ? 1 : 2)
                for (enum kit_data kind = 0; kind < KIT_DATA_KINDS; kind++) {
                    struct zmpi_array a = kit_array(type, shapes[i][0], shapes[i][1], shapes[i][2]);
                    taken += check(&a, bounds[j], kind);
                }
    cr_assert_geq(taken, 100, "only %d streams are of the profile", taken);
}

Test(flare, shapes)
{
    struct kit_random r = {5};
    for (int i = 0; i < (test_long() ? 200 : 40); i++) {
        size_t e[3] = {1 + kit_below(&r, 140), 1 + kit_below(&r, 40), 20 + kit_below(&r, 150)};
        e[i % 3] = i % 4 ? e[i % 3] : 1;
        struct zmpi_array a = kit_array(i % 2 ? ZMPI_F32 : ZMPI_F64, e[0], e[1], e[2]);
        void *src = make_waves(&a, i % 5 == 4 ? 1e6 : 0, i % 3 ? 0 : 1e20);
        const bool taken = check_data(&a, kit_rel(pow(10, -1 - i % 5)), src, "waves");
        cr_assert(taken || (i % 5 == 4 && a.type == ZMPI_F32) ||
                  kit_bytes(&a) < 8192); /* f32 near 1e6: multiples of 1/16 */
        free(src);
    }
}

/* All points are coded once, and what goes on after a batch is half of what there was. */
Test(flare, order)
{
    static const size_t shapes[][3] = {{128, 128, 128}, {128, 128, 256}, {33, 40, 9},
                                       {1, 1, 1},       {1, 300, 77},    {97, 1, 65}};
    for (size_t i = 0; i < KIT_COUNT(shapes); i++) {
        const size_t *e = shapes[i], n = e[0] * e[1] * e[2];
        struct zmpi_flare_codes c = {0};
        zmpi_flare_plan(e, &c);
        cr_assert_eq(c.codes + zmpi_flare_anchors(e), n, "shape %zu", i);
        cr_assert_eq(c.batches, (e[0] + 31) / 32);
        cr_assert_eq(c.end[c.batches - 1], c.codes);
    }
    const size_t region[3] = {128, 128, 128};
    struct zmpi_flare_codes c = {0};
    zmpi_flare_plan(region, &c);
    const size_t n = 128 * 128 * 128, level1 = n / 4 - n / 32, level2 = n / 16 - n / 128,
                 level3 = n / 64 - n / 512;
    cr_assert_eq(c.coarse, level3 + level2);
    cr_assert_eq(c.end[0], level3 + level2 + level1);
    cr_assert_eq(c.end[1], c.end[0] + level1);
    cr_assert_eq(c.end[2], c.end[1] + level2 + level1);
    cr_assert_eq(c.end[3], c.end[2] + level1);
}

/* Blocks know nothing of each other: where one changes, others are decoded to the same. */
Test(flare, blocks_are_independent)
{
    struct zmpi_array a = kit_array(ZMPI_F32, 64, 64, 64);
    float *src = make_waves(&a, 0, 0);
    struct kit_stream s = compress(&a, kit_abs(1e-3), 1, src);
    float *before = kit_decompress(&s);
    free(s.data);
    for (size_t z = 33; z < 64; z += 2) /* of the finest level */
        for (size_t y = 33; y < 64; y += 2)
            for (size_t x = 33; x < 64; x += 2)
                src[(z * 64 + y) * 64 + x] *= 0.9F;
    s = compress(&a, kit_abs(1e-3), 1, src);
    float *after = kit_decompress(&s);
    size_t changed = 0;
    for (size_t i = 0; i < kit_elements(&a); i++) {
        const bool inside = i / 4096 >= 32 && i / 64 % 64 >= 32 && i % 64 >= 32;
        changed += inside && before[i] != after[i];
        cr_assert(inside || before[i] == after[i], "element %zu", i);
    }
    cr_assert_gt(changed, 1000);
    free(s.data);
    free(before);
    free(after);
    free(src);
}

/* Codes beyond 8 bits, anchors beyond 16, values beyond all integers. */
Test(flare, escapes)
{
    struct zmpi_array a = kit_array(ZMPI_F32, 40, 30, 20);
    struct kit_random r = {9};
    float *src = malloc(kit_bytes(&a));
    for (int turn = 0; turn < 4; turn++) {
        for (size_t i = 0; i < kit_elements(&a); i++)
            src[i] = (float)(kit_unit(&r) * (turn == 1 ? 1e2 : turn == 2 ? 1e5 : 1e3));
        for (size_t i = 0; turn == 3 && i < kit_elements(&a); i += 7)
            src[i] *= i % 2 ? 1e12F : -1e30F;
        cr_assert(check_data(&a, kit_abs(1), src, "escapes"));
    }
    free(src);
}

Test(flare, threads_and_parts)
{
    struct zmpi_array a = kit_array(ZMPI_F32, 140, 40, 150);
    struct zmpi_stream p;
    float *src = make_waves(&a, 3, 1e20);
    struct kit_stream s = compress(&a, kit_rel(1e-3), 1, src);
    for (int threads = 2; threads <= 5; threads++) {
        struct kit_stream t = compress(&a, kit_rel(1e-3), threads, src);
        cr_assert_eq(t.size, s.size);
        cr_assert_arr_eq(t.data, s.data, s.size);
        free(t.data);
    }
    cr_assert_eq(zmpi_stream_parse(&p, s.data, s.size), ZMPI_OK);
    cr_assert_gt(p.info.chunks, 1);
    unsigned char *whole = kit_decompress(&s), *need = calloc(p.info.chunks, 1);
    for (size_t k = 0; k < p.info.chunks; k++) {
        size_t first[3], extent[3], found = 0;
        unsigned char *part = calloc(kit_bytes(&a), 1);
        memset(need, 0, p.info.chunks);
        need[k] = 1;
        cr_assert_eq(zmpi_stream_decode(&p, need, 2, part, NULL), ZMPI_OK);
        zmpi_stream_tile(&p, k, first, extent);
        for (size_t i = 0; i < kit_bytes(&a); i++) {
            found += part[i] != 0 && part[i] == whole[i];
            cr_assert(part[i] == 0 || part[i] == whole[i]);
        }
        cr_assert_gt(found, extent[0] * extent[1] * extent[2]);
        free(part);
    }
    free(need);
    free(whole);
    free(s.data);
    free(src);
}

/* Decoded data that are coded again by the same bound stay as they are. */
Test(flare, again)
{
    struct zmpi_array a = kit_array(ZMPI_F32, 50, 48, 48);
    float *src = make_waves(&a, 3, 1e20), *now = malloc(kit_bytes(&a));
    for (size_t i = 0; i < kit_elements(&a); i += 997)
        src[i] *= 1e4F;
    memcpy(now, src, kit_bytes(&a));
    for (int turn = 0; turn < 6; turn++) {
        struct kit_stream s = compress(&a, kit_abs(2e-3), 1, now);
        float *out = kit_decompress(&s);
        cr_assert_eq(family_of(&s), ZMPI_INTERP_FLARE);
        if (turn > 0)
            cr_assert_arr_eq(out, now, kit_bytes(&a), "turn %d", turn);
        memcpy(now, out, kit_bytes(&a));
        kit_check(&a, src, now, 2e-3, "again");
        free(out);
        free(s.data);
    }
    free(now);
    free(src);
}

/* ---- damage ---- */

static void damage(const struct zmpi_array *a, const void *src, struct zmpi_bound bound)
{
    struct kit_stream s = compress(a, bound, 1, src);
    damage_stream(a, &s, 12);
    free(s.data);
}

Test(flare, damage)
{
    struct zmpi_array solid = kit_array(ZMPI_F32, 70, 30, 40),
                      flat = kit_array(ZMPI_F64, 1, 90, 70);
    float *a = make_waves(&solid, 0, 1e20), *b = make_waves(&flat, 0, 0);
    damage(&solid, a, kit_rel(1e-2));
    for (size_t i = 0; i < kit_elements(&solid); i += 5)
        a[i] *= 1.5F;
    damage(&solid, a, kit_rel(1e-5)); /* with escapes */
    damage(&flat, b, kit_abs(1e-3));
    free(a);
    free(b);
}

/* More escapes in codes than there are: none is read from behind. */
Test(flare, too_few_escapes)
{
    const size_t extent[3] = {9, 9, 9};
    static const struct zmpi_interp_set flat = {.family = ZMPI_INTERP_LORENZO};
    struct zmpi_interp_work *w = zmpi_interp_work_new(extent, NULL, 0, false);
    struct kit_guarded escape = kit_guard(40, true);
    signed char code[729];
    int16_t anchor[729];
    memset(code, ZMPI_FLARE_ESCAPE, sizeof code);
    for (size_t i = 0; i < 729; i++)
        anchor[i] = ZMPI_FLARE_ANCHOR_ESCAPE;
    struct zmpi_flare_codes c = {.code = code, .anchor = anchor, .escape = escape.data, .most = 10};
    zmpi_interp_layout(w, &flat, extent);
    w->mode = DECODE;
    zmpi_flare_predict(w, extent, &c);
    cr_assert(c.over);
    cr_assert_eq(c.escapes, 10);
    kit_unguard(&escape);
    zmpi_interp_work_free(w);
}

/* Each field of the parameters by itself. */
Test(flare, wrong_parameters)
{
    const struct zmpi_interp_rule rule = {.type = ZMPI_F32, .unit = 0.5, .flare = true};
    struct zmpi_interp_rule back;
    uint32_t tile[3] = {128, 8, 16};
    unsigned char good[ZMPI_INTERP_HEAD], bad[ZMPI_INTERP_HEAD];
    const size_t size = zmpi_interp_save(&rule, good);
    cr_assert_eq(size, 12);
    cr_assert(zmpi_interp_load(&back, ZMPI_F32, tile, good, size));
    cr_assert(back.flare);
    cr_assert_not(zmpi_interp_load(&back, ZMPI_F32, tile, good, size + 4));
    cr_assert_not(zmpi_interp_load(&back, ZMPI_F32, tile, good, size - 4));
    for (size_t at = 7; at < 12; at++) {
        memcpy(bad, good, sizeof bad);
        bad[at] = at == 7 ? 0xBF : 2;
        cr_assert_not(zmpi_interp_load(&back, ZMPI_F32, tile, bad, size), "byte %zu", at);
    }
    tile[0] = 129;
    cr_assert_not(zmpi_interp_load(&back, ZMPI_F32, tile, good, size));
}

/* A profile that this version does not know, and large chunks by another one. */
Test(flare, newer)
{
    struct zmpi_array a = kit_array(ZMPI_F32, 20, 30, 40);
    float *src = make_waves(&a, 0, 0);
    struct kit_stream s = compress(&a, kit_rel(1e-3), 1, src);
    struct zmpi_stream p;
    unsigned char *profile = s.data + 80 + 8 + ZMPI_INTERP_PROFILE_AT;
    cr_assert_eq(zmpi_stream_parse(&p, s.data, s.size), ZMPI_OK);
    cr_assert_eq(*profile, 1);
    *profile = ZMPI_INTERP_PROFILES + 1;
    mend(s.data, &p);
    cr_assert_eq(zmpi_decompress(src, kit_bytes(&a), s.data, s.size), ZMPI_ERR_VERSION);
    free(s.data);
    free(src);
}

/* ---- real fields ---- */

static void check_field(const struct field *f)
{
    struct kit_stream s = compress(&f->array, kit_rel(1e-3), 2, f->data);
    void *out = kit_decompress(&s);
    kit_check(&f->array, f->data, out, kit_abs_bound(&s), f->path);
    free(out);
    free(s.data);
}

Test(flare, fields)
{
    each_field(check_field);
}
