/* rewritten.c - see rewritten.h. */
#include "bound/rewritten.h"

#include <string.h>

#include "layout/fills.h"

/* ---- elements ---- */

static uint64_t load(size_t width, const unsigned char *at)
{
    uint32_t narrow;
    uint64_t bits;
    if (width == 8) {
        memcpy(&bits, at, sizeof bits);
        return bits;
    }
    memcpy(&narrow, at, sizeof narrow);
    return narrow;
}

static void store(size_t width, unsigned char *at, uint64_t bits)
{
    const uint32_t narrow = (uint32_t)bits;
    if (width == 8)
        memcpy(at, &bits, sizeof bits);
    else
        memcpy(at, &narrow, sizeof narrow);
}

static double value_of(size_t width, uint64_t bits)
{
    const uint32_t narrow = (uint32_t)bits;
    double wide;
    float f;
    memcpy(&wide, &bits, sizeof wide);
    memcpy(&f, &narrow, sizeof f);
    return width == 8 ? wide : (double)f;
}

/* ---- steps ---- */

/* NaN exceeds every limit. */
static bool is_within(const struct zmpi_step *l, double x)
{
    return x <= l->limit && x >= -l->limit;
}

/* Adding and subtracting `magic` rounds a number below 2^51. The product is exact. */
static bool is_multiple(const struct zmpi_step *l, double x)
{
    const double magic = 0x1.8p52, q = (x * l->inverse + magic) - magic, back = q * l->step;
    return is_within(l, x) && back <= x && back >= x;
}

/* The steps that may have made x, as bits. */
static unsigned steps_of(const struct zmpi_chunk_rule *rule, double x)
{
    unsigned steps = 0;
    for (int k = 0; k < rule->levels; k++)
        steps |= (unsigned)is_multiple(&rule->level[k], x) << k;
    return steps;
}

static bool is_of_another(unsigned steps, int level)
{
    return steps && !(steps >> level & 1);
}

/* Adds to exact[k] the elements of a row that are exceptions by step k. */
static void count_row(const struct zmpi_chunk_rule *rule, size_t width, const unsigned char *at,
                      size_t n, size_t exact[ZMPI_STEP_LEVELS])
{
    for (size_t i = 0; i < n; i++) {
        const double x = value_of(width, load(width, at + i * width));
        const unsigned steps = steps_of(rule, x);
        for (int k = 0; k < rule->levels; k++)
            exact[k] += !is_within(&rule->level[k], x) || is_of_another(steps, k);
    }
}

struct zmpi_rewritten zmpi_rewritten_tile(const struct zmpi_chunk_rule *rule, enum zmpi_type type,
                                          const size_t extent[3], const struct zmpi_rows *rows,
                                          const struct zmpi_fills *fills)
{
    struct zmpi_rewritten r = {
        .rule = rule, .type = type, .extent = extent, .rows = rows, .one = *rule};
    size_t exact[ZMPI_STEP_LEVELS] = {0};
    for (size_t z = 0; z < extent[0]; z++)
        for (size_t y = 0; y < extent[1]; y++)
            count_row(rule, zmpi_type_size(type), rows->at + z * rows->plane + y * rows->row,
                      extent[2], exact);
    /* The last step is half as large: another bit for each element. */
    if (rule->levels == ZMPI_STEP_LEVELS)
        exact[ZMPI_STEP_LEVELS - 1] += extent[0] * extent[1] * extent[2] / 32;
    for (int k = 1; k < rule->levels; k++)
        if (exact[k] < exact[r.level])
            r.level = k;
    for (int i = 0; i < 2; i++)
        r.fill[i] = zmpi_fills_bits(fills, type, i);
    r.one.levels = 1;
    r.one.level[0] = rule->level[r.level];
    return r;
}

/* ---- elements that must not change ---- */

static bool is_kept(const struct zmpi_rewritten *r, size_t width, uint64_t bits)
{
    return bits == r->fill[0] || bits == r->fill[1] ||
           is_of_another(steps_of(r->rule, value_of(width, bits)), r->level);
}

void zmpi_rewritten_hide(struct zmpi_rewritten *r, unsigned char *words)
{
    const size_t width = zmpi_type_size(r->type), n = r->extent[0] * r->extent[1] * r->extent[2];
    zmpi_rows_gather(r->rows, r->extent, r->extent[2] * width, words);
    r->nan = zmpi_fills_nan(width, words, n);
    for (size_t i = 0; i < n; i++)
        if (is_kept(r, width, load(width, words + i * width)))
            store(width, words + i * width, r->nan);
}

bool zmpi_rewritten_show(const struct zmpi_rewritten *r, unsigned char *chunk, size_t size)
{
    const size_t width = zmpi_type_size(r->type), *const extent = r->extent;
    const uint64_t nan = zmpi_fills_of_file(width, r->nan);
    size_t to = zmpi_fills_values_at(width, extent[0] * extent[1] * extent[2], chunk, size);
    for (size_t z = 0; z < extent[0]; z++)
        for (size_t y = 0; y < extent[1]; y++) {
            const unsigned char *const row = r->rows->at + z * r->rows->plane + y * r->rows->row;
            for (size_t x = 0; x < extent[2]; x++) {
                const uint64_t bits = load(width, row + x * width);
                if (!is_kept(r, width, bits))
                    continue;
                while (to + width <= size && load(width, chunk + to) != nan)
                    to += width;
                if (to + width > size)
                    return false;
                store(width, chunk + to, zmpi_fills_of_file(width, bits));
            }
        }
    return true;
}
