/* Threads of control that pass the processor to each other. Each is one CUDA thread. */
#ifndef ZMPI_EMULATOR_FIBER_H
#define ZMPI_EMULATOR_FIBER_H

#include <stddef.h>

#if !defined(__x86_64__) && !defined(__aarch64__) && !defined(ZMPI_EMU_UCONTEXT)
#define ZMPI_EMU_UCONTEXT
#endif
#ifdef ZMPI_EMU_UCONTEXT
#include <ucontext.h>
#endif

struct fiber {
#ifdef ZMPI_EMU_UCONTEXT
    ucontext_t context;
#else
    void *sp;
#endif
    char *stack; /* NULL: the one of the program itself */
    size_t stack_size;
    void *fake_stack; /* AddressSanitizer's */
};

/* Bytes of stack of one fiber. */
size_t zmpi_fiber_stack_size(void);

/* Makes a fiber that begins in start(), which must never return. The stack may be that of a fiber
 * that will not run again. */
void zmpi_fiber_make(struct fiber *fiber, char *stack, size_t stack_size, void (*start)(void));

/* Switches from `from`, which may be resumed later, to `to`. last: `from` will not run again. */
void zmpi_fiber_switch(struct fiber *from, struct fiber *to, int last);

/* start() must call this first. */
void zmpi_fiber_begun(void);

/* Has the running fiber come near the end of its stack, or beyond? It looks beyond only if `ends`
 * says so, because that part of the stack is seldom in a cache. */
int zmpi_fiber_overflowed(const struct fiber *fiber, int ends);

#endif
