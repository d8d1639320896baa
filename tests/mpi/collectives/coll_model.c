/*
 * coll_model.c - every collective that may be compressed against a model of what each rank must
 * get: datatypes that differ but match, with gaps and out of order, blocks of different sizes and
 * empty ones, every root, in place, arguments that mean nothing, and the bound over all data.
 *
 * zmpi-test: RANKS 1,2,3,4 ANYIO ENV ZMPI_ERROR_BOUND=rel=1e-3 ZMPI_COLLECTIVES=gather,scatter,allgather,bcast_lossy,alltoall ZMPI_COLLECTIVE_MODE=always ZMPI_COLLECTIVE_MIN=1 ZMPI_COLLECTIVE_PIECE=4K
 * zmpi-test: whole RANKS 4 ANYIO ENV ZMPI_ERROR_BOUND=rel=1e-3 ZMPI_COLLECTIVES=gather,scatter,allgather,bcast_lossy,alltoall ZMPI_COLLECTIVE_MODE=always ZMPI_COLLECTIVE_MIN=1
 * zmpi-test: exact RANKS 2,3 ANYIO ARGS exact ENV ZMPI_ERROR_BOUND=lossless ZMPI_COLLECTIVES=gather,scatter,allgather,bcast,alltoall ZMPI_COLLECTIVE_MODE=always ZMPI_COLLECTIVE_MIN=1 ZMPI_COLLECTIVE_PIECE=64K
 * zmpi-test: auto RANKS 3 ANYIO ARGS exact ENV ZMPI_ERROR_BOUND=abs=1 ZMPI_COLLECTIVES=gather,scatter,allgather,bcast,alltoall
 */
#include "check.h"

#include <math.h>

enum op { GATHER, GATHERV, SCATTER, SCATTERV, ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, OPS };

static const char *const names[OPS] = {"gather",    "gatherv",    "scatter",  "scatterv",
                                       "allgather", "allgatherv", "alltoall", "alltoallv"};
static const double bound = 1e-3;
static bool exact; /* nothing may change */
static MPI_Comm comm;
static int rank, ranks;

#define NOWHERE  ((void *)0x10)
#define NO_COUNT ((const int *)0x10)

/* ---- datatypes of doubles ---- */

enum { KINDS = 5, GAP = 0x5A };

/* Where the doubles of one item lie, in doubles from its beginning. */
static const struct kind {
    const char *name;
    int per, extent;
    int place[6];
} kinds[KINDS] = {{"plain", 1, 1, {0}},
                  {"contiguous", 4, 4, {0, 1, 2, 3}},
                  {"vector", 6, 11, {0, 2, 4, 6, 8, 10}},
                  {"resized", 6, 10, {1, 2, 4, 5, 7, 8}},
                  {"backwards", 4, 9, {8, 5, 3, 0}}};
static MPI_Datatype types[KINDS];

static void make_types(void)
{
    MPI_Datatype t;
    MPI_Type_dup(MPI_DOUBLE, &types[0]);
    MPI_Type_contiguous(4, MPI_DOUBLE, &types[1]);
    MPI_Type_vector(6, 1, 2, MPI_DOUBLE, &types[2]);
    MPI_Type_vector(3, 2, 3, MPI_DOUBLE, &t);
    MPI_Type_create_hindexed(1, (int[]){1}, (MPI_Aint[]){8}, t, &types[3]);
    MPI_Type_free(&t);
    MPI_Type_create_resized(types[3], 0, 80, &t);
    MPI_Type_free(&types[3]);
    types[3] = t;
    MPI_Type_create_hindexed(4, (int[]){1, 1, 1, 1}, (MPI_Aint[]){64, 40, 24, 0}, MPI_DOUBLE,
                             &types[4]);
    for (int k = 0; k < KINDS; k++)
        MPI_Type_commit(&types[k]);
}

/* ---- the model ---- */

static int size_of; /* of the case's blocks; a multiple of 24 */
static int root;

static bool is_v(enum op op)
{
    return op % 2;
}

enum { MOST_RANKS = 4, MOST = 14400 };

static double values[MOST_RANKS][MOST_RANKS][MOST];

static void make_values(void)
{
    for (int from = 0; from < MOST_RANKS; from++)
        for (int to = 0; to < MOST_RANKS; to++)
            for (int i = 0; i < MOST; i++)
                values[from][to][i] = pow(4, from) * sin(i * 0.01 + from + 10 * to) +
                                      0.001 * check_unit((uint64_t)(from * 16 + to), (uint64_t)i);
}

static double value(int from, int to, int i)
{
    return values[from][to][i];
}

/* Elements that `from` sends to `to`: symmetric, for calls in place. */
static int elements(enum op op, int from, int to)
{
    if (op == GATHERV || op == ALLGATHERV)
        to = 0;
    if (op == SCATTERV)
        from = 0;
    return is_v(op) ? size_of / 2 * (((from + to) * 3 + from * to + 1) % 4) : size_of;
}

/* The `to` of a block that goes to many is 0. */
static bool sends(enum op op, int from, int to)
{
    if (op <= GATHERV)
        return to == root;
    if (op <= SCATTERV)
        return from == root;
    return op >= ALLTOALL || to == 0;
}

static double range_of_all(enum op op)
{
    double low = INFINITY, high = -INFINITY;
    for (int from = 0; from < ranks; from++)
        for (int to = 0; to < ranks; to++)
            for (int i = 0; i < elements(op, from, to) && sends(op, from, to); i++) {
                low = fmin(low, value(from, to, i));
                high = fmax(high, value(from, to, i));
            }
    return high - low;
}

/* ---- buffers ---- */

struct buffer {
    const struct kind *kind;
    MPI_Datatype type;
    double *data;
    size_t doubles;
    int blocks;
    int count[8], place[8]; /* of the blocks, in items */
};

/* Blocks with v lie backwards and apart. */
static void buffer_make(struct buffer *b, int kind, int blocks, const int *n, bool v)
{
    *b = (struct buffer){.kind = &kinds[kind], .type = types[kind], .blocks = blocks};
    int at = 0;
    for (int k = 0; k < blocks; k++) {
        int i = v ? blocks - 1 - k : k;
        b->count[i] = n[i] / b->kind->per;
        b->place[i] = at;
        at += b->count[i] + v;
    }
    b->doubles = (size_t)((at + 1) * b->kind->extent);
    b->data = check_alloc(b->doubles * sizeof *b->data);
    memset(b->data, GAP, b->doubles * sizeof *b->data);
}

static double *element(const struct buffer *b, int block, int i)
{
    int item = b->place[block] + i / b->kind->per;
    return b->data + (size_t)(item * b->kind->extent + b->kind->place[i % b->kind->per]);
}

static void put(const struct buffer *b, int block, int from, int to)
{
    for (int i = 0; i < b->count[block] * b->kind->per; i++)
        *element(b, block, i) = value(from, to, i);
}

/* Compare and erase. Returns how many are not what was sent. */
static int take(const struct buffer *b, int block, int from, int to, double most)
{
    int changed = 0;
    for (int i = 0; i < b->count[block] * b->kind->per; i++) {
        double *is = element(b, block, i), off = fabs(*is - value(from, to, i));
        CHECK_SAY(off <= most, "element %d from %d to %d is off by %g, allowed %g", i, from, to,
                  off, most);
        changed += off > 0;
        memset(is, GAP, sizeof *is);
    }
    return changed;
}

/* Nothing but the data was touched. */
static void buffer_free(struct buffer *b)
{
    const unsigned char *bytes = (const unsigned char *)b->data;
    for (size_t i = 0; i < b->doubles * sizeof *b->data; i++)
        CHECK_SAY(bytes[i] == GAP, "byte %zu of a gap was changed", i);
    free(b->data);
}

/* ---- one call ---- */

static void call(enum op op, const struct buffer *s, const struct buffer *r, const void *send,
                 void *recv)
{
    const int *sc = s ? s->count : NO_COUNT, *sp = s ? s->place : NO_COUNT;
    const int *rc = r ? r->count : NO_COUNT, *rp = r ? r->place : NO_COUNT;
    int sn = s ? s->count[0] : -1, rn = r ? r->count[0] : -1;
    MPI_Datatype st = s ? s->type : MPI_DATATYPE_NULL, rt = r ? r->type : MPI_DATATYPE_NULL;
    switch (op) {
    case GATHER:
        OK(MPI_Gather(send, sn, st, recv, rn, rt, root, comm));
        break;
    case GATHERV:
        OK(MPI_Gatherv(send, sn, st, recv, rc, rp, rt, root, comm));
        break;
    case SCATTER:
        OK(MPI_Scatter(send, sn, st, recv, rn, rt, root, comm));
        break;
    case SCATTERV:
        OK(MPI_Scatterv(send, sc, sp, st, recv, rn, rt, root, comm));
        break;
    case ALLGATHER:
        OK(MPI_Allgather(send, sn, st, recv, rn, rt, comm));
        break;
    case ALLGATHERV:
        OK(MPI_Allgatherv(send, sn, st, recv, rc, rp, rt, comm));
        break;
    case ALLTOALL:
        OK(MPI_Alltoall(send, sn, st, recv, rn, rt, comm));
        break;
    default:
        OK(MPI_Alltoallv(send, sc, sp, st, recv, rc, rp, rt, comm));
    }
}

static bool has_send(enum op op)
{
    return (op != SCATTER && op != SCATTERV) || rank == root;
}

static bool has_recv(enum op op)
{
    return (op != GATHER && op != GATHERV) || rank == root;
}

static bool sends_many(enum op op)
{
    return op == SCATTER || op == SCATTERV || op >= ALLTOALL;
}

static bool receives_many(enum op op)
{
    return op != SCATTER && op != SCATTERV;
}

/* The `to` of a block this rank gets. */
static int own_to(enum op op)
{
    return op == ALLGATHER || op == ALLGATHERV ? 0 : rank;
}

static void make_send(enum op op, struct buffer *b, int kind)
{
    int n[8] = {0}, blocks = sends_many(op) ? ranks : 1;
    int to0 = op <= GATHERV ? root : 0;
    for (int k = 0; k < blocks; k++)
        n[k] = elements(op, rank, blocks > 1 || sends_many(op) ? k : to0);
    buffer_make(b, kind, blocks, n, is_v(op) && sends_many(op));
    for (int k = 0; k < blocks; k++)
        put(b, k, rank, sends_many(op) ? k : to0);
}

static void make_recv(enum op op, struct buffer *b, int kind)
{
    int n[8] = {0}, blocks = receives_many(op) ? ranks : 1;
    for (int k = 0; k < blocks; k++)
        n[k] = elements(op, receives_many(op) ? k : root, own_to(op));
    buffer_make(b, kind, blocks, n, is_v(op) && receives_many(op));
}

/* What came; and what was sent, which must be as it was. */
static void check_all(enum op op, struct buffer *s, struct buffer *r)
{
    double most = exact ? 0 : bound * range_of_all(op) * (1 + 1e-12);
    int changed = 0, received = 0;
    bool keeps = op != ALLGATHER && op != ALLGATHERV;
    for (int k = 0; r && k < r->blocks; k++) {
        int from = receives_many(op) ? k : root;
        bool own = from == rank && keeps;
        changed += take(r, k, from, own_to(op), own ? 0 : most);
        received += own ? 0 : r->count[k] * r->kind->per;
    }
    if (!exact && received >= 2000 && ranks > 1)
        CHECK_SAY(changed > received / 2, "%d of %d changed: was anything compressed?", changed,
                  received);
    for (int k = 0; s && k < s->blocks; k++)
        take(s, k, rank, sends_many(op) ? k : op <= GATHERV ? root : 0, 0);
}

static void one(enum op op, int send_kind, int recv_kind, bool in_place)
{
    struct buffer s, r;
    bool send = has_send(op), recv = has_recv(op);
    bool takes_place = in_place && (op <= SCATTERV ? rank == root : true);
    check_say("%s of %d, root %d of %d, %s to %s%s", names[op], size_of, root, ranks,
              kinds[send_kind].name, kinds[recv_kind].name, in_place ? ", in place" : "");
    if (takes_place && !sends_many(op))
        send = false;
    if (takes_place && op >= ALLTOALL)
        send = false;
    if (takes_place && (op == SCATTER || op == SCATTERV))
        recv = false;
    if (send)
        make_send(op, &s, send_kind);
    if (recv)
        make_recv(op, &r, recv_kind);
    for (int k = 0; takes_place && recv && k < ranks; k++)
        if (op >= ALLTOALL || k == rank)
            put(&r, k, rank, op >= ALLTOALL ? k : own_to(op));
    const void *from = send ? s.data : takes_place ? MPI_IN_PLACE : NOWHERE;
    void *to = recv ? r.data : takes_place ? MPI_IN_PLACE : NOWHERE;
    call(op, send ? &s : NULL, recv ? &r : NULL, from, to);
    check_all(op, send ? &s : NULL, recv ? &r : NULL);
    if (send)
        buffer_free(&s);
    if (recv)
        buffer_free(&r);
}

/* ---- bcast ---- */

static void bcast(int kind)
{
    struct buffer b;
    double range = 0, sum = 0, least, most;
    check_say("bcast of %d, root %d of %d, %s", size_of, root, ranks, kinds[kind].name);
    int n = size_of;
    buffer_make(&b, rank == root ? kind : (kind + 1) % KINDS, 1, &n, false);
    for (int i = 0; i < size_of; i++)
        range = fmax(range, fabs(value(root, 0, i)));
    if (rank == root)
        put(&b, 0, root, 0);
    OK(MPI_Bcast(b.data, b.count[0], b.type, root, comm));
    for (int i = 0; i < size_of; i++)
        sum += *element(&b, 0, i) * (1 + i % 7);
    OK(MPI_Allreduce(&sum, &least, 1, MPI_DOUBLE, MPI_MIN, comm));
    OK(MPI_Allreduce(&sum, &most, 1, MPI_DOUBLE, MPI_MAX, comm));
    CHECK_SAY(least == most, "ranks have different data");
    int changed = take(&b, 0, root, 0, exact ? 0 : 2 * bound * range);
    if (!exact && size_of > 2000 && ranks > 1)
        CHECK_SAY(changed > size_of / 2, "%d changed: was anything compressed?", changed);
    buffer_free(&b);
}

static void everything(void)
{
    static const int sizes[] = {0, 24, 9600};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (root = 0; root < ranks; root++) {
            size_of = sizes[k];
            for (int op = 0; op < OPS; op++)
                one((enum op)op, (root + op) % KINDS, (root + (int)k) % KINDS, (root + op) % 2);
            bcast((root + (int)k) % KINDS);
        }
}

/* One datatype to another, in pairs that differ from operation to operation. */
static void pairs(void)
{
    size_of = 2400;
    root = ranks - 1;
    for (int pair = 0; pair < KINDS; pair++)
        for (int op = 0; op < OPS; op++)
            for (int place = 0; place < 2; place++)
                one((enum op)op, pair, (pair + op + place) % KINDS, place);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    exact = argc > 1;
    make_types();
    make_values();
    comm = MPI_COMM_WORLD;
    rank = check_rank(comm);
    ranks = check_ranks(comm);
    everything();
    pairs();

    /* Ranks in another order, and not all of them. */
    MPI_Comm_split(MPI_COMM_WORLD, rank == 1, -rank, &comm);
    rank = check_rank(comm);
    ranks = check_ranks(comm);
    everything();
    MPI_Comm_free(&comm);
    for (int k = 0; k < KINDS; k++)
        MPI_Type_free(&types[k]);
    MPI_Finalize();
    return 0;
}
