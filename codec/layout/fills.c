/* fills.c - fill values that a user names: out of a tile, and back into its chunk. */
#include "layout/fills.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"

/* Elements of a row that are one of two words, and copies of rows with others in their places. */
#define ROWS_OF(T, find, replace)                                                                  \
    static size_t find(const unsigned char *at, size_t n, T a, T b)                                \
    {                                                                                              \
        T found = 0;                                                                               \
        for (size_t i = 0; i < n; i++) {                                                           \
            T u;                                                                                   \
            memcpy(&u, at + i * sizeof u, sizeof u);                                               \
            found += (T)((u == a) | (u == b));                                                     \
        }                                                                                          \
        return found;                                                                              \
    }                                                                                              \
    static void replace(unsigned char *at, size_t n, T from, T to)                                 \
    {                                                                                              \
        for (size_t i = 0; i < n; i++) {                                                           \
            T u;                                                                                   \
            memcpy(&u, at + i * sizeof u, sizeof u);                                               \
            u = u == from ? to : u;                                                                \
            memcpy(at + i * sizeof u, &u, sizeof u);                                               \
        }                                                                                          \
    }
ROWS_OF(uint32_t, find32, replace32)
ROWS_OF(uint64_t, find64, replace64)

static size_t find(size_t width, const unsigned char *at, size_t n, uint64_t a, uint64_t b)
{
    return width == 4 ? find32(at, n, (uint32_t)a, (uint32_t)b) : find64(at, n, a, b);
}

static void replace(size_t width, unsigned char *at, size_t n, uint64_t from, uint64_t to)
{
    if (width == 4)
        replace32(at, n, (uint32_t)from, (uint32_t)to);
    else
        replace64(at, n, from, to);
}

uint64_t zmpi_fills_bits(const struct zmpi_fills *fills, enum zmpi_type type, int i)
{
    const double value = i < fills->count ? fills->value[i] : -0.0;
    const float narrow = (float)value;
    uint32_t bits32;
    uint64_t bits;
    memcpy(&bits32, &narrow, sizeof bits32);
    memcpy(&bits, &value, sizeof bits);
    return type == ZMPI_F32 ? bits32 : bits;
}

static size_t find_in_tile(size_t width, const size_t extent[3], const struct zmpi_rows *rows,
                           uint64_t a, uint64_t b)
{
    size_t found = 0;
    for (size_t z = 0; z < extent[0]; z++)
        for (size_t y = 0; y < extent[1]; y++)
            found += find(width, rows->at + z * rows->plane + y * rows->row, extent[2], a, b);
    return found;
}

size_t zmpi_fills_count(const struct zmpi_fills *fills, enum zmpi_type type, const size_t extent[3],
                        const struct zmpi_rows *rows, double keep)
{
    size_t found = 0;
    for (int i = 0; i < fills->count; i++) {
        const uint64_t bits = zmpi_fills_bits(fills, type, i);
        const double value = fills->value[i];
        if (fabs(type == ZMPI_F32 ? (double)(float)value : value) < keep)
            found += find_in_tile(zmpi_type_size(type), extent, rows, bits, bits);
    }
    return found;
}

uint64_t zmpi_fills_nan(size_t width, const unsigned char *words, size_t n)
{
    uint64_t nan = width == 4 ? 0x7FD20000 : 0x7FFA400000000000;
    while (find(width, words, n, nan, nan + 1))
        nan += 2;
    return nan;
}

bool zmpi_fills_hide(const struct zmpi_fills *fills, enum zmpi_type type, const size_t extent[3],
                     const struct zmpi_rows *rows, unsigned char *words, struct zmpi_hidden *hidden)
{
    const size_t width = zmpi_type_size(type), n = extent[0] * extent[1] * extent[2];
    *hidden = (struct zmpi_hidden){.count = fills->count};
    for (int i = 0; i < fills->count; i++)
        hidden->value[i] = zmpi_fills_bits(fills, type, i);
    if (!fills->count ||
        !find_in_tile(width, extent, rows, hidden->value[0], hidden->value[fills->count - 1]))
        return false;
    zmpi_rows_gather(rows, extent, extent[2] * width, words);
    const uint64_t nan = zmpi_fills_nan(width, words, n);
    for (int i = 0; i < fills->count; i++) {
        hidden->nan[i] = nan + (uint64_t)i;
        replace(width, words, n, hidden->value[i], hidden->nan[i]);
    }
    return true;
}

size_t zmpi_fills_values_at(size_t width, size_t words, const unsigned char *chunk, size_t size)
{
    const size_t blocks = (words + ZMPI_BLOCK - 1) / ZMPI_BLOCK;
    const unsigned map = chunk[0];
    size_t at = 4 + (map == ZMPI_MAP_QUANTIZED ? 2 : 1) * width;
    if (map == ZMPI_MAP_STORED)
        return 4;
    if (!(chunk[2] & ZMPI_CHUNK_EXCEPTIONS))
        return size;
    const unsigned char *length = chunk + at;
    at += (blocks + 3) / 4 * 4;
    for (size_t b = 0; b < blocks; b++) {
        const bool marked = length[b] & ZMPI_BLOCK_EXCEPTIONS;
        const size_t planes = length[b] & (marked ? 0x3F : 0xFF);
        at += (planes ? 4 * (planes + 1) : 0) + (marked ? 4 : 0);
    }
    return at;
}

uint64_t zmpi_fills_of_file(size_t width, uint64_t word)
{
    return width == 4 ? ZMPI_LE32((uint32_t)word) : ZMPI_LE64(word);
}

bool zmpi_fills_show(const struct zmpi_hidden *hidden, size_t width, size_t words,
                     unsigned char *chunk, size_t size)
{
    const size_t at = zmpi_fills_values_at(width, words, chunk, size);
    for (int i = 0; i < hidden->count; i++)
        replace(width, chunk + at, (size - at) / width, zmpi_fills_of_file(width, hidden->nan[i]),
                zmpi_fills_of_file(width, hidden->value[i]));
    return at < size;
}
