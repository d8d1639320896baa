/* Parts of memory by address, in pieces of 16 aligned bytes. */
#ifndef ZMPI_EMULATOR_GRANULES_H
#define ZMPI_EMULATOR_GRANULES_H

#include <stddef.h>
#include <stdint.h>

/* Some bytes of a piece. A store is aligned to its size, so it never crosses a piece. */
struct granule {
    uintptr_t at;
    uint16_t mask; /* which bytes */
    unsigned char bytes[16];
};

/* A table of them; all zero is an empty one. */
struct granules {
    struct granule *list;
    uint32_t *slots; /* index + 1 into list; 0: free */
    size_t count, slot_count;
};

/* The one at `at`, NULL if there is none. */
struct granule *zmpi_granules_find(const struct granules *g, uintptr_t at);
/* The same, with an empty mask if it is new; NULL if there is no memory. */
struct granule *zmpi_granules_get(struct granules *g, uintptr_t at);
void zmpi_granules_clear(struct granules *g);
void zmpi_granules_free(struct granules *g);

/* The bytes of `from` take the place of those of `to`. */
void zmpi_granule_put(struct granule *to, const struct granule *from);

#endif
