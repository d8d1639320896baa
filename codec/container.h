/*
 * container.h - the log of records that is a compressed file (docs/format.md part 2), without MPI.
 *
 * All input and output goes through callbacks, so that the MPI layer (PMPI_File_read_at), the zmpi
 * tool (pread) and the fuzzers (memory) share every line that interprets bytes. A struct
 * zmpi_container may be used by one thread at a time.
 */
#ifndef ZMPI_CONTAINER_H
#define ZMPI_CONTAINER_H

#include "extents.h"

#define ZMPI_HEADER_BYTES        512
#define ZMPI_RECORD_HEADER_BYTES 64
#define ZMPI_SIZE_MAX            ((uint64_t)INT64_MAX)

static inline uint64_t zmpi_pad8(uint64_t n)
{
    return (n + 7) & ~(uint64_t)7;
}

/* Reads exactly `size` bytes at `offset`: ZMPI_OK, ZMPI_ERR_TRUNCATED at the end of the file,
 * ZMPI_ERR_IO, ... */
struct zmpi_reader {
    enum zmpi_status (*read)(void *context, uint64_t offset, void *dst, size_t size);
    void *context;
    uint64_t file_size; /* physical; every record that is read must lie below it */
    int threads;        /* that decode what is read; 0 counts as 1 */
};

/* ---- header ---- */
struct zmpi_header {
    unsigned char id[16];
    uint64_t generation;
    uint64_t logical_size;
    uint64_t index_offset, index_length;
    uint64_t log_end;
    uint64_t next_epoch;
};

/* Is this the beginning of a container? `size` bytes are at hand; ZMPI_HEADER_BYTES decide. True if
 * either slot has the magic. */
bool zmpi_is_container(const void *src, size_t size);

/* Encode into one 128-byte slot. The slot's place is zmpi_header_slot(generation): 0 or 256 (odd
 * generations at 0). */
void zmpi_header_encode(const struct zmpi_header *h, unsigned char dst[128]);
uint64_t zmpi_header_slot(uint64_t generation);
/* The valid slot with the higher generation of the header. */
enum zmpi_status zmpi_header_decode(struct zmpi_header *h,
                                    const unsigned char src[ZMPI_HEADER_BYTES]);

/* ---- records ---- */
enum zmpi_record_kind { ZMPI_RECORD_DATA = 1, ZMPI_RECORD_SIZE = 2 };

struct zmpi_record {
    enum zmpi_record_kind kind;
    uint64_t order; /* epoch << 32 | n */
    uint32_t rank;
    uint64_t offset; /* physical, of the record header; ZMPI_OFFSET_MEMORY | k while it is only in
                        memory */
    uint64_t payload_length;
    uint32_t extents_length;   /* bytes in the record, unpadded */
    struct zmpi_extent extent; /* bytes, lo, hi and structure; a list may be unloaded */
};

#define ZMPI_OFFSET_MEMORY ((uint64_t)1 << 63)

/* Physical size of a record, padding included. */
uint64_t zmpi_record_size(const struct zmpi_record *r);
/* Physical offset of the payload. */
uint64_t zmpi_record_payload(const struct zmpi_record *r);

/*
 * Write header and extents (zmpi_record_head_size(r) bytes, padding included; list_stream are the
 * bytes of the list if levels is a list, else NULL). r->offset must be final: the checksum depends
 * on it. zmpi_record_rebind moves an encoded head to another physical offset.
 */
size_t zmpi_record_head_size(const struct zmpi_record *r);
void zmpi_record_encode(const struct zmpi_record *r, const unsigned char id[16],
                        const unsigned char *list_stream, unsigned char *dst);
void zmpi_record_rebind(unsigned char *head, const unsigned char id[16], uint64_t new_offset);
/* Decode and check the head found at physical `offset`; src has `size` bytes. A list stays
 * unloaded. ZMPI_ERR_TRUNCATED if more bytes are needed. */
enum zmpi_status zmpi_record_decode(struct zmpi_record *r, const unsigned char id[16],
                                    uint64_t offset, const unsigned char *src, size_t size);

/* ---- the set of records of a file ---- */
struct zmpi_container {
    struct zmpi_header header;
    struct zmpi_record *record; /* sorted once sealed, see zmpi_container_seal */
    size_t count, capacity;
    bool sealed;
    uint64_t logical_size; /* kept up to date by add and seal */
    uint64_t scanned;      /* records found by scanning, not in the index (after open) */
    uint64_t damaged;      /* bytes skipped that looked like records but failed */
    bool index_damaged;    /* open: there is an index but it is unusable; all was scanned */
    uint64_t *cut;         /* private: where a later size record cuts record i off, */
    size_t *by_lo;         /* record numbers by extent.lo,                          */
    uint64_t *max_hi;      /* and the largest hi of each subtree of by_lo           */
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
 * After open: is everything there that the header promises? Without a usable index that is so if a
 * scan found records up to the logical size and nothing damaged; else data are missing, and nobody
 * can tell which.
 */
bool zmpi_container_whole(const struct zmpi_container *c);
/* Forget the index and scan the whole log: what fsck does. Otherwise as open. */
enum zmpi_status zmpi_container_scan(struct zmpi_container *c, const struct zmpi_reader *in);

/* Add the complete records of a log that grew, at or behind physical offset `from`. */
enum zmpi_status zmpi_container_follow(struct zmpi_container *c, const struct zmpi_reader *in,
                                       uint64_t from);

/* Add a record (its extent's list, if loaded, becomes owned by c). Unseals. */
enum zmpi_status zmpi_container_add(struct zmpi_container *c, const struct zmpi_record *r);
/* Sort and build the look-up tables; logical_size becomes final. Called by read when needed. */
enum zmpi_status zmpi_container_seal(struct zmpi_container *c);

/* Physical end of all records and of the header: where the next record may go. */
uint64_t zmpi_container_end(const struct zmpi_container *c);

/*
 * Read the logical bytes of n increasing, non-overlapping runs into dst, one behind the other.
 * Bytes in holes and beyond the logical size become 0. On damage returns ZMPI_ERR_CHECKSUM etc.
 * and, if bad is not NULL, the physical offset of the bad record. Records with ZMPI_OFFSET_MEMORY
 * are read through `in` as well: the callback knows what such offsets mean.
 */
enum zmpi_status zmpi_container_read(struct zmpi_container *c, const struct zmpi_reader *in,
                                     const struct zmpi_run *runs, size_t n, void *dst,
                                     uint64_t *bad);

/* ---- index ---- */
/* Encode records [first, first+n) of c as one segment for physical offset `offset`; *out is
 * malloc'ed, *size a multiple of 8. */
enum zmpi_status zmpi_index_encode(const struct zmpi_record *record, size_t n,
                                   const unsigned char id[16], uint64_t offset, unsigned char **out,
                                   size_t *size);
/* Size that zmpi_index_encode will produce (for the exclusive scan). */
size_t zmpi_index_size(const struct zmpi_record *record, size_t n);
/* Add all entries of one or more segments lying at physical `offset` to c. */
enum zmpi_status zmpi_index_decode(struct zmpi_container *c, const unsigned char id[16],
                                   uint64_t offset, const unsigned char *src, size_t size);
/* Entries without segment framing and file binding, to send from rank to rank: same 64-byte
 * entries. */
size_t zmpi_entries_size(const struct zmpi_record *record, size_t n);
void zmpi_entries_encode(const struct zmpi_record *record, size_t n, unsigned char *dst);
enum zmpi_status zmpi_entries_decode(struct zmpi_container *c, const unsigned char *src,
                                     size_t size);

#endif
