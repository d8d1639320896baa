/*
 * coll_bcast.c - MPI_Bcast: the root's pieces go along a chain, or down a binary tree if a chain
 * would be too long.
 *
 * Programs broadcast what must be the same everywhere: parameters, seeds, tables. So the data are
 * exact, unless ZMPI_COLLECTIVES says bcast_lossy; then the root takes the values that the others
 * get, and all still have the same.
 */
#include "collective/coll.h"
#include "wrappers.h"

/* Compares the times for these ranks and pieces, in units of one piece over one link. */
static bool chain_is_faster(int ranks, uint64_t pieces)
{
    uint64_t depth = 0;
    for (int n = ranks; n > 1; n /= 2)
        depth++;
    return pieces + (uint64_t)ranks <= 2 * (pieces + depth);
}

static void find_neighbours(struct zrelay *r, const struct zcomm *s, int root, uint64_t pieces)
{
    bool chain = chain_is_faster(s->ranks, pieces);
    int place = (s->rank - root + s->ranks) % s->ranks; /* counted from the root */
    int child = chain ? place + 1 : 2 * place + 1, children = chain ? 1 : 2;
    r->from = ((chain ? place - 1 : (place - 1) / 2) + root + s->ranks) % s->ranks;
    for (int i = 0; i < children && child + i < s->ranks; i++)
        r->to[r->to_count++] = (child + i + root) % s->ranks;
}

static bool bcast(struct zcall *c, struct zside *side)
{
    const struct zmpi_options *o = &c->state->options;
    struct zblock block;
    struct zrelay r = {.block = &block, .origins = 1, .keep_own = c->exact, .bytes = c->bytes};
    bool ready = zside_make(side);
    if (ready)
        zside_block(side, 0, o, &block);
    if (c->state->rank == c->root)
        r.own = &block;
    find_neighbours(&r, c->state, c->root, c->bytes / o->collective_piece + 1);
    bool done = zrelay_run(c, &r, ready);
    zside_free(side);
    return done;
}

bool zc_bcast(struct zcall *c, struct zside *send, struct zside *recv, int root, MPI_Comm comm)
{
    (void)recv; /* the same buffer */
    const uint64_t bytes = zside_bytes(send->count, send->datatype);
    return zcall_begin(c, ZOP_BCAST, root, comm, true, bytes, bytes, send) && bcast(c, send);
}
