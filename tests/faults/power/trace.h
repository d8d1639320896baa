/*
 * trace.h - a log of what programs do to one file: a library between them and libc, and the entries
 * that it writes (trace.c). disk.c builds from them what a power failure may leave.
 *
 * It traces the file that POWER_FILE names, and files whose names begin with that name, into the
 * file that POWER_TRACE names. All processes append to one log, in the order in which the calls
 * were completed.
 */
#ifndef ZMPI_TESTS_TRACE_H
#define ZMPI_TESTS_TRACE_H

#include <stddef.h>
#include <stdint.h>

enum trace_kind {
    TRACE_WRITE,  /* `bytes` at `offset`: they follow the entry */
    TRACE_RESIZE, /* to `offset` bytes */
    TRACE_PUNCH,  /* `length` bytes at `offset` become a hole */
    TRACE_GROW,   /* fallocate: the file has at least `offset` bytes */
    TRACE_SYNC,   /* all before is on the disk */
    TRACE_RENAME, /* `inode` is the file from here on */
    TRACE_MARK    /* of the program: `bytes` follow */
};

struct trace_entry {
    uint32_t kind;
    uint32_t named; /* the call was on the file itself, not on one beside it */
    uint64_t inode, offset, length, bytes;
};

/* Appends a mark. Does nothing if nothing is traced. */
void trace_mark(const void *bytes, size_t size);

#endif
