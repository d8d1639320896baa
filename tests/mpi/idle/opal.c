/*
 * opal.c - stands between Open MPI and its progress engine: a rank that finds nothing to do some
 * times in a row sleeps a moment where it would give way. Ranks that wait take as much of the cores
 * as they can get, otherwise.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "find.h"

typedef void progress_fn(void);

__attribute__((visibility("default"))) progress_fn opal_progress;
__attribute__((visibility("default"))) int sched_yield(void);

static _Thread_local bool inside; /* of opal_progress: what others yield for is not known */
static _Thread_local unsigned idle;

void opal_progress(void)
{
    static progress_fn *_Atomic progress;
    if (progress == NULL)
        progress = (progress_fn *)find_behind("opal_progress", "/libopen-pal.so");
    unsigned before = idle;
    inside = true;
    progress();
    inside = false;
    if (idle == before) /* it did not yield: there was something to do */
        idle = 0;
}

int sched_yield(void)
{
    if (!inside || ++idle < 20)
        return (int)syscall(SYS_sched_yield);
    return nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
}
