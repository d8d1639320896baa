/*
 * gather.c - MPI_Gather of compressed contributions (CEAZ 2.3, 3.3).
 *
 * Whether a call is compressed follows from what MPI's type matching makes equal on all ranks: the
 * bytes per rank and the communicator. Each payload then says itself how it is coded: a rank that
 * cannot compress sends raw inside the same protocol.
 *     1. range of all contributions, and whether the root has memory     MPI_Allreduce
 *     2. sizes of the payloads to the root                              MPI_Gather
 *     3. payloads                                                       MPI_Gatherv, in units of 64
 * bytes
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "wrappers.h"

/* Counts and displacements of MPI_Gatherv are ints: units this large reach 128 GiB. */
enum { UNIT = 64 };

/* One call on this rank. */
struct call {
    MPI_Comm comm;
    int root, rank, ranks;
    uint64_t bytes;        /* of one rank */
    bool in_place;         /* the root's contribution is where it belongs already */
    struct zmemory memory; /* what this rank contributes */
    unsigned char *payload;
    uint64_t size; /* of the payload */
    bool raw;
};

static bool listed(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = list; (p = strstr(p, name)); p += n)
        if ((p == list || p[-1] == ',') && (p[n] == 0 || p[n] == ','))
            return true;
    return false;
}

/* The same answer on all ranks: every term is. */
static bool worth_it(struct call *c, int count, MPI_Datatype datatype)
{
    const struct zmpi_options *o = zruntime_options();
    MPI_Count size;
    int inter;
    if (!o->bound_set || !listed(o->collectives, "gather") || count <= 0)
        return false;
    if (PMPI_Comm_test_inter(c->comm, &inter) || inter || PMPI_Comm_size(c->comm, &c->ranks) ||
        c->ranks < 2)
        return false;
    if (PMPI_Comm_rank(c->comm, &c->rank) || PMPI_Type_size_x(datatype, &size) || size <= 0)
        return false;
    c->bytes = (uint64_t)size * (uint64_t)count;
    return c->bytes >= o->collective_min && c->bytes / UNIT * (uint64_t)c->ranks < INT_MAX / 2;
}

static struct zmpi_bound bound_of(enum zmpi_type element)
{
    const struct zmpi_options *o = zruntime_options();
    bool is_float = element == ZMPI_F32 || element == ZMPI_F64;
    return is_float ? o->bound : (struct zmpi_bound){ZMPI_LOSSLESS, 0};
}

/* Step 1. Returns false on all ranks if any of them lacks memory. */
static bool agree(struct call *c, bool ready, struct zmpi_range *range)
{
    struct zmpi_range own = ZMPI_RANGE_EMPTY;
    const struct zmpi_options *o = zruntime_options();
    struct zmpi_bound bound = bound_of(c->memory.element);
    if (c->memory.data && zmpi_bound_needs_range(&bound))
        zmpi_range_scan(c->memory.element, c->memory.data,
                        c->memory.bytes / zmpi_type_size(c->memory.element), o->threshold,
                        zruntime_threads(o), &own);
    double mine[4] = {own.min, -own.max, own.fill, ready ? 1 : 0}, all[4];
    if (PMPI_Allreduce(mine, all, 4, MPI_DOUBLE, MPI_MIN, c->comm))
        return false;
    *range = (struct zmpi_range){all[0], -all[1], all[2]};
    return all[3] > 0;
}

static void compress(struct call *c, const struct zmpi_range *range)
{
    const struct zmpi_options *o = zruntime_options();
    struct zmpi_bound bound = bound_of(c->memory.element);
    struct zmpi_array a = {c->memory.element,
                           {c->memory.shape[0], c->memory.shape[1], c->memory.shape[2]}};
    struct zmpi_job job = {.abs_bound = 0};
    const char *why;
    size_t size = 0;
    const struct zmpi_device *device = zmpi_device_find(o->device, c->bytes, &why);
    if (!device)
        device = zmpi_device_cpu();
    bool failed = zmpi_job_make(&a, &bound, range, &job);
    zmpi_job_threshold(&job, o->threshold);
    job.threads = zruntime_threads(o);
    c->raw =
        failed ||
        device->compress(&job, c->payload, zmpi_compress_capacity(&a), c->memory.data, &size) ||
        size >= c->bytes;
    if (c->raw)
        memcpy(c->payload, c->memory.data, c->bytes);
    c->size = c->raw ? c->bytes : size;
}

static uint64_t units(uint64_t size)
{
    return (size + UNIT - 1) / UNIT;
}

/* Root: one payload into its place in the receive buffer. */
static int place(const struct call *c, const unsigned char *payload, uint64_t tag,
                 unsigned char *scratch, void *dst, int count, MPI_Datatype type)
{
    uint64_t size = tag >> 1;
    unsigned char *direct = zmemory_direct(dst, count, type);
    const unsigned char *bytes = payload;
    if (tag & 1) {
        if (size != c->bytes)
            return MPI_ERR_OTHER;
        if (direct)
            memcpy(direct, payload, size);
    } else {
        struct zmpi_stream_info info;
        enum zmpi_status status = zmpi_stream_info(payload, size, &info);
        if (!status && info.decoded_bytes != c->bytes)
            status = ZMPI_ERR_CORRUPT;
        /* Checked before decoding, so that nothing damaged reaches the program. */
        if (!status)
            status = zmpi_device_cpu()->decompress(scratch, c->bytes, payload, size, NULL,
                                                   zruntime_threads(zruntime_options()));
        if (status)
            return MPI_ERR_OTHER;
        bytes = scratch;
        if (direct)
            memcpy(direct, scratch, c->bytes);
    }
    return direct ? MPI_SUCCESS : zmemory_unpack(dst, count, type, bytes, c->bytes);
}

/* Everything the root needs for one call. */
struct receiver {
    uint64_t *tag;
    int *counts, *displacements;
    unsigned char *payloads, *scratch;
};

static void receiver_free(struct receiver *r)
{
    free(r->tag);
    free(r->counts);
    free(r->displacements);
    free(r->payloads);
    free(r->scratch);
}

static bool receiver_make(struct receiver *r, const struct call *c)
{
    size_t n = (size_t)c->ranks;
    r->tag = calloc(n, sizeof *r->tag);
    r->counts = calloc(n, sizeof *r->counts);
    r->displacements = calloc(n, sizeof *r->displacements);
    /* The most that can come; pages that are not needed are never touched. */
    r->payloads = malloc(n * (c->bytes + UNIT));
    r->scratch = malloc(c->bytes);
    return r->tag && r->counts && r->displacements && r->payloads && r->scratch;
}

static int exchange(struct call *c, struct receiver *r, uint64_t *received)
{
    uint64_t tag = c->rank == c->root ? 1 : c->size << 1 | (c->raw ? 1 : 0);
    MPI_Datatype unit;
    int rc = PMPI_Gather(&tag, 1, MPI_UINT64_T, r->tag, 1, MPI_UINT64_T, c->root, c->comm);
    uint64_t at = 0;
    for (int i = 0; c->rank == c->root && i < c->ranks; i++) {
        r->counts[i] = i == c->root ? 0 : (int)units(r->tag[i] >> 1);
        r->displacements[i] = (int)at;
        at += (uint64_t)r->counts[i];
    }
    *received = at * UNIT;
    if (rc)
        return rc;
    PMPI_Type_contiguous(UNIT, MPI_BYTE, &unit);
    PMPI_Type_commit(&unit);
    int mine = c->rank == c->root ? 0 : (int)units(c->size);
    rc = PMPI_Gatherv(c->payload, mine, unit, r->payloads, r->counts, r->displacements, unit,
                      c->root, c->comm);
    PMPI_Type_free(&unit);
    return rc;
}

static int place_all(struct call *c, struct receiver *r, void *recvbuf, int count,
                     MPI_Datatype type)
{
    MPI_Aint lb, extent;
    int worst = PMPI_Type_get_extent(type, &lb, &extent);
    for (int i = 0; i < c->ranks && !worst; i++) {
        unsigned char *dst = (unsigned char *)recvbuf + (MPI_Aint)i * count * extent;
        const unsigned char *payload = r->payloads + (size_t)r->displacements[i] * UNIT;
        if (i == c->root) {
            if (!c->in_place)
                worst = zmemory_unpack(dst, count, type, c->memory.data, c->bytes);
            continue;
        }
        worst = place(c, payload, r->tag[i], r->scratch, dst, count, type);
        if (worst)
            zmpi_log(ZMPI_LOG_ERROR,
                     "MPI_Gather: the payload of rank %d (%llu bytes for %llu) is damaged", i,
                     (unsigned long long)(r->tag[i] >> 1), (unsigned long long)c->bytes);
    }
    return worst;
}

static int raise(const struct call *c, int rc)
{
    if (rc)
        PMPI_Comm_call_errhandler(c->comm, rc);
    return rc;
}

/* Memory for this rank's part; false if there is none. The root's contribution is needed for the
 * range only. */
static bool get_ready(struct call *c, struct receiver *r, const void *buf, int count,
                      MPI_Datatype type)
{
    if (zmemory_pack(&c->memory, buf, count, type))
        return false;
    if (c->rank == c->root)
        return receiver_make(r, c);
    struct zmpi_array a = {c->memory.element,
                           {c->memory.shape[0], c->memory.shape[1], c->memory.shape[2]}};
    size_t capacity = zmpi_compress_capacity(&a);
    c->payload = capacity ? calloc(1, (capacity > c->bytes ? capacity : c->bytes) + UNIT) : NULL;
    return c->payload;
}

static const void *own_place(const struct call *c, const void *recvbuf, int count,
                             MPI_Datatype type)
{
    MPI_Aint lb, extent;
    PMPI_Type_get_extent(type, &lb, &extent);
    return (const unsigned char *)recvbuf + (MPI_Aint)c->rank * count * extent;
}

int zw_gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
              int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    /* The root may send in place: its receive arguments say the same then. Otherwise only a root's
     * receive arguments mean anything (MPI 3.1, 5.5). */
    struct call c = {.comm = comm, .root = root, .rank = -1, .in_place = sendbuf == MPI_IN_PLACE};
    struct receiver r = {0};
    struct zmpi_range range;
    double start = zseconds();
    uint64_t received = 0;
    int count = c.in_place ? recvcount : sendcount;
    MPI_Datatype type = c.in_place ? recvtype : sendtype;
    if (!worth_it(&c, count, type))
        return PMPI_Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);

    const void *buf = c.in_place ? own_place(&c, recvbuf, count, type) : sendbuf;
    bool ready = get_ready(&c, &r, buf, count, type), go = agree(&c, ready, &range);
    int rc = MPI_SUCCESS;
    if (go) {
        if (c.rank != root)
            compress(&c, &range);
        rc = exchange(&c, &r, &received);
        if (!rc && c.rank == root)
            rc = raise(&c, place_all(&c, &r, recvbuf, recvcount, recvtype));
        zreport_gather(c.rank == root ? c.bytes * (uint64_t)(c.ranks - 1) : 0, received,
                       zseconds() - start);
    }
    zmemory_free(&c.memory);
    free(c.payload);
    receiver_free(&r);
    return go ? rc
              : PMPI_Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}
