/*
 * pool.h - helper threads for one piece of work that can be cut up.
 *
 * Help is an offer, never a promise: a task must be complete when one thread alone has run it.
 */
#ifndef ZMPI_POOL_H
#define ZMPI_POOL_H

/*
 * Run task(context) on this thread and at the same time on up to threads - 1 helpers; returns
 * when all of them have returned. The task takes its portions of the work from the context until
 * none is left. It is run by this thread alone if threads < 2, if another thread has the helpers
 * at this moment, or if there are none to be had. A task calls zmpi_pool_run for one
 * thread at most.
 */
void zmpi_pool_run(int threads, void (*task)(void *context), void *context);

/* End the helpers and wait for them. The next zmpi_pool_run starts new ones. */
void zmpi_pool_stop(void);

/* Helpers alive now, for the tests. */
int zmpi_pool_helpers(void);

#endif
