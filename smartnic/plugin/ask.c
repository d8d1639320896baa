/* ask.c - threads that ask zmpi-nicd, and the begin and end of the plug-in's own thread (client.h).
 */
#define _GNU_SOURCE // pthread_timedjoin_np
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "plugin/client_state.h"

static struct client client = {.lock = PTHREAD_MUTEX_INITIALIZER, .timeout = 5};

static void wake(struct client *c)
{
    const uint64_t one = 1;
    ssize_t written = write(c->event, &one, sizeof one);
    (void)written;
}

/* Runs at the end of the process, before libfabric's own exit handlers: then the thread must not be
 * inside libfabric. */
static void say_good_bye(void)
{
    struct client *c = &client;
    struct timespec until;
    if (c->pid != getpid()) /* in a child, which may have been forked while the lock was held */
        return;
    pthread_mutex_lock(&c->lock);
    const bool stuck = c->stuck;
    c->quit = true;
    pthread_mutex_unlock(&c->lock);
    if (stuck)
        return;
    wake(c);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 2;
    pthread_timedjoin_np(c->thread, NULL, &until);
}

static bool start(struct client *c, const char *path)
{
    sigset_t all, before;
    pthread_condattr_t attr;
    if (c->pid == getpid())
        return true;
    if (c->pid != 0) /* in a child: the thread has stayed with its parent */
        return false;
    c->path = path;
    c->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&c->done, &attr);
    sigfillset(&all); /* signals are for the program's own threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (c->event >= 0 && atexit(say_good_bye) == 0 &&
        pthread_create(&c->thread, NULL, nic_client_run, c) == 0)
        c->pid = getpid();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return c->pid != 0;
}

/* The thread has not moved for longer than anything may take: it spins in a lock, in memory shared
 * with us, that a dead process holds. From now on it gets only time that nobody else wants, so that
 * it costs nobody anything. */
static bool is_stuck(struct client *c, unsigned looks)
{
    if (looks < 2 * c->timeout + 5) /* opening a fabric takes a second or two */
        return c->stuck;
    const struct sched_param none = {0};
    c->stuck = true;
    sched_setscheduler(c->tid, SCHED_IDLE, &none);
    return true;
}

bool nic_client_start(const char *place, struct nic_call *call)
{
    struct client *c = &client;
    pthread_mutex_lock(&c->lock);
    const bool good = !c->stuck && !c->quit && start(c, place);
    call->done = !good;
    call->failed = !good;
    if (good) {
        call->next = c->fresh;
        c->fresh = call;
        wake(c);
    } else {
        snprintf(call->problem, sizeof call->problem, "%s",
                 c->stuck ? "the thread that talks to zmpi-nicd is stuck"
                          : "no thread to ask zmpi-nicd with");
    }
    pthread_mutex_unlock(&c->lock);
    return good;
}

bool nic_client_wait(struct nic_call *call)
{
    struct client *c = &client;
    unsigned looks = 0, tick;
    pthread_mutex_lock(&c->lock);
    /* Checked once a second, so that a process that was stopped for long does not take that for a
     * failure. */
    while (!call->done && !is_stuck(c, looks)) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec++;
        tick = atomic_load(&c->tick);
        if (pthread_cond_timedwait(&c->done, &c->lock, &until) == ETIMEDOUT)
            looks = tick == atomic_load(&c->tick) ? looks + 1 : 0;
    }
    const bool done = call->done;
    pthread_mutex_unlock(&c->lock);
    return done;
}

bool nic_client_done(const struct nic_call *call)
{
    pthread_mutex_lock(&client.lock);
    const bool done = call->done;
    pthread_mutex_unlock(&client.lock);
    return done;
}
