/*
 * disk.h - what the disk may hold after a power failure: everything done to a file before its last
 * completed fsync, and any part of what was done since.
 *
 * A seed chooses a state: where the power fails, and one of several ways in which writes are
 * missing, torn at sectors of 512 bytes, or cut at pages of 4096. A sector (or page) holds what the
 * kernel's cache held at some moment, so with a write to it all earlier ones are there too. Sizes
 * and names change in their order, or have not changed yet (as with a journal); writes to what such
 * a change made are lost with it.
 */
#ifndef ZMPI_TESTS_POWER_DISK_H
#define ZMPI_TESTS_POWER_DISK_H

#include <stdbool.h>

#include "trace.h"

struct image {
    unsigned char *data;
    size_t size, capacity;
};

/* What is new is zero. */
void image_resize(struct image *i, size_t size);

struct step {
    struct trace_entry entry;
    const unsigned char *bytes;
    struct image *image; /* TRACE_SYNC, or a new file: what is on the disk from here on */
};

struct disk {
    unsigned char *log;
    struct step *step;
    size_t steps;
    uint64_t inode; /* of the file at first */
};

struct state {
    uint64_t seed;
    size_t steps;   /* done before the power fails */
    uint64_t inode; /* that has the file's name */
    struct image image;
    char way[120]; /* in words */
};

/* False, with a message, if it cannot be read. */
bool disk_load(struct disk *d, const char *path);
void disk_free(struct disk *d);
/* Builds the state of this seed. It reuses the image's memory. */
void disk_state(const struct disk *d, uint64_t seed, struct state *s);

#endif
