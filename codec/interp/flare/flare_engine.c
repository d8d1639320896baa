/* flare_engine.c - hardware in place of flare_levels.c and flare_codes.c, if a program has set an
 * engine. */
#include <stdlib.h>

#include "interp/flare/flare.h"

static const struct zmpi_flare_engine *engine;

void zmpi_flare_use(const struct zmpi_flare_engine *e)
{
    engine = e;
}

/* A code takes at most 44 bits, an escape 4 bytes. */
static size_t most_bytes(size_t elements)
{
    return 10 * elements + 8192;
}

static int32_t *row_of(struct zmpi_interp_work *w, const size_t extent[3], size_t row)
{
    return w->flat.value + row / extent[1] * w->flat.plane + row % extent[1] * w->flat.row;
}

static void scatter(struct zmpi_interp_work *w, const size_t extent[3], const int32_t *value)
{
    for (size_t row = 0; row < extent[0] * extent[1]; row++)
        memcpy(row_of(w, extent, row), value + row * extent[2], extent[2] * sizeof *value);
}

bool zmpi_flare_engine_encode(struct zmpi_flare_made *m, struct zmpi_interp_work *w,
                              const size_t extent[3])
{
    const size_t n = extent[0] * extent[1] * extent[2];
    m->size = 0;
    if (!engine)
        return false;
    if (!m->value)
        m->value = malloc(w->capacity.most * sizeof *m->value);
    if (!m->bytes)
        m->bytes = malloc(most_bytes(w->capacity.most));
    if (!m->value || !m->bytes)
        return false;
    for (size_t row = 0; row < extent[0] * extent[1]; row++)
        memcpy(m->value + row * extent[2], row_of(w, extent, row), extent[2] * sizeof *m->value);
    m->size = engine->encode(extent, m->value, m->bytes, most_bytes(n));
    if (!m->size)
        return false;
    scatter(w, extent, m->value);
    m->zero = true; /* all codes are 0 if and only if all decoded values are 0 */
    for (size_t i = 0; i < n; i++)
        m->zero &= m->value[i] == 0;
    return true;
}

bool zmpi_flare_engine_decode(struct zmpi_interp_work *w, const size_t extent[3],
                              const unsigned char *src, size_t size)
{
    if (!engine)
        return false;
    int32_t *value = malloc(extent[0] * extent[1] * extent[2] * sizeof *value);
    const bool good = value && engine->decode(extent, src, size, value);
    if (good)
        scatter(w, extent, value);
    free(value);
    return good;
}

void zmpi_flare_made_free(struct zmpi_flare_made *m)
{
    free(m->value);
    free(m->bytes);
}
