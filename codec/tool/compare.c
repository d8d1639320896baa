/* compare.c - zmpi compare: how far B is from A. */
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "judge/components.h"
#include "tool.h"
#include "value.h"

/* Elements held of each file at a time where there are no slices. */
#define SEGMENT ((size_t)1 << 20)
/* Windows of the structural similarity: this many elements each way, this far apart. */
enum { WINDOW = 8, WINDOW_STEP = 4 };

/* Sums over one component. */
struct part {
    struct zmpi_range range; /* of A */
    double max_error, sum_squares;
    uint64_t compared;
};

struct compare {
    enum zmpi_type type;
    bool big_endian;        /* the byte order of the files' numbers */
    size_t width, shape[3]; /* slices, rows, row */
    struct tool_input a, b;
    struct zmpi_range range; /* of A */
    double *x, *y;           /* one slice of each */
    unsigned char *raw;
    uint64_t elements, differing, special;
    double max_error, max_relative, sum_squares, ssim_sum;
    uint64_t max_at, compared, windows;
    int components; /* as in zmpi_options; 0: unset, 1: one, that is no components */
    struct part part[ZMPI_COMPONENTS_MOST];
};

/* Also applies everything that zmpi knows of the components. */
static int parse_components(struct compare *c, const char *text)
{
    struct zmpi_options o;
    char message[256];
    zmpi_options_default(&o);
    if (zmpi_option_set(&o, "components", text, "--components", message))
        return tool_fail("%s", message);
    c->components = o.components;
    for (int k = 0; k < ZMPI_COMPONENTS_MOST; k++)
        c->part[k].range = ZMPI_RANGE_EMPTY;
    return TOOL_OK;
}

static int parse(int argc, char **argv, struct compare *c, bool *json)
{
    static const struct option longs[] = {{"type", 1, NULL, 't'},
                                          {"dims", 1, NULL, 'd'},
                                          {"json", 0, NULL, 'j'},
                                          {"components", 1, NULL, 'N'},
                                          {NULL, 0, NULL, 0}};
    int o;
    while ((o = getopt_long(argc, argv, "t:d:", longs, NULL)) != -1) {
        if (o == 't' && !tool_parse_type(optarg, &c->type))
            return tool_fail("-t %s: f32 or f64", optarg);
        if (o == 'd' && !zmpi_shape_parse(optarg, c->shape))
            return tool_fail("-d %s: extents as NZxNYxNX, each at least 1", optarg);
        if (o == 'N' && parse_components(c, optarg))
            return TOOL_ERROR;
        if (o == 'j')
            *json = true;
        if (o == '?')
            return tool_usage();
    }
    if (argc - optind != 2)
        return tool_usage();
    return TOOL_OK;
}

/* -t, else the type in a name, else that of a container's contents. A raw file has the container's
 * byte order. */
static int find_type(struct compare *c)
{
    struct tool_input *in[] = {&c->a, &c->b};
    const bool given = c->shape[2] != 0;
    enum tool_order order = TOOL_ORDER_NONE;
    for (int i = 0; i < 2; i++)
        tool_field_name(in[i]->path, &c->type, c->shape);
    for (int i = 0; i < 2; i++) {
        enum tool_order one;
        struct tool_bound bound;
        const enum zmpi_type type = tool_container_type(in[i], &one, &bound);
        c->type = c->type ? c->type : type;
        order = !order || order == one || !one ? (one ? one : order) : TOOL_ORDER_MIXED;
    }
    if (order == TOOL_ORDER_MIXED)
        return tool_fail("%s, %s: some numbers are big-endian, others not", c->a.path, c->b.path);
    c->big_endian = order == TOOL_ORDER_BIG;
    if (!c->type)
        return tool_fail("no type: give -t f32 or f64");
    c->width = zmpi_type_size(c->type);
    const struct zmpi_array a = {c->type, {c->shape[0], c->shape[1], c->shape[2]}};
    size_t n;
    if (!given && (zmpi_array_count(&a, &n) || n != c->a.size / c->width))
        memset(c->shape, 0, sizeof c->shape); /* the shape in the name is wrong */
    return TOOL_OK;
}

/* The shape as slices. A field of one row is cut into segments. */
static int choose_shape(struct compare *c)
{
    struct zmpi_array a = {c->type, {c->shape[0], c->shape[1], c->shape[2]}};
    size_t n;
    c->elements = c->a.size / c->width;
    if (c->components && c->elements % (uint64_t)abs(c->components))
        return tool_fail("%s: %llu elements are no multiple of %d components", c->a.path,
                         (unsigned long long)c->elements, abs(c->components));
    if (c->shape[2] && (zmpi_array_count(&a, &n) || n != c->elements))
        return tool_fail("%s: has %llu elements, -d says %zux%zux%zu", c->a.path,
                         (unsigned long long)c->elements, c->shape[0], c->shape[1], c->shape[2]);
    if (c->shape[2] && c->shape[1] == 1) { /* 2-D given as 1 row each, or 1-D */
        c->shape[1] = c->shape[0];
        c->shape[0] = 1;
    }
    if (!c->shape[2] || c->shape[1] == 1) {
        c->shape[2] = c->elements < SEGMENT ? (size_t)c->elements : SEGMENT;
        c->shape[1] = 1;
        c->shape[0] = c->elements ? (size_t)((c->elements - 1) / c->shape[2] + 1) : 0;
    }
    return TOOL_OK;
}

/* Elements [first, first + n) of one file as doubles. */
static int load(struct compare *c, struct tool_input *in, uint64_t first, size_t n, double *dst)
{
    unsigned char *to = c->type == ZMPI_F64 ? (unsigned char *)dst : c->raw;
    int status = tool_input_read(in, first * c->width, to, n * c->width);
    if (!status && c->big_endian)
        zmpi_bytes_big_endian(to, to, n, c->width);
    for (size_t i = 0; i < n && !status && c->type == ZMPI_F32; i++)
        dst[i] = tool_value(ZMPI_F32, c->raw, i);
    return status;
}

/* The first byte, at or behind `at`, that is not in a hole. The read of that byte reports
 * errors. */
static uint64_t data_at(struct tool_input *in, uint64_t at)
{
    uint64_t next;
    if (!in->is_container)
        return in->reader.data_at(in->reader.context, at);
    return zmpi_container_next(&in->container, &in->reader, at, in->size, &next) ? at : next;
}

/* How many whole slices from element `at` on are holes, that is zeros, in A and in B (which may be
 * NULL). A file of a few bytes may claim 2^60 bytes, so these slices are skipped. */
static uint64_t empty_slices(const struct compare *c, struct tool_input *a, struct tool_input *b,
                             uint64_t at, size_t slice)
{
    uint64_t next = data_at(a, at * c->width);
    if (next < (at + slice) * c->width)
        return 0;
    if (b) {
        const uint64_t other = data_at(b, at * c->width);
        next = other < next ? other : next;
    }
    next = next < c->elements * c->width ? next : c->elements * c->width;
    return next / c->width > at ? (next / c->width - at) / slice : 0;
}

static int find_range(struct compare *c, size_t slice)
{
    int status = TOOL_OK;
    c->range = ZMPI_RANGE_EMPTY;
    for (uint64_t at = 0; at < c->elements && !status; at += slice) {
        const uint64_t empty = empty_slices(c, &c->a, NULL, at, slice);
        if (empty) {
            const struct zmpi_range zero = {0, 0, (double)INFINITY};
            zmpi_range_merge(&c->range, &zero);
            at += (empty - 1) * slice;
            continue;
        }
        size_t n = c->elements - at < slice ? (size_t)(c->elements - at) : slice;
        struct zmpi_range part;
        status = load(c, &c->a, at, n, c->x);
        zmpi_range_of(ZMPI_F64, c->x, n, &part);
        zmpi_range_merge(&c->range, &part);
    }
    return status;
}

static void compare_elements(struct compare *c, uint64_t first, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double x = c->x[i], y = c->y[i];
        if (memcmp(&x, &y, sizeof x) == 0 && isfinite(x)) {
            c->compared++;
            continue;
        }
        c->differing += memcmp(&x, &y, sizeof x) != 0;
        if (!isfinite(x) || !isfinite(y)) {
            c->special += memcmp(&x, &y, sizeof x) != 0;
            continue;
        }
        double error = fabs(x - y);
        c->compared++;
        c->sum_squares += error * error;
        c->max_relative = fmax(c->max_relative, error / fabs(x));
        if (error > c->max_error) {
            c->max_error = error;
            c->max_at = first + i;
        }
    }
}

static struct part *part_of(struct compare *c, uint64_t element)
{
    const uint64_t n = (uint64_t)abs(c->components);
    return &c->part[c->components < 0 ? element / (c->elements / n) : element % n];
}

static void compare_parts(struct compare *c, uint64_t first, size_t n)
{
    for (size_t i = 0; i < n && abs(c->components) > 1; i++) {
        struct part *p = part_of(c, first + i);
        const double error = fabs(c->x[i] - c->y[i]);
        if (!isfinite(error))
            continue;
        struct zmpi_range one;
        zmpi_range_of(ZMPI_F64, &c->x[i], 1, &one);
        zmpi_range_merge(&p->range, &one);
        p->compared++;
        p->sum_squares += error * error;
        p->max_error = fmax(p->max_error, error);
    }
}

/* Structural similarity of one window (Wang et al. 2004). NaN if the window holds a value that is
 * not finite. */
static double window_ssim(const double *x, const double *y, size_t row, size_t ny, size_t nx,
                          double range)
{
    double n = (double)(ny * nx), sx = 0, sy = 0, sxx = 0, syy = 0, sxy = 0;
    for (size_t j = 0; j < ny; j++)
        for (size_t i = 0; i < nx; i++) {
            sx += x[j * row + i];
            sy += y[j * row + i];
        }
    double mx = sx / n, my = sy / n;
    for (size_t j = 0; j < ny; j++)
        for (size_t i = 0; i < nx; i++) {
            double dx = x[j * row + i] - mx, dy = y[j * row + i] - my;
            sxx += dx * dx;
            syy += dy * dy;
            sxy += dx * dy;
        }
    double c1 = 0.01 * range * (0.01 * range), c2 = 0.03 * range * (0.03 * range);
    double up = (2 * mx * my + c1) * (2 * sxy / n + c2),
           down = (mx * mx + my * my + c1) * (sxx / n + syy / n + c2);
    return down == 0 ? 1 : up / down; // a constant field cannot differ in structure
}

static void compare_windows(struct compare *c, size_t rows, size_t row)
{
    size_t wy = rows < WINDOW ? rows : WINDOW, wx = row < WINDOW ? row : WINDOW;
    double range = c->range.max > c->range.min ? c->range.max - c->range.min : 0;
    for (size_t j = 0; j + wy <= rows; j += WINDOW_STEP)
        for (size_t i = 0; i + wx <= row; i += WINDOW_STEP) {
            double s = window_ssim(c->x + j * row + i, c->y + j * row + i, row, wy, wx, range);
            if (isfinite(s)) {
                c->ssim_sum += s;
                c->windows++;
            }
        }
}

/* Adds what compare_windows gives for n slices of zeros: all windows are equal. */
static void count_empty(struct compare *c, uint64_t at, uint64_t n, size_t rows, size_t row)
{
    const size_t wy = rows < WINDOW ? rows : WINDOW, wx = row < WINDOW ? row : WINDOW;
    const uint64_t windows = n * ((rows - wy) / WINDOW_STEP + 1) * ((row - wx) / WINDOW_STEP + 1);
    c->compared += n * rows * row;
    for (uint64_t i = 0; i < n * rows * row && i < (uint64_t)abs(c->components); i++) {
        const struct zmpi_range zero = {0, 0, (double)INFINITY};
        zmpi_range_merge(&part_of(c, at + i)->range, &zero);
    }
    c->windows += windows;
    c->ssim_sum += (double)windows;
}

static int compare_all(struct compare *c)
{
    size_t slice = c->shape[1] * c->shape[2];
    c->x = malloc(slice * sizeof *c->x + 1);
    c->y = malloc(slice * sizeof *c->y + 1);
    c->raw = malloc(slice * c->width + 1);
    int status = c->x && c->y && c->raw ? find_range(c, slice) : tool_fail("out of memory");
    for (uint64_t at = 0; at < c->elements && !status; at += slice) {
        size_t n = c->elements - at < slice ? (size_t)(c->elements - at) : slice;
        const uint64_t empty = empty_slices(c, &c->a, &c->b, at, slice);
        if (empty) {
            count_empty(c, at, empty, c->shape[1], c->shape[2]);
            at += (empty - 1) * slice;
            continue;
        }
        status = load(c, &c->a, at, n, c->x);
        if (!status)
            status = load(c, &c->b, at, n, c->y);
        if (status)
            break;
        compare_elements(c, at, n);
        compare_parts(c, at, n);
        compare_windows(c, c->shape[1] == 1 ? 1 : c->shape[1], c->shape[1] == 1 ? n : c->shape[2]);
        tool_progress("compare", at + n, c->elements);
    }
    free(c->x);
    free(c->y);
    free(c->raw);
    return status;
}

static double peak_ratio(const struct compare *c)
{
    double range = c->range.max > c->range.min ? c->range.max - c->range.min : 0;
    if (c->sum_squares <= 0 || c->compared == 0)
        return (double)INFINITY;
    return 20 * log10(range) - 10 * log10(c->sum_squares / (double)c->compared);
}

static double width_of(const struct zmpi_range *r)
{
    return r->max > r->min ? r->max - r->min : 0;
}

static double peak_ratio_of(const struct part *p)
{
    return p->sum_squares > 0
               ? 20 * log10(width_of(&p->range)) - 10 * log10(p->sum_squares / (double)p->compared)
               : (double)INFINITY;
}

static void print_parts(const struct compare *c)
{
    for (int k = 0; k < abs(c->components) && abs(c->components) > 1; k++) {
        const struct part *p = &c->part[k];
        printf("component %-9d largest error %.9g", k, p->max_error);
        if (width_of(&p->range) > 0)
            printf(" (%.4g of the range)", p->max_error / width_of(&p->range));
        printf(", %.9g to %.9g, PSNR %.2f dB\n", p->range.min, p->range.max, peak_ratio_of(p));
    }
}

static void print_json_parts(const struct compare *c)
{
    printf(", \"components\": [");
    for (int k = 0; k < abs(c->components) && abs(c->components) > 1; k++) {
        const struct part *p = &c->part[k];
        const double width = width_of(&p->range);
        printf("%s{\"max_error\": ", k ? ", " : "");
        tool_json_number(p->max_error);
        printf(", \"max_error_over_range\": ");
        tool_json_number(width > 0 ? p->max_error / width : (double)NAN);
        printf(", \"range\": ");
        tool_json_number(width);
        printf(", \"psnr\": ");
        tool_json_number(peak_ratio_of(p));
        printf("}");
    }
    printf("]");
}

static void print_result(const struct compare *c, bool json)
{
    double range = c->range.max > c->range.min ? c->range.max - c->range.min : 0;
    double ssim = c->windows ? c->ssim_sum / (double)c->windows : (double)NAN;
    double ratio = c->b.physical ? (double)c->a.physical / (double)c->b.physical : (double)NAN;
    const char *name[] = {
        "max_error",         "psnr", "ssim", "range", "max_error_over_range", "size_ratio",
        "max_relative_error"};
    double value[] = {
        c->max_error, peak_ratio(c),  ssim, range, range > 0 ? c->max_error / range : (double)NAN,
        ratio,        c->max_relative};
    if (!json) {
        printf("elements            %llu, %llu differ\n", (unsigned long long)c->elements,
               (unsigned long long)c->differing);
        if (c->elements == 0)
            return;
        printf("largest error       %.9g at element %llu", c->max_error,
               (unsigned long long)c->max_at);
        printf(range > 0 ? " (%.4g of the range)\n" : "\n", value[4]);
        printf("relative error      at most %.9g of |x|\n", c->max_relative);
        printf("range of A          %.9g to %.9g\n", c->range.min, c->range.max);
        printf("PSNR                %.2f dB\n", value[1]);
        printf("SSIM                %.8f\n", ssim);
        printf("NaN or Inf changed  %llu\n", (unsigned long long)c->special);
        printf("bytes A / bytes B   %.3f\n", ratio);
        print_parts(c);
        return;
    }
    printf("{");
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        printf("%s\"%s\": ", i ? ", " : "", name[i]);
        tool_json_number(value[i]);
    }
    printf(", \"elements\": %llu, \"differing\": %llu, \"special_changed\": %llu, "
           "\"max_error_at\": %llu",
           (unsigned long long)c->elements, (unsigned long long)c->differing,
           (unsigned long long)c->special, (unsigned long long)c->max_at);
    print_json_parts(c);
    printf("}\n");
}

static int compare_files(struct compare *c, bool json)
{
    if (c->a.size != c->b.size) {
        printf("%s has %llu bytes, %s %llu\n", c->a.path, (unsigned long long)c->a.size, c->b.path,
               (unsigned long long)c->b.size);
        return TOOL_DIFFERENT;
    }
    const int failed = find_type(c);
    if (failed)
        return failed;
    if (c->a.size % c->width)
        return tool_fail("%s: %llu bytes are not a multiple of %zu", c->a.path,
                         (unsigned long long)c->a.size, c->width);
    int status = choose_shape(c);
    if (!status)
        status = compare_all(c);
    if (!status)
        print_result(c, json);
    return status ? status : c->special ? TOOL_DIFFERENT : TOOL_OK;
}

int tool_compare(int argc, char **argv)
{
    struct compare c = {0};
    bool json = false;
    int status = parse(argc, argv, &c, &json);
    if (status)
        return status;
    status = tool_input_open(&c.a, argv[optind]);
    if (status)
        return status;
    status = tool_input_open(&c.b, argv[optind + 1]);
    if (!status) {
        status = compare_files(&c, json);
        tool_input_close(&c.b);
    }
    tool_input_close(&c.a);
    return status;
}
