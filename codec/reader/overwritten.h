/*
 * overwritten.h - a container that a program has overwritten without zmpi. The file begins with
 * that program's data, and the rest of the container follows. Or somebody wrote a header in front
 * of a container's data, which are then damaged.
 */
#ifndef ZMPI_OVERWRITTEN_H
#define ZMPI_OVERWRITTEN_H

#include "container/container.h"

/* We assume that no program writes a longer header in front of data that it writes by other
 * means. */
#define ZMPI_FOREIGN_HEADER_MOST ((uint64_t)64 << 10)

struct zmpi_overwritten {
    uint64_t least, most; /* how many of the first bytes were overwritten; most 0: unknown */
    bool plain;           /* certainly a plain file */
};

/*
 * Examines a file for which zmpi_was_container is true. A copy of the header at the end tells which
 * records there were, and where the intact ones begin. The file is plain if the container held the
 * program's first byte, and the first 64 KiB have nothing of the container: a record that begins
 * behind them is lost, or numbers or text lie in its place. Errors are those of the reader and of
 * memory.
 */
enum zmpi_status zmpi_overwritten_look(const struct zmpi_reader *in, struct zmpi_overwritten *o);

/*
 * Are so many bytes and 4 more, at a multiple of 4 in a file, numbers (from any multiple of 4) or
 * text, and not part of a stream? In a stream that stores its values unchanged, heads of chunks lie
 * between the values.
 */
#define ZMPI_FOREIGN_LOOKED_AT (64 << 10)
bool zmpi_overwritten_foreign(const unsigned char *at);

#endif
