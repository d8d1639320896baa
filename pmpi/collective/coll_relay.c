/*
 * coll_relay.c - pieces go from rank to rank, each compressed once: around a ring (allgather),
 * along a chain or down a tree (bcast).
 *
 * A call is a sequence of steps with the same numbers on all ranks. Step k is piece k / origins;
 * around a ring, it is that of the rank k % origins places back. In each step a rank has a message,
 * its own or a received one, passes it on, and decodes it. Ranks pass messages on in the order of
 * steps, and a step uses the memory of the step four before it. So the rank that is furthest behind
 * can always go on. A damaged message is passed on as it is, with its origin's checksum.
 */
#include <sched.h>
#include <stdlib.h>

#include "collective/coll.h"

enum { TAG = 110, SLOTS = 4, MOST_TO = 2, REQUESTS = 1 + MOST_TO };

struct slot {
    unsigned char *message;
    int size;
    bool posted, here, passed_on, decoded;
};

struct work {
    struct zcall *call;
    const struct zrelay *relay;
    uint64_t steps, first, passing; /* first: first one not done; passing: first one not passed
                                     * on */
    struct slot slot[SLOTS];        /* for the steps from `first` on */
    MPI_Request request[SLOTS * REQUESTS];
    size_t capacity;
    unsigned char *scratch;
    uint64_t received;
};

static struct slot *slot_of(struct work *w, uint64_t step)
{
    return &w->slot[step % SLOTS];
}

static MPI_Request *requests_of(struct work *w, uint64_t step)
{
    return &w->request[step % SLOTS * REQUESTS];
}

static uint64_t behind_window(const struct work *w)
{
    return w->steps - w->first < SLOTS ? w->steps : w->first + SLOTS;
}

static bool is_own(const struct work *w, uint64_t step)
{
    return w->relay->own && step % (uint64_t)w->relay->origins == 0;
}

/* Returns the rank from which a step's data come; a single origin is the root. */
static int origin_of(const struct work *w, uint64_t step)
{
    int n = w->relay->origins;
    return n == 1 ? w->call->root : (w->call->state->rank - (int)(step % (uint64_t)n) + n) % n;
}

static const struct zblock *block_of(const struct work *w, uint64_t step)
{
    return &w->relay->block[w->relay->origins == 1 ? 0 : origin_of(w, step)];
}

/* Returns how many ranks get the message next. The last rank of a ring passes it to nobody. */
static int targets_of(const struct work *w, uint64_t step)
{
    uint64_t n = (uint64_t)w->relay->origins;
    return n > 1 && step % n == n - 1 ? 0 : w->relay->to_count;
}

/* ---- what a step does ---- */

static int post(struct work *w)
{
    for (uint64_t k = w->first; k < behind_window(w); k++) {
        struct slot *s = slot_of(w, k);
        if (s->posted || is_own(w, k))
            continue;
        s->posted = true;
        int rc = PMPI_Irecv(s->message, (int)w->capacity, MPI_BYTE, w->relay->from, TAG,
                            w->call->state->comm, requests_of(w, k));
        if (rc)
            return rc;
    }
    return MPI_SUCCESS;
}

/* Makes the message of this rank's piece; an empty one if others have more pieces. */
static void make_own(struct work *w, uint64_t step)
{
    const struct zblock *b = w->relay->own;
    struct slot *s = slot_of(w, step);
    uint64_t at = step / (uint64_t)w->relay->origins * b->piece;
    s->size = at < b->bytes ? zpiece_encode(w->call, b, at, s->message, w->scratch) : 0;
    s->here = true;
    s->decoded = w->relay->keep_own;
}

static void feed(struct work *w, bool *did)
{
    for (uint64_t k = w->first; k < behind_window(w) && !*did; k++)
        if (is_own(w, k) && !slot_of(w, k)->here) {
            make_own(w, k);
            *did = true;
        }
}

static int pass_on(struct work *w, bool *did)
{
    for (; w->passing < behind_window(w) && slot_of(w, w->passing)->here; w->passing++) {
        struct slot *s = slot_of(w, w->passing);
        *did = true;
        s->passed_on = true;
        for (int i = 0; i < targets_of(w, w->passing); i++) {
            w->call->raw += (double)zpiece_raw(w->call, s->message, s->size);
            w->call->sent += s->size;
            int rc = PMPI_Isend(s->message, s->size, MPI_BYTE, w->relay->to[i], TAG,
                                w->call->state->comm, requests_of(w, w->passing) + 1 + i);
            if (rc)
                return rc;
        }
    }
    return MPI_SUCCESS;
}

static void place(struct work *w, uint64_t step)
{
    const struct zblock *b = block_of(w, step);
    struct slot *s = slot_of(w, step);
    struct zpiece_head h;
    int origin = origin_of(w, step);
    s->decoded = true;
    if (s->size && zpiece_check(w->call, b, origin, s->message, s->size, &h) &&
        zpiece_place(w->call, b, origin, s->message, s->size, &h, w->scratch))
        w->received += h.raw;
}

static void place_one(struct work *w, bool *did)
{
    for (uint64_t k = w->first; k < behind_window(w) && !*did; k++) {
        struct slot *s = slot_of(w, k);
        if (s->here && !s->decoded) {
            place(w, k);
            *did = true;
        }
    }
}

/* ---- progress ---- */

/* Notes a message's arrival. If it was too long, an empty one is passed on in its place, so that no
 * rank waits for it. */
static void note_arrival(struct work *w, struct slot *s, const MPI_Status *status, bool good)
{
    s->here = true;
    s->size = 0;
    if (good)
        PMPI_Get_count(status, MPI_BYTE, &s->size);
    else
        zcall_fail(w->call, MPI_ERR_TRUNCATE, "rank %d passed on more than rank %d expects",
                   w->relay->from, w->call->state->rank);
}

static int progress(struct work *w, bool *did)
{
    int done, index[SLOTS * REQUESTS];
    MPI_Status status[SLOTS * REQUESTS];
    int rc = PMPI_Testsome(SLOTS * REQUESTS, w->request, &done, index, status);
    const bool each = rc == MPI_ERR_IN_STATUS;
    if ((rc && !each) || done == MPI_UNDEFINED)
        return rc;
    *did |= done > 0;
    for (int i = 0; i < done; i++)
        if (index[i] % REQUESTS == 0)
            note_arrival(w, &w->slot[index[i] / REQUESTS], &status[i],
                         !each || status[i].MPI_ERROR == MPI_SUCCESS);
    return MPI_SUCCESS;
}

static bool step_done(struct work *w, uint64_t step)
{
    const struct slot *s = slot_of(w, step);
    const MPI_Request *r = requests_of(w, step);
    return s->decoded && s->passed_on && r[1] == MPI_REQUEST_NULL && r[2] == MPI_REQUEST_NULL;
}

static void retire(struct work *w)
{
    for (; w->first < w->passing && step_done(w, w->first); w->first++) {
        struct slot *s = slot_of(w, w->first);
        s->posted = s->here = s->passed_on = s->decoded = false;
    }
}

/* One round: pass on first, then compress, then decode. */
static int round_of(struct work *w)
{
    bool did = false;
    int rc = post(w);
    if (!rc)
        rc = pass_on(w, &did);
    if (!rc)
        rc = progress(w, &did);
    if (!rc && !did)
        feed(w, &did);
    if (!rc && !did)
        place_one(w, &did);
    retire(w);
    if (!did)
        sched_yield(); /* to ranks and threads that have work, which MPI's waiting may not do */
    return rc;
}

static int all_rounds(struct work *w)
{
    int rc = MPI_SUCCESS;
    while (!rc && w->first < w->steps)
        rc = round_of(w);
    return rc;
}

static void check_complete(const struct work *w)
{
    const struct zrelay *r = w->relay;
    uint64_t wanted = 0;
    for (int i = 0; i < r->origins; i++)
        wanted += r->block[i].bytes;
    if (r->own && r->keep_own)
        wanted -= r->own->bytes;
    if (w->received != wanted && !w->call->error)
        zcall_fail(w->call, MPI_ERR_OTHER, "rank %d got %llu bytes of %llu", w->call->state->rank,
                   (unsigned long long)w->received, (unsigned long long)wanted);
}

/* The blocks that this rank sends. */
struct own_data {
    const struct zblock *block;
    unsigned char *scratch;
};

static void scan_own(struct zcall *c, void *context)
{
    const struct own_data *own = context;
    if (own->block)
        zcall_scan(c, own->block, own->scratch);
}

static int search_of_all(struct zcall *c, const struct zrelay *r, unsigned char *scratch)
{
    int rc;
    zcall_ratio_begin(c);
    do
        if (r->own)
            zcall_ratio_add(c, r->own, scratch);
    while (zcall_ratio_share(c, &rc));
    return rc;
}

bool zrelay_run(struct zcall *c, const struct zrelay *r, bool ready)
{
    struct work w = {
        .call = c, .relay = r, .capacity = zpiece_capacity(&c->state->options, r->bytes)};
    unsigned char *memory = malloc((SLOTS + 1) * w.capacity);
    if (ready)
        zcall_look(c, r->block->type->element);
    if (ready && r->own)
        zapart_look(c, r->own);
    uint64_t pieces = ready && r->own ? zblock_pieces(r->own) : 0;
    bool done = zcall_agree(c, ready && memory, r->bytes, pieces);
    int rc = MPI_SUCCESS;
    for (size_t k = 0; k < SLOTS * REQUESTS; k++)
        w.request[k] = MPI_REQUEST_NULL;
    for (size_t k = 0; memory && k < SLOTS; k++)
        w.slot[k].message = memory + k * w.capacity;
    if (done) {
        w.scratch = memory + SLOTS * w.capacity;
        w.steps = c->steps * (uint64_t)r->origins;
        struct own_data own = {r->own, w.scratch};
        rc = zcall_wants_range(c) ? zcall_find_range(c, scan_own, &own) : MPI_SUCCESS;
        if (!rc && zcall_wants_ratio(c))
            rc = search_of_all(c, r, w.scratch);
        if (!rc && r->own)
            zcall_sample(c, r->own, w.scratch);
        if (!rc)
            rc = all_rounds(&w);
        if (rc)
            c->error = rc;
        else
            check_complete(&w);
    }
    if (!rc) /* else MPI may still have messages in it */
        free(memory);
    return done;
}
