/* overwritten.c - what lies in place of a container's data is told from them: real fields are
 * another program's, no stream is (codec/reader/overwritten.h). */
#include "field.h"
#include "reader/overwritten.h"

enum { LOOKED_AT = ZMPI_FOREIGN_LOOKED_AT + 4 };

static size_t pieces, found;

static void check_field(const struct field *f)
{
    const size_t bytes = kit_bytes(&f->array);
    const unsigned char *data = f->data;
    for (size_t at = 0; at + LOOKED_AT <= bytes; at += LOOKED_AT) {
        pieces++;
        found += zmpi_overwritten_foreign(data + at);
    }
}

Test(overwritten, fields, .timeout = 300)
{
    each_field(check_field);
    cr_assert(4 * found > 3 * pieces, "%zu of %zu", found, pieces);
}

/* With any encoder, stored chunks too; streams that are no smaller than the array are not asked
 * for. */
static void check_streams(const struct field *f)
{
    static const struct zmpi_bound bound[] = {
        {ZMPI_LOSSLESS, 0}, {ZMPI_REL, 1e-3}, {ZMPI_REL, 1e-6}};
    const size_t capacity = zmpi_compress_capacity(&f->array);
    unsigned char *stream = malloc(capacity);
    for (unsigned i = 0; i < 3 * KIT_COUNT(bound); i++) {
        const struct zmpi_codec_options o = {.size = sizeof o, .encoder = ZMPI_FLE + (int)i % 3};
        size_t size;
        cr_assert_eq(zmpi_compress_with(&o, &f->array, &bound[i / 3], NULL, stream, capacity,
                                        f->data, &size),
                     ZMPI_OK);
        for (size_t at = 0; at + LOOKED_AT <= size && size < kit_bytes(&f->array); at += 16388)
            cr_assert_not(zmpi_overwritten_foreign(stream + at), "%s, %u at %zu", f->path, i, at);
    }
    free(stream);
}

Test(overwritten, streams, .timeout = 300)
{
    each_field(check_streams);
}
