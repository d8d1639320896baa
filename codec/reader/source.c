/* source.c - see source.h. */
#define _GNU_SOURCE // F_OFD_SETLK, SEEK_DATA
#include "reader/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "layout/stream.h"
#include "reader/overwritten.h"

static enum zmpi_status read_source(void *context, uint64_t offset, void *dst, size_t size)
{
    struct zmpi_source *s = context;
    unsigned char *p = dst;
    while (size) {
        const ssize_t got = pread(s->fd, p, size, (off_t)(s->base + offset));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) { /* callers never read beyond the size at opening: 0 means that the file has
                           shrunk */
            __atomic_store_n(&s->failed, got < 0 ? errno : 0, __ATOMIC_RELAXED);
            return ZMPI_ERR_IO;
        }
        p += got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return ZMPI_OK;
}

static uint64_t data_at(void *context, uint64_t offset)
{
    const struct zmpi_source *s = context;
    const off_t data = lseek(s->fd, (off_t)(s->base + offset), SEEK_DATA);
    return data >= 0 ? (uint64_t)data - s->base : errno == ENXIO ? UINT64_MAX : offset;
}

struct zmpi_reader zmpi_source_reader(struct zmpi_source *source, uint64_t size, int threads)
{
    return (struct zmpi_reader){.read = read_source,
                                .data_at = data_at,
                                .context = source,
                                .parallel = true,
                                .file_size = size,
                                .threads = threads};
}

/* Is there a copy of an overwritten header? */
static bool has_copy(const struct zmpi_reader *in)
{
    static const unsigned char nothing[ZMPI_HEADER_BYTES];
    return zmpi_container_copied(nothing, sizeof nothing, in);
}

/* For a file that does not begin like a container. */
static enum zmpi_status look_behind(const struct zmpi_reader *in, enum zmpi_kind *kind)
{
    struct zmpi_overwritten o;
    const enum zmpi_status status = zmpi_overwritten_look(in, &o);
    *kind = o.plain        ? ZMPI_KIND_PLAIN_OVER
            : has_copy(in) ? ZMPI_KIND_OVERWRITTEN
                           : ZMPI_KIND_DESTROYED;
    return status;
}

enum zmpi_status zmpi_source_look(const struct zmpi_reader *in, enum zmpi_kind *kind)
{
    unsigned char head[ZMPI_HEAD_BYTES] = {0}, tail[4096];
    const size_t size = in->file_size < sizeof head ? (size_t)in->file_size : sizeof head;
    const size_t end = in->file_size < sizeof tail ? (size_t)in->file_size : sizeof tail;
    enum zmpi_status status = in->read(in->context, 0, head, size);
    *kind = ZMPI_KIND_CONTAINER;
    if ((!status || status == ZMPI_ERR_IO) && zmpi_container_copied(head, status ? 0 : size, in))
        return ZMPI_OK;
    if (!status)
        status = in->read(in->context, in->file_size - end, tail, end);
    if (status)
        return status;
    const bool is_container = zmpi_is_container(head, size);
    const bool was_container = zmpi_was_container(head, size, tail, end);
    if (was_container && !is_container)
        return look_behind(in, kind);
    if (was_container)
        *kind = ZMPI_KIND_OVERWRITTEN;
    else if (!is_container)
        *kind = zmpi_container_lost(head, size, in) ? ZMPI_KIND_HEADLESS : ZMPI_KIND_PLAIN;
    return ZMPI_OK;
}

enum zmpi_status zmpi_source_stream(const struct zmpi_reader *in, const struct zmpi_record *r,
                                    struct zmpi_stream_info *info)
{
    unsigned char head[ZMPI_STREAM_HEADER_BYTES];
    size_t size;
    const uint64_t at = zmpi_record_payload(r);
    if (r->payload_length < sizeof head)
        return ZMPI_ERR_CORRUPT;
    enum zmpi_status status = in->read(in->context, at, head, sizeof head);
    if (!status)
        status = zmpi_stream_head_size(head, sizeof head, &size);
    if (!status && size > r->payload_length)
        status = ZMPI_ERR_CORRUPT;
    unsigned char *table = status ? NULL : malloc(size);
    if (!table)
        return status ? status : ZMPI_ERR_MEMORY;
    status = in->read(in->context, at, table, size);
    /* The parser checks that the stream fills its memory, but it reads only head and table. */
    if (!status)
        status = zmpi_stream_info(table, (size_t)r->payload_length, info);
    free(table);
    return status == ZMPI_ERR_FORMAT ? ZMPI_ERR_CORRUPT : status;
}

void zmpi_source_lock(int fd)
{
    struct flock l = {
        .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = ZMPI_LOCK_READERS, .l_len = 1};
    (void)fcntl(fd, F_OFD_SETLK, &l);
}

bool zmpi_source_is_written(int fd)
{
    struct flock l = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = ZMPI_LOCK_WRITERS, .l_len = 1};
    return fcntl(fd, F_OFD_GETLK, &l) == 0 && l.l_type != F_UNLCK;
}
