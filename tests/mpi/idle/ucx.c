/*
 * ucx.c - stands between MPICH and UCX: a rank that finds nothing to do some times in a row sleeps
 * a moment. Three ranks that poll on two cores take ten times as long.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <time.h>

#include "find.h"

typedef unsigned progress_fn(void *worker);

__attribute__((visibility("default"))) progress_fn ucp_worker_progress;

unsigned ucp_worker_progress(void *worker)
{
    static progress_fn *_Atomic progress;
    static _Thread_local unsigned idle;
    if (progress == NULL)
        progress = (progress_fn *)find_behind("ucp_worker_progress", "/libucp.so");
    unsigned done = progress(worker);
    if (done > 0)
        idle = 0;
    else if (++idle < 20)
        sched_yield();
    else
        nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    return done;
}
