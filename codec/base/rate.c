/* rate.c - guesses that are corrected by measurements (rate.h). */
#include "base/rate.h"

#include <stdlib.h>

/* The weight of a new measurement: noise of other processes is averaged out, a change is seen. */
#define WEIGHT 0.25f

static int class_of(size_t bytes)
{
    int n = 0;
    while (bytes > 3 && n < ZMPI_RATE_CLASSES - 1) {
        bytes /= 4;
        n++;
    }
    return n;
}

/* The guess times the factor of the nearest class that was measured. */
double zmpi_rate_expect(const struct zmpi_rate *rate, size_t bytes, double guess)
{
    int at = class_of(bytes), nearest = -1;
    for (int i = 0; i < ZMPI_RATE_CLASSES; i++)
        if (atomic_load_explicit(&rate->factor[i], memory_order_relaxed) > 0 &&
            (nearest < 0 || abs(i - at) < abs(nearest - at)))
            nearest = i;
    return nearest < 0
               ? guess
               : guess * (double)atomic_load_explicit(&rate->factor[nearest], memory_order_relaxed);
}

/* Threads that learn at once may lose a measurement, never make one up. */
void zmpi_rate_learn(struct zmpi_rate *rate, size_t bytes, double guess, double took)
{
    if (!(guess > 0) || !(took > 0))
        return;
    _Atomic float *factor = &rate->factor[class_of(bytes)];
    float now = (float)(took / guess), before = atomic_load_explicit(factor, memory_order_relaxed);
    atomic_store_explicit(factor, before > 0 ? before + WEIGHT * (now - before) : now,
                          memory_order_relaxed);
}
