/*
 * blocks.h - memory for data under way, kept from call to call: fresh pages cost as much as
 * compressing them does. From any thread.
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

/* Zeroed but for `most`, and for the lock: PTHREAD_MUTEX_INITIALIZER. */
struct nic_blocks {
    pthread_mutex_t lock;
    size_t most, kept_bytes; /* that are kept while nobody uses them */
    struct nic_block *kept, *lost;
};

/* At least `bytes`, at most twice that; NULL if there is no memory. */
struct nic_block *nic_block_take(struct nic_blocks *blocks, size_t bytes);
void nic_block_give(struct nic_blocks *blocks, struct nic_block *block);
/* Somebody may still write to it: it is never used again, and never given back to the system. */
void nic_block_lose(struct nic_blocks *blocks, struct nic_block *block);
/* From here on no more than `most` is kept. */
void nic_blocks_limit(struct nic_blocks *blocks, size_t most);

#endif
