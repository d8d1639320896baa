/*
 * enhance_streams.c - values that the network changes keep the bound; parts are as the whole;
 * damaged sections are refused.
 */
#include "nets.h"

#include "base/bytes.h"
#include "interp/interp.h"

/* ---- streams ---- */

struct field {
    struct zmpi_array array;
    size_t bytes;
    unsigned char *original, *plain;
    struct kit_stream coded;
    struct zmpi_stream s;
};

static void put(struct field *f, size_t i, double x)
{
    const float narrow = (float)x;
    if (f->array.type == ZMPI_F32)
        memcpy(f->original + 4 * i, &narrow, sizeof narrow);
    else
        memcpy(f->original + 8 * i, &x, sizeof x);
}

static double get(const struct field *f, const unsigned char *values, size_t i)
{
    float narrow;
    double wide;
    if (f->array.type == ZMPI_F32) {
        memcpy(&narrow, values + 4 * i, sizeof narrow);
        return (double)narrow;
    }
    memcpy(&wide, values + 8 * i, sizeof wide);
    return wide;
}

/* Waves with some noise, and a few values that are exact. */
static void make_field(struct field *f, enum zmpi_type type, size_t ny, size_t nx)
{
    struct kit_random r = {3};
    *f = (struct field){.array = kit_array(type, 2, ny, nx)};
    f->bytes = kit_bytes(&f->array);
    f->original = malloc(f->bytes);
    f->plain = malloc(f->bytes);
    const size_t n = kit_elements(&f->array);
    for (size_t i = 0; i < n; i++)
        put(f, i, sin((double)(i % nx) / 9) * cos((double)(i / nx) / 7) + 0.004 * kit_unit(&r));
    put(f, 40, NAN);
    put(f, 4000, INFINITY);
    put(f, 4001, -0.0);
    put(f, 4900, 1e30);
    const struct zmpi_codec_options o = {.size = sizeof o, .encoder = ZMPI_INTERP, .threads = 1};
    const struct zmpi_bound bound = kit_abs(0.02);
    const size_t capacity = zmpi_compress_capacity(&f->array);
    f->coded.data = malloc(capacity);
    cr_assert_eq(zmpi_compress_with(&o, &f->array, &bound, NULL, f->coded.data, capacity,
                                    f->original, &f->coded.size),
                 ZMPI_OK);
    cr_assert_eq(zmpi_stream_parse(&f->s, f->coded.data, f->coded.size), ZMPI_OK);
    cr_assert_eq(f->s.info.encoder, ZMPI_INTERP);
    cr_assert_eq(zmpi_stream_decode(&f->s, NULL, 1, f->plain, NULL), ZMPI_OK);
}

static void free_field(struct field *f)
{
    free(f->original);
    free(f->plain);
    free(f->coded.data);
}

static void gather(const struct field *f, size_t k, const unsigned char *array, unsigned char *dst,
                   size_t extent[3])
{
    size_t first[3];
    zmpi_stream_tile(&f->s, k, first, extent);
    for (size_t z = 0; z < extent[0]; z++)
        for (size_t y = 0; y < extent[1]; y++, dst += extent[2] * f->s.width)
            memcpy(dst,
                   array + (((first[0] + z) * f->s.extent[1] + first[1] + y) * f->s.extent[2] +
                            first[2]) *
                               f->s.width,
                   extent[2] * f->s.width);
}

/* A section for all chunks but the last, malloc'ed. */
static unsigned char *make_section(const struct field *f, const struct zmpi_net *net,
                                   unsigned times, int least, size_t *size)
{
    struct zmpi_enhancer e = {.net = *net, .times = times, .least = least};
    const size_t n = f->s.info.chunks, elements = kit_elements(&f->array);
    unsigned char *section = calloc(1, 4096 + 4 * n + 2 * elements), *words = malloc(f->bytes),
                  *decoded = malloc(f->bytes), *at = section + 32 + ZMPI_NET_BYTES;
    int8_t *out = malloc(elements);
    struct zmpi_net_work *w = zmpi_net_work_new(net);
    section[5] = (unsigned char)times;
    section[6] = (unsigned char)least;
    zmpi_store32(section + 24, 1);
    zmpi_net_save(net, section + 32);
    memcpy(at, f->s.src + 72, 8);
    zmpi_store32(at + 8, (uint32_t)n);
    unsigned char *flags = at + 16 + 4 * n;
    for (size_t k = 0; k < n && (n == 1 || k + 1 < n); k++) {
        size_t extent[3];
        gather(f, k, f->original, words, extent);
        gather(f, k, f->plain, decoded, extent);
        zmpi_net_run(w, f->array.type, f->s.info.abs_bound, extent, decoded, out);
        const struct zmpi_gain gain =
            zmpi_enhance_try(&e, f->array.type, f->s.info.abs_bound,
                             extent[0] * extent[1] * extent[2], words, decoded, out, flags);
        zmpi_store32(at + 16 + 4 * k, (uint32_t)gain.flags + 1);
        flags += gain.flags;
    }
    *size = (size_t)(flags - section);
    zmpi_section_seal(section, *size, 7);
    zmpi_net_work_free(w);
    free(words);
    free(decoded);
    free(out);
    return section;
}

/* Random weights push values anywhere: flags must keep all that would leave the bound. */
static void check_values(struct field *f, const struct zmpi_net *net, unsigned times, int least)
{
    size_t size, changed = 0;
    struct zmpi_enhancer e;
    unsigned char *section = make_section(f, net, times, least, &size);
    unsigned char *whole = malloc(f->bytes), *part = malloc(f->bytes);
    unsigned char *need = calloc(f->s.info.chunks, 1);
    cr_assert_eq(zmpi_enhancer_parse(&e, section, size, 7), ZMPI_OK);
    struct zmpi_stream s = f->s;
    cr_assert_eq(zmpi_enhancer_find(&e, &s, &s.enhanced), ZMPI_OK);
    cr_assert(s.enhanced);
    cr_assert_eq(zmpi_stream_decode(&s, NULL, 3, whole, NULL), ZMPI_OK);
    const double bound = f->s.info.abs_bound;
    for (size_t i = 0; i < kit_elements(&f->array); i++) {
        const double x = get(f, f->original, i), was = get(f, f->plain, i), is = get(f, whole, i);
        changed += is > was || is < was;
        if (!isfinite(x) || !(fabs(x - was) > 0))
            cr_assert_eq(memcmp(whole + i * s.width, f->plain + i * s.width, s.width), 0, "%zu", i);
        else
            cr_assert_lt(fabs(x - is), times * bound, "element %zu: %g, was %g, is %g", i, x, was,
                         is);
    }
    cr_assert_gt(changed, 1000);
    /* A part of the stream, as rows that are copied. */
    const struct zmpi_copy copies[] = {{4 * s.width, 0, 10000}, {30000, 10000, 20000}};
    zmpi_stream_mark(&s, 0, 50000, need);
    cr_assert_eq(zmpi_stream_copy(&s, need, 1, copies, 2, part), ZMPI_OK);
    cr_assert_arr_eq(part, whole + 4 * s.width, 10000);
    cr_assert_arr_eq(part + 10000, whole + 30000, 20000);
    zmpi_enhancer_free(&e);
    free(whole);
    free(part);
    free(need);
}

Test(enhance, keeps_the_bound)
{
    struct kit_random r = {4};
    struct zmpi_net net;
    for (int type = ZMPI_F32; type <= ZMPI_F64; type++) {
        struct field f;
        make_field(&f, (enum zmpi_type)type, 70, 131);
        make_net(&r, false, &net);
        check_values(&f, &net, 1, 1);
        check_values(&f, &net, 2, 5);
        make_net(&r, true, &net);
        check_values(&f, &net, 1, 64);
        free_field(&f);
    }
}

/* ---- damage ---- */

static enum zmpi_status parse(const unsigned char *section, size_t size, const struct field *f)
{
    struct zmpi_enhancer e;
    unsigned char *copy = malloc(size ? size : 1);
    memcpy(copy, section, size);
    enum zmpi_status status = zmpi_enhancer_parse(&e, copy, size, 7);
    if (status) {
        free(copy);
        return status;
    }
    struct zmpi_stream s = f->s;
    unsigned char *values = malloc(f->bytes);
    if (zmpi_enhancer_find(&e, &s, &s.enhanced) == ZMPI_OK)
        cr_assert_eq(zmpi_stream_decode(&s, NULL, 1, values, NULL), ZMPI_OK);
    free(values);
    zmpi_enhancer_free(&e);
    return ZMPI_OK;
}

Test(enhance, damage_is_seen)
{
    struct kit_random r = {5};
    struct zmpi_net net;
    struct field f;
    size_t size;
    make_field(&f, ZMPI_F32, 19, 131); /* decoded hundreds of times */
    make_net(&r, false, &net);
    unsigned char *section = make_section(&f, &net, 1, 3, &size);
    unsigned char *other = malloc(size + 8);
    cr_assert_eq(parse(section, size, &f), ZMPI_OK);
    for (size_t n = 0; n < size; n += n < 64 ? 1 : 97)
        cr_assert_eq(parse(section, n, &f), ZMPI_ERR_CHECKSUM);
    for (size_t i = 0; i < size; i += i < 64 ? 1 : 31) {
        memcpy(other, section, size);
        other[i] ^= 4;
        cr_assert_eq(parse(other, size, &f), ZMPI_ERR_CHECKSUM, "byte %zu", i);
        if (i < 24) /* what the seal itself writes */
            continue;
        zmpi_section_seal(other, size,
                          7); /* whatever it says now, nothing is touched that is not ours */
        const enum zmpi_status status = parse(other, size, &f);
        cr_assert(status == ZMPI_OK || status == ZMPI_ERR_CORRUPT, "byte %zu", i);
    }
    memcpy(other, section, size);
    other[size] = 0;
    zmpi_section_seal(other, size + 1, 7);
    cr_assert_eq(parse(other, size + 1, &f), ZMPI_ERR_CORRUPT);
    /* Flags that end far behind the section, where another stream would begin. */
    zmpi_store32(other + 24, 2);
    zmpi_store32(other + 32 + ZMPI_NET_BYTES + 16, 0xf0000000);
    zmpi_section_seal(other, size, 7);
    cr_assert_eq(parse(other, size, &f), ZMPI_ERR_CORRUPT);
    free(section);
    free(other);
    free_field(&f);
}
