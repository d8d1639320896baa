/* compress.c - zmpi compress: a raw field to a container. */
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "compress.h"

/* Input of one record at most: whole planes of the field. */
#define PIECE_BYTES ((size_t)256 << 20)

/* Options of the command line, which override the environment. */
struct given {
    double threshold;       /* 0: not given */
    struct zmpi_fills fill; /* none: not given */
    const char *components; /* NULL: not given */
};

static int parse(int argc, char **argv, struct tool_work *w, struct given *given,
                 const char **input, const char **output)
{
    static const struct option longs[] = {
        {"type", 1, NULL, 't'},       {"error-bound", 1, NULL, 'e'}, {"dims", 1, NULL, 'd'},
        {"codec", 1, NULL, 'c'},      {"threshold", 1, NULL, 'T'},   {"fill", 1, NULL, 'F'},
        {"components", 1, NULL, 'N'}, {"verbose", 0, NULL, 'v'},     {NULL, 0, NULL, 0}};
    int c;
    while ((c = getopt_long(argc, argv, "t:e:d:T:v", longs, NULL)) != -1) {
        if (c == 't' && !tool_parse_type(optarg, &w->type))
            return tool_fail("-t %s: f32 or f64", optarg);
        if (c == 'd' && !zmpi_shape_parse(optarg, w->shape))
            return tool_fail("-d %s: extents as NZxNYxNX, each at least 1", optarg);
        if (c == 'T' && !zmpi_threshold_parse(optarg, &given->threshold))
            return tool_fail("-T %s: a finite number > 0", optarg);
        if (c == 'N')
            given->components = optarg;
        if (c == 'F' && !zmpi_fills_parse(optarg, &given->fill))
            return tool_fail("--fill %s: one or two finite numbers separated by ','", optarg);
        if (c == 'c' && !(w->encoder = zmpi_encoder_parse(optarg, &w->variant)))
            return tool_fail("--codec %s: " ZMPI_ENCODER_NAMES, optarg);
        if (c == 'e') {
            if (zmpi_bound_parse(optarg, &w->bound))
                return tool_fail("-e %s: %s" ZMPI_BOUNDS, optarg,
                                 strchr(optarg, '%') ? "10% is rel=0.1; " : "");
            w->bound_given = true;
        }
        if (c == 'v')
            w->verbose = true;
        if (c == '?')
            return tool_usage();
    }
    if (argc - optind != 2)
        return tool_usage();
    tool_field_name(argv[optind], &w->type, (size_t[3]){0});
    if (!w->type)
        return tool_fail("no type: give -t f32 or f64, or a name such as x_41x128x128.f32");
    *input = argv[optind];
    *output = argv[optind + 1];
    return TOOL_OK;
}

/* -d describes the whole file, with components as its fastest or slowest extent, or one
 * component. */
static void shape_of_component(struct tool_work *w)
{
    const size_t n = (size_t)tool_components(w), *e = w->shape;
    size_t *shape = w->shape;
    if (w->options.components < 0 && e[0] % n == 0)
        shape[0] /= n;
    else if (w->options.components < 0 && e[0] == 1 && e[1] % n == 0)
        shape[1] /= n;
    else if (w->options.components > 0 && e[2] == n)
        memcpy(shape, (size_t[]){1, e[0], e[1]}, sizeof w->shape);
    else if (w->options.components > 0 && e[2] % n == 0)
        shape[2] /= n;
    else
        memcpy(shape, (size_t[]){1, 1, e[0] * e[1] * e[2] / n}, sizeof w->shape);
}

/* -e, else ZMPI_ERROR_BOUND. -d must describe the whole file. */
static int check(struct tool_work *w)
{
    size_t width = zmpi_type_size(w->type), count = (size_t)(w->in.physical / width), n;
    if (!w->bound_given && !w->options.bound_set)
        return tool_fail("no bound: give -e abs=V, rel=V, pw_rel=V, psnr=dB, ratio=R or lossless");
    if (!w->bound_given)
        w->bound = w->options.bound;
    if (w->in.physical % width)
        return tool_fail("%s: %llu bytes are not a multiple of %zu", w->in.path,
                         (unsigned long long)w->in.physical, width);
    const size_t parts = (size_t)tool_components(w);
    if (count % parts)
        return tool_fail("%s: %zu elements are no multiple of %zu components", w->in.path, count,
                         parts);
    struct zmpi_array a = {w->type, {w->shape[0], w->shape[1], w->shape[2]}};
    if (w->shape[2] == 0) { /* a shape in the file's name only counts if it fits */
        tool_field_name(w->in.path, &a.type, a.extent);
        if (a.extent[2] && !zmpi_array_count(&a, &n) && (n == count || n == count / parts))
            memcpy(w->shape, a.extent, sizeof w->shape);
    }
    w->shape_known = w->shape[2] > 0;
    if (w->shape[2] == 0) {
        w->shape[0] = w->shape[1] = 1;
        w->shape[2] = count / parts;
    } else if (!zmpi_array_count(&a, &n) && n == count) {
        if (parts > 1)
            shape_of_component(w);
    } else if (zmpi_array_count(&a, &n) || n != count / parts) {
        return tool_fail("%s: has %zu elements, -d says %zux%zux%zu", w->in.path, count,
                         w->shape[0], w->shape[1], w->shape[2]);
    }
    return TOOL_OK;
}

/* The file is a container: its bytes are not numbers, and a bound would destroy it. */
static int refuse_container(struct tool_work *w)
{
    bool is_container;
    const enum zmpi_status status = tool_input_look(&w->in, &is_container);
    if (status)
        return tool_fail_status(w->in.path, status);
    return is_container ? tool_fail("%s: is compressed already", w->in.path) : TOOL_OK;
}

static void note_bound(struct tool_work *w, int c, const unsigned char *stream, size_t size)
{
    struct zmpi_stream_info info;
    const double width = w->range[c].max - w->range[c].min;
    if (zmpi_stream_info(stream, size, &info))
        return;
    if (info.abs_bound > 0 || tool_components(w) == 1) /* not of constants beside others */
        w->least_bound = fmin(w->least_bound, info.abs_bound);
    w->most_bound = fmax(w->most_bound, info.abs_bound);
    if (width > 0)
        w->share = fmax(w->share, info.abs_bound / width);
    w->coded += (double)size;
}

/* The extent of a component's elements: `bytes` bytes from the points at `at` on. */
static struct zmpi_extent extent_of(const struct tool_work *w, int c, uint64_t at, uint64_t bytes)
{
    const uint64_t width = zmpi_type_size(w->type), n = (uint64_t)tool_components(w);
    struct zmpi_extent e = {.lo = at, .hi = at + bytes, .bytes = bytes, .run = bytes};
    if (w->options.components <= 1)
        return e;
    e = (struct zmpi_extent){.lo = at + (uint64_t)c * width, .run = width};
    if (bytes > width) {
        e.count[0] = bytes / width;
        e.stride[0] = n * width;
        e.levels = 1;
    }
    zmpi_extent_close(&e);
    return e;
}

/* Writes one record: component c as an array, from the points at `at` on. Interleaved components
 * share one place in the order of records. Moves the log's end. */
static int write_record(struct tool_work *w, int c, uint64_t at, uint64_t order,
                        const struct zmpi_array *array, unsigned char *input, unsigned char *output,
                        size_t capacity)
{
    struct zmpi_job job;
    struct zmpi_record r = {.kind = ZMPI_RECORD_DATA, .offset = w->header.log_end, .order = order};
    const bool mixed = w->options.components > 1;
    size_t bytes, size;
    zmpi_array_bytes(array, &bytes);
    const size_t all = mixed ? bytes * (size_t)w->options.components : bytes;
    size_t n = all;
    int failed = tool_read_component(w, c, at, input, input + bytes, &n);
    failed = failed ? failed : tool_check_data(w, mixed ? input + bytes : input, all);
    if (failed)
        return failed;
    r.extent = extent_of(w, c, at, bytes);
    r.extents_length = (uint32_t)zmpi_extent_nest_size(r.extent.levels);
    size_t head = zmpi_record_head_size(&r);
    enum zmpi_status status = tool_job(w, array, c, &job);
    if (!status)
        status =
            zmpi_offload_compress(&w->offload, &job, NULL, output + head, capacity, input, &size);
    if (status)
        return tool_fail_status(w->in.path, status);
    note_bound(w, c, output + head, size);
    r.payload_length = size;
    zmpi_record_encode(&r, w->header.id, NULL, output);
    memset(output + head + size, 0, zmpi_pad8(size) - size);
    status = zmpi_container_add(&w->container, &r);
    if (status)
        return tool_fail_status(w->in.path, status);
    w->header.log_end += zmpi_record_size(&r);
    return tool_output_write(&w->out, output, (size_t)zmpi_record_size(&r));
}

/* What one record holds of a component: whole planes, rows, or elements; and memory for it. */
struct piece {
    size_t unit, row, plane, bytes, capacity;
    unsigned char *input, *output;
};

static struct piece piece_of(const struct tool_work *w)
{
    const size_t width = zmpi_type_size(w->type), parts = (size_t)tool_components(w),
                 most = PIECE_BYTES / parts, all = (size_t)w->in.physical / parts;
    struct piece p = {.row = w->shape[2] * width, .plane = w->shape[1] * w->shape[2] * width};
    p.unit = p.plane <= most ? p.plane : p.row <= most ? p.row : width;
    p.bytes = most / p.unit * p.unit < all ? most / p.unit * p.unit : all;
    const struct zmpi_array whole = {w->type, {1, 1, p.bytes / width}};
    /* records of other shapes may have more and smaller chunks */
    p.capacity = zmpi_compress_capacity(&whole) + p.bytes / 8;
    p.input = malloc(p.bytes * (w->options.components > 1 ? parts + 1 : 1));
    p.output = malloc(p.capacity + ZMPI_RECORD_HEADER_BYTES + zmpi_extent_nest_size(1) + 8);
    return p;
}

/* Writes `bytes` of each component, from those at `at` bytes of each on. */
static int write_piece(struct tool_work *w, const struct piece *p, uint64_t at, size_t bytes)
{
    const size_t width = zmpi_type_size(w->type), *e = w->shape;
    const bool mixed = w->options.components > 1;
    const uint64_t first = w->container.count,
                   place = mixed ? at * (uint64_t)tool_components(w) : at;
    struct zmpi_array a = {w->type, {1, 1, bytes / width}};
    if (p->unit == p->plane)
        memcpy(a.extent, (size_t[]){bytes / p->plane, e[1], e[2]}, sizeof a.extent);
    else if (p->unit == p->row)
        memcpy(a.extent, (size_t[]){1, bytes / p->row, e[2]}, sizeof a.extent);
    int status = tool_has_one_ratio(w) ? tool_search_ratio(w, at, &a) : TOOL_OK;
    for (int c = 0; c < tool_components(w) && !status; c++)
        status =
            write_record(w, c, tool_component_begin(w, c) + place,
                         mixed ? first : w->container.count, &a, p->input, p->output, p->capacity);
    return status;
}

static int write_records(struct tool_work *w)
{
    const struct piece p = piece_of(w);
    const uint64_t parts = (uint64_t)tool_components(w), all = w->in.physical / parts;
    int status = p.input && p.output ? TOOL_OK : tool_fail("out of memory");
    for (uint64_t at = 0; at < all && !status; at += p.bytes) {
        const size_t bytes = all - at < p.bytes ? (size_t)(all - at) : p.bytes;
        status = write_piece(w, &p, at, bytes);
        tool_progress("compress", (at + bytes) * parts, w->in.physical);
    }
    free(p.input);
    free(p.output);
    return status;
}

static int write_header(struct tool_work *w, bool in_place)
{
    unsigned char block[ZMPI_HEADER_BYTES] = {0};
    zmpi_header_put(&w->header, block);
    return in_place ? tool_output_write_at(&w->out, block, sizeof block, 0)
                    : tool_output_write(&w->out, block, sizeof block);
}

static int write_index(struct tool_work *w)
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

static int write_container(struct tool_work *w)
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

/* Of components with bounds of their own, the least and the largest. */
static void print_bounds(const struct tool_work *w, double one)
{
    if (tool_components(w) > 1)
        printf("absolute bounds %.9g to %.9g, at most %.3g of a component's range", w->least_bound,
               w->most_bound, w->share);
    else
        printf("absolute bound %.9g", one);
}

/* Prints the bound that a ratio or psnr has led to. */
static void say_bound(const struct tool_work *w)
{
    const double asked = w->bound.value, got = (double)w->in.physical / w->coded;
    if (w->bound.mode == ZMPI_PSNR) {
        printf("psnr=%.9g: ", asked);
        print_bounds(w, w->least_bound);
        printf("\n");
    }
    if (w->bound.mode != ZMPI_RATIO)
        return;
    const bool exact = !(w->most_bound > 0);
    const bool missed = fabs(got / asked - 1) > 0.05 && !(exact && got > asked);
    const bool more = missed && got < asked && w->encoder != ZMPI_INTERP;
    printf("ratio=%.9g%s %.4g", asked, missed ? " is not possible:" : ":", got);
    printf(", ");
    if (exact)
        printf("without loss");
    else
        print_bounds(w, w->most_bound);
    printf("%s%s\n", more ? "; smaller with --codec " : "",
           more ? zmpi_encoder_name(w->encoder + 1) : "");
}

/* Exact components stay together. If their number is not set, the data decide. */
static int choose_components(struct tool_work *w)
{
    if (!w->bound_given)
        w->bound = w->options.bound;
    if (w->bound.mode == ZMPI_LOSSLESS)
        w->options.components = 1;
    else if (w->options.components == 0 && w->in.physical % zmpi_type_size(w->type) == 0)
        return tool_find_components(w);
    return TOOL_OK;
}

static int fail_in_order(void)
{
    return tool_fail("a container is written in two places: give a file, not standard output or a "
                     "pipe");
}

/* A bound is kept to the letter, and may take all of a header or of coordinates. */
static void say_few(const struct tool_work *w)
{
    const uint64_t count = w->in.physical / zmpi_type_size(w->type);
    if (w->bound.mode != ZMPI_LOSSLESS && count <= (uint64_t)w->options.exact_below)
        printf("%llu values within the bound: in a program's call so few values, such as "
               "coordinates, would be exact (ZMPI_EXACT_BELOW); -e lossless keeps them\n",
               (unsigned long long)count);
}

int tool_compress(int argc, char **argv)
{
    struct tool_work w = {.least_bound = (double)INFINITY};
    const char *input = NULL, *output = NULL, *why = "";
    struct given more = {0};
    int status = parse(argc, argv, &w, &more, &input, &output);
    if (status || !tool_options_load(&w.options))
        return TOOL_ERROR;
    if (more.threshold > 0)
        w.options.threshold = more.threshold;
    if (more.fill.count)
        w.options.fill = more.fill;
    char message[256];
    if (more.components &&
        zmpi_option_set(&w.options, "components", more.components, "--components", message))
        return tool_fail("%s", message);
    if (w.bound_given)
        w.options.bound = w.bound;
    w.options.bound_set |= w.bound_given;
    if (!w.encoder)
        w.encoder = zmpi_options_encoder(&w.options, &w.variant);
    w.offload = (struct zmpi_offload){.what = input, .name = w.options.device};
    if (!zmpi_device_find(w.options.device, NULL, &why))
        return tool_fail("ZMPI_DEVICE=%s: %s", w.options.device, why);
    if (strcmp(output, "-") == 0)
        return fail_in_order();
    if (tool_input_open_raw(&w.in, input, false))
        return TOOL_ERROR;
    status = refuse_container(&w);
    if (!status)
        status = choose_components(&w);
    if (!status)
        status = check(&w);
    if (!status && !w.shape_known)
        status = tool_find_shape(&w);
    for (int c = 0; c < ZMPI_COMPONENTS_MOST; c++)
        w.fills[c] = w.options.fill;
    if (!status && zmpi_bound_needs_range(&w.bound))
        status = tool_find_ranges(&w);
    if (!status)
        status = tool_output_open(&w.out, output, &w.in);
    if (!status) {
        status = lseek(w.out.fd, 0, SEEK_CUR) < 0 ? fail_in_order() : write_container(&w);
        int closed = tool_output_close(&w.out, status == TOOL_OK);
        status = status ? status : closed;
    }
    if (!status && w.verbose && w.container.count)
        printf("device %s (%s)\n", zmpi_use_device(&w.offload.coded)->name, w.offload.coded.why);
    if (!status && w.container.count) {
        say_bound(&w);
        say_few(&w);
    }
    zmpi_container_free(&w.container);
    tool_input_close(&w.in);
    return status;
}
