/*
 * rate.h - how long a device's calls take: a guess, corrected by what calls of like sizes took.
 * So `auto` compares measurements. Before there are any it compares guesses, which should be
 * good enough that each device is tried.
 */
#ifndef ZMPI_RATE_H
#define ZMPI_RATE_H

#include <stdatomic.h>
#include <stddef.h>

enum { ZMPI_RATE_CLASSES = 24 }; /* of sizes: factors of 4 */

/* Zeroed: nothing measured. */
struct zmpi_rate {
    _Atomic float factor[ZMPI_RATE_CLASSES]; /* what calls took, in guesses; 0: unknown */
};

/* Expected seconds of a call whose guess is `guess`. */
double zmpi_rate_expect(const struct zmpi_rate *rate, size_t bytes, double guess);
/* Adds a measured call. */
void zmpi_rate_learn(struct zmpi_rate *rate, size_t bytes, double guess, double took);

#endif
