/*
 * xxh3.h - the checksum of a chunk (XXH3 of xxHash 0.8, 64 bits, seed 0), by a block of threads.
 *
 * Sums over 1024 bytes do not depend on the order, so all threads compute them. Only the scrambling
 * between these sums, 32 times at most, is sequential; eight threads do it.
 */
#ifndef ZMPI_GPU_XXH3_H
#define ZMPI_GPU_XXH3_H

#include "blocks.h"

enum { XXH_STRIPE = 64, XXH_ROUND = 1024, XXH_LANES = 8, XXH_ROUNDS = 33 };

#define XXH_P32_1 0x9E3779B1u
#define XXH_P32_2 0x85EBCA77u
#define XXH_P32_3 0xC2B2AE3Du
#define XXH_P64_1 0x9E3779B185EBCA87u
#define XXH_P64_2 0xC2B2AE3D27D4EB4Fu
#define XXH_P64_3 0x165667B19E3779F9u
#define XXH_P64_4 0x85EBCA77C2B2AE63u
#define XXH_P64_5 0x27D4EB2F165667C5u

ZD_CONST uint64_t xxh_secret[24] = {
    0xbe4ba423396cfeb8u, 0x1cad21f72c81017cu, 0xdb979083e96dd4deu, 0x1f67b3b7a4a44072u,
    0x78e5c0cc4ee679cbu, 0x2172ffcc7dd05a82u, 0x8e2443f7744608b8u, 0x4c263a81e69035e0u,
    0xcb00c391bb52283cu, 0xa32e531b8b65d088u, 0x4ef90da297486471u, 0xd8acdea946ef1938u,
    0x3f349ce33f76faa8u, 0x1d4f0bc7c7bbdcf9u, 0x3159b4cd4be0518au, 0x647378d9c97e9fc8u,
    0xc3ebd33483acc5eau, 0xeb6313faffa081c5u, 0x49daf0b751dd0d17u, 0x9e68d429265516d3u,
    0xfca1477d58be162bu, 0xce31d07ad1b8f88fu, 0x280416958f3acb45u, 0x7e404bbbcafbd7afu,
};

ZD_CONST uint64_t xxh_start[XXH_LANES] = {XXH_P32_3, XXH_P64_1, XXH_P64_2, XXH_P64_3,
                                          XXH_P64_4, XXH_P32_2, XXH_P64_5, XXH_P32_1};

/* The 8 bytes of the secret that begin at any byte. */
ZD_FN uint64_t xxh_key(uint32_t at)
{
    const uint32_t bits = at % 8 * 8;
    const uint64_t low = xxh_secret[at / 8] >> bits;
    return bits == 0 ? low : low | xxh_secret[at / 8 + 1] << (64 - bits);
}

/* 8 bytes of the chunk; places are multiples of 4. */
ZD_FN uint64_t xxh_read(const uint32_t *data, uint32_t at)
{
    return data[at / 4] | (uint64_t)data[at / 4 + 1] << 32;
}

ZD_FN uint64_t xxh_fold(uint64_t a, uint64_t b)
{
    return a * b ^ zd_mulhi64(a, b);
}

ZD_FN uint64_t xxh_rotate(uint64_t h, uint32_t n)
{
    return h << n | h >> (64 - n);
}

ZD_FN uint64_t xxh_avalanche(uint64_t h)
{
    h = (h ^ h >> 37) * 0x165667919E3779F9u;
    return h ^ h >> 32;
}

ZD_FN uint64_t xxh_swap(uint64_t h)
{
    return (uint64_t)zd_byte_perm((uint32_t)h, 0, 0x0123) << 32 |
           zd_byte_perm((uint32_t)(h >> 32), 0, 0x0123);
}

ZD_FN uint64_t xxh_mix(const uint32_t *data, uint32_t at, uint32_t secret)
{
    return xxh_fold(xxh_read(data, at) ^ xxh_key(secret),
                    xxh_read(data, at + 8) ^ xxh_key(secret + 8));
}

ZD_FN uint64_t xxh_to_8(const uint32_t *data, uint32_t n)
{
    uint64_t h = data[n / 4 - 1] + ((uint64_t)data[0] << 32);
    h ^= xxh_key(8) ^ xxh_key(16);
    h ^= xxh_rotate(h, 49) ^ xxh_rotate(h, 24);
    h *= 0x9FB21C651E98DF25u;
    h ^= (h >> 35) + n;
    h *= 0x9FB21C651E98DF25u;
    return h ^ h >> 28;
}

ZD_FN uint64_t xxh_to_16(const uint32_t *data, uint32_t n)
{
    const uint64_t lo = xxh_read(data, 0) ^ xxh_key(24) ^ xxh_key(32);
    const uint64_t hi = xxh_read(data, n - 8) ^ xxh_key(40) ^ xxh_key(48);
    return xxh_avalanche(n + xxh_swap(lo) + hi + xxh_fold(lo, hi));
}

/* Of 4 to 240 bytes, a multiple of 4, by one thread. */
ZD_FN uint64_t xxh_short(const uint32_t *data, uint32_t n)
{
    if (n <= 8)
        return xxh_to_8(data, n);
    if (n <= 16)
        return xxh_to_16(data, n);
    uint64_t h = n * XXH_P64_1;
    if (n <= 128) {
        for (uint32_t i = 0; i <= (n - 1) / 32; i++)
            h += xxh_mix(data, 16 * i, 32 * i) + xxh_mix(data, n - 16 - 16 * i, 32 * i + 16);
        return xxh_avalanche(h);
    }
    for (uint32_t i = 0; i < 8; i++)
        h += xxh_mix(data, 16 * i, 16 * i);
    h = xxh_avalanche(h);
    for (uint32_t i = 8; i < n / 16; i++)
        h += xxh_mix(data, 16 * i, 16 * (i - 8) + 3);
    return xxh_avalanche(h + xxh_mix(data, n - 16, 136 - 17));
}

/* What 8 bytes of a stripe add to their own lane. They themselves are added to the lane beside it.
 */
ZD_FN uint64_t xxh_product(uint64_t value, uint64_t key)
{
    const uint64_t k = value ^ key;
    return (k & 0xFFFFFFFFu) * (k >> 32);
}

/* First step for longer chunks, by all threads: the sums of each round of up to 16 stripes. A warp
 * has a round and reads four stripes at a time. A barrier must follow. */
ZD_FN void xxh_sums(const uint32_t *data, uint32_t n, uint64_t sum[XXH_ROUNDS][XXH_LANES])
{
    const uint32_t stripes = n > 240 ? (n - 1) / XXH_STRIPE : 0;
    const uint32_t lane = zd_lane() % XXH_LANES, part = zd_lane() / XXH_LANES;
    ONE_BY_ONE
    for (uint32_t round = zd_warp(); 16 * round < stripes; round += zd_bdim() / ZD_WARP) {
        uint64_t s = 0;
        ONE_BY_ONE
        for (uint32_t j = 0; j < 16; j += 4) {
            const uint32_t stripe = j + part, at = XXH_ROUND * round + XXH_STRIPE * stripe;
            if (16 * round + stripe >= stripes)
                continue;
            s += xxh_product(xxh_read(data, at + 8 * lane), xxh_secret[stripe + lane]);
            s += xxh_read(data, at + (8 * lane ^ 8));
        }
        s += zd_shfl_xor_u64(s, 8);
        s += zd_shfl_xor_u64(s, 16);
        if (part == 0)
            sum[round][lane] = s;
    }
}

/* Second step, by one whole warp: the hash, on all its lanes. */
ZD_FN uint64_t xxh_end(const uint32_t *data, uint32_t n, uint64_t sum[XXH_ROUNDS][XXH_LANES])
{
    if (n <= 240)
        return xxh_short(data, n);
    const uint32_t lane = zd_lane() % XXH_LANES;
    const uint32_t stripes = (n - 1) / XXH_STRIPE, scrambles = (n - 1) / XXH_ROUND;
    uint64_t acc = xxh_start[lane];
    for (uint32_t round = 0; round < scrambles; round++) {
        acc += sum[round][lane];
        acc = (acc ^ acc >> 47 ^ xxh_secret[16 + lane]) * XXH_P32_1;
    }
    if (stripes > 16 * scrambles)
        acc += sum[scrambles][lane];
    acc += xxh_product(xxh_read(data, n - XXH_STRIPE + 8 * lane), xxh_key(121 + 8 * lane));
    acc += xxh_read(data, n - XXH_STRIPE + (8 * lane ^ 8));
    const uint64_t next = zd_shfl_down_u64(acc, 1);
    uint64_t h =
        lane % 2 ? 0 : xxh_fold(acc ^ xxh_key(11 + 8 * lane), next ^ xxh_key(19 + 8 * lane));
    for (uint32_t d = 1; d < XXH_LANES; d *= 2)
        h += zd_shfl_xor_u64(h, d);
    return xxh_avalanche(h + n * XXH_P64_1);
}

#endif
