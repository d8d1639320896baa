/*
 * share.c - from rank 0, which reads header and directory, to all ranks: where the records are.
 *
 * A small index goes along as a whole. Of a large one, ranks get the directory, check a part each,
 * and read later what they need.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "index/header.h"

#define SMALL_INDEX ((size_t)1 << 20)

int zindex_not_whole(struct zfile *f)
{
    return zfile_raise(f, MPI_ERR_IO,
                       "damaged or cut off, data may be missing: zmpi fsck tells what is left, "
                       "--repair keeps that");
}

enum zmpi_status zindex_read_small(struct zmpi_container *c, const struct zmpi_reader *in)
{
    if (zmpi_index_segments_size(c->all.segment, c->indexed) > SMALL_INDEX)
        return ZMPI_OK;
    return zmpi_container_read_index(c, in);
}

/* ---- what is sent: segments, entries of those segments if all are there, other records ---- */

struct parcel {
    uint64_t status;
    uint64_t segments, entries, others; /* segments: their number; the others: bytes */
};

static uint64_t entries_size(const struct zmpi_container *c)
{
    uint64_t size = 0;
    for (size_t k = 0; k < c->indexed; k++) {
        if (!c->all.segment[k].entries)
            return 0;
        size += c->all.segment[k].size;
    }
    return size;
}

static size_t parcel_size(const struct parcel *p)
{
    return p->segments * sizeof(struct zmpi_segment) + p->entries + p->others;
}

/* Rank 0 packs its records. */
static unsigned char *pack(const struct zmpi_container *c, struct parcel *p)
{
    struct zmpi_entries others = {0};
    *p = (struct parcel){.status = zmpi_container_new_entries(c, &others),
                         .segments = c->indexed,
                         .entries = entries_size(c),
                         .others = others.size};
    unsigned char *bytes = malloc(parcel_size(p) + 1), *at = bytes;
    if (!bytes)
        p->status = ZMPI_ERR_MEMORY;
    if (!p->status) {
        if (p->segments)
            memcpy(at, c->all.segment, p->segments * sizeof(struct zmpi_segment));
        at += p->segments * sizeof(struct zmpi_segment);
        for (size_t k = 0; k < c->indexed && p->entries; k++) {
            memcpy(at, c->all.segment[k].entries, c->all.segment[k].size);
            at += c->all.segment[k].size;
        }
        if (p->others)
            memcpy(at, others.data, others.size);
    }
    zmpi_entries_free(&others);
    return bytes;
}

static enum zmpi_status unpack(struct zmpi_container *c, const struct parcel *p,
                               const unsigned char *bytes)
{
    const struct zmpi_segment *segment = (const void *)bytes;
    const unsigned char *at = bytes + p->segments * sizeof *segment;
    enum zmpi_status status = zmpi_container_add_index(c, segment, p->segments);
    for (size_t k = 0; k < c->indexed && p->entries && !status; k++) {
        status = zmpi_container_take(c, k, at, c->all.segment[k].size);
        at += c->all.segment[k].size;
    }
    return status ? status : zmpi_container_add_entries(c, at, p->others);
}

/* Collective: *status becomes the worst of all ranks. */
static int agree(struct zfile *f, uint64_t *status)
{
    uint64_t mine = *status;
    return PMPI_Allreduce(&mine, status, 1, MPI_UINT64_T, MPI_MAX, f->comm);
}

/* Sends rank 0's packed records to `bytes` of the other ranks. */
static int send_bytes(struct zfile *f, unsigned char *bytes, size_t size)
{
    int rc = MPI_SUCCESS;
    for (size_t at = 0; at < size && !rc; at += INT_MAX) {
        size_t left = size - at;
        rc = PMPI_Bcast(bytes + at, left < INT_MAX ? (int)left : INT_MAX, MPI_BYTE, 0, f->comm);
    }
    return rc;
}

/* Sends rank 0's records to the c of the others, which has only a header so far. It fails on all
 * ranks or on none. */
static int send_records(struct zfile *f, struct zmpi_container *c, struct parcel *p)
{
    unsigned char *bytes = f->rank == 0 ? pack(c, p) : NULL;
    int rc = PMPI_Bcast(p, sizeof *p, MPI_BYTE, 0, f->comm);
    uint64_t status = p->status;
    if (!rc && !status && parcel_size(p)) {
        if (f->rank)
            bytes = malloc(parcel_size(p));
        status = bytes ? ZMPI_OK : ZMPI_ERR_MEMORY;
        rc = agree(f, &status);
        if (!rc && !status)
            rc = send_bytes(f, bytes, parcel_size(p));
        if (!rc && !status) {
            status = f->rank ? unpack(c, p, bytes) : ZMPI_OK;
            rc = agree(f, &status);
        }
    }
    free(bytes);
    return status ? zfile_raise_status(f, (enum zmpi_status)status, "opening") : rc;
}

/* Each rank reads and checks its part of the index. *damaged, on all ranks: a part is damaged. */
static int check_parts(struct zfile *f, struct zmpi_container *c, int *damaged)
{
    struct zmpi_reader reader = zfile_reader(f);
    size_t n = c->indexed, r = (size_t)f->rank, ranks = (size_t)f->ranks;
    int bad = zmpi_container_load(c, &reader, n * r / ranks, n * (r + 1) / ranks) != ZMPI_OK;
    return PMPI_Allreduce(&bad, damaged, 1, MPI_INT, MPI_MAX, f->comm);
}

/* Scans the log, without the index. */
static int scan_instead(struct zfile *f, struct zmpi_container *c)
{
    struct zmpi_header header = c->header;
    struct zmpi_reader reader = zfile_reader(f);
    struct parcel p;
    int worst = MPI_SUCCESS;
    zmpi_container_free(c);
    c->header = header;
    if (f->rank == 0) {
        enum zmpi_status status = zmpi_container_scan(c, &reader);
        c->index_damaged = true;
        if (status)
            worst = zfile_raise_status(f, status, "opening");
        else if (!zmpi_container_whole(c))
            worst = zindex_not_whole(f);
    }
    int rc = PMPI_Bcast(&worst, 1, MPI_INT, 0, f->comm);
    return rc || worst ? (rc ? rc : worst) : send_records(f, c, &p);
}

static int share_records(struct zfile *f, struct zmpi_container *c)
{
    struct parcel p = {0};
    int damaged = 0, rc = send_records(f, c, &p);
    if (!rc && p.segments && !p.entries)
        rc = check_parts(f, c, &damaged);
    return damaged && !rc ? scan_instead(f, c) : rc;
}

/* ---- at open ---- */

/* What all ranks must know about the container, without its records. */
struct facts {
    struct zmpi_header header;
    uint64_t logical_size, end;
    uint64_t token; /* names what belongs to this open alone */
    bool shared;
};

/* Names the shared file pointer's file: the same on all ranks, and different for every open. */
static void name_shared_pointer(struct zfile *f, uint64_t token)
{
    const char *slash = strrchr(f->place, '/');
    int folder = slash ? (int)(slash - f->place) + 1 : 0;
    /* The file's name may already be as long as the file system allows, so only a part of it is
     * used; the token makes the name unique. */
    snprintf(f->shared.path, strlen(f->place) + ZSHARED_NAME, "%.*s.%.200s.zmpi-shared-%016llx",
             folder, f->place, f->place + folder, (unsigned long long)token);
}

int zindex_share(struct zfile *f)
{
    struct zmpi_container *c = &f->container;
    struct facts facts = {.header = c->header,
                          .logical_size = c->logical_size,
                          .end = f->log.end,
                          .shared = f->session.shared};
    if (f->rank == 0 &&
        getrandom(&facts.token, sizeof facts.token, 0) != (ssize_t)sizeof facts.token)
        facts.token = (uint64_t)getpid();
    int rc = PMPI_Bcast(&facts, (int)sizeof facts, MPI_BYTE, 0, f->comm);
    if (rc)
        return rc;
    c->header = facts.header;
    f->log.end = facts.end;
    f->session.shared = facts.shared;
    f->log.epoch = f->log.first_epoch = facts.header.next_epoch + 1;
    name_shared_pointer(f, facts.token);
    if (zfile_may_read(f))
        rc = share_records(f, c);
    else
        c->logical_size = facts.logical_size;
    return rc;
}

/* ---- later ---- */

/* Reads what the file holds now. */
static enum zmpi_status read_again(struct zfile *f, struct zmpi_container *c)
{
    struct zmpi_reader reader = zfile_reader(f);
    c->header = f->container.header;
    if (reader.file_size == 0) /* the last writer wrote nothing: it left an empty file */
        return ZMPI_OK;
    enum zmpi_status status = zmpi_container_open_lazily(c, &reader);
    status = status ? status : zindex_read_small(c, &reader);
    return !status && !zmpi_container_whole(c) ? ZMPI_ERR_CORRUPT : status;
}

/* records: share the places of records, too, and not the size alone. */
static int share_again(struct zfile *f, struct zmpi_container *c, bool records)
{
    struct facts facts = {0};
    uint64_t status = ZMPI_OK;
    if (f->rank == 0) {
        status = read_again(f, c);
        facts.header = c->header;
        facts.logical_size = c->logical_size;
    }
    int rc = PMPI_Bcast(&status, 1, MPI_UINT64_T, 0, f->comm);
    if (!rc && status)
        rc = zfile_raise_status(f, (enum zmpi_status)status, "reading what others wrote");
    if (!rc)
        rc = PMPI_Bcast(&facts, (int)sizeof facts, MPI_BYTE, 0, f->comm);
    c->header = facts.header;
    if (!rc && records)
        return share_records(f, c);
    c->logical_size = facts.logical_size;
    return rc;
}

int zindex_read_all(struct zfile *f, struct zmpi_container *c)
{
    return share_again(f, c, true);
}

void zindex_replace(struct zfile *f, const struct zmpi_container *fresh)
{
    zmpi_container_free(&f->container);
    zreadahead_forget(f);
    f->container = *fresh;
    znews_forget(&f->news);
}

int zindex_reload(struct zfile *f)
{
    struct zmpi_container fresh;
    zmpi_container_init(&fresh);
    if (f->rank == 0)
        zsession_looked(f);
    int rc = share_again(f, &fresh, zfile_may_read(f));
    if (rc || !zfile_may_read(f)) {
        if (!rc)
            f->container.logical_size = fresh.logical_size;
        zmpi_container_free(&fresh);
        return rc;
    }
    zindex_replace(f, &fresh);
    return MPI_SUCCESS;
}
