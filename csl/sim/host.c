/* host.c - the host's calls. */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

#define MEMORY_LIMIT ((size_t)4 << 30)

/* Input queue and output queue depths in words. */
static const uint8_t in_depth[2][QUEUES] = {{6, 6, 4, 4, 2, 2, 2, 2}, {8, 8, 4, 4, 4, 4, 4, 4}};
static const uint8_t out_depth[2][QUEUES] = {{2, 2, 6, 6, 2, 2, 0, 0}, {8, 8, 8, 8, 8, 8, 8, 8}};

static void set_up_pe(struct csl_sim *sim, struct pe *pe, uint32_t i)
{
    const struct tile *tile = &sim->loader.tiles[i];
    const struct program *p = tile->program;
    unsigned wse3 = sim->loader.arch == CSL_WSE3;
    pe->sim = sim;
    pe->program = p;
    pe->x = i % sim->width;
    pe->y = i / sim->width;
    pe->memory = csl_alloc(&sim->arena, p->data_end + 8u);
    memcpy(pe->memory, p->data, p->data_end);
    pe->reg_count = p->registers + 16;
    pe->regs = csl_alloc_array(&sim->arena, pe->reg_count, sizeof *pe->regs);
    pe->router = csl_alloc_array(&sim->arena, COLORS, sizeof *pe->router);
    for (unsigned c = 0; c < COLORS; c++) {
        pe->router[c].route = tile->routes[c];
        pe->router[c].last_cycle = NEVER;
        pe->queue_of[c] = -1;
    }
    for (unsigned q = 0; q < QUEUES; q++) {
        pe->in[q].depth = in_depth[wse3][q];
        pe->out[q].depth = out_depth[wse3][q];
        if (q < STREAMS)
            pe->sink[q].depth = QUEUE_MAX;
        if (p->in_color[q] >= 0)
            pe->queue_of[p->in_color[q]] = (int8_t)q;
    }
    pe->active = p->activated;
    pe->blocked = p->blocked;
    pe->queue_blocked = p->queue_blocked;
    pe->random = 0xdeadbeef & 0x7fffff;
    pe->counters.data_bytes = p->data_end;
    pe->counters.code_bytes = p->code_bytes;
}

static void set_up(struct csl_sim *sim, const char *layout_path)
{
    struct loader *l = &sim->loader;
    *l = (struct loader){.arena = &sim->arena, .options = &sim->options, .arch = sim->options.arch};
    l->types.arena = &sim->arena;
    csl_load_layout(l, layout_path);
    sim->width = l->width;
    sim->height = l->height;
    sim->pes = csl_alloc_array(&sim->arena, (size_t)sim->width * sim->height, sizeof *sim->pes);
    sim->due = csl_alloc_array(&sim->arena, (size_t)sim->width * sim->height, sizeof *sim->due);
    for (uint32_t i = 0; i < sim->width * sim->height; i++)
        set_up_pe(sim, &sim->pes[i], i);
    for (const struct export_name *e = l->exports; e != NULL; e = e->next)
        sim->id_count++;
    sim->ids = csl_alloc_array(&sim->arena, sim->id_count, sizeof *sim->ids);
    size_t at = sim->id_count;
    for (const struct export_name *e = l->exports; e != NULL; e = e->next)
        sim->ids[--at] = e;
    sim->loaded = true;
}

enum csl_status csl_load(struct csl_sim **out, const char *layout_path,
                         const struct csl_options *options)
{
    struct csl_sim *sim = calloc(1, sizeof *sim);
    *out = sim;
    if (sim == NULL)
        return CSL_ERR_MEMORY;
    sim->options = *options;
    if (sim->options.arch == 0)
        sim->options.arch = CSL_WSE2;
    if (sim->options.costs == NULL)
        sim->options.costs = &csl_costs_estimated;
    sim->random = options->seed;
    sim->arena.limit = options->max_memory != 0 ? options->max_memory : MEMORY_LIMIT;
    if (setjmp(sim->arena.failed) != 0)
        return sim->arena.status;
    set_up(sim, layout_path);
    return CSL_OK;
}

void csl_stop(struct csl_sim *sim)
{
    if (sim == NULL)
        return;
    csl_free_all(&sim->arena);
    free(sim);
}

const char *csl_error(const struct csl_sim *sim)
{
    return sim->arena.message;
}

uint32_t csl_width(const struct csl_sim *sim)
{
    return sim->width;
}

uint32_t csl_height(const struct csl_sim *sim)
{
    return sim->height;
}

int csl_get_id(struct csl_sim *sim, const char *name)
{
    for (size_t i = 0; i < sim->id_count; i++)
        if (csl_str_is(sim->ids[i]->name, name) && sim->ids[i]->type->kind != T_FN)
            return (int)i;
    return -1;
}

static const struct export *find_export(const struct pe *pe, struct str name)
{
    for (size_t i = 0; i < pe->program->export_count; i++)
        if (csl_str_is(name, pe->program->exports[i].name))
            return &pe->program->exports[i];
    return NULL;
}

/* ---- copies ---- */

struct copy {
    int id;
    uint32_t x, y, w, h, elements;
    enum csl_data_type type;
    uint32_t *host;
    bool to_device;
};

/* Copies one PE's part. A refused argument leaves the handle as it is. */
static void copy_pe(struct csl_sim *sim, const struct copy *c, struct pe *pe, uint32_t *host)
{
    struct str name = sim->ids[c->id]->name;
    const struct export *e = find_export(pe, name);
    unsigned size = c->type == CSL_16BIT ? 2 : 4;
    if (e == NULL)
        csl_fail(&sim->arena, CSL_ERR_ARGUMENT, "PE(%u,%u) does not export '%.*s'", pe->x, pe->y,
                 STR_ARG(name));
    uint32_t address = e->address;
    if (e->is_pointer) {
        uint16_t pointer;
        memcpy(&pointer, pe->memory + address, sizeof pointer);
        address = pointer;
    }
    unsigned object = csl_object_at(pe->program, address);
    uint32_t there = object == 0 ? 0 : pe->program->objects[object].end - address;
    if ((uint64_t)c->elements * size > there)
        csl_fail(&sim->arena, CSL_ERR_ARGUMENT,
                 "PE(%u,%u): %u elements of %u bits are more than the %u bytes of '%.*s'", pe->x,
                 pe->y, c->elements, size * 8, there, STR_ARG(name));
    if (c->to_device && pe->program->objects[object].is_const)
        csl_fail(&sim->arena, CSL_ERR_ARGUMENT, "PE(%u,%u): '%.*s' points to what is const", pe->x,
                 pe->y, STR_ARG(name));
    if (csl_code_bytes[e->tc] != size)
        csl_fail(&sim->arena, CSL_ERR_ARGUMENT, "'%.*s' has elements of %u bits, not %u",
                 STR_ARG(name), csl_code_bytes[e->tc] * 8u, size * 8);
    csl_check_race(pe, (struct pos){0}, address, c->elements * size, c->to_device);
    uint8_t *device = pe->memory + address;
    for (uint32_t i = 0; i < c->elements; i++, device += size) {
        if (c->to_device) {
            memcpy(device, &host[i], size);
        } else {
            host[i] = 0;
            memcpy(&host[i], device, size);
        }
    }
}

static void check_pes(struct csl_sim *sim, uint32_t x, uint32_t y, uint32_t w, uint32_t h)
{
    if (w == 0 || h == 0 || x >= sim->width || w > sim->width - x || y >= sim->height ||
        h > sim->height - y)
        csl_fail(&sim->arena, CSL_ERR_ARGUMENT, "%u x %u PEs at (%u,%u) are not inside of %u x %u",
                 w, h, x, y, sim->width, sim->height);
}

static enum csl_status copy(struct csl_sim *sim, const struct copy *c)
{
    if (sim->arena.status != CSL_OK && sim->arena.status != CSL_ERR_ARGUMENT)
        return sim->arena.status;
    if (setjmp(sim->arena.failed) != 0)
        return sim->arena.status;
    if (c->id < 0 || (size_t)c->id >= sim->id_count || sim->ids[c->id]->type->kind == T_FN)
        csl_fail(&sim->arena, CSL_ERR_ARGUMENT, "%d is not the id of an exported variable", c->id);
    check_pes(sim, c->x, c->y, c->w, c->h);
    if (c->to_device && !sim->ids[c->id]->is_mutable)
        csl_fail(&sim->arena, CSL_ERR_ARGUMENT, "'%.*s' is exported as immutable",
                 STR_ARG(sim->ids[c->id]->name));
    uint32_t *host = c->host;
    for (uint32_t y = c->y; y < c->y + c->h; y++)
        for (uint32_t x = c->x; x < c->x + c->w; x++, host += c->elements)
            copy_pe(sim, c, &sim->pes[y * sim->width + x], host);
    sim->arena.status = CSL_OK;
    return CSL_OK;
}

enum csl_status csl_memcpy_h2d(struct csl_sim *sim, int id, const void *src, uint32_t x, uint32_t y,
                               uint32_t w, uint32_t h, uint32_t elements, enum csl_data_type type)
{
    return copy(sim,
                &(struct copy){id, x, y, w, h, elements, type, (uint32_t *)(uintptr_t)src, true});
}

enum csl_status csl_memcpy_d2h(struct csl_sim *sim, void *dst, int id, uint32_t x, uint32_t y,
                               uint32_t w, uint32_t h, uint32_t elements, enum csl_data_type type)
{
    return copy(sim, &(struct copy){id, x, y, w, h, elements, type, dst, false});
}

static enum csl_status stream(struct csl_sim *sim, struct stream c)
{
    if (sim->arena.status != CSL_OK && sim->arena.status != CSL_ERR_ARGUMENT)
        return sim->arena.status;
    if (setjmp(sim->arena.failed) != 0)
        return sim->arena.status;
    uint8_t kind = c.color < COLORS ? sim->loader.stream[c.color] : STREAM_NONE;
    if (kind == STREAM_NONE || (kind == STREAM_H2D) != c.to_device)
        csl_fail(&sim->arena, CSL_ERR_ARGUMENT, "color %u is not a MEMCPY%s of the layout", c.color,
                 c.to_device ? "H2D" : "D2H");
    check_pes(sim, c.x, c.y, c.w, c.h);
    for (uint32_t i = 0; i < sim->width * sim->height; i++)
        sim->pes[i].streamed = 0;
    c.left = (uint64_t)c.w * c.h * c.elements;
    sim->stream = c;
    csl_run(sim, false);
    sim->arena.status = CSL_OK;
    return CSL_OK;
}

enum csl_status csl_stream_h2d(struct csl_sim *sim, uint32_t color, const void *src, uint32_t x,
                               uint32_t y, uint32_t w, uint32_t h, uint32_t elements)
{
    return stream(sim, (struct stream){.to_device = true,
                                       .color = (uint8_t)(color < COLORS ? color : COLORS),
                                       .x = x,
                                       .y = y,
                                       .w = w,
                                       .h = h,
                                       .elements = elements,
                                       .host = (uint32_t *)(uintptr_t)src});
}

enum csl_status csl_stream_d2h(struct csl_sim *sim, void *dst, uint32_t color, uint32_t x,
                               uint32_t y, uint32_t w, uint32_t h, uint32_t elements)
{
    return stream(sim, (struct stream){.color = (uint8_t)(color < COLORS ? color : COLORS),
                                       .x = x,
                                       .y = y,
                                       .w = w,
                                       .h = h,
                                       .elements = elements,
                                       .host = dst});
}

/* ---- running ---- */

static void launch(struct csl_sim *sim, const char *function, const struct csl_arg *args,
                   size_t count)
{
    for (uint32_t i = 0; i < sim->width * sim->height; i++) {
        struct pe *pe = &sim->pes[i];
        const struct export *e = find_export(pe, csl_str(function));
        if (e == NULL || !e->is_func)
            csl_fail(&sim->arena, CSL_ERR_ARGUMENT, "PE(%u,%u) does not export a function '%s'",
                     pe->x, pe->y, function);
        if (e->param_count != count)
            csl_fail(&sim->arena, CSL_ERR_ARGUMENT, "'%s' takes %u arguments, not %zu", function,
                     e->param_count, count);
    }
    for (uint32_t i = 0; i < sim->width * sim->height; i++) {
        struct pe *pe = &sim->pes[i];
        pe->call = find_export(pe, csl_str(function));
        for (size_t k = 0; k < count; k++)
            pe->args[k] = args[k].bits;
        pe->call_pending = true;
        pe->call_cycle =
            sim->now + LAUNCH_CYCLES + pe->x + pe->y; /* the command comes from a corner */
        pe->cmd_busy = true;
        sim->cmd_busy++;
    }
    csl_run(sim, false);
}

enum csl_status csl_launch(struct csl_sim *sim, const char *function, const struct csl_arg *args,
                           size_t arg_count)
{
    if (sim->arena.status != CSL_OK && sim->arena.status != CSL_ERR_ARGUMENT)
        return sim->arena.status;
    if (setjmp(sim->arena.failed) != 0)
        return sim->arena.status;
    launch(sim, function, args, arg_count);
    sim->arena.status = CSL_OK;
    return CSL_OK;
}

enum csl_status csl_drain(struct csl_sim *sim)
{
    if (sim->arena.status != CSL_OK && sim->arena.status != CSL_ERR_ARGUMENT)
        return sim->arena.status;
    if (setjmp(sim->arena.failed) != 0)
        return sim->arena.status;
    csl_run(sim, true);
    return CSL_OK;
}
