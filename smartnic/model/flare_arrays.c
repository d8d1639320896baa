/*
 * flare_arrays.c - arrays of the paper's shapes, made of a field: what our RTL takes for the codes
 * that its chunks really have.
 */
#include "flare_model.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpus.h"
#include "base/pool.h"
#include "flare_field.h"
#include "interp/flare/flare.h"
#include "layout/fills.h"

enum { NETWORK_SIDE = 8 };

struct arrays {
    struct flare_field field;
    struct zmpi_interp_rule rule;
    size_t extent[3], tile[3], grid[3];
    struct flare_array *sum;
    atomic_size_t next;
    atomic_flag busy; /* somebody adds to the sum */
    atomic_bool failed;
};

/* One thread's memory. */
struct buffers {
    struct zmpi_interp_work *w;
    struct zmpi_flare_codes c;
    unsigned char *values, *bytes;
    signed char *zeros;
    struct flare_section *section;
    size_t most, size; /* of bytes */
};

static struct flare_core core_of(int way)
{
    return (struct flare_core){
        .arrays = 1U << way, .cycles_of_point = 1, .drain = FLARE_RTL_DRAIN, .loads = true};
}

/* ---- a chunk ---- */

/* Element i of copies beside each other, every second one mirrored. */
static size_t mirrored(size_t i, size_t n)
{
    const size_t at = i % (2 * n);
    return at < n ? at : 2 * n - 1 - at;
}

static void fill(const struct arrays *a, const size_t first[3], const size_t e[3],
                 unsigned char *dst)
{
    const size_t *n = a->field.array.extent, width = zmpi_type_size(a->field.array.type);
    for (size_t z = 0; z < e[0]; z++)
        for (size_t y = 0; y < e[1]; y++) {
            const size_t row =
                (mirrored(first[0] + z, n[0]) * n[1] + mirrored(first[1] + y, n[1])) * n[2];
            for (size_t x = 0; x < e[2]; x++, dst += width)
                memcpy(dst, a->field.data + (row + mirrored(first[2] + x, n[2])) * width, width);
        }
}

static bool load(const struct arrays *a, const struct buffers *b, const size_t e[3])
{
    const size_t width = zmpi_type_size(a->rule.type);
    const struct zmpi_rows rows = {
        .at = b->values, .row = e[2] * width, .plane = e[1] * e[2] * width};
    double base;
    zmpi_interp_layout(b->w, &zmpi_interp_flat, e);
    b->w->mode = ENCODE;
    return b->w->loops->load[a->rule.type == ZMPI_F64](b->w, &a->rule, e, &rows, &base);
}

/* Of the decoded values, which prediction has left in w. */
static void slice_ranges(const struct zmpi_interp_work *w, const size_t e[3], int32_t *least,
                         int32_t *largest)
{
    for (size_t z = 0; z < e[0]; z++) {
        least[z] = INT32_MAX;
        largest[z] = INT32_MIN;
        for (size_t y = 0; y < e[1]; y++)
            for (size_t x = 0; x < e[2]; x++) {
                const int32_t v = w->flat.value[z * w->flat.plane + y * w->flat.row + x];
                least[z] = v < least[z] ? v : least[z];
                largest[z] = v > largest[z] ? v : largest[z];
            }
    }
}

/* The codes of a chunk and its bytes, to b. */
static bool code_chunk(const struct arrays *a, struct buffers *b, const size_t first[3],
                       const size_t e[3])
{
    fill(a, first, e, b->values);
    if (!load(a, b, e))
        return false;
    zmpi_flare_encode(b->w, e);
    b->size = zmpi_flare_pack(b->w, b->bytes, b->most);
    if (!b->size || !load(a, b, e))
        return false;
    zmpi_flare_predict(b->w, e, &b->c);
    return true;
}

static bool measure_chunk(const struct arrays *a, struct buffers *b, const size_t first[3],
                          const size_t e[3], struct flare_array *sum)
{
    int32_t least[ZMPI_FLARE_SLICES], largest[ZMPI_FLARE_SLICES];
    memset(sum, 0, sizeof *sum);
    if (!code_chunk(a, b, first, e))
        return false;
    const size_t sections = flare_sections(e, b->bytes, b->section);
    sum->points = (uint64_t)e[0] * e[1] * e[2];
    sum->codes = b->c.codes;
    for (size_t i = 0; i < b->c.codes; i++)
        sum->zeros += b->c.code[i] == 0;
    for (int way = 0; way < FLARE_WAYS; way++) {
        const struct flare_core core = core_of(way);
        sum->compress[way] = flare_engine_time(&core, e, b->c.code).total;
        sum->least[way] = flare_engine_time(&core, e, b->zeros).total;
        sum->most[way] = flare_engine_time(&core, e, NULL).total;
        sum->decompress[way] = flare_back_time(&core, e, b->section, sections);
    }
    slice_ranges(b->w, e, least, largest);
    sum->network = flare_net_time(NETWORK_SIDE, e, least, largest);
    return sections > 0;
}

/* ---- all chunks ---- */

static bool buffers_make(const struct arrays *a, struct buffers *b)
{
    const size_t n = a->tile[0] * a->tile[1] * a->tile[2];
    memset(b, 0, sizeof *b);
    b->most = 8 * n + 4096;
    b->w = zmpi_interp_work_new(a->tile, NULL, 0, true);
    b->c.code = malloc(n);
    b->c.anchor = malloc(2 * n);
    b->c.escape = malloc(4 * n);
    b->values = malloc(n * zmpi_type_size(a->rule.type));
    b->bytes = malloc(b->most);
    b->zeros = calloc(1, n);
    b->section = calloc(n / 8192 + ZMPI_FLARE_BATCHES + 1, sizeof *b->section);
    return b->w && b->c.code && b->c.anchor && b->c.escape && b->values && b->bytes && b->zeros &&
           b->section;
}

static void buffers_free(struct buffers *b)
{
    zmpi_interp_work_free(b->w);
    free(b->c.code);
    free(b->c.anchor);
    free(b->c.escape);
    free(b->values);
    free(b->bytes);
    free(b->zeros);
    free(b->section);
}

static void add(struct arrays *a, const struct flare_array *one)
{
    while (atomic_flag_test_and_set(&a->busy)) {
    }
    a->sum->points += one->points;
    a->sum->codes += one->codes;
    a->sum->zeros += one->zeros;
    a->sum->network += one->network;
    for (int way = 0; way < FLARE_WAYS; way++) {
        a->sum->compress[way] += one->compress[way];
        a->sum->decompress[way] += one->decompress[way];
        a->sum->least[way] += one->least[way];
        a->sum->most[way] += one->most[way];
    }
    atomic_flag_clear(&a->busy);
}

static void measure_chunks(void *context)
{
    struct arrays *a = context;
    struct buffers b;
    struct flare_array one;
    bool fine = buffers_make(a, &b);
    const size_t chunks = a->grid[0] * a->grid[1] * a->grid[2];
    for (size_t k; fine && (k = atomic_fetch_add(&a->next, 1)) < chunks;) {
        const size_t place[3] = {k / a->grid[2] / a->grid[1], k / a->grid[2] % a->grid[1],
                                 k % a->grid[2]};
        size_t first[3], e[3];
        for (int i = 0; i < 3; i++) {
            first[i] = place[i] * a->tile[i];
            e[i] = a->extent[i] - first[i] < a->tile[i] ? a->extent[i] - first[i] : a->tile[i];
        }
        fine = measure_chunk(a, &b, first, e, &one);
        if (fine)
            add(a, &one);
    }
    if (!fine)
        atomic_store(&a->failed, true);
    buffers_free(&b);
}

bool flare_array_measure(const char *path, double rel, const size_t extent[3],
                         struct flare_array *sum)
{
    struct arrays a = {.sum = sum, .busy = ATOMIC_FLAG_INIT};
    memset(sum, 0, sizeof *sum);
    if (!flare_field_read(path, &a.field))
        return false;
    a.rule = (struct zmpi_interp_rule){
        .type = a.field.array.type,
        .unit = zmpi_interp_unit(rel * (a.field.range.max - a.field.range.min)),
        .keep = INFINITY};
    for (int i = 0; i < ZMPI_FILLS; i++)
        a.rule.fill[i] = zmpi_fills_bits(&(struct zmpi_fills){0}, a.rule.type, i);
    memcpy(a.extent, extent, sizeof a.extent);
    zmpi_flare_tile(extent, a.tile);
    for (int i = 0; i < 3; i++)
        a.grid[i] = (extent[i] + a.tile[i] - 1) / a.tile[i];
    if (a.rule.unit > 0)
        zmpi_pool_run(zmpi_cpus_count(), measure_chunks, &a);
    free(a.field.data);
    return a.rule.unit > 0 && !a.failed;
}
