/* blocks.c - memory that is kept from call to call (blocks.h). */
#define _GNU_SOURCE
#include "common/blocks.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PAGE ((size_t)4096)

static struct nic_block *fresh(size_t bytes)
{
    struct nic_block *block = malloc(sizeof *block);
    if (!block)
        return NULL;
    block->bytes = bytes;
    block->at =
        mmap(NULL, block->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block->at != MAP_FAILED)
        return block;
    free(block);
    return NULL;
}

static void release(struct nic_block *block)
{
    munmap(block->at, block->bytes);
    free(block);
}

static void shrink(struct nic_blocks *blocks, size_t most)
{
    while (blocks->kept_bytes > most) {
        struct nic_block *old = blocks->kept;
        blocks->kept = old->next;
        blocks->kept_bytes -= old->bytes;
        release(old);
    }
}

struct nic_block *nic_block_take(struct nic_blocks *blocks, size_t bytes)
{
    struct nic_block **best = NULL, *block = NULL;
    bytes = bytes ? (bytes + PAGE - 1) / PAGE * PAGE : PAGE;
    pthread_mutex_lock(&blocks->lock);
    for (struct nic_block **p = &blocks->kept; *p; p = &(*p)->next)
        if ((*p)->bytes >= bytes && (*p)->bytes / 2 <= bytes &&
            (!best || (*p)->bytes < (*best)->bytes))
            best = p;
    if (best) {
        block = *best;
        *best = block->next;
        blocks->kept_bytes -= block->bytes;
    }
    pthread_mutex_unlock(&blocks->lock);
    return block ? block : fresh(bytes);
}

void nic_block_give(struct nic_blocks *blocks, struct nic_block *block)
{
    if (!block)
        return;
    pthread_mutex_lock(&blocks->lock);
    const bool keep = block->bytes <= blocks->most;
    if (keep)
        shrink(blocks, blocks->most - block->bytes);
    if (keep) {
        block->next = blocks->kept;
        blocks->kept = block;
        blocks->kept_bytes += block->bytes;
    }
    pthread_mutex_unlock(&blocks->lock);
    if (!keep)
        release(block);
}

void nic_block_lose(struct nic_blocks *blocks, struct nic_block *block)
{
    if (!block)
        return;
    pthread_mutex_lock(&blocks->lock);
    block->next = blocks->lost;
    blocks->lost = block;
    pthread_mutex_unlock(&blocks->lock);
}

void nic_blocks_limit(struct nic_blocks *blocks, size_t most)
{
    pthread_mutex_lock(&blocks->lock);
    blocks->most = most;
    shrink(blocks, most);
    pthread_mutex_unlock(&blocks->lock);
}
