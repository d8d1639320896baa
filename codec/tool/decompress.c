/* decompress.c - zmpi decompress and zmpi cat: logical bytes out of a container. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

/* Read at a time; and where a device decodes, which does whole records. */
#define STEP         ((size_t)16 << 20)
#define STEP_RECORDS ((size_t)256 << 20)

/* Does another device than the CPU decode that much, of any encoder? */
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

/* How much of `most` bytes from `at` on ends where a record does, if that is any. */
static size_t step_of(const struct zmpi_record *record, size_t n, uint64_t at, size_t most)
{
    size_t step = 0;
    for (size_t i = 0; i < n; i++)
        if (record[i].extent.hi > at && record[i].extent.hi - at <= most &&
            record[i].extent.hi - at > step)
            step = (size_t)(record[i].extent.hi - at);
    return step ? step : most;
}

static int copy(struct tool_input *in, struct tool_output *out, uint64_t offset, uint64_t length)
{
    const size_t most = length > STEP && by_device(in, STEP_RECORDS) ? STEP_RECORDS : STEP;
    struct zmpi_record *record = NULL;
    unsigned char *buffer = malloc(length < most ? (size_t)length + 1 : most);
    int status = buffer ? TOOL_OK : tool_fail("out of memory");
    if (most > STEP && length > most &&
        zmpi_container_records(&in->container, &in->reader, &record))
        record = NULL; /* reading tells what is wrong */
    for (uint64_t done = 0; done < length && !status;) {
        size_t n = length - done < most ? (size_t)(length - done) : most;
        if (record && length - done > most)
            n = step_of(record, in->container.count, offset + done, n);
        status = tool_input_read(in, offset + done, buffer, n);
        if (!status)
            status = tool_output_write_sparse(out, buffer, n);
        done += n;
        tool_progress("decompress", done, length);
    }
    free(record);
    free(buffer);
    return status;
}

static int open_container(struct tool_input *in, const char *path)
{
    int status = tool_input_open(in, path);
    if (status)
        return status;
    if (!in->is_container)
        status = tool_fail("%s: is not a zmpi container", in->path);
    else if (!tool_input_offload(in))
        status = TOOL_ERROR;
    if (status)
        tool_input_close(in);
    return status;
}

int tool_decompress(int argc, char **argv)
{
    struct tool_input in;
    struct tool_output out;
    bool verbose = false;
    int c;
    static const struct option longs[] = {{"verbose", 0, NULL, 'v'}, {NULL, 0, NULL, 0}};
    while ((c = getopt_long(argc, argv, "v", longs, NULL)) != -1) {
        if (c == '?')
            return tool_usage();
        verbose = true;
    }
    if (argc - optind != 2)
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
    if (!status && verbose && in.offload.decoded.last)
        fprintf(strcmp(argv[optind + 1], "-") == 0 ? stderr : stdout, "device %s (%s)\n",
                in.offload.decoded.last->name, in.offload.decoded.why);
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
