/* The running thread as all files of the emulator see it: failures, waiting, random choices. */
#include "machine.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct machine zmpi_emu_machine;
#define M zmpi_emu_machine

const struct zmpi_emu_self *zmpi_emu_self;

const char *zmpi_emu_message(void)
{
    return M.message;
}

uint32_t zmpi_emu_random(uint32_t n)
{
    M.random ^= M.random << 13;
    M.random ^= M.random >> 7;
    M.random ^= M.random << 17;
    return (uint32_t)((M.random >> 32) * n >> 32);
}

/* ---- failures ---- */

static void fail(const struct thread *thread, const char *format, va_list args)
{
    if (M.failed)
        return; /* the first message tells most */
    M.failed = 1;
    int used = snprintf(M.message, sizeof M.message,
                        "kernel %s, block %u, thread %u, at %s: ", M.grid->name, thread->self.bid,
                        thread->self.tid, thread->where != NULL ? thread->where : "its start");
    if (used > 0 && (size_t)used < sizeof M.message)
        vsnprintf(M.message + used, sizeof M.message - (size_t)used, format, args);
}

void zmpi_emu_fail_of(const struct thread *thread, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fail(thread, format, args);
    va_end(args);
}

void zmpi_emu_fail_here(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fail(M.current, format, args);
    va_end(args);
    for (;;) /* the scheduler sees M.failed and never comes back */
        zmpi_emu_yield();
}

/* ---- waiting ---- */

void zmpi_emu_yield(void)
{
    const int ends = warp_of(M.current)->state[M.current->self.tid % WARP] == DONE;
    if (zmpi_fiber_overflowed(&M.current->fiber, ends))
        zmpi_emu_fail_of(M.current, "stack overflow: a thread has %zu bytes",
                         M.current->fiber.stack_size);
    zmpi_fiber_switch(&M.current->fiber, &M.scheduler, ends);
}

void zmpi_emu_set_ready(struct block *block, struct warp *warp)
{
    memset(warp->state, READY, sizeof warp->state);
    warp->ready = 0xffffffffu;
    block->ready_warps |= 1u << (warp - block->warps);
}

void zmpi_emu_set_waiting(struct thread *thread, enum state state)
{
    struct warp *warp = warp_of(thread);
    const unsigned lane = thread->self.tid % WARP;
    warp->state[lane] = (unsigned char)state;
    warp->ready &= ~(1u << lane);
    if (warp->ready == 0)
        thread->block->ready_warps &= ~(1u << thread->self.tid / WARP);
}

void zmpi_emu_progress(void)
{
    M.spins = 0;
}

void zmpi_emu_bounds(unsigned threads, size_t args_size)
{
    if (M.grid->block > threads)
        zmpi_emu_fail_here("launched with %u threads per block, declared for up to %u",
                           M.grid->block, threads);
    if (M.grid->args_size != args_size)
        zmpi_emu_fail_here("launched with an argument of %zu bytes, declared with %zu",
                           M.grid->args_size, args_size);
}

void zmpi_emu_spin(const char *where)
{
    M.current->where = where;
    M.counts.spins++;
    if (++M.spins > M.config.spin_limit)
        zmpi_emu_fail_here("waits for ever: no thread has stored anything for %llu turns",
                           (unsigned long long)M.config.spin_limit);
    zmpi_emu_yield();
}
