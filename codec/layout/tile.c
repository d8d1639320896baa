#include "layout/tile.h"

#include "layout/stream.h"

int zmpi_tile_normalize(size_t extent[3])
{
    size_t kept[3] = {1, 1, 1};
    int n = 0;
    for (int i = 2; i >= 0; i--)
        if (extent[i] != 1)
            kept[2 - n++] = extent[i];
    for (int i = 0; i < 3; i++)
        extent[i] = kept[i];
    return n ? n : 1;
}

static size_t whole_blocks(size_t n)
{
    return n / ZMPI_BLOCK * ZMPI_BLOCK;
}

/* Pieces of equal size, none above cap: a short last piece would predict badly. */
static size_t split(size_t n, size_t cap)
{
    size_t pieces = (n - 1) / cap + 1;
    return (n - 1) / pieces + 1;
}

static size_t at_least_1(size_t n)
{
    return n ? n : 1;
}

static size_t integer_root(size_t n)
{
    size_t r = 1;
    while ((r + 1) * (r + 1) <= n)
        r++;
    return r;
}

void zmpi_tile_choose(const size_t extent[3], size_t width, size_t tile[3])
{
    /* Whole rows where rows fit, but not so long that the tile gets flat: 256 words is where longer
     * rows stopped paying on real fields. But few rows fill a chunk, or its head takes much: whole
     * blocks of each, which are faster. */
    enum { ROW = 256 };
    const size_t words = ZMPI_CHUNK_INPUT_BYTES / width;
    const size_t nz = at_least_1(extent[0]), ny = at_least_1(extent[1]), nx = at_least_1(extent[2]);
    tile[0] = tile[1] = 1;
    if (nz == 1 && ny == 1) {
        tile[2] = nx < words ? nx : words;
        return;
    }
    if (ny <= words / ROW / 2 && nz <= words / ROW / 2 / ny) {
        const size_t most = whole_blocks(words / nz / ny);
        tile[0] = nz;
        tile[1] = ny;
        tile[2] = nx <= most ? nx : whole_blocks(split(nx, most) + ZMPI_BLOCK - 1);
        return;
    }
    tile[2] = split(nx, nx < ROW ? nx : ROW);
    const size_t rest = words / tile[2];
    if (nz == 1) {
        tile[1] = split(ny, rest);
        return;
    }
    tile[0] = split(nz, integer_root(rest));
    tile[1] = split(ny, rest / tile[0]);
    tile[0] = split(nz, rest / tile[1]);
}
