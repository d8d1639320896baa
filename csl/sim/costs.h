/*
 * costs.h - what operations cost, in cycles of a PE and bytes of code.
 *
 * The widths of DSD operations are published (elements per cycle on WSE-2 and WSE-3); where the
 * SDK's table has no entry, one per cycle is assumed. The costs of scalar operations are not
 * published. The first set of them are estimates for a 16-bit machine: a 32-bit operation is a few
 * instructions, a multiplication or division of 32 bits is a call. The second set is fitted to the
 * cycles that CereSZ publishes, which were measured with SDK 0.8 on code that is not public.
 * scripts/generate/csl_fit.py makes it; docs/internals/csl.md says how near it comes.
 */
#ifndef CSL_COSTS_H
#define CSL_COSTS_H

#include <stdint.h>

/* name, cycles estimated and fitted, bytes of code */
#define CSL_SCALAR_COSTS(X)                                                                        \
    X(MOVE, 1, 1, 2)                                                                               \
    X(CONST16, 0, 0, 2) /* an immediate operand */                                                 \
    X(CONST32, 1, 1, 6)                                                                            \
    X(ALU16, 1, 1, 2)                                                                              \
    X(ALU32, 2, 2, 4)                                                                              \
    X(ALU64, 4, 4, 8)                                                                              \
    X(SHIFT16, 1, 1, 2)                                                                            \
    X(SHIFT32, 6, 19, 12)                                                                          \
    X(SHIFT64, 16, 51, 24)                                                                         \
    X(MUL16, 2, 2, 2)                                                                              \
    X(MUL32, 8, 8, 12)                                                                             \
    X(MUL64, 32, 32, 16)                                                                           \
    X(DIV16, 24, 24, 8)                                                                            \
    X(DIV32, 60, 60, 8)                                                                            \
    X(DIV64, 200, 200, 8)                                                                          \
    X(COMPARE16, 1, 1, 4)                                                                          \
    X(COMPARE32, 2, 2, 6)                                                                          \
    X(COMPARE64, 4, 4, 12)                                                                         \
    X(FADD, 1, 1, 4)                                                                               \
    X(FMUL, 1, 134, 4)                                                                             \
    X(FDIV, 50, 134, 8)                                                                            \
    X(FCOMPARE, 2, 2, 6)                                                                           \
    X(FTOI, 12, 12, 12)                                                                            \
    X(ITOF, 12, 12, 12)                                                                            \
    X(MATH, 60, 134, 8)                                                                            \
    X(CONVERT, 1, 1, 2)                                                                            \
    X(LOAD16, 2, 2, 4)                                                                             \
    X(LOAD32, 2, 2, 4)                                                                             \
    X(STORE16, 1, 1, 4)                                                                            \
    X(STORE32, 1, 1, 4)                                                                            \
    X(INDEX, 2, 2, 4)                                                                              \
    X(COPY, 2, 2, 6) /* and 1 cycle per two words */                                               \
    X(JUMP, 1, 4, 2)                                                                               \
    X(BRANCH, 2, 7, 4)                                                                             \
    X(CALL, 4, 15, 4)                                                                              \
    X(RETURN, 2, 7, 2)                                                                             \
    X(DSD_MAKE, 4, 4, 12)                                                                          \
    X(DSD_CHANGE, 2, 2, 4)                                                                         \
    X(DSD_ISSUE, 4, 4, 12) /* loads the operands' descriptors; the elements come on top */         \
    X(TASK_STATE, 1, 1, 4) /* @activate, @block, @unblock */                                       \
    X(SYSTEM, 8, 8, 8)     /* unblock_cmd_stream, timers */                                        \
    X(NONE, 0, 0, 0)       /* checks that the hardware does not make */

#define X(name, estimated, fitted, bytes) COST_##name,
enum csl_cost { CSL_SCALAR_COSTS(X) COST_COUNT };
#undef X

struct csl_costs {
    uint16_t cycles[COST_COUNT];
};

#define TASK_START_CYCLES  4  /* the picker, and the jump to the task */
#define LAUNCH_CYCLES      20 /* the command's wavelets at a PE, before the function runs */
#define QUEUE_LATENCY      1  /* cycles from a router to a task or thread, and back */
#define ROUTER_DEPTH       2  /* wavelets a router holds per color */
#define PE_MEMORY_BYTES    (48u << 10)
#define STACK_BYTES        512u  /* kept free for calls */
#define RUNTIME_CODE_BYTES 1024u /* the memcpy library's tasks */

/* DSD operations: name, element bits of the operation, sources, elements per cycle on WSE-2 and on
 * WSE-3. */
#define CSL_DSD_OPS(X)                                                                             \
    X(add16, 16, 2, 4, 8)                                                                          \
    X(addc16, 16, 2, 1, 8)                                                                         \
    X(sub16, 16, 2, 4, 8)                                                                          \
    X(and16, 16, 2, 4, 8)                                                                          \
    X(or16, 16, 2, 4, 8)                                                                           \
    X(xor16, 16, 2, 4, 8)                                                                          \
    X(sll16, 16, 2, 1, 4)                                                                          \
    X(slr16, 16, 2, 1, 4)                                                                          \
    X(sar16, 16, 2, 1, 4)                                                                          \
    X(clz, 16, 1, 1, 1)                                                                            \
    X(ctz, 16, 1, 1, 1)                                                                            \
    X(popcnt, 16, 1, 1, 1)                                                                         \
    X(mov16, 16, 1, 4, 8)                                                                          \
    X(mov32, 32, 1, 2, 4)                                                                          \
    X(fadds, 32, 2, 2, 4)                                                                          \
    X(fsubs, 32, 2, 2, 4)                                                                          \
    X(fmuls, 32, 2, 1, 1)                                                                          \
    X(fmacs, 32, 3, 1, 1)                                                                          \
    X(fmaxs, 32, 2, 1, 4)                                                                          \
    X(fabss, 32, 1, 2, 4)                                                                          \
    X(fnegs, 32, 1, 2, 4)                                                                          \
    X(fmovs, 32, 1, 2, 4)                                                                          \
    X(faddh, 16, 2, 4, 8)                                                                          \
    X(fsubh, 16, 2, 4, 8)                                                                          \
    X(fmulh, 16, 2, 4, 8)                                                                          \
    X(fmach, 16, 3, 4, 8)                                                                          \
    X(fmaxh, 16, 2, 1, 8)                                                                          \
    X(fabsh, 16, 1, 4, 8)                                                                          \
    X(fnegh, 16, 1, 4, 8)                                                                          \
    X(fmovh, 16, 1, 4, 8)

#define X(name, bits, sources, wse2, wse3) DSD_##name,
enum csl_dsd_op { CSL_DSD_OPS(X) DSD_OP_COUNT };
#undef X

#endif
