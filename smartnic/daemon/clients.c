/* clients.c - the clients of zmpi-nicd, and what the daemon has of each: messages to it, its
 * requests. */
#include "daemon/nicd.h"

#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

/* ---- requests ---- */

struct nicd_request *nicd_unqueue(struct nicd_client *c)
{
    struct nicd_request *r = c->first;
    c->first = r->next;
    if (!c->first)
        c->last = &c->first;
    c->server->queued--;
    return r;
}

/* Memory kept from earlier requests counts, too. */
void nicd_keep_the_rest(struct nicd *s)
{
    nic_blocks_limit(&s->blocks, s->set.memory > s->used ? s->set.memory - s->used : 0);
}

void nicd_request_give(struct nicd_request *r)
{
    struct nicd *s = r->server;
    nic_memory_close(&r->in_memory);
    nic_memory_close(&r->out_memory);
    *(r->parked ? &s->parked : &s->used) -= r->block_bytes;
    nicd_keep_the_rest(s);
    nic_block_give(&s->blocks, r->in);
    nic_block_give(&s->blocks, r->out);
    s->admitted -= !r->parked;
}

static void free_client(struct nicd_client *c)
{
    nic_peer_remove(&c->server->fabric, c->peer);
    free(c);
}

void nicd_client_release(struct nicd_client *c)
{
    if (--c->active == 0 && c->gone)
        free_client(c);
}

void nicd_request_end(struct nicd_request *r)
{
    struct nicd *s = r->server;
    if (r->held)
        s->held -= r->stream_size;
    else
        nicd_request_give(r);
    free(r->stream);
    free(r->path);
    s->served++;
    r->client->served++;
    *r->here = r->later;
    if (r->later)
        r->later->here = r->here;
    nicd_client_release(r->client);
    free(r);
}

void nicd_requests_forget(struct nicd_client *c)
{
    struct nicd_request *next;
    while (c->first)
        free(nicd_unqueue(c));
    for (struct nicd_request *r = c->server->all; r; r = next) {
        next = r->later;
        if (r->client == c && r->held && !r->has_place)
            nicd_request_end(r);
    }
}

/* ---- clients ---- */

/* Takes the client out of the circle. */
static void unlink_client(struct nicd_client *c)
{
    struct nicd *s = c->server;
    c->next->previous = c->previous;
    c->previous->next = c->next;
    if (s->next_client == c)
        s->next_client = c->next == c ? NULL : c->next;
    s->client_count--;
    s->proven_count -= c->proven;
}

void nicd_clients_free(struct nicd *s)
{
    struct nicd_client *c = s->next_client, *next;
    if (!c)
        return;
    c->previous->next = NULL; /* the circle becomes a list */
    for (; c; c = next) {
        next = c->next;
        nicd_requests_forget(c);
        free(c);
    }
    s->next_client = NULL;
}

void nicd_client_drop(struct nicd_client *c, const char *why)
{
    if (c->gone)
        return;
    zmpi_log(ZMPI_LOG_INFO, "client %016llx: %s; %llu of %llu requests meanwhile",
             (unsigned long long)c->session, why, (unsigned long long)c->served,
             (unsigned long long)(c->server->served - c->served_before));
    c->gone = true;
    nicd_requests_forget(c);
    unlink_client(c);
}

/* ---- messages ---- */

static void sent(struct nic_op *op, int error, size_t got)
{
    struct nicd_client *c = op->owner;
    (void)got;
    nic_slot_give(&c->server->fabric, (struct nic_slot *)op);
    if (error)
        nicd_client_drop(c, fi_strerror(error));
    nicd_client_release(c);
}

void nicd_send(struct nicd_client *c, const unsigned char *bytes, size_t size)
{
    struct nic_slot *slot = c->gone ? NULL : nic_slot_take(&c->server->fabric);
    if (!slot)
        return;
    memcpy(slot->bytes, bytes, size);
    slot->op.kind = NIC_SEND;
    slot->op.bytes = size;
    slot->op.peer = c->peer;
    slot->op.done = sent;
    slot->op.owner = c;
    c->active++;
    nic_post(&c->server->fabric, &slot->op);
}
