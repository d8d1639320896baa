/* info_kinds.c - the kinds of a container's records. */
#include "info_kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "layout/stream.h"

static const double fills_from = 1e20; /* the default of ZMPI_THRESHOLD */

void tool_shape_text(const size_t extent[3], char text[80])
{
    if (extent[0] > 1)
        snprintf(text, 80, "%zux%zux%zu", extent[0], extent[1], extent[2]);
    else if (extent[1] > 1)
        snprintf(text, 80, "%zux%zu", extent[1], extent[2]);
    else
        snprintf(text, 80, "%zu", extent[2]);
}

static size_t width_of(enum zmpi_type type)
{
    return type == ZMPI_BYTES ? 1 : type == ZMPI_F32 || type == ZMPI_I32 ? 4 : 8;
}

/* If the record covers single elements: the number of interleaved variables, of which it is one. */
static unsigned components_of(const struct zmpi_extent *e, size_t width)
{
    if (width == 1 || e->levels < 1 || e->levels > ZMPI_EXTENT_LEVELS || e->run != width ||
        e->stride[0] % width || e->stride[0] / width > 64)
        return 1;
    return (unsigned)(e->stride[0] / width);
}

/* Bounds of one variable change with its range. Those of other variables are mostly far away. */
static bool is_near(double a, double b)
{
    return a >= b && a <= b ? true : a <= 2 * b && b <= 2 * a;
}

static bool is_alike(const struct tool_kind *k, const struct tool_kind *one)
{
    return k->array.type == one->array.type && k->encoder == one->encoder &&
           memcmp(k->array.extent, one->array.extent, sizeof k->array.extent) == 0 &&
           k->bound.mode == one->bound.mode &&
           memcmp(&k->bound.value, &one->bound.value, sizeof k->bound.value) == 0 &&
           k->components == one->components && k->phase == one->phase &&
           is_near(k->least, one->least);
}

/* A record that claims more than this is not decoded for its range. */
#define DECODED_MOST ((uint64_t)1 << 30)

static enum zmpi_status range_of_stream(struct tool_input *in, const struct zmpi_stream *s,
                                        bool big_endian, struct zmpi_range *range)
{
    const enum zmpi_type type = s->info.array.type;
    const size_t width = width_of(type), count = s->info.decoded_bytes / width;
    void *values = malloc(s->info.decoded_bytes + 1);
    enum zmpi_status status =
        values ? zmpi_stream_decode(s, NULL, in->reader.threads, values, NULL) : ZMPI_ERR_MEMORY;
    if (status == ZMPI_OK && count) {
        if (big_endian)
            zmpi_bytes_big_endian(values, values, count, width);
        zmpi_fill_range(type, values, count, fills_from, NULL, 1, range);
    }
    free(values);
    return status;
}

/* The range of a record's values. It is empty if the record cannot be decoded: `zmpi verify` says
 * why. */
static enum zmpi_status range_of(struct tool_input *in, const struct zmpi_record *r,
                                 const struct zmpi_stream_info *info, struct zmpi_range *range)
{
    const uint64_t head = zmpi_record_head_size(r);
    struct zmpi_stream s;
    *range = (struct zmpi_range){HUGE_VAL, -HUGE_VAL, HUGE_VAL};
    if (r->offset > in->physical || zmpi_record_size(r) > in->physical - r->offset)
        return ZMPI_OK;
    unsigned char *payload = malloc((size_t)r->payload_length + 1);
    if (!payload)
        return ZMPI_ERR_MEMORY;
    enum zmpi_status status =
        in->reader.read(in->reader.context, r->offset + head, payload, (size_t)r->payload_length);
    status = status ? status : zmpi_stream_parse(&s, payload, (size_t)r->payload_length);
    if (!status && s.info.array.type == info->array.type && s.info.decoded_bytes <= DECODED_MOST)
        status = range_of_stream(in, &s, info->big_endian, range);
    free(payload);
    return status == ZMPI_ERR_MEMORY ? status : ZMPI_OK;
}

enum zmpi_status tool_kinds_add(struct tool_kinds *s, struct tool_input *in,
                                const struct zmpi_record *r, const struct zmpi_stream_info *info,
                                bool decode)
{
    const size_t width = width_of(info->array.type);
    const unsigned n = components_of(&r->extent, width);
    const struct tool_kind one = {.array = info->array,
                                  .bound = info->bound,
                                  .encoder = info->encoder,
                                  .components = n,
                                  .phase = n > 1 ? r->extent.lo / width % n : 0,
                                  .first = r->extent.lo,
                                  .least = info->abs_bound,
                                  .range = {HUGE_VAL, -HUGE_VAL, HUGE_VAL}};
    int i = 0;
    while (i < s->count && !is_alike(&s->kind[i], &one))
        i++;
    if (i == TOOL_KINDS) {
        s->others++;
        return ZMPI_OK;
    }
    struct tool_kind *k = &s->kind[i];
    if (i == s->count) {
        s->count++;
        *k = one;
    }
    k->first = r->extent.lo < k->first ? r->extent.lo : k->first;
    k->records++;
    k->values += r->extent.bytes / width;
    k->bytes += r->extent.bytes;
    k->stored += zmpi_record_size(r);
    k->least = fmin(k->least, info->abs_bound);
    k->most = fmax(k->most, info->abs_bound);
    if (decode && (info->array.type == ZMPI_F32 || info->array.type == ZMPI_F64)) {
        struct zmpi_range range;
        const enum zmpi_status status = range_of(in, r, info, &range);
        k->range.min = fmin(k->range.min, range.min);
        k->range.max = fmax(k->range.max, range.max);
        return status;
    }
    return ZMPI_OK;
}

void tool_kinds_print(const struct tool_kinds *s)
{
    for (int i = 0; i < s->count; i++) {
        const struct tool_kind *k = &s->kind[i];
        char array[80], bound[40];
        tool_shape_text(k->array.extent, array);
        zmpi_bound_format(&k->bound, bound);
        printf("kind           %llu x %s %s", (unsigned long long)k->records,
               tool_type_name(k->array.type), array);
        if (k->components > 1)
            printf(", one of %u components", k->components);
        printf(", %s", bound);
        if (k->bound.mode != ZMPI_LOSSLESS && isfinite(k->most))
            printf(" (abs %.6g to %.6g)", k->least, k->most);
        if (k->range.min <= k->range.max)
            printf(", values %.6g to %.6g", k->range.min, k->range.max);
        printf(", %s, ratio %.2f, %llu values from byte %llu\n", zmpi_encoder_name(k->encoder),
               (double)k->bytes / (double)k->stored, (unsigned long long)k->values,
               (unsigned long long)k->first);
    }
    if (s->others)
        printf("kind           %llu records of other kinds\n", (unsigned long long)s->others);
}

void tool_kinds_json(const struct tool_kinds *s)
{
    printf(", \"kinds\": [");
    for (int i = 0; i < s->count; i++) {
        const struct tool_kind *k = &s->kind[i];
        const bool known = k->range.min <= k->range.max;
        char bound[40];
        zmpi_bound_format(&k->bound, bound);
        printf("%s{\"records\": %llu, \"values\": %llu, \"type\": \"%s\", "
               "\"extents\": [%zu, %zu, %zu], \"components\": %u, "
               "\"bound\": \"%s\", \"encoder\": \"%s\", \"least_abs_bound\": ",
               i ? ", " : "", (unsigned long long)k->records, (unsigned long long)k->values,
               tool_type_name(k->array.type), k->array.extent[0], k->array.extent[1],
               k->array.extent[2], k->components, bound, zmpi_encoder_name(k->encoder));
        tool_json_number(k->least);
        printf(", \"most_abs_bound\": ");
        tool_json_number(k->most);
        printf(", \"range\": [");
        tool_json_number(known ? k->range.min : NAN);
        printf(", ");
        tool_json_number(known ? k->range.max : NAN);
        printf("], \"bytes\": %llu, \"stored\": %llu, \"from\": %llu}",
               (unsigned long long)k->bytes, (unsigned long long)k->stored,
               (unsigned long long)k->first);
    }
    printf("], \"records_of_other_kinds\": %llu", (unsigned long long)s->others);
}
