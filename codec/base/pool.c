/*
 * pool.c - helper threads, started when they are first wanted, shared by all calls of the process.
 *
 * pthreads, not OpenMP: the library is preloaded into programs that may use OpenMP themselves,
 * from another compiler. It must not bring a second OpenMP runtime into the process (two of them
 * oversubscribe the cores, and some abort), nor change thread counts or bindings of the program's
 * own. Helpers sleep on a condition while there is nothing to do; they never spin on the
 * program's cores.
 *
 * Under MPI_THREAD_MULTIPLE several threads compress at once. The first has the helpers, the
 * others work alone: the cores are in use already, and waiting for the helpers would take longer
 * than doing the work.
 */
#define _GNU_SOURCE // pthread_setaffinity_np, pthread_setname_np
#include "base/pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/cpus.h"
#include "base/floats.h"

#define MOST_HELPERS 1023 /* ZMPI_THREADS is at most 1024 */

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t begin; /* there is a task, or the end of all */
    pthread_cond_t end;   /* a helper left the task */
    bool taken;           /* a call has the helpers */
    bool stopping, closed;
    void (*task)(void *);
    void *context;
    int wanted; /* helpers that may still join the task */
    int active; /* helpers inside it */
    int helpers;
    pthread_t helper[MOST_HELPERS];
};

#define POOL_EMPTY                                                                                 \
    {                                                                                              \
        .lock = PTHREAD_MUTEX_INITIALIZER, .begin = PTHREAD_COND_INITIALIZER,                      \
        .end = PTHREAD_COND_INITIALIZER                                                            \
    }

static struct pool pool = POOL_EMPTY;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

/* The child of a fork has one thread. Whatever the others held in the parent, here it is free. */
static void after_fork(void)
{
    pool = (struct pool)POOL_EMPTY;
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, after_fork);
}

static void *helper_main(void *unused)
{
    (void)unused;
    size_t bytes;
    const void *mask = zmpi_cpus_mask(&bytes);
    if (mask != NULL) // fails if the CPUs that were ours are not any more
        pthread_setaffinity_np(pthread_self(), bytes, mask);
    zmpi_floats_begin(); // for good: the settings came from the thread that started this one
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        while (pool.wanted == 0 && !pool.stopping)
            pthread_cond_wait(&pool.begin, &pool.lock);
        if (pool.stopping)
            break;
        pool.wanted--;
        pool.active++;
        void (*task)(void *) = pool.task;
        void *context = pool.context;
        pthread_mutex_unlock(&pool.lock);
        task(context);
        pthread_mutex_lock(&pool.lock);
        pool.active--;
        pthread_cond_signal(&pool.end);
    }
    pthread_mutex_unlock(&pool.lock);
    return NULL;
}

/* One more helper, on any CPU of the process. */
static bool start_helper(void)
{
    pthread_t *t = &pool.helper[pool.helpers];
    if (pthread_create(t, NULL, helper_main, NULL))
        return false;
    pthread_setname_np(*t, "zmpi");
    pool.helpers++;
    return true;
}

/* With the lock held. The program's signals are the business of the program's threads. */
static void start_helpers(int n)
{
    sigset_t all, before;
    if (pool.helpers >= n)
        return;
    pthread_once(&fork_once, watch_forks);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool.helpers < n && start_helper())
        continue;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Put up to n helpers to work on the task; false: there are none for us. */
static bool take_helpers(int n, void (*task)(void *), void *context)
{
    bool got = false;
    pthread_mutex_lock(&pool.lock);
    if (!pool.taken && !pool.stopping && !pool.closed) {
        start_helpers(n);
        n = n < pool.helpers ? n : pool.helpers;
        got = n > 0;
    }
    if (got) {
        pool.taken = true;
        pool.task = task;
        pool.context = context;
        pool.wanted = n;
        for (int i = 0; i < n; i++)
            pthread_cond_signal(&pool.begin);
    }
    pthread_mutex_unlock(&pool.lock);
    return got;
}

static void give_back_helpers(void)
{
    pthread_mutex_lock(&pool.lock);
    pool.wanted = 0; // who has not come yet is not needed any more
    while (pool.active > 0)
        pthread_cond_wait(&pool.end, &pool.lock);
    pool.taken = false;
    pthread_mutex_unlock(&pool.lock);
}

void zmpi_pool_run(int threads, void (*task)(void *context), void *context)
{
    int n = threads - 1 < MOST_HELPERS ? threads - 1 : MOST_HELPERS;
    bool helped = n > 0 && take_helpers(n, task, context);
    const struct zmpi_floats program = zmpi_floats_begin();
    task(context);
    zmpi_floats_end(program);
    if (helped)
        give_back_helpers();
}

static void stop(bool for_good)
{
    pthread_mutex_lock(&pool.lock);
    bool mine = !pool.stopping;
    int helpers = pool.helpers;
    pool.closed |= for_good;
    pool.stopping = true;
    pthread_cond_broadcast(&pool.begin);
    pthread_mutex_unlock(&pool.lock);
    if (!mine)
        return; // another thread is at it
    for (int i = 0; i < helpers; i++)
        pthread_join(pool.helper[i], NULL);
    pthread_mutex_lock(&pool.lock);
    pool.helpers = 0;
    pool.stopping = false;
    pthread_mutex_unlock(&pool.lock);
}

void zmpi_pool_stop(void)
{
    stop(false);
}

int zmpi_pool_helpers(void)
{
    pthread_mutex_lock(&pool.lock);
    int n = pool.helpers;
    pthread_mutex_unlock(&pool.lock);
    return n;
}

/* exit, or dlclose: the helpers' code is about to be unmapped. */
__attribute__((destructor)) static void close_pool(void)
{
    stop(true);
}
