/* memory.c - the program's buffer as one stretch of bytes, and back. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

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

/* The segment that holds packed byte `at` of one element. */
static size_t segment_of(const struct ztype *t, uint64_t at)
{
    size_t low = 0, high = t->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (t->segment[middle].before <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void zmemory_copy(const struct ztype *t, void *buf, uint64_t at, unsigned char *packed,
                  uint64_t bytes, bool to_packed)
{
    if (bytes == 0)
        return;
    uint64_t element = at / t->size, skip = at % t->size;
    size_t k = segment_of(t, skip);
    for (skip -= t->segment[k].before; bytes; k = 0, element++)
        for (; k < t->count && bytes; k++, skip = 0) {
            unsigned char *place =
                at_offset(buf, (int64_t)element * t->extent + t->segment[k].offset + (int64_t)skip);
            uint64_t n = t->segment[k].length - skip;
            n = n < bytes ? n : bytes;
            if (to_packed)
                memcpy(packed, place, n);
            else
                memcpy(place, packed, n);
            packed += n;
            bytes -= n;
        }
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
    if (__builtin_mul_overflow(t.size, (uint64_t)count, &m->bytes) || m->bytes > ZMPI_SIZE_MAX)
        rc = MPI_ERR_COUNT;
    if (!rc && m->bytes) {
        m->data = zmemory_stretch(&t, buf, count);
        if (!m->data) {
            m->data = m->owned = malloc(m->bytes);
            if (m->owned)
                zmemory_copy(&t, (void *)(uintptr_t)buf, 0, m->owned, m->bytes, true);
            else
                rc = MPI_ERR_NO_MEM;
        }
    }
    ztype_free(&t);
    return rc;
}

void zmemory_free(struct zmemory *m)
{
    free(m->owned);
    m->owned = NULL;
}

int zmemory_unpack(void *buf, MPI_Datatype datatype, const unsigned char *src, uint64_t bytes)
{
    struct ztype t;
    int rc = ztype_make(datatype, &t);
    if (rc)
        return rc;
    zmemory_copy(&t, buf, 0, (unsigned char *)(uintptr_t)src, bytes, false);
    ztype_free(&t);
    return MPI_SUCCESS;
}

void *zmemory_direct(void *buf, MPI_Count count, MPI_Datatype datatype)
{
    struct ztype t;
    if (ztype_make(datatype, &t))
        return NULL;
    void *p = zmemory_stretch(&t, buf, count);
    ztype_free(&t);
    return p;
}
