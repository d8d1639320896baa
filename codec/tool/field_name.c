/* field_name.c - type, shape and bound of a field, from its file's name or from a container's
 * records. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

void tool_field_name(const char *path, enum zmpi_type *type, size_t shape[3])
{
    const char *dot = strrchr(path, '.'), *dims = strrchr(path, '_');
    char text[128];
    if (!dot || (strcmp(dot, ".f32") != 0 && strcmp(dot, ".f64") != 0))
        return;
    if (!*type)
        *type = dot[2] == '3' ? ZMPI_F32 : ZMPI_F64;
    if (shape[2] == 0 && dims && dims < dot) {
        snprintf(text, sizeof text, "%.*s", (int)(dot - dims - 1), dims + 1);
        zmpi_shape_parse(text, shape); /* the name has no valid shape: it stays unknown */
    }
}

static void add_bound(struct tool_bound *all, bool first, const struct zmpi_stream_info *info)
{
    char text[sizeof all->text];
    zmpi_bound_format(&info->bound, text);
    if (first)
        memcpy(all->text, text, sizeof text);
    else if (strcmp(all->text, text) != 0)
        all->text[0] = 0;
    if (isinf(info->abs_bound) || all->most < 0)
        all->most = -1;
    else if (info->abs_bound > all->most)
        all->most = info->abs_bound;
}

enum zmpi_type tool_container_type(struct tool_input *in, enum tool_order *order,
                                   struct tool_bound *bound)
{
    struct zmpi_record *record;
    enum zmpi_type found = 0;
    bool mixed = false;
    *order = TOOL_ORDER_NONE;
    *bound = (struct tool_bound){.most = in->is_container ? 0 : -1};
    if (!in->is_container || zmpi_container_records(&in->container, &in->reader, &record))
        return 0;
    for (size_t i = 0; i < in->container.count; i++) {
        struct zmpi_stream_info info;
        if (record[i].kind != ZMPI_RECORD_DATA ||
            zmpi_source_stream(&in->reader, &record[i], &info) ||
            (info.array.type != ZMPI_F32 && info.array.type != ZMPI_F64))
            continue;
        const enum tool_order one = info.big_endian ? TOOL_ORDER_BIG : TOOL_ORDER_OURS;
        *order = *order && *order != one ? TOOL_ORDER_MIXED : one;
        add_bound(bound, !found, &info);
        mixed = mixed || (found && found != info.array.type);
        found = info.array.type;
        if (*order == TOOL_ORDER_MIXED)
            break;
    }
    free(record);
    return mixed ? 0 : found;
}

/* For slabs and rows that follow each other: all records have planes of one size. */
bool tool_container_shape(struct tool_input *in, size_t shape[3])
{
    struct zmpi_record *record;
    size_t ny = 0, nx = 0, width = 0;
    bool alike = true;
    if (!in->is_container || zmpi_container_records(&in->container, &in->reader, &record))
        return false;
    for (size_t i = 0; i < in->container.count && alike; i++) {
        struct zmpi_stream_info info;
        if (record[i].kind != ZMPI_RECORD_DATA)
            continue;
        alike = record[i].extent.levels == 0 &&
                !zmpi_source_stream(&in->reader, &record[i], &info) &&
                (!nx || (info.array.extent[1] == ny && info.array.extent[2] == nx));
        if (!alike)
            break;
        ny = info.array.extent[1];
        nx = info.array.extent[2];
        width = zmpi_type_size(info.array.type);
    }
    free(record);
    const uint64_t plane = alike && nx ? (uint64_t)ny * nx * width : 0;
    if (!plane || (ny == 1 && nx * width != in->size) || in->size % plane)
        return false;
    shape[0] = (size_t)(in->size / plane);
    shape[1] = ny;
    shape[2] = nx;
    return true;
}
