/*
 * container.h - a compressed file as a log of records (docs/format.md part 2), without MPI.
 *
 * All input and output goes through callbacks. So the MPI layer (PMPI_File_read_at), the zmpi tool
 * (pread) and the fuzzers (memory) share every line that interprets bytes. Only one thread at a
 * time may use a struct zmpi_container.
 */
#ifndef ZMPI_CONTAINER_H
#define ZMPI_CONTAINER_H

#include "device/offload.h"
#include "format/format.h"

/* ---- bytes that could not be read ---- */

/* Adds a loss, or lengthens the last one. ZMPI_ERR_MEMORY. */
enum zmpi_status zmpi_losses_add(struct zmpi_losses *l, const struct zmpi_loss *loss);
void zmpi_losses_free(struct zmpi_losses *l);

/* ---- what a file is ---- */

/* Is this a container whose header is all zeros (`size` bytes are given)? If the header is zeros,
 * the function looks for a record in the first 20 MiB. It does not take a plain file that begins
 * with zeros for a container. */
bool zmpi_container_lost(const unsigned char *head, size_t size, const struct zmpi_reader *in);
/* Does a file have a copy of the header behind its index, though it begins with zeros or cannot be
 * read there (size 0)? Then it can be opened. */
bool zmpi_container_copied(const unsigned char *head, size_t size, const struct zmpi_reader *in);

/* ---- records ---- */

/* Restores a record's damaged head from its copy or by parity; *head is malloc'ed. NULL: the head
 * is right, or it cannot be restored. */
enum zmpi_status zmpi_record_mend(const struct zmpi_record *r, const unsigned char id[16],
                                  const struct zmpi_reader *in, unsigned char **head);

/* What is in front of the chunks of large records that were read lately, so that many small reads
 * do not read, check and allocate it again. For readers that are `parallel`, and decode by the CPU
 * to the host's memory. */
struct zmpi_opened {
    struct zmpi_opened_record {
        struct zmpi_record record;
        struct zmpi_stream stream; /* its src, table and books are in */
        unsigned char *head;       /* NULL: none */
    } of[8];
    unsigned next; /* the one that gives way */
};
void zmpi_opened_free(struct zmpi_opened *o);

/* ---- the set of records of a file ---- */

void zmpi_segments_free(struct zmpi_segments *s);

/* A place in the order of records (format.md 2.4), and the size that a size record there has
 * set. */
struct zmpi_mark {
    uint64_t order, offset, size;
    uint32_t rank;
};

#define ZMPI_RUNS 96

struct zmpi_container {
    struct zmpi_header header;
    size_t count;             /* records */
    uint64_t logical_size;    /* final after seal */
    uint64_t scanned;         /* records found by scanning, not in the index (after open) */
    uint64_t damaged;         /* bytes skipped that looked like records but failed */
    uint64_t mended;          /* of the scanned ones, those whose damaged head its copy restored */
    uint64_t recovered;       /* tally of the scanned ones in front of the index's directory */
    uint64_t joined;          /* where another container begins behind all records; 0: nowhere */
    uint64_t found;           /* tally of all scanned ones, */
    uint64_t found_indexed;   /* and in front of the last directory that was found */
    bool cut_short;           /* open: the file ends within its header */
    bool copied;              /* open: the header is its copy behind the index, since */
    bool header_lost;         /* neither slot is right, */
    bool overwritten;         /* something else than us having written there, or */
    bool torn;                /* the newer slot is damaged: without copied, the older one counts */
    bool index_damaged;       /* open: there is an index, but it is damaged; the log was scanned */
    uint64_t tally;           /* of the records in the index's segments below, */
    bool tallied;             /* if it is known */
    struct zmpi_segments all; /* those of the index first, */
    size_t indexed;           /* so many; then, sorted by lo in themselves, */
    struct {
        size_t first;   /* segment behind the indexed ones */
        unsigned level; /* how often it was merged         */
    } run[ZMPI_RUNS];
    size_t runs;
    struct zmpi_record *tail; /* the latest, not coded yet */
    size_t tail_count;
    struct zmpi_mark last;        /* the last record of all */
    struct zmpi_mark last_size;   /* from which on logical_size was kept */
    bool size_unknown;            /* logical_size must be found anew */
    struct zmpi_mark *cut;        /* of all size records, each with the least size from it on */
    size_t cuts, cut_capacity;    /* once sealed */
    bool sealed;                  /* cut is sorted, and these two are those of all segments: */
    size_t *by_lo;                /* segments by lo */
    uint64_t *max_hi;             /* and the largest hi of each subtree of by_lo */
    struct zmpi_extent *list;     /* lists that were read, each in the place that its record's */
    uint64_t *list_of, list_runs; /* offset gives; the records; how many runs there are in all */
};

void zmpi_container_init(struct zmpi_container *c);
void zmpi_container_free(struct zmpi_container *c);

/*
 * Reads header and index, and scans for records that are not in the index (format.md 2.5). Before
 * the call c is initialised and empty; after it c is sealed, or empty if it failed.
 * header.next_epoch becomes higher than any epoch that was found, also by scanning.
 */
enum zmpi_status zmpi_container_open(struct zmpi_container *c, const struct zmpi_reader *in);
/*
 * Opens without reading the segments of the index. Reads load the segments that they need, and fail
 * if one is damaged. zmpi_container_load loads c->all.segment[first..last) beforehand.
 */
enum zmpi_status zmpi_container_open_lazily(struct zmpi_container *c, const struct zmpi_reader *in);
enum zmpi_status zmpi_container_load(struct zmpi_container *c, const struct zmpi_reader *in,
                                     size_t first, size_t last);
/* The entries of segment k, which the caller has read. */
enum zmpi_status zmpi_container_take(struct zmpi_container *c, size_t k, const unsigned char *src,
                                     size_t size);
/* Loads all segments of the index, or scans if one of them is damaged. */
enum zmpi_status zmpi_container_read_index(struct zmpi_container *c, const struct zmpi_reader *in);
/*
 * After open: is everything there that the header promises? If there is no usable index, a scan
 * must have found all records that the index had. If the header does not tell which these were,
 * nothing may be damaged, and records must reach the logical size. Otherwise data may be missing,
 * and nobody can tell which. The same holds if only a damaged slot has an index and nothing of it
 * was found. (A scan may find more records than the index had: overwritten ones that had left it.)
 * If the newer slot is damaged, all that it promises must have been found. And nothing may have
 * overwritten the header.
 */
bool zmpi_container_whole(const struct zmpi_container *c);
/* Ignores the index and scans the whole log, as fsck does. Otherwise like open. */
enum zmpi_status zmpi_container_scan(struct zmpi_container *c, const struct zmpi_reader *in);

/* Adds the complete records, at or behind physical offset `from`, of a log that has grown. */
enum zmpi_status zmpi_container_follow(struct zmpi_container *c, const struct zmpi_reader *in,
                                       uint64_t from);

/* Adds a record. If its list is loaded, that stays the caller's: the container reads it from the
 * record again when it needs it. */
enum zmpi_status zmpi_container_add(struct zmpi_container *c, const struct zmpi_record *r);
/* Adds all of some entries (zmpi_entries_add), or none. */
enum zmpi_status zmpi_container_add_entries(struct zmpi_container *c, const unsigned char *src,
                                            size_t size);
/* The records that are not in the index, as such entries. */
struct zmpi_entries;
enum zmpi_status zmpi_container_new_entries(const struct zmpi_container *c,
                                            struct zmpi_entries *out);
/* Adds the segments of an index, without reading them; logical_size is then the header's. Before
 * the call c is empty except for its header. */
enum zmpi_status zmpi_container_add_index(struct zmpi_container *c,
                                          const struct zmpi_segment *segment, size_t n);
/* Builds the look-up tables; logical_size becomes final. Reads call this when they need it. */
enum zmpi_status zmpi_container_seal(struct zmpi_container *c, const struct zmpi_reader *in);

/* Lists all records in the order in which they win, the winning one last; the caller frees the
 * list. */
enum zmpi_status zmpi_container_records(struct zmpi_container *c, const struct zmpi_reader *in,
                                        struct zmpi_record **record);

/*
 * Lists the records except those that no read can see any more. It keeps size records and the
 * newest record of each byte. `budget` limits the runs that it examines; records beyond are kept.
 * kept has c's header, and all of its records are in memory.
 */
struct zmpi_compaction {
    struct zmpi_container kept;
    uint64_t live, dead;   /* bytes of the records that are kept, and of the dropped ones */
    size_t dropped;        /* number of dropped records, and their places, in order */
    struct zmpi_run *gone; /* malloc */
};
void zmpi_compaction_free(struct zmpi_compaction *s);
enum zmpi_status zmpi_container_plan_compaction(struct zmpi_container *c,
                                                const struct zmpi_reader *in, uint64_t budget,
                                                struct zmpi_compaction *out);
/* Lists the gaps between c's records before physical offset `end`, by place. *gap is malloc'ed. */
enum zmpi_status zmpi_container_gaps(struct zmpi_container *c, const struct zmpi_reader *in,
                                     uint64_t end, struct zmpi_run **gap, size_t *n);

/*
 * Lists the logical bytes below `end` that no record covers whose order is above `after`, in
 * increasing order. The caller frees *hole, also after an error.
 */
enum zmpi_status zmpi_container_holes(struct zmpi_container *c, const struct zmpi_reader *in,
                                      uint64_t end, uint64_t after, struct zmpi_run **hole,
                                      size_t *count);
/*
 * Reads the logical bytes of n increasing, non-overlapping runs into dst, one behind the other.
 * Bytes in holes and beyond the logical size become 0. On damage it returns ZMPI_ERR_CHECKSUM or a
 * like error and, if bad is not NULL, the physical offset of the bad record or segment. With
 * in->losses, which needs n = 1, damage is no error.
 */
enum zmpi_status zmpi_container_read(struct zmpi_container *c, const struct zmpi_reader *in,
                                     const struct zmpi_run *runs, size_t n, void *dst,
                                     uint64_t *bad);

/*
 * The first logical byte in [at, end) that a record covers; the bytes before it are a hole. `end`
 * if there is none.
 */
enum zmpi_status zmpi_container_next(struct zmpi_container *c, const struct zmpi_reader *in,
                                     uint64_t at, uint64_t end, uint64_t *next);

/* ---- the network that enhances values ---- */

/* Where the header points to its section. */
#define ZMPI_POINTER_AT    440
#define ZMPI_POINTER_BYTES 24

#define ZMPI_ENHANCER_DAMAGED                                                                      \
    "the network that enhances its values is damaged, or a program that wrote to the file took "   \
    "its space: read the values without it"

/* *there: the file has a network. An error means that the network is damaged; values without it are
 * not. */
enum zmpi_status zmpi_enhancer_read(const struct zmpi_container *c, const struct zmpi_reader *in,
                                    struct zmpi_enhancer *e, bool *there);
/* Fills the header's bytes that point to a section. zmpi_enhancer_seed: the seed of its hash
 * there. */
void zmpi_enhancer_point(const unsigned char id[16], uint64_t offset, uint64_t length,
                         unsigned char dst[ZMPI_POINTER_BYTES]);
uint64_t zmpi_enhancer_seed(const unsigned char id[16], uint64_t offset);

/* ---- what a file's write calls were ---- */

struct zmpi_calls;
/* *there: the file has a list of them, which is of its present records. An error means that the
 * list is damaged; data are not. */
enum zmpi_status zmpi_calls_read(const struct zmpi_container *c, const struct zmpi_reader *in,
                                 struct zmpi_calls *calls, bool *there);

/* ---- index ---- */

/* Selects the records that a writer puts into its part of the index. */
typedef bool zmpi_wanted(const void *context, const struct zmpi_record *r);

/*
 * Makes segments of those records of c that are in no index yet. If `merge` is set, it first reads
 * and dissolves small segments of the index, so that many short sessions do not leave many of them.
 */
enum zmpi_status zmpi_index_collect(struct zmpi_container *c, const struct zmpi_reader *in,
                                    bool merge, zmpi_wanted *wanted, const void *context,
                                    struct zmpi_segments *out);
/* Sets h's tally for an index of c's old segments and `fresh` new ones. */
void zmpi_index_tally(const struct zmpi_container *c, uint64_t fresh, struct zmpi_header *h);
/* Makes an index of all records of c for physical offset `offset`; sets header.index_*, log_end,
 * tally and logical_size. *out is malloc'ed, *size may be 0. `generation`: that of the header that
 * will point to the index; a copy of the header follows the index. 0: no copy. */
enum zmpi_status zmpi_index_make(struct zmpi_container *c, const struct zmpi_reader *in,
                                 uint64_t offset, uint64_t generation, unsigned char **out,
                                 size_t *size);

#endif
