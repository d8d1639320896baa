/*
 * known.h - memory of the program whose element type a library knows while it writes the memory as
 * bytes, as HDF5 does inside H5Dwrite. Each thread has its own list.
 */
#ifndef ZMPI_KNOWN_H
#define ZMPI_KNOWN_H

#include "datatype/buffer.h"

/* The bound and the fill value of the array that the library's call is about. */
struct zknown_rule {
    bool bounded;
    struct zmpi_bound bound;
    struct zmpi_fills fill;
};

/* Bytes of the program's that are elements of one type, and of nothing else. */
struct zknown {
    uintptr_t begin, end;
    enum zmpi_type element;
    /* Elements of a row, rows of a plane, as they lie in the file; 0: not known. */
    size_t row, rows;
    uint64_t written; /* elements of it that the library's call writes */
    uint64_t all;     /* and that the array has that they are a part of */
};

struct zknown_list {
    const struct zknown *known;
    size_t count;
    bool small; /* all that the call writes is of an array that is exact, as it is small */
    struct zknown_rule rule;
    const struct zknown_list *outer; /* of the call that this one is made in */
};

/* Sets what is known to this thread until the end, in place of what was known before. */
void zknown_begin(struct zknown_list *list);
void zknown_end(const struct zknown_list *list);

/* The bound for the library's call that this MPI call is made in. NULL: there is no such call, or
 * its data are exact whatever the rules say. */
const struct zknown_rule *zknown_rule(void);

/* Are all bytes exact, wherever they are? */
bool zknown_is_exact(void);

/* If all bytes of a call are known elements of one type, gives them that type and shape. m->data:
 * their address, if they are contiguous. */
void zknown_look(struct zmemory *m, const struct ztype *t, const void *buf, MPI_Count count);

#endif
