/*
 * memory.c - device memory that is kept from call to call. The program needs the GPU's memory for
 * itself: what is idle is limited, and is given up before an allocation fails.
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
    int device;
    bool taken;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct block *blocks;
static size_t idle_bytes;

/* Calls of about the same size share a block: steps of an eighth. */
static size_t rounded(size_t bytes)
{
    size_t step = LEAST;
    while (step < bytes / 8)
        step *= 2;
    return (bytes + step - 1) / step * step;
}

/* Large enough, and not so large that somebody else should have it. */
static bool suits(const struct block *b, int device, size_t bytes)
{
    return !b->taken && b->device == device && b->bytes >= bytes &&
           (b->bytes <= LEAST || b->bytes / 4 <= bytes);
}

static struct block *find_idle(int device, size_t bytes)
{
    struct block *found = NULL;
    for (struct block *b = blocks; b; b = b->next)
        if (suits(b, device, bytes) && (!found || b->bytes < found->bytes))
            found = b;
    return found;
}

static void release(struct block **at)
{
    struct block *b = *at;
    *at = b->next;
    idle_bytes -= b->bytes;
    cudaFree(b->memory);
    free(b);
}

/* Idle blocks of the current device, until at most so many bytes are idle. */
static void shrink(int device, size_t most)
{
    for (struct block **at = &blocks; *at && idle_bytes > most;)
        if (!(*at)->taken && (*at)->device == device)
            release(at);
        else
            at = &(*at)->next;
}

static struct block *allocate(int device, size_t bytes)
{
    struct block *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    cudaError_t error = cudaMalloc(&b->memory, bytes);
    if (error == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        shrink(device, 0);
        error = cudaMalloc(&b->memory, bytes);
    }
    if (!gpu_ok(error, "cudaMalloc")) {
        free(b);
        return NULL;
    }
    b->bytes = bytes;
    b->device = device;
    b->next = blocks;
    blocks = b;
    idle_bytes += bytes;
    return b;
}

void *gpu_block_take(int device, size_t bytes, bool *fresh)
{
    pthread_mutex_lock(&lock);
    struct block *b = find_idle(device, bytes);
    if (!b) {
        b = allocate(device, rounded(bytes));
        if (fresh)
            *fresh = true;
    }
    if (b) {
        b->taken = true;
        idle_bytes -= b->bytes;
    }
    pthread_mutex_unlock(&lock);
    return b ? b->memory : NULL;
}

void gpu_block_give(void *memory)
{
    int current;
    if (!memory)
        return;
    pthread_mutex_lock(&lock);
    for (struct block *b = blocks; b; b = b->next)
        if (b->memory == memory) {
            b->taken = false;
            idle_bytes += b->bytes;
        }
    if (idle_bytes > IDLE_MOST && cudaGetDevice(&current) == cudaSuccess)
        shrink(current, IDLE_MOST);
    pthread_mutex_unlock(&lock);
}
