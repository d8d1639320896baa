/* header.c - the container's header and index, written and shared by all ranks. */
#include "header.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

static int agree(struct zfile *f, int rc)
{
    int worst = rc;
    int reduced = PMPI_Bcast(&worst, 1, MPI_INT, 0, f->comm);
    return rc ? rc : reduced ? reduced : worst;
}

int zheader_write(struct zfile *f, uint64_t index_offset, uint64_t index_length)
{
    struct zmpi_header *h = &f->container.header;
    unsigned char slot[128];
    h->generation++;
    h->logical_size = f->container.logical_size;
    h->index_offset = index_length ? index_offset : 0;
    h->index_length = index_length;
    h->log_end = index_length ? f->end : ZMPI_HEADER_BYTES;
    h->next_epoch = f->epoch + 1;
    int rc = MPI_SUCCESS;
    if (f->rank == 0) {
        zmpi_header_encode(h, slot);
        rc = zwrite_at(f, zmpi_header_slot(h->generation), slot, sizeof slot);
    }
    return agree(f, rc);
}

int zheader_create(struct zfile *f)
{
    struct zmpi_header *h = &f->container.header;
    unsigned char block[ZMPI_HEADER_BYTES] = {0};
    memset(h, 0, sizeof *h);
    if (getrandom(h->id, sizeof h->id, 0) != (ssize_t)sizeof h->id)
        return zfile_raise(f, MPI_ERR_OTHER, "no random numbers for the file's id");
    h->generation = 1;
    h->log_end = ZMPI_HEADER_BYTES;
    zmpi_header_encode(h, block + zmpi_header_slot(h->generation));
    return zwrite_at(f, 0, block, sizeof block);
}

/* This rank's segment, for physical offset `offset`. */
static int write_segment(struct zfile *f, uint64_t offset)
{
    unsigned char *segment;
    size_t size;
    enum zmpi_status status =
        zmpi_index_encode(f->own, f->own_count, f->container.header.id, offset, &segment, &size);
    if (status)
        return zfile_raise_status(f, status, "writing the index");
    int rc = zwrite_at(f, offset, segment, size);
    free(segment);
    return rc;
}

int zindex_write(struct zfile *f)
{
    uint64_t mine = f->own_count ? zmpi_index_size(f->own, f->own_count) : 0, before = 0, total = 0;
    int rc = MPI_SUCCESS, worst = MPI_SUCCESS;
    PMPI_Exscan(&mine, &before, 1, MPI_UINT64_T, MPI_SUM, f->comm);
    PMPI_Allreduce(&mine, &total, 1, MPI_UINT64_T, MPI_SUM, f->comm);
    if (f->rank == 0)
        before = 0;
    if (mine)
        rc = write_segment(f, f->end + before);
    /* A header must not point to an index with a hole: then the log is scanned instead. */
    PMPI_Allreduce(&rc, &worst, 1, MPI_INT, MPI_MAX, f->comm);
    if (worst)
        return rc ? rc : worst;
    uint64_t index = f->end;
    f->end += total;
    return zheader_write(f, index, total);
}

/* Everything of the container that is not records. */
struct facts {
    int status;
    uint64_t entries_size;
    uint64_t logical_size, end;
    uint64_t token; /* names what belongs to this open alone */
    struct zmpi_header header;
};

static int share_entries(struct zfile *f, uint64_t size)
{
    struct zmpi_container *c = &f->container;
    unsigned char *entries = malloc(size + 1);
    if (!entries)
        return zfile_raise_status(f, ZMPI_ERR_MEMORY, "opening");
    if (f->rank == 0)
        zmpi_entries_encode(c->record, c->count, entries);
    int rc = MPI_SUCCESS;
    for (uint64_t at = 0; at < size && !rc; at += INT_MAX) {
        uint64_t left = size - at;
        rc = PMPI_Bcast(entries + at, left < INT_MAX ? (int)left : INT_MAX, MPI_BYTE, 0, f->comm);
    }
    enum zmpi_status status = ZMPI_OK;
    if (!rc && f->rank)
        status = zmpi_entries_decode(c, entries, size);
    free(entries);
    return status ? zfile_raise_status(f, status, "opening") : rc;
}

int zindex_share(struct zfile *f)
{
    struct zmpi_container *c = &f->container;
    struct facts facts = {0};
    if (f->rank == 0) {
        facts.header = c->header;
        facts.logical_size = c->logical_size;
        facts.end = f->end;
        if (getrandom(&facts.token, sizeof facts.token, 0) != (ssize_t)sizeof facts.token)
            facts.token = (uint64_t)getpid();
        facts.entries_size = c->count ? zmpi_entries_size(c->record, c->count) : 0;
    }
    int rc = PMPI_Bcast(&facts, (int)sizeof facts, MPI_BYTE, 0, f->comm);
    if (rc)
        return rc;
    c->header = facts.header;
    c->logical_size = facts.logical_size;
    f->end = facts.end;
    f->epoch = facts.header.next_epoch + 1;
    if (zshared_name(f, facts.token))
        return zfile_raise_status(f, ZMPI_ERR_MEMORY, "opening");
    return facts.entries_size ? share_entries(f, facts.entries_size) : MPI_SUCCESS;
}
