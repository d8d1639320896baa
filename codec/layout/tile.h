/* tile.h - how arrays are cut into chunks (format.md 4.3). An encoder's choice: decoders read the
 * tile from the stream. */
#ifndef ZMPI_TILE_H
#define ZMPI_TILE_H

#include <stddef.h>

/* Drop extents of 1. extent: z, y, x. Returns the number of dimensions that remain (at least 1). */
int zmpi_tile_normalize(size_t extent[3]);

/* Tile extents for a normalized array of `width`-byte words. An extent of 0 is treated as 1. */
void zmpi_tile_choose(const size_t extent[3], size_t width, size_t tile[3]);

#endif
