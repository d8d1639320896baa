/* sessions.h - one file that several communicators have open */
#ifndef ZMPI_SESSIONS_H
#define ZMPI_SESSIONS_H

#include <stdbool.h>
#include <stdint.h>

struct zfile;

struct zsession {
    int fd;            /* carries this rank's locks; -1: not opened */
    bool before;       /* rank 0: opened before the MPI library opened the file */
    bool no_locks;     /* the file system has no locks: other sessions cannot be seen */
    bool shared;       /* others write, or did: places and epochs come from the file's counters */
    bool counted;      /* all ranks are on one node: places come from the counters too */
    bool atomic;       /* MPI_File_set_atomicity, of a writer */
    bool atomic_reads; /* the same of a reader: changes nothing */
    int held;          /* how many times this rank holds the log's lock */
    uint64_t known;    /* atomic mode: all records below this place are known to this rank */
    uint64_t loaded;   /* rank 0: state of the file when its records were read */
};

/* Rank 0, before the MPI library opens an existing file: remembers it, to recognise it later. */
void zsession_before(struct zfile *f);
/* Has the name gone to another file since then? The MPI library may have opened either of them.
 * Call it while a lock keeps others from replacing the file. */
bool zsession_replaced(const struct zfile *f);
/* Rank 0 of a writer, around the creation of the header or the reading of all records. */
void zsession_enter(struct zfile *f);
int zsession_started(struct zfile *f);
/* In place of that: the file is not a container, and nothing is written to it. */
void zsession_refused(struct zfile *f);
/* Rank 0 of a reader, before it looks at the file: until this file is closed, it keeps its name,
 * and the space of its present records is not used again. */
void zsession_reads(struct zfile *f);
/* Is somebody writing to the file in another communicator? Rank 0. */
bool zsession_others(struct zfile *f);
/* Do locks order all ranks' accesses to the counters? Collective. */
int zsession_find_nodes(struct zfile *f);
/* Rank 0 calls it when the log begins again. */
int zsession_restarted(struct zfile *f);
/* Where the first record may be. Without counters ranks compute their places, and none is in the
 * header's page. */
uint64_t zsession_log_begin(const struct zfile *f);
/* Takes a place for `size` bytes. On entry *base is where they would be if nobody else wrote. Long
 * data do not begin in the header's page. *epoch (unless epoch is NULL) becomes higher than it was
 * and than any other. One rank calls it. */
int zsession_reserve(struct zfile *f, uint64_t size, uint64_t *base, uint64_t *epoch);
/* May this rank write to places that nobody assigned? If *alone, it may do so until
 * zsession_alone_end. */
int zsession_alone(struct zfile *f, bool *alone);
void zsession_alone_end(struct zfile *f);
/* Rank 0 calls it before all records are read again. */
void zsession_looked(struct zfile *f);
/* Has the file changed since zsession_looked? Rank 0. */
bool zsession_changed(struct zfile *f);
/* Begin and end each access in atomic mode (they do nothing otherwise). Between them, the records
 * of others are known and nobody else writes. The end returns rc or its own error. */
int zsession_atomic_begin(struct zfile *f, bool write);
int zsession_atomic_end(struct zfile *f, int rc);
/* Rank 0 calls it before atomic mode: from now on all places come from the counters. */
int zsession_share_log(struct zfile *f);
/* Ends a writer's session, when all records are in the file. Rank 0 calls write_index with the log
 * locked if others wrote too and have closed the file. empty: nothing was ever written. Collective.
 */
int zsession_leave(struct zfile *f, bool empty, int (*write_index)(struct zfile *));
/* Rank 0 of a writer: has nobody else opened the file, for writing or reading? Then no writer can
 * open it and nobody takes a place, until the end. */
bool zsession_only_begin(struct zfile *f);
/* After that: keeps readers from opening the file, too. */
bool zsession_no_readers(struct zfile *f);
void zsession_only_end(struct zfile *f);
/* Takes the log's lock for a step of any rank of a writer. On an error the lock is not held. */
int zsession_lock(struct zfile *f);
void zsession_unlock(struct zfile *f);
/* Is it certain that nobody else has the file open? Call it with the log's lock. */
bool zsession_is_only(struct zfile *f);
/* Returns a descriptor of the file that can write, or -1. */
int zsession_descriptor(struct zfile *f);
/* Collective: syncs the file to the disk from every node. All ranks have an error or none. It does
 * not call MPI_File_sync: OMPIO refuses it if the process has a request under way, on any file,
 * while other ranks wait for it. It logs nothing and calls no error handler. */
int zsession_sync(struct zfile *f, bool quietly);
/* Is this still the name of the file? */
bool zsession_is_at(const struct zfile *f, const char *path);
void zsession_free(struct zfile *f);

#endif
