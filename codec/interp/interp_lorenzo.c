/* interp_lorenzo.c - contexts; prediction of rounded values from their neighbours (format.md 1.5).
 */
#include <string.h>

#include "interp/interp_work.h"

/* Sums that a context is made of fall into 8 classes. */
static unsigned char class_of_sum(uint16_t s)
{
    return (unsigned char)((s >= 1) + (s >= 2) + (s >= 3) + (s >= 5) + (s >= 8) + (s >= 13) +
                           (s >= 23));
}

/* Limits between three classes of sums at reference points. */
static void limits(unsigned shift, int axes, uint16_t *low, uint16_t *high)
{
    static const unsigned char at_0[] = {0, 1, 2, 4};
    *low = (uint16_t)(shift ? axes * (5 << shift) / 2 : 0);
    *high = (uint16_t)(shift ? axes * (11 << shift) / 2 : at_0[axes]);
}

void zmpi_interp_contexts(struct zmpi_interp_work *w, const struct cells *c, int z, int y,
                          const uint16_t *sums, int axes)
{
    const size_t n = (size_t)c->n[2];
    unsigned char *row = c->size + (size_t)z * c->plane + (size_t)y * c->row;
    unsigned char *above = y ? row - c->row : NULL, *before = z ? row - c->plane : NULL;
    unsigned char *restrict context = w->contexts;
    const unsigned shift = w->shift;
    above = above ? above : before;
    before = before ? before : above;
    if (above) {
        above[-1] = above[0];
        above[n] = above[n - 1];
        const unsigned char *left = above - 1, *right = above + 1;
        for (size_t i = 0; i < n; i++) {
            const uint16_t sum = (uint16_t)(2 * (above[i] + before[i]) + left[i] + right[i]);
            context[i] = class_of_sum((uint16_t)(sum >> shift));
        }
    } else {
        memset(context, 0, n);
    }
    if (!sums)
        return;
    uint16_t low, high;
    limits(shift, axes, &low, &high);
    for (size_t i = 0; i < n; i++)
        context[i] =
            (unsigned char)(context[i] + (sums[i] > low ? 8 : 0) + (sums[i] > high ? 8 : 0));
}

/* ---- Lorenzo ---- */

/* What a row is predicted from, but for x: to `sum`. Returns where x begins. */
static int32_t start_row(const struct cells *c, unsigned axes, int z, int y, int32_t *restrict sum)
{
    const size_t n = (size_t)c->n[2];
    const int32_t *row = c->value + (size_t)z * c->plane + (size_t)y * c->row;
    const bool has_y = y && axes & ZMPI_AXIS_Y, has_z = z && axes & ZMPI_AXIS_Z;
    const int32_t *nearest = y ? row - c->row : z ? row - c->plane : NULL;
    if (has_y && has_z) {
        const int32_t *a = row - c->row, *b = row - c->plane, *d = b - c->row;
        for (size_t i = 0; i < n; i++)
            sum[i] = (int32_t)((uint32_t)a[i] + (uint32_t)b[i] - (uint32_t)d[i]);
        return 0;
    }
    const int32_t *from = has_y ? row - c->row : has_z ? row - c->plane : NULL;
    if (!from && !(axes & ZMPI_AXIS_X))
        from = nearest;
    if (from)
        memcpy(sum, from, n * sizeof *sum);
    else
        memset(sum, 0, n * sizeof *sum);
    return !from && nearest ? nearest[0] : 0;
}

static void code_row(struct zmpi_interp_work *w, const struct cells *c, unsigned axes, int z, int y)
{
    const size_t n = (size_t)c->n[2];
    int32_t *row = c->value + (size_t)z * c->plane + (size_t)y * c->row;
    unsigned char *size = c->size + (size_t)z * c->plane + (size_t)y * c->row;
    int32_t *restrict code = w->scratch[3];
    const int32_t *sum = w->scratch[1];
    uint32_t last = (uint32_t)start_row(c, axes, z, y, w->scratch[1]);
    zmpi_interp_contexts(w, c, z, y, NULL, 0);
    if (w->mode == DECODE) {
        zmpi_interp_decode_row(w, code, n);
        for (size_t i = 0; i < n; i++) {
            const uint32_t d = (uint32_t)code[i] + (axes & ZMPI_AXIS_X ? last : 0);
            row[i] = (int32_t)((uint32_t)sum[i] + d);
            last = d;
        }
    } else {
        for (size_t i = 0; i < n; i++) {
            const uint32_t d = row[i] != NO_VALUE   ? (uint32_t)row[i] - (uint32_t)sum[i]
                               : axes & ZMPI_AXIS_X ? last
                                                    : 0;
            row[i] = (int32_t)((uint32_t)sum[i] + d);
            code[i] = (int32_t)(axes & ZMPI_AXIS_X ? d - last : d);
            last = d;
        }
        zmpi_interp_code_row(w, code, n);
    }
    for (size_t i = 0; i < n; i++) {
        const uint32_t a = code[i] < 0 ? 0 - (uint32_t)code[i] : (uint32_t)code[i];
        size[i] = (unsigned char)(a > ZMPI_INTERP_MAGNITUDE ? ZMPI_INTERP_MAGNITUDE : a);
    }
}

void zmpi_interp_lorenzo(struct zmpi_interp_work *w, const struct zmpi_interp_set *set)
{
    const struct cells *c = &w->flat;
    const size_t all = c->plane * (size_t)c->n[0] - 2 * PAD;
    const int bits = ZMPI_INTERP_STEP_BITS;
    for (int z = 0; z < c->n[0] && w->watch; z++)
        for (int y = 0; y < c->n[1]; y++) {
            const int32_t *row = c->value + (size_t)z * c->plane + (size_t)y * c->row;
            for (int i = 0; i < c->n[2]; i++)
                w->off += (row[i] & ((1 << bits) - 1)) != 0; /* no value is such a multiple */
            w->seen += (size_t)c->n[2];
        }
    if (w->mode != DECODE)
        for (size_t i = 0; i < all; i++)
            c->value[i] = c->value[i] == NO_VALUE
                              ? NO_VALUE
                              : (int32_t)((uint32_t)c->value[i] + (1u << (bits - 1))) >> bits;
    for (int z = 0; z < c->n[0]; z++)
        for (int y = 0; y < c->n[1]; y++)
            code_row(w, c, set->axes, z, y);
    for (size_t i = 0; i < all; i++)
        c->value[i] = (int32_t)((uint32_t)c->value[i] << bits);
}
