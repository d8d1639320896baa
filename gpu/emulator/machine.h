/* What the emulator's files share: the running launch, one at a time. */
#ifndef ZMPI_EMULATOR_MACHINE_H
#define ZMPI_EMULATOR_MACHINE_H

#include "emulator.h"
#include "fiber.h"
#include "granules.h"

#define WARP         32u
#define MAX_WARPS    32u
#define MAX_RESIDENT 1024u
#define MAX_STATICS  16u            /* ZD_SHARED objects of a kernel */
#define STATIC_SIZE  (48u * 1024u)  /* all of them together, as on every GPU */
#define MAX_DYNAMIC  (227u * 1024u) /* sm_90's; others have less */
#define STORES       8u             /* granules that one thread's stores may wait in */

enum state { READY, AT_WARP, AT_BARRIER, DONE };

struct thread {
    struct zmpi_emu_self self; /* first: zmpi_emu_self points here */
    struct fiber fiber;
    struct block *block;
    const char *where; /* the collective it stands at, or the last it has passed */
    unsigned stores;
    struct granule store[STORES];
};

/* The threads of a warp or a block that are at a collective. */
struct meeting {
    unsigned arrived;
    enum zmpi_emu_collective kind;
    const struct thread *first;
};

/* A block's state that collectives look at for all its threads: together here, not in each thread,
 * so that it stays in the cache. */
struct warp {
    uint32_t ready, storing; /* lanes whose turn may come; with stores that wait */
    unsigned done;
    struct meeting meeting;
    unsigned char state[WARP]; /* enum state */
    uint32_t lane[WARP];       /* argument of a shuffle */
    uint64_t value[WARP], result[WARP];
};

struct shared_object {
    const void *key;
    size_t offset, size;
};

struct block {
    struct thread *threads;
    struct warp warps[MAX_WARPS];
    uint32_t ready_warps;
    uint32_t bid;
    unsigned done;
    struct meeting meeting;
    unsigned char *shared; /* static objects, then dynamic memory */
    struct shared_object statics[MAX_STATICS];
    unsigned static_count;
    size_t static_size;
    struct granules stores; /* seen by the block's threads, not yet by others */
    uint64_t acquired;      /* time of the last acquire or fence of one of its threads */
};

struct machine {
    struct zmpi_emu_config config;
    const struct zmpi_emu_grid *grid;
    struct zmpi_emu_counts counts;
    uint64_t random;
    struct fiber scheduler;
    struct thread *current;
    struct block *blocks; /* resident */
    unsigned resident;
    uint64_t spins;          /* since somebody stored anything */
    struct granules left;    /* stores of blocks that have ended without a fence */
    struct granules written; /* who has stored there last, and when: see memory.c */
    uint64_t time;           /* counts what became visible to all */
    int failed;
    char message[512];
};

extern struct machine zmpi_emu_machine; /* of thread.c */

static inline struct warp *warp_of(const struct thread *thread)
{
    return &thread->block->warps[thread->self.tid / WARP];
}

/* ---- thread.c ---- */

/* Below n. */
uint32_t zmpi_emu_random(uint32_t n);
/* Fails the launch with a reason that names the current thread and its place; does not return. */
void zmpi_emu_fail_here(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
/* The same for any thread; returns. */
void zmpi_emu_fail_of(const struct thread *thread, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Lets other threads run. The current one goes on when it is READY and its turn comes. */
void zmpi_emu_yield(void);
/* All threads of the warp may go on. */
void zmpi_emu_set_ready(struct block *block, struct warp *warp);
void zmpi_emu_set_waiting(struct thread *thread, enum state state);
/* Notes progress (a store, a thread's end), so that waiting threads are no deadlock yet. */
void zmpi_emu_progress(void);

/* fault.c: names a kernel that faults before the process ends. */
void zmpi_emu_watch_faults(void);
void zmpi_emu_unwatch_faults(void);

/* memory.c */
void zmpi_emu_stores_to_block(struct block *block, struct warp *warp);
void zmpi_emu_block_ended(struct block *block);
void zmpi_emu_launch_ended(void);

/* collective.c */
void zmpi_emu_thread_ended(struct thread *thread);
/* Says why no thread of the block can go on. */
void zmpi_emu_explain_standstill(const struct block *block);

#endif
