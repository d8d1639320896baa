/* contents.c - what a file holds: a plain file, a container, or several in a row; and what was
 * added to it later. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "reader/reader.h"

static void part_free(struct zmpi_part *p)
{
    zmpi_container_free(&p->container);
    zmpi_enhancer_free(&p->enhancer);
    zmpi_opened_free(&p->opened);
    free(p->record);
    free(p);
}

uint64_t zmpi_contents_records(const struct zmpi_contents *c)
{
    const struct zmpi_part *last = c->part[c->count - 1];
    return last->first + last->container.count;
}

void zmpi_contents_free(struct zmpi_contents *c)
{
    for (size_t i = 0; i < c->count; i++)
        part_free(c->part[i]);
    free(c->part);
    memset(c, 0, sizeof *c);
}

static enum zmpi_status fail(struct zmpi_trouble *t, enum zmpi_status status, int system,
                             const char *what)
{
    *t = (struct zmpi_trouble){status, system, ZMPI_READER_NO_RECORD, what};
    return status;
}

/* Adds the part that begins at `base`. */
static struct zmpi_part *add_part(const struct zmpi_reader_file *f, struct zmpi_contents *c,
                                  uint64_t base)
{
    struct zmpi_part **grown = realloc(c->part, (c->count + 1) * sizeof *grown);
    struct zmpi_part *p = calloc(1, sizeof *p);
    if (grown)
        c->part = grown;
    if (!grown || !p) {
        free(p);
        return NULL;
    }
    zmpi_container_init(&p->container);
    p->source = (struct zmpi_source){.fd = f->fd, .base = base};
    p->in = zmpi_source_reader(&p->source, c->physical - base, f->threads);
    p->in.opened = &p->opened;
    if (!f->own)
        p->in.data_at = NULL; /* SEEK_DATA would move the descriptor's position */
    p->begin = c->logical;
    if (c->count > 0)
        p->first = zmpi_contents_records(c);
    return c->part[c->count++] = p;
}

/* Is it a file that can be read? */
static enum zmpi_status check_kind(const struct zmpi_reader_file *f, struct zmpi_contents *c,
                                   enum zmpi_kind kind, struct zmpi_trouble *t)
{
    const bool is_plain = kind == ZMPI_KIND_PLAIN || kind == ZMPI_KIND_PLAIN_OVER;
    c->plain = is_plain && c->count == 1;
    if (kind == ZMPI_KIND_DESTROYED)
        return fail(t, ZMPI_ERR_FORMAT, 0,
                    "was a zmpi container before its first bytes were written over: nothing can be "
                    "read any more");
    if (kind == ZMPI_KIND_HEADLESS)
        return fail(t, ZMPI_ERR_CORRUPT, 0,
                    "is a zmpi container whose first bytes never reached the disk (zmpi recover)");
    if (is_plain && !(c->plain && f->flags & ZMPI_READER_PLAIN))
        return fail(t, ZMPI_ERR_FORMAT, 0,
                    kind == ZMPI_KIND_PLAIN
                        ? "is not a zmpi container"
                        : "is a plain file: a program without zmpi wrote over a zmpi container "
                          "(zmpi recover)");
    return ZMPI_OK;
}

/* Reads the network, if the caller wants it. */
static enum zmpi_status read_enhancer(const struct zmpi_reader_file *f, struct zmpi_part *p,
                                      struct zmpi_trouble *t)
{
    bool there = false;
    if (!(f->flags & ZMPI_READER_ENHANCE))
        return ZMPI_OK;
    const enum zmpi_status status = zmpi_enhancer_read(&p->container, &p->in, &p->enhancer, &there);
    if (there)
        p->in.enhancer = &p->enhancer;
    if (!status || status == ZMPI_ERR_IO || status == ZMPI_ERR_MEMORY || status == ZMPI_ERR_VERSION)
        return status ? fail(t, status, status == ZMPI_ERR_IO ? p->source.failed : 0, NULL)
                      : ZMPI_OK;
    return fail(t, status, 0, ZMPI_ENHANCER_DAMAGED);
}

static enum zmpi_status read_part(const struct zmpi_reader_file *f, struct zmpi_contents *c,
                                  struct zmpi_part *p, struct zmpi_trouble *t)
{
    enum zmpi_kind kind;
    enum zmpi_status status = zmpi_source_look(&p->in, &kind);
    if (!status && (status = check_kind(f, c, kind, t)) != ZMPI_OK)
        return status;
    p->length = p->in.file_size;
    if (!status && !c->plain) {
        status = zmpi_container_open(&p->container, &p->in);
        p->length = p->container.logical_size;
    }
    if (status)
        return fail(t, status, status == ZMPI_ERR_IO ? p->source.failed : 0, NULL);
    if (p->length > ZMPI_SIZE_MAX - c->logical)
        return fail(t, ZMPI_ERR_SIZE, 0, NULL);
    c->logical += p->length;
    return c->plain ? ZMPI_OK : read_enhancer(f, p, t);
}

/* Keeps the header of the last part: a change of the file shows in it. */
static void keep_header(struct zmpi_contents *c)
{
    const struct zmpi_part *p = c->part[c->count - 1];
    const uint64_t there = p->in.file_size;
    const size_t size = there < sizeof c->header ? (size_t)there : sizeof c->header;
    memset(c->header, 0, sizeof c->header);
    (void)p->in.read(p->in.context, 0, c->header, size);
}

static bool is_young(const struct timespec *modified)
{
    struct timespec now;
    return clock_gettime(CLOCK_REALTIME, &now) != 0 || now.tv_sec - modified->tv_sec < 2;
}

bool zmpi_contents_same(const struct zmpi_reader_file *f)
{
    struct stat s;
    return fstat(f->fd, &s) == 0 && (uint64_t)s.st_size == f->now.physical &&
           s.st_mtim.tv_sec == f->now.modified.tv_sec &&
           s.st_mtim.tv_nsec == f->now.modified.tv_nsec && !is_young(&s.st_mtim);
}

enum zmpi_status zmpi_contents_open(const struct zmpi_reader_file *f, struct zmpi_contents *c,
                                    struct zmpi_trouble *t)
{
    struct stat s;
    memset(c, 0, sizeof *c);
    if (fstat(f->fd, &s))
        return fail(t, ZMPI_ERR_IO, errno, NULL);
    if (!S_ISREG(s.st_mode))
        return fail(t, ZMPI_ERR_ARG, 0, "is not a regular file");
    if (s.st_size == 0 && pread(f->fd, &(char){0}, 1, 0) > 0) /* as in /proc */
        return fail(t, ZMPI_ERR_ARG, 0, "does not say how long it is");
    c->physical = (uint64_t)s.st_size;
    c->modified = s.st_mtim;
    enum zmpi_status status = ZMPI_OK;
    for (uint64_t base = 0, joined = 1; joined && !status; base += joined) {
        struct zmpi_part *p = add_part(f, c, base);
        status = p ? read_part(f, c, p, t) : fail(t, ZMPI_ERR_MEMORY, 0, NULL);
        joined = status ? 0 : p->container.joined;
    }
    if (status)
        zmpi_contents_free(c);
    else
        keep_header(c);
    return status;
}

/* ---- what was added ---- */

/* Has the log only grown? The header is the same, and new records lie behind what it covers. */
static bool only_grew(const struct zmpi_reader_file *f, struct stat *s)
{
    const struct zmpi_contents *c = &f->now;
    const struct zmpi_part *p = c->part[c->count - 1];
    const struct zmpi_container *k = &p->container;
    unsigned char header[ZMPI_HEADER_BYTES];
    return !c->plain && fstat(f->fd, s) == 0 && (uint64_t)s->st_size >= c->physical &&
           c->physical >= p->source.base + sizeof header && !k->index_damaged && !k->copied &&
           !k->torn && p->in.read(p->in.context, 0, header, sizeof header) == ZMPI_OK &&
           memcmp(header, c->header, sizeof header) == 0;
}

/* Records that were incomplete before may now be complete, between others. So every place without a
 * known record, behind what the index covers, is scanned again. */
static enum zmpi_status scan_gaps(struct zmpi_part *p)
{
    struct zmpi_container *c = &p->container;
    struct zmpi_run *gap;
    size_t n;
    struct zmpi_reader in = p->in;
    enum zmpi_status status = zmpi_container_gaps(c, &p->in, p->in.file_size, &gap, &n);
    if (status)
        return status;
    c->damaged = 0;
    for (size_t i = 0; i < n && !status; i++) {
        const uint64_t end = gap[i].offset + gap[i].length;
        if (c->indexed > 0 && end <= c->header.log_end)
            continue;
        in.file_size = end;
        c->joined = 0; /* only counts if no other record follows */
        const uint64_t from =
            c->indexed > 0 && gap[i].offset < c->header.log_end ? c->header.log_end : gap[i].offset;
        status = zmpi_container_follow(c, &in, from);
    }
    free(gap);
    return status ? status : zmpi_container_seal(c, &p->in);
}

bool zmpi_contents_follow(struct zmpi_reader_file *f)
{
    struct zmpi_contents *c = &f->now;
    struct zmpi_part *p = c->part[c->count - 1];
    struct stat s;
    if (!only_grew(f, &s))
        return false;
    p->in.file_size = (uint64_t)s.st_size - p->source.base;
    free(p->record);
    p->record = NULL;
    zmpi_opened_free(&p->opened);
    if (scan_gaps(p) || p->container.joined || p->container.logical_size > ZMPI_SIZE_MAX - p->begin)
        return false;
    p->length = p->container.logical_size;
    c->physical = (uint64_t)s.st_size;
    c->logical = p->begin + p->length;
    c->modified = s.st_mtim;
    return true;
}
