/* Global memory as other threads see it.
 *
 * With config.store_buffer a plain store waits in its thread. A barrier (or zd_syncwarp) passes it
 * to the block, whose threads then see it. A fence or a release by any thread of the block puts it
 * into memory, with all that this thread could see. Before that it may reach memory at any time, in
 * any order. What a block never fences reaches memory when the launch ends.
 *
 * A reader must acquire. If another block's bytes reached memory after the last acquire or fence of
 * the reader's block, a plain load of them is an error, because a GPU could still return the old
 * bytes. */
#include "machine.h"

#include <string.h>

#define M zmpi_emu_machine

#define MAX_WAITING 4096u      /* granules of a block, and of ended ones */
#define MAX_WRITTEN (1u << 20) /* beyond that the record of who stored is dropped */

static uintptr_t piece_of(const void *p)
{
    return (uintptr_t)p / 16 * 16;
}

static uint16_t mask_of(const void *p, size_t size)
{
    return (uint16_t)(((1u << size) - 1) << (uintptr_t)p % 16);
}

/* The address to use for an access, or an error if it is not allowed. */
static void *check(const void *p, size_t size)
{
    void *at = (void *)(uintptr_t)p;
    if ((uintptr_t)p % size != 0)
        zmpi_emu_fail_here("misaligned access of %zu bytes at %p", size, at);
    const char *wrong = M.config.find == NULL ? NULL : M.config.find(&at, size);
    if (wrong != NULL)
        zmpi_emu_fail_here("access of %zu bytes at %p: %s", size, at, wrong);
    return at;
}

/* Shared memory belongs to the block, and stores there are seen at once. */
static int is_shared(const void *p)
{
    const uintptr_t shared = (uintptr_t)M.current->block->shared;
    return (uintptr_t)p - shared < STATIC_SIZE + M.grid->shared_bytes;
}

static void out_of_memory(void)
{
    zmpi_emu_fail_of(M.current, "no memory for the emulator");
}

/* ---- who stored ---- */

struct writer {
    uint64_t time;
    uint32_t bid;
};
_Static_assert(sizeof(struct writer) <= 16, "it lies in a granule's bytes");

/* Only the last block that stored into a piece is recorded. */
static void note_writer(uint32_t bid, const struct granule *stored)
{
    if (M.written.count > MAX_WRITTEN)
        zmpi_granules_clear(&M.written);
    struct granule *g = zmpi_granules_get(&M.written, stored->at);
    if (g == NULL) {
        out_of_memory();
        return;
    }
    struct writer writer;
    memcpy(&writer, g->bytes, sizeof writer);
    g->mask = (uint16_t)(writer.bid == bid ? g->mask | stored->mask : stored->mask);
    writer = (struct writer){.time = M.time, .bid = bid};
    memcpy(g->bytes, &writer, sizeof writer);
}

static void check_acquired(const void *p, size_t size)
{
    const struct block *block = M.current->block;
    const struct granule *g = zmpi_granules_find(&M.written, piece_of(p));
    if (g == NULL || (g->mask & mask_of(p, size)) == 0)
        return;
    struct writer writer;
    memcpy(&writer, g->bytes, sizeof writer);
    if (writer.bid != block->bid && writer.time > block->acquired)
        zmpi_emu_fail_here("plain load of what block %u has stored, and no acquire or fence since",
                           writer.bid);
}

/* ---- from threads to blocks to memory ---- */

static void to_memory(uint32_t bid, const struct granule *g)
{
    if (g->mask == 0)
        return;
    const unsigned first = (unsigned)__builtin_ctz(g->mask);
    void *at = (void *)(g->at + first);
    if (M.config.find != NULL)
        M.config.find(&at, 1);
    for (unsigned i = first; i < 16; i++)
        if ((g->mask >> i & 1) != 0)
            ((unsigned char *)at)[i - first] = g->bytes[i];
    note_writer(bid, g);
}

static void block_to_memory(struct block *block)
{
    M.time++;
    for (size_t i = 0; i < block->stores.count; i++)
        to_memory(block->bid, &block->stores.list[i]);
    zmpi_granules_clear(&block->stores);
}

/* Moves one store of a thread to memory, after those of its block to the same bytes. */
static void one_to_memory(struct thread *thread, unsigned i)
{
    struct granule *older = zmpi_granules_find(&thread->block->stores, thread->store[i].at);
    M.time++;
    if (older != NULL) {
        to_memory(thread->block->bid, older);
        older->mask = 0;
    }
    to_memory(thread->block->bid, &thread->store[i]);
    thread->store[i] = thread->store[--thread->stores];
}

static void all_to_memory(struct thread *thread)
{
    while (thread->stores > 0)
        one_to_memory(thread, thread->stores - 1);
    block_to_memory(thread->block);
}

static void one_to_block(struct thread *thread)
{
    for (unsigned i = 0; i < thread->stores; i++) {
        struct granule *g = zmpi_granules_get(&thread->block->stores, thread->store[i].at);
        if (g == NULL) {
            out_of_memory();
            return;
        }
        zmpi_granule_put(g, &thread->store[i]);
    }
    thread->stores = 0;
}

void zmpi_emu_stores_to_block(struct block *block, struct warp *warp)
{
    struct thread *lanes = &block->threads[(warp - block->warps) * WARP];
    for (; warp->storing != 0; warp->storing &= warp->storing - 1)
        one_to_block(&lanes[__builtin_ctz(warp->storing)]);
    if (block->stores.count > MAX_WAITING)
        block_to_memory(block);
}

static void left_to_memory(void)
{
    M.time++;
    for (size_t i = 0; i < M.left.count; i++)
        to_memory(UINT32_MAX, &M.left.list[i]);
    zmpi_granules_clear(&M.left);
}

void zmpi_emu_block_ended(struct block *block)
{
    for (unsigned w = 0; w < M.grid->block / WARP; w++)
        zmpi_emu_stores_to_block(block, &block->warps[w]);
    if (zmpi_emu_random(2) == 0) {
        block_to_memory(block);
        return;
    }
    for (size_t i = 0; i < block->stores.count; i++) {
        struct granule *g = zmpi_granules_get(&M.left, block->stores.list[i].at);
        if (g != NULL)
            zmpi_granule_put(g, &block->stores.list[i]);
        else
            to_memory(block->bid, &block->stores.list[i]);
    }
    zmpi_granules_clear(&block->stores);
    if (M.left.count > MAX_WAITING)
        left_to_memory();
}

void zmpi_emu_launch_ended(void)
{
    if (!M.failed)
        left_to_memory();
}

/* ---- plain ---- */

static struct granule *own_store(struct thread *thread, uintptr_t at)
{
    for (unsigned i = 0; i < thread->stores; i++)
        if (thread->store[i].at == at)
            return &thread->store[i];
    return NULL;
}

void zmpi_emu_store(void *to, const void *value, size_t size)
{
    struct thread *thread = M.current;
    void *at = check(to, size);
    zmpi_emu_progress();
    if (!M.config.store_buffer) {
        memcpy(at, value, size);
        return;
    }
    M.counts.delayed_stores++;
    struct granule store = {.at = piece_of(to), .mask = mask_of(to, size)};
    memcpy(store.bytes + (uintptr_t)to % 16, value, size);
    struct granule *g = own_store(thread, store.at);
    if (g == NULL) {
        if (thread->stores == STORES || (thread->stores > 0 && zmpi_emu_random(16) == 0))
            one_to_memory(thread, zmpi_emu_random(thread->stores));
        g = &thread->store[thread->stores++];
        warp_of(thread)->storing |= 1u << thread->self.tid % WARP;
        *g = (struct granule){.at = store.at};
    }
    zmpi_granule_put(g, &store);
}

/* Bytes from memory, with the stores that the thread can see: its own and those of its block. */
static void overlay(const struct granule *g, const void *from, void *value, size_t size)
{
    for (unsigned i = 0; g != NULL && i < size; i++) {
        const unsigned byte = (unsigned)((uintptr_t)from % 16) + i;
        if ((g->mask >> byte & 1) != 0)
            ((unsigned char *)value)[i] = g->bytes[byte];
    }
}

static void load(const void *from, void *value, size_t size)
{
    memcpy(value, from, size);
    overlay(zmpi_granules_find(&M.current->block->stores, piece_of(from)), from, value, size);
    overlay(own_store(M.current, piece_of(from)), from, value, size);
}

void zmpi_emu_load(const void *from, void *value, size_t size)
{
    check(from, size);
    if (M.config.store_buffer)
        check_acquired(from, size);
    load(from, value, size);
}

/* ---- ordered ---- */

/* A thread that publishes may be delayed just before. */
static void maybe_wait(void)
{
    if (M.config.delay == 0 || zmpi_emu_random(4) != 0)
        return;
    for (uint32_t turns = zmpi_emu_random(M.config.delay + 1); turns > 0; turns--)
        zmpi_emu_yield();
}

/* A thread has looked and changed nothing. This counts turns, so that a loop of such looks without
 * ZD_SPIN ends too. */
static void looked(void)
{
    if (zmpi_emu_random(4) != 0)
        return;
    if (++M.spins > M.config.spin_limit)
        zmpi_emu_fail_here("waits for ever: no thread has stored anything for %llu turns",
                           (unsigned long long)M.config.spin_limit);
    zmpi_emu_yield();
}

/* Stores to the same bytes that this thread made or saw come first, in every order. */
static void same_bytes_to_memory(const void *p)
{
    struct thread *thread = M.current;
    struct granule *g = own_store(thread, piece_of(p));
    if (g != NULL) {
        one_to_memory(thread, (unsigned)(g - thread->store));
        return;
    }
    g = zmpi_granules_find(&thread->block->stores, piece_of(p));
    if (g != NULL) {
        to_memory(thread->block->bid, g);
        g->mask = 0;
    }
}

void zmpi_emu_fence(void)
{
    maybe_wait();
    all_to_memory(M.current);
    M.current->block->acquired = M.time;
}

uint64_t zmpi_emu_load_ordered(const void *from, size_t size, enum zmpi_emu_order order)
{
    check(from, size);
    looked();
    uint32_t half = 0;
    uint64_t whole = 0;
    if (size == sizeof half)
        load(from, &half, sizeof half);
    else
        load(from, &whole, sizeof whole);
    if (order == ZMPI_EMU_ACQUIRE)
        M.current->block->acquired = M.time;
    return size == sizeof half ? half : whole;
}

static void put(void *to, uint64_t value, size_t size)
{
    const uint32_t half = (uint32_t)value;
    if (size == sizeof half)
        memcpy(to, &half, sizeof half);
    else
        memcpy(to, &value, sizeof value);
    zmpi_emu_progress();
}

void zmpi_emu_store_ordered(void *to, uint64_t value, size_t size, enum zmpi_emu_order order)
{
    void *at = check(to, size);
    maybe_wait();
    if (order == ZMPI_EMU_RELEASE)
        all_to_memory(M.current);
    else
        same_bytes_to_memory(to);
    put(at, value, size);
}

/* ---- atomics ---- */

static uint64_t outcome(uint64_t old, uint64_t value, uint64_t expected,
                        enum zmpi_emu_operation operation)
{
    switch (operation) {
    case ZMPI_EMU_ADD:
        return old + value;
    case ZMPI_EMU_MAX:
        return old > value ? old : value;
    case ZMPI_EMU_MIN:
        return old < value ? old : value;
    case ZMPI_EMU_OR:
        return old | value;
    case ZMPI_EMU_AND:
        return old & value;
    case ZMPI_EMU_EXCHANGE:
        return value;
    default:
        return old == expected ? value : old;
    }
}

uint64_t zmpi_emu_atomic(void *at, uint64_t value, uint64_t expected, size_t size,
                         enum zmpi_emu_operation operation)
{
    maybe_wait();
    if (!is_shared(at)) {
        void *global = check(at, size);
        same_bytes_to_memory(at);
        at = global;
    }
    uint32_t half;
    uint64_t old;
    if (size == sizeof half) {
        memcpy(&half, at, sizeof half);
        old = half;
    } else {
        memcpy(&old, at, sizeof old);
    }
    const uint64_t next = outcome(old, value, expected, operation);
    if (next != old)
        put(at, next, size);
    else
        looked();
    return old;
}
