/*
 * coll_components.c - a call whose data are several variables (judge/components.h). Each variable
 * has its own range over all ranks. Interleaved variables have one stream each in a message. If
 * variables lie one behind the other in the data for a rank, each piece has only one of them.
 */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "collective/coll.h"
#include "mpi/runtime.h"

/* ---- what the call is ---- */

/* Finds the components from a setting, a datatype, or the data of the block; 1: one array. */
static int find(const struct zcall *c, const struct zblock *b)
{
    const struct zmpi_options *o = &c->state->options;
    const size_t count = b->bytes / zmpi_type_size(b->type->element);
    bool is_new;
    if (o->components)
        return o->components;
    const int found = zextents_components(&b->type->extents);
    if (found > 1 || (found < 0 && b->bytes == b->type->size))
        return found;
    return b->direct ? zmpi_components_recall(&c->state->components, b->type->element, o->threshold,
                                              b->direct, count, &is_new, NULL)
                     : 1;
}

static bool may_be_apart(const struct zcall *c, const struct zblock *b)
{
    const enum zmpi_type element = b->type->element;
    const enum zmpi_mode mode = c->state->options.bound.mode;
    return (element == ZMPI_F32 || element == ZMPI_F64) && !c->exact && mode != ZMPI_LOSSLESS;
}

/* Cuts the block into pieces of whole points; false: that is impossible. */
static bool cut_points(struct zblock *b, uint64_t n)
{
    const uint64_t point = n * zmpi_type_size(b->type->element);
    if (b->bytes % point || b->piece < point)
        return false;
    b->piece = b->piece / point * point;
    return true;
}

/* Cuts the block into equal pieces of one component each; false: components are unequal, too short,
 * or of a length that gives small pieces only. */
static bool cut_blocks(struct zblock *b, uint64_t n)
{
    const uint64_t width = zmpi_type_size(b->type->element), part = b->bytes / n;
    const uint64_t values = part / width, least = (part + b->piece - 1) / b->piece;
    if (b->bytes % (n * width) || values < ZMPI_COMPONENTS_LEAST)
        return false;
    for (uint64_t pieces = least; pieces <= 4 * least; pieces++)
        if (values % pieces == 0) {
            b->piece = part / pieces;
            return true;
        }
    return false;
}

void zapart_say_whole(const struct zcall *c, int n)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    const enum zmpi_mode mode = c->state->options.bound.mode;
    const bool by_range = mode == ZMPI_REL || mode == ZMPI_PSNR || mode == ZMPI_RATIO;
    if (n > 1 && by_range && c->state->rank == 0 && !atomic_flag_test_and_set(&said))
        zmpi_log(ZMPI_LOG_WARN,
                 "%s on %d ranks: data look like %d variables that take turns, but not in whole "
                 "points on every rank: they stay one array of one range, and small variables may "
                 "lose all they have; a bound abs or pw_rel keeps them, as do calls of whole "
                 "points (ZMPI_COMPONENTS)",
                 zop_name(c->op), c->state->ranks, n);
}

/* Says once in a process that one bound holds for all components, although some may vary little. */
static void say_not_blocks(const struct zcall *c, const struct zblock *b, int n)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (c->state->options.components < 0 && !atomic_flag_test_and_set(&said))
        zmpi_log(ZMPI_LOG_WARN,
                 "%s on %d ranks: %llu bytes of rank %d are no %d components one behind the other, "
                 "each in equal pieces: they stay one array (ZMPI_COMPONENTS)",
                 zop_name(c->op), c->state->ranks, (unsigned long long)b->bytes, c->state->rank, n);
}

void zapart_look(struct zcall *c, struct zblock *b)
{
    if (b->bytes == 0)
        return;
    int n = may_be_apart(c, b) ? find(c, b) : 1;
    if (n > 1 && !cut_points(b, (uint64_t)n)) {
        zapart_say_whole(c, n);
        n = 1;
    }
    if (n < 0 && !cut_blocks(b, (uint64_t)-n)) {
        say_not_blocks(c, b, -n);
        n = 1;
    }
    const int other = c->components;
    c->components = other == 0 || other == n ? n : 1;
    if (c->components == 1)
        zapart_say_whole(c, other > n ? other : n);
}

/* ---- ranges ---- */

void zapart_scan(struct zcall *c, enum zmpi_type type, const void *data, size_t count)
{
    const struct zmpi_options *o = &c->state->options;
    const int n = c->components, only = c->apart.only;
    const int first = c->again ? only : 0, end = c->again ? only + 1 : n;
    const double threshold = c->again ? c->below : o->threshold;
    struct zmpi_range range[ZMPI_COMPONENTS_MOST];
    for (int k = first; k < end; k++)
        range[k] = ZMPI_RANGE_EMPTY;
    zmpi_components_range(type, data, count, n, first, end, threshold,
                          c->again ? &c->without : &o->fill, zruntime_threads(o), range);
    for (int k = first; k < end; k++) {
        zmpi_range_merge(&c->apart.range[k], &range[k]);
        if (!c->again)
            c->apart.fill[k] = zmpi_fill_merge(
                c->apart.fill[k], zmpi_component_fill(type, data, count, n, k, &range[k]));
    }
}

int zapart_share_ranges(struct zcall *c)
{
    enum { EACH = 3 + ZMPI_FILL_SAID };
    double mine[EACH * ZMPI_COMPONENTS_MOST] = {0}, all[EACH * ZMPI_COMPONENTS_MOST];
    struct zapart *a = &c->apart;
    const int n = zapart_number(c);
    for (int k = 0; k < n; k++) {
        double *m = &mine[EACH * k];
        m[0] = a->range[k].min;
        m[1] = -a->range[k].max;
        m[2] = a->range[k].fill;
        zmpi_fill_say(a->fill[k], m + 3);
    }
    int rc = PMPI_Allreduce(mine, all, EACH * n, MPI_DOUBLE, MPI_MIN, c->state->comm);
    for (int k = 0; k < n && !rc; k++) {
        const double *m = &all[EACH * k];
        a->range[k] = (struct zmpi_range){m[0], -m[1], m[2]};
        a->fill[k] = zmpi_fill_heard(m + 3);
    }
    return rc;
}

/* ---- messages ---- */

bool zapart_job(const struct zcall *c, const struct zmpi_job *whole, int component,
                struct zmpi_job *job)
{
    const struct zmpi_array a =
        c->components < 0 ? whole->array : zblock_component(&whole->array, (size_t)c->components);
    if (!zpiece_make_job(c, &a, &whole->bound, &c->apart.range[component],
                         &c->apart.fills[component], whole->encoder, job))
        return false;
    if (zmpi_job_open(job))
        zapart_ratio_apply(c, component, job);
    return true;
}

size_t zapart_compress(struct zcall *c, const struct zmpi_job *whole, const unsigned char *data,
                       size_t bytes, unsigned char *dst)
{
    const enum zmpi_type type = whole->array.type;
    const int n = c->components;
    unsigned char *component = malloc(bytes / (size_t)n);
    size_t size = 0;
    bool fine = component != NULL;
    for (int k = 0; k < n && fine; k++) {
        struct zmpi_job job;
        zmpi_component_take(type, data, bytes / zmpi_type_size(type), n, k, component);
        const size_t one = zapart_job(c, whole, k, &job)
                               ? zpiece_stream(c, NULL, component, &job, dst + size, bytes - size)
                               : 0;
        fine = one > 0;
        size += one;
    }
    free(component);
    return fine && size < bytes ? size : 0;
}

enum zmpi_status zapart_decode_own(const struct zcall *c, const struct zmpi_job *whole,
                                   unsigned char *data, size_t bytes)
{
    const enum zmpi_type type = whole->array.type;
    const size_t count = bytes / zmpi_type_size(type), part = bytes / (size_t)c->components;
    const int n = c->components;
    unsigned char *component = malloc(part);
    enum zmpi_status status = component ? ZMPI_OK : ZMPI_ERR_MEMORY;
    for (int k = 0; k < n && !status; k++) {
        struct zmpi_job job;
        zmpi_component_take(type, data, count, n, k, component);
        if (zapart_job(c, whole, k, &job))
            status = zpiece_decode_own(&job, component, part);
        if (!status)
            zmpi_component_put(type, component, count / (size_t)n, n, k, data);
    }
    free(component);
    return status;
}

enum zmpi_status zapart_decode(struct zcall *c, int streams, const unsigned char *src, size_t size,
                               unsigned char *data, size_t bytes)
{
    if (streams < 2 || streams > ZMPI_COMPONENTS_MOST || bytes % (size_t)streams)
        return ZMPI_ERR_CORRUPT;
    const size_t part = bytes / (size_t)streams;
    unsigned char *component = malloc(part);
    enum zmpi_status status = component ? ZMPI_OK : ZMPI_ERR_MEMORY;
    for (int k = 0; k < streams && !status; k++) {
        struct zmpi_stream_info info;
        status = zmpi_stream_info(src, size, &info);
        if (!status && info.decoded_bytes != part)
            status = ZMPI_ERR_CORRUPT;
        if (status)
            break;
        status = zmpi_offload_decompress(&c->state->offload, NULL, component, part, src,
                                         info.length, zruntime_threads(&c->state->options));
        if (!status)
            zmpi_component_put(info.array.type, component, part / zmpi_type_size(info.array.type),
                               streams, k, data);
        src += info.length;
        size -= info.length;
    }
    free(component);
    return status;
}
