/* memory.c - the program's buffer as one stretch of bytes, and back. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* The first byte of `count` elements if they lie in one stretch. */
static const unsigned char *stretch(const struct ztype *t, const void *buf, MPI_Count count)
{
    if (t->count == 1 && (count == 1 || (uint64_t)t->extent == t->size))
        return (const unsigned char *)buf + t->segment[0].offset;
    return NULL;
}

/* Copy between buffer and packed bytes; at most `bytes`. */
static void copy_segments(const struct ztype *t, unsigned char *buf, MPI_Count count,
                          unsigned char *packed, uint64_t bytes, bool to_packed)
{
    for (MPI_Count i = 0; i < count && bytes; i++)
        for (size_t k = 0; k < t->count && bytes; k++) {
            unsigned char *place = buf + i * t->extent + t->segment[k].offset;
            uint64_t n = t->segment[k].length < bytes ? t->segment[k].length : bytes;
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
        m->data = stretch(&t, buf, count);
        if (!m->data) {
            m->data = m->owned = malloc(m->bytes);
            if (m->owned)
                copy_segments(&t, (unsigned char *)(uintptr_t)buf, count, m->owned, m->bytes, true);
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

int zmemory_unpack(void *buf, MPI_Count count, MPI_Datatype datatype, const unsigned char *src,
                   uint64_t bytes)
{
    struct ztype t;
    int rc = ztype_make(datatype, &t);
    if (rc)
        return rc;
    copy_segments(&t, buf, count, (unsigned char *)(uintptr_t)src, bytes, false);
    ztype_free(&t);
    return MPI_SUCCESS;
}

void *zmemory_direct(void *buf, MPI_Count count, MPI_Datatype datatype)
{
    struct ztype t;
    if (ztype_make(datatype, &t))
        return NULL;
    void *p = (void *)(uintptr_t)stretch(&t, buf, count);
    ztype_free(&t);
    return p;
}
