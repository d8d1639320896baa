/*
 * reuse.c - uses gaps again while the file is open, where newer records cover older ones
 * (docs/architecture.md, "Where records go").
 *
 * close/trim.c finds the gaps: no index on the disk names them, and nobody reads there. New records
 * in a gap lie in front of the log's end, where a scan behind an index would not look. So before
 * the first of them both slots of the header go to the disk without an index, and no copy of the
 * header names one. Then a program that opens the file after a crash scans all of it.
 */
#include <stdlib.h>
#include <unistd.h>

#include "file/physical.h"
#include "file/zfile.h"

void zreuse_drop(struct zfile *f)
{
    free(f->reuse.gap);
    f->reuse.gap = NULL;
    f->reuse.gaps = 0;
}

/* Writes the header without an index to both slots. If one write is torn, the other slot is
 * whole. */
static bool put_headers(const struct zfile *f, struct zmpi_header *h)
{
    const int fd = f->session.fd;
    struct zmpi_header_part part[2];
    bool good = true;
    h->index_offset = h->index_length = 0;
    h->tallied = false;
    h->log_end = ZMPI_HEADER_BYTES;
    for (int slot = 0; slot < 2 && good; slot++) {
        h->generation++;
        zmpi_header_parts(h, part);
        for (int i = 0; i < 2 && good; i++)
            good = !zfd_write(fd, part[i].bytes, part[i].size, (off_t)part[i].offset);
        good = good && !fdatasync(fd);
    }
    return good;
}

/* If the header is lost, no copy that names an index may take its place. */
static bool clear_copies(struct zfile *f)
{
    static const unsigned char zeros[ZMPI_HEADER_COPY_BYTES];
    struct zmpi_reader reader = zfile_reader(f);
    uint64_t place = reader.file_size;
    bool good = true;
    while (good && zmpi_header_copy_before(&reader, &place))
        good = !zfd_write(f->session.fd, zeros, sizeof zeros, (off_t)place);
    return good;
}

/* Each rank calls this before it places something in front of the log's end. */
static bool begin(struct zfile *f)
{
    unsigned char b[ZMPI_HEADER_BYTES];
    struct zmpi_header h;
    uint64_t end = f->log.end;
    if (zsession_lock(f))
        return false;
    bool good = !zsession_reserve(f, 0, &end, NULL) && !f->session.shared && f->session.fd >= 0 &&
                zfd_read(f->session.fd, b, sizeof b, 0) == (ssize_t)sizeof b &&
                zmpi_header_decode(&h, b) == ZMPI_OK;
    if (good && h.log_end > ZMPI_HEADER_BYTES) /* no other rank was here */
        good = clear_copies(f) && put_headers(f, &h);
    zsession_unlock(f);
    f->reuse.begun = good;
    return good;
}

/* Returns the first gap that is large enough. */
static size_t find(const struct zreuse *u, uint64_t size)
{
    size_t i = 0;
    while (i < u->gaps && u->gap[i].length < size)
        i++;
    return i;
}

bool zreuse_fits(const struct zfile *f, uint64_t size)
{
    return size > 0 && find(&f->reuse, size) < f->reuse.gaps;
}

uint64_t zreuse_offer(const struct zfile *f, uint64_t size, uint64_t *base)
{
    const struct zreuse *u = &f->reuse;
    size_t i = find(u, size);
    if (u->gaps == 0 || size == 0 || f->session.shared || f->session.atomic)
        return 0;
    i = i < u->gaps ? i : 0;
    for (size_t k = 0; u->gap[i].length < size && k < u->gaps; k++)
        if (u->gap[k].length > u->gap[i].length)
            i = k;
    const struct zmpi_run *gap = &u->gap[i];
    const bool from_top = gap->length >= size && gap->offset + gap->length == u->top;
    *base = gap->offset + (from_top ? gap->length - size : 0);
    return gap->length < size ? gap->length : size;
}

bool zreuse_take_at(struct zfile *f, uint64_t base, uint64_t size)
{
    struct zreuse *u = &f->reuse;
    size_t i = 0;
    while (i < u->gaps && (base < u->gap[i].offset || base - u->gap[i].offset > u->gap[i].length))
        i++;
    struct zmpi_run *gap = i < u->gaps ? &u->gap[i] : NULL;
    const bool at_begin = gap && base == gap->offset && size <= gap->length;
    const bool at_end = gap && base + size == gap->offset + gap->length;
    if (f->session.shared || f->session.atomic || (!at_begin && !at_end) ||
        (!u->begun && !begin(f))) {
        zreuse_drop(f);
        return false;
    }
    if (!at_begin && gap->offset + gap->length == u->top)
        u->top -= size;
    gap->offset += at_begin ? size : 0;
    gap->length -= size;
    u->filled += size;
    return true;
}

bool zreuse_take(struct zfile *f, uint64_t size, uint64_t *base)
{
    if (!zreuse_fits(f, size))
        return false;
    *base = f->reuse.gap[find(&f->reuse, size)].offset;
    return zreuse_take_at(f, *base, size);
}

void zreuse_look(struct zfile *f)
{
    unsigned char b[ZMPI_HEADER_BYTES];
    struct zmpi_header h;
    if (f->session.counted && f->session.fd >= 0 &&
        zfd_read(f->session.fd, b, sizeof b, 0) == (ssize_t)sizeof b &&
        zmpi_header_decode(&h, b) == ZMPI_OK && h.generation > f->container.header.generation)
        f->container.header.generation = h.generation;
}
