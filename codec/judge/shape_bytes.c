/* shape_bytes.c - what an array takes in a given shape: it codes some chunks. */
#include <stdlib.h>

#include "judge/axes.h"
#include "judge/components.h"
#include "judge/shape.h"
#include "kernels/kernels.h"
#include "layout/plan_rows.h"

/* BLOCKS blocks of each coded chunk choose the axes; a chunk's entry in the stream's table has
 * ENTRY bytes. */
enum { BLOCKS = 8, ENTRY = 8 };

/* The part of the shape that the data have: whole planes, whole rows, or elements. */
static struct zmpi_array array_of(enum zmpi_type type, const size_t shape[3], size_t have)
{
    const size_t row = shape[2], plane = shape[1] * row;
    if (shape[0] > 1 && have >= plane)
        return (struct zmpi_array){type, {have / plane, shape[1], row}};
    if (shape[1] > 1 && have >= row)
        return (struct zmpi_array){type, {1, have / row, row}};
    return (struct zmpi_array){type, {1, 1, have}};
}

/* Copies a tile of a column to `tile` without gaps. `from` counts as if the column had none, too.
 */
static void take_tile(const struct zmpi_plan *p, const struct zmpi_column *data,
                      const struct zmpi_rows *from, const size_t extent[3], unsigned char *tile)
{
    const size_t bytes = extent[2] * p->width, of = (size_t)data->of;
    const unsigned char *first = data->at;
    for (size_t z = 0; z < extent[0]; z++)
        for (size_t y = 0; y < extent[1]; y++, tile += bytes) {
            const size_t at = (size_t)(from->at - first) + z * from->plane + y * from->row;
            zmpi_component_take(p->type, first + at * of, extent[2] * of, data->of, 0, tile);
        }
}

/* A sampled chunk: where it lies, in the array or copied. */
struct chunk {
    size_t extent[3];
    struct zmpi_rows rows;
};

/* Finds the sampled chunks, and copies those of a column to `tiles`; returns their number. */
static size_t take_chunks(const struct zmpi_plan *p, const struct zmpi_column *data, size_t most,
                          unsigned char *tiles, struct chunk chunk[])
{
    const size_t chunks = p->chunks < most ? p->chunks : most;
    for (size_t i = 0; i < chunks; i++) {
        size_t at[3];
        struct chunk *c = &chunk[i];
        zmpi_plan_place(p, (2 * i + 1) * p->chunks / (2 * chunks), at);
        c->rows = zmpi_plan_rows(p, at, data->at, c->extent);
        if (data->of == 1)
            continue;
        unsigned char *tile = tiles + i * ZMPI_CHUNK_INPUT_BYTES;
        const size_t row = c->extent[2] * p->width;
        take_tile(p, data, &c->rows, c->extent, tile);
        c->rows = (struct zmpi_rows){.at = tile, .row = row, .plane = c->extent[1] * row};
    }
    return chunks;
}

/* Chooses the axes as an encoder does (4.6), by blocks of these chunks. */
static unsigned find_axes(size_t width, const struct chunk chunk[], size_t chunks,
                          const struct zmpi_chunk_rule *rule)
{
    const struct zmpi_kernels *kernels = zmpi_kernels();
    zmpi_chunk_cost_fn *const cost_of = width == 4 ? kernels->cost32 : kernels->cost64;
    struct zmpi_axes_look look = {0};
    for (size_t i = 0; i < chunks; i++) {
        for (size_t k = i * BLOCKS; k < (i + 1) * BLOCKS; k++)
            look.counted +=
                cost_of(rule, chunk[i].extent, &chunk[i].rows, k * 40503 & 0xFFFF, look.cost);
    }
    return zmpi_axes_choice(&look);
}

static double code_chunks(size_t width, const struct chunk chunk[], size_t chunks,
                          const struct zmpi_chunk_rule *rule, struct zmpi_chunk_work *work)
{
    const struct zmpi_kernels *kernels = zmpi_kernels();
    zmpi_chunk_encode_fn *const encode = width == 4 ? kernels->encode32 : kernels->encode64;
    size_t bytes = 0, elements = 0;
    for (size_t i = 0; i < chunks; i++) {
        const size_t *extent = chunk[i].extent;
        bytes += encode(rule, extent, &chunk[i].rows, work->coded, work) + ENTRY;
        elements += extent[0] * extent[1] * extent[2];
    }
    return (double)bytes / (double)elements;
}

double zmpi_shape_bytes(const struct zmpi_job *job, const struct zmpi_column *data,
                        const size_t shape[3], size_t chunks)
{
    const struct zmpi_array array = array_of(job->array.type, shape, data->have);
    struct zmpi_plan plan;
    struct zmpi_chunk_rule rule;
    struct zmpi_chunk_work *work = zmpi_chunk_work_new();
    unsigned char *tiles = data->of > 1 ? malloc(chunks * ZMPI_CHUNK_INPUT_BYTES) : NULL;
    struct chunk chunk[ZMPI_SHAPE_CHUNKS];
    double bytes = 0;
    if (work && (tiles || data->of == 1) && zmpi_plan_make(&array, &plan) == ZMPI_OK) {
        chunks = take_chunks(&plan, data, chunks, tiles, chunk);
        zmpi_plan_rule(job, &rule);
        rule.axes = find_axes(plan.width, chunk, chunks, &rule);
        bytes = code_chunks(plan.width, chunk, chunks, &rule, work);
    }
    free(work);
    free(tiles);
    return bytes;
}
