/*
 * disk.h - what the disk may hold after a power failure: all that was done to a file before its
 * last completed fsync, and of what was done since then any part.
 *
 * A state is chosen by a seed: where the power fails, and one of several ways in which writes are
 * missing as a whole, torn at sectors of 512 bytes, or cut at pages of 4096. What a sector (or
 * page) holds is what the kernel's cache held at some moment: with a write to it, all earlier ones
 * are there too. Sizes and names change in the order in which they were changed, or not yet (as a
 * journal has it); writes to what such a change made are lost with it.
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

/* false, and a message: it cannot be read. */
bool disk_load(struct disk *d, const char *path);
void disk_free(struct disk *d);
/* The state of this seed. The image's memory is used again. */
void disk_state(const struct disk *d, uint64_t seed, struct state *s);

#endif
