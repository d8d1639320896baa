/* container_private.h - what the files of the container share with each other only. */
#ifndef ZMPI_CONTAINER_PRIVATE_H
#define ZMPI_CONTAINER_PRIVATE_H

#include "base/bytes.h"
#include "container/container.h"
#include "format/entries.h"
#include "format/format_private.h"
#include "layout/stream.h"

/* Bytes of the record's copied head or parity that really lie behind it; 0: there is none. */
size_t zmpi_record_copied(const struct zmpi_record *r, const unsigned char id[16],
                          const struct zmpi_reader *in);

/* ---- segments (segments.c) ---- */

/* Makes segments of records. A new segment begins where one is full, and at size records. */
struct zmpi_builder {
    struct zmpi_segments out;
    struct zmpi_entries open;
};

enum zmpi_status zmpi_builder_add(struct zmpi_builder *b, const struct zmpi_record *r);
enum zmpi_status zmpi_builder_finish(struct zmpi_builder *b);
void zmpi_builder_free(struct zmpi_builder *b);

/* Goes through the records of segments [next, end), which are all loaded. */
struct zmpi_walk {
    const struct zmpi_segment *segment;
    size_t next, end;
    struct zmpi_chain chain;
    const unsigned char *at, *stop;
};

/* The next record, valid until the next call; NULL at the end. Its entry was checked when it was
 * added. */
const struct zmpi_record *zmpi_walk_next(struct zmpi_walk *w);

/* Makes a run of segments of the tail, and merges runs of equal level, or all into one. */
enum zmpi_status zmpi_runs_flush(struct zmpi_container *c);
enum zmpi_status zmpi_runs_merge_all(struct zmpi_container *c);

/* ---- the set of records (container.c, container_load.c) ---- */

/* A record's place in the order, for qsort and bsearch. */
struct zmpi_mark zmpi_mark_of(const struct zmpi_record *r);
int zmpi_mark_compare(const void *a, const void *b);

/* Appends a record to the tail. Does not update the logical size. */
enum zmpi_status zmpi_container_push(struct zmpi_container *c, const struct zmpi_record *r);
/* zmpi_container_load; *bad (may be NULL) is the place of the segment that could not be read. */
enum zmpi_status zmpi_container_load_some(struct zmpi_container *c, const struct zmpi_reader *in,
                                          size_t first, size_t last, uint64_t *bad);

/* ---- look-up, in a sealed container ---- */

/* A record that may serve a read, up to logical byte `cut`. */
struct zmpi_found {
    struct zmpi_record record;
    uint64_t cut;
};

struct zmpi_finds {
    struct zmpi_found *found;
    size_t count, capacity;
    size_t limit; /* ZMPI_ERR_SPACE beyond it */
};

struct zmpi_uncovered;

/* Lists all data records that may have visible bytes in `uncovered`. *bad: the segment that could
 * not be read. */
enum zmpi_status zmpi_container_find(struct zmpi_container *c, const struct zmpi_reader *in,
                                     const struct zmpi_uncovered *uncovered,
                                     struct zmpi_finds *finds, uint64_t *bad);
enum zmpi_status zmpi_container_find_build(struct zmpi_container *c);
/* The offset at which later size records cut the record off. */
uint64_t zmpi_container_cut(const struct zmpi_container *c, const struct zmpi_record *r);

/* Loads a record's list, if it has one, into its extent. The container keeps the memory. */
enum zmpi_status zmpi_container_list(struct zmpi_container *c, const struct zmpi_reader *in,
                                     struct zmpi_record *r);
void zmpi_container_forget_lists(struct zmpi_container *c);

/* ---- the part of a request that no record has served yet (uncovered.c) ---- */

struct zmpi_piece {
    uint64_t offset;   /* logical byte */
    uint64_t length;   /* > 0 */
    uint64_t position; /* in the destination */
};

struct zmpi_uncovered {
    struct zmpi_bucket **bucket; /* no bucket is empty; pieces increase through all buckets */
    size_t count, capacity;
};

enum zmpi_status zmpi_uncovered_init(struct zmpi_uncovered *s, const struct zmpi_run *runs,
                                     size_t n);
void zmpi_uncovered_free(struct zmpi_uncovered *s);
/* The first piece that ends behind `offset`; false if there is none. */
bool zmpi_uncovered_find(const struct zmpi_uncovered *s, uint64_t offset, struct zmpi_piece *piece);
/* First byte and one past the last; not empty. */
void zmpi_uncovered_range(const struct zmpi_uncovered *s, uint64_t *begin, uint64_t *end);
/* Take [begin, end) out of the piece that contains it. */
enum zmpi_status zmpi_uncovered_cut(struct zmpi_uncovered *s, uint64_t begin, uint64_t end);

/* ---- one record's part of a read (record_read.c) ---- */

/* The part of a payload that was read to memory. */
struct zmpi_payload {
    const struct zmpi_reader *in;
    uint64_t offset; /* of the payload, in the reader's offsets */
    size_t length;
    unsigned char *buffer; /* the caller frees it in any case */
    unsigned char *data;
    size_t have; /* leading bytes that were read */
};

/* Reads up to the end of the stream's table, which must match the record. */
enum zmpi_status zmpi_payload_open(struct zmpi_payload *p, const struct zmpi_record *r,
                                   const unsigned char id[16], const struct zmpi_reader *in,
                                   struct zmpi_stream *s);
/* Reads these chunks. */
enum zmpi_status zmpi_payload_fetch(const struct zmpi_payload *p, const struct zmpi_stream *s,
                                    const unsigned char *need);

/* Copy n pieces (from increasing) of the record's decoded payload to dst; decodes only the chunks
 * that hold them. */
enum zmpi_status zmpi_record_read(const struct zmpi_record *r, const unsigned char id[16],
                                  const struct zmpi_reader *in, const struct zmpi_copy *copies,
                                  size_t n, unsigned char *dst);
/* The most bytes that a record may lack at the end of the file. A head that claims more may be
 * wrong. */
#define ZMPI_SALVAGE_CUT_MOST ((uint64_t)1 << 30)

/* Like zmpi_record_read for a damaged record, with in->losses. It copies good chunks. Requested
 * bytes of the others become zero and are listed. `base` is the logical byte at dst. */
enum zmpi_status zmpi_record_salvage(const struct zmpi_record *r, const unsigned char id[16],
                                     const struct zmpi_reader *in, const struct zmpi_copy *copies,
                                     size_t n, uint64_t base, unsigned char *dst);

/* ---- records that are interleaved components of one call (container_components.c) ---- */

/* How many records, from *found on and newest first, are the interleaved components of one call.
 * *all is what they cover together. 1: the record is alone. */
size_t zmpi_components_group(const struct zmpi_found *found, size_t count, struct zmpi_extent *all);
/* Like zmpi_record_read. `from` counts the bytes of all n components, as the file has them. */
enum zmpi_status zmpi_components_read(const struct zmpi_found *found, size_t n,
                                      const unsigned char id[16], const struct zmpi_reader *in,
                                      const struct zmpi_copy *copies, size_t count,
                                      unsigned char *dst);
/* Computes the copies of component c alone; *of is malloc'ed. */
enum zmpi_status zmpi_components_copies(const struct zmpi_copy *copies, size_t count, size_t n,
                                        size_t c, size_t width, struct zmpi_copy **of,
                                        size_t *many);

/* Loads the list of a record that is not loaded yet, from its head or the head's copy. */
enum zmpi_status zmpi_record_load_list(struct zmpi_record *r, const unsigned char id[16],
                                       const struct zmpi_reader *in);

/* ---- recovery (container_scan.c) ---- */

/* Adds all complete records at or behind `from`. */
enum zmpi_status zmpi_container_scan_from(struct zmpi_container *c, const struct zmpi_reader *in,
                                          uint64_t from);

#endif
