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

/* The bits of value i, or of -0, which is exact anyway, if there are fewer values. */
uint64_t zmpi_fills_bits(const struct zmpi_fills *fills, enum zmpi_type type, int i);
/* Counts the elements of a tile of f32 or f64 that are one of the values and have a magnitude below
 * keep. */
size_t zmpi_fills_count(const struct zmpi_fills *fills, enum zmpi_type type, const size_t extent[3],
                        const struct zmpi_rows *rows, double keep);
/* Copies a tile to words, without gaps, with NaN in place of the values; the bits of the NaN are
 * nowhere in the tile. False: the tile has none of the values; words are undefined. */
bool zmpi_fills_hide(const struct zmpi_fills *fills, enum zmpi_type type, const size_t extent[3],
                     const struct zmpi_rows *rows, unsigned char *words,
                     struct zmpi_hidden *hidden);
/* Puts the values back into a chunk of encoder 1 that was made of such a copy. False: that is
 * impossible, since the chunk is not stored as exceptions and integers. */
bool zmpi_fills_show(const struct zmpi_hidden *hidden, size_t width, size_t words,
                     unsigned char *chunk, size_t size);

/* ---- for others that hide elements ---- */

/* Two NaN, of which this is the first, that are nowhere in the words, which are fewer than there
 * are NaN. */
uint64_t zmpi_fills_nan(size_t width, const unsigned char *words, size_t n);
/* Offset of the values of exceptions, or of all values, in a chunk (format.md 1.2); its size: there
 * are none. */
size_t zmpi_fills_values_at(size_t width, size_t words, const unsigned char *chunk, size_t size);
/* From a file's order of bytes to this machine's, and back. */
uint64_t zmpi_fills_of_file(size_t width, uint64_t word);

#endif
