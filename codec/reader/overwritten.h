/*
 * overwritten.h - a container that a program without zmpi has written over: its first bytes are
 * that program's, whole, and behind them is what is left of the container. Or somebody wrote a
 * header to a container's data, which are damaged then.
 */
#ifndef ZMPI_OVERWRITTEN_H
#define ZMPI_OVERWRITTEN_H

#include "container/container.h"

/* No program is thought to put a longer header in front of data that it writes by other means. */
#define ZMPI_FOREIGN_HEADER_MOST ((uint64_t)64 << 10)

struct zmpi_overwritten {
    uint64_t least, most; /* how many of the first bytes were written over; most 0: not known */
    bool plain;           /* a plain file, beyond doubt */
};

/*
 * Of what zmpi_was_container says it of. The end tells, by a copy of the header: which records
 * there were, and where those begin that are still there. It is a plain file if the container had
 * the program's first byte, and nothing of it is left in the first 64 KiB: a record that begins
 * behind them is gone, or what follows them in place of one is numbers or text. Errors are those of
 * the reader and of memory.
 */
enum zmpi_status zmpi_overwritten_look(const struct zmpi_reader *in, struct zmpi_overwritten *o);

/*
 * Are so many bytes and 4 more, at a multiple of 4 in a file, numbers, whatever multiple of 4 is in
 * front of them, or text, and none of a stream's? Where a stream keeps values as they are, heads of
 * chunks lie between them.
 */
#define ZMPI_FOREIGN_LOOKED_AT (64 << 10)
bool zmpi_overwritten_foreign(const unsigned char *at);

#endif
