/*
 * container_private.h - what the files of the container share with each other, and nobody else.
 */
#ifndef ZMPI_CONTAINER_PRIVATE_H
#define ZMPI_CONTAINER_PRIVATE_H

#include "base/bytes.h"
#include "container/entries.h"
#include "layout/stream.h"

_Static_assert(sizeof(size_t) == 8, "sizes of a file are held in size_t");

#define ZMPI_RECORD_MAGIC      UINT32_C(0x4345525A) /* ZREC */
#define ZMPI_COPY_MAGIC        UINT32_C(0x5950435A) /* ZCPY */
#define ZMPI_PARITY_MAGIC      UINT32_C(0x5241505A) /* ZPAR */
#define ZMPI_SEGMENT_MAGIC     UINT32_C(0x5844495A) /* ZIDX */
#define ZMPI_DIRECTORY_MAGIC   UINT32_C(0x5249445A) /* ZDIR */
#define ZMPI_HEADER_COPY_MAGIC UINT32_C(0x5244485A) /* ZHDR */
#define ZMPI_SLOT_BYTES        128
#define ZMPI_EXTENTS_MAX_NEST  (8 + 16 * ZMPI_EXTENT_LEVELS)

/* format.md 2.1: binds a record or segment to its file and place. */
static inline uint64_t zmpi_seed(const unsigned char id[16], uint64_t offset)
{
    return zmpi_load64(id) ^ zmpi_load64(id + 8) ^ offset;
}

/* Does [offset, offset + size) lie behind the header, at a multiple of 8, and in a file of
 * file_size bytes? */
static inline bool zmpi_fits(uint64_t offset, uint64_t size, uint64_t file_size)
{
    return offset >= ZMPI_HEADER_BYTES && offset % 8 == 0 && offset <= file_size &&
           size <= file_size - offset;
}

/* The fields of a slot whose magic and checksum are right. */
enum zmpi_status zmpi_slot_fields(struct zmpi_header *h, const unsigned char *slot);
/* Has the slot that does not count been written for a newer header than *h, or may it have been,
 * and is it damaged? */
bool zmpi_header_newer_torn(const struct zmpi_header *h,
                            const unsigned char src[ZMPI_HEADER_BYTES]);
/* Does either tally belong to a newer header than *h? */
bool zmpi_header_is_outdated(const struct zmpi_header *h,
                             const unsigned char src[ZMPI_HEADER_BYTES]);
/* The last copy of a header in the last `within` bytes of the file: any, or of this file and newer
 * than *newer_than. */
#define ZMPI_COPY_AT_END ((uint64_t)4096) /* mostly it is in these */
#define ZMPI_COPY_BEHIND ((uint64_t)20 << 20)
bool zmpi_header_find_copy(const struct zmpi_reader *in, uint64_t within,
                           const struct zmpi_header *newer_than, struct zmpi_header *h);

/*
 * Check all that kind, levels and sizes of a record say (format.md 2.2), but for what a nest or
 * list adds up to. Afterwards zmpi_record_size cannot overflow.
 */
enum zmpi_status zmpi_record_check(const struct zmpi_record *r);

/* Does this look like a record's head? Its first 8 bytes tell. */
#define ZMPI_RECORD_LIKELY 8
bool zmpi_record_likely(const unsigned char head[ZMPI_RECORD_LIKELY]);

/* Turn a copy of a record's head (at least 4 bytes) into the head; false: it is none. */
bool zmpi_record_from_copy(unsigned char *copy);
/* Is this the parity of a record's list, `size` bytes? Its first 64 are the record's header. */
bool zmpi_record_is_parity(const unsigned char *parity, size_t size);
/* Mend a head that was at `offset`, of which one sector may be damaged. Its checksum tells whether
 * it is right now; false: it is not. */
bool zmpi_record_from_parity(uint64_t offset, const unsigned char *parity, unsigned char *head);
size_t zmpi_record_parity_size(const struct zmpi_record *r);
/* Bytes of the copy of its head, or parity, that does lie behind the record; 0: there is none. */
size_t zmpi_record_copied(const struct zmpi_record *r, const unsigned char id[16],
                          const struct zmpi_reader *in);

/* Do two records say the same of themselves, their place included? Loaded lists are not compared.
 */
bool zmpi_record_same(const struct zmpi_record *a, const struct zmpi_record *b);

/* format.md 2.4: the order in which records win. */
int zmpi_record_compare(const struct zmpi_record *a, const struct zmpi_record *b);

/* ---- segments (segments.c) ---- */

/* Records in, segments out: new ones begin where one is full, and at size records. */
struct zmpi_builder {
    struct zmpi_segments out;
    struct zmpi_entries open;
};

enum zmpi_status zmpi_builder_add(struct zmpi_builder *b, const struct zmpi_record *r);
enum zmpi_status zmpi_builder_finish(struct zmpi_builder *b);
void zmpi_builder_free(struct zmpi_builder *b);

/* Through the records of segments [next, end), all of which are there. */
struct zmpi_walk {
    const struct zmpi_segment *segment;
    size_t next, end;
    struct zmpi_chain chain;
    const unsigned char *at, *stop;
};

/* The next record, until the next call; NULL at the end. Entries were checked when they came. */
const struct zmpi_record *zmpi_walk_next(struct zmpi_walk *w);

/* The tail becomes a run of segments; runs of equal level are merged, or all into one. */
enum zmpi_status zmpi_runs_flush(struct zmpi_container *c);
enum zmpi_status zmpi_runs_merge_all(struct zmpi_container *c);

/* ---- the index in the file (index.c) ---- */

/* Bytes of a segment in the file, frame and padding included. */
uint64_t zmpi_segment_extent(const struct zmpi_segment *s);
/* Is this the segment that s tells of? Then its entries are at src + ZMPI_SEGMENT_HEADER_BYTES. */
enum zmpi_status zmpi_segment_check(const struct zmpi_segment *s, const unsigned char id[16],
                                    const unsigned char *src);
/* src are the `size` bytes that the header promises; *segment is malloc'ed. */
enum zmpi_status zmpi_directory_decode(const struct zmpi_header *h, const unsigned char *src,
                                       size_t size, struct zmpi_segment **segment, size_t *n);

/* A record to the tail, without a look at what it means for the file. */
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

/* All data records of which bytes in `uncovered` may be visible. *bad: the segment that could not
 * be read. */
enum zmpi_status zmpi_container_find(struct zmpi_container *c, const struct zmpi_reader *in,
                                     const struct zmpi_uncovered *uncovered,
                                     struct zmpi_finds *finds, uint64_t *bad);
enum zmpi_status zmpi_container_find_build(struct zmpi_container *c);
/* Where later size records cut a record off. */
uint64_t zmpi_container_cut(const struct zmpi_container *c, const struct zmpi_record *r);

/* The list of a record, if it has one, into its extent; it stays the container's. */
enum zmpi_status zmpi_container_list(struct zmpi_container *c, const struct zmpi_reader *in,
                                     struct zmpi_record *r);
void zmpi_container_forget_lists(struct zmpi_container *c);

/* ---- what no record has served of a request (uncovered.c) ---- */

struct zmpi_piece {
    uint64_t offset;   /* logical byte */
    uint64_t length;   /* > 0 */
    uint64_t position; /* in the destination */
};

struct zmpi_uncovered {
    struct zmpi_bucket **bucket; /* each non-empty; all pieces increase */
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

/* Copy n pieces (from increasing) of the record's decoded payload to dst; decodes only the chunks
 * that hold them. */
enum zmpi_status zmpi_record_read(const struct zmpi_record *r, const unsigned char id[16],
                                  const struct zmpi_reader *in, const struct zmpi_copy *copies,
                                  size_t n, unsigned char *dst);
/* Of a record that the end of the file cuts off, so much may be missing: its head may lie. */
#define ZMPI_SALVAGE_CUT_MOST ((uint64_t)1 << 30)

/* The same of a damaged record, for in->losses: chunks that are right are copied, of the others the
 * bytes that were asked for become zero and are listed. `base` is the logical byte at dst. */
enum zmpi_status zmpi_record_salvage(const struct zmpi_record *r, const unsigned char id[16],
                                     const struct zmpi_reader *in, const struct zmpi_copy *copies,
                                     size_t n, uint64_t base, unsigned char *dst);
/* ---- records that are interleaved components of one call (container_components.c) ---- */

/* How many of the records from *found on, newest first, are the components of one call, whose
 * elements take turns: then *all is what they cover together. 1: it is by itself. */
size_t zmpi_components_group(const struct zmpi_found *found, size_t count, struct zmpi_extent *all);
/* As zmpi_record_read, `from` counting the bytes of all n components as the file has them. */
enum zmpi_status zmpi_components_read(const struct zmpi_found *found, size_t n,
                                      const unsigned char id[16], const struct zmpi_reader *in,
                                      const struct zmpi_copy *copies, size_t count,
                                      unsigned char *dst);
/* What such copies are of component c alone; *of is malloc'ed. */
enum zmpi_status zmpi_components_copies(const struct zmpi_copy *copies, size_t count, size_t n,
                                        size_t c, size_t width, struct zmpi_copy **of,
                                        size_t *many);

/* Load the list of a record whose list is not loaded yet: from its head, or from the copy of it. */
enum zmpi_status zmpi_record_load_list(struct zmpi_record *r, const unsigned char id[16],
                                       const struct zmpi_reader *in);

/* ---- recovery (container_scan.c) ---- */

/* Add all complete records at or behind `from`. */
enum zmpi_status zmpi_container_scan_from(struct zmpi_container *c, const struct zmpi_reader *in,
                                          uint64_t from);

#endif
