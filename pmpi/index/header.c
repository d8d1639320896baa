/* header.c - the container's header and index, written and shared by all ranks. */
#include "file/physical.h"
#include "index/header.h"

#include <errno.h>
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

/* Rank 0: writes the header to the slot that does not count now. */
static int put_header(struct zfile *f, struct zmpi_header *h)
{
    struct zmpi_header_part part[2];
    int rc = MPI_SUCCESS;
    if (h == &f->container.header)
        zreuse_look(f);
    h->generation++;
    zmpi_header_parts(h, part);
    for (int i = 0; i < 2 && !rc; i++)
        rc = zwrite_at(f, part[i].offset, part[i].bytes, part[i].size);
    if (rc) /* this slot may be torn, so the next header goes here again */
        h->generation--;
    return rc;
}

static void without_index(struct zmpi_header *h)
{
    h->index_offset = h->index_length = 0;
    h->tallied = false;
    h->log_end = ZMPI_HEADER_BYTES;
}

int zheader_reset(struct zfile *f)
{
    struct zmpi_header *h = &f->container.header;
    h->logical_size = 0;
    without_index(h);
    h->next_epoch = f->log.epoch + 1;
    return agree(f, f->rank == 0 ? put_header(f, h) : MPI_SUCCESS);
}

/* Draws a new id. */
static int draw_id(struct zfile *f, unsigned char id[16])
{
    unsigned char drawn[16];
    if (getrandom(drawn, sizeof drawn, 0) != (ssize_t)sizeof drawn)
        return zfile_raise(f, MPI_ERR_OTHER, "no random numbers for the file's id");
    memcpy(id, drawn, sizeof drawn);
    return MPI_SUCCESS;
}

int zheader_rename(struct zfile *f)
{
    struct zmpi_header *h = &f->container.header, old = *h;
    int rc = MPI_SUCCESS;
    if (f->rank == 0) {
        rc = draw_id(f, h->id);
        rc = rc ? rc : put_header(f, h);
        if (rc)
            memcpy(h->id, old.id, sizeof h->id);
    }
    int sent = PMPI_Bcast(h->id, (int)sizeof h->id, MPI_BYTE, 0, f->comm);
    rc = rc ? rc : sent;
    return agree(f, rc);
}

/* Rank 0: what this node has written goes to the disk. */
static int sync_here(struct zfile *f)
{
    const int fd = zsession_descriptor(f);
    errno = 0;
    return fd >= 0 && fdatasync(fd) ? zphysical_failed(f, MPI_SUCCESS, errno, "fdatasync")
                                    : MPI_SUCCESS;
}

/* No record is written before the header is on the disk: after a power failure nobody could tell a
 * container without its first page from a plain file. (A file that is beside another one takes its
 * name when all of it is there.) */
int zheader_create(struct zfile *f)
{
    struct zmpi_header *h = &f->container.header;
    unsigned char block[ZMPI_HEADER_BYTES] = {0};
    memset(h, 0, sizeof *h);
    int rc = draw_id(f, h->id);
    if (rc)
        return rc;
    h->generation = 1;
    h->log_end = ZMPI_HEADER_BYTES;
    zmpi_header_put(h, block);
    rc = zwrite_at(f, 0, block, sizeof block);
    return rc || f->replace ? rc : sync_here(f);
}

size_t zheader_section(const struct zfile *f, const struct zmpi_header *h,
                       unsigned char dst[ZMPI_CALLS_POINTER])
{
    const struct zsection *s = &f->section;
    if (!s->bytes || !h->tallied)
        return 0;
    zmpi_calls_point(h->id, s->offset, s->size, h->tally, dst);
    return ZMPI_CALLS_POINTER;
}

/* Rank 0: the header points to the section. */
static int point_to_section(struct zfile *f)
{
    unsigned char pointer[ZMPI_CALLS_POINTER];
    const size_t size = zheader_section(f, &f->container.header, pointer);
    return size ? zwrite_at(f, ZMPI_CALLS_AT, pointer, size) : MPI_SUCCESS;
}

/* Reserves a place for the index, through rank 0, and one in front of it for the section. *offset
 * 0: others are writing. */
static int index_place(struct zfile *f, uint64_t size, uint64_t *offset)
{
    uint64_t place[2] = {f->log.end, MPI_SUCCESS};
    if (f->rank == 0) {
        place[1] = (uint64_t)zsession_reserve(f, f->section.size + size, &place[0], NULL);
        f->section.offset = place[0];
        place[0] = f->session.shared ? 0 : place[0] + f->section.size;
    }
    int rc = PMPI_Bcast(place, 2, MPI_UINT64_T, 0, f->comm);
    *offset = place[0];
    return rc ? rc : (int)place[1];
}

/* Is the record in this rank's part of the index? That has the records that the rank wrote; rank
 * 0's also has all earlier ones. */
static bool is_mine(const void *context, const struct zmpi_record *r)
{
    const struct zfile *f = context;
    return r->order >> 32 < f->log.first_epoch ? f->rank == 0 : r->rank == (uint32_t)f->rank;
}

/* Writes this rank's segments at the physical offset, and rank 0 the section in front of them. */
static int write_segments(struct zfile *f, struct zmpi_segments *s, size_t size, uint64_t offset)
{
    const unsigned char *id = f->container.header.id;
    const size_t before = f->section.size;
    unsigned char *bytes = malloc(before + size + 1);
    if (!bytes)
        return zfile_raise_status(f, ZMPI_ERR_MEMORY, "writing the index");
    if (before) {
        zmpi_calls_seal(f->section.bytes, before, id, offset - before);
        memcpy(bytes, f->section.bytes, before);
    }
    zmpi_index_put_segments(s->segment, s->count, id, offset, bytes + before);
    int rc = before + size ? zwrite_at(f, offset - before, bytes, before + size) : MPI_SUCCESS;
    free(bytes);
    return rc;
}

/* Rank 0: writes the directory, of the former index's segments and those of all ranks, and the copy
 * of the next header. */
static int write_directory(struct zfile *f, const struct zmpi_segment *all, size_t n)
{
    struct zmpi_header next = f->container.header;
    const uint64_t offset = next.index_offset;
    const size_t size = (size_t)next.index_length;
    unsigned char *bytes = malloc(size + ZMPI_HEADER_COPY_BYTES);
    if (!bytes)
        return zfile_raise_status(f, ZMPI_ERR_MEMORY, "writing the index");
    zmpi_index_put_directory(all, n, next.id, offset, bytes);
    next.generation++;
    zmpi_header_copy(&next, bytes + size);
    int rc = zwrite_at(f, offset, bytes, size + ZMPI_HEADER_COPY_BYTES);
    free(bytes);
    return rc;
}

/* Collective: gathers the segments of all ranks in all[] on rank 0, behind the first `before` ones.
 */
static int gather_segments(struct zfile *f, const struct zmpi_segments *s, size_t before,
                           struct zmpi_segment *all)
{
    int mine = (int)(s->count * sizeof *all), total = 0;
    int *sizes = f->news.sizes, *places = f->news.places;
    int rc = PMPI_Gather(&mine, 1, MPI_INT, sizes, 1, MPI_INT, 0, f->comm);
    for (int r = 0; f->rank == 0 && !rc && r < f->ranks; r++) {
        places[r] = total;
        total += sizes[r];
    }
    if (!rc)
        rc = PMPI_Gatherv(s->segment, mine, MPI_BYTE, all ? all + before : NULL, sizes, places,
                          MPI_BYTE, 0, f->comm);
    return rc;
}

/* All ranks write their segments behind the log, and rank 0 the directory. counts, all: bytes of
 * segments, their number and their tally, of this rank and of all ranks. */
static int write_parts(struct zfile *f, struct zmpi_segments *mine, const uint64_t counts[4],
                       const uint64_t all[4])
{
    struct zmpi_header *h = &f->container.header;
    struct zmpi_segment *segment = NULL;
    const uint64_t directory = zmpi_index_directory_size(all[1]);
    uint64_t before = 0, offset = 0, total = all[0] + directory + ZMPI_HEADER_COPY_BYTES;
    int worst = MPI_SUCCESS, rc = PMPI_Exscan(counts, &before, 1, MPI_UINT64_T, MPI_SUM, f->comm);
    if (!rc)
        rc = index_place(f, total, &offset);
    if (rc || offset == 0)
        return rc;
    rc = write_segments(f, mine, counts[0], offset + (f->rank ? before : 0));
    if (f->rank == 0) {
        segment = malloc(all[1] * sizeof *segment);
        if (segment && f->container.indexed)
            memcpy(segment, f->container.all.segment, f->container.indexed * sizeof *segment);
        rc = segment ? rc : zfile_raise_status(f, ZMPI_ERR_MEMORY, "writing the index");
    }
    /* A header must not point to an index with a hole. Without one, readers scan the log. */
    PMPI_Allreduce(&rc, &worst, 1, MPI_INT, MPI_MAX, f->comm);
    if (worst) {
        free(segment);
        return rc ? rc : worst;
    }
    worst = gather_segments(f, mine, f->container.indexed, segment);
    if (!worst && f->rank == 0) {
        h->index_offset = offset + all[0];
        h->index_length = directory;
        h->log_end = f->log.end = offset + total;
        zmpi_index_tally(&f->container, all[2], h);
        worst = write_directory(f, segment, all[1]);
        worst = worst ? worst : point_to_section(f);
        worst = worst ? worst : put_header(f, h);
    }
    free(segment);
    return agree(f, worst);
}

/* Makes this rank's part of the index. Collective. */
static int make_part(struct zfile *f, struct zmpi_segments *mine)
{
    struct zmpi_reader reader = zfile_reader(f);
    /* If this rank has lost records, the size is unknown, too. */
    enum zmpi_status status = f->news.lost ? ZMPI_ERR_MEMORY : znews_take(f);
    if (!status)
        status = zmpi_index_collect(&f->container, &reader, f->rank == 0, is_mine, f, mine);
    int rc = status ? zfile_raise_status(f, status, "writing the index") : MPI_SUCCESS;
    rc = zfile_worst(f, rc);
    return rc ? rc : zfile_worst(f, zindex_sort(f, mine));
}

int zindex_write(struct zfile *f)
{
    struct zmpi_header *h = &f->container.header;
    struct zmpi_segments mine = {0};
    int rc = make_part(f, &mine);
    f->reuse.begun = false;
    if (f->rank == 0)
        zreuse_look(f);
    uint64_t all[4], counts[4] = {zmpi_index_segments_size(mine.segment, mine.count), mine.count,
                                  mine.tally, f->durable.hides};
    if (f->rank == 0)
        counts[1] += f->container.indexed;
    if (!rc)
        rc = PMPI_Allreduce(counts, all, 4, MPI_UINT64_T, MPI_SUM, f->comm);
    /* A record may hide synced data. So it must be on the disk before an index that has it. */
    if (!rc && all[3])
        rc = zsession_sync(f, false);
    if (rc) {
        zmpi_segments_free(&mine);
        return rc;
    }
    h->logical_size = f->container.logical_size;
    h->next_epoch = f->log.epoch + 1;
    if (all[1] == 0) {
        without_index(h);
        return agree(f, f->rank == 0 ? put_header(f, h) : MPI_SUCCESS);
    }
    rc = write_parts(f, &mine, counts, all);
    zmpi_segments_free(&mine);
    return rc;
}

/* Writes an index of all records of c behind the log, and the header that points to it. Nobody else
 * writes meanwhile. */
static int write_all(struct zfile *f, struct zmpi_container *c)
{
    struct zmpi_reader reader = zfile_reader(f);
    unsigned char *index;
    size_t size;
    uint64_t offset = f->log.end;
    int rc = zsession_reserve(f, 0, &offset, NULL);
    if (rc)
        return rc;
    enum zmpi_status status =
        zmpi_index_make(c, &reader, offset, c->header.generation + 1, &index, &size);
    if (status)
        return zfile_raise_status(f, status, "writing the index");
    rc = zsession_reserve(f, size, &offset, NULL);
    if (!rc)
        rc = zwrite_at(f, offset, index, size);
    free(index);
    if (!rc && c->scanned) /* they may hide synced data, as in zindex_write */
        rc = sync_here(f);
    return rc ? rc : put_header(f, &c->header);
}

int zindex_write_all(struct zfile *f)
{
    struct zmpi_container c;
    struct zmpi_reader reader = zfile_reader(f);
    zmpi_container_init(&c);
    enum zmpi_status status = zmpi_container_open_lazily(&c, &reader);
    int rc = status ? zfile_raise_status(f, status, "closing") : MPI_SUCCESS;
    if (!rc && !zmpi_container_whole(&c))
        rc = zindex_not_whole(f);
    if (!rc && c.count)
        rc = write_all(f, &c);
    zmpi_container_free(&c);
    return rc;
}
