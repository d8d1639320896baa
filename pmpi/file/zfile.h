/*
 * zfile.h - struct zfile, an open container, and what the modules around it share.
 * docs/architecture.md shows the flow of a write, a read and a gather through them.
 *
 * Functions return an MPI error code; MPI_SUCCESS is 0. zfile_raise raises an error of ours once,
 * where it is found. Codes from PMPI functions have been through the file's error handler already,
 * and are only returned.
 */
#ifndef ZMPI_ZFILE_H
#define ZMPI_ZFILE_H

#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/log.h"
#include "bound/ratio.h"
#include "container/container.h"
#include "format/entries.h"
#include "datatype/buffer.h"
#include "device/codec_choice.h"
#include "device/offload.h"
#include "file/encode.h"
#include "file/news.h"
#include "file/notes.h"
#include "file/offload_write.h"
#include "file/sessions.h"
#include "interp/interp.h"
#include "judge/axes_known.h"
#include "judge/judgement.h"
#include "judge/components.h"
#include "judge/shape.h"
#include "layout/stream.h"
#include "next_mpi.h"
#include "options/options.h"
#include "zmpi.h"

/* ---- staging.c: small independent writes, kept until there are enough of them ---- */

struct zpatch {
    uint64_t offset, length; /* logical bytes */
    size_t at;               /* in the batch's data */
};

/* A write call. */
struct zcall_number {
    uint64_t number; /* since the open: of collective calls, or of this rank's own */
    bool collective;
    bool is_one; /* false: there is none. number 0: small calls, coded together */
};

/* Writes of one kind of element, sorted by offset, disjoint. */
struct zbatch {
    enum zmpi_type element;
    bool exact;       /* to be coded losslessly */
    bool large;       /* from calls with more than ZMPI_EXACT_BELOW values */
    size_t longest;   /* values of the longest call */
    double abs_bound; /* if lossy: the smallest bound of its writes; +inf: pw_rel */
    double keep;
    struct zmpi_fills fills;  /* of all its writes */
    struct zcall_number call; /* if all data are from one call */
    /* Elements of a row, rows of a plane, if all calls had the same; 0 if they differ. */
    size_t row, rows;
    unsigned char *data;
    size_t used, capacity;
    struct zpatch *patch;
    size_t count, patch_capacity;
};

enum { ZBATCHES = 4 };

/* ---- readahead.c: small reads that follow one another ---- */

/* Logical bytes as the file's records have them. */
struct zreadahead_window {
    uint64_t lo, hi; /* equal: none */
    uint64_t end;    /* of the stream's last read */
    uint64_t used;   /* the clock then; 0: no stream */
    unsigned char *data;
    size_t capacity;
};

enum { ZREADAHEAD_WINDOWS = 4 };

struct zreadahead {
    struct zreadahead_window window[ZREADAHEAD_WINDOWS];
    uint64_t clock, records, size; /* records and logical size at that time */
    uint64_t reach;                /* how far a stream's next read may be */
};

/* ---- trim.c: the end of the log when it was last searched for overwritten records ---- */

struct ztrim {
    uint64_t end;  /* of the log then */
    uint64_t live; /* bytes of the records that were kept */
};

/* ---- reuse.c: gaps where newer records cover older ones, used again ---- */

struct zreuse {
    struct zmpi_run *gap; /* by place; no other rank uses it */
    size_t gaps;
    uint64_t top;    /* end of the gap that is filled from its end on; 0: none is */
    bool own;        /* each rank fills its own gaps; else rank 0 fills them for all ranks, at
                      * collective points */
    bool spaced;     /* space was left for data that become larger */
    bool begun;      /* the header names no index any more (any rank may have changed it) */
    uint64_t filled; /* bytes that this rank put into gaps since gaps were last searched */
    uint64_t alone, together; /* bytes that this rank has placed anywhere, since then */
};

/* ---- a file that is a container ---- */

struct zstats {
    struct zmpi_file_stats n;
    uint64_t collective_calls, independent_calls;
    double seconds_wait;           /* of write calls, except for range, coding and writing */
    double ratio_raw, ratio_coded; /* bytes coded for a ratio, as they were and as streams */
    /* The largest bound that gave a ratio or a psnr, and the same as a part of the range. */
    double found_bound, found_share;
    double values_lossy, values_flat; /* lossy values; those of them in chunks that became constants
                                       * (flat.h) */
    struct zcall_number identifiers;  /* the first call whose identifiers a bound has changed
                                       * (whole.h) */
    /* Calls of bytes that were examined for the report: their number, their bytes, the bytes of
     * those that look like floats, and the bytes that all would take compressed. */
    uint64_t looks;
    double bytes_looked, bytes_look_f32, bytes_look_f64, bytes_would;
    uint64_t bytes_typed;    /* of a known type, in our byte order */
    uint64_t bytes_exact;    /* written with a bound that is not for their type */
    uint64_t bytes_mistyped; /* written as floats with a bound, but byte-swapped or not floats, and
                              * so exact */
};

/* place.c, place_dense.c: where the log ends, and the places that this rank has in it. */
struct zlog {
    uint64_t end; /* physical end of the file's log, the same on all ranks, as of the last
                     collective call */
    uint64_t epoch, first_epoch; /* the present epoch; the one at open */
    uint32_t sequence;           /* records of this rank in this epoch */
    uint64_t last_here;          /* order of the last record that this rank encoded */
    uint64_t slot_size; /* of the option `staging` at open: hints may not move slots in use */
    uint64_t slots;     /* slab slots used in this epoch */
    uint64_t slot_used; /* bytes used of the last one */
};

/* encode.c, place.c: coded records not yet in the file. */
struct zoutbox {
    unsigned char *bytes;
    size_t used, capacity;
    struct zmpi_record *record; /* offset = place in `bytes` */
    size_t count, most;
};

/* size.c, news.c: what may be on the disk, by a sync or since an earlier open. */
struct zdurable {
    bool some;      /* some data may be on the disk: later steps must not lose them */
    uint64_t below; /* the logical size at open, then at each sync: data below it may be */
    bool hides;     /* since then a record with a list was written that begins below. If it never
                     * reaches the disk, nobody can tell which bytes it had */
};

/* staging/: planes of rows without gaps, as they looked last. */
struct zplanes {
    size_t row, rows[2]; /* rows of a step, and of a plane; 0: none */
    bool steps;          /* steps are better than planes */
    unsigned batches;    /* with such rows */
};

/* staging/: the planes that a part's components took last, of those that they may have. */
struct zchoice {
    size_t row, rows[1 + ZMPI_EXTENT_LEVELS], count;
    unsigned char best[ZMPI_COMPONENTS_MOST];
    unsigned batches; /* with such a part */
};

enum { ZCHOICES = 16 };

/* transfer/: what the program's data look like. */
struct zdata {
    struct zmpi_judgement judged;   /* of the floats written last */
    struct zmpi_shape_known shapes; /* of calls whose shape only their data tell */
    struct zmpi_components_known components;
    int staged_components; /* of the batch examined last; 0: none was */
    int near_components;   /* of those examined by zmpi_components_near; 0: none was */
    unsigned near_batches; /* batches that had a number from there */
    struct zplanes planes;
    struct zchoice choice[ZCHOICES]; /* of a batch's parts */
    bool shape_warned;               /* said that a call does not have the shape that was set */
    bool components_warned;          /* said that a call does not have the number that was set */
    bool cut_warned;                 /* said that a call with several variables stays one array */
    unsigned cut_calls;              /* calls that were examined for that */
    unsigned cut_pieces;             /* small pieces together, or calls in atomic mode, that were */
    bool looks_warned;               /* said that data are not what their datatype says */
    bool mistyped;       /* floats are in the other byte order, or no floats: kept exactly */
    bool stays_mistyped; /* later data too; else one value may look so by chance */
    const char *format;  /* of another library, by the file's first bytes; NULL: none. If set,
                          * all data are exact, and the close makes the file plain
                          * (decompress.c) */
};

/* calls/shared.c: where zmpi keeps the shared file pointer. */
enum { ZSHARED_NAME = 64 };
struct zshared {
    char *path;     /* the container's name and ZSHARED_NAME bytes more */
    uint64_t start; /* its value before anybody moved it */
};

/* calls/split.c: the split collective that was begun. */
struct zsplit {
    const char *call; /* NULL: none was */
    uint64_t done;    /* its bytes */
    int error;
};

/* report/calls.c, index/header.c: what the calls were, for the file (format.md 2.10); on rank 0. */
struct zsection {
    unsigned char *bytes; /* NULL: there is none */
    size_t size;
    uint64_t offset; /* where it was written */
};

struct zfile {
    MPI_File handle;    /* the program's */
    MPI_File fh;        /* for reading and writing the container; mostly the same */
    struct zfile *next; /* the next one at the same place in the table */
    bool handled;       /* errors call a function of the program's */
    MPI_Comm comm;      /* a duplicate of the program's, for our own messages */
    MPI_Comm program;   /* the program's own, as long as the file is open a name of it */
    int rank, ranks;
    int amode;            /* as the program asked */
    char *path;           /* as the program gave it */
    char *place;          /* absolute, since the program may change its folder */
    int references;       /* guarded by the table's lock */
    pthread_mutex_t lock; /* held by every operation on the file */
    struct zsession session;
    struct ztrim trim; /* rank 0 of a writer */

    struct zmpi_options options;
    bool hdf5;                    /* HDF5 has opened it */
    struct zcall_number call;     /* the call that is being coded */
    struct znotes notes;          /* of the first calls */
    struct zsection section;      /* at close */
    bool call_rules;              /* there are rules for single write calls of this file */
    struct zmpi_bound file_bound; /* the bound of all other calls */
    unsigned char
        *component; /* the data of one of several interleaved components, while it is coded */
    size_t component_capacity;
    struct zdata data;
    struct zmpi_offload offload;
    struct zview view;
    uint64_t position; /* individual file pointer, in data bytes of the view */
    struct zshared shared;
    struct zsplit split;

    struct zmpi_container container; /* all records this rank knows */
    struct zmpi_entries fresh;       /* records of this rank that the others do not know yet */
    struct znews news;
    bool dirty;           /* records were written since open: the index must be renewed */
    bool unshared;        /* this rank alone has written since the last collective point */
    uint64_t size_before; /* logical size at open */
    struct zdurable durable;
    struct zreplace *replace; /* the plain file that it will replace (close/replace.c), or NULL */
    bool plain;               /* the file becomes plain at close (decompress.c) */
    int reported;             /* class of the last system failure that was logged */

    struct zlog log;
    struct zreuse reuse;
    struct zreadahead readahead;
    struct zbatch batch[ZBATCHES];
    struct zoutbox outbox;

    bool behind; /* inside a call whose records need not be in the file when it returns */
    struct zoffload_write offload_write;
    struct zbackground *background; /* NULL before the first such write */
    int late;                       /* its error, raised, but not yet returned by a write call */

    struct zstats stats;
    /* State before the last piece was coded, which may be taken back. */
    struct {
        struct zstats stats;
        struct zmpi_codec_choice choice;
        uint64_t offloaded;
        struct znote note;
    } before;
    struct zmpi_codec_choice choice;
    struct zmpi_axes_known axes; /* axes of earlier data */
    struct zmpi_interp_known interp;
};

/* ---- file_table.c ---- */

/* The container of a handle, with a reference taken and its lock held, or NULL. zfile_done releases
 * both. */
struct zfile *zfile_find(MPI_File fh);
void zfile_done(struct zfile *f);
void zfile_add(struct zfile *f);    /* takes over the caller's reference */
void zfile_remove(struct zfile *f); /* f lives until the last zfile_done */
/* The file that HDF5 opened on this very communicator, as zfile_find returns it, or NULL. */
struct zfile *zfile_find_hdf5(MPI_Comm program);
/* The container after `last` in the table, which must still be there, or the first one (last NULL),
 * with a reference and its lock; or NULL. */
struct zfile *zfile_after(const struct zfile *last);

/* ---- error.c ---- */

int zstatus_class(enum zmpi_status status);
/* Logs "PATH: text", calls the file's error handler and returns the class. */
int zfile_raise(struct zfile *f, int error_class, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for a status; what: "reading", "writing", ... */
int zfile_raise_status(struct zfile *f, enum zmpi_status status, const char *what);
/* Collective: returns rc or, if rc is MPI_SUCCESS, the error of another rank. */
int zfile_worst(const struct zfile *f, int rc);
/* The same at the end of a call: the file's error handler is called for another rank's error too.
 */
int zfile_alike(struct zfile *f, int rc);
/* Sets the error handler of the program's handle and of ours. */
void zfile_set_handler(struct zfile *f, MPI_Errhandler handler);
/* Errors of the file call no handler, until zfile_restore_handler gets back what
 * zfile_silence_errors has returned. */
MPI_Errhandler zfile_silence_errors(struct zfile *f);
void zfile_restore_handler(struct zfile *f, MPI_Errhandler handler);
/* For a call of the MPI library on f->fh: puts off a handler of the program's, since MPICH 5
 * returns MPI_SUCCESS after it has called one. zfile_call_handler calls it afterwards and returns
 * rc. */
MPI_Errhandler zfile_defer_handler(struct zfile *f);
int zfile_call_handler(struct zfile *f, MPI_Errhandler deferred, int rc);
/* After the open: takes note of the handler that the file begins with. */
void zfile_note_handler(struct zfile *f);
int zfile_unsupported(struct zfile *f, const char *function);
int zraise_no_file(int error_class, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- place.c, place_dense.c: the outbox to the file ---- */

/* Size of one of this rank's slots in the slab region: the most that an independent writer may hold
 * back, and the most the outbox may hold then. */
uint64_t zplace_slot_size(const struct zfile *f);
/* Writes the outbox into this rank's slab slots, without other ranks. */
int zplace_slab(struct zfile *f);
/* Gives the waiting records their final places, from `base` on. */
void zplace_bind(struct zfile *f, uint64_t base);
/* The outbox is in the file (or, on an error, lost): empties it, and makes its records known. */
int zplace_empty_outbox(struct zfile *f, int rc);
/* Takes a place in the slab region for `size` bytes. If *alone, call zsession_alone_end when they
 * are written. */
int zplace_reserve(struct zfile *f, uint64_t size, uint64_t *base, bool *alone);
/* Writes all that this rank holds back, except staged data, to the file. Raises errors. */
int zplace_own(struct zfile *f);
/* Writes the outboxes of all ranks densely, and ends the epoch. Every rank must call it, whatever
 * happened to it before. more: another call follows at once, so that the data need not be in the
 * file before that. */
int zplace_dense(struct zfile *f, bool more);

/* ---- flush_collective.c: all that ranks hold back goes out ---- */

/* Collective: places staged data, and makes the records known to all ranks that may read, and the
 * logical size to all ranks. */
int zflush_collective(struct zfile *f);
/* Collective: the same, if the file may be read and any rank has written by itself since the last
 * time. It is for collective calls of which MPI does not say that they make writes visible,
 * although every MPI library does that. */
int zflush_independent(struct zfile *f);
/* The same for a file that HDF5 has opened on this very communicator, which is HDF5's own
 * duplicate. HDF5's ranks share the writing of metadata. After a barrier on that communicator each
 * rank takes all metadata for written, and reads or overwrites what another rank wrote. */
int zflush_hdf5(MPI_Comm program);
/* Gives places to rounds of collective calls that have none, until `most` are left. */
int zflush_rounds(struct zfile *f, uint64_t most);
/* Gives places to what ranks have encoded themselves in those rounds. Slots for independent calls
 * are too small for that. */
int zflush_outbox(struct zfile *f);
/* Does the second half of a collective point, for data that already have places. */
int zflush_share(struct zfile *f);

/* ---- reuse.c ---- */

/* Takes a place for `size` bytes in the gaps that this rank may fill. False: there is none. */
bool zreuse_take(struct zfile *f, uint64_t size, uint64_t *base);
/* Rank 0: finds the first gap for `size` bytes, or the largest one; returns how many of them fit
 * there. */
uint64_t zreuse_offer(const struct zfile *f, uint64_t size, uint64_t *base);
/* Takes the place that was offered, or its beginning. */
bool zreuse_take_at(struct zfile *f, uint64_t base, uint64_t size);
bool zreuse_fits(const struct zfile *f, uint64_t size);
void zreuse_drop(struct zfile *f);
/* Rank 0, before it writes a header: another rank may have written one. */
void zreuse_look(struct zfile *f);

/* ---- physical.c ---- */

/* Writes bytes of the container itself, without other ranks. */
int zwrite_at(struct zfile *f, uint64_t offset, const void *src, size_t size);
/* The reader by which the codec reads the container. */
struct zmpi_reader zfile_reader(struct zfile *f);
/* The reader's data_at. It is right only where no other node may have written without this kernel's
 * notice. */
uint64_t zfile_data_at(void *context, uint64_t offset);

/* ---- background.c ---- */

/* Writes the outbox, which has its place, to the file by another thread. *rc is an error of an
 * earlier write. False: that cannot be done, and nothing happened. */
bool zbackground_write(struct zfile *f, uint64_t offset, int *rc);
/* Waits until all that is under way is in the file and known. Raises its error. */
int zbackground_wait(struct zfile *f);
void zbackground_free(struct zfile *f);

/* The bound for elements of a type: the file's, or exact. */
static inline struct zmpi_bound zfile_bound(const struct zfile *f, enum zmpi_type element)
{
    bool is_float = element == ZMPI_F32 || element == ZMPI_F64;
    if (!f->options.bound_set || !is_float || f->data.mistyped || f->data.format)
        return (struct zmpi_bound){ZMPI_LOSSLESS, 0};
    return f->options.bound;
}

/* ---- notes.c: data that have several variables but one range: those with small values may lose
 * everything, and nothing else shows it ---- */

/* Why data of several variables stay one array. */
enum zmixed_why { ZMIXED_CUT, ZMIXED_SMALL, ZMIXED_ATOMIC, ZMIXED_DEVICE };
/* May data of so many values be examined? Counts. */
bool zmixed_may_look(struct zfile *f, size_t count);
/* Warns that n variables share one range, once for a file, and if the bound is a part of it. */
void zmixed_say(struct zfile *f, int n, enum zmixed_why why);
/* Examines data that stay one array, in the first few calls. */
void zmixed_look(struct zfile *f, enum zmpi_type type, const void *data, size_t count,
                 enum zmixed_why why);

/* ---- staging/ ---- */

/* shape: of the call's elements, as far as known. range: of all ranks' data in a collective call,
 * else NULL. */
int zstage_write(struct zfile *f, const struct zmemory *m, const size_t shape[3],
                 const struct zmpi_run *runs, size_t count, const struct zmpi_range *range,
                 const struct zmpi_fills *fills, bool large);
/* Is all staged data of these runs exact? Then a read may take it from the batches, over what the
 * file has. */
bool zstage_is_exact(const struct zfile *f);
void zstage_overlay(const struct zfile *f, const struct zmpi_run *run, size_t n,
                    unsigned char *dst);
int zstage_flush(struct zfile *f);
void zstage_free(struct zfile *f);
/* How many components take turns in staged data, 1: they are one array; and records of each. With
 * `keep` the last *left bytes are not encoded: the batch may end inside a plane or a step. */
int zstage_components(struct zfile *f, const struct zbatch *b, const unsigned char *data,
                      uint64_t bytes);
int zstage_encode_components(struct zfile *f, const struct zbatch *b, uint64_t bytes, int n,
                             bool keep, uint64_t *left);
size_t zstage_limit(const struct zfile *f);     /* larger writes are coded at once */
size_t zstage_most_runs(const struct zfile *f); /* in one record: its list must fit a slot */

/* ---- readahead.c: reads from records, and small reads that follow one another ---- */

/* Reads increasing runs of logical bytes from the records to dst, one behind the other, in the
 * holder's memory or the host's. *bad (may be NULL): the record that is damaged. */
enum zmpi_status zread_stored(struct zfile *f, const struct zmpi_run *run, size_t runs,
                              const struct zmpi_device *holder, unsigned char *dst, uint64_t *bad);

/* The same for a small read that continues an earlier one, to the host's memory. False: the caller
 * must read by itself. */
bool zreadahead_read(struct zfile *f, const struct zmpi_run *run, size_t runs, unsigned char *dst);
/* Forgets what was decoded, since the records were replaced by others. */
void zreadahead_forget(struct zfile *f);
void zreadahead_free(struct zfile *f);

/* ---- questions about a file ---- */

/* Logical size, including what this rank holds back, and in atomic mode what others wrote
 * meanwhile. */
uint64_t zfile_size(struct zfile *f);
static inline bool zfile_may_read(const struct zfile *f)
{
    return (f->amode & MPI_MODE_WRONLY) == 0;
}
static inline bool zfile_may_write(const struct zfile *f)
{
    return (f->amode & MPI_MODE_RDONLY) == 0;
}
/* Returns MPI_SUCCESS, or an error if MPI_MODE_SEQUENTIAL forbids the call `what`. */
int zfile_sequential(struct zfile *f, const char *what);

/* ---- reopen.c ---- */

/* A new descriptor of the file, even if another file has its name by now, or -1. */
int zreopen(const struct zfile *f);

#endif
