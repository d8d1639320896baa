/* Runs a launch: it puts blocks on places and threads on fibers, and decides whose turn it is. */
#include "machine.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define M zmpi_emu_machine

/* Stacks are kept for the next launch. */
static struct {
    char *base;
    size_t size;
} stacks;

static uint64_t from_environment(const char *name, uint64_t fallback)
{
    const char *text = getenv(name);
    return text == NULL || *text == '\0' ? fallback : strtoull(text, NULL, 0);
}

void zmpi_emu_defaults(struct zmpi_emu_config *config)
{
    *config = (struct zmpi_emu_config){
        .resident = (unsigned)from_environment("ZMPI_EMU_RESIDENT", 8),
        .seed = from_environment("ZMPI_EMU_SEED", 1),
        .store_buffer = from_environment("ZMPI_EMU_STORE_BUFFER", 1) != 0,
        .delay = (unsigned)from_environment("ZMPI_EMU_DELAY", 16),
        .spin_limit = 2000000,
    };
}

void zmpi_emu_take_counts(struct zmpi_emu_counts *counts)
{
    *counts = M.counts;
    M.counts = (struct zmpi_emu_counts){0};
}

/* ---- turns ---- */

static void thread_main(void)
{
    zmpi_fiber_begun();
    M.grid->kernel(M.grid->args);
    zmpi_emu_thread_ended(M.current);
    zmpi_emu_yield();
    abort();
}

static unsigned pick_bit(uint32_t mask)
{
    for (uint32_t skip = zmpi_emu_random((uint32_t)__builtin_popcount(mask)); skip > 0; skip--)
        mask &= mask - 1;
    return (unsigned)__builtin_ctz(mask);
}

static void resume(struct thread *thread)
{
    M.current = thread;
    zmpi_emu_self = &thread->self;
    zmpi_fiber_switch(&M.scheduler, &thread->fiber, 0);
    zmpi_emu_self = NULL;
}

/* Lets the lanes of one warp run, in some order, each until it waits or yields. */
static void turn(struct block *block)
{
    struct warp *warp = &block->warps[pick_bit(block->ready_warps)];
    const uint32_t ready = warp->ready;
    const unsigned first = zmpi_emu_random(WARP);
    const unsigned base = (unsigned)(warp - block->warps) * WARP;
    for (unsigned i = 0; i < WARP && !M.failed; i++) {
        const unsigned lane = (first + i) % WARP;
        if ((ready >> lane & 1) != 0)
            resume(&block->threads[base + lane]);
    }
}

/* ---- blocks ---- */

/* Puts block `bid` in its place's threads. */
static void begin_block(struct block *block, unsigned place, uint32_t bid)
{
    const struct zmpi_emu_grid *grid = M.grid;
    const size_t stack = zmpi_fiber_stack_size();
    block->bid = bid;
    block->done = block->static_count = 0;
    block->static_size = 0;
    block->acquired = 0;
    block->meeting = (struct meeting){0};
    /* Shared memory has arbitrary contents when a kernel starts. */
    memset(block->shared, (int)zmpi_emu_random(256), STATIC_SIZE + grid->shared_bytes);
    for (unsigned w = 0; w < grid->block / WARP; w++) {
        block->warps[w] = (struct warp){0};
        zmpi_emu_set_ready(block, &block->warps[w]);
    }
    for (unsigned t = 0; t < grid->block; t++) {
        struct thread *thread = &block->threads[t];
        *thread = (struct thread){.self = {t, bid, grid->block, grid->grid}, .block = block};
        zmpi_fiber_make(&thread->fiber, stacks.base + (place * (size_t)grid->block + t + 1) * stack,
                        stack, thread_main);
    }
}

/* Any order: a GPU promises none. */
static uint32_t *block_order(uint32_t count)
{
    uint32_t *order = malloc(count * sizeof *order);
    for (uint32_t i = 0; order != NULL && i < count; i++) {
        const uint32_t j = zmpi_emu_random(i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    return order;
}

static void run_blocks(const uint32_t *order)
{
    uint32_t begun = 0, active[MAX_RESIDENT], count = 0;
    while (begun < M.resident) {
        begin_block(&M.blocks[begun], begun, order[begun]);
        active[count++] = begun++;
    }
    while (count > 0 && !M.failed) {
        const uint32_t i = zmpi_emu_random(count);
        struct block *block = &M.blocks[active[i]];
        if (block->ready_warps != 0) {
            turn(block);
        } else if (block->done < M.grid->block) {
            zmpi_emu_explain_standstill(block);
        } else {
            zmpi_emu_block_ended(block);
            if (begun < M.grid->grid)
                begin_block(block, active[i], order[begun++]);
            else
                active[i] = active[--count];
        }
    }
}

/* ---- the launch ---- */

/* One stack more than there are threads, so that every thread has another stack below its own. */
static int have_stacks(size_t count)
{
    const size_t size = (count + 1) * zmpi_fiber_stack_size();
    if (size <= stacks.size)
        return 1;
    if (stacks.base != NULL)
        munmap(stacks.base, stacks.size);
    stacks.base = mmap(NULL, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    stacks.size = size;
    if (stacks.base != MAP_FAILED)
        return 1;
    stacks.base = NULL;
    stacks.size = 0;
    return 0;
}

static int have_blocks(void)
{
    const size_t threads = M.grid->block;
    M.blocks = calloc(M.resident, sizeof *M.blocks);
    if (M.blocks == NULL)
        return 0;
    for (unsigned i = 0; i < M.resident; i++) {
        struct block *block = &M.blocks[i];
        block->threads = calloc(threads, sizeof *block->threads);
        block->shared = aligned_alloc(128, (STATIC_SIZE + M.grid->shared_bytes + 127) / 128 * 128);
        if (block->threads == NULL || block->shared == NULL)
            return 0;
    }
    return have_stacks(M.resident * threads);
}

static void free_blocks(void)
{
    for (unsigned i = 0; M.blocks != NULL && i < M.resident; i++) {
        free(M.blocks[i].threads);
        free(M.blocks[i].shared);
        zmpi_granules_free(&M.blocks[i].stores);
    }
    free(M.blocks);
    zmpi_granules_free(&M.left);
    zmpi_granules_free(&M.written);
    M.blocks = NULL;
}

static int refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int refuse(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(M.message, sizeof M.message, format, args);
    va_end(args);
    return -1;
}

int zmpi_emu_run(const struct zmpi_emu_config *config, const struct zmpi_emu_grid *grid)
{
    if (grid->grid == 0 || grid->block == 0 || grid->block % WARP != 0 ||
        grid->block > WARP * MAX_WARPS || grid->shared_bytes > MAX_DYNAMIC)
        return refuse("kernel %s: cannot launch %u blocks of %u threads with %zu bytes of shared "
                      "memory (a block has a multiple of 32 threads, up to 1024)",
                      grid->name, grid->grid, grid->block, grid->shared_bytes);
    M = (struct machine){.config = *config, .grid = grid, .counts = M.counts};
    M.random = config->seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    M.resident = config->resident < MAX_RESIDENT ? config->resident : MAX_RESIDENT;
    M.resident = M.resident < grid->grid ? M.resident : grid->grid;
    M.resident = M.resident > 0 ? M.resident : 1;
    uint32_t *order = block_order(grid->grid);
    if (order == NULL || !have_blocks()) {
        M.failed = refuse("kernel %s: no memory for the emulator", grid->name);
    } else {
        zmpi_emu_watch_faults();
        run_blocks(order);
        zmpi_emu_launch_ended();
        zmpi_emu_unwatch_faults();
    }
    free_blocks();
    free(order);
    return M.failed ? -1 : 0;
}
