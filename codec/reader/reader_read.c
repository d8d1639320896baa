/* reader_read.c - reads logical bytes of a file, from whichever of its containers holds them. */
#include <stdlib.h>
#include <string.h>

#include "base/floats.h"
#include "reader/reader.h"

/* Runs of a request that go to a container together. */
#define RUNS_MOST ((size_t)1 << 16)

/* A part of the request, inside one container. */
struct batch {
    struct zmpi_run *run;
    size_t count, capacity;
    uint64_t bytes;
};

static enum zmpi_status read_plain(struct zmpi_part *p, const struct batch *b, unsigned char *dst)
{
    enum zmpi_status status = ZMPI_OK;
    for (size_t i = 0; i < b->count && !status; dst += b->run[i++].length)
        status = p->in.read(p->in.context, b->run[i].offset, dst, b->run[i].length);
    return status;
}

static enum zmpi_status flush(const struct zmpi_contents *c, struct zmpi_part *p, struct batch *b,
                              unsigned char **dst, struct zmpi_trouble *t)
{
    uint64_t bad = ZMPI_READER_NO_RECORD;
    enum zmpi_status status = ZMPI_OK;
    if (b->count == 0)
        return ZMPI_OK;
    if (c->plain)
        status = read_plain(p, b, *dst);
    else
        status = zmpi_container_read(&p->container, &p->in, b->run, b->count, *dst, &bad);
    *dst += b->bytes;
    b->count = 0;
    b->bytes = 0;
    if (status)
        *t = (struct zmpi_trouble){
            .status = status,
            .record = bad == ZMPI_READER_NO_RECORD ? bad : p->source.base + bad,
            .system = status == ZMPI_ERR_IO ? p->source.failed : 0,
            .what = status == ZMPI_ERR_IO && !p->source.failed
                        ? "the file is shorter than it was when it was opened"
                        : NULL};
    return status;
}

/* Joins runs that touch. */
static void add(struct batch *b, uint64_t offset, uint64_t length)
{
    struct zmpi_run *last = b->count ? &b->run[b->count - 1] : NULL;
    b->bytes += length;
    if (last && last->offset + last->length == offset)
        last->length += length;
    else
        b->run[b->count++] = (struct zmpi_run){offset, length};
}

/* Reads all runs, which are in order and inside the file, part by part. */
static enum zmpi_status read_runs(const struct zmpi_contents *c, const struct zmpi_reader_run *run,
                                  size_t n, unsigned char *dst, struct batch *b,
                                  struct zmpi_trouble *t)
{
    size_t k = 0;
    enum zmpi_status status = ZMPI_OK;
    for (size_t i = 0; i < n && !status; i++) {
        uint64_t at = run[i].offset;
        for (const uint64_t end = at + run[i].length; at < end && !status;) {
            while (at >= c->part[k]->begin + c->part[k]->length && !status)
                status = flush(c, c->part[k++], b, &dst, t);
            const struct zmpi_part *p = c->part[k];
            const uint64_t stop = end < p->begin + p->length ? end : p->begin + p->length;
            add(b, at - p->begin, stop - at);
            at = stop;
        }
        if (b->count == b->capacity && !status)
            status = flush(c, c->part[k], b, &dst, t);
    }
    return status ? status : flush(c, c->part[k], b, &dst, t);
}

static enum zmpi_status check(const struct zmpi_reader_file *f, const struct zmpi_reader_run *run,
                              size_t n, struct zmpi_reader_error *error)
{
    const uint64_t size = f->now.logical;
    for (uint64_t i = 0, end = 0; i < n; end = run[i].offset + run[i].length, i++) {
        if (run[i].offset > size || run[i].length > size - run[i].offset)
            return zmpi_reader_say(error, ZMPI_ERR_ARG,
                                   "%.300s: %llu bytes at %llu lie behind the end at %llu", f->name,
                                   (unsigned long long)run[i].length,
                                   (unsigned long long)run[i].offset, (unsigned long long)size);
        if (run[i].offset < end)
            return zmpi_reader_say(
                error, ZMPI_ERR_ARG,
                "%.300s: run %llu of the request begins before the previous one ends", f->name,
                (unsigned long long)i);
    }
    return ZMPI_OK;
}

static enum zmpi_status read_checked(struct zmpi_reader_file *f, const struct zmpi_reader_run *run,
                                     size_t n, void *dst, struct zmpi_reader_error *error)
{
    struct zmpi_run one;
    struct batch b = {.run = &one, .capacity = 1};
    struct zmpi_trouble trouble = {.status = ZMPI_ERR_MEMORY, .record = ZMPI_READER_NO_RECORD};
    if (n > 1) {
        b.capacity = n < RUNS_MOST ? n : RUNS_MOST;
        b.run = malloc(b.capacity * sizeof *b.run);
    }
    const enum zmpi_status status =
        b.run ? read_runs(&f->now, run, n, dst, &b, &trouble) : ZMPI_ERR_MEMORY;
    if (b.run != &one)
        free(b.run);
    return status ? zmpi_reader_fail(error, f->name, &trouble) : zmpi_reader_fine(error);
}

enum zmpi_status zmpi_reader_read_runs(struct zmpi_reader_file *f,
                                       const struct zmpi_reader_run *runs, size_t n, void *dst,
                                       struct zmpi_reader_error *error)
{
    const struct zmpi_floats program = zmpi_floats_begin();
    pthread_mutex_lock(&f->lock);
    enum zmpi_status status = check(f, runs, n, error);
    if (!status)
        status = read_checked(f, runs, n, dst, error);
    pthread_mutex_unlock(&f->lock);
    zmpi_floats_end(program);
    return status;
}

enum zmpi_status zmpi_reader_read(struct zmpi_reader_file *f, uint64_t offset, void *dst,
                                  size_t size, struct zmpi_reader_error *error)
{
    const struct zmpi_reader_run run = {offset, size};
    return zmpi_reader_read_runs(f, &run, 1, dst, error);
}
