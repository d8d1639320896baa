/* view.c - file views: data bytes of the view to logical bytes of the file (MPI 3.1, 13.3). */
#include <stdlib.h>
#include <string.h>

#include "datatype/buffer.h"

/* A type we may keep: predefined ones as they are, others duplicated, since the program may free
 * its handle. */
static int keep_type(MPI_Datatype type, MPI_Datatype *kept)
{
    int combiner, rc = ztype_combiner(type, &combiner);
    if (rc)
        return rc;
    if (combiner == MPI_COMBINER_NAMED) {
        *kept = type;
        return MPI_SUCCESS;
    }
    return PMPI_Type_dup(type, kept);
}

static void drop_type(MPI_Datatype *type)
{
    int combiner;
    if (*type == MPI_DATATYPE_NULL)
        return;
    ztype_combiner(*type, &combiner);
    if (combiner == MPI_COMBINER_NAMED)
        *type = MPI_DATATYPE_NULL;
    else
        PMPI_Type_free(type);
}

/* Do the segments increase without overlap, and the tiles neither overlap nor interleave? */
static bool is_increasing(const struct ztype *t)
{
    for (size_t i = 1; i < t->count; i++)
        if (t->segment[i].offset < t->segment[i - 1].offset + (int64_t)t->segment[i - 1].length)
            return false;
    if (t->count == 0)
        return true;
    const struct zsegment *last = &t->segment[t->count - 1];
    return last->offset + (int64_t)last->length - t->segment[0].offset <= t->extent;
}

const char *zview_forbidden(const struct zview *v, bool written)
{
    const struct ztype *t = &v->file;
    for (size_t i = 1; i < t->count; i++) {
        const struct zsegment *before = &t->segment[i - 1], *s = &t->segment[i];
        if (s->offset < before->offset)
            return "its displacements decrease: MPI wants them in ascending order";
        if (written && s->offset < before->offset + (int64_t)before->length)
            return "parts of it overlap, and the file may be written: MPI forbids that";
    }
    return NULL;
}

int zview_make(struct zview *v, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype)
{
    MPI_Count etype_size;
    struct zview w = {
        .displacement = displacement, .etype = MPI_DATATYPE_NULL, .filetype = MPI_DATATYPE_NULL};
    int rc = ztype_make(filetype, &w.file);
    if (!rc)
        rc = ztype_size(etype, &etype_size);
    if (!rc)
        rc = keep_type(etype, &w.etype);
    if (!rc)
        rc = keep_type(filetype, &w.filetype);
    if (rc) {
        zview_free(&w);
        return rc;
    }
    w.etype_size = (uint64_t)etype_size;
    w.increasing = is_increasing(&w.file);
    *v = w;
    return MPI_SUCCESS;
}

int zview_default(struct zview *v)
{
    return zview_make(v, 0, MPI_BYTE, MPI_BYTE);
}

void zview_free(struct zview *v)
{
    drop_type(&v->etype);
    drop_type(&v->filetype);
    ztype_free(&v->file);
}

uint64_t zview_offset(const struct zview *v, uint64_t position)
{
    const struct ztype *t = &v->file;
    if (t->size == 0)
        return (uint64_t)v->displacement;
    uint64_t tile = position / t->size, r = position % t->size;
    const struct zsegment *s = &t->segment[ztype_segment(t, r)];
    return (uint64_t)(v->displacement + (int64_t)tile * t->extent + s->offset) + (r - s->before);
}

uint64_t zview_bytes_below(const struct zview *v, uint64_t size)
{
    const struct ztype *t = &v->file;
    if (t->size == 0 || size <= (uint64_t)v->displacement)
        return 0;
    uint64_t left = size - (uint64_t)v->displacement;
    if (t->dense)
        return left;
    if (t->extent <= 0)
        return 0;
    /* Whole tiles that must lie below, then segment by segment. */
    int64_t top = t->segment[t->count - 1].offset + (int64_t)t->segment[t->count - 1].length;
    uint64_t tiles = (int64_t)left < top ? 0 : (uint64_t)(((int64_t)left - top) / t->extent + 1);
    uint64_t below = tiles * t->size;
    int64_t base = (int64_t)tiles * t->extent;
    for (size_t i = 0; i < t->count; i++) {
        int64_t rest = (int64_t)left - base - t->segment[i].offset;
        if (rest <= 0)
            break;
        uint64_t take =
            (uint64_t)rest < t->segment[i].length ? (uint64_t)rest : t->segment[i].length;
        below += take;
        if (take < t->segment[i].length)
            break;
    }
    return below;
}

struct runs {
    struct zmpi_run *run;
    size_t count, capacity;
};

static bool runs_add(struct runs *r, uint64_t offset, uint64_t length)
{
    if (r->count && r->run[r->count - 1].offset + r->run[r->count - 1].length == offset) {
        r->run[r->count - 1].length += length;
        return true;
    }
    if (r->count == r->capacity) {
        size_t capacity = r->capacity ? 2 * r->capacity : 16;
        struct zmpi_run *grown = realloc(r->run, capacity * sizeof *grown);
        if (!grown)
            return false;
        r->run = grown;
        r->capacity = capacity;
    }
    r->run[r->count++] = (struct zmpi_run){offset, length};
    return true;
}

/* Does the last byte of [position, position + bytes) have an offset that fits? */
static bool end_fits(const struct zview *v, uint64_t position, uint64_t bytes)
{
    const struct ztype *t = &v->file;
    uint64_t last;
    int64_t offset;
    if (__builtin_add_overflow(position, bytes - 1, &last) || last > ZMPI_SIZE_MAX)
        return false;
    return !__builtin_mul_overflow((int64_t)(last / t->size) + 1, t->extent, &offset) &&
           !__builtin_add_overflow(offset, v->displacement, &offset);
}

enum zmpi_status zview_runs(const struct zview *v, uint64_t position, uint64_t bytes,
                            struct zmpi_run **runs, size_t *count)
{
    const struct ztype *t = &v->file;
    struct runs r = {0};
    *runs = NULL;
    *count = 0;
    if (bytes == 0)
        return ZMPI_OK;
    if (t->size == 0 || !end_fits(v, position, bytes))
        return ZMPI_ERR_ARG;
    if (t->dense) {
        if (!runs_add(&r, (uint64_t)v->displacement + position, bytes))
            return ZMPI_ERR_MEMORY;
        bytes = 0;
    }
    uint64_t tile = position / t->size, inside = position % t->size;
    size_t i = ztype_segment(t, inside);
    while (bytes) {
        const struct zsegment *s = &t->segment[i];
        uint64_t skip = inside - s->before, length = s->length - skip;
        int64_t offset = v->displacement + (int64_t)tile * t->extent + s->offset + (int64_t)skip;
        length = length < bytes ? length : bytes;
        if (offset < 0 || !runs_add(&r, (uint64_t)offset, length)) {
            free(r.run);
            return offset < 0 ? ZMPI_ERR_ARG : ZMPI_ERR_MEMORY;
        }
        bytes -= length;
        inside += length;
        if (++i == t->count) {
            i = 0;
            inside = 0;
            tile++;
        }
    }
    *runs = r.run;
    *count = r.count;
    return ZMPI_OK;
}
