/*
 * headless.c - a container whose header is lost.
 *
 * The header has the file id, with which the checksums of records' heads are made. Without it, a
 * record is taken if its head is consistent and its payload is a stream of exactly these sizes with
 * a right checksum. A reader on top of the file then shows a header whose id is zeros, and heads
 * that fit this id. So all other code works as with any container.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "layout/stream.h"
#include "tool.h"

#define WINDOW   ((size_t)1 << 20)
#define CHECKSUM 56 /* of a record's head */

struct patch {
    uint64_t offset;
    unsigned char bytes[8];
};

struct tool_headless {
    struct tool_input *in;
    struct zmpi_reader below;
    unsigned char header[ZMPI_HEADER_BYTES];
    struct patch *patch; /* sorted by place */
    size_t count, capacity;
};

static const unsigned char no_id[16];

/* Copies the part of [at, at + size) that src holds at `offset` to dst. */
static void lay_over(unsigned char *dst, uint64_t at, size_t size, const unsigned char *src,
                     uint64_t offset, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (offset + i >= at && offset + i - at < size)
            dst[offset + i - at] = src[i];
}

static enum zmpi_status read_over(void *context, uint64_t offset, void *dst, size_t size)
{
    const struct tool_headless *h = context;
    size_t first = 0, last = h->count;
    enum zmpi_status status = h->below.read(h->below.context, offset, dst, size);
    if (status)
        return status;
    if (offset < sizeof h->header)
        lay_over(dst, offset, size, h->header, 0, sizeof h->header);
    while (first < last) {
        const size_t middle = first + (last - first) / 2;
        if (h->patch[middle].offset + 8 > offset)
            last = middle;
        else
            first = middle + 1;
    }
    for (; first < h->count && h->patch[first].offset < offset + size; first++)
        lay_over(dst, offset, size, h->patch[first].bytes, h->patch[first].offset, 8);
    return ZMPI_OK;
}

static uint64_t data_below(void *context, uint64_t offset)
{
    const struct tool_headless *h = context;
    return h->below.data_at ? h->below.data_at(h->below.context, offset) : offset;
}

static bool add(struct tool_headless *h, uint64_t offset, const unsigned char *head)
{
    if (h->count == h->capacity) {
        const size_t capacity = 2 * h->capacity + 64;
        struct patch *grown = realloc(h->patch, capacity * sizeof *grown);
        if (!grown)
            return false;
        h->patch = grown;
        h->capacity = capacity;
    }
    h->patch[h->count].offset = offset + CHECKSUM;
    memcpy(h->patch[h->count++].bytes, head + CHECKSUM, 8);
    return true;
}

/* Reads bytes of the file to new memory; NULL: the file or memory lacks them. */
static unsigned char *load(const struct tool_headless *h, uint64_t offset, uint64_t size)
{
    if (offset > h->in->physical || size > h->in->physical - offset)
        return NULL;
    unsigned char *bytes = malloc((size_t)size + 1);
    if (bytes && h->below.read(h->below.context, offset, bytes, (size_t)size)) {
        free(bytes);
        bytes = NULL;
    }
    return bytes;
}

/* Is the payload a stream of the sizes that the head gives? Chunks are checked later. */
static bool has_stream(const struct tool_headless *h, const struct zmpi_record *r)
{
    struct zmpi_stream s;
    size_t size = 0;
    unsigned char *head = load(h, zmpi_record_payload(r), ZMPI_STREAM_HEADER_BYTES);
    bool right = head && !zmpi_stream_head_size(head, ZMPI_STREAM_HEADER_BYTES, &size) &&
                 size <= r->payload_length;
    free(head);
    if (!right)
        return false;
    head = load(h, zmpi_record_payload(r), size);
    right = head && !zmpi_stream_parse(&s, head, (size_t)r->payload_length) &&
            s.info.decoded_bytes == r->extent.bytes;
    free(head);
    return right;
}

/* Takes the record at `offset`, which begins with the magic. Returns its bytes; 0: it is no
 * record. */
static uint64_t take(struct tool_headless *h, uint64_t offset)
{
    struct zmpi_record r;
    uint64_t size = 0;
    unsigned char *head = load(h, offset, ZMPI_RECORD_HEADER_BYTES);
    const uint64_t length = head ? ZMPI_RECORD_HEADER_BYTES + zmpi_load32(head + 48) : 0;
    free(head);
    head = length ? load(h, offset, length) : NULL;
    if (!head)
        return 0;
    zmpi_record_rebind(head, no_id, offset);
    bool right = !zmpi_record_decode(&r, no_id, offset, head, (size_t)length);
    if (right && r.extent.levels == ZMPI_EXTENT_LIST) {
        right =
            !zmpi_extent_list_decode(&r.extent, head + ZMPI_RECORD_HEADER_BYTES, r.extents_length);
        zmpi_extent_free(&r.extent);
    }
    if (right && (r.kind == ZMPI_RECORD_SIZE || has_stream(h, &r)) && add(h, offset, head))
        size = zmpi_record_size(&r);
    free(head);
    return size;
}

static void find_records(struct tool_headless *h)
{
    unsigned char *window = malloc(WINDOW);
    uint64_t at = ZMPI_HEADER_BYTES;
    while (window && at + ZMPI_RECORD_HEADER_BYTES <= h->in->physical) {
        const uint64_t data = data_below(h, at) & ~(uint64_t)7, rest = h->in->physical - at;
        const size_t size = rest < WINDOW ? (size_t)rest : WINDOW;
        if (data > at) {
            at = data;
            continue;
        }
        if (h->below.read(h->below.context, at, window, size))
            memset(window, 0, size); /* continue behind it */
        uint64_t taken = 0;
        size_t i = 0;
        for (; i + 8 <= size && !taken; i += taken ? 0 : 8)
            if (memcmp(window + i, "ZREC", 4) == 0)
                taken = take(h, at + i);
        at += i + taken;
        if (!taken && size < WINDOW)
            break;
    }
    free(window);
}

struct tool_headless *tool_headless_open(struct tool_input *in)
{
    struct tool_headless *h = calloc(1, sizeof *h);
    const struct zmpi_header header = {.generation = 1, .log_end = ZMPI_HEADER_BYTES};
    if (!h)
        return NULL;
    h->in = in;
    h->below = in->reader;
    zmpi_header_put(&header, h->header);
    find_records(h);
    if (!h->count) {
        tool_headless_close(h);
        return NULL;
    }
    in->reader.read = read_over;
    in->reader.data_at = data_below;
    in->reader.context = h;
    return h;
}

void tool_headless_close(struct tool_headless *h)
{
    if (h)
        free(h->patch);
    free(h);
}
