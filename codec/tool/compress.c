/* compress.c - zmpi compress: a raw field to a container. */
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "bound/fill.h"
#include "bound/ratio.h"
#include "device/offload.h"
#include "judge/byte_order.h"
#include "judge/element_type.h"
#include "judge/shape.h"
#include "tool.h"

/* Input of one record at most: whole planes of the field. */
#define PIECE_BYTES ((size_t)256 << 20)
/* Read at a time while looking for the range. */
#define SCAN_BYTES ((size_t)16 << 20)

struct work {
    struct zmpi_options options;
    enum zmpi_type type;
    struct zmpi_bound bound;
    bool bound_given, verbose;
    int encoder; /* 0: not given */
    bool approximate;
    size_t shape[3]; /* 0 0 0: not given */
    struct zmpi_offload offload;
    struct tool_input in;
    struct tool_output out;
    struct zmpi_header header;
    struct zmpi_range range;
    struct zmpi_container container; /* what was written so far */
    double least_bound, most_bound;  /* absolute, of all records */
    double coded;                    /* bytes of their streams */
};

/* What stands before the environment. */
struct given {
    double threshold;       /* 0: not given */
    struct zmpi_fills fill; /* none: not given */
};

static int parse(int argc, char **argv, struct work *w, struct given *given, const char **input,
                 const char **output)
{
    static const struct option longs[] = {
        {"type", 1, NULL, 't'},      {"error-bound", 1, NULL, 'e'},
        {"dims", 1, NULL, 'd'},      {"codec", 1, NULL, 'c'},
        {"threshold", 1, NULL, 'T'}, {"fill", 1, NULL, 'F'},
        {"verbose", 0, NULL, 'v'},   {NULL, 0, NULL, 0}};
    int c;
    while ((c = getopt_long(argc, argv, "t:e:d:T:v", longs, NULL)) != -1) {
        if (c == 't' && !tool_parse_type(optarg, &w->type))
            return tool_fail("-t %s: f32 or f64", optarg);
        if (c == 'd' && !zmpi_shape_parse(optarg, w->shape))
            return tool_fail("-d %s: extents as NZxNYxNX, each at least 1", optarg);
        if (c == 'T' && !zmpi_threshold_parse(optarg, &given->threshold))
            return tool_fail("-T %s: a finite number > 0", optarg);
        if (c == 'F' && !zmpi_fills_parse(optarg, &given->fill))
            return tool_fail("--fill %s: one or two finite numbers separated by ','", optarg);
        if (c == 'c' && !(w->encoder = zmpi_encoder_parse(optarg, &w->approximate)))
            return tool_fail("--codec %s: " ZMPI_ENCODER_NAMES, optarg);
        if (c == 'e') {
            if (zmpi_bound_parse(optarg, &w->bound))
                return tool_fail("-e %s: " ZMPI_BOUNDS, optarg);
            w->bound_given = true;
        }
        if (c == 'v')
            w->verbose = true;
        if (c == '?')
            return tool_usage();
    }
    if (argc - optind != 2)
        return tool_usage();
    if (!w->type)
        return tool_fail("no type: give -t f32 or f64");
    *input = argv[optind];
    *output = argv[optind + 1];
    return TOOL_OK;
}

/* -e, else ZMPI_ERROR_BOUND; -d must describe the whole file. */
static int check(struct work *w)
{
    size_t width = zmpi_type_size(w->type), count = (size_t)(w->in.physical / width), n;
    if (!w->bound_given && !w->options.bound_set)
        return tool_fail("no bound: give -e abs=V, rel=V, pw_rel=V, psnr=dB, ratio=R or lossless");
    if (!w->bound_given)
        w->bound = w->options.bound;
    if (w->in.physical % width)
        return tool_fail("%s: %llu bytes are not a multiple of %zu", w->in.path,
                         (unsigned long long)w->in.physical, width);
    struct zmpi_array a = {w->type, {w->shape[0], w->shape[1], w->shape[2]}};
    if (w->shape[2] == 0) {
        w->shape[0] = w->shape[1] = 1;
        w->shape[2] = count;
    } else if (zmpi_array_count(&a, &n) || n != count) {
        return tool_fail("%s: has %zu elements, -d says %zux%zux%zu", w->in.path, count,
                         w->shape[0], w->shape[1], w->shape[2]);
    }
    return TOOL_OK;
}

/* Its bytes are no numbers: a bound would destroy it. */
static int refuse_container(struct work *w)
{
    bool is_container;
    const enum zmpi_status status = tool_input_look(&w->in, &is_container);
    if (status)
        return tool_fail_status(w->in.path, status);
    return is_container ? tool_fail("%s: is compressed already", w->in.path) : TOOL_OK;
}

/* Values from the threshold on are no part of it. fill: what may be fill values, unless NULL. */
static int scan_file(struct work *w, double threshold, struct zmpi_range *range,
                     struct zmpi_fill *fill)
{
    size_t width = zmpi_type_size(w->type);
    unsigned char *buffer = malloc(SCAN_BYTES);
    int status = buffer ? TOOL_OK : tool_fail("out of memory");
    *range = ZMPI_RANGE_EMPTY;
    for (uint64_t at = 0; at < w->in.physical && !status; at += SCAN_BYTES) {
        uint64_t left = w->in.physical - at;
        size_t n = left < SCAN_BYTES ? (size_t)left : SCAN_BYTES;
        struct zmpi_range part;
        status = tool_input_read(&w->in, at, buffer, n);
        if (!status) {
            zmpi_range_without(w->type, buffer, n / width, threshold, &w->options.fill,
                               tool_threads(), &part);
            zmpi_range_merge(range, &part);
        }
        if (!status && fill)
            *fill = zmpi_fill_merge(*fill, zmpi_fill_look(w->type, buffer, n / width, &part));
    }
    free(buffer);
    return status;
}

/* zmpi_fill_scan_fn */
static bool scan_below(void *context, double threshold, struct zmpi_range *range)
{
    return scan_file(context, threshold, range, NULL) == TOOL_OK;
}

static int find_range(struct work *w)
{
    struct zmpi_fill fill = {0, 0};
    const int status = scan_file(w, w->options.threshold, &w->range, &fill);
    if (!status)
        zmpi_fill_exclude(fill, scan_below, w, &w->range);
    return status;
}

/* Nor are data that -t does not name. */
static int check_looks(const struct work *w, const unsigned char *input, size_t bytes)
{
    const enum zmpi_looks looks = zmpi_looks_like(w->type, input, bytes / zmpi_type_size(w->type));
    return looks == ZMPI_LOOKS_RIGHT
               ? TOOL_OK
               : tool_fail("%s: -t says %s, its data look like %s: give their type, or keep them "
                           "exactly with -e lossless",
                           w->in.path, w->type == ZMPI_F32 ? "f32" : "f64", zmpi_looks_name(looks));
}

/* Without -d: as the data look, by what is read at a time. */
static int find_shape(struct work *w)
{
    const size_t width = zmpi_type_size(w->type), count = (size_t)(w->in.physical / width),
                 have = count < SCAN_BYTES / width ? count : SCAN_BYTES / width;
    unsigned char *buffer = malloc(have * width + 1);
    int status =
        buffer ? tool_input_read(&w->in, 0, buffer, have * width) : tool_fail("out of memory");
    if (!status &&
        zmpi_shape_find(w->type, &w->bound, w->options.threshold, buffer, have, count, w->shape) &&
        w->verbose)
        printf("shape %zux%zux%zu, as the data look; -d gives another\n", w->shape[0], w->shape[1],
               w->shape[2]);
    free(buffer);
    return status;
}

/* Numbers of which every byte matters are not for a bound. */
static int check_order(const struct work *w, const unsigned char *input, size_t bytes)
{
    struct zmpi_order order = {0};
    zmpi_order_look(&order, w->type, input, bytes / zmpi_type_size(w->type));
    if (w->bound.mode == ZMPI_LOSSLESS)
        return TOOL_OK;
    if (zmpi_order_has_integers(&order))
        return tool_fail("%s: has integers where -t says floats, or floats of less than %s, which "
                         "look the same: "
                         "keep them exactly with -e lossless, or scale such floats up first",
                         w->in.path, w->type == ZMPI_F64 ? "2.2e-308" : "1.2e-38");
    if (!zmpi_order_is_other(&order))
        return check_looks(w, input, bytes);
    return tool_fail("%s: its numbers are in the other byte order: turn them around first, or keep "
                     "them exactly with -e lossless",
                     w->in.path);
}

static void note_bound(struct work *w, const unsigned char *stream, size_t size)
{
    struct zmpi_stream_info info;
    if (zmpi_stream_info(stream, size, &info))
        return;
    w->least_bound = fmin(w->least_bound, info.abs_bound);
    w->most_bound = fmax(w->most_bound, info.abs_bound);
    w->coded += (double)size;
}

/* One record: `bytes` at `at`, an array of this shape. The log's end moves on. */
static int write_record(struct work *w, uint64_t at, const struct zmpi_array *array,
                        unsigned char *input, unsigned char *output, size_t capacity)
{
    struct zmpi_job job;
    struct zmpi_record r = {
        .kind = ZMPI_RECORD_DATA, .offset = w->header.log_end, .order = w->container.count};
    size_t bytes, size;
    zmpi_array_bytes(array, &bytes);
    int failed = tool_input_read(&w->in, at, input, bytes);
    failed = failed ? failed : check_order(w, input, bytes);
    if (failed)
        return failed;
    r.extent = (struct zmpi_extent){.lo = at, .hi = at + bytes, .bytes = bytes, .run = bytes};
    size_t head = zmpi_record_head_size(&r);
    enum zmpi_status status = zmpi_job_make(array, &w->bound, &w->range, &job);
    if (!status) {
        zmpi_job_threshold(&job, w->options.threshold);
        zmpi_job_fills(&job, &w->options.fill);
        job.threads = tool_threads();
        job.encoder = w->encoder;
        job.approximate = w->approximate;
    }
    if (!status)
        status =
            zmpi_offload_compress(&w->offload, &job, NULL, output + head, capacity, input, &size);
    if (status)
        return tool_fail_status(w->in.path, status);
    note_bound(w, output + head, size);
    r.payload_length = size;
    zmpi_record_encode(&r, w->header.id, NULL, output);
    memset(output + head + size, 0, zmpi_pad8(size) - size);
    status = zmpi_container_add(&w->container, &r);
    if (status)
        return tool_fail_status(w->in.path, status);
    w->header.log_end += zmpi_record_size(&r);
    return tool_output_write(&w->out, output, (size_t)zmpi_record_size(&r));
}

/* The field in pieces of whole planes, rows, or elements. */
static int write_records(struct work *w)
{
    size_t width = zmpi_type_size(w->type), *e = w->shape, row = e[2] * width, plane = e[1] * row;
    size_t unit = plane <= PIECE_BYTES ? plane : row <= PIECE_BYTES ? row : width;
    size_t piece = PIECE_BYTES / unit * unit;
    if (piece > w->in.physical)
        piece = (size_t)w->in.physical;
    struct zmpi_array whole = {w->type, {1, 1, piece / width}};
    size_t capacity =
        zmpi_compress_capacity(&whole) + piece / 8; /* other shapes have more and smaller chunks */
    unsigned char *input = malloc(piece), *output = malloc(capacity + ZMPI_RECORD_HEADER_BYTES + 8);
    int status = input && output ? TOOL_OK : tool_fail("out of memory");
    for (uint64_t at = 0; at < w->in.physical && !status; at += piece) {
        uint64_t left = w->in.physical - at;
        size_t bytes = left < piece ? (size_t)left : piece;
        struct zmpi_array a = {w->type, {1, 1, bytes / width}};
        if (unit == plane)
            memcpy(a.extent, (size_t[]){bytes / plane, e[1], e[2]}, sizeof a.extent);
        else if (unit == row)
            memcpy(a.extent, (size_t[]){1, bytes / row, e[2]}, sizeof a.extent);
        status = write_record(w, at, &a, input, output, capacity);
        tool_progress("compress", at + bytes, w->in.physical);
    }
    free(input);
    free(output);
    return status;
}

static int write_header(struct work *w, bool in_place)
{
    unsigned char block[ZMPI_HEADER_BYTES] = {0};
    zmpi_header_put(&w->header, block);
    return in_place ? tool_output_write_at(&w->out, block, sizeof block, 0)
                    : tool_output_write(&w->out, block, sizeof block);
}

static int write_index(struct work *w)
{
    unsigned char *index;
    size_t size;
    w->container.header = w->header;
    enum zmpi_status status = zmpi_index_make(&w->container, NULL, w->header.log_end,
                                              w->header.generation, &index, &size);
    if (status)
        return tool_fail_status(w->out.path, status);
    w->header = w->container.header;
    int failed = size ? tool_output_write(&w->out, index, size) : TOOL_OK;
    free(index);
    return failed;
}

static int write_container(struct work *w)
{
    w->header =
        (struct zmpi_header){.generation = 1, .log_end = ZMPI_HEADER_BYTES, .next_epoch = 1};
    if (getrandom(w->header.id, sizeof w->header.id, 0) != (ssize_t)sizeof w->header.id)
        return tool_fail("no random numbers for the file's id");
    int status = write_header(w, false);
    if (!status && w->in.physical)
        status = write_records(w);
    if (!status)
        status = write_index(w);
    return status ? status : write_header(w, true);
}

/* What became of a bound that is none itself. */
static void say_bound(const struct work *w)
{
    const double asked = w->bound.value, got = (double)w->in.physical / w->coded;
    if (w->bound.mode == ZMPI_PSNR)
        printf("psnr=%.9g: absolute bound %.9g\n", asked, w->least_bound);
    if (w->bound.mode != ZMPI_RATIO)
        return;
    const bool exact = !(w->most_bound > 0);
    const bool missed = fabs(got / asked - 1) > 0.05 && !(exact && got > asked);
    printf("ratio=%.9g%s %.4g", asked, missed ? " cannot be had:" : ":", got);
    if (exact)
        printf(", without loss\n");
    else
        printf(", absolute bound %.9g\n", w->most_bound);
}

static int fail_in_order(void)
{
    return tool_fail("a container is written in two places: give a file, not standard output or a "
                     "pipe");
}

int tool_compress(int argc, char **argv)
{
    struct work w = {.least_bound = (double)INFINITY};
    const char *input = NULL, *output = NULL, *why = "";
    struct given more = {0};
    int status = parse(argc, argv, &w, &more, &input, &output);
    if (status || !tool_options_load(&w.options))
        return TOOL_ERROR;
    if (more.threshold > 0)
        w.options.threshold = more.threshold;
    if (more.fill.count)
        w.options.fill = more.fill;
    if (!w.encoder)
        w.encoder = zmpi_options_encoder(&w.options, &w.approximate);
    w.offload = (struct zmpi_offload){.what = input, .name = w.options.device};
    if (!zmpi_device_find(w.options.device, NULL, &why))
        return tool_fail("ZMPI_DEVICE=%s: %s", w.options.device, why);
    if (strcmp(output, "-") == 0)
        return fail_in_order();
    if (tool_input_open_raw(&w.in, input, false))
        return TOOL_ERROR;
    status = refuse_container(&w);
    const bool given = w.shape[2] > 0;
    if (!status)
        status = check(&w);
    if (!status && !given)
        status = find_shape(&w);
    if (!status && zmpi_bound_needs_range(&w.bound))
        status = find_range(&w);
    if (!status)
        status = tool_output_open(&w.out, output, &w.in);
    if (!status) {
        status = lseek(w.out.fd, 0, SEEK_CUR) < 0 ? fail_in_order() : write_container(&w);
        int closed = tool_output_close(&w.out, status == TOOL_OK);
        status = status ? status : closed;
    }
    if (!status && w.verbose && w.container.count)
        printf("device %s (%s)\n", zmpi_use_device(&w.offload.coded)->name, w.offload.coded.why);
    if (!status && w.container.count)
        say_bound(&w);
    zmpi_container_free(&w.container);
    tool_input_close(&w.in);
    return status;
}
