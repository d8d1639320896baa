/*
 * container_components.c - records that are the interleaved components of one piece of a write
 * call, read together: their elements take turns in the file, and one after the other would cost a
 * search for each of them.
 */
#include <stdlib.h>
#include <string.h>

#include "container/container_private.h"
#include "judge/components.h"

/* Decoded data that are kept until they are interleaved, and stretches of a request among them. */
#define TILE_BYTES  ((size_t)2 << 20)
#define TILE_LEAST  4096 /* points */
#define WHOLE_BYTES ((size_t)8 << 20)
#define STRETCHES   256
#define CHUNKS      4
#define CHUNK_MOST  262144 /* elements (format.md 1.1) */
#define APART       16     /* elements between components, whose distance is no power of two then */
#define MOST        64     /* components */

static bool is_next(const struct zmpi_extent *a, const struct zmpi_extent *b)
{
    if (b->levels != a->levels || b->run != a->run || b->lo + a->run != a->lo)
        return false;
    for (unsigned i = 0; i < a->levels; i++)
        if (b->count[i] != a->count[i] || b->stride[i] != a->stride[i])
            return false;
    return true;
}

size_t zmpi_components_group(const struct zmpi_found *found, size_t count, struct zmpi_extent *all)
{
    const struct zmpi_extent *e = &found->record.extent;
    if (e->levels < 1 || e->levels > ZMPI_EXTENT_LEVELS || (e->run != 4 && e->run != 8) ||
        e->stride[0] % e->run)
        return 1;
    const uint64_t n = e->stride[0] / e->run;
    if (n < 2 || n > MOST || n > count || e->lo < (n - 1) * e->run)
        return 1;
    for (size_t k = 0; k < n; k++)
        if (found[k].cut < found[k].record.extent.hi ||
            (k > 0 && !is_next(&found[k - 1].record.extent, &found[k].record.extent)))
            return 1;
    *all = (struct zmpi_extent){.lo = found[n - 1].record.extent.lo,
                                .run = e->stride[0] * e->count[0],
                                .levels = e->levels - 1};
    memcpy(all->count, e->count + 1, all->levels * sizeof *all->count);
    memcpy(all->stride, e->stride + 1, all->levels * sizeof *all->stride);
    return zmpi_extent_close(all) == ZMPI_OK ? (size_t)n : 1;
}

enum zmpi_status zmpi_components_copies(const struct zmpi_copy *copies, size_t count, size_t n,
                                        size_t c, size_t width, struct zmpi_copy **of, size_t *many)
{
    const uint64_t stride = n * width;
    size_t room = 0;
    *many = 0;
    for (size_t i = 0; i < count; i++)
        room += (size_t)(copies[i].length / stride) + 2;
    *of = malloc(room * sizeof **of);
    if (*of == NULL)
        return ZMPI_ERR_MEMORY;
    for (size_t i = 0; i < count; i++) {
        const uint64_t from = copies[i].from, end = from + copies[i].length;
        for (uint64_t p = from / stride; p * stride < end; p++) {
            uint64_t lo = p * stride + c * width, hi = lo + width;
            const uint64_t first = lo;
            lo = lo > from ? lo : from;
            hi = hi < end ? hi : end;
            if (lo < hi)
                (*of)[(*many)++] = (struct zmpi_copy){p * width + (lo - first),
                                                      copies[i].to + (lo - from), hi - lo};
        }
    }
    return ZMPI_OK;
}

/* ---- interleaving ---- */

/* A stretch of a request, whose first point lies at `at` in a tile. */
struct stretch {
    uint64_t from, to, length; /* as in zmpi_copy */
    size_t at;
};

struct tile {
    const struct zmpi_found *found;
    size_t n, width, points; /* components, bytes of an element, room */
    size_t plane;            /* elements from one component to the next */
    int threads;
    unsigned char *data; /* component after component */
    struct stretch stretch[STRETCHES];
    struct zmpi_copy copy[STRETCHES]; /* points that are decoded: from and length in points */
    size_t stretches, copies, used;
    uint64_t next; /* the point behind the last one that is decoded */
};

/* `length` bytes from byte `offset` of a point on, which end within it. */
static void part_of_point(const struct tile *t, size_t at, size_t offset, size_t length,
                          unsigned char *dst)
{
    for (size_t k = 0; k < length; k++, offset++)
        dst[k] = t->data[(offset / t->width * t->plane + at) * t->width + offset % t->width];
}

static void give(const struct tile *t, const struct stretch *s, unsigned char *dst)
{
    const size_t stride = t->n * t->width, first = s->from % stride;
    size_t at = s->at, left = s->length;
    unsigned char *out = dst + s->to;
    if (first) {
        const size_t head = left < stride - first ? left : stride - first;
        part_of_point(t, at++, first, head, out);
        out += head;
        left -= head;
    }
    const size_t points = left / stride;
    zmpi_components_join(t->width == 8 ? ZMPI_F64 : ZMPI_F32, t->data + at * t->width, t->plane,
                         points, (int)t->n, t->threads, out);
    part_of_point(t, at + points, 0, left % stride, out + points * stride);
}

/* ---- tiles ---- */

/* The next stretch of a copy of which `done` bytes were taken; how many bytes of it there is room
 * for. */
static uint64_t take(struct tile *t, const struct zmpi_copy *c, uint64_t done)
{
    const uint64_t stride = t->n * t->width, from = c->from + done, p = from / stride;
    const bool shared = t->copies > 0 && p < t->next; /* its first point is there */
    const size_t at = shared ? t->used - 1 : t->used;
    const uint64_t most = (p + (t->points - at)) * stride - from, left = c->length - done;
    const uint64_t length = left < most ? left : most;
    const uint64_t end = (from + length + stride - 1) / stride, begin = shared ? p + 1 : p;
    t->stretch[t->stretches++] = (struct stretch){from, c->to + done, length, at};
    if (end > begin) {
        t->copy[t->copies++] = (struct zmpi_copy){begin, t->used, end - begin};
        t->used += (size_t)(end - begin);
        t->next = end;
    }
    return length;
}

static enum zmpi_status decode(const struct tile *t, const unsigned char id[16],
                               const struct zmpi_reader *in, unsigned char *dst)
{
    struct zmpi_copy copy[STRETCHES];
    for (size_t i = 0; i < t->copies; i++)
        copy[i] = (struct zmpi_copy){t->copy[i].from * t->width, t->copy[i].to * t->width,
                                     t->copy[i].length * t->width};
    for (size_t c = 0; c < t->n; c++) { /* the newest is the last component */
        const enum zmpi_status status =
            zmpi_record_read(&t->found[t->n - 1 - c].record, id, in, copy, t->copies,
                             t->data + c * t->plane * t->width);
        if (status != ZMPI_OK)
            return status;
    }
    for (size_t i = 0; i < t->stretches; i++)
        give(t, &t->stretch[i], dst);
    return ZMPI_OK;
}

/* Points of a tile: of some MiB in all, but of several chunks, which are decoded as a whole.
 * Records that are not much larger are one tile: no chunk is decoded twice, and none is copied. */
static size_t tile_points(const struct zmpi_record *r, const struct zmpi_reader *in, size_t stride)
{
    unsigned char head[ZMPI_STREAM_HEADER_BYTES];
    const uint64_t whole = r->extent.bytes / r->extent.run;
    if (whole <= WHOLE_BYTES / stride)
        return (size_t)whole;
    size_t points = TILE_BYTES / stride > TILE_LEAST ? TILE_BYTES / stride : TILE_LEAST;
    if (in->read(in->context, zmpi_record_payload(r), head, sizeof head) != ZMPI_OK)
        return points; /* the record's own read says why */
    const uint64_t chunk = (uint64_t)zmpi_load32(head + 12) * zmpi_load32(head + 16);
    const uint64_t of_chunks = chunk <= CHUNK_MOST ? chunk * zmpi_load32(head + 20) : 0;
    if (of_chunks <= CHUNK_MOST && CHUNKS * of_chunks > points)
        points = CHUNKS * (size_t)of_chunks;
    return points;
}

enum zmpi_status zmpi_components_read(const struct zmpi_found *found, size_t n,
                                      const unsigned char id[16], const struct zmpi_reader *in,
                                      const struct zmpi_copy *copies, size_t count,
                                      unsigned char *dst)
{
    struct tile *t = malloc(sizeof *t);
    enum zmpi_status status = ZMPI_OK;
    if (t == NULL)
        return ZMPI_ERR_MEMORY;
    const size_t width = (size_t)found->record.extent.run, stride = n * width;
    uint64_t need = 0;
    for (size_t i = 0; i < count; i++)
        need += copies[i].length / stride + 2;
    size_t points = tile_points(&found->record, in, stride);
    points = need < points ? (size_t)need : points;
    *t = (struct tile){.found = found,
                       .n = n,
                       .width = width,
                       .points = points,
                       .plane = points + APART,
                       .threads = in->threads,
                       .data = malloc((points + APART) * stride)};
    if (t->data == NULL)
        status = ZMPI_ERR_MEMORY;
    uint64_t done = 0; /* bytes of copy i that earlier tiles have */
    for (size_t i = 0; i < count && status == ZMPI_OK;) {
        t->stretches = t->copies = t->used = 0;
        while (i < count && t->stretches < STRETCHES && t->used < t->points) {
            done += take(t, &copies[i], done);
            if (done == copies[i].length) {
                done = 0;
                i++;
            }
        }
        status = decode(t, id, in, dst);
    }
    free(t->data);
    free(t);
    return status;
}
