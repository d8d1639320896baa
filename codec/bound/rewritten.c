/* rewritten.c - see rewritten.h. */
#include "bound/rewritten.h"

#include <float.h>
#include <string.h>

/* For each step: the number of elements, except 0, that are multiples of this step and of no other;
 * the sum of the magnitudes of all elements that the step may quantize. */
struct multiples {
    size_t count[ZMPI_STEP_LEVELS];
    double sum[ZMPI_STEP_LEVELS];
};

/* Adding and subtracting `magic` rounds a number below 2^22 or 2^51. NaN exceeds every limit. */
#define ADD_ROW(T, name, magic)                                                                    \
    static void name(const unsigned char *at, size_t n, const struct zmpi_chunk_rule *rule,        \
                     struct multiples *m)                                                          \
    {                                                                                              \
        for (size_t i = 0; i < n; i++) {                                                           \
            int of = 0, last = 0;                                                                  \
            T x;                                                                                   \
            memcpy(&x, at + i * sizeof x, sizeof x);                                               \
            for (int k = 0; k < rule->levels; k++) {                                               \
                const struct zmpi_step *l = &rule->level[k];                                       \
                if (!(x <= (T)l->limit && x >= -(T)l->limit))                                      \
                    continue;                                                                      \
                const T q = (x * (T)l->inverse + (magic)) - (magic), back = q * (T)l->step;        \
                m->sum[k] += (double)(x < 0 ? -x : x);                                             \
                if (back <= x && back >= x) {                                                      \
                    of++;                                                                          \
                    last = k;                                                                      \
                }                                                                                  \
            }                                                                                      \
            m->count[last] += of == 1;                                                             \
        }                                                                                          \
    }
ADD_ROW(float, add_row32, 0x1.8p23F)
ADD_ROW(double, add_row64, 0x1.8p52)

static struct multiples multiples_of(const struct zmpi_chunk_rule *rule, enum zmpi_type type,
                                     const size_t extent[3], const struct zmpi_rows *rows)
{
    struct multiples m = {{0}, {0}};
    for (size_t z = 0; z < extent[0]; z++)
        for (size_t y = 0; y < extent[1]; y++) {
            const unsigned char *at = rows->at + z * rows->plane + y * rows->row;
            if (type == ZMPI_F32)
                add_row32(at, extent[2], rule, &m);
            else
                add_row64(at, extent[2], rule, &m);
        }
    return m;
}

/* Takes the coarsest such step. Whole numbers that were never decoded may well be multiples of the
 * finest. */
bool zmpi_rewritten_rule(const struct zmpi_chunk_rule *rule, enum zmpi_type type,
                         const size_t extent[3], const struct zmpi_rows *rows,
                         struct zmpi_chunk_rule *one)
{
    const double epsilon = type == ZMPI_F32 ? (double)FLT_EPSILON : DBL_EPSILON;
    const struct multiples m = multiples_of(rule, type, extent, rows);
    for (int k = 0; k < rule->levels; k++) {
        /* By chance, one number in step / (distance to the next number) is a multiple. */
        const double by_chance = m.sum[k] * epsilon / rule->level[k].step;
        if ((double)m.count[k] <= 2 * by_chance)
            continue;
        *one = *rule;
        one->levels = 1;
        one->level[0] = rule->level[k];
        return true;
    }
    return false;
}
