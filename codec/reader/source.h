/*
 * source.h - reads a file on disk for the container's functions (struct zmpi_reader), and tells its
 * kind.
 */
#ifndef ZMPI_SOURCE_H
#define ZMPI_SOURCE_H

#include "container/container.h"

struct zmpi_source {
    int fd;
    uint64_t base; /* where in the file this container begins: files may be joined */
    int failed;    /* errno of the last read that failed; 0: the file had shrunk */
};

/* Sets up a reader of all `size` bytes from source->base on, with up to `threads` threads. The
 * source must not move. */
struct zmpi_reader zmpi_source_reader(struct zmpi_source *source, uint64_t size, int threads);

enum zmpi_kind {
    ZMPI_KIND_PLAIN,
    ZMPI_KIND_CONTAINER,
    ZMPI_KIND_OVERWRITTEN, /* a container whose first bytes were overwritten */
    ZMPI_KIND_DESTROYED,   /* the same, but nothing of it can be read any more */
    ZMPI_KIND_PLAIN_OVER,  /* plain data that overwrote a container, of which a part is left */
    ZMPI_KIND_HEADLESS     /* a container whose first bytes never reached the disk */
};

/* Are the file's bytes what a program wrote, unchanged? */
static inline bool zmpi_kind_is_plain(enum zmpi_kind kind)
{
    return kind == ZMPI_KIND_PLAIN || kind == ZMPI_KIND_PLAIN_OVER;
}

/* The kind of what `in` reads. Errors are those of its reads. */
enum zmpi_status zmpi_source_look(const struct zmpi_reader *in, enum zmpi_kind *kind);

/* Reads the header of a record's stream, not its chunks. */
enum zmpi_status zmpi_source_stream(const struct zmpi_reader *in, const struct zmpi_record *r,
                                    struct zmpi_stream_info *info);

/* Keeps writers from giving space back that this process may read (format.md 2.6), until the
 * descriptor is closed. */
void zmpi_source_lock(int fd);
/* Does a program have the container open for writing? */
bool zmpi_source_is_written(int fd);

#endif
