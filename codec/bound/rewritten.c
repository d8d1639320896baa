/* rewritten.c - see rewritten.h. */
#include "bound/rewritten.h"

#include <string.h>

#include "interp/interp_work.h"
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

/* ---- grids ---- */

struct zmpi_grids zmpi_rewritten_grids(const struct zmpi_job *job,
                                       const struct zmpi_chunk_rule *rule)
{
    struct zmpi_grids g = {.type = job->array.type, .levels = rule->levels};
    struct zmpi_chunk_rule by_unit;
    memcpy(g.step, rule->level, sizeof rule->level);
    if (job->bound.mode == ZMPI_ABS && job->rewritten >= ZMPI_REWRITTEN_BY_STEPS)
        g.unit = zmpi_interp_unit(job->abs_bound) *
                 (job->rewritten == ZMPI_REWRITTEN_BY_ANY ? 1 : ZMPI_INTERP_STEP);
    /* Encoder 3 multiplies in f64. */
    if (g.unit > 0 && g.type == ZMPI_F64 &&
        zmpi_chunk_rule_unit(&by_unit, g.type, job->abs_bound, g.unit, job->keep))
        g.step[ZMPI_GRID_UNIT] = by_unit.level[0];
    return g;
}

bool zmpi_rewritten_is(const struct zmpi_job *job, const void *src)
{
    enum { SAMPLES = 4096 };
    const size_t n = job->array.extent[0] * job->array.extent[1] * job->array.extent[2];
    const size_t each = n / SAMPLES + 1;
    struct zmpi_chunk_rule rule;
    size_t on = 0, seen = 0;
    if (job->bound.mode != ZMPI_ABS || (job->array.type != ZMPI_F32 && job->array.type != ZMPI_F64))
        return false;
    zmpi_chunk_rule_make(&rule, job->array.type, job->abs_bound, job->keep);
    const struct zmpi_grids grids = zmpi_rewritten_grids(job, &rule);
    for (size_t i = 0; i < n; i += each) {
        const double x = zmpi_interp_value(job->array.type, src, i);
        seen += x < 0 || x > 0;
        on += (x < 0 || x > 0) && zmpi_grids_of(&grids, x);
    }
    return on > seen / 8;
}

static bool is_of_another(unsigned grids, int step)
{
    return grids && !(grids >> step & 1);
}

/* Adds to exact[k] the elements of a row that are exceptions by step k, to kept[k] those that are
 * on another grid. */
static void count_row(const struct zmpi_grids *grids, size_t width, const unsigned char *at,
                      size_t n, size_t exact[ZMPI_GRIDS], size_t kept[ZMPI_GRIDS])
{
    for (size_t i = 0; i < n; i++) {
        const double x = value_of(width, load(width, at + i * width));
        const unsigned on = zmpi_grids_of(grids, x);
        for (int k = 0; k < ZMPI_GRIDS; k++) {
            const bool keep = is_of_another(on, k);
            exact[k] += keep || !zmpi_step_reaches(&grids->step[k], x);
            kept[k] += keep;
        }
    }
}

struct zmpi_rewritten zmpi_rewritten_tile(const struct zmpi_grids *grids,
                                          const struct zmpi_chunk_rule *rule,
                                          const size_t extent[3], const struct zmpi_rows *rows,
                                          const struct zmpi_fills *fills)
{
    struct zmpi_rewritten r = {
        .grids = grids, .type = grids->type, .extent = extent, .rows = rows, .one = *rule};
    const size_t n = extent[0] * extent[1] * extent[2];
    size_t exact[ZMPI_GRIDS] = {0}, kept[ZMPI_GRIDS] = {0};
    for (size_t z = 0; z < extent[0]; z++)
        for (size_t y = 0; y < extent[1]; y++)
            count_row(grids, zmpi_type_size(r.type), rows->at + z * rows->plane + y * rows->row,
                      extent[2], exact, kept);
    /* The last level is half as large: another bit for each element. The unit takes 8 bits. */
    if (rule->levels == ZMPI_STEP_LEVELS)
        exact[ZMPI_STEP_LEVELS - 1] += n / 32;
    exact[ZMPI_GRID_UNIT] += n / 8;
    for (int k = 1; k < ZMPI_GRIDS; k++)
        if (grids->step[k].limit > 0 && exact[k] < exact[r.level])
            r.level = k;
    for (int i = 0; i < 2; i++)
        r.fill[i] = zmpi_fills_bits(fills, r.type, i);
    r.mostly = kept[r.level] > n / 2;
    r.one.levels = 1;
    r.one.level[0] = grids->step[r.level];
    return r;
}

/* ---- elements that must not change ---- */

static bool is_kept(const struct zmpi_rewritten *r, size_t width, uint64_t bits)
{
    return bits == r->fill[0] || bits == r->fill[1] ||
           is_of_another(zmpi_grids_of(r->grids, value_of(width, bits)), r->level);
}

void zmpi_rewritten_hide(struct zmpi_rewritten *r, unsigned char *words)
{
    const size_t width = zmpi_type_size(r->type), n = r->extent[0] * r->extent[1] * r->extent[2];
    zmpi_rows_gather(r->rows, r->extent, r->extent[2] * width, words);
    r->nan = zmpi_fills_nan(width, words, n);
    for (size_t i = 0, kept = 0; i < n; i++)
        if (is_kept(r, width, load(width, words + i * width)))
            store(width, words + i * width, r->nan + kept++ % 2);
}

bool zmpi_rewritten_show(const struct zmpi_rewritten *r, unsigned char *chunk, size_t size)
{
    const size_t width = zmpi_type_size(r->type), *const extent = r->extent;
    size_t to = zmpi_fills_values_at(width, extent[0] * extent[1] * extent[2], chunk, size);
    uint64_t nan = r->nan;
    for (size_t z = 0; z < extent[0]; z++)
        for (size_t y = 0; y < extent[1]; y++) {
            const unsigned char *const row = r->rows->at + z * r->rows->plane + y * r->rows->row;
            for (size_t x = 0; x < extent[2]; x++) {
                const uint64_t bits = load(width, row + x * width);
                if (!is_kept(r, width, bits))
                    continue;
                const uint64_t stored = zmpi_fills_of_file(width, nan);
                while (to + width <= size && load(width, chunk + to) != stored)
                    to += width;
                if (to + width > size)
                    return false;
                store(width, chunk + to, zmpi_fills_of_file(width, bits));
                to += width;
                nan ^= 1;
            }
        }
    return true;
}
