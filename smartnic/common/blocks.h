/*
 * blocks.h - memory for data under way. It is kept from call to call, because the system's first
 * access to fresh pages costs as much as compressing them. Any thread may use it.
 */
#ifndef ZMPI_NIC_BLOCKS_H
#define ZMPI_NIC_BLOCKS_H

#include <pthread.h>
#include <stddef.h>

struct nic_block {
    unsigned char *at;
    size_t bytes;
    struct nic_block *next;
};

/* All zero except `most`, and the lock: PTHREAD_MUTEX_INITIALIZER. */
struct nic_blocks {
    pthread_mutex_t lock;
    size_t most, kept_bytes; /* bytes to keep while nobody uses them */
    struct nic_block *kept, *lost;
};

/* Returns at least `bytes`, at most twice that; NULL if there is no memory. */
struct nic_block *nic_block_take(struct nic_blocks *blocks, size_t bytes);
void nic_block_give(struct nic_blocks *blocks, struct nic_block *block);
/* For memory that somebody may still write to: it is never used again, and never returned to the
 * system. */
void nic_block_lose(struct nic_blocks *blocks, struct nic_block *block);
/* From now on at most `most` bytes are kept. */
void nic_blocks_limit(struct nic_blocks *blocks, size_t most);

#endif
