/* clock.h - seconds, to measure how long something takes. */
#ifndef ZMPI_CLOCK_H
#define ZMPI_CLOCK_H

#include <time.h>

/* Seconds by CLOCK_MONOTONIC, since some time in the past. Any thread. */
static inline double zmpi_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Processor seconds of this thread: less than the other where there are more threads than
 * processors. */
static inline double zmpi_thread_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
