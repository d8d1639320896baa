/* field_name.c - type and shape of a field, by its file's name or by what a container holds. */
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
        zmpi_shape_parse(text, shape); /* no shape in the name: it stays unknown */
    }
}

enum zmpi_type tool_container_type(struct tool_input *in)
{
    struct zmpi_record *record;
    enum zmpi_type found = 0;
    if (!in->is_container || zmpi_container_records(&in->container, &in->reader, &record))
        return 0;
    for (size_t i = 0; i < in->container.count; i++) {
        struct zmpi_stream_info info;
        if (record[i].kind != ZMPI_RECORD_DATA ||
            zmpi_source_stream(&in->reader, &record[i], &info) ||
            (info.array.type != ZMPI_F32 && info.array.type != ZMPI_F64))
            continue;
        if (found && found != info.array.type) {
            found = 0;
            break;
        }
        found = info.array.type;
    }
    free(record);
    return found;
}
