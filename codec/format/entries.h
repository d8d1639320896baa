/*
 * entries.h - records as entries of an index (docs/format.md 2.3). An entry holds the differences
 * from what the entry before predicts.
 */
#ifndef ZMPI_ENTRIES_H
#define ZMPI_ENTRIES_H

#include "format/format.h"

/* The prediction for the next entry. All zero at the beginning. */
struct zmpi_chain {
    struct zmpi_record last;
    uint64_t step; /* from the lo before to the last one */
};

/* A row of entries, and what they have in common. All zero: empty. */
struct zmpi_entries {
    unsigned char *data; /* malloc */
    size_t size, capacity;
    struct zmpi_chain chain;
    uint32_t count, sizes;
    uint64_t lo, hi, newest;
};

/* The longest entry. */
#define ZMPI_ENTRY_MAX 160

/* ZMPI_ERR_ARG if the record breaks the rules of format.md 2.2. */
enum zmpi_status zmpi_entries_add(struct zmpi_entries *e, const struct zmpi_record *r);
void zmpi_entries_free(struct zmpi_entries *e);

/* The next entry of those at *src, which moves on, becomes chain->last; all checks of format.md 2.2
 * and 2.3. Nothing can follow an error. */
enum zmpi_status zmpi_entry_decode(struct zmpi_chain *chain, const unsigned char **src,
                                   const unsigned char *end);

#endif
