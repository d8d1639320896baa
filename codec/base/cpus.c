/*
 * cpus.c - the CPUs that this process may use.
 *
 * Asked once and early: an OpenMP runtime may later bind the thread that calls us to one core,
 * and helpers that inherited that would all sit on it.
 */
#define _GNU_SOURCE // sched_getaffinity, CPU_*_S
#include "base/cpus.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>

/* No Linux machine has more. The kernel says EINVAL while the mask is too small. */
#define MOST_CPUS 65536

static pthread_once_t once = PTHREAD_ONCE_INIT;
static cpu_set_t *set; /* kept for good: NULL if unknown */
static size_t set_bytes;

static void ask(void)
{
    for (size_t n = 1024; n <= MOST_CPUS; n *= 2) {
        cpu_set_t *s = CPU_ALLOC(n);
        if (s == NULL)
            return;
        if (sched_getaffinity(0, CPU_ALLOC_SIZE(n), s) == 0) {
            set = s;
            set_bytes = CPU_ALLOC_SIZE(n);
            return;
        }
        CPU_FREE(s);
        if (errno != EINVAL)
            return;
    }
}

const void *zmpi_cpus_mask(size_t *bytes)
{
    pthread_once(&once, ask);
    *bytes = set_bytes;
    return set;
}

int zmpi_cpus_count(void)
{
    pthread_once(&once, ask);
    int n = set != NULL ? CPU_COUNT_S(set_bytes, set) : 1;
    return n > 0 ? n : 1;
}

size_t zmpi_cpus_end(void)
{
    pthread_once(&once, ask);
    return 8 * set_bytes;
}

bool zmpi_cpus_has(size_t cpu)
{
    pthread_once(&once, ask);
    return set != NULL && cpu < 8 * set_bytes && CPU_ISSET_S(cpu, set_bytes, set);
}
