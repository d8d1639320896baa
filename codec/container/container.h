/*
 * container.h - the log of records that is a compressed file (docs/format.md part 2), without MPI.
 *
 * All input and output goes through callbacks, so that the MPI layer (PMPI_File_read_at), the zmpi
 * tool (pread) and the fuzzers (memory) share every line that interprets bytes. A struct
 * zmpi_container may be used by one thread at a time.
 */
#ifndef ZMPI_CONTAINER_H
#define ZMPI_CONTAINER_H

#include "device/offload.h"
#include "format/format.h"

/* ---- what could not be read ---- */

/* Append, or lengthen the last one. ZMPI_ERR_MEMORY. */
enum zmpi_status zmpi_losses_add(struct zmpi_losses *l, const struct zmpi_loss *loss);
void zmpi_losses_free(struct zmpi_losses *l);

/* ---- what a file is ---- */

/* Is this a container whose header is all zeros (`size` bytes are given)? A record in the first 20
 * MiB tells, which the function reads only if the header is zeros. A plain file that begins with
 * zeros is not taken for one. */
bool zmpi_container_lost(const unsigned char *head, size_t size, const struct zmpi_reader *in);
/* Does a file that begins with zeros, or cannot be read there (size 0), have a copy of the header
 * behind its index? Then it can be opened. */
bool zmpi_container_copied(const unsigned char *head, size_t size, const struct zmpi_reader *in);

/* ---- records ---- */

/* The head of a record that is damaged in the file, from its copy or by parity; *head is malloc'ed,
 * NULL: the head is right, or it cannot be mended. */
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

/* A place in the order of records (format.md 2.4), and what a size record there set. */
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
    uint64_t mended;          /* of those scanned, by the copies of damaged heads */
    uint64_t recovered;       /* tally of those scanned in front of the index's directory */
    uint64_t joined;          /* behind all records: where another container begins; 0: nowhere */
    uint64_t found;           /* tally of all those scanned, */
    uint64_t found_indexed;   /* and in front of the last directory that was found */
    bool cut_short;           /* open: the file ends within its header */
    bool copied;              /* open: the header is its copy behind the index, since */
    bool header_lost;         /* neither slot is right, */
    bool overwritten;         /* something else than us having written there, or */
    bool torn;                /* the newer slot is damaged: without copied, the older one counts */
    bool index_damaged;       /* open: there is an index but it is unusable; all was scanned */
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
    struct zmpi_extent *list;     /* lists that were read, each in the place its record's offset */
    uint64_t *list_of, list_runs; /* tells; whose they are; how many runs in all */
};

void zmpi_container_init(struct zmpi_container *c);
void zmpi_container_free(struct zmpi_container *c);

/*
 * Reads header and index, and scans for records that are not in the index (format.md 2.5). c is
 * initialised and empty before; it is sealed afterwards, and empty on error. header.next_epoch
 * is then higher than any epoch found, by scanning too.
 */
enum zmpi_status zmpi_container_open(struct zmpi_container *c, const struct zmpi_reader *in);
/*
 * The same without reading the segments of the index: reads do that for those that they need, and
 * fail if one is damaged. zmpi_container_load does it beforehand for c->all.segment[first..last).
 */
enum zmpi_status zmpi_container_open_lazily(struct zmpi_container *c, const struct zmpi_reader *in);
enum zmpi_status zmpi_container_load(struct zmpi_container *c, const struct zmpi_reader *in,
                                     size_t first, size_t last);
/* The entries of segment k, from somebody who has read it. */
enum zmpi_status zmpi_container_take(struct zmpi_container *c, size_t k, const unsigned char *src,
                                     size_t size);
/* Loads all segments of the index, or scans if one of them is damaged. */
enum zmpi_status zmpi_container_read_index(struct zmpi_container *c, const struct zmpi_reader *in);
/*
 * After open: is everything there that the header promises? Without a usable index that is so if a
 * scan found the records that the index had; where the header does not tell which these were,
 * nothing damaged, and all up to the logical size. Else data may be missing, and nobody can tell
 * which. So it is if nothing is found of an index that only a damaged slot tells of. (More are
 * found where some had been overwritten and left the index.) Where the newer slot is damaged, what
 * it tells must have been found; and nothing may have written over the header.
 */
bool zmpi_container_whole(const struct zmpi_container *c);
/* Forget the index and scan the whole log: what fsck does. Otherwise as open. */
enum zmpi_status zmpi_container_scan(struct zmpi_container *c, const struct zmpi_reader *in);

/* Add the complete records of a log that grew, at or behind physical offset `from`. */
enum zmpi_status zmpi_container_follow(struct zmpi_container *c, const struct zmpi_reader *in,
                                       uint64_t from);

/* Add a record. Its list, if it has one loaded, stays the caller's; it is read from the record when
 * it is needed. */
enum zmpi_status zmpi_container_add(struct zmpi_container *c, const struct zmpi_record *r);
/* Add all of some entries (zmpi_entries_add), or none. */
enum zmpi_status zmpi_container_add_entries(struct zmpi_container *c, const unsigned char *src,
                                            size_t size);
/* The records that are not in the index, as such entries. */
struct zmpi_entries;
enum zmpi_status zmpi_container_new_entries(const struct zmpi_container *c,
                                            struct zmpi_entries *out);
/* Add the segments of an index, none of them read; logical_size is that of the header then. c is
 * empty but for its header. */
enum zmpi_status zmpi_container_add_index(struct zmpi_container *c,
                                          const struct zmpi_segment *segment, size_t n);
/* Build the look-up tables; logical_size becomes final. Called by read when needed. */
enum zmpi_status zmpi_container_seal(struct zmpi_container *c, const struct zmpi_reader *in);

/* Lists all records in the order in which they win, the last one last; the caller frees the list.
 */
enum zmpi_status zmpi_container_records(struct zmpi_container *c, const struct zmpi_reader *in,
                                        struct zmpi_record **record);

/*
 * Lists the records without those that no read can see any more: it keeps size records and the
 * newest record of each byte. `budget` bounds the runs of records that are examined; the rest is
 * kept. kept has c's header, and all of its records are in memory.
 */
struct zmpi_compaction {
    struct zmpi_container kept;
    uint64_t live, dead;   /* bytes of the records that are kept, of the others */
    size_t dropped;        /* number of these, and where they are, by place */
    struct zmpi_run *gone; /* malloc */
};
void zmpi_compaction_free(struct zmpi_compaction *s);
enum zmpi_status zmpi_container_plan_compaction(struct zmpi_container *c,
                                                const struct zmpi_reader *in, uint64_t budget,
                                                struct zmpi_compaction *out);
/* Lists the gaps between c's records in front of physical offset `end`, by place. *gap is
 * malloc'ed. */
enum zmpi_status zmpi_container_gaps(struct zmpi_container *c, const struct zmpi_reader *in,
                                     uint64_t end, struct zmpi_run **gap, size_t *n);

/*
 * The logical bytes below `end` that no record has whose order is above `after`, in increasing
 * order: the caller frees *hole, also after an error.
 */
enum zmpi_status zmpi_container_holes(struct zmpi_container *c, const struct zmpi_reader *in,
                                      uint64_t end, uint64_t after, struct zmpi_run **hole,
                                      size_t *count);
/*
 * Read the logical bytes of n increasing, non-overlapping runs into dst, one behind the other.
 * Bytes in holes and beyond the logical size become 0. On damage returns ZMPI_ERR_CHECKSUM etc.
 * and, if bad is not NULL, the physical offset of the bad record or segment. With in->losses, for
 * which n is 1, damage is no error.
 */
enum zmpi_status zmpi_container_read(struct zmpi_container *c, const struct zmpi_reader *in,
                                     const struct zmpi_run *runs, size_t n, void *dst,
                                     uint64_t *bad);

/*
 * The first logical byte in [at, end) that a record covers: all before it is a hole. `end` if
 * there is none.
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

/* *there: the file has one. An error says that it is damaged; values without it are not. */
enum zmpi_status zmpi_enhancer_read(const struct zmpi_container *c, const struct zmpi_reader *in,
                                    struct zmpi_enhancer *e, bool *there);
/* The header's bytes that point to a section; and what its hash begins with there. */
void zmpi_enhancer_point(const unsigned char id[16], uint64_t offset, uint64_t length,
                         unsigned char dst[ZMPI_POINTER_BYTES]);
uint64_t zmpi_enhancer_seed(const unsigned char id[16], uint64_t offset);

/* ---- index ---- */

/* Which records a writer puts into its part of the index. */
typedef bool zmpi_wanted(const void *context, const struct zmpi_record *r);

/*
 * Makes segments of those records of c that are in no index yet. If `merge` is set, it first
 * reads and dissolves small segments of the index, so that many short sessions do not leave many
 * of them.
 */
enum zmpi_status zmpi_index_collect(struct zmpi_container *c, const struct zmpi_reader *in,
                                    bool merge, zmpi_wanted *wanted, const void *context,
                                    struct zmpi_segments *out);
/* Sets h's tally of an index of c's segments that were in one, and of `fresh` ones. */
void zmpi_index_tally(const struct zmpi_container *c, uint64_t fresh, struct zmpi_header *h);
/* An index of all records of c for physical offset `offset`; header.index_*, log_end, tally and
 * logical_size are set. *out is malloc'ed, *size may be 0. `generation`: that of the header which
 * will point to it, a copy of which is at the end; 0: without. */
enum zmpi_status zmpi_index_make(struct zmpi_container *c, const struct zmpi_reader *in,
                                 uint64_t offset, uint64_t generation, unsigned char **out,
                                 size_t *size);

#endif
