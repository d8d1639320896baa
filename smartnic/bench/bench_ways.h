/* bench_ways.h - ways in which a client of bench_nic gets an array compressed, or into a file. */
#ifndef ZMPI_SMARTNIC_BENCH_WAYS_H
#define ZMPI_SMARTNIC_BENCH_WAYS_H

#include <stdint.h>

#include "container/container.h"
#include "device.h"

/* One client with one array. */
struct bench_client {
    const struct zmpi_device *cpu, *nic;
    struct zmpi_job job;
    const void *src;
    size_t bytes;
    unsigned char *dst;     /* room for a stream, behind a record's head */
    size_t capacity, coded; /* bytes of the last stream */

    int fd; /* a container of its own */
    char path[512];
    unsigned char id[16];
    uint64_t at, end; /* place of the next record; from where the first one may be overwritten */
    struct zmpi_write_request *under_way;
};

struct bench_way {
    const char *name;
    bool nic, file;
    /* Handles one array, until the program could go on. */
    bool (*call)(struct bench_client *c);
    /* Waits for what is still under way; NULL: this way leaves nothing under way. */
    bool (*finish)(struct bench_client *c);
};

enum { BENCH_WAYS = 4 };
extern const struct bench_way bench_ways[BENCH_WAYS];

/* Makes a container without records. */
bool bench_file_make(struct bench_client *c, const char *folder);

#endif
