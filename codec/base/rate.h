/*
 * rate.h - what a device's calls take, as it learns it: a guess, corrected by what calls of like
 * sizes really took. So `auto` compares measurements, and before there are any, guesses; these
 * should be good ones of the device, so that each is tried.
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

/* Seconds that a call is expected to take which was guessed to take `guess`. */
double zmpi_rate_expect(const struct zmpi_rate *rate, size_t bytes, double guess);
/* One call took so long. */
void zmpi_rate_learn(struct zmpi_rate *rate, size_t bytes, double guess, double took);

#endif
