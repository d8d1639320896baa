/*
 * offload_write.c - arrays that zmpi-nicd compresses and writes to a file (struct
 * zmpi_device_writer in device.h). The data stay in a block of the plug-in until they are known to
 * be in the file, so that nothing is lost if the daemon dies.
 */
#define _GNU_SOURCE // secure_getenv
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layout/stream.h"
#include "plugin/plugin.h"

/* Bytes of this process that are not known to be in their files. */
#define MOST_PENDING ((size_t)256 << 20)

_Static_assert(ZMPI_CODED_HEAD == ZMPI_STREAM_HEADER_BYTES, "a stream begins with its header");

struct zmpi_write_request {
    struct nic_call *call;
    struct nic_block *raw;
    size_t bytes;
    enum { ASKED, HELD, HAS_PLACE, OVER, STUCK } state;
};

static atomic_size_t pending_bytes;

static void discard(struct zmpi_write_request *h)
{
    atomic_fetch_sub(&pending_bytes, h->bytes);
    nic_block_give(&nic_blocks, h->raw);
    free(h->call);
    free(h);
}

/* The data, followed by id and path of the file. */
static void fill(struct zmpi_write_request *h, const struct zmpi_job *job, const void *src,
                 const char *path, const unsigned char *id)
{
    struct nic_request *m = &h->call->request;
    unsigned char *file = h->raw->at + h->bytes;
    XXH3_state_t state;
    m->job = *job;
    m->raw.bytes = h->bytes;
    m->out.bytes = zmpi_compress_capacity(&job->array);
    zmpi_hash_begin(&state, 0);
    nic_copy_and_hash(&state, h->raw->at, src, h->bytes);
    nic_copy_and_hash(&state, file, id, NIC_FILE_ID);
    nic_copy_and_hash(&state, file + NIC_FILE_ID, path, m->file_bytes - NIC_FILE_ID);
    m->raw_hash = XXH3_64bits_digest(&state);
}

static struct zmpi_write_request *submit(const struct zmpi_job *job, const void *src,
                                         const char *path, const unsigned char id[16])
{
    size_t bytes;
    const size_t file_bytes = NIC_FILE_ID + strlen(path);
    if (zmpi_array_bytes(&job->array, &bytes) || bytes == 0 || file_bytes > NIC_FILE_MAX ||
        !nic_job_valid(job) || atomic_load(&nic_broken))
        return NULL;
    struct zmpi_write_request *h = calloc(1, sizeof *h);
    if (!h)
        return NULL;
    h->bytes = bytes;
    const bool fits = atomic_fetch_add(&pending_bytes, bytes) + bytes <= MOST_PENDING;
    h->call = fits ? calloc(1, sizeof *h->call) : NULL;
    h->raw = h->call ? nic_block_take(&nic_blocks, bytes + file_bytes) : NULL;
    if (!h->raw) {
        discard(h);
        return NULL;
    }
    h->call->raw = h->raw;
    h->call->request.file_bytes = file_bytes;
    fill(h, job, src, path, id);
    if (!nic_client_start(secure_getenv("ZMPI_NIC"), h->call)) {
        discard(h);
        return NULL;
    }
    return h;
}

/* Waits for the answer to the last request; ZMPI_OK if it is `good`. */
static enum zmpi_status answer(struct zmpi_write_request *h, enum nic_outcome good)
{
    nic_said[0] = 0;
    if (h->state == STUCK || !nic_client_wait(h->call)) {
        h->state = STUCK; /* the thread may still use the call, so it stays */
        snprintf(nic_said, sizeof nic_said, NIC_STUCK);
        return ZMPI_ERR_DEVICE;
    }
    const struct nic_reply *r = &h->call->reply;
    h->state = OVER;
    if (h->call->failed) {
        snprintf(nic_said, sizeof nic_said, "%s", h->call->problem);
        return ZMPI_ERR_DEVICE;
    }
    if (r->outcome == NIC_NOT_WRITTEN) {
        snprintf(nic_said, sizeof nic_said, "zmpi-nicd cannot write it: %s",
                 r->size == EXDEV ? "it is not below a folder of its --files"
                                  : strerror((int)r->size));
        return ZMPI_ERR_IO;
    }
    if (r->outcome == good)
        return ZMPI_OK;
    snprintf(nic_said, sizeof nic_said, "zmpi-nicd answers something else than was asked");
    return r->outcome == NIC_BUSY || r->outcome == NIC_TOO_LARGE || r->outcome == NIC_DONE
               ? ZMPI_ERR_UNSUPPORTED
               : ZMPI_ERR_DEVICE;
}

static enum zmpi_status coded(struct zmpi_write_request *h, struct zmpi_coded *c)
{
    const struct nic_request *m = &h->call->request;
    const struct nic_reply *r = &h->call->reply;
    enum zmpi_status status = answer(h, NIC_HELD);
    if (status)
        return status;
    h->state = HELD;
    if (r->size < ZMPI_STREAM_HEADER_BYTES || r->size > m->out.bytes ||
        !nic_is_head_of(&m->job, r->head, (size_t)r->size)) {
        snprintf(nic_said, sizeof nic_said, "zmpi-nicd has made something else than was asked");
        return ZMPI_ERR_DEVICE;
    }
    c->size = (size_t)r->size;
    c->seconds = h->call->took;
    memcpy(c->head, r->head, sizeof c->head);
    memcpy(c->tail, r->tail, sizeof c->tail);
    return ZMPI_OK;
}

static void place(struct zmpi_write_request *h, uint64_t offset, const void *head, size_t head_size)
{
    struct nic_place_at *at = &h->call->at;
    at->offset = offset;
    at->head_size = head_size;
    memcpy(at->head, head, head_size);
    h->call->placing = true;
    h->state = HAS_PLACE;
    nic_client_start(secure_getenv("ZMPI_NIC"), h->call);
}

static enum zmpi_status written(struct zmpi_write_request *h, double *seconds)
{
    enum zmpi_status status = answer(h, NIC_WRITTEN);
    *seconds = status ? 0 : h->call->took;
    return status;
}

static bool ready(const struct zmpi_write_request *h)
{
    return nic_client_done(h->call);
}

static const void *data(const struct zmpi_write_request *h)
{
    return h->raw->at;
}

static void drop(struct zmpi_write_request *h)
{
    struct zmpi_coded c;
    double seconds;
    if (h->state == ASKED)
        (void)coded(h, &c);
    if (h->state == HELD)
        place(h, 0, "", 0);
    if (h->state == HAS_PLACE)
        (void)written(h, &seconds);
    if (h->state != STUCK) /* otherwise the thread may still look at it */
        discard(h);
}

const struct zmpi_device_writer nic_writer = {submit, coded, place, written, ready, data, drop};
