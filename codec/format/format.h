/*
 * format.h - the parts of a compressed file as bytes (docs/format.md part 2): header, records, and
 * segments of an index.
 */
#ifndef ZMPI_FORMAT_H
#define ZMPI_FORMAT_H

#include "format/extents.h"

struct zmpi_losses;
struct zmpi_offload;
struct zmpi_enhancer;

#define ZMPI_HEADER_BYTES        512
#define ZMPI_RECORD_HEADER_BYTES 64
/* The header's page. MPI-IO begins no long record in it: whoever finds the page gone knows the file
 * by the record behind it. */
#define ZMPI_FIRST_PAGE 4096
/* So many of a file's first bytes tell what it is: up to a record's first 8 behind that page. */
#define ZMPI_HEAD_BYTES (ZMPI_FIRST_PAGE + 8)
#define ZMPI_SIZE_MAX   ((uint64_t)INT64_MAX)

/* Bytes far behind any data, for open file description locks (format.md 2.6). */
#define ZMPI_LOCK_LOG     (INT64_MAX - 1) /* who writes takes a place */
#define ZMPI_LOCK_WRITERS (INT64_MAX - 2) /* held for reading by whoever writes, */
#define ZMPI_LOCK_READERS (INT64_MAX - 3) /* and by whoever reads */

static inline uint64_t zmpi_pad8(uint64_t n)
{
    return (n + 7) & ~(uint64_t)7;
}

/* ---- reading ---- */

/* Reads exactly `size` bytes at `offset`: ZMPI_OK, ZMPI_ERR_TRUNCATED at the end of the file,
 * ZMPI_ERR_IO, ... */
struct zmpi_reader {
    enum zmpi_status (*read)(void *context, uint64_t offset, void *dst, size_t size);
    void *context;
    bool parallel; /* any thread may call it, several at once */
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
    const struct zmpi_enhancer *enhancer; /* what is done to decoded values; NULL: nothing */
    struct zmpi_opened *opened;           /* the record that was read last; NULL: it is not kept */
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
    size_t count, capacity;
    bool holes; /* list what no record covers, as ZMPI_LOSS_UNKNOWN */
};

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
 * follows the header or its page (`head`: up to ZMPI_HEAD_BYTES) and by the last bytes of the file.
 * Of a page of zeros zmpi_container_lost tells. */
bool zmpi_was_container(const unsigned char *head, size_t head_size, const unsigned char *tail,
                        size_t tail_size);
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
/* A valid copy in front of *place, which becomes its place; of what readers look through. */
bool zmpi_header_copy_before(const struct zmpi_reader *in, uint64_t *place);
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
uint64_t zmpi_record_stored(const struct zmpi_record *r);
size_t zmpi_record_copy_size(const struct zmpi_record *r);
#define ZMPI_COPY_ALWAYS  1024 /* bytes of a head that is never too long */
#define ZMPI_COPY_OF_DATA 256  /* a copy takes at most one part in so many of the data */
/* What tells a record from all others of its file. */
uint64_t zmpi_record_tally(const struct zmpi_record *r);
/* For qsort and bsearch: records by their physical offset. */
int zmpi_record_by_place(const void *a, const void *b);
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
    size_t count, capacity;
    uint64_t tally; /* of what zmpi_index_collect has put there */
};

#define ZMPI_SEGMENT_HEADER_BYTES  24
#define ZMPI_DIRECTORY_ENTRY_BYTES 48
#define ZMPI_SEGMENT_RECORDS       256  /* that a writer puts into one */
#define ZMPI_SEGMENT_RECORDS_LIMIT 4096 /* that a reader takes */

/* Bytes of n segments in the file, and of the directory of n segments. */
size_t zmpi_index_segments_size(const struct zmpi_segment *segment, size_t n);
size_t zmpi_index_directory_size(size_t n);
/* n segments one behind the other for physical offset `offset`, which they remember. */
void zmpi_index_put_segments(struct zmpi_segment *segment, size_t n, const unsigned char id[16],
                             uint64_t offset, unsigned char *dst);
/* The directory of n segments in increasing order of their places, for `offset`. */
void zmpi_index_put_directory(const struct zmpi_segment *segment, size_t n,
                              const unsigned char id[16], uint64_t offset, unsigned char *dst);

#endif
