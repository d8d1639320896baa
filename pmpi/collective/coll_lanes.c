/*
 * coll_lanes.c - gather, scatter and alltoall, also the v forms: finds which data go between which
 * ranks.
 *
 * The order of a rank's lanes: gather and scatter begin behind the root; in step s of an alltoall
 * ranks whose numbers add up to s (modulo all) are partners. So a lane has the same place in the
 * order of both ranks, and the first unfinished lane can go on at both ends.
 */
#include <stdlib.h>

#include "collective/coll.h"

/* This rank's part in a call. */
struct plan {
    struct zexchange x;
    struct zblock own, own_place; /* data to itself; bytes 0: none, or in place */
    uint64_t bytes;               /* of the largest block */
};

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void add_lane(struct plan *p, const struct zcall *c, int peer, const struct zside *out,
                     int out_block, const struct zside *in, int in_block)
{
    struct zlane *l = &p->x.lane[p->x.lanes];
    *l = (struct zlane){.peer = peer};
    if (out)
        zside_block(out, out_block, &c->state->options, &l->out);
    if (in)
        zside_block(in, in_block, &c->state->options, &l->in);
    p->bytes = larger(p->bytes, larger(l->out.bytes, l->in.bytes));
    if (l->out.bytes || l->in.bytes)
        p->x.lanes++;
}

static void gather_lanes(struct plan *p, const struct zcall *c, const struct zside *send,
                         const struct zside *recv)
{
    const struct zcomm *s = c->state;
    if (s->rank != c->root) {
        add_lane(p, c, c->root, send, 0, NULL, 0);
        return;
    }
    for (int i = 1; i < s->ranks; i++) {
        int peer = (c->root + i) % s->ranks;
        add_lane(p, c, peer, NULL, 0, recv, peer);
    }
    zside_block(recv, c->root, &s->options, &p->own_place);
    if (send)
        zside_block(send, 0, &s->options, &p->own);
    else
        p->own = p->own_place;
}

static void scatter_lanes(struct plan *p, const struct zcall *c, const struct zside *send,
                          const struct zside *recv)
{
    const struct zcomm *s = c->state;
    if (s->rank != c->root) {
        add_lane(p, c, c->root, NULL, 0, recv, 0);
        return;
    }
    for (int i = 1; i < s->ranks; i++) {
        int peer = (c->root + i) % s->ranks;
        add_lane(p, c, peer, send, peer, NULL, 0);
    }
    zside_block(send, c->root, &s->options, &p->own);
    if (recv)
        zside_block(recv, 0, &s->options, &p->own_place);
    else
        p->own_place = p->own;
}

static void alltoall_lanes(struct plan *p, const struct zcall *c, const struct zside *send,
                           const struct zside *recv)
{
    const struct zcomm *s = c->state;
    for (int step = 0; step < s->ranks; step++) {
        int peer = (step - s->rank + s->ranks) % s->ranks;
        if (peer != s->rank)
            add_lane(p, c, peer, send ? send : recv, peer, recv, peer);
    }
    for (size_t k = 0; k < p->x.lanes; k++)
        p->x.lane[k].in_place = !send;
    zside_block(recv, s->rank, &s->options, &p->own_place);
    if (send)
        zside_block(send, s->rank, &s->options, &p->own);
    else
        p->own = p->own_place;
}

static void make_lanes(struct plan *p, const struct zcall *c, const struct zside *send,
                       const struct zside *recv)
{
    if (c->op == ZOP_GATHER || c->op == ZOP_GATHERV)
        gather_lanes(p, c, send, recv);
    else if (c->op == ZOP_SCATTER || c->op == ZOP_SCATTERV)
        scatter_lanes(p, c, send, recv);
    else
        alltoall_lanes(p, c, send, recv);
}

/* Allocates memory for the most messages of a call that are in memory at once. */
static bool set_memory_aside(struct plan *p, const struct zmpi_options *o)
{
    struct zexchange *x = &p->x;
    uint64_t out = 0, in = 0, out_pieces = 0;
    for (size_t k = 0; k < x->lanes; k++) {
        const struct zlane *l = &x->lane[k];
        out = larger(out, l->out.bytes);
        in = larger(in, l->in.bytes);
        if (l->out.bytes)
            out_pieces += zblock_pieces(&l->out);
    }
    x->out_slots = out_pieces < ZSLOTS ? out_pieces : ZSLOTS;
    x->in_slots = in == 0 ? 0 : x->lanes < ZLANES ? 2 * x->lanes : ZSLOTS;
    x->out_capacity = zpiece_capacity(o, out);
    x->in_capacity = zpiece_capacity(o, in);
    size_t scratch = zpiece_capacity(o, larger(p->bytes, p->own.bytes));
    x->memory = malloc(x->out_slots * x->out_capacity + x->in_slots * x->in_capacity + scratch);
    if (!x->memory)
        return false;
    x->scratch = x->memory + x->out_slots * x->out_capacity + x->in_slots * x->in_capacity;
    return true;
}

static bool get_ready(struct plan *p, const struct zcall *c, struct zside *send, struct zside *recv)
{
    if ((send && !zside_make(send)) || (recv && !zside_make(recv)))
        return false;
    p->x.lane = calloc((size_t)c->state->ranks, sizeof *p->x.lane);
    if (!p->x.lane)
        return false;
    make_lanes(p, c, send, recv);
    return set_memory_aside(p, &c->state->options);
}

/* Scans all data of the call: what ranks send, and what they keep. */
static void scan_all(struct zcall *c, void *context)
{
    const struct plan *p = context;
    for (size_t k = 0; k < p->x.lanes; k++)
        if (p->x.lane[k].out.bytes)
            zcall_scan(c, &p->x.lane[k].out, p->x.scratch);
    if (p->own.bytes)
        zcall_scan(c, &p->own, p->x.scratch);
}

/* Searches a bound for a ratio, by the data that go to other ranks: the ratio is that of
 * messages. */
static int search_of_all(struct zcall *c, const struct plan *p)
{
    int rc;
    zcall_ratio_begin(c);
    do {
        for (size_t k = 0; k < p->x.lanes; k++)
            if (p->x.lane[k].out.bytes)
                zcall_ratio_add(c, &p->x.lane[k].out, p->x.scratch);
    } while (zcall_ratio_share(c, &rc));
    return rc;
}

/* Returns the largest block that this rank sends or keeps. */
static const struct zblock *largest_block(const struct plan *p)
{
    const struct zblock *b = &p->own;
    for (size_t k = 0; k < p->x.lanes; k++)
        if (p->x.lane[k].out.bytes > b->bytes)
            b = &p->x.lane[k].out;
    return b;
}

/* Looks for components in what this rank sends or keeps. */
static void look_for_components(struct zcall *c, struct plan *p)
{
    for (size_t k = 0; k < p->x.lanes; k++)
        zapart_look(c, &p->x.lane[k].out);
    zapart_look(c, &p->own);
}

bool zlanes_run(struct zcall *c, struct zside *send, struct zside *recv)
{
    struct plan p = {0};
    bool ready = get_ready(&p, c, send, recv);
    if (ready && send)
        zcall_look(c, send->type.element);
    if (ready && recv)
        zcall_look(c, recv->type.element);
    if (ready)
        look_for_components(c, &p);
    bool done = zcall_agree(c, ready, p.bytes, 0);
    int rc = done && zcall_wants_range(c) ? zcall_find_range(c, scan_all, &p) : MPI_SUCCESS;
    if (done && !rc && zcall_wants_ratio(c))
        rc = search_of_all(c, &p);
    if (done && !rc)
        zcall_sample(c, largest_block(&p), p.x.scratch);
    if (done && !rc)
        rc = zexchange_run(c, &p.x);
    if (done && !rc && p.own.buf != p.own_place.buf &&
        !zblock_copy(&p.own_place, &p.own, p.x.scratch))
        zcall_fail(c, MPI_ERR_OTHER, "rank %d: its own data cannot be copied", c->state->rank);
    if (done && rc)
        c->error = rc;
    free(p.x.lane);
    if (!rc) /* after an error MPI may still use this memory */
        free(p.x.memory);
    if (send)
        zside_free(send);
    if (recv)
        zside_free(recv);
    return done;
}
