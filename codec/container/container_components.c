/*
 * container_components.c - reads records together that are the interleaved components of one piece
 * of a write call. Their elements take turns in the file; reading one record after the other would
 * need a search for each element.
 */
#include <stdlib.h>
#include <string.h>

#include "container/container_private.h"

enum { MOST = 64 }; /* components */

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
    size_t capacity = 0;
    *many = 0;
    for (size_t i = 0; i < count; i++)
        capacity += (size_t)(copies[i].length / stride) + 2;
    *of = malloc(capacity * sizeof **of);
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

/* ---- reading them together ---- */

struct part {
    struct zmpi_payload payload;
    unsigned char *need; /* chunks */
};

/* Loads all chunks of component c that the copies need. */
static enum zmpi_status load(struct part *p, const struct zmpi_record *r,
                             const unsigned char id[16], const struct zmpi_reader *in, size_t n,
                             const struct zmpi_copy *copies, size_t count, struct zmpi_stream *s)
{
    const uint64_t width = r->extent.run, point = n * width;
    enum zmpi_status status = zmpi_payload_open(&p->payload, r, id, in, s);
    if (status == ZMPI_OK && s->width != width)
        status = ZMPI_ERR_UNSUPPORTED; /* a write call never makes such records */
    if (status != ZMPI_OK)
        return status;
    p->need = calloc(s->info.chunks + 1, 1);
    if (p->need == NULL)
        return ZMPI_ERR_MEMORY;
    for (size_t i = 0; i < count; i++) {
        const uint64_t end = copies[i].from + copies[i].length;
        zmpi_stream_mark(s, copies[i].from / point * width, (end + point - 1) / point * width,
                         p->need);
    }
    return zmpi_payload_fetch(&p->payload, s, p->need);
}

enum zmpi_status zmpi_components_read(const struct zmpi_found *found, size_t n,
                                      const unsigned char id[16], const struct zmpi_reader *in,
                                      const struct zmpi_copy *copies, size_t count,
                                      unsigned char *dst)
{
    struct part part[MOST] = {0};
    unsigned char *need[MOST] = {0};
    struct zmpi_stream *s = calloc(n, sizeof *s);
    enum zmpi_status status = s ? ZMPI_OK : ZMPI_ERR_MEMORY;
    size_t loaded = 0;
    while (loaded < n && status == ZMPI_OK) { /* the newest is the last component */
        const struct zmpi_record *r = &found[n - 1 - loaded].record;
        status = load(&part[loaded], r, id, in, n, copies, count, &s[loaded]);
        need[loaded] = part[loaded].need;
        loaded++;
    }
    if (status == ZMPI_OK)
        status =
            zmpi_streams_join(s, n, need, in->threads > 1 ? in->threads : 1, copies, count, dst);
    for (size_t c = 0; c < loaded; c++) {
        free(part[c].payload.buffer);
        free(part[c].need);
    }
    free(s);
    return status;
}
