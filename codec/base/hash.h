/*
 * hash.h - the one hash of the formats: 64-bit XXH3 of xxHash 0.8 (docs/format.md).
 */
#ifndef ZMPI_HASH_H
#define ZMPI_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static inline uint64_t zmpi_hash(const void *src, size_t size, uint64_t seed)
{
    return XXH3_64bits_withSeed(src, size, seed);
}

/* To hash what comes in parts: begin, XXH3_64bits_update for each part, XXH3_64bits_digest. */
static inline void zmpi_hash_begin(XXH3_state_t *state, uint64_t seed)
{
    memset(state, 0, sizeof *state); /* the reset reads what was there */
    XXH3_64bits_reset_withSeed(state, seed);
}

/* Hash of a followed by b, for checksums that leave out the field they are stored in. */
static inline uint64_t zmpi_hash2(const void *a, size_t a_size, const void *b, size_t b_size,
                                  uint64_t seed)
{
    XXH3_state_t state;
    zmpi_hash_begin(&state, seed);
    XXH3_64bits_update(&state, a, a_size);
    if (b_size != 0)
        XXH3_64bits_update(&state, b, b_size);
    return XXH3_64bits_digest(&state);
}

#endif
