/*
 * blocks.h - what all kernels share: the tile that a block of threads works on, sums over threads,
 * and sums over blocks of threads.
 */
#ifndef ZMPI_GPU_BLOCKS_H
#define ZMPI_GPU_BLOCKS_H

#include "device_code.h"
#include "kernels.h"

/* So that `name` may be a macro: it is expanded first. */
#define KERNEL(name, type, a) ZD_KERNEL(name, type, a)
#define KERNEL_BOUNDED(name, type, a, threads, blocks)                                             \
    ZD_KERNEL_BOUNDED(name, type, a, threads, blocks)
#define LAUNCH(kernel, grid, block, shared, stream, a)                                             \
    ZD_LAUNCH(kernel, grid, block, shared, stream, a)

/* Keeps nvcc from unrolling the loop that follows. */
#ifdef __CUDACC__
#define ONE_BY_ONE _Pragma("unroll 1")
#else
#define ONE_BY_ONE
#endif

/* Blocks of threads per multiprocessor; they share its registers. */
#define ENCODERS 2
#define DECODERS (ZD_RESIDENT < 3 * 512 ? 2 : 3)

/* A block of 512 threads works on a chunk of up to 32 KiB. A warp has up to 16 of the chunk's
 * blocks of 32 elements; two lanes (or more, words_t.h) share a block. */
enum {
    ZMPI_CUDA_X = 1,
    ZMPI_CUDA_Y = 2,
    ZMPI_CUDA_Z = 4,
    ZMPI_CUDA_QUANTIZED = 0,
    ZMPI_CUDA_INTEGER = 1,
    ZMPI_CUDA_STORED = 2,
    ZMPI_CUDA_HEADER = 80
};
enum { THREADS = 512, WARPS = THREADS / 32, CHUNK_BYTES = 32768, CODED_BYTES = CHUNK_BYTES + 4 };

/* ---- the tile ---- */

/* Divides numbers below 8192 by d: multiplies by 2^32 / d, rounded up, and takes the upper half. */
struct divisor {
    uint32_t d, by;
};

ZD_FN struct divisor divisor_of(uint32_t d)
{
    struct divisor v;
    v.d = d;
    v.by = d > 1 ? 0xFFFFFFFFu / d + 1 : 0;
    return v;
}

ZD_FN uint32_t divide(uint32_t n, struct divisor v)
{
    return v.d > 1 ? zd_mulhi32(n, v.by) : n;
}

/* A tile, clipped to the array, in words. */
struct tile {
    uint64_t at;      /* its first word in the array */
    uint32_t z, y, x; /* extents */
    uint32_t plane, count, blocks;
    struct divisor by_x, by_y;
    struct divisor by_run; /* contiguous words of the array: a row, or all of them */
    uint32_t vector;       /* are accesses of 16 bytes allowed? */
    /* Bytes of the array from the end of a run to the next run, and additionally at the end of a
     * plane; set if `vector` is. */
    uint32_t skip_run, skip_plane;
};

ZD_FN uint32_t clip(uint64_t words, uint32_t tile, uint64_t at)
{
    const uint64_t left = words - at * tile;
    return left < tile ? (uint32_t)left : tile;
}

/* The tile of chunk k. Of `array` only the alignment counts. */
ZD_FN void tile_of(const struct zmpi_cuda_tiles *t, uint32_t k, const void *array, struct tile *c)
{
    const uint32_t gx = (uint32_t)t->grid[2], gy = (uint32_t)t->grid[1];
    const uint32_t row = k / gx, kx = k % gx, kz = row / gy, ky = row % gy;
    c->z = clip(t->words[0], t->tile[0], kz);
    c->y = clip(t->words[1], t->tile[1], ky);
    c->x = clip(t->words[2], t->tile[2], kx);
    c->plane = c->y * c->x;
    c->count = c->z * c->plane;
    c->blocks = (c->count + 31) / 32;
    c->by_x = divisor_of(c->x);
    c->by_y = divisor_of(c->y);
    const uint64_t z0 = (uint64_t)kz * t->tile[0], y0 = (uint64_t)ky * t->tile[1];
    c->at = (z0 * t->words[1] + y0) * t->words[2] + (uint64_t)kx * t->tile[2];
    const int whole =
        (c->x == t->words[2] || (c->y == 1 && c->z == 1)) && (c->y == t->words[1] || c->z == 1);
    c->by_run = divisor_of(whole ? c->count : c->x);
    const uint32_t odd = t->width == 8 ? 1 : 3; /* words that are not 16 bytes */
    const int cut = (t->bytes & (t->width - 1)) != 0 && k + 1 == t->chunks;
    const uint64_t run = whole ? 0 : (t->words[2] - c->x) * t->width;
    const uint64_t plane = whole || c->z == 1 ? 0 : (t->words[1] - c->y) * t->words[2] * t->width;
    c->skip_run = (uint32_t)run;
    c->skip_plane = (uint32_t)plane;
    c->vector = ((uintptr_t)array + c->at * t->width) % 16 == 0 && !cut &&
                (run | plane) >> 32 == 0 && (whole || ((c->x | (uint32_t)t->words[2]) & odd) == 0);
}

/* Byte distance in the array from the tile's first element to element e, for accesses of 16 bytes.
 * whole: the tile is one run. */
ZD_FN uint64_t bytes_to(const struct tile *c, uint32_t width, uint32_t e, int whole)
{
    if (whole)
        return e * width;
    const uint32_t run = zd_mulhi32(e, c->by_run.by);
    return (uint64_t)run * c->skip_run + (uint64_t)divide(run, c->by_y) * c->skip_plane + e * width;
}

/* The word of the array that is element e of the tile. */
ZD_FN uint64_t word_at(const struct zmpi_cuda_tiles *t, const struct tile *c, uint32_t e)
{
    const uint32_t row = divide(e, c->by_run), z = divide(row, c->by_y);
    return c->at + (z * t->words[1] + (row - z * c->y)) * t->words[2] + (e - row * c->by_run.d);
}

/* ---- sums ---- */

/* The sum over this lane and the lanes below it, of which each `each`th counts. */
ZD_FN uint32_t warp_sum_up(uint32_t v, uint32_t each)
{
    ZD_UNROLL
    for (uint32_t d = each; d < 32; d *= 2) {
        const uint32_t below = zd_shfl_up_u32(v, d);
        v += zd_lane() >= d ? below : 0;
    }
    return v;
}

ZD_FN uint32_t warp_or32(uint32_t v)
{
    if (ZD_REDUX)
        return zd_redux_or_u32(v);
    for (uint32_t d = 16; d > 0; d /= 2)
        v |= zd_shfl_xor_u32(v, d);
    return v;
}

ZD_FN uint64_t warp_or64(uint64_t v)
{
    return warp_or32((uint32_t)v) | (uint64_t)warp_or32((uint32_t)(v >> 32)) << 32;
}

ZD_FN uint32_t warp_sum_u32(uint32_t v)
{
    if (ZD_REDUX)
        return zd_redux_add_u32(v);
    for (uint32_t d = 16; d > 0; d /= 2)
        v += zd_shfl_xor_u32(v, d);
    return v;
}

ZD_FN uint64_t warp_sum_u64(uint64_t v)
{
    for (uint32_t d = 16; d > 0; d /= 2)
        v += zd_shfl_xor_u64(v, d);
    return v;
}

/* The sum over all threads before this one; *all: over all threads. Between the two halves the
 * caller needs a barrier. each: that many neighbouring lanes have the same value, which counts
 * once. */
ZD_FN uint32_t block_sum_begin(uint32_t total[WARPS], uint32_t v, uint32_t each)
{
    const uint32_t up = warp_sum_up(v, each);
    if (zd_lane() == 31)
        total[zd_warp()] = up;
    return up - v;
}

ZD_FN uint32_t block_sum_end(const uint32_t total[WARPS], uint32_t before, uint32_t *all)
{
    const uint32_t mine = zd_lane() < WARPS ? total[zd_lane()] : 0;
    *all = warp_sum_u32(mine);
    return before + warp_sum_u32(zd_lane() < zd_warp() ? mine : 0);
}

/* ---- blocks of 32 elements ---- */

/* The mask of a block's elements that exist. */
ZD_FN uint32_t block_mask(uint32_t count, uint32_t block)
{
    const uint32_t left = count > block * 32 ? count - block * 32 : 0;
    return left >= 32 ? 0xFFFFFFFFu : (1u << left) - 1;
}

/* Transposes bits within a lane's four registers: bits 0 and 1 of a register's number change places
 * with bits 0 and 1 of a bit's position in it. */
ZD_FN void swap_within(uint32_t row[4])
{
    ZD_UNROLL
    for (uint32_t i = 0; i < 4; i += 2) {
        const uint32_t a = row[i], b = row[i + 1], m = 0x55555555u;
        row[i] = (a & m) | (b << 1 & ~m);
        row[i + 1] = (a >> 1 & m) | (b & ~m);
    }
    ZD_UNROLL
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t a = row[i], b = row[i + 2], m = 0x33333333u;
        row[i] = (a & m) | (b << 2 & ~m);
        row[i + 2] = (a >> 2 & m) | (b & ~m);
    }
}

/* Byte selectors for lanes that take the parts of a block in another order (words_t.h): byte i of
 * the result is byte i ^ part_xor of one word, or of two words with two bytes each in their lower
 * halves. */
ZD_FN uint32_t permuted_bytes(uint32_t part_xor)
{
    return 0x3210 ^ 0x1111 * part_xor;
}

ZD_FN uint32_t permuted_pairs(uint32_t part_xor)
{
    return 0x5410 ^ 0x1111 * (part_xor + (part_xor & 2));
}

/* What a block stores for its exceptions, packed into one word, so that this rare path costs no
 * registers. */
struct stored {
    uint32_t values;        /* at most 32; 1 if all exceptions have the same bits */
    uint32_t values_before; /* in the chunk, below 8192 */
    uint32_t masks_before;  /* at most 255 */
};

ZD_FN uint32_t stored_pack(struct stored v)
{
    return v.values_before | v.masks_before << 14 | v.values << 24;
}

ZD_FN struct stored stored_unpack(uint32_t packed)
{
    struct stored v;
    v.values_before = packed & 0x3FFF;
    v.masks_before = packed >> 14 & 0x3FF;
    v.values = packed >> 24;
    return v;
}

/* ---- sums over blocks of threads: the decoupled look-back ----
 *
 * state[k] holds nothing yet, or the size of chunk k, or the sum of the sizes up to chunk k. Flag
 * and value are one word, written at once, and refer to no other memory, so relaxed order is
 * enough. Chunks are taken in order, by tickets, so that a block of threads waits only for others
 * that already run. */
#define STATE_SIZE 1u
#define STATE_SUM  2u

ZD_FN void state_set(uint64_t *state, uint32_t flag, uint64_t value)
{
    zd_st_relaxed_u64(state, (uint64_t)flag << 62 | value);
}

/* One thread publishes chunk k's size. */
ZD_FN void look_back_begin(uint64_t *state, uint32_t k, uint32_t size)
{
    state_set(state + k, k == 0 ? STATE_SUM : STATE_SIZE, size);
}

/* Then a whole warp computes the sum of the sizes before chunk k. */
ZD_FN uint64_t look_back_end(uint64_t *state, uint32_t k, uint32_t size)
{
    const uint32_t lane = zd_lane();
    uint64_t before = 0;
    uint32_t end = k, found = k == 0;
    while (!found) {
        const uint64_t v =
            end > lane ? zd_ld_relaxed_u64(state + (end - 1 - lane)) : (uint64_t)STATE_SUM << 62;
        const uint32_t sums = zd_ballot(v >> 62 == STATE_SUM), empty = zd_ballot(v >> 62 == 0);
        const uint32_t used = sums ? sums ^ (sums - 1) : 0xFFFFFFFFu; /* up to the first sum */
        if (empty & used) {
            ZD_SPIN();
            continue;
        }
        before += warp_sum_u64(used >> lane & 1 ? v & (((uint64_t)1 << 62) - 1) : 0);
        found = sums != 0;
        end -= found ? 0 : 32;
    }
    if (lane == 0 && k > 0)
        state_set(state + k, STATE_SUM, before + size);
    return before;
}

#endif
