/* measured.c - the errors of a stream's middle chunk are those of the decoded array. */
#include "stream/measured.h"

#include "kit.h"

/* The same by the whole array. */
static struct zmpi_measured of_chunk(const struct zmpi_stream *s, const void *x, const void *y)
{
    struct zmpi_measured m = {0, 0, 0};
    size_t first[3], extent[3];
    zmpi_stream_tile(s, s->info.chunks / 2, first, extent);
    for (size_t i = 0; i < extent[0] * extent[1] * extent[2]; i++) {
        const size_t z = first[0] + i / extent[2] / extent[1];
        const size_t yy = first[1] + i / extent[2] % extent[1], xx = first[2] + i % extent[2];
        const size_t at = (z * s->extent[1] + yy) * s->extent[2] + xx;
        const double error =
            fabs(kit_get(s->info.array.type, x, at) - kit_get(s->info.array.type, y, at));
        if (!isfinite(error))
            continue;
        m.largest = fmax(m.largest, error);
        m.squares += error * error;
        m.count++;
    }
    return m;
}

static void check(const struct zmpi_array *a, enum kit_data pattern, double bound)
{
    struct kit_random r = {9};
    void *x = kit_make(&r, a, pattern);
    struct kit_stream coded = kit_compress(a, kit_abs(bound), x);
    void *y = kit_decompress(&coded);
    struct zmpi_stream s;
    struct zmpi_measured m = {0, 0, 0};
    cr_assert(!zmpi_stream_parse(&s, coded.data, coded.size));
    const struct zmpi_measured expected = of_chunk(&s, x, y);
    zmpi_measure(&s, x, &m);
    cr_assert(m.count > 0 && fabs(m.count - expected.count) < 0.5, "%g %g", m.count,
              expected.count);
    cr_assert(m.largest > 0 && fabs(m.largest - expected.largest) <= 1e-15 * m.largest);
    cr_assert(fabs(m.squares - expected.squares) <= 1e-9 * m.squares);
    cr_assert(m.largest <= bound);
    /* Another stream only adds to it. */
    zmpi_measure(&s, x, &m);
    cr_assert(fabs(m.count - 2 * expected.count) < 0.5);
    cr_assert(fabs(m.largest - expected.largest) <= 1e-15 * m.largest);
    free(coded.data);
    free(x);
    free(y);
}

Test(measured, chunk)
{
    static const size_t shapes[][3] = {{1, 1, 5000}, {1, 1, 50000}, {1, 301, 299}, {30, 70, 50}};
    for (int t = 0; t < 2; t++)
        for (size_t i = 0; i < KIT_COUNT(shapes); i++) {
            const struct zmpi_array a =
                kit_array(t ? ZMPI_F64 : ZMPI_F32, shapes[i][0], shapes[i][1], shapes[i][2]);
            check(&a, KIT_NOISE, 1e-2);
            check(&a, KIT_SPECIAL, 1e-2);
        }
}

/* Neither whole numbers nor nothing. */
Test(measured, none)
{
    struct kit_random r = {9};
    for (int t = 0; t < 2; t++) {
        const struct zmpi_array a = kit_array(t ? ZMPI_I32 : ZMPI_F32, 1, 1, t ? 1000 : 0);
        void *x = kit_make(&r, &a, KIT_NOISE);
        struct kit_stream coded = kit_compress(&a, kit_abs(1), x);
        struct zmpi_measured m = {0, 0, 0};
        struct zmpi_stream s;
        cr_assert(!zmpi_stream_parse(&s, coded.data, coded.size));
        zmpi_measure(&s, x, &m);
        cr_assert(!(m.count > 0));
        free(coded.data);
        free(x);
    }
}
