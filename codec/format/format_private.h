/* format_private.h - what the bytes of a container are made of, for format/ and container/ alone.
 */
#ifndef ZMPI_FORMAT_PRIVATE_H
#define ZMPI_FORMAT_PRIVATE_H

#include "base/bytes.h"
#include "format/format.h"
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

/* ---- records ---- */

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

/* Do two records say the same of themselves, their place included? Loaded lists are not compared.
 */
bool zmpi_record_same(const struct zmpi_record *a, const struct zmpi_record *b);

/* format.md 2.4: the order in which records win. */
int zmpi_record_compare(const struct zmpi_record *a, const struct zmpi_record *b);

/* ---- segments ---- */

/* Bytes of a segment in the file, frame and padding included. */
uint64_t zmpi_segment_extent(const struct zmpi_segment *s);
/* Is this the segment that s tells of? Then its entries are at src + ZMPI_SEGMENT_HEADER_BYTES. */
enum zmpi_status zmpi_segment_check(const struct zmpi_segment *s, const unsigned char id[16],
                                    const unsigned char *src);
/* src are the `size` bytes that the header promises; *segment is malloc'ed. */
enum zmpi_status zmpi_directory_decode(const struct zmpi_header *h, const unsigned char *src,
                                       size_t size, struct zmpi_segment **segment, size_t *n);

#endif
