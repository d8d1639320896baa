/*
 * container_scan.c - recovery: searches the log for records (docs/format.md 2.5, step 3).
 *
 * It compares every size that a record claims with the size of the file before it uses it. It takes
 * a record if the checksums of its head and of all its chunks are right. It decodes nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "container/container_private.h"

#define WINDOW_BYTES ((size_t)1 << 20)
/*
 * The inside of a damaged payload is scanned again. In a log each byte belongs to at most one
 * record. So if failed checks add up to many times the file's size, somebody made the file to keep
 * readers busy.
 */
#define FUTILE_FACTOR 16

/* A buffered view of the file. */
struct window {
    const struct zmpi_reader *in;
    unsigned char *data; /* `capacity` bytes */
    size_t capacity;     /* WINDOW_BYTES, or all that there is to scan */
    uint64_t begin;      /* file offset of data[0] */
    size_t size;
};

/* Buffers the bytes from `offset` on, at least `want` (<= WINDOW_BYTES) unless the file ends
 * before. */
static enum zmpi_status look(struct window *w, uint64_t offset, size_t want,
                             const unsigned char **data, size_t *size)
{
    uint64_t rest = w->in->file_size - offset;
    if (want > rest)
        want = (size_t)rest;
    if (offset < w->begin || offset - w->begin > w->size || w->size - (offset - w->begin) < want) {
        w->size = 0;
        size_t fill = rest < w->capacity ? (size_t)rest : w->capacity;
        enum zmpi_status status = w->in->read(w->in->context, offset, w->data, fill);
        if (status != ZMPI_OK)
            return status;
        w->begin = offset;
        w->size = fill;
    }
    *data = w->data + (offset - w->begin);
    *size = w->size - (size_t)(offset - w->begin);
    return ZMPI_OK;
}

/* Feed [offset, offset + size) to a hash. */
static enum zmpi_status hash_range(struct window *w, XXH3_state_t *state, uint64_t offset,
                                   uint64_t size)
{
    while (size > 0) {
        const unsigned char *data;
        size_t at_hand;
        enum zmpi_status status = look(w, offset, 1, &data, &at_hand);
        if (status != ZMPI_OK)
            return status;
        size_t part = at_hand < size ? at_hand : (size_t)size;
        XXH3_64bits_update(state, data, part);
        offset += part;
        size -= part;
    }
    return ZMPI_OK;
}

/* Reads [offset, offset + size) to new memory, which the caller frees. */
static enum zmpi_status load(struct window *w, uint64_t offset, size_t size, unsigned char **out)
{
    enum zmpi_status status = ZMPI_OK;
    unsigned char *copy = malloc(size);
    if (copy == NULL)
        return ZMPI_ERR_MEMORY;
    for (size_t part, done = 0; done < size && status == ZMPI_OK; done += part) {
        const unsigned char *data;
        size_t at_hand = 0;
        status = look(w, offset + done, 1, &data, &at_hand);
        if (status == ZMPI_OK && at_hand == 0)
            status = ZMPI_ERR_TRUNCATED;
        part = at_hand < size - done ? at_hand : size - done;
        if (status == ZMPI_OK)
            memcpy(copy + done, data, part);
    }
    if (status != ZMPI_OK)
        free(copy);
    else
        *out = copy;
    return status;
}

/* Errors of the reader or of memory end a scan. All others only mean that this is not a record. */
static bool is_fatal(enum zmpi_status status)
{
    return status != ZMPI_OK && status != ZMPI_ERR_FORMAT && status != ZMPI_ERR_VERSION &&
           status != ZMPI_ERR_TRUNCATED && status != ZMPI_ERR_CHECKSUM &&
           status != ZMPI_ERR_CORRUPT && status != ZMPI_ERR_SIZE && status != ZMPI_ERR_UNSUPPORTED;
}

/* ---- records ---- */

static enum zmpi_status check_chunks(struct window *w, const struct zmpi_stream *s, uint64_t offset)
{
    for (size_t k = 0; k < s->info.chunks; k++) {
        const size_t size = zmpi_load32(s->table + 8 * k);
        XXH3_state_t state;
        if (offset > w->in->file_size || size > w->in->file_size - offset)
            return ZMPI_ERR_CHECKSUM;
        zmpi_hash_begin(&state, 0);
        enum zmpi_status status = hash_range(w, &state, offset, size);
        if (status != ZMPI_OK)
            return status;
        if ((uint32_t)XXH3_64bits_digest(&state) != zmpi_load32(s->table + 8 * k + 4))
            return ZMPI_ERR_CHECKSUM;
        offset += size;
    }
    return ZMPI_OK;
}

/* Is the payload a stream of the right size with right checksums? */
static enum zmpi_status check_payload(struct window *w, const struct zmpi_record *r)
{
    const unsigned char *data;
    size_t at_hand, size;
    uint64_t offset = zmpi_record_payload(r);
    enum zmpi_status status = look(w, offset, ZMPI_STREAM_HEADER_BYTES, &data, &at_hand);
    if (status == ZMPI_OK)
        status = zmpi_stream_head_size(data, at_hand, &size);
    if (status != ZMPI_OK)
        return status;
    if (size > r->payload_length)
        return ZMPI_ERR_CORRUPT;
    unsigned char *head;
    status = load(w, offset, size, &head);
    if (status != ZMPI_OK)
        return status;
    struct zmpi_stream s;
    status = zmpi_stream_parse(&s, head, r->payload_length);
    if (status == ZMPI_OK &&
        (s.info.length != r->payload_length || s.info.decoded_bytes != r->extent.bytes))
        status = ZMPI_ERR_CORRUPT;
    if (status == ZMPI_OK)
        status = check_chunks(w, &s, offset + size);
    free(head);
    return status;
}

/* Reads the head at `offset`, which begins with the magic; its extents may be longer than the
 * window. */
static enum zmpi_status read_head(struct window *w, const unsigned char id[16], uint64_t offset,
                                  struct zmpi_record *r)
{
    const unsigned char *data;
    size_t size;
    uint64_t rest = w->in->file_size - offset;
    enum zmpi_status status = look(w, offset, ZMPI_RECORD_HEADER_BYTES, &data, &size);
    if (status != ZMPI_OK)
        return status;
    if (size < ZMPI_RECORD_HEADER_BYTES)
        return ZMPI_ERR_TRUNCATED;
    uint64_t head = ZMPI_RECORD_HEADER_BYTES + (uint64_t)zmpi_load32(data + 48);
    if (head > rest)
        return ZMPI_ERR_TRUNCATED;
    if (head <= WINDOW_BYTES) {
        status = look(w, offset, (size_t)head, &data, &size);
        return status == ZMPI_OK ? zmpi_record_decode(r, id, offset, data, size) : status;
    }
    unsigned char *copy;
    status = load(w, offset, (size_t)head, &copy);
    if (status != ZMPI_OK)
        return status;
    status = zmpi_record_decode(r, id, offset, copy, (size_t)head);
    free(copy);
    return status;
}

/* ---- the scan ---- */

struct scan {
    struct zmpi_container *c;
    struct window w;
    uint64_t at;                       /* where to look next */
    uint64_t damaged_to;               /* bytes before it already count as damaged */
    uint64_t futile;                   /* bytes checked in vain */
    uint64_t taken_to;                 /* the end of the last record */
    uint64_t rejected, rejected_bytes; /* where damage was counted last, and how much */
};

static void count_damage(struct scan *s, uint64_t size)
{
    s->rejected = s->at;
    s->rejected_bytes = 0;
    if (s->c->joined != 0) /* the records belong to another container */
        return;
    uint64_t rest = s->w.in->file_size - s->at;
    uint64_t begin = s->at > s->damaged_to ? s->at : s->damaged_to;
    uint64_t end = s->at + (size < rest ? size : rest);
    if (end > begin)
        s->rejected_bytes = end - begin;
    s->c->damaged += s->rejected_bytes;
    s->damaged_to = end > s->damaged_to ? end : s->damaged_to;
}

/* This is no record: continue 8 bytes further. `cost` bytes were examined in vain. */
static enum zmpi_status reject(struct scan *s, uint64_t damage, uint64_t cost)
{
    count_damage(s, damage);
    s->at += 8;
    s->futile += cost;
    return s->futile / FUTILE_FACTOR > s->w.in->file_size ? ZMPI_ERR_CORRUPT : ZMPI_OK;
}

/* Takes a record. It ends at `end`, with the copy of its head or its parity. */
static enum zmpi_status take(struct scan *s, const struct zmpi_record *r, uint64_t end)
{
    const uint64_t tally = zmpi_record_tally(r);
    s->c->found += tally;
    if (r->offset < s->c->header.index_offset)
        s->c->recovered += tally;
    s->at = s->taken_to = end;
    s->c->joined = 0; /* what looked like a record was part of damaged data */
    s->c->scanned++;
    return zmpi_container_add(s->c, r);
}

static enum zmpi_status try_record(struct scan *s)
{
    struct zmpi_record r;
    uint64_t rest = s->w.in->file_size - s->at;
    enum zmpi_status status = read_head(&s->w, s->c->header.id, s->at, &r);
    if (is_fatal(status))
        return status;
    if (status != ZMPI_OK) {
        const unsigned char *data;
        size_t size;
        status = look(&s->w, s->at, ZMPI_RECORD_HEADER_BYTES, &data, &size);
        uint64_t extents = size < ZMPI_RECORD_HEADER_BYTES ? 0 : zmpi_load32(data + 48);
        return status != ZMPI_OK
                   ? status
                   : reject(s, ZMPI_RECORD_HEADER_BYTES, extents < rest ? extents : 0);
    }
    uint64_t total = zmpi_record_size(&r);
    const bool salvage = s->w.in->losses != NULL; /* salvage takes the record's good chunks */
    if (total > rest && (!salvage || total - rest > ZMPI_SALVAGE_CUT_MOST))
        return reject(s, total, 0);
    if (r.kind == ZMPI_RECORD_DATA && !salvage) {
        status = check_payload(&s->w, &r);
        if (is_fatal(status))
            return status;
        if (status != ZMPI_OK)
            return reject(s, total, total);
    }
    return take(s, &r, s->at + (total < rest ? total : rest));
}

/* If a sector of the head at `place` is damaged, restores the head from the copy at s->at or from
 * the parity there, `size` bytes. *head is malloc'ed. */
static enum zmpi_status load_head(struct scan *s, uint64_t place, size_t size, bool is_parity,
                                  size_t head_size, unsigned char **head)
{
    unsigned char *spare = NULL;
    enum zmpi_status status = load(&s->w, s->at, size, &spare);
    if (status != ZMPI_OK || !is_parity) {
        *head = spare;
        return status != ZMPI_OK || zmpi_record_from_copy(spare) ? status : ZMPI_ERR_FORMAT;
    }
    status =
        zmpi_record_is_parity(spare, size) ? load(&s->w, place, head_size, head) : ZMPI_ERR_FORMAT;
    if (status == ZMPI_OK && !zmpi_record_from_parity(place, spare, *head))
        status = ZMPI_ERR_CHECKSUM;
    free(spare);
    return status;
}

/* Reads what is at s->at as the head of the record before it, and checks that. */
static enum zmpi_status read_copy(struct scan *s, uint64_t place, size_t size, bool is_parity,
                                  size_t head_size, struct zmpi_record *r)
{
    unsigned char *head = NULL;
    enum zmpi_status status = load_head(s, place, size, is_parity, head_size, &head);
    if (status == ZMPI_OK)
        status = zmpi_record_decode(r, s->c->header.id, place, head, head_size);
    free(head);
    if (status == ZMPI_OK && r->extent.levels != ZMPI_EXTENT_LIST)
        status = ZMPI_ERR_CORRUPT;
    return status == ZMPI_OK && s->w.in->losses == NULL ? check_payload(&s->w, r) : status;
}

/* A copy of a head, or parity, is found. If the head is damaged, the record was not taken; this
 * restores it. */
static enum zmpi_status try_copy(struct scan *s, bool is_parity)
{
    const unsigned char *data;
    struct zmpi_record r = {.extent.levels = ZMPI_EXTENT_LIST};
    size_t size;
    const uint64_t at = s->at, rest = s->w.in->file_size - at;
    enum zmpi_status status = look(&s->w, at, ZMPI_RECORD_HEADER_BYTES, &data, &size);
    if (status != ZMPI_OK)
        return status;
    const uint64_t payload = size < ZMPI_RECORD_HEADER_BYTES ? at : zmpi_load64(data + 40);
    r.extents_length = size < ZMPI_RECORD_HEADER_BYTES ? UINT32_MAX : zmpi_load32(data + 48);
    const uint64_t head = zmpi_record_head_size(&r);
    const uint64_t spare = is_parity ? zmpi_record_parity_size(&r) : head;
    s->at += 8;
    if (spare > rest || payload >= at || head + zmpi_pad8(payload) > at - s->taken_to)
        return ZMPI_OK;
    const uint64_t place = at - zmpi_pad8(payload) - head;
    s->at = at;
    status = read_copy(s, place, (size_t)spare, is_parity, (size_t)head, &r);
    if (is_fatal(status))
        return status;
    if (status != ZMPI_OK)
        return reject(s, 0, head + payload);
    if (s->rejected == place)
        s->c->damaged -= s->rejected_bytes;
    s->c->mended++;
    return take(s, &r, at + spare);
}

/* Skips an intact segment or directory of an index; its entries are not used. */
static enum zmpi_status try_segment(struct scan *s)
{
    const unsigned char *data;
    size_t size;
    uint64_t rest = s->w.in->file_size - s->at;
    enum zmpi_status status = look(&s->w, s->at, ZMPI_SEGMENT_HEADER_BYTES, &data, &size);
    if (status != ZMPI_OK)
        return status;
    uint64_t length = size < ZMPI_SEGMENT_HEADER_BYTES ? UINT64_MAX : zmpi_load64(data + 8);
    if (length > rest || ZMPI_SEGMENT_HEADER_BYTES + zmpi_pad8(length) > rest)
        return reject(s, 0, 0);
    uint64_t checksum = zmpi_load64(data + 16);
    const bool is_directory = zmpi_load32(data) == ZMPI_DIRECTORY_MAGIC;
    XXH3_state_t state;
    zmpi_hash_begin(&state, zmpi_seed(s->c->header.id, s->at));
    XXH3_64bits_update(&state, data, 16);
    status = hash_range(&s->w, &state, s->at + ZMPI_SEGMENT_HEADER_BYTES, length);
    if (status != ZMPI_OK)
        return status;
    if (XXH3_64bits_digest(&state) != checksum)
        return reject(s, 0, length);
    if (is_directory)
        s->c->found_indexed = s->c->found;
    s->at += ZMPI_SEGMENT_HEADER_BYTES + zmpi_pad8(length);
    s->c->joined = 0;
    return ZMPI_OK;
}

/* Skips space that was given back to the file system. */
static void skip_hole(struct scan *s)
{
    const struct zmpi_reader *in = s->w.in;
    if (in->data_at == NULL || s->at < s->w.begin + s->w.size)
        return;
    uint64_t next = in->data_at(in->context, s->at) & ~(uint64_t)7;
    if (next > s->at)
        s->at = next < in->file_size ? next : in->file_size;
}

/* Looks for another container's header in `size` bytes that the scan skips. Files may have been
 * joined (cat). */
static enum zmpi_status look_for_header(struct scan *s, const unsigned char *data, size_t size)
{
    const unsigned char *end = data + size;
    for (const unsigned char *p = data; (p = memchr(p, 0x89, (size_t)(end - p))) != NULL; p++) {
        unsigned char header[ZMPI_HEADER_BYTES];
        struct zmpi_header h;
        const struct zmpi_reader *in = s->w.in;
        const uint64_t offset = s->at + (uint64_t)(p - data);
        if (s->c->joined != 0 || in->file_size - offset < sizeof header ||
            !zmpi_is_container(p, (size_t)(end - p)))
            continue;
        enum zmpi_status status = in->read(in->context, offset, header, sizeof header);
        if (status != ZMPI_OK)
            return status;
        if (zmpi_header_decode(&h, header) == ZMPI_OK)
            s->c->joined = offset;
        else
            s->futile += sizeof header;
    }
    return ZMPI_OK;
}

/* Moves to the next multiple of 8 with one of the magic numbers, or to the end of the buffer. */
static enum zmpi_status advance(struct scan *s, uint32_t *magic)
{
    const unsigned char *data;
    size_t size, i = 0;
    *magic = 0;
    skip_hole(s);
    enum zmpi_status status = look(&s->w, s->at, 8, &data, &size);
    if (status != ZMPI_OK)
        return status;
    for (; size - i >= 8; i += 8) {
        *magic = zmpi_load32(data + i);
        if (*magic == ZMPI_RECORD_MAGIC || *magic == ZMPI_COPY_MAGIC ||
            *magic == ZMPI_PARITY_MAGIC || *magic == ZMPI_SEGMENT_MAGIC ||
            *magic == ZMPI_DIRECTORY_MAGIC)
            break;
        *magic = 0;
    }
    /* The header's magic may lie at any byte: the file before it may have been cut off. */
    status = look_for_header(s, data, i + 16 < size ? i + 16 : size);
    s->at += i;
    return status;
}

enum zmpi_status zmpi_container_scan_from(struct zmpi_container *c, const struct zmpi_reader *in,
                                          uint64_t from)
{
    struct scan s = {.c = c, .w = {.in = in}, .at = zmpi_pad8(from), .taken_to = zmpi_pad8(from)};
    if (s.at >= in->file_size)
        return ZMPI_OK;
    uint64_t rest = in->file_size - s.at;
    s.w.capacity = rest < WINDOW_BYTES ? (size_t)rest : WINDOW_BYTES;
    s.w.data = malloc(s.w.capacity);
    if (s.w.data == NULL)
        return ZMPI_ERR_MEMORY;
    enum zmpi_status status = ZMPI_OK;
    while (status == ZMPI_OK && s.at < in->file_size && in->file_size - s.at >= 8) {
        uint32_t magic;
        status = advance(&s, &magic);
        if (status != ZMPI_OK)
            break;
        if (magic == ZMPI_RECORD_MAGIC)
            status = try_record(&s);
        else if (magic == ZMPI_COPY_MAGIC || magic == ZMPI_PARITY_MAGIC)
            status = try_copy(&s, magic == ZMPI_PARITY_MAGIC);
        else if (magic != 0)
            status = try_segment(&s);
    }
    free(s.w.data);
    return status;
}
