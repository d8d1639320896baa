/* overwritten.c - see overwritten.h. */
#include "reader/overwritten.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "judge/element_type.h"
#include "judge/raw_bytes.h"

/* The head of a chunk that stores its values unchanged. Two such chunks are no larger than the
 * bytes that are examined (format.md 1.2). */
#define STORED_CHUNK 2

enum { LOOKED_AT = ZMPI_FOREIGN_LOOKED_AT, PARTS = 4 };

/* Without the index the search ends at once: what is left of the container lies behind the index's
 * place. */
static uint64_t no_data(void *context, uint64_t offset)
{
    (void)context;
    (void)offset;
    return UINT64_MAX;
}

/* Is the record's head still there? */
static enum zmpi_status is_there(const struct zmpi_reader *in, const struct zmpi_header *h,
                                 const struct zmpi_record *r, bool *there)
{
    struct zmpi_record found;
    const size_t size = ZMPI_RECORD_HEADER_BYTES + zmpi_pad8(r->extents_length);
    *there = false;
    if (r->offset > in->file_size || size > in->file_size - r->offset)
        return ZMPI_OK;
    unsigned char *head = malloc(size);
    if (head == NULL)
        return ZMPI_ERR_MEMORY;
    const enum zmpi_status status = in->read(in->context, r->offset, head, size);
    if (status == ZMPI_OK)
        *there = zmpi_record_decode(&found, h->id, r->offset, head, size) == ZMPI_OK;
    free(head);
    return status;
}

/* Records are sorted by place: none before *first is intact. */
static enum zmpi_status find_first(const struct zmpi_reader *in, const struct zmpi_header *h,
                                   const struct zmpi_record *r, size_t n, size_t *first)
{
    enum zmpi_status status = ZMPI_OK;
    bool there = false;
    for (*first = 0; *first < n && status == ZMPI_OK; ++*first) {
        status = is_there(in, h, &r[*first], &there);
        if (there)
            break;
    }
    return status;
}

/* The float type, if all parts have the same one; ZMPI_BYTES: they do not. */
static enum zmpi_type type_of_parts(const unsigned char *at)
{
    const size_t part = LOOKED_AT / PARTS;
    const enum zmpi_type type = zmpi_raw_type(at, part);
    for (size_t i = 1; i < PARTS; i++)
        if (zmpi_raw_type(at + i * part, part) != type)
            return ZMPI_BYTES;
    return type;
}

bool zmpi_overwritten_foreign(const unsigned char *at)
{
    for (size_t i = 0; i < LOOKED_AT; i += 4)
        if (zmpi_load32(at + i) == STORED_CHUNK)
            return false;
    return type_of_parts(at) != ZMPI_BYTES || type_of_parts(at + 4) != ZMPI_BYTES ||
           zmpi_looks_like(ZMPI_F32, at, LOOKED_AT / sizeof(float)) == ZMPI_LOOKS_TEXT;
}

/* The last lost record may be overwritten as a whole, or only its head. The bytes behind the
 * longest possible header decide. */
static enum zmpi_status look_behind_header(const struct zmpi_reader *in,
                                           const struct zmpi_record *gone,
                                           struct zmpi_overwritten *o)
{
    const uint64_t from = ZMPI_FOREIGN_HEADER_MOST, to = from + LOOKED_AT + 4;
    if (o->least > from || gone->kind != ZMPI_RECORD_DATA ||
        gone->offset + gone->payload_length < to || gone->payload_length >= gone->extent.bytes)
        return ZMPI_OK;
    unsigned char *at = malloc(LOOKED_AT + 4);
    if (at == NULL)
        return ZMPI_ERR_MEMORY;
    const enum zmpi_status status = in->read(in->context, from, at, LOOKED_AT + 4);
    if (status == ZMPI_OK && zmpi_overwritten_foreign(at))
        o->least = from + 1;
    free(at);
    return status;
}

static bool has_first_byte(const struct zmpi_record *r, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (r[i].kind == ZMPI_RECORD_DATA && r[i].extent.lo == 0)
            return true;
    return false;
}

/* For a container whose index is intact. */
static enum zmpi_status look_at_records(struct zmpi_container *c, const struct zmpi_reader *in,
                                        struct zmpi_overwritten *o)
{
    struct zmpi_record *r = NULL;
    size_t first = 0;
    enum zmpi_status status = zmpi_container_records(c, in, &r);
    if (status != ZMPI_OK)
        return status;
    const size_t n = c->count;
    qsort(r, n, sizeof *r, zmpi_record_by_place);
    status = find_first(in, &c->header, r, n, &first);
    if (status == ZMPI_OK) {
        o->most = first < n ? r[first].offset : c->header.index_offset;
        o->least = first > 0 ? r[first - 1].offset + 1 : 1;
        if (first > 0)
            status = look_behind_header(in, &r[first - 1], o);
        o->plain = has_first_byte(r, n) && o->least > ZMPI_FOREIGN_HEADER_MOST;
    }
    free(r);
    return status;
}

/* For a container that has lost the index's directory or first segment. Segments lie in order of
 * place, as in the directory. */
static enum zmpi_status look_at_index(const struct zmpi_container *c, const struct zmpi_reader *in,
                                      struct zmpi_overwritten *o)
{
    const struct zmpi_header *h = &c->header;
    unsigned char frame[ZMPI_SEGMENT_HEADER_BYTES + 8], magic[4] = "";
    enum zmpi_status status = in->read(in->context, h->index_offset, frame, sizeof frame);
    const uint64_t segment = zmpi_load64(frame + ZMPI_SEGMENT_HEADER_BYTES);
    o->most = h->log_end - ZMPI_HEADER_COPY_BYTES;
    o->least = h->index_offset + 1;
    if (status == ZMPI_OK && memcmp(frame, "ZDIR", 4) == 0) {
        o->most = h->index_offset;
        o->least = 1;
        if (segment < h->index_offset)
            status = in->read(in->context, segment, magic, sizeof magic);
        if (segment < h->index_offset && memcmp(magic, "ZIDX", sizeof magic) != 0)
            o->least = segment + 1;
    }
    o->plain = o->least > ZMPI_FOREIGN_HEADER_MOST;
    return status;
}

enum zmpi_status zmpi_overwritten_look(const struct zmpi_reader *in, struct zmpi_overwritten *o)
{
    struct zmpi_container c;
    unsigned char head[ZMPI_HEAD_BYTES];
    struct zmpi_reader end = *in;
    *o = (struct zmpi_overwritten){0};
    const size_t size = in->file_size < sizeof head ? (size_t)in->file_size : sizeof head;
    if (size < ZMPI_HEADER_BYTES + 8)
        return ZMPI_OK;
    enum zmpi_status status = in->read(in->context, 0, head, size);
    zmpi_container_init(&c);
    end.data_at = no_data;
    if (status == ZMPI_OK)
        status = zmpi_container_open(&c, &end);
    if (status == ZMPI_OK && c.header_lost && c.header.index_offset != 0)
        status = c.index_damaged ? look_at_index(&c, &end, o) : look_at_records(&c, &end, o);
    /* Zeros may be a page that never reached the disk. If the container's first bytes are intact,
     * little was overwritten. */
    if (!c.overwritten || zmpi_was_container(head, size, head, 0))
        o->plain = false;
    zmpi_container_free(&c);
    return status == ZMPI_ERR_IO || status == ZMPI_ERR_MEMORY ? status : ZMPI_OK;
}
