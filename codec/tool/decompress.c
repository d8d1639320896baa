/* decompress.c - zmpi decompress and zmpi cat: logical bytes out of a container. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

#define STEP ((size_t)16 << 20)

static int copy(struct tool_input *in, struct tool_output *out, uint64_t offset, uint64_t length)
{
    unsigned char *buffer = malloc(length < STEP ? (size_t)length + 1 : STEP);
    int status = buffer ? TOOL_OK : tool_fail("out of memory");
    for (uint64_t done = 0; done < length && !status;) {
        size_t n = length - done < STEP ? (size_t)(length - done) : STEP;
        status = tool_input_read(in, offset + done, buffer, n);
        if (!status)
            status = tool_output_write(out, buffer, n);
        done += n;
        tool_progress("decompress", done, length);
    }
    free(buffer);
    return status;
}

static int open_container(struct tool_input *in, const char *path)
{
    int status = tool_input_open(in, path);
    if (!status && !in->is_container) {
        status = tool_fail("%s: is not a zmpi container", in->path);
        tool_input_close(in);
    }
    return status;
}

int tool_decompress(int argc, char **argv)
{
    struct tool_input in;
    struct tool_output out;
    static const struct option longs[] = {{NULL, 0, NULL, 0}};
    if (getopt_long(argc, argv, "", longs, NULL) != -1 || argc - optind != 2)
        return tool_usage();
    int status = open_container(&in, argv[optind]);
    if (status)
        return status;
    status = tool_output_open(&out, argv[optind + 1], &in);
    if (!status) {
        status = copy(&in, &out, 0, in.size);
        int closed = tool_output_close(&out, status == TOOL_OK);
        status = status ? status : closed;
    }
    if (!status && !zmpi_container_whole(&in.container))
        status = TOOL_DIFFERENT;
    tool_input_close(&in);
    return status;
}

static bool parse_number(const char *text, uint64_t *value)
{
    char *end;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    *value = v;
    return !errno && *end == 0 && *text >= '0' && *text <= '9';
}

int tool_cat(int argc, char **argv)
{
    struct tool_input in;
    struct tool_output out;
    uint64_t offset = 0, length = UINT64_MAX;
    static const struct option longs[] = {
        {"offset", 1, NULL, 'o'}, {"length", 1, NULL, 'n'}, {NULL, 0, NULL, 0}};
    int c;
    while ((c = getopt_long(argc, argv, "o:n:", longs, NULL)) != -1)
        if (c == '?' || !parse_number(optarg, c == 'o' ? &offset : &length))
            return c == '?' ? tool_usage() : tool_fail("-%c %s: a number of bytes", c, optarg);
    if (argc - optind != 1)
        return tool_usage();
    int status = open_container(&in, argv[optind]);
    if (status)
        return status;
    if (offset > in.size)
        status = tool_fail("%s: offset %llu lies behind the end at %llu", in.path,
                           (unsigned long long)offset, (unsigned long long)in.size);
    if (!status)
        status = tool_output_open(&out, "-", &in);
    if (!status)
        status = copy(&in, &out, offset, length < in.size - offset ? length : in.size - offset);
    if (!status && !zmpi_container_whole(&in.container))
        status = TOOL_DIFFERENT;
    tool_input_close(&in);
    return status;
}
