/*
 * shim.h - system calls that fail when a test says so: a library between MPI and libc.
 *
 * A program that is linked to it chooses one kind of call on one file. Calls are counted from
 * fault_set on; number `at`, and those after it, get what `act` says. Preloaded into another
 * program, it makes the first sector of the file that ZMPI_TEST_FIRST_SECTOR names unreadable.
 */
#ifndef ZMPI_TESTS_SHIM_H
#define ZMPI_TESTS_SHIM_H

enum fault_call {
    FAULT_WRITE = 1,
    FAULT_READ = 2,
    FAULT_SYNC = 4,
    FAULT_RESIZE = 8,
    FAULT_PUNCH = 16,
    FAULT_LOCK = 32,  /* a lock is set, not given up */
    FAULT_RENAME = 64 /* from this name */
};

enum fault_act {
    FAULT_NONE,  /* calls are only counted */
    FAULT_ERROR, /* returns -1 with errno `error` and does nothing */
    FAULT_SHORT, /* does half, says so: no error */
    FAULT_END,   /* a read finds the end of the file */
    FAULT_KILL,  /* SIGKILL before the call */
    FAULT_TEAR,  /* SIGKILL in the middle of the call */
    FAULT_AFTER  /* SIGKILL when the call is done */
};

struct fault {
    const char *file; /* base name */
    int calls;        /* of enum fault_call, or'ed */
    enum fault_act act;
    int error;
    long at;           /* the first call that it happens to, from 1 */
    long times;        /* to how many in a row; 0: to all from there on */
    long below;        /* only reads and writes that begin within so many first bytes; 0: all */
    const char *stuck; /* a file that cannot be renamed, whatever `file` is, or NULL */
};

/* NULL: no faults from now on. `fault` must stay in memory. */
void fault_set(const struct fault *fault);
/* How many such calls there were since fault_set. */
long fault_count(void);

#endif
