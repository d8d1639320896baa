/*
 * model.h - what writer.c says that it does, and what may therefore be read at each place after a
 * power failure.
 *
 * A place is an element of 8 bytes. Operations are numbered through all sessions of a file, the
 * same on all ranks. One rank writes a place in each operation; the numbers order two operations
 * that write the same place. The value at a place tells who wrote it.
 */
#ifndef ZMPI_TESTS_POWER_MODEL_H
#define ZMPI_TESTS_POWER_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PLACES = 16384,
    OPS_OF_SESSION = 32,
    SESSIONS = 2,
    OPS = OPS_OF_SESSION * SESSIONS, /* bits of uint64_t */
    /* Where goes_on.c writes, and the size of its file then, in bytes. */
    GOES_ON = 8 * PLACES + 800,
    GONE_ON = GOES_ON + 24
};

enum mark_kind {
    MARK_OPENED, /* a session begins, and its first operation is `op` */
    MARK_WRITE,  /* begins; `runs` follow */
    MARK_SIZE,   /* set_size to `size` places begins */
    MARK_GROW,   /* preallocate, likewise */
    MARK_SYNCED, /* all before operation `op` is promised */
    MARK_CLOSED  /* by all ranks: the session has not been killed */
};

struct mark {
    uint32_t kind, op, rank, runs;
    uint64_t size;
};

/* Places [begin, end). */
struct mark_run {
    uint32_t begin, end;
};

/* The value that operation `op` writes to a place: never 0. Every third can be compressed. */
static inline uint64_t model_value(unsigned op, uint64_t place)
{
    uint64_t x = (uint64_t)(op + 1) << 40 | place;
    if (op % 3 == 0)
        return x;
    x *= 0x9E3779B97F4A7C15U;
    return x ^ x >> 29;
}

/* What holds at a moment. Sets of operations are bits. */
struct model {
    uint64_t covers[PLACES]; /* those that write there, of those that have begun */
    uint64_t begun, promised;
    uint64_t sizes;    /* those that leave zeros */
    uint64_t killed;   /* those that nobody had promised when their session was killed */
    uint64_t end[OPS]; /* one past the last place that each writes, or its size */
    bool open;
};

void model_mark(struct model *m, const unsigned char *bytes, size_t size);

/* What may be read at a place. */
struct model_place {
    uint64_t writers; /* one of these has the last word, */
    bool hole;        /* or it is zero */
    bool promised;    /* it must be readable */
};
struct model_place model_at(const struct model *m, size_t place);
/* The least and the greatest size that the file may have, in places. */
void model_sizes(const struct model *m, uint64_t *least, uint64_t *greatest);

#endif
