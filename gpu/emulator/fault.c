/* A kernel's plain loads and stores are the processor's own. If one faults, the process ends, as it
 * would anyway; this file names the thread first. */
#include "machine.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define M zmpi_emu_machine

static const int signals[] = {SIGSEGV, SIGBUS};
static struct sigaction before[2];
static stack_t stack_before;
static char own_stack[64 * 1024]; /* the thread's own stack may have overflowed */

static void on_fault(int number, siginfo_t *info, void *context)
{
    char line[512];
    const struct thread *thread = M.current;
    (void)context;
    const int length = snprintf(
        line, sizeof line,
        "zmpi emulator: kernel %s, block %u, thread %u, behind %s: fault at %p: no memory of the "
        "kernel's, or device memory stored to without zd_st_*\n",
        M.grid->name, thread->self.bid, thread->self.tid,
        thread->where != NULL ? thread->where : "its start", info->si_addr);
    if (write(STDERR_FILENO, line, (size_t)length) < 0)
        _exit(128 + number);
    zmpi_emu_unwatch_faults(); /* then the fault happens again, with the handler from before */
}

void zmpi_emu_watch_faults(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    const stack_t own = {.ss_sp = own_stack, .ss_size = sizeof own_stack};
    sigemptyset(&action.sa_mask);
    sigaltstack(&own, &stack_before);
    for (int i = 0; i < 2; i++)
        sigaction(signals[i], &action, &before[i]);
}

void zmpi_emu_unwatch_faults(void)
{
    for (int i = 0; i < 2; i++)
        sigaction(signals[i], &before[i], NULL);
    sigaltstack(&stack_before, NULL); /* if that stack faults too, the process ends */
}
