/*
 * container_private.h - what the files of the container share with each other, and nobody else.
 */
#ifndef ZMPI_CONTAINER_PRIVATE_H
#define ZMPI_CONTAINER_PRIVATE_H

#include "bytes.h"
#include "container.h"
#include "stream.h"

_Static_assert(sizeof(size_t) == 8, "sizes of a file are held in size_t");

#define ZMPI_RECORD_MAGIC         UINT32_C(0x4345525A) /* ZREC */
#define ZMPI_SEGMENT_MAGIC        UINT32_C(0x5844495A) /* ZIDX */
#define ZMPI_SEGMENT_HEADER_BYTES 24
#define ZMPI_ENTRY_BYTES          64
#define ZMPI_EXTENTS_MAX_NEST     (8 + 16 * ZMPI_EXTENT_LEVELS)

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

/*
 * Check all that kind, levels and sizes of a record say (format.md 2.2). Decodes a nest from `nest`
 * (r->extents_length bytes are read there for levels 0..4; none for a list). Afterwards
 * zmpi_record_size cannot overflow.
 */
enum zmpi_status zmpi_record_check(struct zmpi_record *r, const unsigned char *nest);

/* Do two records say the same of themselves, their place included? Loaded lists are not compared.
 */
bool zmpi_record_same(const struct zmpi_record *a, const struct zmpi_record *b);

/* Room for n more records. */
enum zmpi_status zmpi_container_reserve(struct zmpi_container *c, size_t n);
/* Drop the records from number `count` on. */
void zmpi_container_truncate(struct zmpi_container *c, size_t count);

/* ---- look-up (container_find.c), in a sealed container ---- */

struct zmpi_numbers {
    size_t *number;
    size_t count, capacity;
};

/* Append the numbers of all data records of which bytes in [begin, end) may be visible. */
enum zmpi_status zmpi_container_find(const struct zmpi_container *c, uint64_t begin, uint64_t end,
                                     struct zmpi_numbers *found);
enum zmpi_status zmpi_container_find_build(struct zmpi_container *c);

/* ---- what remains of a request (remains.c) ---- */

struct zmpi_piece {
    uint64_t offset;   /* logical byte */
    uint64_t length;   /* > 0 */
    uint64_t position; /* in the destination */
};

struct zmpi_remains {
    struct zmpi_bucket **bucket; /* each non-empty; all pieces increase */
    size_t count, capacity;
};

enum zmpi_status zmpi_remains_init(struct zmpi_remains *s, const struct zmpi_run *runs, size_t n);
void zmpi_remains_free(struct zmpi_remains *s);
/* The first piece that ends behind `offset`; false if there is none. */
bool zmpi_remains_find(const struct zmpi_remains *s, uint64_t offset, struct zmpi_piece *piece);
/* First byte and one past the last; not empty. */
void zmpi_remains_range(const struct zmpi_remains *s, uint64_t *begin, uint64_t *end);
/* Take [begin, end) out of the piece that contains it. */
enum zmpi_status zmpi_remains_cut(struct zmpi_remains *s, uint64_t begin, uint64_t end);

/* ---- one record's part of a read (record_read.c) ---- */

struct zmpi_copy {
    uint64_t from; /* in the decoded payload */
    uint64_t to;   /* in the destination     */
    uint64_t length;
};

/* Copy n pieces (from increasing) of the record's decoded payload to dst; decodes only the chunks
 * that hold them. */
enum zmpi_status zmpi_record_read(const struct zmpi_record *r, const unsigned char id[16],
                                  const struct zmpi_reader *in, const struct zmpi_copy *copies,
                                  size_t n, unsigned char *dst);
/* Load the list of a record whose list is not loaded yet. */
enum zmpi_status zmpi_record_load_list(struct zmpi_record *r, const unsigned char id[16],
                                       const struct zmpi_reader *in);

/* ---- recovery (container_scan.c) ---- */

/* Add all complete records at or behind `from`. The index segments at [skip, skip + skip_size) are
 * known and not read. */
enum zmpi_status zmpi_container_scan_from(struct zmpi_container *c, const struct zmpi_reader *in,
                                          uint64_t from, uint64_t skip, uint64_t skip_size);

#endif
