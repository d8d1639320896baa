/*
 * ucx.c - stands between MPICH and UCX: a rank that finds nothing to do some times in a row sleeps
 * a moment. Three ranks that poll on two cores take ten times as long.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

typedef unsigned progress_fn(void *worker);

__attribute__((visibility("default"))) progress_fn ucp_worker_progress;

/* UCX's own, also where MPI was loaded out of sight of the rest of the process. */
static progress_fn *find_progress(void)
{
    void *f = dlsym(RTLD_NEXT, "ucp_worker_progress");
    if (f == NULL) {
        void *ucx = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);
        if (ucx == NULL || (f = dlsym(ucx, "ucp_worker_progress")) == NULL)
            abort();
    }
    return (progress_fn *)f;
}

unsigned ucp_worker_progress(void *worker)
{
    static progress_fn *_Atomic progress;
    static _Thread_local unsigned idle;
    if (progress == NULL)
        progress = find_progress();
    unsigned done = progress(worker);
    if (done > 0)
        idle = 0;
    else if (++idle < 20)
        sched_yield();
    else
        nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    return done;
}
