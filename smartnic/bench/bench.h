/* bench.h - what the benchmarks of the SmartNIC's service share. */
#ifndef ZMPI_SMARTNIC_BENCH_H
#define ZMPI_SMARTNIC_BENCH_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

static inline double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A field such as simulations have: waves with a little noise. */
static inline void fill(float *data, size_t count)
{
    uint32_t state = 1;
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        data[i] = (float)(sin(0.004 * (double)(i % 4096)) + 0.3 * sin(1e-5 * (double)i) +
                          1e-3 * (double)(state >> 8) / (1 << 24));
    }
}

#endif
