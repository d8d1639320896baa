/* flare_field.c - reads a file of raw values. */
#include "flare_field.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool parse_name(const char *path, struct zmpi_array *a)
{
    const char *dot = strrchr(path, '.'), *at = strrchr(path, '_');
    size_t n[8], count = 0;
    if (!dot || !at || (strcmp(dot, ".f32") != 0 && strcmp(dot, ".f64") != 0))
        return false;
    a->type = dot[1] == 'f' && dot[2] == '3' ? ZMPI_F32 : ZMPI_F64;
    for (char *end; count < 8; at = end) {
        n[count++] = strtoul(at + 1, &end, 10);
        if (end == at + 1 || n[count - 1] == 0)
            return false;
        if (*end != 'x')
            break;
    }
    for (int i = 0; i < 3; i++)
        a->extent[i] = 1;
    for (size_t i = 0; i < count; i++)
        a->extent[count - i > 3 ? 0 : 3 - (count - i)] *= n[i];
    return true;
}

bool flare_field_read(const char *path, struct flare_field *f)
{
    size_t bytes;
    memset(f, 0, sizeof *f);
    if (!parse_name(path, &f->array) || zmpi_array_bytes(&f->array, &bytes))
        return false;
    FILE *file = fopen(path, "rb");
    f->data = malloc(bytes + 1);
    const bool whole = file && f->data && fread(f->data, 1, bytes + 1, file) == bytes;
    if (file)
        fclose(file);
    zmpi_range_of(f->array.type, f->data, whole ? bytes / zmpi_type_size(f->array.type) : 0,
                  &f->range);
    if (!whole)
        free(f->data);
    return whole;
}
