/* stream_params.c - the colors that memcpy streams by, as the layout names them. */
#include <string.h>

#include "sema.h"

/* MEMCPYH2D_1 to _4, MEMCPYD2H_1 to _4 */
bool csl_is_stream(struct str name)
{
    return name.n == 11 && name.p[10] >= '1' && name.p[10] < '1' + STREAMS &&
           (memcmp(name.p, "MEMCPYH2D_", 10) == 0 || memcmp(name.p, "MEMCPYD2H_", 10) == 0);
}

/* A color, or since SDK 2 its number. */
static int64_t color_of(struct sema *s, const struct node *n, struct str name,
                        const struct value *v)
{
    if (v->type != &csl_color && !csl_is_integer(v->type))
        FAIL(s, n, ".%.*s is a color, not %s", STR_ARG(name), TYPE(s, v->type));
    if (v->i < 0 || v->i >= COLORS)
        FAIL(s, n, "%lld is not a color: 0 to %d are", (long long)v->i, COLORS - 1);
    csl_not_reserved(s, n, &csl_color, v->i);
    return v->i;
}

static uint32_t side(struct sema *s, const struct node *n, const struct tuple *params,
                     const char *name, int64_t most)
{
    const struct value *v = csl_field(params, name);
    if (!csl_is_integer(v->type) || v->i < 1 || v->i > most)
        FAIL(s, n, ".%s is an integer from 1 to %lld", name, (long long)most);
    return (uint32_t)v->i;
}

void csl_memcpy_params(struct sema *s, const struct node *n, const struct tuple *params)
{
    uint8_t to_host = STREAM_D2H;
    struct loader *l = s->l;
    uint32_t width = side(s, n, params, "width", 757), height = side(s, n, params, "height", 996);
    if (l->memcpy != NULL && (l->memcpy_width != width || l->memcpy_height != height))
        FAIL(s, n, "<memcpy/get_params> is for %u x %u PEs here, but for %u x %u before", width,
             height, l->memcpy_width, l->memcpy_height);
    l->memcpy = n;
    l->memcpy_width = width;
    l->memcpy_height = height;
    for (size_t i = 0; i < params->count; i++) {
        struct str name = params->names[i];
        if (csl_str_is(name, "width") || csl_str_is(name, "height"))
            continue;
        if (!csl_is_stream(name))
            FAIL(s, n, "<memcpy/get_params> has no parameter '%.*s' in the subset", STR_ARG(name));
        int64_t color = color_of(s, n, name, &params->values[i]);
        if (s->l->stream[color] != STREAM_NONE)
            FAIL(s, n, "color %lld is streamed twice", (long long)color);
        s->l->stream[color] = name.p[6] == 'H' ? STREAM_H2D : to_host++;
    }
}

/* What get_params returns: every stream's color, or {} if the layout has none of that name. */
struct value csl_stream_params(struct sema *s, const struct node *n, const struct module *m)
{
    struct str *names = csl_alloc_array(s->arena, 2 * STREAMS, sizeof *names);
    struct value *values = csl_alloc_array(s->arena, 2 * STREAMS, sizeof *values);
    for (size_t i = 0; i < 2 * STREAMS; i++) {
        const char *direction = i < STREAMS ? "H2D" : "D2H";
        const char *name = csl_format(s->arena, "MEMCPY%s_%zu", direction, i % STREAMS + 1);
        const struct value *v = csl_field(m->params, name);
        names[i] = csl_str(name);
        values[i] = v != NULL ? *v : (struct value){.type = &csl_void};
    }
    return csl_tuple_value(s, n, 2 * STREAMS, names, values);
}
