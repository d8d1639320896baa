/*
 * readahead.c - small reads that follow one another: data ahead of them are decoded, too, and kept
 * as logical bytes of the file.
 *
 * A stream is a sequence of reads, each of which begins near the end of the one before. The first
 * read changes nothing, the second one fills a window, and each end of a window is followed by a
 * window of twice the size. If the records change that this rank knows, it drops everything; other
 * changes MPI need not show to it.
 */
#include <stdlib.h>
#include <string.h>

#include "file/zfile.h"

/* Bytes of the first window of a stream and of the largest one, and of the largest read that is
 * small. */
enum { FIRST = 128 << 10, MOST = 1 << 20, SMALL = 64 << 10 };
/* How far a read may be from the end of the one before; windows begin and end at multiples of it. A
 * chunk must be decoded as a whole, but smaller records may be left out. */
#define NEAR ((uint64_t)32 << 10)
#define UNIT ((uint64_t)32 << 10)

/* The file's reader, with its time: the rest of a read is decoding. */
struct timed {
    struct zmpi_reader file;
    double seconds;
};

static enum zmpi_status timed_read(void *context, uint64_t offset, void *dst, size_t size)
{
    struct timed *t = context;
    double start = zmpi_seconds();
    enum zmpi_status status = t->file.read(t->file.context, offset, dst, size);
    t->seconds += zmpi_seconds() - start;
    return status;
}

enum zmpi_status zread_stored(struct zfile *f, const struct zmpi_run *run, size_t runs,
                              const struct zmpi_device *holder, unsigned char *dst, uint64_t *bad)
{
    struct timed t = {zfile_reader(f), 0};
    struct zmpi_reader reader = t.file;
    double start = zmpi_seconds();
    reader.read = timed_read;
    reader.context = &t;
    reader.holder = holder;
    reader.offload = &f->offload;
    enum zmpi_status status = zmpi_container_read(&f->container, &reader, run, runs, dst, bad);
    f->stats.n.seconds_decode += zmpi_seconds() - start - t.seconds;
    return status;
}

static bool is_near(const struct zreadahead *all, uint64_t a, uint64_t b)
{
    return (a < b ? b - a : a - b) <= all->reach;
}

void zreadahead_forget(struct zfile *f)
{
    for (int i = 0; i < ZREADAHEAD_WINDOWS; i++) {
        struct zreadahead_window *w = &f->readahead.window[i];
        w->lo = w->hi = w->used = 0;
    }
}

void zreadahead_free(struct zfile *f)
{
    for (int i = 0; i < ZREADAHEAD_WINDOWS; i++)
        free(f->readahead.window[i].data);
}

/* Drops the windows if the number of records or the size has changed. Code that replaces all
 * records calls zreadahead_forget. */
static void notice_changes(struct zfile *f)
{
    struct zreadahead *all = &f->readahead;
    if (all->records == f->container.count && all->size == f->container.logical_size)
        return;
    zreadahead_forget(f);
    all->records = f->container.count;
    all->size = f->container.logical_size;
    all->reach = all->records ? all->size / all->records : NEAR;
    all->reach = all->reach < NEAR ? all->reach : NEAR;
}

/* Returns the window that has all of [lo, hi), else that of the stream that the read continues,
 * else the one that is unused for longest. */
static struct zreadahead_window *find(struct zreadahead *all, uint64_t lo, uint64_t hi)
{
    struct zreadahead_window *near = NULL, *oldest = all->window;
    for (int i = 0; i < ZREADAHEAD_WINDOWS; i++) {
        struct zreadahead_window *w = &all->window[i];
        if (w->lo <= lo && hi <= w->hi)
            return w;
        if (w->used && is_near(all, lo, w->end))
            near = w;
        if (w->used < oldest->used)
            oldest = w;
    }
    return near ? near : oldest;
}

/* Returns the window, in its direction, that a stream needs when it continues to [lo, hi). */
static struct zmpi_run ahead_of(const struct zreadahead *all, const struct zreadahead_window *w,
                                uint64_t lo, uint64_t hi)
{
    const bool backwards = lo < w->lo;
    uint64_t size = 2 * (w->hi - w->lo);
    if (!is_near(all, lo, backwards ? w->lo : w->hi) || size < FIRST)
        size = FIRST;
    size = size < MOST ? size : MOST;
    uint64_t begin = lo / UNIT * UNIT, end = (hi + UNIT - 1) / UNIT * UNIT;
    if (backwards)
        begin = end > size ? end - size : 0;
    else
        end = begin + size;
    uint64_t most = all->size > hi ? all->size : hi; /* nothing follows */
    return (struct zmpi_run){begin, (end < most ? end : most) - begin};
}

/* If a read fails, the MPI library calls the program's handler. It must not do so for data that the
 * program did not want. */
static bool read_quietly(struct zfile *f, const struct zmpi_run *run, unsigned char *dst)
{
    MPI_Errhandler handler;
    if (PMPI_File_get_errhandler(f->handle, &handler))
        return false;
    zfile_set_handler(f, MPI_ERRORS_RETURN);
    const bool good = !zread_stored(f, run, 1, NULL, dst, NULL);
    zfile_set_handler(f, handler);
    PMPI_Errhandler_free(&handler);
    return good;
}

static bool fill(struct zfile *f, struct zreadahead_window *w, uint64_t lo, uint64_t hi)
{
    const struct zmpi_run run = ahead_of(&f->readahead, w, lo, hi);
    w->lo = w->hi = 0;
    if (w->capacity < run.length) {
        free(w->data);
        w->data = malloc(run.length);
        w->capacity = w->data ? run.length : 0;
    }
    if (!w->data || !read_quietly(f, &run, w->data))
        return false;
    w->lo = run.offset;
    w->hi = run.offset + run.length;
    return true;
}

bool zreadahead_read(struct zfile *f, const struct zmpi_run *run, size_t runs, unsigned char *dst)
{
    struct zreadahead *all = &f->readahead;
    if (runs == 0 || run[runs - 1].offset + run[runs - 1].length - run[0].offset > SMALL)
        return false;
    const uint64_t lo = run[0].offset, hi = run[runs - 1].offset + run[runs - 1].length;
    notice_changes(f);
    struct zreadahead_window *w = find(all, lo, hi);
    bool here = w->lo <= lo && hi <= w->hi, begins = !w->used || !is_near(all, lo, w->end);
    if (!here && begins)
        w->lo = w->hi = 0;
    w->used = ++all->clock;
    w->end = hi;
    if (!here && !begins && !fill(f, w, lo, hi))
        w->used = 0; /* the data ahead are damaged: do not try again at every read */
    if (!here && (begins || !w->used))
        return false;
    for (size_t i = 0; i < runs; dst += run[i++].length)
        memcpy(dst, w->data + (run[i].offset - w->lo), run[i].length);
    return true;
}
