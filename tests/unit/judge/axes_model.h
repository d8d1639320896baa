/*
 * axes_model.h - the choice of axes literally as in format.md 4.6: whole tiles of integers, and
 * residuals by their definition.
 */
#ifndef ZMPI_UNIT_AXES_MODEL_H
#define ZMPI_UNIT_AXES_MODEL_H

#include "device.h"
#include "kit.h"
#include "layout/chunk.h"
#include "layout/tile.h"

/* An array in words, its tiles, and the integers of one tile. */
struct model {
    enum zmpi_type type;
    size_t width, words[3], tile[3], grid[3], chunks, whole;
    struct zmpi_chunk_rule rule;
    const unsigned char *data;
    size_t first[3], extent[3];
    uint64_t mask; /* of a word's bits */
    uint64_t *q;
    bool *fits;
};

static inline uint64_t integer(const struct model *m, const unsigned char *at, bool *fits)
{
    uint64_t u = 0, sign = (m->mask >> 1) + 1;
    float f = 0;
    double d = 0;
    memcpy(&u, at, m->width);
    *fits = true;
    if (m->rule.levels == 0)
        return kit_is_float(m->type) && u & sign ? u ^ (sign - 1) : u;
    memcpy(m->width == 4 ? (void *)&f : (void *)&d, at, m->width);
    double x = m->width == 4 ? (double)f : d;
    const struct zmpi_step *l = &m->rule.level[m->rule.levels - 1];
    *fits = fabs(x) <= l->limit;
    if (!*fits)
        return 0;
    x = m->width == 4 ? (double)(f * (float)l->inverse) : d * l->inverse;
    return (uint64_t)(int64_t)rint(x) & m->mask;
}

static inline void load_tile(struct model *m, size_t k)
{
    const size_t at[3] = {k / m->grid[2] / m->grid[1], k / m->grid[2] % m->grid[1], k % m->grid[2]};
    size_t n = 0;
    for (int i = 0; i < 3; i++) {
        m->first[i] = at[i] * m->tile[i];
        size_t left = m->words[i] - m->first[i];
        m->extent[i] = left < m->tile[i] ? left : m->tile[i];
    }
    for (size_t z = 0; z < m->extent[0]; z++)
        for (size_t y = 0; y < m->extent[1]; y++)
            for (size_t x = 0; x < m->extent[2]; x++, n++) {
                size_t word = ((m->first[0] + z) * m->words[1] + m->first[1] + y) * m->words[2] +
                              m->first[2] + x;
                m->q[n] = integer(m, m->data + word * m->width, &m->fits[n]);
            }
    for (size_t i = n; i-- > 0;)
        m->q[i] = (m->q[i] - m->q[0]) & m->mask;
}

/* Differences along `axes` at element i of the tile. */
static inline uint64_t residual(const struct model *m, size_t i, unsigned axes)
{
    const size_t row = m->extent[2], plane = row * m->extent[1];
    if (axes == 1)
        return (m->q[i] - (i ? m->q[i - 1] : 0)) & m->mask;
    if (axes & 1)
        return (residual(m, i, axes - 1) - (i % row ? residual(m, i - 1, axes - 1) : 0)) & m->mask;
    if (axes & 2)
        return (residual(m, i, axes - 2) -
                (i % plane >= row ? residual(m, i - row, axes - 2) : 0)) &
               m->mask;
    if (axes & 4)
        return (m->q[i] - (i >= plane ? m->q[i - plane] : 0)) & m->mask;
    return m->q[i];
}

/* Are element i and its neighbours along y, z and both all within the limit? */
static inline bool counts(const struct model *m, size_t i)
{
    const size_t row = m->extent[2], plane = row * m->extent[1];
    bool y = i % plane >= row, z = i >= plane;
    return m->fits[i] && (!y || m->fits[i - row]) && (!z || m->fits[i - plane]) &&
           (!y || !z || m->fits[i - plane - row]);
}

static inline bool add_costs(const struct model *m, size_t block, size_t cost[8])
{
    const size_t count = m->extent[0] * m->extent[1] * m->extent[2], first = 32 * block;
    const size_t end = first + 32 < count ? first + 32 : count;
    for (size_t i = first ? first - 1 : 0; i < end; i++)
        if (!counts(m, i))
            return false;
    for (unsigned axes = 0; axes < 8; axes++) {
        size_t length = 0;
        for (size_t i = first; i < end; i++) {
            uint64_t r = residual(m, i, axes), negative = (0 - r) & m->mask, bits = 0;
            for (uint64_t a = r > m->mask >> 1 ? negative : r; a; a >>= 1)
                bits++;
            length = bits > length ? bits : length;
        }
        cost[axes] += length ? length + 1 : 0;
    }
    return true;
}

static inline size_t samples(const struct model *m)
{
    const size_t n = m->whole / 131072, least = m->whole <= 16384 ? 16 : 32;
    return n < least ? least : n > 128 ? 128 : n;
}

static inline size_t costs(struct model *m, size_t n, size_t cost[8])
{
    size_t counted = 0;
    memset(cost, 0, 8 * sizeof *cost);
    for (size_t i = 0; i < n && m->chunks; i++) {
        load_tile(m, (2 * i + 1) * m->chunks / (2 * n));
        size_t blocks = (m->extent[0] * m->extent[1] * m->extent[2] + 31) / 32;
        counted += add_costs(m, (40503 * i % 65536) * blocks / 65536, cost);
    }
    return counted;
}

static inline unsigned least_of(const size_t cost[8], unsigned sets)
{
    unsigned best = 8;
    for (unsigned axes = 8; axes-- > 0;)
        if (sets >> axes & 1 && (best == 8 || cost[axes] <= cost[best]))
            best = axes;
    return best;
}

static inline unsigned expected_axes(struct model *m)
{
    size_t cost[8];
    return costs(m, samples(m), cost) ? least_of(cost, 255) : ZMPI_AXIS_X;
}
static inline struct model model_new(const struct zmpi_job *job, const unsigned char *data,
                                     size_t bytes)
{
    struct model m = {.type = job->array.type, .data = data};
    m.width = m.type == ZMPI_F64 || m.type == ZMPI_I64 ? 8 : 4;
    m.mask = m.width == 4 ? UINT32_MAX : UINT64_MAX;
    m.whole = bytes / m.width;
    memcpy(m.words, job->array.extent, sizeof m.words);
    zmpi_tile_normalize(m.words);
    if (m.type == ZMPI_BYTES)
        m.words[2] = bytes / 4 + (bytes % 4 != 0);
    zmpi_tile_choose(m.words, m.width, m.tile);
    m.chunks = 1;
    for (int i = 0; i < 3; i++)
        m.chunks *= m.grid[i] = (m.words[i] + m.tile[i] - 1) / m.tile[i];
    m.chunks -= bytes % m.width != 0;
    zmpi_chunk_rule_make(&m.rule, m.type, job->abs_bound, job->keep);
    m.q = calloc(ZMPI_CHUNK_INPUT_BYTES, sizeof *m.q);
    m.fits = calloc(ZMPI_CHUNK_INPUT_BYTES, sizeof *m.fits);
    return m;
}

static inline void model_free(struct model *m)
{
    free(m->q);
    free(m->fits);
}
#endif
