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

/* Rank 0: the slot that does not count. */
static int put_header(struct zfile *f, struct zmpi_header *h)
{
    unsigned char slot[128];
    h->generation++;
    zmpi_header_encode(h, slot);
    int rc = zwrite_at(f, zmpi_header_slot(h->generation), slot, sizeof slot);
    if (rc) /* maybe torn: the other one still counts, and must not be the next to be written */
        h->generation--;
    return rc;
}

int zheader_reset(struct zfile *f)
{
    struct zmpi_header *h = &f->container.header;
    h->logical_size = 0;
    h->index_offset = h->index_length = 0;
    h->log_end = ZMPI_HEADER_BYTES;
    h->next_epoch = f->epoch + 1;
    return agree(f, f->rank == 0 ? put_header(f, h) : MPI_SUCCESS);
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

/* Where the index goes: rank 0 asks. *offset 0: others are writing. */
static int index_place(struct zfile *f, uint64_t size, uint64_t *offset)
{
    uint64_t place[2] = {f->end, MPI_SUCCESS};
    if (f->rank == 0) {
        place[1] = (uint64_t)zsession_reserve(f, size, &place[0], NULL);
        if (f->session.shared)
            place[0] = 0;
    }
    int rc = PMPI_Bcast(place, 2, MPI_UINT64_T, 0, f->comm);
    *offset = place[0];
    return rc ? rc : (int)place[1];
}

int zindex_write(struct zfile *f)
{
    struct zmpi_header *h = &f->container.header;
    uint64_t mine = f->own_count ? zmpi_index_size(f->own, f->own_count) : 0, before = 0, total = 0;
    uint64_t offset = 0;
    int worst = MPI_SUCCESS;
    PMPI_Exscan(&mine, &before, 1, MPI_UINT64_T, MPI_SUM, f->comm);
    PMPI_Allreduce(&mine, &total, 1, MPI_UINT64_T, MPI_SUM, f->comm);
    if (f->rank == 0)
        before = 0;
    int rc = index_place(f, total, &offset);
    if (rc || offset == 0)
        return rc;
    if (mine)
        rc = write_segment(f, offset + before);
    /* A header must not point to an index with a hole: then the log is scanned instead. */
    PMPI_Allreduce(&rc, &worst, 1, MPI_INT, MPI_MAX, f->comm);
    if (worst)
        return rc ? rc : worst;
    f->end = offset + total;
    h->logical_size = f->container.logical_size;
    h->index_offset = total ? offset : 0;
    h->index_length = total;
    h->log_end = total ? f->end : ZMPI_HEADER_BYTES;
    h->next_epoch = f->epoch + 1;
    return agree(f, f->rank == 0 ? put_header(f, h) : MPI_SUCCESS);
}

/* All records of c behind the log, and the header that points there. */
static int write_all(struct zfile *f, struct zmpi_container *c)
{
    struct zmpi_header *h = &c->header;
    unsigned char *segment;
    size_t size = zmpi_index_size(c->record, c->count);
    uint64_t offset = f->end;
    int rc = zsession_reserve(f, size, &offset, NULL);
    if (rc)
        return rc;
    enum zmpi_status status =
        zmpi_index_encode(c->record, c->count, h->id, offset, &segment, &size);
    if (status)
        return zfile_raise_status(f, status, "writing the index");
    rc = zwrite_at(f, offset, segment, size);
    free(segment);
    h->logical_size = c->logical_size;
    h->index_offset = offset;
    h->index_length = size;
    h->log_end = offset + size;
    return rc ? rc : put_header(f, h);
}

int zindex_write_all(struct zfile *f)
{
    struct zmpi_container c;
    struct zmpi_reader reader = zfile_reader(f);
    zmpi_container_init(&c);
    enum zmpi_status status = zmpi_container_open(&c, &reader);
    int rc = status ? zfile_raise_status(f, status, "closing") : MPI_SUCCESS;
    if (!rc && c.count)
        rc = write_all(f, &c);
    zmpi_container_free(&c);
    return rc;
}

/* Everything of the container that is not records. */
struct facts {
    int status;
    uint64_t entries_size;
    uint64_t logical_size, end;
    uint64_t token; /* names what belongs to this open alone */
    bool shared;
    struct zmpi_header header;
};

/* Rank 0's records to the others' c. */
static int share_entries(struct zfile *f, struct zmpi_container *c, uint64_t size)
{
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
        facts.shared = f->session.shared;
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
    f->session.shared = facts.shared;
    f->epoch = facts.header.next_epoch + 1;
    if (zshared_name(f, facts.token))
        return zfile_raise_status(f, ZMPI_ERR_MEMORY, "opening");
    return facts.entries_size ? share_entries(f, c, facts.entries_size) : MPI_SUCCESS;
}

/* What the file holds now; facts are its status, size of the entries and logical size. */
static void read_again(struct zfile *f, struct zmpi_container *c, uint64_t facts[3])
{
    struct zmpi_reader reader = zfile_reader(f);
    enum zmpi_status status = ZMPI_OK;
    if (reader.file_size) /* the last writer wrote nothing: it left an empty file */
        status = zmpi_container_open(c, &reader);
    facts[0] = status;
    facts[1] = !status && c->count ? zmpi_entries_size(c->record, c->count) : 0;
    facts[2] = c->logical_size;
}

int zindex_reload(struct zfile *f)
{
    struct zmpi_container fresh;
    uint64_t facts[3] = {0};
    zmpi_container_init(&fresh);
    if (f->rank == 0)
        read_again(f, &fresh, facts);
    int rc = PMPI_Bcast(facts, 3, MPI_UINT64_T, 0, f->comm);
    if (!rc && facts[0])
        rc = zfile_raise_status(f, (enum zmpi_status)facts[0], "reading what others wrote");
    if (!rc && !zfile_may_read(f))
        f->container.logical_size = facts[2];
    else if (!rc && facts[1])
        rc = share_entries(f, &fresh, facts[1]);
    if (rc || !zfile_may_read(f)) {
        zmpi_container_free(&fresh);
        return rc;
    }
    fresh.header = f->container.header;
    fresh.logical_size = facts[2];
    zmpi_container_free(&f->container);
    f->container = fresh;
    return MPI_SUCCESS;
}
