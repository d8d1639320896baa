/*
 * memory.c - device memory that is kept from call to call. The program needs the GPU's memory
 * itself: so the amount of idle memory is limited, and all of it is released before an allocation
 * fails.
 *
 * cudaMalloc and cudaFree may wait for everything that runs on the device, and so for ever if a
 * kernel of the program waits for another rank that waits for this one (NCCL). Memory of the
 * device's pool comes and goes without waiting.
 */
#include "gpu.h"

#include <pthread.h>
#include <stdlib.h>

#define IDLE_MOST ((size_t)1 << 30)
#define LEAST     ((size_t)256 << 10)

struct block {
    struct block *next;
    void *memory;
    size_t bytes;
    void *context;
    const void *witness; /* pinned memory of the lane; a reset takes it, but not memory of pools */
    unsigned long long number, witness_number;
    int device;
    bool pooled, taken;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct block *blocks;
static size_t idle_bytes;

/* Calls of about the same size share a block: sizes go in steps of an eighth. Size 0 gets a block
 * too, because CUDA does not allocate 0 bytes. */
static size_t rounded(size_t bytes)
{
    size_t step = LEAST;
    while (step < bytes / 8)
        step *= 2;
    return bytes ? (bytes + step - 1) / step * step : step;
}

/* Large enough, and not so large that another call should have it. */
static bool suits(const struct block *b, const void *context, size_t bytes)
{
    return !b->taken && b->context == context && b->bytes >= bytes &&
           (b->bytes <= LEAST || b->bytes / 4 <= bytes);
}

/* Does its context still exist as it was? CUDA does not say whether kernels may use what a reset
 * leaves of a pool. */
static bool alive(const struct block *b)
{
    return gpu_is_still(b->memory, b->number) && gpu_is_still(b->witness, b->witness_number);
}

/* Makes a context current that can free the block: its own, unless that has gone. Then memory of a
 * pool is still there, because it belongs to the device; other memory has gone too. */
static bool enter(const struct block *b)
{
    const struct gpu_place there = {.memory = ZMPI_MEMORY_GPU, .device = b->device};
    void *context;
    if (gpu_is_still(b->witness, b->witness_number))
        return gpu_context_push_own(b->context);
    return b->pooled && gpu_context_push(&there, &context);
}

/* The program must not see an error of this. */
static void forget(cudaError_t error)
{
    if (error != cudaSuccess)
        cudaGetLastError();
}

/* Releases memory of a pool on the lane's stream, if there is a lane: then it can be had again once
 * that stream has been waited for, and no work of the program delays it. */
static void release(struct block **at, const struct gpu_lane *lane)
{
    struct block *b = *at;
    const bool is = gpu_is_still(b->memory, b->number);
    if (is && b->pooled && lane && lane->device == b->device) {
        forget(cudaFreeAsync(b->memory, lane->stream));
    } else if (is && enter(b)) {
        forget(b->pooled ? cudaFreeAsync(b->memory, cudaStreamLegacy) : cudaFree(b->memory));
        gpu_context_pop();
    }
    *at = b->next;
    idle_bytes -= b->bytes;
    free(b);
}

/* Frees idle blocks of the lane's device, whatever their context, or of all devices if there is no
 * lane, until at most so many bytes are idle. */
static void shrink(const struct gpu_lane *lane, size_t most)
{
    for (struct block **at = &blocks; *at && idle_bytes > most;)
        if (!(*at)->taken && (!lane || (*at)->device == lane->device))
            release(at, lane);
        else
            at = &(*at)->next;
}

/* The smallest block that suffices. */
static struct block *find_idle(const struct gpu_lane *lane, size_t bytes)
{
    struct block **found;
    do {
        found = NULL;
        for (struct block **at = &blocks; *at; at = &(*at)->next)
            if (suits(*at, lane->context, bytes) && (!found || (*at)->bytes < (*found)->bytes))
                found = at;
        if (found && alive(*found))
            return *found;
        if (found)
            release(found, lane);
    } while (found);
    return NULL;
}

static cudaError_t allocate_bytes(const struct gpu_lane *lane, void **memory, size_t bytes)
{
    return lane->pools ? cudaMallocAsync(memory, bytes, lane->stream) : cudaMalloc(memory, bytes);
}

static struct block *allocate(struct gpu_lane *lane, size_t bytes)
{
    struct block *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    cudaError_t error = allocate_bytes(lane, &b->memory, bytes);
    if (error == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        shrink(lane, 0);
        if (gpu_wait(lane))
            error = allocate_bytes(lane, &b->memory, bytes);
    }
    if (!gpu_ok(error, lane->pools ? "cudaMallocAsync" : "cudaMalloc")) {
        free(b);
        return NULL;
    }
    b->bytes = bytes;
    b->context = lane->context;
    b->device = lane->device;
    b->number = gpu_number(b->memory);
    b->witness = lane->answer;
    b->witness_number = lane->number;
    b->pooled = lane->pools;
    b->next = blocks;
    blocks = b;
    idle_bytes += bytes;
    return b;
}

void *gpu_block_take(struct gpu_lane *lane, size_t bytes)
{
    pthread_mutex_lock(&lock);
    struct block *b = find_idle(lane, bytes);
    if (!b) {
        b = allocate(lane, rounded(bytes));
        lane->fresh = true;
    }
    if (b) {
        b->taken = true;
        idle_bytes -= b->bytes;
    }
    pthread_mutex_unlock(&lock);
    return b ? b->memory : NULL;
}

/* No work uses idle blocks, so any stream may free them. */
void gpu_block_give(void *memory)
{
    if (!memory)
        return;
    pthread_mutex_lock(&lock);
    for (struct block *b = blocks; b; b = b->next)
        if (b->memory == memory && b->taken) {
            b->taken = false;
            idle_bytes += b->bytes;
        }
    shrink(NULL, IDLE_MOST);
    pthread_mutex_unlock(&lock);
}

void gpu_blocks_free(void)
{
    pthread_mutex_lock(&lock);
    shrink(NULL, 0);
    pthread_mutex_unlock(&lock);
}
