/*
 * fills.h - fill values that a user names (format.md 4.2). They may lie among the other values, so
 * no limit makes them exceptions. The encoder gets a copy of the tile with NaN in their places,
 * which is always an exception; then the chunk gets the fill value back in place of NaN.
 */
#ifndef ZMPI_FILLS_H
#define ZMPI_FILLS_H

#include "device.h"
#include "layout/chunk.h"

/* A value's bits in a tile, and the NaN in its place. */
struct zmpi_hidden {
    int count;
    uint64_t value[ZMPI_FILLS], nan[ZMPI_FILLS];
};

/* The bits of value i; of -0, which is exact anyway, where there are fewer. */
uint64_t zmpi_fills_bits(const struct zmpi_fills *fills, enum zmpi_type type, int i);
/* Elements of a tile of f32 or f64 that are one of the values and have a magnitude below keep. */
size_t zmpi_fills_count(const struct zmpi_fills *fills, enum zmpi_type type, const size_t extent[3],
                        const struct zmpi_rows *rows, double keep);
/* Copy a tile to words, without gaps and with NaN, of bits that are nowhere in it, for the values.
 * False: it has none of them; words are undefined. */
bool zmpi_fills_hide(const struct zmpi_fills *fills, enum zmpi_type type, const size_t extent[3],
                     const struct zmpi_rows *rows, unsigned char *words,
                     struct zmpi_hidden *hidden);
/* The values to their places in a chunk of encoder 1 that was made of such a copy. False: they have
 * none there, since it is not stored as exceptions and integers. */
bool zmpi_fills_show(const struct zmpi_hidden *hidden, size_t width, size_t words,
                     unsigned char *chunk, size_t size);

#endif
