/*
 * field.h - real fields for unit tests: the files NAME_DIMS.f32 and .f64 of the folder ZMPI_DATA.
 */
#ifndef ZMPI_FIELD_H
#define ZMPI_FIELD_H

#include <dirent.h>
#include <stdio.h>

#include "kit.h"

#ifndef ZMPI_DATA_DEFAULT
#define ZMPI_DATA_DEFAULT "../shared/data"
#endif

struct field {
    char path[512];
    struct zmpi_array array;
    bool filled; /* has fill values, says its name */
    void *data;
};

/* NAME_4x14x48x49.f32: leading dimensions beyond three are folded into the slowest. */
static inline bool field_shape(const char *name, struct zmpi_array *a)
{
    const char *dot = strrchr(name, '.'), *dims = strrchr(name, '_');
    if (dot == NULL || dims == NULL || (strcmp(dot, ".f32") != 0 && strcmp(dot, ".f64") != 0))
        return false;
    *a = kit_array(dot[2] == '3' ? ZMPI_F32 : ZMPI_F64, 1, 1, 1);
    for (const char *p = dims + 1; p < dot;) {
        char *end;
        size_t n = strtoull(p, &end, 10);
        if (end == p || n == 0)
            return false;
        a->extent[0] *= a->extent[1];
        a->extent[1] = a->extent[2];
        a->extent[2] = n;
        p = end + (*end == 'x');
    }
    return true;
}

static inline bool field_load(struct field *f, const char *folder, const char *name)
{
    if (!field_shape(name, &f->array))
        return false;
    snprintf(f->path, sizeof f->path, "%s/%s", folder, name);
    f->filled = strstr(name, "_fill_") != NULL;
    size_t bytes = kit_bytes(&f->array);
    f->data = malloc(bytes + 1);
    FILE *in = fopen(f->path, "rb");
    cr_assert_not_null(in, "%s", f->path);
    cr_assert_eq(fread(f->data, 1, bytes + 1, in), bytes, "%s is not of its name's size", f->path);
    fclose(in);
    return true;
}

/* All of them. If malloc is slow, about a quarter, the same ones on every machine. */
static inline bool field_wanted(const char *name)
{
    unsigned sum = 0;
    for (; *name != '\0'; name++)
        sum += (unsigned char)*name;
    return TEST_LESS == 1 || test_long() || sum % 4 == 0;
}

/* Calls f for every field, or says why there are none. */
static inline void each_field(void (*f)(const struct field *field))
{
    const char *folder = getenv("ZMPI_DATA");
    if (folder == NULL || folder[0] == '\0')
        folder = ZMPI_DATA_DEFAULT;
    DIR *dir = opendir(folder);
    if (dir == NULL) {
        fprintf(stderr, "no folder %s: real fields are not tested\n", folder);
        cr_skip_test("no folder %s", folder);
    }
    bool any = false;
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        struct field field;
        if (!field_wanted(e->d_name) || !field_load(&field, folder, e->d_name))
            continue;
        f(&field);
        free(field.data);
        any = true;
    }
    closedir(dir);
    if (!any)
        cr_skip_test("no fields in %s", folder);
}

#endif
