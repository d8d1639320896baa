/*
 * trim.c - after a session that has overwritten much of its file: records that no read can see any
 * more leave the index, and their space goes back to the file system.
 *
 * Nothing that is in use moves, and no place is used twice. The order matters: first the new index
 * and header are written, then everything is synced, then the space is given back. So no header
 * that could come back after a power failure points into that space. A scan may find some of the
 * dropped records again; it also finds the newer ones, which win (format.md 2.7).
 */
#define _GNU_SOURCE // fallocate
#include "close/trim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "file/physical.h"
#include "index/header.h"

enum { NOTE_AT = 416, NOTE_BYTES = 24 };

/* Trimming is not worth it below these bytes: of growth, of one stretch of space, of all space. */
#define GROWTH_LEAST ((uint64_t)64 << 10)
#define GAP_LEAST    ((uint64_t)8 << 10)
#define DEAD_LEAST   ((uint64_t)32 << 10)
/* The most that is examined: records, 200 bytes of memory each; runs, up to 48 bytes each. */
#define RECORDS_MOST ((size_t)1 << 19)
#define RUNS_MOST    ((uint64_t)1 << 20)
#define REUSE_LEAST  ((uint64_t)4 << 10)
/* Stretches that are given back, or used again, at a time. */
#define GAPS_MOST ((size_t)1 << 16)

/* ---- what the log had when it was last looked through (format.md 2.6) ---- */

static void put_note(const struct zfile *f, const struct ztrim *t)
{
    unsigned char b[NOTE_BYTES];
    zmpi_store64(b, t->end);
    zmpi_store64(b + 8, t->live);
    zmpi_store64(b + 16, zmpi_hash(b, 16, 0));
    (void)zfd_write(f->session.fd, b, sizeof b, NOTE_AT);
}

/* Can the file system punch holes? This tries it behind the end of the file, where there are no
 * data. */
static bool is_possible(int fd, uint64_t behind)
{
    const off_t one = (off_t)1 << 20;
    return fd >= 0 && fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                ((off_t)behind / one + 2) * one, one) == 0;
}

/* Has the log grown by this many tenths of what was kept? Bytes that went into gaps count, too. */
static bool has_grown(const struct zfile *f, uint64_t reused, unsigned tenths)
{
    const uint64_t end = f->log.end, growth = end > f->trim.end ? end - f->trim.end : 0;
    return growth + reused >= GROWTH_LEAST && (growth + reused) / tenths >= f->trim.live / 10;
}

static bool is_wanted(const struct zfile *f, uint64_t written, uint64_t reused, unsigned tenths)
{
    const bool first = f->trim.live == 0;
    if (!f->options.trim || f->amode & MPI_MODE_DELETE_ON_CLOSE || f->session.shared ||
        f->session.no_locks || !has_grown(f, reused, tenths))
        return false;
    /* A session that has made the file overwrites much of it only if it wrote nearly twice the
     * file's size. */
    return !first || written >= f->container.logical_size / 10 * 19;
}

bool ztrim_wanted(const struct zfile *f, uint64_t written, uint64_t reused)
{
    return is_wanted(f, written, reused, 9);
}

void ztrim_remember(struct zfile *f, uint64_t reused)
{
    if (reused == 0 || f->trim.end < ZMPI_HEADER_BYTES + reused)
        return;
    f->trim.end -= reused;
    put_note(f, &f->trim);
}

bool ztrim_worth(struct zfile *f, uint64_t written, uint64_t reused)
{
    if (!is_wanted(f, written, reused, 5))
        return false;
    f->trim.end = f->log.end; /* whatever the result, the next trimming must wait */
    return true;
}

/* ---- the index without dead records ---- */

/* Rank 0 finds the records to drop. All data are in the file, and in its index. */
static bool plan_compaction(struct zfile *f, struct zmpi_compaction *out)
{
    struct zmpi_container c;
    struct zmpi_reader reader = zfile_reader(f);
    zmpi_container_init(&c);
    if (zmpi_container_open_lazily(&c, &reader))
        return false;
    bool done = c.indexed > 0 && c.scanned == 0 && c.damaged == 0 && c.count <= RECORDS_MOST &&
                zmpi_container_plan_compaction(&c, &reader, RUNS_MOST, out) == ZMPI_OK;
    zmpi_container_free(&c);
    return done;
}

/* Writes the index. A failure is not an error for the program, since the present index is still
 * good. */
static bool put_index(struct zfile *f, struct zmpi_container *kept, uint64_t *place)
{
    struct zmpi_reader reader = zfile_reader(f);
    const int fd = f->session.fd;
    struct zmpi_header_part part[2];
    struct zsection *s = &f->section;
    unsigned char *index, pointer[ZMPI_CALLS_POINTER];
    uint64_t offset = f->container.header.log_end;
    size_t size;
    if (zsession_reserve(f, 0, &offset, NULL) ||
        zmpi_index_make(kept, &reader, offset + s->size, kept->header.generation + 1, &index,
                        &size))
        return false;
    bool written = size > 0 && !zsession_reserve(f, s->size + size, &offset, NULL);
    s->offset = offset;
    if (s->bytes)
        zmpi_calls_seal(s->bytes, s->size, kept->header.id, offset);
    if (written && (zfd_write(fd, s->bytes, s->size, (off_t)offset) ||
                    zfd_write(fd, index, size, (off_t)(offset + s->size)))) {
        (void)!ftruncate(fd, (off_t)f->container.header.log_end);
        written = false;
    }
    free(index);
    *place = offset;
    if (!written)
        return false;
    const size_t points = zheader_section(f, &kept->header, pointer);
    written = !zfd_write(fd, pointer, points, ZMPI_CALLS_AT);
    kept->header.generation++;
    zmpi_header_parts(&kept->header, part);
    for (int i = 0; i < 2 && written; i++)
        written = !zfd_write(fd, part[i].bytes, part[i].size, (off_t)part[i].offset);
    return written;
}

/* Rank 0: is there space to give back when this index, at `place`, is safe on the disk? */
static bool renew_index(struct zfile *f, struct zmpi_compaction *s, uint64_t *place)
{
    bool renewed = false;
    if (f->session.fd < 0 || !zsession_only_begin(f))
        return false;
    if (plan_compaction(f, s)) {
        if (s->dead >= DEAD_LEAST && s->dead >= s->live / 4)
            renewed = put_index(f, &s->kept, place);
        if (renewed)
            f->container.header = s->kept.header;
        f->trim = (struct ztrim){f->container.header.log_end, s->live};
        put_note(f, &f->trim);
    }
    zsession_only_end(f);
    return renewed;
}

/* ---- room ---- */

/* Rank 0: sets the gaps that may be used again, by place; gap[] is taken over. */
static void keep_gaps(struct zfile *f, struct zmpi_run *gap, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (gap[i].length >= REUSE_LEAST)
            gap[kept++] = gap[i];
    zreuse_drop(f);
    f->reuse.gap = gap;
    f->reuse.gaps = kept < GAPS_MOST ? kept : GAPS_MOST;
    /* Slack between the oldest data and the newest stays where both can grow into it. */
    const struct zmpi_run *last = kept && kept <= GAPS_MOST ? &gap[kept - 1] : NULL;
    f->reuse.top = last && last->offset > ZMPI_HEADER_BYTES ? last->offset + last->length : 0;
}

/* Is it worth to use so many bytes again? */
static bool is_much(const struct zfile *f, uint64_t dead)
{
    return dead >= DEAD_LEAST && dead >= f->trim.live / 8;
}

static uint64_t sum_of(const struct zmpi_run *gap, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += gap[i].length;
    return sum;
}

/* Rank 0, at open: finds the gaps that an earlier session left. Segments of the index are read
 * later. */
static void find_gaps(struct zfile *f)
{
    struct zmpi_container *c = &f->container;
    struct zmpi_reader reader = zfile_reader(f);
    struct zmpi_run *gap = NULL;
    size_t n = 0;
    const uint64_t index = c->indexed ? c->all.segment[0].offset : 0;
    const uint64_t end = c->header.log_end, live = ZMPI_HEADER_BYTES + f->trim.live;
    const uint64_t dead = end > live ? end - live : 0; /* at most */
    if (!f->options.trim || !is_much(f, dead) || index == 0 || c->scanned || c->damaged ||
        c->copied || c->torn || c->count > RECORDS_MOST || !zsession_is_only(f))
        return;
    if (zmpi_container_gaps(c, &reader, index, &gap, &n))
        return;
    if (is_much(f, sum_of(gap, n))) /* and not only what earlier indexes took */
        keep_gaps(f, gap, n);
    else
        free(gap);
}

/* The second session of a file counts from the end of the first one. */
void ztrim_begin(struct zfile *f)
{
    const uint64_t end = f->container.header.log_end;
    unsigned char b[NOTE_BYTES];
    f->trim = (struct ztrim){.end = end};
    if (f->session.fd < 0 || end <= ZMPI_HEADER_BYTES)
        return;
    f->trim.live = end - ZMPI_HEADER_BYTES;
    if (zfd_read(f->session.fd, b, sizeof b, NOTE_AT) != (ssize_t)sizeof b)
        return;
    if (zmpi_load64(b + 16) == zmpi_hash(b, 16, 0) && zmpi_load64(b) <= end)
        f->trim = (struct ztrim){.end = zmpi_load64(b), .live = zmpi_load64(b + 8)};
    else
        put_note(f, &f->trim);
    find_gaps(f);
}

/* Does the file still end with the index that was written? */
static bool is_last(struct zfile *f)
{
    const struct zmpi_header *mine = &f->container.header;
    unsigned char b[ZMPI_HEADER_BYTES];
    struct zmpi_header h;
    return zfd_read(f->session.fd, b, sizeof b, 0) == (ssize_t)sizeof b &&
           zmpi_header_decode(&h, b) == ZMPI_OK && h.generation == mine->generation &&
           h.log_end == mine->log_end;
}

/* Punches holes where gaps are large. */
static bool punch(int fd, const struct zmpi_run *gap, size_t n)
{
    bool good = true;
    for (size_t i = 0, holes = 0; i < n && holes < GAPS_MOST && good; i++)
        if (gap[i].length >= GAP_LEAST) {
            good = !fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)gap[i].offset,
                              (off_t)gap[i].length);
            holes++;
        }
    return good;
}

/* The same if the file system makes no holes: overwrites only the beginnings of records and of
 * their copies. */
static void clear_heads(int fd, const struct zmpi_compaction *s)
{
    static const unsigned char zeros[ZMPI_RECORD_HEADER_BYTES];
    unsigned char magic[4];
    for (size_t k = 0; k < s->dropped; k++) {
        const off_t at = (off_t)s->gone[k].offset, behind = at + (off_t)s->gone[k].length;
        if (zfd_write(fd, zeros, sizeof zeros, at))
            break;
        if (zfd_read(fd, magic, sizeof magic, behind) == (ssize_t)sizeof magic &&
            (memcmp(magic, "ZCPY", 4) == 0 || memcmp(magic, "ZPAR", 4) == 0) &&
            zfd_write(fd, zeros, sizeof magic, behind))
            break;
    }
}

/* Writes zeros over dropped records in the remaining gaps, so that no scan finds them again. */
static void clear(int fd, const struct zmpi_run *gap, size_t n, const struct zmpi_compaction *s)
{
    static const unsigned char zeros[GAP_LEAST];
    for (size_t i = 0, k = 0; k < s->dropped; k++) {
        const struct zmpi_run *gone = &s->gone[k];
        while (i < n && gap[i].offset + gap[i].length <= gone->offset)
            i++;
        if (i < n && gap[i].length < GAP_LEAST &&
            zfd_write(fd, zeros, (size_t)gone->length, (off_t)gone->offset))
            break;
    }
}

/* Gives back all bytes in front of the index that no record has. It takes whole records and
 * stretches, so that no part of a record is left; holes stay holes. */
static void give_back(struct zfile *f, struct zmpi_compaction *s, uint64_t index)
{
    struct zmpi_reader reader = zfile_reader(f);
    struct zmpi_run *gap = NULL;
    size_t n = 0;
    if (!zsession_only_begin(f))
        return;
    if (is_last(f) && !zmpi_container_gaps(&s->kept, &reader, index, &gap, &n)) {
        if (is_possible(f->session.fd, f->log.end) && punch(f->session.fd, gap, n))
            clear(f->session.fd, gap, n, s);
        else
            clear_heads(f->session.fd, s);
        keep_gaps(f, gap, n);
        gap = NULL;
        zmpi_log(ZMPI_LOG_INFO,
                 "%s: %zu overwritten records were removed: %llu bytes of disk space are free",
                 f->path, s->dropped, (unsigned long long)s->dead);
    }
    zsession_only_end(f);
    free(gap);
}

/* Collective, when the index is in the file; rank 0's `go` counts. */
void ztrim(struct zfile *f, bool go)
{
    struct zmpi_compaction s = {0};
    uint64_t index = 0;
    int renewed = f->rank == 0 && go && renew_index(f, &s, &index);
    if (!PMPI_Bcast(&renewed, 1, MPI_INT, 0, f->comm) && renewed && !zsession_sync(f, true) &&
        f->rank == 0)
        give_back(f, &s, index);
    zmpi_compaction_free(&s);
}
