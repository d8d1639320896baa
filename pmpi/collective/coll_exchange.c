/*
 * coll_exchange.c - exchanges pieces with this rank's peers. While it compresses one piece, earlier
 * ones are on their way; in between it decodes what has arrived.
 *
 * A message's tag says how many messages of its block follow (2: two or more). So a receiver never
 * waits for one that does not come, whatever the message contains. A damaged piece is not placed;
 * all others are still received, so that nobody waits for this rank.
 */
#include <math.h>
#include <sched.h>

#include "collective/coll.h"

enum { TAG = 100, MOST_LEFT = 2 };

enum slot_state { FREE, FLYING, ARRIVED, CHECKED };

/* One message in memory. */
struct slot {
    enum slot_state state;
    unsigned char *message;
    struct zlane *lane;
    uint64_t index; /* of the message in its lane */
    int size;
    bool good;               /* MPI reports no error */
    struct zpiece_head head; /* valid after the check */
};

struct work {
    struct zcall *call;
    const struct zexchange *x;
    struct zlane *active[ZLANES]; /* the messages in slots 2k and 2k + 1 are those of active[k] */
    size_t next;                  /* lane to become active */
    struct slot out[ZSLOTS], in[ZSLOTS];
    MPI_Request request[2 * ZSLOTS]; /* of out and in */
    double first, first_bytes;       /* seconds of the first messages, and their bytes */
};

/* ---- lanes ---- */

static bool lane_done(const struct zlane *l)
{
    bool in = l->in.bytes == 0 || (l->all_known && l->arrived == l->known);
    return in && l->sent == l->out.bytes && l->flying == 0;
}

/* Cancels the receives that are left if a peer sent less than expected. */
static void withdraw(struct work *w, size_t k)
{
    for (size_t i = 2 * k; i < 2 * k + 2; i++)
        if (w->in[i].state == FLYING) {
            PMPI_Cancel(&w->request[ZSLOTS + i]);
            PMPI_Wait(&w->request[ZSLOTS + i], MPI_STATUS_IGNORE);
            w->in[i].state = FREE;
        }
}

/* Gives the place of a finished lane to the next one. False: no lane is at work. */
static bool refresh_lanes(struct work *w)
{
    bool any = false;
    for (size_t k = 0; k < ZLANES; k++) {
        if (w->active[k] && lane_done(w->active[k])) {
            withdraw(w, k);
            w->active[k] = NULL;
        }
        if (!w->active[k] && w->next < w->x->lanes) {
            struct zlane *l = w->active[k] = &w->x->lane[w->next++];
            uint64_t most = w->call->state->options.collective_piece;
            l->known = (l->in.bytes + most - 1) / most;
        }
        any |= w->active[k] != NULL;
    }
    return any;
}

/* ---- to the peers ---- */

/* Returns the lane with the fewest messages under way. If several work, each has two at most, so
 * that the others find a slot. */
static struct zlane *hungriest(const struct work *w)
{
    struct zlane *found = NULL;
    unsigned busy = 0;
    for (size_t k = 0; k < ZLANES; k++) {
        struct zlane *l = w->active[k];
        busy += l != NULL;
        if (l && l->sent < l->out.bytes && (!found || l->flying < found->flying))
            found = l;
    }
    return found && found->flying < (busy > 1 ? 2U : ZSLOTS) ? found : NULL;
}

static int send_piece(struct work *w, struct zlane *l, size_t k)
{
    struct zcall *c = w->call;
    uint64_t bytes = zblock_piece(&l->out, l->sent);
    struct slot *s = &w->out[k];
    s->size = zpiece_encode(c, &l->out, l->sent, s->message, w->x->scratch);
    s->lane = l;
    s->state = FLYING;
    l->sent += bytes;
    l->flying++;
    c->raw += (double)bytes;
    c->sent += s->size;
    uint64_t left = (l->out.bytes - l->sent + l->out.piece - 1) / l->out.piece;
    return PMPI_Isend(s->message, s->size, MPI_BYTE, l->peer,
                      TAG + (int)(left < MOST_LEFT ? left : MOST_LEFT), c->state->comm,
                      &w->request[k]);
}

static int feed(struct work *w, bool *did)
{
    struct zlane *l = hungriest(w);
    for (size_t k = 0; l && k < w->x->out_slots; k++)
        if (w->out[k].state == FREE) {
            *did = true;
            return send_piece(w, l, k);
        }
    return MPI_SUCCESS;
}

/* ---- from the peers ---- */

static int post(struct work *w)
{
    for (size_t k = 0; k < w->x->in_slots; k++) {
        struct zlane *l = w->active[k / 2];
        struct slot *s = &w->in[k];
        if (s->state != FREE || !l || l->in.bytes == 0 || l->posted >= l->known)
            continue;
        s->lane = l;
        s->index = l->posted++;
        s->state = FLYING;
        int rc = PMPI_Irecv(s->message, (int)w->x->in_capacity, MPI_BYTE, l->peer, MPI_ANY_TAG,
                            w->call->state->comm, &w->request[ZSLOTS + k]);
        if (rc)
            return rc;
    }
    return MPI_SUCCESS;
}

/* Times the first messages of the first lanes. Only each other and this rank's codec delayed
 * them. */
static void time_first(struct work *w, const struct slot *s)
{
    if (s->index > 0 || s->lane >= w->x->lane + ZLANES)
        return;
    w->first = fmax(w->first, zpiece_age(w->call, s->message, s->size) - w->call->codec);
    w->first_bytes += (double)zpiece_raw(w->call, s->message, s->size);
}

/* Estimates the time of all that comes to this rank from these. */
static void estimate_transfer(struct work *w)
{
    double bytes = 0;
    for (size_t k = 0; k < w->x->lanes; k++)
        bytes += (double)w->x->lane[k].in.bytes;
    if (w->first_bytes > 0)
        w->call->transfer = fmax(w->first - ZLATENCY, ZLATENCY / 1000) * bytes / w->first_bytes;
}

static void note_arrival(struct slot *s, MPI_Status *status, bool good)
{
    struct zlane *l = s->lane;
    bool has_tag = status->MPI_TAG >= TAG && status->MPI_TAG <= TAG + MOST_LEFT;
    uint64_t left = has_tag ? (uint64_t)(status->MPI_TAG - TAG) : 0, known = s->index + 1 + left;
    PMPI_Get_count(status, MPI_BYTE, &s->size);
    s->good = good;
    s->state = ARRIVED;
    l->known = (has_tag && left < MOST_LEFT) || known > l->known ? known : l->known;
    l->all_known |= left < MOST_LEFT;
}

/* In place, a piece may come before this rank has sent what is there. */
static bool may_decode(const struct zlane *l, const struct zpiece_head *h)
{
    return !l->in_place || l->sent >= h->at + h->raw;
}

static void check(struct work *w, struct slot *s)
{
    struct zlane *l = s->lane;
    s->state = FREE;
    if (!s->good)
        zcall_fail(w->call, MPI_ERR_TRUNCATE, "rank %d sent more than rank %d expects", l->peer,
                   w->call->state->rank);
    else if (zpiece_check(w->call, &l->in, l->peer, s->message, s->size, &s->head))
        s->state = CHECKED;
    l->arrived += s->state == FREE;
}

static void place(struct work *w, struct slot *s)
{
    struct zlane *l = s->lane;
    if (zpiece_place(w->call, &l->in, l->peer, s->message, s->size, &s->head, w->x->scratch))
        l->received += s->head.raw;
    s->state = FREE;
    l->arrived++;
}

/* Takes a message that has arrived. */
static void take(struct work *w, bool *did)
{
    for (size_t k = 0; k < w->x->in_slots && !*did; k++) {
        struct slot *s = &w->in[k];
        if (s->state == ARRIVED) {
            check(w, s);
            *did = true;
        }
        if (s->state == CHECKED && may_decode(s->lane, &s->head)) {
            place(w, s);
            *did = true;
        }
    }
}

/* ---- progress ---- */

/* Looks what MPI has done. */
static int progress(struct work *w, bool *did)
{
    int done, index[2 * ZSLOTS];
    MPI_Status status[2 * ZSLOTS];
    int rc = PMPI_Testsome(2 * ZSLOTS, w->request, &done, index, status);
    bool each = rc == MPI_ERR_IN_STATUS;
    if ((rc && !each) || done == MPI_UNDEFINED)
        return rc;
    *did |= done > 0;
    for (int i = 0; i < done; i++) {
        bool good = !each || status[i].MPI_ERROR == MPI_SUCCESS;
        if (index[i] >= ZSLOTS) {
            note_arrival(&w->in[index[i] - ZSLOTS], &status[i], good);
            time_first(w, &w->in[index[i] - ZSLOTS]);
        } else {
            w->out[index[i]].state = FREE;
            w->out[index[i]].lane->flying--;
        }
    }
    return MPI_SUCCESS;
}

/* One round: fill the network first, then decode one piece. */
static int step(struct work *w)
{
    bool did = false;
    int rc = post(w);
    if (!rc)
        rc = feed(w, &did);
    if (!rc)
        rc = progress(w, &did);
    if (!rc && !did)
        take(w, &did);
    if (!did)
        sched_yield(); /* lets ranks and threads work that MPI's waiting would hold up */
    return rc;
}

static void check_complete(struct zcall *c, const struct zexchange *x)
{
    for (size_t k = 0; k < x->lanes && !c->error; k++) {
        const struct zlane *l = &x->lane[k];
        if (l->received != l->in.bytes)
            zcall_fail(c, MPI_ERR_OTHER, "rank %d sent %llu bytes, rank %d expects %llu", l->peer,
                       (unsigned long long)l->received, c->state->rank,
                       (unsigned long long)l->in.bytes);
    }
}

int zexchange_run(struct zcall *c, const struct zexchange *x)
{
    struct work w = {.call = c, .x = x};
    unsigned char *at = x->memory;
    int rc = MPI_SUCCESS;
    for (size_t k = 0; k < 2 * ZSLOTS; k++)
        w.request[k] = MPI_REQUEST_NULL;
    for (size_t k = 0; k < x->out_slots; k++, at += x->out_capacity)
        w.out[k].message = at;
    for (size_t k = 0; k < x->in_slots; k++, at += x->in_capacity)
        w.in[k].message = at;
    c->began = zmpi_seconds();
    while (!rc && refresh_lanes(&w))
        rc = step(&w);
    estimate_transfer(&w);
    if (!rc)
        check_complete(c, x);
    return rc;
}
