/*
 * container.h - the log of records that is a compressed file (docs/format.md part 2), without MPI.
 *
 * All input and output goes through callbacks, so that the MPI layer (PMPI_File_read_at), the zmpi
 * tool (pread) and the fuzzers (memory) share every line that interprets bytes. A struct
 * zmpi_container may be used by one thread at a time.
 */
#ifndef ZMPI_CONTAINER_H
#define ZMPI_CONTAINER_H

#include "container/extents.h"
#include "device/offload.h"

#define ZMPI_HEADER_BYTES        512
#define ZMPI_RECORD_HEADER_BYTES 64
#define ZMPI_SIZE_MAX            ((uint64_t)INT64_MAX)

/* Bytes far behind any data, for open file description locks (format.md 2.6). */
#define ZMPI_LOCK_LOG     (INT64_MAX - 1) /* who writes takes a place */
#define ZMPI_LOCK_WRITERS (INT64_MAX - 2) /* held for reading by whoever writes, */
#define ZMPI_LOCK_READERS (INT64_MAX - 3) /* and by whoever reads */

static inline uint64_t zmpi_pad8(uint64_t n)
{
    return (n + 7) & ~(uint64_t)7;
}

/* Reads exactly `size` bytes at `offset`: ZMPI_OK, ZMPI_ERR_TRUNCATED at the end of the file,
 * ZMPI_ERR_IO, ... */
struct zmpi_losses;
struct zmpi_reader {
    enum zmpi_status (*read)(void *context, uint64_t offset, void *dst, size_t size);
    void *context;
    /* From where on the file has data at or behind `offset`; what is before is zero, and need not
     * be read by a scan. May be NULL. */
    uint64_t (*data_at)(void *context, uint64_t offset);
    uint64_t file_size; /* physical; every record that is read must lie below it */
    int threads;        /* that decode what is read; 0 counts as 1 */
    /* What is read goes to memory of this device, NULL: the host's; and what is known of devices
     * that decode it, NULL: the CPU does. */
    const struct zmpi_device *holder;
    struct zmpi_offload *offload;
    /* NULL: damage is an error. Else what cannot be read is listed here, reads it as zeros and goes
     * on; a scan then takes damaged records too, if their heads are right. */
    struct zmpi_losses *losses;
};

/* ---- what a reader that goes on after damage could not read ---- */

enum zmpi_loss_kind {
    ZMPI_LOSS_LOST,     /* these bytes are gone */
    ZMPI_LOSS_DOUBTFUL, /* older data, or none, where newer ones may have been */
    ZMPI_LOSS_UNKNOWN   /* no record of them, and records are missing */
};

struct zmpi_loss {
    uint64_t offset, length; /* logical bytes */
    uint64_t record;         /* where its record begins in the file */
    enum zmpi_status why;
    enum zmpi_loss_kind kind;
};

struct zmpi_losses {
    struct zmpi_loss *loss; /* malloc */
    size_t count, room;
    bool holes; /* list what no record covers, as ZMPI_LOSS_UNKNOWN */
};

/* Append, or lengthen the last one. ZMPI_ERR_MEMORY. */
enum zmpi_status zmpi_losses_add(struct zmpi_losses *l, const struct zmpi_loss *loss);
void zmpi_losses_free(struct zmpi_losses *l);

/* ---- header ---- */
struct zmpi_header {
    unsigned char id[16];
    uint64_t generation;
    uint64_t logical_size;
    uint64_t index_offset, index_length;
    uint64_t log_end;
    uint64_t next_epoch;
    uint64_t tally; /* of the index's records: the sum of zmpi_record_tally of each, */
    bool tallied;   /* if it is known */
    bool outdated; /* decode: a newer slot was written, of an index with records, and is damaged; */
    uint64_t newer; /* that index's tally */
};
#define ZMPI_TALLY_BYTES       24
#define ZMPI_HEADER_COPY_BYTES 136

/* Is this the beginning of a container? `size` bytes are at hand; ZMPI_HEADER_BYTES decide. True if
 * either slot has the magic. */
bool zmpi_is_container(const void *src, size_t size);
/* Was this a container before something else than us wrote over its first bytes? Told by what
 * follows the header (8 bytes of that in `head`) and by the last bytes of the file. */
bool zmpi_was_container(const unsigned char *head, size_t head_size, const unsigned char *tail,
                        size_t tail_size);
/* Is this a container whose header is nothing but zeros (`size` bytes are at hand)? Told by a
 * record in the first 20 MiB that the file has, which are read only where the header is that. A
 * plain file that begins so is not taken for one. */
bool zmpi_container_lost(const unsigned char *head, size_t size, const struct zmpi_reader *in);
/* Is there a copy of the header behind the index of what begins with nothing but zeros, or cannot
 * be read there (size 0)? Then it can be opened. */
bool zmpi_container_copied(const unsigned char *head, size_t size, const struct zmpi_reader *in);

/* Encode into one 128-byte slot. The slot's place is zmpi_header_slot(generation): 0 or 256 (odd
 * generations at 0). */
void zmpi_header_encode(const struct zmpi_header *h, unsigned char dst[128]);
uint64_t zmpi_header_slot(uint64_t generation);
/* Which records the index has, which belongs to a slot and lies elsewhere; returns where. Written
 * before the slot. */
uint64_t zmpi_header_tally(const struct zmpi_header *h, unsigned char dst[ZMPI_TALLY_BYTES]);
/* What a writer of a header's next generation puts where, in this order. */
struct zmpi_header_part {
    uint64_t offset;
    size_t size;
    unsigned char bytes[128];
};
void zmpi_header_parts(const struct zmpi_header *h, struct zmpi_header_part part[2]);
/* All of it to where it lies in a whole header. */
void zmpi_header_put(const struct zmpi_header *h, unsigned char dst[ZMPI_HEADER_BYTES]);
/* The copy of it that lies behind the index, at the end of the log (format.md 2.8). */
void zmpi_header_copy(const struct zmpi_header *h, unsigned char dst[ZMPI_HEADER_COPY_BYTES]);
/* The valid slot with the higher generation of the header. */
enum zmpi_status zmpi_header_decode(struct zmpi_header *h,
                                    const unsigned char src[ZMPI_HEADER_BYTES]);
/* Has the slot that does not count been written, and is it damaged? */
bool zmpi_header_torn(const struct zmpi_header *h, const unsigned char src[ZMPI_HEADER_BYTES]);

/* ---- records ---- */
enum zmpi_record_kind { ZMPI_RECORD_DATA = 1, ZMPI_RECORD_SIZE = 2 };

struct zmpi_record {
    enum zmpi_record_kind kind;
    uint64_t order; /* epoch << 32 | n */
    uint32_t rank;
    uint64_t offset; /* physical, of the record header */
    uint64_t payload_length;
    uint32_t extents_length;   /* bytes in the record, unpadded */
    struct zmpi_extent extent; /* bytes, lo, hi and structure; a list may be unloaded */
};

/* Physical size of a record, padding included. */
uint64_t zmpi_record_size(const struct zmpi_record *r);
/* The same with the copy of its head that a writer puts behind a record with a list, or the parity
 * of the list where that is long beside the payload or the data (format.md 2.2), and of that alone:
 * 0 without a list. A file may have more copies or fewer. */
uint64_t zmpi_record_room(const struct zmpi_record *r);
size_t zmpi_record_copy_size(const struct zmpi_record *r);
#define ZMPI_COPY_ALWAYS  1024 /* bytes of a head that is never too long */
#define ZMPI_COPY_OF_DATA 256  /* a copy takes at most one part in so many of the data */
/* What tells a record from all others of its file. */
uint64_t zmpi_record_tally(const struct zmpi_record *r);
/* For qsort and bsearch: records by their physical offset. */
int zmpi_record_by_place(const void *a, const void *b);
/* Physical offset of the payload. */
uint64_t zmpi_record_payload(const struct zmpi_record *r);
/* The head of a record that is damaged in the file, from its copy or by parity; *head is malloc'ed,
 * NULL: the head is right, or it cannot be mended. */
enum zmpi_status zmpi_record_mend(const struct zmpi_record *r, const unsigned char id[16],
                                  const struct zmpi_reader *in, unsigned char **head);

/*
 * Write header and extents (zmpi_record_head_size(r) bytes, padding included; list_stream are the
 * bytes of the list if levels is a list, else NULL). r->offset must be final: the checksum depends
 * on it. zmpi_record_rebind moves an encoded head to another physical offset.
 */
size_t zmpi_record_head_size(const struct zmpi_record *r);
void zmpi_record_encode(const struct zmpi_record *r, const unsigned char id[16],
                        const unsigned char *list_stream, unsigned char *dst);
void zmpi_record_rebind(unsigned char *head, const unsigned char id[16], uint64_t new_offset);
/* The copy of a head that is at its final offset, or parity, for the end of the record. */
void zmpi_record_copy(const struct zmpi_record *r, const unsigned char *head, unsigned char *dst);
/* Decode and check the head found at physical `offset`; src has `size` bytes. A list stays
 * unloaded. ZMPI_ERR_TRUNCATED if more bytes are needed. */
enum zmpi_status zmpi_record_decode(struct zmpi_record *r, const unsigned char id[16],
                                    uint64_t offset, const unsigned char *src, size_t size);

/* ---- segments: records that are kept and stored together ---- */

/* A segment's records are coded (entries.h): 8 to 25 bytes for each where they were written alike.
 * They are decoded when a read touches [lo, hi), and forgotten again. */
struct zmpi_segment {
    uint64_t offset;        /* in the file; 0: it is not there */
    uint64_t lo, hi;        /* least and greatest of its records */
    uint64_t newest;        /* greatest order of them */
    uint32_t size;          /* bytes of the entries */
    uint32_t count, sizes;  /* records; how many of them are size records */
    unsigned char *entries; /* malloc; NULL: not read yet */
};

struct zmpi_segments {
    struct zmpi_segment *segment;
    size_t count, room;
    uint64_t tally; /* of what zmpi_index_collect has put there */
};

void zmpi_segments_free(struct zmpi_segments *s);

/* ---- the set of records of a file ---- */

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
    size_t cuts, cut_room;        /* once sealed */
    bool sealed;                  /* cut is sorted, and these two are those of all segments: */
    size_t *by_lo;                /* segments by lo */
    uint64_t *max_hi;             /* and the largest hi of each subtree of by_lo */
    struct zmpi_extent *list;     /* lists that were read, each in the place its record's offset */
    uint64_t *list_of, list_runs; /* tells; whose they are; how many runs in all */
};

void zmpi_container_init(struct zmpi_container *c);
void zmpi_container_free(struct zmpi_container *c);

/*
 * Read header, index, and scan what is not indexed (format.md 2.5). c is initialised and empty; it
 * is sealed afterwards, and empty on error. header.next_epoch is then higher than any epoch found,
 * by scanning too.
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
/* All segments of the index, or what a scan finds if one of them is damaged. */
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

/* All records in the order in which they win, the last one last; the caller frees them. */
enum zmpi_status zmpi_container_records(struct zmpi_container *c, const struct zmpi_reader *in,
                                        struct zmpi_record **record);

/*
 * Without the records that no read can see any more: size records and the newest of those that
 * cover a byte are kept. `budget` bounds the runs of records that are looked at; what it leaves out
 * is kept. kept has c's header, and all of its records are in memory.
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
/* What no record of c has in front of physical offset `end`, by place. *gap is malloc'ed. */
enum zmpi_status zmpi_container_gaps(struct zmpi_container *c, const struct zmpi_reader *in,
                                     uint64_t end, struct zmpi_run **gap, size_t *n);

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

/* ---- index ---- */

#define ZMPI_SEGMENT_HEADER_BYTES  24
#define ZMPI_DIRECTORY_ENTRY_BYTES 48
#define ZMPI_SEGMENT_RECORDS       256  /* that a writer puts into one */
#define ZMPI_SEGMENT_RECORDS_LIMIT 4096 /* that a reader takes */

/* Which records a writer puts into its part of the index. */
typedef bool zmpi_wanted(const void *context, const struct zmpi_record *r);

/*
 * Those records of c as segments that are in no index yet. Small segments of the index are read and
 * dissolved first if `merge` is set, so that many short sessions do not leave many of them.
 */
enum zmpi_status zmpi_index_collect(struct zmpi_container *c, const struct zmpi_reader *in,
                                    bool merge, zmpi_wanted *wanted, const void *context,
                                    struct zmpi_segments *out);
/* Bytes of n segments in the file, and of the directory of n segments. */
size_t zmpi_index_segments_size(const struct zmpi_segment *segment, size_t n);
size_t zmpi_index_directory_size(size_t n);
/* Into h: the tally of an index of c's segments that were in one, and of `fresh` ones. */
void zmpi_index_tally(const struct zmpi_container *c, uint64_t fresh, struct zmpi_header *h);
/* n segments one behind the other for physical offset `offset`, which they remember. */
void zmpi_index_put_segments(struct zmpi_segment *segment, size_t n, const unsigned char id[16],
                             uint64_t offset, unsigned char *dst);
/* The directory of n segments in increasing order of their places, for `offset`. */
void zmpi_index_put_directory(const struct zmpi_segment *segment, size_t n,
                              const unsigned char id[16], uint64_t offset, unsigned char *dst);
/* An index of all records of c for physical offset `offset`; header.index_*, log_end, tally and
 * logical_size are set. *out is malloc'ed, *size may be 0. `generation`: that of the header which
 * will point to it, a copy of which is at the end; 0: without. */
enum zmpi_status zmpi_index_make(struct zmpi_container *c, const struct zmpi_reader *in,
                                 uint64_t offset, uint64_t generation, unsigned char **out,
                                 size_t *size);

#endif
