/*
 * interp.c - encoder 3: the promise on data of all kinds and shapes, in no more bytes than encoder
 * 2 takes; by any number of threads; any part; again and again; and damage is seen.
 */
#include "interp_streams.h"

#include "interp/interp.h"
#include "stream/compress_interp.h"

static struct kit_stream compress(const struct zmpi_array *a, struct zmpi_bound bound, int encoder,
                                  int threads, const void *src)
{
    return compress_by(a, bound, encoder, ZMPI_VARIANT_NONE, threads, src);
}

static int encoder_of(const struct kit_stream *s)
{
    struct zmpi_stream_info info;
    cr_assert_eq(zmpi_stream_info(s->data, s->size, &info), ZMPI_OK);
    return info.encoder;
}

/* Compresses, decodes between guard pages, checks the promise. Returns the encoder taken. */
static int check_data(const struct zmpi_array *a, struct zmpi_bound bound, const void *src,
                      const char *what)
{
    struct kit_stream other = compress(a, bound, ZMPI_HUFFMAN, 1, src);
    struct kit_stream s = compress(a, bound, ZMPI_INTERP, 1, src);
    const int encoder = encoder_of(&s);
    cr_assert_leq(s.size, other.size, "%s: %zu bytes, not %zu", what, s.size, other.size);
    struct kit_guarded in = kit_guard(s.size, true), out = kit_guard(kit_bytes(a), true);
    memcpy(in.data, s.data, s.size);
    enum zmpi_status status = zmpi_decompress(out.data, kit_bytes(a), in.data, s.size);
    cr_assert_eq(status, ZMPI_OK, "%s: %s", what, zmpi_strerror(status));
    kit_check(a, src, out.data, kit_abs_bound(&s), what);
    if (bound.mode == ZMPI_PSNR)
        cr_assert_geq(kit_psnr(a, src, out.data), bound.value, "%s", what);
    kit_unguard(&in);
    kit_unguard(&out);
    free(other.data);
    free(s.data);
    return encoder;
}

static int check(const struct zmpi_array *a, struct zmpi_bound bound, enum kit_data kind)
{
    char what[100];
    void *src = make_kind(a, bound, kind, what);
    const int encoder = check_data(a, bound, src, what);
    free(src);
    return encoder;
}

Test(interp, keeps_the_promise)
{
    static const size_t shapes[][3] = {{1, 1, 5000}, {1, 70, 131}, {23, 19, 31}, {60, 60, 2}};
    const struct zmpi_bound bounds[] = {kit_abs(1e-2), kit_abs(1e-30), kit_abs(3e8),
                                        kit_rel(1e-3), kit_rel(1e-7),  {ZMPI_PSNR, 60}};
    int taken = 0;
    for (enum zmpi_type type = ZMPI_F32; type <= ZMPI_F64; type++)
        for (size_t i = 0; i < KIT_COUNT(shapes); i++)
            for (size_t j = i % 2; j < KIT_COUNT(bounds); j += test_long() ? 1 : 2)
                for (enum kit_data kind = 0; kind < KIT_DATA_KINDS; kind++) {
                    struct zmpi_array a = kit_array(type, shapes[i][0], shapes[i][1], shapes[i][2]);
                    taken += check(&a, bounds[j], kind) == ZMPI_INTERP;
                }
    cr_assert_geq(taken, 60, "only %d streams are by encoder 3", taken);
}

/* Planes that are like those `lag` before, whatever is between: rough by themselves. */
static void *make_planes(const struct zmpi_array *a, size_t lag)
{
    unsigned char *src = malloc(kit_bytes(a));
    size_t i = 0;
    for (size_t z = 0; z < a->extent[0]; z++)
        for (size_t y = 0; y < a->extent[1]; y++)
            for (size_t x = 0; x < a->extent[2]; x++, i++) {
                struct kit_random r = {1 + (z % lag * a->extent[1] + y) * a->extent[2] + x};
                const double v =
                    kit_unit(&r) + 0.01 * sin(0.1 * (double)(z + x)) * cos(0.2 * (double)y);
                kit_put(a->type, src, i, z % 7 == 6 ? sin(0.1 * (double)(x + y)) : v);
            }
    return src;
}

/* They are coded less those; and once more to the same. */
Test(interp, planes)
{
    static const struct {
        size_t extent[3], lag;
    } cases[] = {{{24, 40, 50}, 1},
                 {{60, 33, 47}, 12},
                 {{64, 2, 450}, 4},
                 {{81, 29, 2}, 3},
                 {{70, 130, 140}, 10}};
    for (size_t i = 0; i < KIT_COUNT(cases); i++) {
        const size_t *e = cases[i].extent;
        struct zmpi_array a = kit_array(i % 2 ? ZMPI_F64 : ZMPI_F32, e[0], e[1], e[2]);
        void *src = make_planes(&a, cases[i].lag);
        struct kit_stream s = compress(&a, kit_abs(1e-3), ZMPI_INTERP, 2, src);
        cr_assert_eq(family_of(&s), ZMPI_INTERP_PLANES, "case %zu: family %d", i, family_of(&s));
        void *once = kit_decompress(&s);
        kit_check(&a, src, once, 1e-3, "planes");
        struct kit_stream t = compress(&a, kit_abs(1e-3), ZMPI_INTERP, 1, once);
        void *twice = kit_decompress(&t);
        cr_assert_eq(memcmp(once, twice, kit_bytes(&a)), 0, "case %zu changes when coded again", i);
        free(twice);
        free(once);
        free(t.data);
        free(s.data);
        free(src);
    }
}

Test(interp, shapes)
{
    struct kit_random r = {5};
    int taken = 0, tried = 0;
    for (int i = 0; i < (test_long() ? 200 : 40); i++) {
        size_t e[3] = {1 + kit_below(&r, 40), 1 + kit_below(&r, 80), 1 + kit_below(&r, 150)};
        e[i % 3] = i % 4 ? e[i % 3] : 1;
        struct zmpi_array a = kit_array(i % 2 ? ZMPI_F32 : ZMPI_F64, e[0], e[1], e[2]);
        void *src = make_waves(&a, i % 5 == 4 ? 1e6 : 0, i % 3 ? 0 : 1e20);
        taken += check_data(&a, kit_rel(pow(10, -1 - i % 4)), src, "waves") == ZMPI_INTERP;
        tried += kit_bytes(&a) >= 65536;
        free(src);
    }
    cr_assert_geq(taken, tried / 2, "%d of %d", taken, tried);
}

/* Values that a step cannot hold: all are exceptions, or the chunk is stored, or nobody's. */
Test(interp, out_of_reach)
{
    struct zmpi_array a = kit_array(ZMPI_F64, 16, 16, 16);
    double src[4096];
    for (int spread = -2; spread <= 2; spread++)
        for (size_t i = 0; i < 4096; i++) {
            src[i] = sin(0.01 * (double)i) + (i % 97 == 0 ? ldexp(1, 30 * spread) : 0);
            if (i == 4095)
                check_data(&a, kit_abs(1e-4), src, "spikes");
        }
    for (size_t i = 0; i < 4096; i++)
        src[i] = 1e300 * sin(0.01 * (double)i);
    check_data(&a, kit_abs(1e-4), src, "far from 0");
    check_data(&a, kit_abs(1e297), src, "large");
    for (size_t i = 0; i < 4096; i++)
        src[i] = 1e-310 * (double)(i % 91);
    check_data(&a, kit_abs(1e-311), src, "subnormal");
}

/* Where f32 is about as coarse as the bound, what is decoded is rounded beyond it here and there:
 * those values are exceptions. By encoder 3 even where 2 is smaller. */
Test(interp, rounding)
{
    static const double ulps[] = {0.55, 0.7, 0.95, 1.6, 2.55, 9.51};
    struct zmpi_array a = kit_array(ZMPI_F32, 12, 24, 32);
    struct kit_random r = {9};
    float *src = malloc(kit_bytes(&a)), *out = malloc(kit_bytes(&a));
    const size_t capacity = 2 * zmpi_compress_capacity(&a);
    unsigned char *stream = malloc(capacity);
    for (size_t i = 0; i < kit_elements(&a); i++)
        src[i] = (float)(1e6 + 3 * sin(0.01 * (double)i) + 4 * kit_unit(&r));
    for (size_t k = 0; k < KIT_COUNT(ulps); k++) {
        const struct zmpi_bound bound = kit_abs(0.0625 * ulps[k]);
        struct zmpi_range range;
        struct zmpi_job job;
        size_t size;
        bool known;
        zmpi_range_of(a.type, src, kit_elements(&a), &range);
        cr_assert_eq(zmpi_job_make(&a, &bound, &range, &job), ZMPI_OK);
        job.encoder = ZMPI_INTERP;
        cr_assert_eq(
            zmpi_interp_compress(&job, stream, capacity, (const unsigned char *)src, &size, &known),
            ZMPI_OK);
        cr_assert_eq(zmpi_decompress(out, kit_bytes(&a), stream, size), ZMPI_OK);
        kit_check(&a, src, out, job.abs_bound, "rounding");
    }
    free(stream);
    free(src);
    free(out);
}

/* Streams that encoder 3 does not do are by encoder 2. */
Test(interp, leaves_others_to_encoder_2)
{
    struct zmpi_array f = kit_array(ZMPI_F32, 10, 20, 30), n = kit_array(ZMPI_I32, 10, 20, 30),
                      small = kit_array(ZMPI_F32, 1, 1, 100), none = kit_array(ZMPI_F32, 1, 0, 7);
    const struct zmpi_bound pw_rel = {ZMPI_PW_REL, 1e-2}, lossless = {ZMPI_LOSSLESS, 0};
    cr_assert_eq(check(&f, lossless, KIT_SMOOTH), ZMPI_HUFFMAN);
    cr_assert_eq(check(&f, pw_rel, KIT_SMOOTH), ZMPI_HUFFMAN);
    cr_assert_eq(check(&n, kit_abs(1), KIT_SMOOTH), ZMPI_HUFFMAN);
    cr_assert_eq(check(&small, kit_abs(1e-2), KIT_SMOOTH), ZMPI_HUFFMAN);
    cr_assert_eq(check(&none, kit_abs(1e-2), KIT_SMOOTH), ZMPI_HUFFMAN);
    cr_assert_eq(check(&f, kit_abs(1e-2), KIT_SMOOTH), ZMPI_INTERP);
}

Test(interp, fixed_costs)
{
    struct zmpi_array a = kit_array(ZMPI_F32, 128, 128, 64);
    float *src = malloc(kit_bytes(&a));
    for (size_t i = 0; i < kit_elements(&a); i++)
        src[i] = 300 + 1e-6F * (float)(i % 3);
    struct kit_stream s = compress(&a, kit_abs(1e-2), ZMPI_INTERP, 1, src);
    cr_assert_eq(encoder_of(&s), ZMPI_INTERP);
    cr_assert_leq(s.size, 250, "%zu bytes", s.size);
    free(s.data);
    free(src);
}

/* So many chunks that samples tell whether encoder 2 may be smaller: it is, or it is not. */
Test(interp, large)
{
    struct zmpi_array a = kit_array(ZMPI_F32, 200, 256, 256);
    struct kit_random r = {3};
    float *src = make_waves(&a, 0, 0);
    cr_assert_eq(check_data(&a, kit_abs(1e-2), src, "large waves"), ZMPI_INTERP);
    for (size_t i = 0; i < kit_elements(&a); i++)
        src[i] = (float)(int)(40 * kit_unit(&r)) + 0.3F * (float)(i / 256 % 2);
    check_data(&a, kit_abs(1e-2), src, "large noise");
    free(src);
}

/* Each chunk alone is decoded as it is among all. */
static void check_parts(const struct zmpi_array *a, const struct kit_stream *s)
{
    struct zmpi_stream p;
    cr_assert_eq(zmpi_stream_parse(&p, s->data, s->size), ZMPI_OK);
    unsigned char *whole = kit_decompress(s), *need = calloc(p.info.chunks, 1);
    for (size_t k = 0; k < p.info.chunks; k++) {
        size_t first[3], extent[3];
        unsigned char *part = calloc(kit_bytes(a), 1);
        memset(need, 0, p.info.chunks);
        need[k] = 1;
        cr_assert_eq(zmpi_stream_decode(&p, need, 2, part, NULL), ZMPI_OK);
        zmpi_stream_tile(&p, k, first, extent);
        size_t found = 0;
        for (size_t i = 0; i < kit_bytes(a); i++)
            found += part[i] != 0 && part[i] == whole[i];
        for (size_t i = 0; i < kit_bytes(a); i++)
            cr_assert(part[i] == 0 || part[i] == whole[i]);
        cr_assert_gt(found, extent[0] * extent[1] * extent[2]);
        free(part);
    }
    free(need);
    free(whole);
}

Test(interp, threads_and_parts)
{
    struct zmpi_array a = kit_array(ZMPI_F32, 90, 120, 100);
    struct zmpi_stream p;
    float *src = make_waves(&a, 3, 1e20);
    struct kit_stream s = compress(&a, kit_rel(1e-3), ZMPI_INTERP, 1, src);
    cr_assert_eq(encoder_of(&s), ZMPI_INTERP);
    for (int threads = 2; threads <= 5; threads++) {
        struct kit_stream t = compress(&a, kit_rel(1e-3), ZMPI_INTERP, threads, src);
        cr_assert_eq(t.size, s.size);
        cr_assert_arr_eq(t.data, s.data, s.size);
        free(t.data);
    }
    cr_assert_eq(zmpi_stream_parse(&p, s.data, s.size), ZMPI_OK);
    cr_assert_gt(p.info.chunks, 3);
    check_parts(&a, &s);
    unsigned char *whole = kit_decompress(&s);
    cr_assert_eq(zmpi_stream_compare(&p, whole, 3), ZMPI_OK);
    whole[kit_bytes(&a) / 2] ^= 1;
    cr_assert_eq(zmpi_stream_compare(&p, whole, p.info.chunks), ZMPI_ERR_DEVICE);
    free(whole);
    free(s.data);
    free(src);
}

/* Makes waves, noisy ones in the first three quarters of the planes. stored: the second quarter has
 * values of all magnitudes. */
static void *make_quarters(const struct zmpi_array *a, bool stored)
{
    unsigned char *src = make_waves(a, 0, 0);
    const size_t n = kit_elements(a);
    struct kit_random r = {9};
    for (size_t i = 0; i < 3 * n / 4; i++) {
        const double noise = kit_unit(&r);
        kit_put(a->type, src, i,
                stored && i >= n / 4 && i < n / 2 ? ldexp(noise, (int)(i % 60)) : noise);
    }
    return src;
}

/* Chunks that a thread decodes in pairs: of different extents, of different kinds, and damaged. */
Test(interp, two_at_a_time)
{
    static const size_t extents[][3] = {
        {91, 91, 91}, {201, 60, 70}, {1, 1021, 1025}, {1, 1, 900001}, {300, 301, 9}};
    for (size_t i = 0; i < KIT_COUNT(extents); i++) {
        const size_t *e = extents[i];
        const struct zmpi_array a = kit_array(i % 3 ? ZMPI_F32 : ZMPI_F64, e[0], e[1], e[2]);
        void *src = make_quarters(&a, i % 2);
        struct kit_stream s = compress(&a, kit_abs(1e-3), ZMPI_INTERP, 2, src);
        struct zmpi_stream p;
        size_t bad = 0;
        cr_assert_eq(encoder_of(&s), ZMPI_INTERP, "case %zu", i);
        cr_assert_eq(zmpi_stream_parse(&p, s.data, s.size), ZMPI_OK);
        cr_assert_geq(p.info.chunks, 3);
        check_parts(&a, &s);
        unsigned char *out = kit_decompress(&s);
        kit_check(&a, src, out, 1e-3, "quarters");
        const size_t second = p.head + zmpi_load32(s.data + 80);
        s.data[second + zmpi_load32(s.data + 88) - 64] ^= 4; /* a word of rANS, or a stored value */
        cr_assert_eq(zmpi_stream_decode(&p, NULL, 1, out, &bad), ZMPI_ERR_CHECKSUM);
        cr_assert_eq(bad, 1, "case %zu: chunk %zu", i, bad);
        mend(s.data, &p);
        const enum zmpi_status status = zmpi_stream_decode(&p, NULL, 1, out, &bad);
        cr_assert(status == ZMPI_ERR_CORRUPT || (i % 2 && !status), "case %zu: %d", i, (int)status);
        cr_assert_eq(bad, 1, "case %zu: chunk %zu", i, bad);
        free(out);
        free(s.data);
        free(src);
    }
}

/* Decoded data that are coded again by the same bound stay as they are. */
static void check_again(struct zmpi_array a, int turns)
{
    float *src = make_waves(&a, 3, 1e20), *now = malloc(kit_bytes(&a));
    memcpy(now, src, kit_bytes(&a));
    for (int turn = 0; turn < turns; turn++) {
        struct kit_stream s = compress(&a, kit_abs(2e-3), ZMPI_INTERP, 1, now);
        float *out = kit_decompress(&s);
        cr_assert_eq(encoder_of(&s), ZMPI_INTERP);
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

Test(interp, again)
{
    check_again(kit_array(ZMPI_F32, 24, 48, 48), 8);
    check_again(kit_array(ZMPI_F32, 72, 128, 128), 3); /* chosen by small samples first */
}

/* ---- damage ---- */

/* As `compress`, for a file in which arrays were coded before. */
static size_t compress_known(const struct zmpi_array *a, const double *src,
                             struct zmpi_interp_known *known, double *decoded)
{
    const struct zmpi_bound bound = {ZMPI_ABS, 1e-3};
    struct zmpi_job job;
    const size_t capacity = zmpi_compress_capacity(a);
    unsigned char *stream = malloc(capacity);
    size_t size;
    cr_assert_eq(zmpi_job_make(a, &bound, NULL, &job), ZMPI_OK);
    job.encoder = ZMPI_INTERP;
    job.interp = known;
    cr_assert_eq(zmpi_device_cpu()->compress(&job, stream, capacity, src, &size), ZMPI_OK);
    cr_assert_eq(zmpi_decompress(decoded, kit_bytes(a), stream, size), ZMPI_OK);
    free(stream);
    return size;
}

/* What was chosen for a step of a file is taken for the next one, but not for data that were
 * decoded: these stay as they are. */
Test(interp, remembers)
{
    const struct zmpi_array a = {ZMPI_F64, {40, 50, 60}};
    const size_t n = kit_elements(&a);
    struct zmpi_interp_known known = {0};
    double *src = make_waves(&a, 1, 0), *now = malloc(kit_bytes(&a)), *next = malloc(kit_bytes(&a));
    const size_t first = compress_known(&a, src, &known, now);
    cr_assert_eq(known.entry[0].calls, 1);
    for (int call = 2; call < 6; call++) {
        for (size_t i = 0; i < n; i++)
            src[i] *= 1.001;
        const size_t size = compress_known(&a, src, &known, now);
        cr_assert_leq(size, first + first / 10);
        kit_check(&a, src, now, 1e-3, "remembered");
        compress_known(&a, now, &known, next);
        cr_assert_eq(memcmp(now, next, kit_bytes(&a)), 0, "call %d changes decoded data", call);
    }
    cr_assert_eq(known.entry[0].calls, 9);
    cr_assert_eq(known.next, 1);
    /* What was decoded by another set: short waves along x. */
    for (size_t i = 0; i < n; i++)
        src[i] = sin(2.3 * (double)(i % 60)) * cos(0.1 * (double)(i / 60 % 50)) *
                 sin(1 + 0.07 * (double)(i / 3000));
    compress_known(&a, src, NULL, now);
    compress_known(&a, now, &known, next); /* call 10 */
    cr_assert_eq(memcmp(now, next, kit_bytes(&a)), 0, "another set's data change");
    free(src);
    free(now);
    free(next);
}

static void damage(const struct zmpi_array *a, const void *src, struct zmpi_bound bound)
{
    struct kit_stream s = compress(a, bound, ZMPI_INTERP, 1, src);
    cr_assert_eq(encoder_of(&s), ZMPI_INTERP);
    damage_stream(a, &s, 0);
    free(s.data);
}

Test(interp, damage)
{
    struct zmpi_array solid = kit_array(ZMPI_F32, 20, 30, 40),
                      flat = kit_array(ZMPI_F64, 1, 90, 70);
    void *a = make_waves(&solid, 0, 1e20), *b = make_waves(&flat, 0, 0);
    damage(&solid, a, kit_rel(1e-2));
    damage(&solid, a, kit_rel(1e-4));
    damage(&flat, b, kit_abs(1e-3));
    void *planes = make_planes(&solid, 4);
    damage(&solid, planes, kit_abs(1e-2));
    struct zmpi_array chunks = kit_array(ZMPI_F32, 1, 700, 700);
    void *two = make_quarters(&chunks, false);
    damage(&chunks, two, kit_abs(1e-2));
    free(two);
    free(planes);
    free(a);
    free(b);
}

/* Each field of the parameters by itself. */
Test(interp, wrong_parameters)
{
    const uint32_t tile[3] = {4, 8, 16};
    struct zmpi_interp_rule rule = {.type = ZMPI_F32, .unit = 0.5, .sets = 2}, back;
    unsigned char good[ZMPI_INTERP_HEAD], bad[ZMPI_INTERP_HEAD];
    static const struct {
        size_t at;
        unsigned char value;
    } wrong[] = {{7, 0x7F}, {7, 0xBF},   {8, 0},  {8, 5},  {8, 3},    {9, 1},
                 {10, 1},   {11, 1},     {12, 0}, {12, 3}, {13, 0},   {13, 8},
                 {13, 9},   {13, 0x63},  {14, 5}, {15, 5}, {16, 0},   {16, 2},
                 {16, 16},  {16, 9 + 2}, {18, 4}, {31, 3}, {32, 0x68}};
    rule.set[0] = (struct zmpi_interp_set){.family = ZMPI_INTERP_LATTICE, .axes = 3, .levels = 4};
    rule.set[1] = (struct zmpi_interp_set){.family = ZMPI_INTERP_LORENZO, .axes = 7, .shift = 2};
    for (int l = 0; l < 4; l++)
        for (unsigned p = 1; p < 4; p++)
            rule.set[0].way[l][p] = (unsigned char)(p | ZMPI_INTERP_CUBIC);
    const size_t size = zmpi_interp_save(&rule, good);
    cr_assert_eq(size, 36);
    cr_assert(zmpi_interp_load(&back, ZMPI_F32, tile, good, size));
    cr_assert_eq(back.set[0].levels, 4);
    cr_assert_eq(back.set[1].shift, 2);
    cr_assert_not(zmpi_interp_load(&back, ZMPI_F32, tile, good, size - 4));
    cr_assert_not(zmpi_interp_load(&back, ZMPI_F32, tile, good, size + 4));
    for (size_t i = 0; i < KIT_COUNT(wrong); i++) {
        memcpy(bad, good, sizeof bad);
        cr_assert_neq(bad[wrong[i].at], wrong[i].value, "case %zu", i);
        bad[wrong[i].at] = wrong[i].value;
        if (wrong[i].at == 7 && wrong[i].value == 0x7F)
            bad[6] = 0xF0; /* infinity */
        cr_assert_not(zmpi_interp_load(&back, ZMPI_F32, tile, bad, size), "case %zu", i);
    }
}

Test(interp, wrong_planes)
{
    const uint32_t tile[3] = {9, 8, 16};
    struct zmpi_interp_rule rule = {.type = ZMPI_F32, .unit = 0.5, .sets = 1}, back;
    unsigned char good[ZMPI_INTERP_HEAD], bad[ZMPI_INTERP_HEAD];
    static const unsigned char wrong[][2] = {{13, 4},  {13, 7},   {14, 0},
                                             {14, 65}, {14, 255}, {15, 5}};
    rule.set[0] = (struct zmpi_interp_set){
        .family = ZMPI_INTERP_PLANES, .axes = 1, .levels = 4, .lag = ZMPI_INTERP_LAG};
    for (int l = 0; l < 4; l++)
        rule.set[0].way[l][1] = 1;
    const size_t size = zmpi_interp_save(&rule, good);
    cr_assert(zmpi_interp_load(&back, ZMPI_F32, tile, good, size));
    cr_assert_eq(back.set[0].lag, ZMPI_INTERP_LAG);
    cr_assert_eq(back.set[0].levels, 4);
    for (size_t i = 0; i < KIT_COUNT(wrong); i++) {
        memcpy(bad, good, sizeof bad);
        bad[wrong[i][0]] = wrong[i][1];
        cr_assert_not(zmpi_interp_load(&back, ZMPI_F32, tile, bad, size), "case %zu", i);
    }
    for (size_t s = 12; s < size; s += 4)
        cr_assert_not(zmpi_interp_load(&back, ZMPI_F32, tile, good, s), "%zu bytes", s);
}

/* ---- real fields ---- */

/* At rel=1e-3, geometric mean over the f32 fields without fill values or NaN. */
#define LEAST_RATIO  15.5
#define RATIO_FIELDS 25

static double logs;
static int counted;

static void check_field(const struct field *f)
{
    static const double bounds[] = {1e-2, 1e-3, 1e-4};
    for (size_t i = 0; i < KIT_COUNT(bounds); i++)
        if (bounds[i] == 1e-3 || test_long()) {
            struct kit_stream s = compress(&f->array, kit_rel(bounds[i]), ZMPI_INTERP, 2, f->data);
            void *out = kit_decompress(&s);
            kit_check(&f->array, f->data, out, kit_abs_bound(&s), f->path);
            if (f->array.type == ZMPI_F32 && !f->filled && !strstr(f->path, "_nan_") &&
                bounds[i] == 1e-3) {
                logs += log((double)kit_bytes(&f->array) / (double)s.size);
                counted++;
            }
            free(out);
            free(s.data);
        }
}

Test(interp, fields)
{
    each_field(check_field);
    if (counted == RATIO_FIELDS)
        cr_assert_geq(exp(logs / counted), LEAST_RATIO, "%g", exp(logs / counted));
}
