/* compress_look.c - what zmpi compress finds in a raw field before it codes it: components, shape,
 * ranges. */
#include <math.h>
#include <stdlib.h>

#include "bound/fill.h"
#include "judge/judgement.h"
#include "judge/shape.h"
#include "compress.h"

/* Bytes per read during the search for the range. */
#define SCAN_BYTES ((size_t)16 << 20)

/* As set, else 1 until the data were examined. Each component has records of its own. */
int tool_components(const struct tool_work *w)
{
    return abs(w->options.components) > 1 ? abs(w->options.components) : 1;
}

/* The place of component c. An interleaved component takes all of the file. */
uint64_t tool_component_begin(const struct tool_work *w, int c)
{
    return w->options.components < 0 ? w->in.physical / (uint64_t)tool_components(w) * (uint64_t)c
                                     : 0;
}

static uint64_t end_of(const struct tool_work *w, int c)
{
    return w->options.components < 0 ? tool_component_begin(w, c + 1) : w->in.physical;
}

/* rest: as much memory as buffer. */
int tool_read_component(struct tool_work *w, int c, uint64_t at, unsigned char *buffer,
                        unsigned char *rest, size_t *n)
{
    const int parts = w->options.components > 1 ? w->options.components : 1;
    const int status = tool_input_read(&w->in, at, parts > 1 ? rest : buffer, *n);
    if (!status && parts > 1)
        zmpi_component_take(w->type, rest, *n / zmpi_type_size(w->type), parts, c, buffer);
    *n /= (size_t)parts;
    return status;
}

/* Values from the threshold on, and `fills`, do not count. fill: gets candidates for fill values,
 * unless NULL. */
static int scan_component(struct tool_work *w, int c, double threshold,
                          const struct zmpi_fills *fills, struct zmpi_range *range,
                          struct zmpi_fill *fill)
{
    const size_t width = zmpi_type_size(w->type), point = width * (size_t)tool_components(w),
                 most = SCAN_BYTES / point * point;
    const uint64_t end = end_of(w, c);
    unsigned char *buffer = malloc(2 * SCAN_BYTES);
    int status = buffer ? TOOL_OK : tool_fail("out of memory");
    *range = ZMPI_RANGE_EMPTY;
    for (uint64_t at = tool_component_begin(w, c); at < end && !status; at += most) {
        size_t n = end - at < most ? (size_t)(end - at) : most;
        struct zmpi_range part;
        status = tool_read_component(w, c, at, buffer, buffer + SCAN_BYTES, &n);
        if (!status) {
            zmpi_range_without(w->type, buffer, n / width, threshold, fills, tool_threads(), &part);
            zmpi_range_merge(range, &part);
        }
        if (!status && fill) {
            struct zmpi_taken taken;
            zmpi_sample_take(&taken, w->type, buffer, n / width);
            *fill = zmpi_fill_merge(*fill, zmpi_fill_look(&taken, &part));
        }
    }
    free(buffer);
    return status;
}

struct scanned {
    struct tool_work *work;
    int component;
};

/* zmpi_fill_scan_fn */
static bool scan_below(void *context, double threshold, const struct zmpi_fills *fills,
                       struct zmpi_range *range)
{
    const struct scanned *s = context;
    return scan_component(s->work, s->component, threshold, fills, range, NULL) == TOOL_OK;
}

int tool_find_ranges(struct tool_work *w)
{
    int status = TOOL_OK;
    for (int c = 0; c < tool_components(w) && !status; c++) {
        struct scanned s = {w, c};
        struct zmpi_fill fill = ZMPI_FILL_NONE;
        status = scan_component(w, c, w->options.threshold, &w->fills[c], &w->range[c], &fill);
        if (!status)
            zmpi_fill_exclude(fill, w->options.threshold, scan_below, &s, &w->fills[c],
                              &w->range[c]);
    }
    return status;
}

/* Looks at one read's worth of data at a time. */
int tool_find_components(struct tool_work *w)
{
    const size_t width = zmpi_type_size(w->type), count = (size_t)(w->in.physical / width),
                 have = count < SCAN_BYTES / width ? count : SCAN_BYTES / width;
    unsigned char *buffer = malloc(have * width + 1);
    int status =
        buffer ? tool_input_read(&w->in, 0, buffer, have * width) : tool_fail("out of memory");
    if (!status)
        status = tool_check_data(w, buffer, have * width);
    const int n = status ? 1 : zmpi_components_find(w->type, w->options.threshold, buffer, have);
    if (n > 1 && count % (size_t)n == 0) {
        w->options.components = n;
        printf("%d interleaved components, as the data look; --components 1: one array\n", n);
    }
    free(buffer);
    return status;
}

/* Looks at one read's worth of data at a time. */
int tool_find_shape(struct tool_work *w)
{
    const size_t width = zmpi_type_size(w->type), point = width * (size_t)tool_components(w),
                 count = (size_t)(w->in.physical / point),
                 most = SCAN_BYTES / point < count ? SCAN_BYTES / point : count;
    size_t bytes = most * (w->options.components > 1 ? point : width);
    unsigned char *buffer = malloc(2 * bytes + 1);
    int status = buffer ? tool_read_component(w, 0, 0, buffer, buffer + bytes, &bytes)
                        : tool_fail("out of memory");
    const struct zmpi_column data = {buffer, bytes / width, 1};
    if (!status &&
        zmpi_shape_find(w->type, &w->bound, w->options.threshold, &data, count, w->shape) &&
        w->verbose)
        printf("shape %zux%zux%zu, as the data look; -d gives another\n", w->shape[0], w->shape[1],
               w->shape[2]);
    free(buffer);
    return status;
}

/* Refuses data that a bound would destroy. */
int tool_check_data(struct tool_work *w, const unsigned char *input, size_t bytes)
{
    struct zmpi_judgement j = {0};
    char text[ZMPI_JUDGEMENT_TEXT];
    if (w->bound.mode == ZMPI_LOSSLESS)
        return TOOL_OK;
    struct zmpi_taken taken;
    zmpi_sample_take(&taken, w->type, input, bytes / zmpi_type_size(w->type));
    zmpi_judge(&j, &taken, false);
    if (w->verbose && !w->looks_told) {
        w->looks_told = true;
        zmpi_judgement_text(&j, w->type, text);
        printf("%s\n", text);
    }
    if (!j.is_wrong)
        return TOOL_OK;
    if (j.looks != ZMPI_LOOKS_RIGHT && !zmpi_order_is_wrong(&j.order))
        return tool_fail("%s: -t says %s, its data look like %s: give their type, or keep them "
                         "exactly with -e lossless",
                         w->in.path, w->type == ZMPI_F32 ? "f32" : "f64", zmpi_looks_name(j.looks));
    if (zmpi_order_has_integers(&j.order))
        return tool_fail("%s: has integers where -t says floats, or floats below %s, which "
                         "look the same: "
                         "keep them exactly with -e lossless, or scale such floats up first",
                         w->in.path, w->type == ZMPI_F64 ? "2.2e-308" : "1.2e-38");
    return tool_fail("%s: its numbers are in the other byte order: swap their bytes first, or keep "
                     "them exactly with -e lossless",
                     w->in.path);
}
