/*
 * perf_collective.c - the collective operations of zmpi-perf. Rank 0 is the root.
 *
 * Rank r's block is the part [r * block, (r + 1) * block) of the long array (perf.h), whoever sends
 * it; in MPI_Alltoall it consists of a piece for each rank.
 */
#include <stdlib.h>
#include <string.h>

#include "app_common.h"
#include "perf.h"

static size_t none(const struct perf_data *d)
{
    (void)d;
    return 0;
}

static size_t one(const struct perf_data *d)
{
    return d->block;
}

static size_t all(const struct perf_data *d)
{
    return d->block * (size_t)d->ranks;
}

static size_t all_on_root(const struct perf_data *d)
{
    return d->rank == 0 ? all(d) : 0;
}

/* ---- bytes that go from one rank to another ---- */

static double to_others(const struct perf_data *d)
{
    return (double)d->block * (double)d->width * (d->ranks - 1);
}

static double from_all_to_others(const struct perf_data *d)
{
    return to_others(d) * d->ranks;
}

/* Of each block, the piece that a rank keeps does not travel. */
static double pieces_to_others(const struct perf_data *d)
{
    return to_others(d);
}

/* ---- the calls ---- */

struct v_form {
    int *counts, *places;
};

static struct v_form v_form(const struct perf_data *d, size_t count)
{
    struct v_form v = {app_allocate((size_t)d->ranks, sizeof(int)),
                       app_allocate((size_t)d->ranks, sizeof(int))};
    for (int i = 0; i < d->ranks; i++) {
        v.counts[i] = (int)count;
        v.places[i] = (int)((size_t)i * count);
    }
    return v;
}

static void v_free(const struct v_form *v)
{
    free(v->counts);
    free(v->places);
}

/* Everything but the call itself is done before the clock starts. */
static double call(const struct perf_run *r, const char *name)
{
    const struct perf_data *d = r->data;
    MPI_Comm comm = r->variant->comm;
    MPI_Datatype type = d->type;
    unsigned char *send = r->send, *recv = r->recv;
    int n = (int)d->block, piece = n / d->ranks, rc = MPI_ERR_OTHER;
    bool alltoall = strncmp(name, "alltoall", 8) == 0;
    struct v_form v = v_form(d, (size_t)(alltoall ? piece : n));
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    if (strcmp(name, "gather") == 0) {
        rc = MPI_Gather(send, n, type, recv, n, type, 0, comm);
    } else if (strcmp(name, "gatherv") == 0) {
        rc = MPI_Gatherv(send, n, type, recv, v.counts, v.places, type, 0, comm);
    } else if (strcmp(name, "scatter") == 0) {
        rc = MPI_Scatter(send, n, type, recv, n, type, 0, comm);
    } else if (strcmp(name, "scatterv") == 0) {
        rc = MPI_Scatterv(send, v.counts, v.places, type, recv, n, type, 0, comm);
    } else if (strcmp(name, "allgather") == 0) {
        rc = MPI_Allgather(send, n, type, recv, n, type, comm);
    } else if (strcmp(name, "allgatherv") == 0) {
        rc = MPI_Allgatherv(send, n, type, recv, v.counts, v.places, type, comm);
    } else if (strcmp(name, "alltoall") == 0) {
        rc = MPI_Alltoall(send, piece, type, recv, piece, type, comm);
    } else if (strcmp(name, "alltoallv") == 0) {
        rc = MPI_Alltoallv(send, v.counts, v.places, type, recv, v.counts, v.places, type, comm);
    } else { /* bcast, bcast_lossy */
        rc = MPI_Bcast(recv, n, type, 0, comm);
    }
    double seconds = MPI_Wtime() - start;
    app_check_io(rc, name, "collective");
    v_free(&v);
    return seconds;
}

/* ---- verification ---- */

static void find_limits(const struct perf_run *r, const char *name, double found,
                        struct perf_limit limit[PERF_COMPONENTS])
{
    const struct perf_data *d = r->data;
    struct perf_range range[PERF_COMPONENTS];
    perf_ranges_clear(range);
    memset(limit, 0, PERF_COMPONENTS * sizeof *limit);
    if (strcmp(name, "bcast") == 0) {
        return;
    }
    perf_data_range(d, 0, strcmp(name, "bcast_lossy") == 0 ? d->block : all(d), range);
    perf_limits(r->variant, range, found, limit);
}

static void check_pieces(const struct perf_run *r, const struct perf_limit limit[PERF_COMPONENTS],
                         struct perf_check *check)
{
    const struct perf_data *d = r->data;
    size_t piece = d->block / (size_t)d->ranks;
    for (size_t i = 0; i < (size_t)d->ranks; i++) {
        perf_data_check(d, r->recv + i * piece * d->width, i * d->block + (size_t)d->rank * piece,
                        piece, limit, check);
    }
}

/* found: the bound that a ratio took. */
static void verify(struct perf_run *r, const struct perf_operation *op, double found)
{
    const struct perf_data *d = r->data;
    size_t count = op->recv_elements(d);
    /* One block, or as many as there are. */
    bool scatter = strncmp(op->name, "scatter", 7) == 0;
    struct perf_limit limit[PERF_COMPONENTS];
    find_limits(r, op->name, found, limit);
    r->check = (struct perf_check){0};
    if (r->options->self_test) {
        perf_data_corrupt(d, r->recv, count, limit);
    }
    if (strncmp(op->name, "alltoall", 8) == 0) {
        check_pieces(r, limit, &r->check);
    } else {
        perf_data_check(d, r->recv, scatter ? (size_t)d->rank * d->block : 0, count, limit,
                        &r->check);
    }
    perf_verdict(r, op, count, limit);
}

/* ---- a repetition ---- */

static void prepare(struct perf_run *r, const struct perf_operation *op)
{
    const struct perf_data *d = r->data;
    char shape[96];
    bool alltoall = strncmp(op->name, "alltoall", 8) == 0;
    if (r->variant->bound == NULL) {
        return;
    }
    snprintf(shape, sizeof shape, "%zux%zux%zu",
             alltoall ? d->slices / (size_t)d->ranks : d->slices, d->extent[1], d->extent[2]);
    perf_library_comm(r->variant, "shape", shape);
    perf_library_comm(r->variant, "collectives", op->collectives);
}

/* Data bytes that this rank had to compress. (The library counts what it passes on, too.) */
static double own_bytes(const struct perf_data *d, const struct perf_operation *op)
{
    double block = (double)d->block * (double)d->width;
    bool root = d->rank == 0;
    if (strncmp(op->name, "gather", 6) == 0) {
        return root ? 0 : block;
    }
    if (strncmp(op->name, "scatter", 7) == 0) {
        return root ? block * (d->ranks - 1) : 0;
    }
    if (strncmp(op->name, "alltoall", 8) == 0) {
        return block / d->ranks * (d->ranks - 1);
    }
    return root || strncmp(op->name, "allgather", 9) == 0 ? block : 0;
}

/* Data bytes that this rank had to decode: what came from others. */
static double foreign_bytes(const struct perf_data *d, const struct perf_operation *op)
{
    double recv = (double)op->recv_elements(d), own = 0;
    if (strncmp(op->name, "bcast", 5) == 0 || strncmp(op->name, "scatter", 7) == 0) {
        own = d->rank == 0 ? recv : 0;
    } else if (recv > 0) {
        own = recv / d->ranks;
    }
    return (recv - own) * (double)d->width;
}

static void repeat(struct perf_run *r, const struct perf_operation *op, struct perf_part *part)
{
    const struct perf_data *d = r->data;
    struct perf_part before = {0};
    bool bcast_root = strncmp(op->name, "bcast", 5) == 0 && d->rank == 0;
    if (bcast_root) {
        perf_data_fill(d, r->recv, 0, d->block);
    } else {
        memset(r->recv, 0x55, op->recv_elements(d) * d->width);
    }
    perf_library_comm_part(r->variant->comm, &before);
    double seconds = call(r, op->name);
    if (perf_library_comm_part(r->variant->comm, part)) {
        part->scan -= before.scan;
        part->compress -= before.compress;
        part->decode -= before.decode;
        part->raw -= before.raw;
        part->stored -= before.stored;
        part->compressed -= before.compressed;
        part->coded = part->compressed > 0 ? own_bytes(d, op) : 0;
        part->decoded = part->compressed > 0 ? foreign_bytes(d, op) : 0;
    }
    part->seconds = seconds;
    verify(r, op, part->bound);
    memcpy(part->largest, r->check.largest, sizeof part->largest);
}

/* Name, buffers of this rank, bytes that travel, the option's value. */
#define COLLECTIVES(X)                                                                             \
    X(gather, one, all_on_root, to_others, gather)                                                 \
    X(gatherv, one, all_on_root, to_others, gather)                                                \
    X(scatter, all_on_root, one, to_others, scatter)                                               \
    X(scatterv, all_on_root, one, to_others, scatter)                                              \
    X(allgather, one, all, from_all_to_others, allgather)                                          \
    X(allgatherv, one, all, from_all_to_others, allgather)                                         \
    X(alltoall, one, one, pieces_to_others, alltoall)                                              \
    X(alltoallv, one, one, pieces_to_others, alltoall)                                             \
    X(bcast, none, one, to_others, bcast)                                                          \
    X(bcast_lossy, none, one, to_others, bcast_lossy)

static const struct perf_operation operations[] = {
#define X(name, send, recv, bytes, option)                                                         \
    {#name, prepare, NULL, repeat, send, recv, bytes, false, false, #option},
    COLLECTIVES(X)
#undef X
};

const struct perf_operation *perf_collective_operation(const char *name)
{
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        if (strcmp(name, operations[i].name) == 0) {
            return operations + i;
        }
    }
    return NULL;
}

const char *perf_collective_names(void)
{
    return "gather, scatter, allgather, alltoall, each with its v form, bcast, bcast_lossy";
}
