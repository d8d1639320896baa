/* plain.c - zmpi recover --plain: the data of a program that has overwritten a container without
 * zmpi, and nothing else. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reader/overwritten.h"
#include "tool.h"

/* The size that the user gives, or that zmpi has found. */
static int choose_size(const struct tool_input *in, const struct zmpi_overwritten *o,
                       const char *text, uint64_t *size)
{
    char *end, range[64];
    *size = o->most;
    if (!text)
        return o->most ? TOOL_OK
                       : tool_fail("%s: nothing shows any more how long the container was: say by "
                                   "--size N how many bytes are the program's",
                                   in->path);
    errno = 0;
    *size = strtoull(text, &end, 10);
    if (errno || end == text || *end || *text == '-' || *size > in->physical)
        return tool_fail("--size %s: bytes, at most those of the file, %llu", text,
                         (unsigned long long)in->physical);
    if (o->most && (*size < o->least || *size > o->most))
        return tool_fail("--size %s: %s bytes were written over (head -c cuts off what you like)",
                         text, tool_overwritten_bytes(o, range));
    return TOOL_OK;
}

static int copy(struct tool_input *in, struct tool_output *out, uint64_t size)
{
    const size_t most = (size_t)1 << 20;
    unsigned char *buffer = malloc(most);
    int failed = buffer ? TOOL_OK : tool_fail_status(in->path, ZMPI_ERR_MEMORY);
    for (uint64_t at = 0; at < size && !failed;) {
        const size_t n = size - at < most ? (size_t)(size - at) : most;
        failed = tool_input_read(in, at, buffer, n);
        if (!failed)
            failed = tool_output_write_sparse(out, buffer, n);
        at += n;
    }
    free(buffer);
    return failed;
}

static int recover(struct tool_input *in, const char *to, const char *size_text)
{
    enum zmpi_kind kind;
    struct zmpi_overwritten o;
    struct tool_output out;
    uint64_t size;
    enum zmpi_status status = zmpi_source_look(&in->reader, &kind);
    if (!status)
        status = zmpi_overwritten_look(&in->reader, &o);
    if (status)
        return tool_fail_status(in->path, status);
    if (kind == ZMPI_KIND_PLAIN)
        return tool_fail("%s: nothing is left of a container in it", in->path);
    /* A container whose first page is lost (zeros) still has most of its data. */
    const bool is_gone = o.most && o.least > ZMPI_HEADER_BYTES;
    if ((kind == ZMPI_KIND_CONTAINER && !is_gone) || kind == ZMPI_KIND_HEADLESS)
        return tool_fail(
            "%s: nobody has written over this container (zmpi recover without --plain)", in->path);
    int failed = choose_size(in, &o, size_text, &size);
    if (!failed)
        failed = tool_output_open(&out, to, in);
    if (failed)
        return failed;
    failed = copy(in, &out, size);
    const int closed = tool_output_close(&out, failed == TOOL_OK);
    if (!failed && !closed)
        fprintf(strcmp(to, "-") == 0 ? stderr : stdout, "%s: the first %llu of %llu bytes\n",
                in->path, (unsigned long long)size, (unsigned long long)in->physical);
    return failed ? failed : closed;
}

int tool_recover_plain(const char *path, const char *to, const char *size)
{
    struct tool_input in;
    int status = tool_input_open_raw(&in, path, false);
    if (status)
        return status;
    status = recover(&in, to, size);
    tool_input_close(&in);
    return status;
}
