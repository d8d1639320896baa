/* news.c - see news.h. */
#include "file/zfile.h"

#include <limits.h>
#include <stdlib.h>

/* A larger buffer for all ranks' entries is freed after use. */
#define KEPT ((size_t)1 << 20)

enum { NO_NEWS = INT_MAX };

void znews_forget(struct znews *n)
{
    n->next = NO_NEWS;
    n->lost = false;
}

bool znews_make(struct znews *n, int ranks)
{
    n->sizes = calloc((size_t)ranks, sizeof *n->sizes);
    n->places = calloc((size_t)ranks, sizeof *n->places);
    n->next = NO_NEWS;
    return n->sizes && n->places;
}

enum zmpi_status znews_take(struct zfile *f)
{
    struct znews *n = &f->news;
    enum zmpi_status status = ZMPI_OK;
    if (n->next == NO_NEWS)
        return ZMPI_OK;
    for (; n->next < f->ranks && !status; n->next += !status)
        if (n->next != f->rank && n->sizes[n->next])
            status = zmpi_container_add_entries(&f->container, n->bytes + n->places[n->next],
                                                (size_t)n->sizes[n->next]);
    if (!status && f->container.size_unknown) {
        struct zmpi_reader reader = zfile_reader(f);
        status = zmpi_container_seal(&f->container, &reader);
    }
    if (!status)
        n->next = NO_NEWS;
    return status;
}

int znews_known(struct zfile *f)
{
    const enum zmpi_status status = f->news.lost ? ZMPI_ERR_MEMORY : znews_take(f);
    return status ? zfile_raise_status(f, status, "learning what other ranks wrote") : MPI_SUCCESS;
}

/* Makes the buffer large enough for all ranks' entries, on all ranks or on none. */
static int reserve(struct zfile *f, size_t size)
{
    struct znews *n = &f->news;
    if (size <= n->capacity)
        return MPI_SUCCESS;
    const size_t capacity = size + size / 2;
    unsigned char *grown = realloc(n->bytes, capacity);
    int bad = grown == NULL, any = 0;
    if (grown)
        n->bytes = grown;
    int rc = PMPI_Allreduce(&bad, &any, 1, MPI_INT, MPI_MAX, f->comm);
    if (!rc && any)
        rc = zfile_raise_status(f, ZMPI_ERR_MEMORY, "sharing the index");
    if (!rc)
        n->capacity = capacity;
    return rc;
}

int znews_exchange(struct zfile *f)
{
    struct znews *n = &f->news;
    size_t total = 0;
    int mine = (int)f->fresh.size;
    n->lost =
        n->lost || znews_take(f); /* the last try to take what did not fit into memory before */
    n->next = NO_NEWS;
    int rc = PMPI_Allgather(&mine, 1, MPI_INT, n->sizes, 1, MPI_INT, f->comm);
    for (int r = 0; r < f->ranks && !rc; r++) {
        n->places[r] = (int)total;
        total += (size_t)n->sizes[r];
    }
    if (!rc && total > INT_MAX)
        rc = zfile_raise(f, MPI_ERR_OTHER, "more than 2 GiB of new index entries at once");
    else if (!rc && total && (rc = reserve(f, total)))
        return rc;
    if (!rc && total) {
        rc = PMPI_Allgatherv(f->fresh.data, mine, MPI_BYTE, n->bytes, n->sizes, n->places, MPI_BYTE,
                             f->comm);
        n->next = rc ? NO_NEWS : 0;
    }
    zmpi_entries_free(&f->fresh);
    rc = rc ? rc : znews_known(f);
    if (n->capacity > KEPT) {
        if (n->next == NO_NEWS) {
            free(n->bytes);
            n->bytes = NULL;
        }
        n->capacity = 0;
    }
    return rc;
}

int znews_keep(struct zfile *f, struct zmpi_record *record, size_t n, int rc)
{
    enum zmpi_status status = ZMPI_OK;
    for (size_t i = 0; i < n; i++) {
        struct zmpi_record *r = &record[i];
        if (!rc && !status)
            status = zmpi_container_add(&f->container, r);
        if (!rc && !status && zfile_may_read(f) && !f->session.atomic)
            status = zmpi_entries_add(&f->fresh, r);
        f->durable.hides |= r->extent.levels == ZMPI_EXTENT_LIST && r->extent.lo < f->durable.below;
        zmpi_extent_free(&r->extent);
        f->dirty = true;
    }
    return status ? zfile_raise_status(f, status, "keeping the index") : rc;
}
