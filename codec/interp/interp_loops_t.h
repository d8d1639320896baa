/*
 * interp_loops_t.h - template, included once per instruction set: the loops of encoder 3 that take
 * most time. They are simple, so that compilers turn them into vectors. LOOPS: the table's name;
 * PUT_WORDS, PUT_ROWS, TAKE_ROWS: functions of this set, or NULL.
 */
#include <math.h>
#include <string.h>

#include "interp/interp_work.h"

/* Integers of a chunk are at most this far from its base. Then products with all weights fit 32
 * bits. */
#define REACH 33554432.0

/* A float of n, which is exact, has the exponent and the place in `logs`. */
static uint32_t log2_of(const uint32_t *logs, uint32_t n)
{
    const float f = (float)(int32_t)n;
    uint32_t b;
    memcpy(&b, &f, sizeof b);
    return ((b >> 23) - 127) << 15 | logs[b >> 13 & 1023];
}

static uint64_t entropy(const uint32_t *logs, const uint32_t *counts, size_t n)
{
    uint64_t total = 0, bits = 0;
    while (n && !counts[n - 1])
        n--;
    for (size_t s = 0; s < n; s++) {
        total += counts[s];
        bits += (uint64_t)counts[s] * log2_of(logs, counts[s]);
    }
    return total ? total * log2_of(logs, (uint32_t)total) - bits : 0;
}

/* Returns the place eight rows on, to prefetch; in the last rows of the tile, the row itself. */
static const unsigned char *row_ahead(const struct zmpi_rows *rows, const size_t extent[3],
                                      size_t z, size_t y)
{
    const size_t next = y + 8;
    if (next < extent[1])
        return rows->at + z * rows->plane + next * rows->row;
    if (z + 1 == extent[0] || next >= 2 * extent[1])
        return rows->at + z * rows->plane + y * rows->row;
    return rows->at + (z + 1) * rows->plane + (next - extent[1]) * rows->row;
}

#define T       float
#define BITS    uint32_t
#define FABS    fabsf
#define NEXT    nextafterf
#define NAME(f) f##32
#include "interp/interp_values_t.h"

#define T       double
#define BITS    uint64_t
#define FABS    fabs
#define NEXT    nextafter
#define NAME(f) f##64
#include "interp/interp_values_t.h"

/* The place of row z, y of the decoded tile. */
static unsigned char *place_of(const struct zmpi_interp_work *w, int z, int y)
{
    return w->to.rows->at + (size_t)z * w->to.rows->plane + (size_t)y * w->to.rows->row;
}

/* Rows of the decoded tile will be written from z, y on, each `apart` further. */
static void fetch_rows(struct zmpi_interp_work *w, int z, int y, int apart)
{
    w->run.ahead = (struct ahead){.at = place_of(w, z, y),
                                  .row = (size_t)apart * w->to.rows->row,
                                  .bytes = (size_t)w->flat.n[2] * zmpi_type_size(w->to.rule->type)};
}

/* Writes row z, y of the decoded tile, whose values are in steps of 2^bits. */
static void give_row(const struct zmpi_interp_work *w, const int32_t *value, int bits, int z, int y)
{
    const struct zmpi_interp_rule *rule = w->to.rule;
    const size_t n = (size_t)w->flat.n[2];
    void *place = place_of(w, z, y);
    if (rule->type == ZMPI_F64)
        unload_row64(value, n, bits, rule->unit, w->to.base, place);
    else
        unload_row32(value, n, bits, rule->unit, w->to.base, place);
}

static void unload(const struct zmpi_interp_work *w)
{
    for (int z = 0; z < w->flat.n[0]; z++)
        for (int y = 0; y < w->flat.n[1]; y++)
            give_row(w, w->flat.value + (size_t)z * w->flat.plane + (size_t)y * w->flat.row, 0, z,
                     y);
}

#include "interp/interp_rows_t.h"
// Both need the rows.
#include "interp/interp_lattice_t.h"
#include "interp/interp_lorenzo_t.h"

const struct zmpi_interp_loops LOOPS = {
    .load = {load32, load64},
    .unload = unload,
    .decoded = {decoded32, decoded64},
    .verify = {verify32, verify64},
    .lattice = lattice,
    .lorenzo = lorenzo,
    .entropy = entropy,
    .put_words = put_words,
    .put_rows = PUT_ROWS,
    .take_rows = TAKE_ROWS,
};
