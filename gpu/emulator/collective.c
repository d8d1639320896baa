/* Warp operations, barriers and shared memory. A thread that comes to an operation waits until all
 * others are there. */
#include "machine.h"

#include <string.h>

#define M zmpi_emu_machine

static const char *name_of(enum zmpi_emu_collective kind)
{
    static const char *const names[] = {
        [ZMPI_EMU_SYNC] = "ZD_SYNC",         [ZMPI_EMU_SYNC_OR] = "zd_sync_or",
        [ZMPI_EMU_SYNC_AND] = "zd_sync_and", [ZMPI_EMU_SYNC_COUNT] = "zd_sync_count",
        [ZMPI_EMU_SYNCWARP] = "zd_syncwarp", [ZMPI_EMU_SHFL] = "zd_shfl",
        [ZMPI_EMU_SHFL_UP] = "zd_shfl_up",   [ZMPI_EMU_SHFL_DOWN] = "zd_shfl_down",
        [ZMPI_EMU_SHFL_XOR] = "zd_shfl_xor", [ZMPI_EMU_BALLOT] = "zd_ballot",
        [ZMPI_EMU_ANY] = "zd_any",           [ZMPI_EMU_ALL] = "zd_all",
        [ZMPI_EMU_REDUX_OR] = "zd_redux_or", [ZMPI_EMU_REDUX_ADD] = "zd_redux_add",
    };
    return names[kind];
}

/* The current thread joins the threads at a meeting, which must be at the same operation. `ended`
 * counts threads that cannot come any more. Returns how many are there. */
static unsigned arrive(struct meeting *meeting, const char *where, enum zmpi_emu_collective kind,
                       unsigned ended)
{
    struct thread *thread = M.current;
    thread->where = where;
    if (ended > 0)
        zmpi_emu_fail_here("%s, but %u of those that should take part have returned", name_of(kind),
                           ended);
    if (meeting->arrived > 0) {
        const struct thread *first = meeting->first;
        /* The compiler may store the text of one line at several addresses. */
        if (meeting->kind != kind || (first->where != where && strcmp(first->where, where) != 0))
            zmpi_emu_fail_here("divergent: %s here, while thread %u is in %s at %s", name_of(kind),
                               first->self.tid, name_of(meeting->kind), first->where);
    } else {
        meeting->kind = kind;
        meeting->first = thread;
    }
    return ++meeting->arrived;
}

/* ---- warps ---- */

static uint32_t ballot(const struct warp *warp)
{
    uint32_t mask = 0;
    for (unsigned i = 0; i < WARP; i++)
        mask |= (uint32_t)(warp->value[i] != 0) << i;
    return mask;
}

/* The lane that lane i reads, as in PTX's shfl with all 32 lanes: the operand counts modulo 32, and
 * a lane that would read beyond the warp reads itself. */
static unsigned source_lane(enum zmpi_emu_collective kind, unsigned i, uint32_t operand)
{
    const unsigned n = operand % WARP;
    switch (kind) {
    case ZMPI_EMU_SHFL:
        return n;
    case ZMPI_EMU_SHFL_UP:
        return i >= n ? i - n : i;
    case ZMPI_EMU_SHFL_DOWN:
        return i + n < WARP ? i + n : i;
    default:
        return i ^ n;
    }
}

/* Of all lanes: their bits, or their sum. */
static uint64_t reduced(const struct warp *warp, enum zmpi_emu_collective kind)
{
    uint64_t all = 0;
    for (unsigned i = 0; i < WARP; i++)
        all = kind == ZMPI_EMU_REDUX_OR ? all | warp->value[i] : all + warp->value[i];
    return all;
}

static uint64_t result_of(const struct warp *warp, enum zmpi_emu_collective kind, unsigned i,
                          uint32_t mask)
{
    switch (kind) {
    case ZMPI_EMU_BALLOT:
        return mask;
    case ZMPI_EMU_ANY:
        return mask != 0;
    case ZMPI_EMU_ALL:
        return mask == 0xffffffffu;
    case ZMPI_EMU_REDUX_OR:
    case ZMPI_EMU_REDUX_ADD:
        return reduced(warp, kind);
    default:
        return warp->value[source_lane(kind, i, warp->lane[i])];
    }
}

/* All lanes are there. */
static void complete_warp(struct block *block, struct warp *warp, enum zmpi_emu_collective kind)
{
    const uint32_t mask = ballot(warp);
    for (unsigned i = 0; i < WARP; i++)
        warp->result[i] = result_of(warp, kind, i, mask);
    if (kind == ZMPI_EMU_SYNCWARP)
        zmpi_emu_stores_to_block(block, warp);
    zmpi_emu_set_ready(block, warp);
}

uint64_t zmpi_emu_warp(const char *where, enum zmpi_emu_collective kind, uint64_t value,
                       uint32_t lane)
{
    struct thread *thread = M.current;
    struct warp *warp = warp_of(thread);
    const unsigned i = thread->self.tid % WARP;
    const unsigned there = arrive(&warp->meeting, where, kind, warp->done);
    warp->value[i] = value;
    warp->lane[i] = lane;
    if (there == WARP) {
        warp->meeting.arrived = 0;
        M.counts.warp_operations++;
        complete_warp(thread->block, warp, kind);
    } else {
        zmpi_emu_set_waiting(thread, AT_WARP);
        zmpi_emu_yield();
    }
    return warp->result[i];
}

/* ---- blocks ---- */

static void complete_barrier(struct block *block, enum zmpi_emu_collective kind)
{
    const unsigned warps = M.grid->block / WARP;
    unsigned count = 0;
    for (unsigned w = 0; w < warps; w++)
        count += (unsigned)__builtin_popcount(ballot(&block->warps[w]));
    uint64_t result = count;
    if (kind == ZMPI_EMU_SYNC_OR)
        result = count > 0;
    else if (kind == ZMPI_EMU_SYNC_AND)
        result = count == M.grid->block;
    for (unsigned w = 0; w < warps; w++) {
        struct warp *warp = &block->warps[w];
        for (unsigned i = 0; i < WARP; i++)
            warp->result[i] = result;
        zmpi_emu_stores_to_block(block, warp);
        zmpi_emu_set_ready(block, warp);
    }
}

uint32_t zmpi_emu_barrier(const char *where, enum zmpi_emu_collective kind, uint32_t value)
{
    struct thread *thread = M.current;
    struct block *block = thread->block;
    struct warp *warp = warp_of(thread);
    const unsigned there = arrive(&block->meeting, where, kind, block->done);
    warp->value[thread->self.tid % WARP] = value;
    if (there == M.grid->block) {
        block->meeting.arrived = 0;
        M.counts.barriers++;
        complete_barrier(block, kind);
    } else {
        zmpi_emu_set_waiting(thread, AT_BARRIER);
        zmpi_emu_yield();
    }
    return (uint32_t)warp->result[thread->self.tid % WARP];
}

/* ---- ends ---- */

void zmpi_emu_thread_ended(struct thread *thread)
{
    struct block *block = thread->block;
    struct warp *warp = warp_of(thread);
    const struct meeting *meeting = warp->meeting.arrived > 0 ? &warp->meeting : &block->meeting;
    if (meeting->arrived > 0)
        zmpi_emu_fail_here("returns, while thread %u waits in %s at %s", meeting->first->self.tid,
                           name_of(meeting->kind), meeting->first->where);
    zmpi_emu_set_waiting(thread, DONE);
    warp->done++;
    block->done++;
    zmpi_emu_progress();
}

static const struct thread *find(const struct thread *thread, enum state state)
{
    while (warp_of(thread)->state[thread->self.tid % WARP] != state)
        thread++;
    return thread;
}

/* All threads wait and none has returned (that would have been reported): some lanes of a warp are
 * in a warp operation, others at a barrier. */
void zmpi_emu_explain_standstill(const struct block *block)
{
    const struct thread *at_warp = find(block->threads, AT_WARP);
    const struct thread *at_barrier = find(at_warp - at_warp->self.tid % WARP, AT_BARRIER);
    zmpi_emu_fail_of(at_warp, "divergent: in a warp operation, while thread %u is in %s at %s",
                     at_barrier->self.tid, name_of(block->meeting.kind), at_barrier->where);
}

/* ---- shared memory ---- */

void *zmpi_emu_shared(const void *key, size_t size)
{
    struct block *block = M.current->block;
    for (unsigned i = 0; i < block->static_count; i++)
        if (block->statics[i].key == key)
            return block->shared + block->statics[i].offset;
    const size_t at = (block->static_size + 15) / 16 * 16;
    if (block->static_count == MAX_STATICS || size > STATIC_SIZE - at)
        zmpi_emu_fail_here("over %u bytes of static shared memory, or %u objects", STATIC_SIZE,
                           MAX_STATICS);
    block->statics[block->static_count++] = (struct shared_object){key, at, size};
    block->static_size = at + size;
    return block->shared + at;
}

void *zmpi_emu_shared_dynamic(void)
{
    if (M.grid->shared_bytes == 0)
        zmpi_emu_fail_here("dynamic shared memory, but launched with none");
    return M.current->block->shared + STATIC_SIZE;
}
