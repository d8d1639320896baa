/* reader_copy.c - copies all logical bytes of a file to another one. Holes stay holes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reader/reader.h"

/* Bytes per read; and behind a hole, since little data may follow. That doubles with each read. */
#define STEP       ((uint64_t)16 << 20)
#define STEP_LEAST ((uint64_t)64 << 10)

static int write_all(int fd, const unsigned char *src, uint64_t size, uint64_t offset)
{
    while (size) {
        const ssize_t put = pwrite(fd, src, (size_t)size, (off_t)offset);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return put < 0 ? errno : ENOSPC;
        src += put;
        offset += (uint64_t)put;
        size -= (uint64_t)put;
    }
    return 0;
}

static enum zmpi_status cannot_write(const struct zmpi_reader_file *f, int system,
                                     struct zmpi_reader_error *error)
{
    zmpi_reader_say(error, ZMPI_ERR_IO, "%.300s: its %llu bytes cannot be written out: %s", f->name,
                    (unsigned long long)f->now.logical, strerror(system));
    error->system = system;
    return ZMPI_ERR_IO;
}

/* The next byte that is not in a hole. */
static uint64_t data_from(struct zmpi_part *p, bool plain, uint64_t at)
{
    uint64_t next;
    if (plain || zmpi_container_next(&p->container, &p->in, at, p->length, &next))
        return at; /* the read of these bytes will report the error */
    return next > at ? next : at;
}

static enum zmpi_status copy_part(struct zmpi_reader_file *f, struct zmpi_part *p, int fd,
                                  unsigned char *buffer, struct zmpi_reader_error *error)
{
    uint64_t step = STEP;
    for (uint64_t at = 0; at < p->length;) {
        const uint64_t data = data_from(p, f->now.plain, at);
        if (data - at > STEP_LEAST)
            step = STEP_LEAST;
        at = data;
        const uint64_t n = p->length - at < step ? p->length - at : step;
        if (n == 0)
            break;
        enum zmpi_status status = zmpi_reader_read(f, p->begin + at, buffer, (size_t)n, error);
        if (status)
            return status;
        const int failed = write_all(fd, buffer, n, p->begin + at);
        if (failed)
            return cannot_write(f, failed, error);
        at += n;
        step = 2 * step < STEP ? 2 * step : STEP;
    }
    return ZMPI_OK;
}

enum zmpi_status zmpi_reader_copy(struct zmpi_reader_file *f, int fd,
                                  struct zmpi_reader_error *error)
{
    const uint64_t size = f->now.logical;
    if (size > ZMPI_SIZE_MAX)
        return cannot_write(f, EFBIG, error);
    if (ftruncate(fd, (off_t)size))
        return cannot_write(f, errno, error);
    unsigned char *buffer = malloc(size < STEP ? (size_t)size + 1 : (size_t)STEP);
    enum zmpi_status status =
        buffer ? ZMPI_OK
               : zmpi_reader_say(error, ZMPI_ERR_MEMORY, "%.300s: out of memory", f->name);
    for (size_t i = 0; i < f->now.count && !status; i++)
        status = copy_part(f, f->now.part[i], fd, buffer, error);
    free(buffer);
    return status;
}
