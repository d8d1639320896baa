#include "fiber.h"

#include <stdint.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifdef SANITIZED
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#define RESERVE 1024u /* bytes of stack that the emulator itself may need */

static const uint64_t canary = UINT64_C(0x5bd1e9955bd1e995);

/* AddressSanitizer's name for the stack from which the running fiber was entered. */
static struct fiber *entered_from;

/* Not a power of two: else the upper ends of all stacks, which threads use, would share a few sets
 * of the cache. */
size_t zmpi_fiber_stack_size(void)
{
#ifdef SANITIZED
    return 256 * 1024 + 9 * 64; /* its frames are larger */
#else
    return 64 * 1024 + 9 * 64;
#endif
}

#ifndef ZMPI_EMU_UCONTEXT
/* Saves the registers that a function must preserve on the stack that it leaves, and goes on where
 * the other stack was left. All fibers share the control words of the floating-point units. A new
 * fiber's stack looks as if it had been left just before its start: FRAME words, with the start's
 * address at ENTRY. */
void zmpi_emu_switch_stacks(void **from, void *to);
__asm__(
    ".text\n"
    ".p2align 4\n"
    ".globl zmpi_emu_switch_stacks\n"
    ".hidden zmpi_emu_switch_stacks\n"
    ".type zmpi_emu_switch_stacks, %function\n"
    "zmpi_emu_switch_stacks:\n"
#ifdef __x86_64__
/* Six registers, the address, and one that start() takes for its return address. */
#define FRAME 8
#define ENTRY 6
    "    pushq %rbp\n"
    "    pushq %rbx\n"
    "    pushq %r12\n"
    "    pushq %r13\n"
    "    pushq %r14\n"
    "    pushq %r15\n"
    "    movq %rsp, (%rdi)\n"
    "    movq %rsi, %rsp\n"
    "    popq %r15\n"
    "    popq %r14\n"
    "    popq %r13\n"
    "    popq %r12\n"
    "    popq %rbx\n"
    "    popq %rbp\n"
    "    popq %rcx\n" /* not ret: the processor's return predictor would expect the caller there */
    "    jmp *%rcx\n"
#else
#define FRAME 20
#define ENTRY 11
    "    sub sp, sp, #160\n"
    "    stp x19, x20, [sp]\n"
    "    stp x21, x22, [sp, #16]\n"
    "    stp x23, x24, [sp, #32]\n"
    "    stp x25, x26, [sp, #48]\n"
    "    stp x27, x28, [sp, #64]\n"
    "    stp x29, x30, [sp, #80]\n"
    "    stp d8, d9, [sp, #96]\n"
    "    stp d10, d11, [sp, #112]\n"
    "    stp d12, d13, [sp, #128]\n"
    "    stp d14, d15, [sp, #144]\n"
    "    mov x9, sp\n"
    "    str x9, [x0]\n"
    "    mov sp, x1\n"
    "    ldp x19, x20, [sp]\n"
    "    ldp x21, x22, [sp, #16]\n"
    "    ldp x23, x24, [sp, #32]\n"
    "    ldp x25, x26, [sp, #48]\n"
    "    ldp x27, x28, [sp, #64]\n"
    "    ldp x29, x30, [sp, #80]\n"
    "    ldp d8, d9, [sp, #96]\n"
    "    ldp d10, d11, [sp, #112]\n"
    "    ldp d12, d13, [sp, #128]\n"
    "    ldp d14, d15, [sp, #144]\n"
    "    add sp, sp, #160\n"
    "    ret\n"
#endif
    ".size zmpi_emu_switch_stacks, . - zmpi_emu_switch_stacks\n");
#endif

void zmpi_fiber_make(struct fiber *fiber, char *stack, size_t stack_size, void (*start)(void))
{
    *fiber = (struct fiber){.stack = stack, .stack_size = stack_size};
#ifdef SANITIZED
    __asan_unpoison_memory_region(stack, stack_size);
#endif
    memcpy(stack, &canary, sizeof canary);
#ifdef ZMPI_EMU_UCONTEXT
    getcontext(&fiber->context);
    fiber->context.uc_stack.ss_sp = stack;
    fiber->context.uc_stack.ss_size = stack_size;
    fiber->context.uc_link = NULL;
    makecontext(&fiber->context, start, 0);
#else
    uint64_t frame[FRAME] = {0};
    frame[ENTRY] = (uint64_t)(uintptr_t)start;
    fiber->sp = stack + stack_size - sizeof frame;
    memcpy(fiber->sp, frame, sizeof frame);
#endif
}

void zmpi_fiber_begun(void)
{
#ifdef SANITIZED
    struct fiber *from = entered_from;
    const void *bottom;
    size_t size;
    __sanitizer_finish_switch_fiber(NULL, &bottom, &size);
    if (from->stack == NULL) { /* the program's own: its bounds are found here */
        from->stack_size = size;
        memcpy(&from->stack, &bottom, sizeof bottom);
    }
#endif
}

void zmpi_fiber_switch(struct fiber *from, struct fiber *to, int last)
{
    entered_from = from;
#ifdef SANITIZED
    __sanitizer_start_switch_fiber(last ? NULL : &from->fake_stack, to->stack, to->stack_size);
#else
    (void)last;
#endif
#ifdef ZMPI_EMU_UCONTEXT
    swapcontext(&from->context, &to->context);
#else
    zmpi_emu_switch_stacks(&from->sp, to->sp);
#endif
#ifdef SANITIZED
    __sanitizer_finish_switch_fiber(from->fake_stack, NULL, NULL);
#endif
}

int zmpi_fiber_overflowed(const struct fiber *fiber, int ends)
{
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    return here < (uintptr_t)fiber->stack + RESERVE ||
           (ends && memcmp(fiber->stack, &canary, sizeof canary) != 0);
}
