/* memory.c - the program's buffer as one stretch of bytes, and back. */
#include <stdlib.h>
#include <string.h>

#include "datatype/boxes.h"
#include "datatype/buffer.h"
#include "datatype/known.h"
#include "mpi/runtime.h"

/* MPI_BOTTOM may be a null pointer, which C cannot add to. */
static unsigned char *at_offset(const void *buf, int64_t offset)
{
    return (unsigned char *)((uintptr_t)buf + (uintptr_t)offset);
}

unsigned char *zmemory_stretch(const struct ztype *t, const void *buf, MPI_Count count)
{
    if (t->count == 1 && (count == 1 || (uint64_t)t->extent == t->size))
        return at_offset(buf, t->segment[0].offset);
    return NULL;
}

void *zmemory_first(const struct ztype *t, const void *buf)
{
    return at_offset(buf, t->count ? t->segment[0].offset : 0);
}

const struct zmpi_device *zmemory_holder(const struct ztype *t, const void *buf, MPI_Count count)
{
    return t->size && count > 0 ? zmpi_device_holding(zmemory_first(t, buf)) : NULL;
}

enum zmpi_status zmemory_copy(const struct ztype *t, const struct zmpi_device *holder, void *buf,
                              uint64_t at, unsigned char *packed, uint64_t bytes, bool to_packed)
{
    struct zboxes boxes = {.device = holder, .to_packed = to_packed};
    if (bytes == 0)
        return ZMPI_OK;
    uint64_t element = at / t->size, skip = at % t->size;
    size_t k = ztype_segment(t, skip);
    for (skip -= t->segment[k].before; bytes; k = 0, element++)
        for (; k < t->count && bytes; k++, skip = 0) {
            unsigned char *place =
                at_offset(buf, (int64_t)element * t->extent + t->segment[k].offset + (int64_t)skip);
            uint64_t n = t->segment[k].length - skip;
            n = n < bytes ? n : bytes;
            if (holder)
                zboxes_add(&boxes, place, packed, n);
            else if (to_packed)
                memcpy(packed, place, n);
            else
                memcpy(place, packed, n);
            packed += n;
            bytes -= n;
        }
    zboxes_flush(&boxes);
    return boxes.status;
}

/* Makes a packed copy: beside the data in a device's memory if that is large enough, else in the
 * host's. */
static int pack(struct zmemory *m, const struct ztype *t, const void *buf)
{
    const struct zmpi_device *holder = m->holder;
    m->taken = holder ? holder->take(zmemory_first(t, buf), m->bytes) : NULL;
    if (!m->taken) {
        m->holder = NULL;
        m->owned = malloc(m->bytes);
    }
    m->data = m->taken ? m->taken : m->owned;
    m->taker = m->taken ? holder : NULL;
    if (!m->data)
        return MPI_ERR_NO_MEM;
    return zmemory_copy(t, holder, (void *)(uintptr_t)buf, 0, (unsigned char *)(uintptr_t)m->data,
                        m->bytes, true)
               ? MPI_ERR_OTHER
               : MPI_SUCCESS;
}

int zmemory_pack(struct zmemory *m, const void *buf, MPI_Count count, MPI_Datatype datatype)
{
    struct ztype t;
    memset(m, 0, sizeof *m);
    int rc = ztype_make(datatype, &t);
    if (rc)
        return rc;
    m->element = t.element;
    memcpy(m->shape, t.shape, sizeof m->shape);
    zshape_prepend(m->shape, (size_t)count);
    m->extents = t.extents;
    zextents_prepend(&m->extents, (size_t)count, true);
    if (__builtin_mul_overflow(t.size, (uint64_t)count, &m->bytes) || m->bytes > ZMPI_SIZE_MAX)
        rc = MPI_ERR_COUNT;
    if (!rc && m->bytes) {
        m->holder = zmemory_holder(&t, buf, count);
        m->data = zmemory_stretch(&t, buf, count);
        zknown_look(m, &t, buf, count);
        if (!m->data)
            rc = pack(m, &t, buf);
    }
    if (rc)
        zmemory_free(m);
    ztype_free(&t);
    return rc;
}

void zmemory_free(struct zmemory *m)
{
    free(m->owned);
    if (m->taken)
        m->taker->give(m->taken);
    m->owned = NULL;
    m->taken = NULL;
}

enum zmpi_status zmemory_to_host(struct zmemory *m)
{
    if (!m->holder)
        return ZMPI_OK;
    unsigned char *copy = malloc(m->bytes);
    if (!copy)
        return ZMPI_ERR_MEMORY;
    enum zmpi_status status = zmpi_device_move(m->holder, copy, m->data, m->bytes);
    if (status) {
        free(copy);
        return status;
    }
    zmemory_free(m);
    m->data = m->owned = copy;
    m->holder = NULL;
    return ZMPI_OK;
}

enum zmpi_status zmemory_range(struct zmemory *m, const struct zmpi_options *o, double threshold,
                               const struct zmpi_fills *fills, struct zmpi_range *range)
{
    size_t count = m->bytes / zmpi_type_size(m->element);
    *range = ZMPI_RANGE_EMPTY;
    if (m->holder && !fills->count &&
        !m->holder->range(m->element, m->data, count, threshold, range))
        return ZMPI_OK;
    enum zmpi_status status = zmemory_to_host(m);
    if (!status)
        zmpi_range_without(m->element, m->data, count, threshold, fills, zruntime_threads(o),
                           range);
    return status;
}

int ztarget_make(struct ztarget *t, void *buf, MPI_Count count, MPI_Datatype datatype)
{
    int rc = ztype_make(datatype, &t->type);
    if (rc)
        return rc;
    t->holder = zmemory_holder(&t->type, buf, count);
    t->direct = zmemory_stretch(&t->type, buf, count);
    t->first = zmemory_first(&t->type, buf);
    return MPI_SUCCESS;
}

void ztarget_free(struct ztarget *t)
{
    ztype_free(&t->type);
}
