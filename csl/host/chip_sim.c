/* chip_sim.c - struct chip on the simulator's host API. */
#include "chip_sim.h"

#include <stdio.h>
#include <string.h>

#include "kernel_sources.h"
#include "planner.h"

/* csl_options.read: finds built-in sources by the last part of their path. */
static const char *source_text(void *context, const char *path, size_t *size)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    (void)context;
    for (size_t i = 0; i < csl_kernel_source_count; i++)
        if (strcmp(csl_kernel_sources[i].name, name) == 0) {
            *size = csl_kernel_sources[i].size;
            return csl_kernel_sources[i].text;
        }
    return NULL;
}

/* Keeps the error's text if there is one. */
static bool done(struct chip_sim *c, enum csl_status status)
{
    if (status == CSL_OK)
        return true;
    snprintf(c->problem, sizeof c->problem, "%s",
             c->sim ? csl_error(c->sim) : "the simulator has no memory");
    c->chip.problem = c->problem;
    return false;
}

static bool to(struct chip *chip, const char *name, const uint32_t *src, unsigned columns,
               unsigned elements)
{
    struct chip_sim *c = (struct chip_sim *)chip;
    return done(c, csl_memcpy_h2d(c->sim, csl_get_id(c->sim, name), src, 0, 0, columns,
                                  chip->height, elements, CSL_32BIT));
}

static bool from(struct chip *chip, const char *name, uint32_t *dst, unsigned elements)
{
    struct chip_sim *c = (struct chip_sim *)chip;
    return done(c, csl_memcpy_d2h(c->sim, dst, csl_get_id(c->sim, name), 0, 0, chip->width,
                                  chip->height, elements, CSL_32BIT));
}

static bool launch(struct chip *chip, const char *function)
{
    struct chip_sim *c = (struct chip_sim *)chip;
    if (!done(c, csl_launch(c->sim, function, NULL, 0)))
        return false;
    c->cycles += csl_call_cycles(c->sim);
    return true;
}

bool chip_sim_open(struct chip_sim *c, const char *program, unsigned width, unsigned height,
                   const struct chip_sim_options *how)
{
    char layout[64];
    const struct chip_rows rows = {how->pipeline, how->length, how->decode};
    const struct csl_param params[] = {
        {"width", CSL_PARAM_INT, (int64_t)width, 0},
        {"height", CSL_PARAM_INT, (int64_t)height, 0},
        {"scalar", CSL_PARAM_INT, how->scalar, 0},
        {"pipeline", CSL_PARAM_INT, how->pipeline, 0},
        {"groups", CSL_PARAM_INT, how->groups ? how->groups : stages_groups(&rows), 0},
        {"decode", CSL_PARAM_INT, how->decode, 0}};
    const struct csl_options options = {.arch = how->arch,
                                        .seed = how->seed,
                                        .costs = how->costs,
                                        .params = params,
                                        .param_count = rows.pipeline ? 6 : 3,
                                        .read = source_text};
    *c = (struct chip_sim){.chip = {.width = width,
                                    .height = height,
                                    .pipeline = how->pipeline,
                                    .to = to,
                                    .from = from,
                                    .launch = launch}};
    snprintf(layout, sizeof layout, "%s_layout.csl", program);
    return done(c, csl_load(&c->sim, layout, &options));
}

void chip_sim_close(struct chip_sim *c)
{
    csl_stop(c->sim);
    c->sim = NULL;
}
