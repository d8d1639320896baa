/*
 * coll_dry.c - collectives of a dry run. They go to MPI as they are; for some of them a part of the
 * data is coded.
 */
#include <stdlib.h>
#include <string.h>

#include "base/floats.h"
#include "collective/coll_auto.h"
#include "dry/dry_rows.h"
#include "mpi/runtime.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct zdry_row rows[ZOPS];

/* Takes the first calls on a communicator, and then ever fewer, since each costs a reduction. All
 * ranks take the same. */
static bool is_sampled(uint64_t call)
{
    enum { FIRST = 8 };
    return call <= FIRST || (call & (call - 1)) == 0;
}

static bool has_a_block_for_each(enum zop op)
{
    return op == ZOP_SCATTER || op == ZOP_SCATTERV || op == ZOP_ALLTOALL || op == ZOP_ALLTOALLV;
}

static bool only_root_sends(enum zop op)
{
    return op == ZOP_SCATTER || op == ZOP_SCATTERV || op == ZOP_BCAST;
}

/* Returns the bytes that this rank sends in all. */
static double bytes_of(const struct zcall *c, const struct zside *sent)
{
    double bytes = 0;
    const int blocks = has_a_block_for_each(c->op) ? c->state->ranks : 1;
    for (int i = 0; i < blocks; i++)
        bytes += (double)zside_bytes(zside_count(sent, i), sent->datatype);
    return bytes;
}

/* The first piece of one block: its array, and its data. */
struct part {
    struct zmpi_array array;
    struct zpart at;
    void *copy; /* malloc'ed; NULL: the data are in the program's memory */
    uint64_t block;
};

static bool take(const struct zcall *c, struct zside *sent, struct part *p)
{
    const struct zcomm *s = c->state;
    struct zblock b;
    *p = (struct part){.copy = NULL};
    if (!zside_make(sent))
        return false;
    zside_block(sent, has_a_block_for_each(c->op) ? (s->rank + 1) % s->ranks : 0, &s->options, &b);
    const uint64_t bytes = b.bytes ? zblock_piece(&b, 0) : 0;
    bool taken = bytes > 0 && !b.holder;
    p->block = b.bytes;
    if (taken && !b.direct)
        taken = (p->copy = malloc(bytes)) != NULL;
    if (taken) {
        p->array = zblock_array(&b, bytes);
        taken = zblock_read(&b, 0, bytes, p->copy, &p->at);
    }
    zside_free(sent);
    return taken;
}

/* Finds the range of all ranks' parts, as a call does for all data, and the largest block. */
static int share(const struct zcall *c, struct zmpi_range *range, uint64_t *block)
{
    double mine[4] = {range->min, -range->max, range->fill, -(double)*block}, all[4];
    const int rc = PMPI_Allreduce(mine, all, 4, MPI_DOUBLE, MPI_MIN, c->state->comm);
    if (!rc) {
        *range = (struct zmpi_range){all[0], -all[1], all[2]};
        *block = (uint64_t)-all[3];
    }
    return rc;
}

static void sample(struct zcall *c, struct zside *sent, double bytes, double left)
{
    const struct zmpi_options *o = &c->state->options;
    struct zmpi_range range = ZMPI_RANGE_EMPTY;
    struct part p = {.copy = NULL};
    size_t count = 0;
    const double start = zmpi_thread_seconds();
    const bool taken = sent && left > 0 && take(c, sent, &p) && !zmpi_array_count(&p.array, &count);
    if (taken && (p.array.type == ZMPI_F32 || p.array.type == ZMPI_F64))
        zmpi_range_without(p.array.type, p.at.data, count, o->threshold, &o->fill, 1, &range);
    if (c->all_know)
        p.block = c->bytes;
    if (!share(c, &range, &p.block)) {
        c->bytes = p.block;
        const struct zmpi_trial_array a = {.array = p.array,
                                           .data = p.at.data,
                                           .bytes = bytes,
                                           .exact = c->exact,
                                           .user = o->bound_set ? &o->bound : NULL,
                                           .range = &range,
                                           .threshold = o->threshold};
        pthread_mutex_lock(&lock);
        if (taken && zrule_enough(c)) {
            rows[c->op].sampled += bytes;
            zmpi_trials_add(&rows[c->op].trials, &rows[c->op].most, &a,
                            left - (zmpi_thread_seconds() - start));
        }
        pthread_mutex_unlock(&lock);
    }
    free(p.copy);
    zdry_spent(zmpi_thread_seconds() - start);
}

static void count(const struct zcall *c, double bytes)
{
    struct zdry_row *row = &rows[c->op];
    const struct zmpi_options *o = &c->state->options;
    pthread_mutex_lock(&lock);
    row->ranks = c->state->ranks;
    row->calls++;
    row->bytes += bytes;
    if (o->bound_set)
        zmpi_bound_format(&o->bound, row->bound);
    pthread_mutex_unlock(&lock);
}

void zcall_dry(struct zcall *c, struct zside *sent)
{
    const struct zmpi_options *o = zruntime_options();
    const bool large = !c->all_know || c->bytes >= o->collective_min;
    if (!large || !(o->comm_rules || zrule_wanted(o, c->op)))
        return;
    struct zcomm *s = c->state = zcomm_make(c->comm);
    if (!s || !zrule_wanted(&s->options, c->op) || c->root < 0 || c->root >= s->ranks ||
        (s->one_node && s->options.collective_mode != ZMPI_COLLECTIVE_ALWAYS))
        return;
    const struct zmpi_floats program = zmpi_floats_begin();
    if (only_root_sends(c->op) && s->rank != c->root)
        sent = NULL;
    const double bytes = sent ? bytes_of(c, sent) : 0;
    c->exact = c->op == ZOP_BCAST && !zmpi_options_collective(&s->options, "bcast_lossy");
    count(c, bytes);
    if (is_sampled(++s->calls))
        sample(c, sent, bytes, zdry_left());
    zmpi_floats_end(program);
}

void zcall_dry_end(void)
{
    int rank = -1;
    if (!zruntime_options()->dry_run || PMPI_Comm_rank(MPI_COMM_WORLD, &rank))
        return;
    for (int i = 0; i < ZOPS; i++) {
        struct zdry_row *row = &rows[i];
        snprintf(row->name, sizeof row->name, "%s", zop_name((enum zop)i));
        row->collective = 1;
        if (!zdry_sum(row, MPI_COMM_WORLD) && rank == 0 && row->bytes > 0)
            zdry_keep(row);
    }
}
