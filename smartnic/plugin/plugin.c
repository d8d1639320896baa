/*
 * plugin.c - the SmartNIC as zmpi sees it: libzmpi_smartnic.so. The plug-in copies the array to its
 * own memory, from which zmpi-nicd fetches it. It copies the result to its place after it has
 * checked that this is what was asked for. So nothing that comes late can change memory of the
 * program.
 */
#define _GNU_SOURCE // secure_getenv
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/rate.h"
#include "layout/plan.h"
#include "layout/stream.h"
#include "plugin/plugin.h"

/* Seconds that a process may lose to daemons that fail now and then. */
#define MOST_LOST ((size_t)256 << 20)
/* A call whose daemon fails is tried once more, in a new session. */
#define TRIES 2

__attribute__((visibility("default"))) const struct zmpi_device *zmpi_device_plugin(void);

static atomic_size_t lost; /* bytes of blocks to which a daemon may still write */

static const char *problem(void)
{
    return nic_said[0] ? nic_said : NULL;
}

/* Says what is wrong with the setting. The first call finds out whether the daemon lives. */
static const char *probe(void)
{
    static char missing[256];
    struct nic_place place;
    const char *path = secure_getenv("ZMPI_NIC");
    if (!path || !*path)
        return "ZMPI_NIC does not name the file that zmpi-nicd has made";
    if (!nic_place_read(path, &place, missing))
        return missing;
    return nic_libfabric();
}

/* ---- data ---- */

static uint64_t copy_and_hash(unsigned char *dst, const unsigned char *src, size_t size)
{
    XXH3_state_t state;
    zmpi_hash_begin(&state, 0);
    nic_copy_and_hash(&state, dst, src, size);
    return XXH3_64bits_digest(&state);
}

/* Is dst a stream of this job? The daemon's hash covers the chunks and their checksums. */
static bool is_stream_of(const struct zmpi_job *job, const unsigned char *dst, size_t size)
{
    struct zmpi_stream s;
    return zmpi_stream_parse(&s, dst, size) == ZMPI_OK && s.info.length == size &&
           nic_is_head_of(job, dst, size);
}

/* Of a stream that it cannot decode, the daemon says why. What it cannot compress, the CPU does. */
static enum zmpi_status failure(const struct nic_call *call)
{
    const enum zmpi_status status = call->reply.status;
    return status == ZMPI_ERR_SPACE || (call->request.decode && status != ZMPI_ERR_MEMORY)
               ? status
               : ZMPI_ERR_UNSUPPORTED;
}

/* Copies to dst what the reply promises. */
static enum zmpi_status fetch(const struct nic_call *call, void *dst, size_t *size)
{
    const struct nic_reply *r = &call->reply;
    const struct nic_request *m = &call->request;
    if (r->status)
        return failure(call);
    if (r->size < (m->decode ? m->out.bytes : ZMPI_STREAM_HEADER_BYTES) || r->size > m->out.bytes ||
        copy_and_hash(dst, call->out->at, (size_t)r->size) != r->hash ||
        !(m->decode || is_stream_of(&m->job, dst, (size_t)r->size))) {
        snprintf(nic_said, sizeof nic_said, "zmpi-nicd sent back something else than it says");
        return ZMPI_ERR_DEVICE;
    }
    *size = (size_t)r->size;
    return ZMPI_OK;
}

/* ---- one call ---- */

static void return_blocks(struct nic_call *call)
{
    const bool lose = call->failed && call->sent;
    void (*back)(struct nic_blocks *, struct nic_block *) = lose ? nic_block_lose : nic_block_give;
    if (lose)
        atomic_fetch_add(&lost, call->raw->bytes + call->out->bytes);
    back(&nic_blocks, call->raw);
    back(&nic_blocks, call->out);
    free(call);
}

/* Data that got lost on their way are worth another try. What the daemon has no room or time for,
 * the CPU does. */
static enum zmpi_status outcome(struct nic_call *call, void *dst, size_t *size)
{
    if (call->failed) {
        snprintf(nic_said, sizeof nic_said, "%s", call->problem);
        return ZMPI_ERR_DEVICE;
    }
    if (call->reply.outcome == NIC_DONE)
        return fetch(call, dst, size);
    if (call->reply.outcome != NIC_LOST)
        return ZMPI_ERR_UNSUPPORTED;
    snprintf(nic_said, sizeof nic_said, "zmpi-nicd received something else than was sent");
    return ZMPI_ERR_DEVICE;
}

/* job NULL: src is a stream, and dst has room for exactly its array. */
static enum zmpi_status ask(const struct zmpi_job *job, void *dst, size_t capacity, const void *src,
                            size_t bytes, size_t *size)
{
    struct nic_call *call = calloc(1, sizeof *call);
    if (!call)
        return ZMPI_ERR_MEMORY;
    call->raw = nic_block_take(&nic_blocks, bytes);
    call->out = nic_block_take(&nic_blocks, capacity);
    if (!call->raw || !call->out) {
        return_blocks(call);
        return ZMPI_ERR_MEMORY;
    }
    if (job)
        call->request.job = *job;
    call->request.decode = !job;
    call->request.raw.bytes = bytes;
    call->request.out.bytes = capacity;
    call->request.raw_hash = copy_and_hash(call->raw->at, src, bytes);
    if (nic_client_start(secure_getenv("ZMPI_NIC"), call) && !nic_client_wait(call)) {
        snprintf(nic_said, sizeof nic_said, NIC_STUCK);
        return ZMPI_ERR_DEVICE; /* the thread may still use the call, so it stays */
    }
    enum zmpi_status status = outcome(call, dst, size);
    return_blocks(call);
    return status;
}

static enum zmpi_status ask_twice(const struct zmpi_job *job, void *dst, size_t capacity,
                                  const void *src, size_t bytes, size_t *size)
{
    enum zmpi_status status = ZMPI_ERR_DEVICE;
    for (int i = 0; i < TRIES && status == ZMPI_ERR_DEVICE; i++)
        status = ask(job, dst, capacity, src, bytes, size);
    if (status == ZMPI_ERR_DEVICE || atomic_load(&lost) > MOST_LOST)
        atomic_store(&nic_broken, true);
    return status;
}

/* ---- the device ---- */

static struct zmpi_rate rates[ZMPI_ENCODERS][2]; /* coding, decoding */

/* The first estimate: messages to a process of the same node and back, data over a link of 16
 * Gbit/s, and an engine of the SmartNIC that keeps up with it. */
static double guess(size_t bytes)
{
    return 200e-6 + (double)bytes / 2e9;
}

static double cost(const struct zmpi_work *work)
{
    if (atomic_load(&nic_broken) || work->encoder == ZMPI_INTERP) /* only if the user names this
                                                                   * device */
        return HUGE_VAL;
    return zmpi_rate_expect(&rates[work->encoder - ZMPI_FLE][work->decompress], work->bytes,
                            guess(work->bytes));
}

/* A refusal takes time, too. */
static void learn(struct zmpi_rate *rate, enum zmpi_status status, size_t bytes, double begin)
{
    if (!status || status == ZMPI_ERR_UNSUPPORTED)
        zmpi_rate_learn(rate, bytes, guess(bytes), zmpi_seconds() - begin);
}

static enum zmpi_status compress(const struct zmpi_job *job, void *dst, size_t dst_capacity,
                                 const void *src, size_t *size)
{
    size_t bytes, most = zmpi_compress_capacity(&job->array);
    enum zmpi_status status = zmpi_array_bytes(&job->array, &bytes);
    nic_said[0] = 0;
    if (status)
        return status;
    if (bytes == 0 || most == 0 || !nic_job_valid(job) || atomic_load(&nic_broken))
        return ZMPI_ERR_UNSUPPORTED;
    if (dst_capacity < ZMPI_STREAM_HEADER_BYTES)
        return ZMPI_ERR_SPACE;
    const double begin = zmpi_seconds();
    status = ask_twice(job, dst, dst_capacity < most ? dst_capacity : most, src, bytes, size);
    learn(&rates[job->encoder - ZMPI_FLE][0], status, bytes, begin);
    return status;
}

/* Decoding a part is not worth the transfer. */
static enum zmpi_status decompress(void *dst, size_t dst_capacity, const void *src, size_t src_size,
                                   const unsigned char *need, int threads)
{
    struct zmpi_stream_info info;
    size_t size;
    nic_said[0] = 0;
    if (need)
        return zmpi_device_cpu()->decompress(dst, dst_capacity, src, src_size, need, threads);
    enum zmpi_status status = zmpi_stream_info(src, src_size, &info);
    if (status)
        return status;
    if (dst_capacity < info.decoded_bytes)
        return ZMPI_ERR_SPACE;
    if (info.decoded_bytes == 0 || atomic_load(&nic_broken))
        return ZMPI_ERR_UNSUPPORTED;
    const double begin = zmpi_seconds();
    status = ask_twice(NULL, dst, info.decoded_bytes, src, src_size, &size);
    learn(&rates[info.encoder - ZMPI_FLE][1], status, info.decoded_bytes, begin);
    return status;
}

const struct zmpi_device *zmpi_device_plugin(void)
{
    static const struct zmpi_device device = {
        .size = sizeof device,
        .abi = ZMPI_DEVICE_ABI,
        .memory = ZMPI_MEMORY_HOST,
        .encoders = 1u << ZMPI_FLE | 1u << ZMPI_HUFFMAN | 1u << ZMPI_INTERP,
        .name = "smartnic",
        .probe = probe,
        .cost = cost,
        .compress = compress,
        .decompress = decompress,
        .problem = problem,
        .writer = &nic_writer,
    };
    return &device;
}
