/* flare_chunk.h - chunks of the profile FLARE, coded and decoded by the C. */
#ifndef ZMPI_FLARE_CHUNK_H
#define ZMPI_FLARE_CHUNK_H

#include "kit.h"

#include "interp/flare/flare.h"

/* Waves in units, noise; some have no value, some are far from all others. */
static inline void make_values(int32_t *value, const size_t e[3], struct kit_random *r)
{
    for (size_t i = 0; i < e[0] * e[1] * e[2]; i++) {
        const double x = (double)(i % e[2]), y = (double)(i / e[2] % e[1]);
        const double z = (double)(i / e[2] / e[1]);
        value[i] = (int32_t)(2e5 * sin(0.13 * x + 0.02 * y) * cos(0.09 * z) + 900 * kit_unit(r));
        if (kit_below(r, 200) == 0)
            value[i] = kit_below(r, 2) ? INT32_MIN : (int32_t)(6e7 * (kit_unit(r) - 0.5));
    }
}

static inline size_t count_of(const size_t e[3])
{
    return e[0] * e[1] * e[2];
}

/* ---- by the C ---- */

static inline struct zmpi_interp_work *work_of(const size_t e[3], bool encode)
{
    static const struct zmpi_interp_set flat = {.family = ZMPI_INTERP_LORENZO};
    struct zmpi_interp_work *w = zmpi_interp_work_new(e, NULL, 0, encode);
    zmpi_interp_layout(w, &flat, e);
    w->mode = encode ? ENCODE : DECODE;
    return w;
}

static inline int32_t *cell(struct zmpi_interp_work *w, const size_t e[3], size_t i)
{
    const struct cells *f = &w->flat;
    return f->value + i / e[2] / e[1] * f->plane + i / e[2] % e[1] * f->row + i % e[2];
}

/* Values become what they are decoded to. Returns the bytes. */
static inline unsigned char *by_c(const size_t e[3], int32_t *value, size_t *size)
{
    const size_t n = count_of(e), most = 8 * n + 4096;
    unsigned char *bytes = malloc(most);
    struct zmpi_interp_work *w = work_of(e, true);
    for (size_t i = 0; i < n; i++)
        *cell(w, e, i) = value[i];
    zmpi_flare_encode(w, e);
    *size = zmpi_flare_pack(w, bytes, most);
    for (size_t i = 0; i < n; i++)
        value[i] = *cell(w, e, i);
    zmpi_interp_work_free(w);
    cr_assert_gt(*size, 0);
    return bytes;
}

static inline bool back_by_c(const size_t e[3], const unsigned char *src, size_t size,
                             int32_t *value)
{
    struct zmpi_interp_work *w = work_of(e, false);
    const bool good = zmpi_flare_decode(w, e, src, size);
    for (size_t i = 0; i < count_of(e); i++)
        value[i] = *cell(w, e, i);
    zmpi_interp_work_free(w);
    return good;
}

#endif
