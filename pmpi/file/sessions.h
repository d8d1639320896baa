/* sessions.h - a file that several communicators have open */
#ifndef ZMPI_SESSIONS_H
#define ZMPI_SESSIONS_H

#include <stdbool.h>
#include <stdint.h>

struct zfile;

struct zsession {
    int fd;            /* carries this rank's locks; -1: not opened */
    bool before;       /* since before the MPI library opened the file; rank 0 */
    bool no_locks;     /* the file system has none: nobody else is known of */
    bool shared;       /* others write, or did: places and epochs come from the file's counters */
    bool counted;      /* all ranks are on one node: places come from there too */
    bool atomic;       /* MPI_File_set_atomicity, of a writer */
    bool atomic_reads; /* and of one who only reads: nothing is different */
    int held;          /* the log's lock, how many times */
    uint64_t known;    /* atomic mode: all records below this place are known to this rank */
    uint64_t loaded;   /* what the file was like when its records were read; rank 0 */
};

/* Rank 0, before the MPI library opens the file, if it is there: to know it again. */
void zsession_before(struct zfile *f);
/* Has the name another file since then? What the MPI library has opened may be either. To be asked
 * with a lock in force that keeps others from replacing it. */
bool zsession_replaced(const struct zfile *f);
/* Rank 0 of a writer, around the creation of the header or the reading of all records. */
void zsession_enter(struct zfile *f);
int zsession_started(struct zfile *f);
/* Instead: it is none, and nothing is written to what there is. */
void zsession_refused(struct zfile *f);
/* Rank 0 of one that only reads, before it looks at the file: until this one is closed the file
 * keeps its name, and what it holds now keeps its room. */
void zsession_reads(struct zfile *f);
/* Is somebody writing to the file in another communicator? Rank 0. */
bool zsession_others(struct zfile *f);
/* Do locks order all ranks' accesses to the counters? Collective. */
int zsession_find_nodes(struct zfile *f);
/* Rank 0: the log begins anew. */
int zsession_restarted(struct zfile *f);
/* A place for `size` bytes: *base goes in as where they would be if nobody else wrote. *epoch, if
 * asked for, becomes higher than it was and than any other. One rank. */
int zsession_reserve(struct zfile *f, uint64_t size, uint64_t *base, uint64_t *epoch);
/* May this rank write where nobody was asked? If *alone, until zsession_alone_end. */
int zsession_alone(struct zfile *f, bool *alone);
void zsession_alone_end(struct zfile *f);
/* Before all records are read anew. Rank 0. */
void zsession_looked(struct zfile *f);
/* Has the file changed since zsession_looked? Rank 0. */
bool zsession_changed(struct zfile *f);
/* Around each access in atomic mode (nothing happens in the other): others' records are known, and
 * nobody else writes. The end passes rc on. */
int zsession_atomic_begin(struct zfile *f, bool write);
int zsession_atomic_end(struct zfile *f, int rc);
/* Before atomic mode: from here on all places are asked for. Rank 0. */
int zsession_share_log(struct zfile *f);
/* The end of a writer, all records being in the file: write_index by rank 0, with the log locked,
 * if others wrote too and are gone. empty: nothing was ever written. Collective. */
int zsession_leave(struct zfile *f, bool empty, int (*write_index)(struct zfile *));
/* Rank 0 of a writer: is the file nobody else's, to write or to read? If so no writer comes, and
 * nobody takes a place, until the end. */
bool zsession_only_begin(struct zfile *f);
/* After that: nor does a reader. */
bool zsession_no_readers(struct zfile *f);
void zsession_only_end(struct zfile *f);
/* The log's lock, for a step of any rank of a writer; an error: it is not held. */
int zsession_lock(struct zfile *f);
void zsession_unlock(struct zfile *f);
/* Does nobody else have it open, for sure? With the log's lock. */
bool zsession_is_only(struct zfile *f);
/* A descriptor of the file that can write, or -1. */
int zsession_descriptor(struct zfile *f);
/* Collective: to the disk, from every node; all have an error or none. MPI_File_sync is for the
 * program: OMPIO refuses it to a process with a request under way, on whatever file, while others
 * wait for that one. Quietly: no line, no call of the error handler. */
int zsession_sync(struct zfile *f, bool quietly);
/* Is this still the name of the file? */
bool zsession_is_at(const struct zfile *f, const char *path);
void zsession_free(struct zfile *f);

#endif
