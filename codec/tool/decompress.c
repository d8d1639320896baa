/* decompress.c - zmpi decompress and zmpi cat: the logical bytes of a container. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "enhance/enhance.h"
#include "tool.h"

static int open_container(struct tool_input *in, const char *path)
{
    int status = tool_input_open_first(in, path);
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

/* Copies all containers that the file holds in a row. *whole: none is damaged. If the next one
 * cannot be opened, *in is closed and *open becomes false. */
static int copy_all(struct tool_input *in, struct tool_output *out, bool *open, bool *whole)
{
    *open = *whole = true;
    for (;;) {
        int status = tool_copy(in, out, 0, in->size, NULL, NULL);
        *whole = *whole && zmpi_container_whole(&in->container);
        if (status || !in->container.joined)
            return status;
        status = tool_input_open_next(in);
        if (!status)
            continue;
        *open = false;
        return status;
    }
}

/* Loads the network of the open container, to apply it. */
static int load_enhancer(struct tool_input *in, struct zmpi_enhancer *e)
{
    bool there = false;
    const enum zmpi_status status = zmpi_enhancer_read(&in->container, &in->reader, e, &there);
    if (status == ZMPI_ERR_IO || status == ZMPI_ERR_MEMORY || status == ZMPI_ERR_VERSION)
        return tool_fail_status(in->path, status);
    if (status)
        return tool_fail("%s: %s", in->path, ZMPI_ENHANCER_DAMAGED);
    if (!there)
        fprintf(stderr, "zmpi: %s: has no network: values are as they were decoded\n", in->path);
    in->reader.enhancer = there ? e : NULL;
    return TOOL_OK;
}

int tool_decompress(int argc, char **argv)
{
    struct zmpi_enhancer enhancer = {0};
    struct tool_input in;
    struct tool_output out;
    bool verbose = false, keep_going = false, enhance = false, open = true, whole = true;
    int c;
    static const struct option longs[] = {{"verbose", 0, NULL, 'v'},
                                          {"keep-going", 0, NULL, 'k'},
                                          {"enhance", 0, NULL, 'e'},
                                          {NULL, 0, NULL, 0}};
    while ((c = getopt_long(argc, argv, "vk", longs, NULL)) != -1) {
        if (c == '?')
            return tool_usage();
        verbose = verbose || c == 'v';
        keep_going = keep_going || c == 'k';
        enhance = enhance || c == 'e';
    }
    if (argc - optind != 2 || (keep_going && enhance))
        return tool_usage();
    if (keep_going)
        return tool_keep_going(argv[optind], argv[optind + 1]);
    int status = open_container(&in, argv[optind]);
    if (status)
        return status;
    if (enhance)
        status = load_enhancer(&in, &enhancer);
    if (!status && enhance)
        status = tool_input_alone(&in);
    if (!status)
        status = tool_output_open(&out, argv[optind + 1], &in);
    if (!status) {
        status = copy_all(&in, &out, &open, &whole);
        int closed = tool_output_close(&out, status == TOOL_OK);
        status = status ? status : closed;
    }
    if (!status && verbose && in.offload.decoded.last)
        fprintf(strcmp(argv[optind + 1], "-") == 0 ? stderr : stdout, "device %s (%s)\n",
                in.offload.decoded.last->name, in.offload.decoded.why);
    if (!status && !whole)
        status = TOOL_DIFFERENT;
    if (open)
        tool_input_close(&in);
    zmpi_enhancer_free(&enhancer);
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
    bool open = true, whole = true;
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
    if (!status && offset == 0 && length == UINT64_MAX) {
        status = copy_all(&in, &out, &open, &whole);
    } else if (!status) {
        status = tool_input_alone(&in);
        if (!status)
            status = tool_copy(&in, &out, offset,
                               length < in.size - offset ? length : in.size - offset, NULL, NULL);
        whole = zmpi_container_whole(&in.container);
    }
    if (!status && !whole)
        status = TOOL_DIFFERENT;
    if (open)
        tool_input_close(&in);
    return status;
}
