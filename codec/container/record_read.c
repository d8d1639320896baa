/*
 * record_read.c - reads the wanted bytes of one record. It reads and decodes only the chunks that
 * hold them.
 */
#include <stdlib.h>
#include <string.h>

#include "container/container_private.h"
#include "enhance/enhance.h"

/* The first read takes head, chunk table and payload up to here. Later reads join pieces whose gap
 * is smaller. */
#define FIRST_BYTES 65536
#define GAP_BYTES   16384
#define SECTOR      512
/* If threads may read by themselves, a larger payload is not read in one piece. */
#define LEFT_BYTES 262144

static enum zmpi_status fetch(const struct zmpi_payload *p, size_t begin, size_t end)
{
    if (begin >= end)
        return ZMPI_OK;
    return p->in->read(p->in->context, p->offset + begin, p->data + begin, end - begin);
}

/* The head in the file must be the one that the index promised. Otherwise something else has
 * overwritten it. */
static enum zmpi_status check_head(const struct zmpi_record *r, const unsigned char id[16],
                                   const unsigned char *head, size_t size)
{
    struct zmpi_record found;
    enum zmpi_status status = zmpi_record_decode(&found, id, r->offset, head, size);
    if (status != ZMPI_OK)
        return status == ZMPI_ERR_CORRUPT ? status : ZMPI_ERR_CHECKSUM;
    return zmpi_record_same(&found, r) ? ZMPI_OK : ZMPI_ERR_CORRUPT;
}

/* Loads a head, or its copy at `place`, as it would be at the record's own offset; *head is
 * malloc'ed. */
static enum zmpi_status load_head(const struct zmpi_record *r, const unsigned char id[16],
                                  const struct zmpi_reader *in, uint64_t place,
                                  unsigned char **head)
{
    const size_t size = zmpi_record_head_size(r);
    if (!zmpi_fits(place, size, in->file_size))
        return ZMPI_ERR_TRUNCATED;
    unsigned char *bytes = malloc(size);
    if (bytes == NULL)
        return ZMPI_ERR_MEMORY;
    enum zmpi_status status = in->read(in->context, place, bytes, size);
    if (status == ZMPI_OK && place != r->offset && !zmpi_record_from_copy(bytes))
        status = ZMPI_ERR_CHECKSUM;
    if (status == ZMPI_OK)
        status = check_head(r, id, bytes, size);
    if (status == ZMPI_OK)
        *head = bytes;
    else
        free(bytes);
    return status;
}

/* Reads a head, with zeros for the sectors that cannot be read. */
static enum zmpi_status read_sectors(const struct zmpi_reader *in, uint64_t offset,
                                     unsigned char *dst, size_t size)
{
    enum zmpi_status status = in->read(in->context, offset, dst, size);
    for (size_t at = 0, n; at < size && status == ZMPI_ERR_IO; at += n) {
        n = SECTOR - (size_t)((offset + at) % SECTOR);
        n = size - at < n ? size - at : n;
        if (in->read(in->context, offset + at, dst + at, n) != ZMPI_OK)
            memset(dst + at, 0, n);
    }
    return status == ZMPI_ERR_IO ? ZMPI_OK : status;
}

/* Loads the head from the file and restores one damaged sector by the parity of its list. */
static enum zmpi_status load_by_parity(const struct zmpi_record *r, const unsigned char id[16],
                                       const struct zmpi_reader *in, unsigned char **head)
{
    const size_t size = zmpi_record_head_size(r), more = zmpi_record_parity_size(r);
    const uint64_t place = r->offset + zmpi_record_size(r);
    if (!zmpi_fits(place, more, in->file_size))
        return ZMPI_ERR_TRUNCATED;
    unsigned char *bytes = malloc(size + more);
    if (bytes == NULL)
        return ZMPI_ERR_MEMORY;
    enum zmpi_status status = in->read(in->context, place, bytes + size, more);
    if (status == ZMPI_OK && !zmpi_record_is_parity(bytes + size, more))
        status = ZMPI_ERR_CHECKSUM;
    if (status == ZMPI_OK)
        status = read_sectors(in, r->offset, bytes, size);
    if (status == ZMPI_OK && !zmpi_record_from_parity(r->offset, bytes + size, bytes))
        status = ZMPI_ERR_CHECKSUM;
    if (status == ZMPI_OK)
        status = check_head(r, id, bytes, size);
    if (status == ZMPI_OK)
        *head = bytes;
    else
        free(bytes);
    return status;
}

/* Loads the head of a record with a list from the copy behind the record. */
static enum zmpi_status load_spare(const struct zmpi_record *r, const unsigned char id[16],
                                   const struct zmpi_reader *in, unsigned char **head)
{
    const enum zmpi_status status = load_head(r, id, in, r->offset + zmpi_record_size(r), head);
    return status == ZMPI_OK || status == ZMPI_ERR_MEMORY ? status
                                                          : load_by_parity(r, id, in, head);
}

enum zmpi_status zmpi_record_load_list(struct zmpi_record *r, const unsigned char id[16],
                                       const struct zmpi_reader *in)
{
    unsigned char *head;
    enum zmpi_status status = ZMPI_ERR_TRUNCATED;
    if (zmpi_fits(r->offset, zmpi_record_size(r), in->file_size))
        status = load_head(r, id, in, r->offset, &head);
    if (status != ZMPI_OK && status != ZMPI_ERR_MEMORY) {
        /* If the head cannot be restored, its own error is reported. */
        const enum zmpi_status spare = load_spare(r, id, in, &head);
        status = spare == ZMPI_OK || spare == ZMPI_ERR_MEMORY ? spare : status;
    }
    if (status != ZMPI_OK)
        return status;
    status =
        zmpi_extent_list_decode(&r->extent, head + ZMPI_RECORD_HEADER_BYTES, r->extents_length);
    free(head);
    return status;
}

enum zmpi_status zmpi_record_mend(const struct zmpi_record *r, const unsigned char id[16],
                                  const struct zmpi_reader *in, unsigned char **head)
{
    *head = NULL;
    if (r->extent.levels != ZMPI_EXTENT_LIST)
        return ZMPI_OK;
    enum zmpi_status status = load_head(r, id, in, r->offset, head);
    if (status == ZMPI_OK) {
        free(*head);
        *head = NULL;
    } else if (status != ZMPI_ERR_MEMORY) {
        status = load_spare(r, id, in, head);
    }
    return status == ZMPI_ERR_MEMORY ? status : ZMPI_OK;
}

size_t zmpi_record_copied(const struct zmpi_record *r, const unsigned char id[16],
                          const struct zmpi_reader *in)
{
    unsigned char *head;
    if (r->extent.levels != ZMPI_EXTENT_LIST)
        return 0;
    const enum zmpi_status copy = load_head(r, id, in, r->offset + zmpi_record_size(r), &head);
    if (copy != ZMPI_OK && load_by_parity(r, id, in, &head) != ZMPI_OK)
        return 0;
    free(head);
    return copy == ZMPI_OK ? zmpi_record_head_size(r) : zmpi_record_parity_size(r);
}

/*
 * The first read. A head without a list is read along with it and checked, which costs nothing. A
 * head with a list was checked when the list was loaded.
 */
static enum zmpi_status begin_payload(struct zmpi_payload *p, const struct zmpi_record *r,
                                      const unsigned char id[16], unsigned char *buffer)
{
    bool with_head = r->extent.levels != ZMPI_EXTENT_LIST;
    size_t head = zmpi_record_head_size(r);
    p->offset = zmpi_record_payload(r);
    p->length = r->payload_length;
    p->have = p->length < FIRST_BYTES ? p->length : FIRST_BYTES;
    p->data = with_head ? buffer + head : buffer;
    if (!with_head)
        return fetch(p, 0, p->have);
    enum zmpi_status status = p->in->read(p->in->context, r->offset, buffer, head + p->have);
    return status == ZMPI_OK ? check_head(r, id, buffer, head) : status;
}

/* Reads header and chunk table. The stream must match the record's head. */
static enum zmpi_status parse_payload(struct zmpi_payload *p, const struct zmpi_record *r,
                                      struct zmpi_stream *s)
{
    size_t head;
    enum zmpi_status status = zmpi_stream_head_size(p->data, p->length, &head);
    if (status != ZMPI_OK)
        return status;
    if (head > p->length)
        return ZMPI_ERR_CORRUPT;
    if (head > p->have) {
        status = fetch(p, p->have, head);
        p->have = head;
    }
    if (status == ZMPI_OK)
        status = zmpi_stream_parse(s, p->data, p->length);
    if (status != ZMPI_OK)
        return status;
    return s->info.length == p->length && s->info.decoded_bytes == r->extent.bytes
               ? ZMPI_OK
               : ZMPI_ERR_CORRUPT;
}

static void mark(const struct zmpi_stream *s, const struct zmpi_copy *copies, size_t n,
                 unsigned char *need)
{
    for (size_t i = 0; i < n;) {
        uint64_t begin = copies[i].from, end = begin + copies[i].length;
        for (i++; i < n && copies[i].from == end; i++)
            end += copies[i].length;
        zmpi_stream_mark(s, begin, end, need);
    }
}

static size_t chunk_size(const struct zmpi_stream *s, size_t k)
{
    return zmpi_load32(s->table + 8 * k);
}

/* Bytes of needed chunks that are not in memory yet. */
static size_t missing(const struct zmpi_payload *p, const struct zmpi_stream *s,
                      const unsigned char *need, size_t begin)
{
    size_t bytes = 0;
    for (size_t k = 0; k < s->info.chunks; k++) {
        size_t end = begin + chunk_size(s, k);
        if ((need == NULL || need[k]) && end > p->have)
            bytes += end - begin;
        begin = end;
    }
    return bytes;
}

enum zmpi_status zmpi_payload_fetch(const struct zmpi_payload *p, const struct zmpi_stream *s,
                                    const unsigned char *need)
{
    size_t begin = s->head;
    if (zmpi_offload_whole(s, need) || missing(p, s, need, begin) > (p->length - p->have) / 2)
        return fetch(p, p->have, p->length);
    size_t from = p->have, to = p->have; /* the piece that the next read takes */
    for (size_t k = 0; k < s->info.chunks; k++) {
        size_t end = begin + chunk_size(s, k);
        if (need[k] && end > to) {
            size_t first = begin > p->have ? begin : p->have;
            if (first - to > GAP_BYTES || from == to) {
                enum zmpi_status status = fetch(p, from, to);
                if (status != ZMPI_OK)
                    return status;
                from = first;
            }
            to = end;
        }
        begin = end;
    }
    return fetch(p, from, to);
}

/* How many of the n copies are rows at equal distances on both sides. *box describes them. */
static size_t rows_of(const struct zmpi_copy *c, size_t n, struct zmpi_box *box)
{
    size_t rows = 1;
    *box = (struct zmpi_box){c[0].length, 1, 1, c[0].length, c[0].length, c[0].length, c[0].length};
    if (n > 1 && c[1].from > c[0].from && c[1].to > c[0].to) {
        box->src_row = c[1].from - c[0].from;
        box->dst_row = c[1].to - c[0].to;
    }
    while (rows < n && c[rows].length == c[0].length &&
           c[rows].from == c[0].from + rows * box->src_row &&
           c[rows].to == c[0].to + rows * box->dst_row)
        rows++;
    box->rows = rows;
    return rows;
}

/* Copies from a decoded array, in the host's memory or the holder's, to the destination. */
static enum zmpi_status place(const struct zmpi_device *holder, const unsigned char *array,
                              const struct zmpi_copy *copies, size_t n, unsigned char *dst)
{
    enum zmpi_status status = ZMPI_OK;
    if (holder == NULL) {
        for (size_t i = 0; i < n; i++)
            memcpy(dst + copies[i].to, array + copies[i].from, copies[i].length);
        return ZMPI_OK;
    }
    for (size_t i = 0, rows; i < n && status == ZMPI_OK; i += rows) {
        struct zmpi_box box;
        rows = rows_of(copies + i, n - i, &box);
        status = holder->copy(dst + copies[i].to, array + copies[i].from, &box);
    }
    return status;
}

/* Reads the whole stream to the device's memory and decodes it to its destination. ZMPI_ERR_MEMORY:
 * the device has no space, and nothing was done. */
static enum zmpi_status decode_there(const struct zmpi_reader *in, const struct zmpi_stream *s,
                                     const struct zmpi_copy *copies, size_t n, int threads,
                                     unsigned char *dst)
{
    unsigned char *array = in->holder->take(dst, s->info.decoded_bytes);
    if (array == NULL)
        return ZMPI_ERR_MEMORY;
    enum zmpi_status status = zmpi_offload_decompress(
        in->offload, in->holder, array, s->info.decoded_bytes, s->src, s->info.length, threads);
    if (status == ZMPI_OK)
        status = place(in->holder, array, copies, n, dst);
    in->holder->give(array);
    return status;
}

static enum zmpi_status decode(const struct zmpi_reader *in, const struct zmpi_stream *s,
                               const unsigned char *need, const struct zmpi_copy *copies, size_t n,
                               unsigned char *dst)
{
    const int threads = in->threads > 1 ? in->threads : 1;
    /* If the destination's own device cannot decode to it, no device can. */
    struct zmpi_offload *o = in->holder == NULL ? in->offload : NULL;
    enum zmpi_status status = ZMPI_ERR_MEMORY;
    if (n == 1 && copies[0].length == s->info.decoded_bytes && in->holder != NULL)
        return zmpi_offload_decompress(in->offload, in->holder, dst + copies[0].to,
                                       copies[0].length, s->src, s->info.length, threads);
    if (n == 1 && copies[0].length == s->info.decoded_bytes)
        return zmpi_offload_decode(o, s, NULL, threads, dst + copies[0].to);
    if (need == NULL && in->holder != NULL)
        status = decode_there(in, s, copies, n, threads, dst);
    if (status != ZMPI_ERR_MEMORY)
        return status;
    if (in->holder == NULL && o == NULL)
        return zmpi_stream_copy(s, need, threads, copies, n, dst);
    /* Untouched pages of a large allocation cost nothing, so that chunks may go to their own
     * places. */
    unsigned char *array = malloc(s->info.decoded_bytes);
    if (array == NULL)
        return ZMPI_ERR_MEMORY;
    status = zmpi_offload_decode(o, s, need, threads, array);
    if (status == ZMPI_OK)
        status = place(in->holder, array, copies, n, dst);
    free(array);
    return status;
}

enum zmpi_status zmpi_payload_open(struct zmpi_payload *p, const struct zmpi_record *r,
                                   const unsigned char id[16], const struct zmpi_reader *in,
                                   struct zmpi_stream *s)
{
    *p = (struct zmpi_payload){.in = in};
    if (!zmpi_fits(r->offset, zmpi_record_size(r), in->file_size))
        return ZMPI_ERR_TRUNCATED;
    p->buffer = malloc(ZMPI_RECORD_HEADER_BYTES + ZMPI_EXTENTS_MAX_NEST + r->payload_length);
    if (p->buffer == NULL)
        return ZMPI_ERR_MEMORY;
    enum zmpi_status status = begin_payload(p, r, id, p->buffer);
    if (status != ZMPI_OK)
        return status;
    status = parse_payload(p, r, s);
    return status == ZMPI_OK && in->enhancer ? zmpi_enhancer_find(in->enhancer, s, &s->enhanced)
                                             : status;
}

static enum zmpi_status read_payload(const void *context, size_t begin, void *dst, size_t size)
{
    const struct zmpi_payload *p = context;
    return p->in->read(p->in->context, p->offset + begin, dst, size);
}

/*
 * Should the payload stay in the file, for decoding threads to read piece by piece? Small pieces
 * stay in these threads' caches, and threads read at the same time. Reading the whole payload first
 * would need new pages, which take longer than decoding.
 */
static bool is_left(const struct zmpi_payload *p, const struct zmpi_stream *s,
                    const unsigned char *need)
{
    const struct zmpi_reader *in = p->in;
    if (!in->parallel || in->holder != NULL || in->offload != NULL)
        return false;
    return missing(p, s, need, s->head) > LEFT_BYTES;
}

/* `left`: without asking. */
static enum zmpi_status read_stream(const struct zmpi_payload *p, struct zmpi_stream *s, bool left,
                                    const struct zmpi_copy *copies, size_t n, unsigned char *dst)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += copies[i].length;
    unsigned char *need = NULL; /* all */
    if (bytes < s->info.decoded_bytes) {
        need = calloc(s->info.chunks, 1);
        if (need == NULL)
            return ZMPI_ERR_MEMORY;
        mark(s, copies, n, need);
    }
    enum zmpi_status status = ZMPI_OK;
    if (left || is_left(p, s, need)) {
        s->read = read_payload;
        s->context = p;
    } else {
        status = zmpi_payload_fetch(p, s, need);
    }
    if (status == ZMPI_OK)
        status = decode(p->in, s, need, copies, n, dst);
    free(need);
    return status;
}

static const struct zmpi_opened_record *find_opened(const struct zmpi_opened *o,
                                                    const struct zmpi_record *r)
{
    for (size_t i = 0; o && i < sizeof o->of / sizeof *o->of; i++)
        if (o->of[i].head && zmpi_record_same(&o->of[i].record, r))
            return &o->of[i];
    return NULL;
}

static enum zmpi_status read_opened(const struct zmpi_opened_record *o,
                                    const struct zmpi_reader *in, const struct zmpi_copy *copies,
                                    size_t n, unsigned char *dst)
{
    const struct zmpi_payload p = {
        .in = in, .offset = zmpi_record_payload(&o->record), .length = o->record.payload_length};
    struct zmpi_stream s = o->stream;
    return read_stream(&p, &s, true, copies, n, dst);
}

/* Keeps what p has in front of the chunks; without memory nothing. */
static void keep(struct zmpi_opened *opened, const struct zmpi_record *r,
                 const struct zmpi_payload *p, const struct zmpi_stream *s)
{
    struct zmpi_opened_record *o = &opened->of[opened->next];
    unsigned char *head = malloc(s->head);
    if (head == NULL)
        return;
    memcpy(head, p->data, s->head);
    free(o->head);
    *o = (struct zmpi_opened_record){.record = *r, .stream = *s, .head = head};
    o->stream.src = head;
    o->stream.table = head + (s->table - p->data);
    o->stream.books = head + (s->books - p->data);
    opened->next = (opened->next + 1) % (sizeof opened->of / sizeof *opened->of);
}

void zmpi_opened_free(struct zmpi_opened *o)
{
    for (size_t i = 0; i < sizeof o->of / sizeof *o->of; i++)
        free(o->of[i].head);
    *o = (struct zmpi_opened){0};
}

enum zmpi_status zmpi_record_read(const struct zmpi_record *r, const unsigned char id[16],
                                  const struct zmpi_reader *in, const struct zmpi_copy *copies,
                                  size_t n, unsigned char *dst)
{
    struct zmpi_payload p;
    struct zmpi_stream s;
    const struct zmpi_opened_record *o = find_opened(in->opened, r);
    if (o != NULL)
        return read_opened(o, in, copies, n, dst);
    enum zmpi_status status = zmpi_payload_open(&p, r, id, in, &s);
    if (status == ZMPI_OK)
        status = read_stream(&p, &s, false, copies, n, dst);
    if (in->opened != NULL && status == ZMPI_OK && s.info.length > FIRST_BYTES)
        keep(in->opened, r, &p, &s);
    free(p.buffer);
    /* The file is a container in any case: an error here means damage, not another format. */
    return status == ZMPI_ERR_FORMAT ? ZMPI_ERR_CORRUPT : status;
}
