/* copy.c - copies logical bytes of a container to a file. It skips holes and, on request, lists
 * damage. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "tool.h"

/* Bytes per read; and with a device, which decodes whole records. */
#define STEP         ((uint64_t)16 << 20)
#define STEP_RECORDS ((uint64_t)256 << 20)
/* Bytes of the first read behind a hole, since little data may follow. That doubles with each
 * read. */
#define STEP_LEAST ((uint64_t)64 << 10)
/* The most zeros that are written to a file that cannot have holes. */
#define ZEROS_MOST ((uint64_t)1 << 40)

/* Would a device other than the CPU decode so many bytes, by any encoder? */
static bool by_device(const struct tool_input *in, size_t bytes)
{
    const char *why;
    for (int encoder = 1; encoder <= ZMPI_ENCODERS; encoder++) {
        const struct zmpi_work work = {bytes, encoder, true};
        const struct zmpi_device *d = zmpi_device_find(in->offload.name, &work, &why);
        if (d && d != zmpi_device_cpu())
            return true;
    }
    return false;
}

/* The longest step from `at` on, of at most `most` bytes, that ends at a record's end; `most` if
 * there is none. */
static uint64_t step_of(const struct zmpi_record *record, size_t n, uint64_t at, uint64_t most)
{
    uint64_t step = 0;
    for (size_t i = 0; i < n; i++)
        if (record[i].extent.hi > at && record[i].extent.hi - at <= most &&
            record[i].extent.hi - at > step)
            step = record[i].extent.hi - at;
    return step ? step : most;
}

struct copy {
    struct tool_input *in;
    struct tool_output *out;
    tool_mend *mend;
    void *context;
    struct zmpi_record *record; /* with a device: all records */
    unsigned char *buffer;
    uint64_t most;
};

/* Sets the file's size first: a full disk shows here, or at the latest when data are written. */
static int reserve(struct tool_output *out, uint64_t length)
{
    struct statvfs s;
    if (!out->temporary || length == 0)
        return TOOL_OK;
    const off_t begin = lseek(out->fd, 0, SEEK_CUR);
    if (length > ZMPI_SIZE_MAX || begin < 0 || ftruncate(out->fd, begin + (off_t)length))
        return tool_fail("%s: cannot have %llu bytes: %s", out->path, (unsigned long long)length,
                         length > ZMPI_SIZE_MAX ? strerror(EFBIG) : strerror(errno));
    if (fstatvfs(out->fd, &s) == 0 && s.f_bavail == 0)
        return tool_fail("%s: %s", out->path, strerror(ENOSPC));
    return TOOL_OK;
}

/* Moves *at over a hole to the next data. */
static int skip_hole(struct copy *c, uint64_t *at, uint64_t end)
{
    uint64_t next;
    enum zmpi_status found =
        zmpi_container_next(&c->in->container, &c->in->reader, *at, end, &next);
    if (found == ZMPI_ERR_MEMORY)
        return tool_fail_status(c->in->path, found);
    if (found || next <= *at) /* the read of these bytes reports the error */
        return TOOL_OK;
    int status = TOOL_OK;
    if (!tool_output_has_holes(c->out) && next - *at > ZEROS_MOST)
        status =
            tool_fail("%s: bytes %llu to %llu have no data; %s cannot have holes, and so many "
                      "zeros are not written: zmpi decompress to a file, or zmpi cat -o -n",
                      c->in->path, (unsigned long long)*at, (unsigned long long)next, c->out->path);
    if (!status && c->mend)
        status = c->mend(c->context, NULL, *at, next - *at);
    if (!status)
        status = tool_output_skip(c->out, next - *at);
    *at = next;
    return status;
}

static int copy_step(struct copy *c, uint64_t at, uint64_t n)
{
    int status = tool_input_read(c->in, at, c->buffer, (size_t)n);
    if (!status && c->mend)
        status = c->mend(c->context, c->buffer, at, n);
    return status ? status : tool_output_write_sparse(c->out, c->buffer, (size_t)n);
}

static int copy_all(struct copy *c, uint64_t offset, uint64_t length)
{
    uint64_t at = offset, step = c->most;
    const uint64_t end = offset + length;
    int status = reserve(c->out, length);
    while (at < end && !status) {
        const uint64_t before = at;
        status = skip_hole(c, &at, end);
        if (status || at == end)
            break;
        step = at - before > STEP_LEAST ? STEP_LEAST : step;
        uint64_t n = end - at < step ? end - at : step;
        if (c->record && end - at > step)
            n = step_of(c->record, c->in->container.count, at, n);
        status = copy_step(c, at, n);
        at += n;
        step = 2 * step < c->most ? 2 * step : c->most;
        tool_progress("decompress", at - offset, length);
    }
    return status;
}

int tool_copy(struct tool_input *in, struct tool_output *out, uint64_t offset, uint64_t length,
              tool_mend *mend, void *context)
{
    struct copy c = {.in = in, .out = out, .mend = mend, .context = context, .most = STEP};
    if (length > STEP && by_device(in, STEP_RECORDS))
        c.most = STEP_RECORDS;
    if (c.most > STEP && length > c.most &&
        zmpi_container_records(&in->container, &in->reader, &c.record))
        c.record = NULL; /* the reads will report the error */
    c.buffer = malloc(length < c.most ? (size_t)length + 1 : (size_t)c.most);
    int status = c.buffer ? copy_all(&c, offset, length) : tool_fail("out of memory");
    free(c.record);
    free(c.buffer);
    return status;
}
