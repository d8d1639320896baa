/* request.c - one request inside zmpi-nicd, from its queue to its reply. */
#include "daemon/nicd.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void tell(struct nicd_request *r, const struct nic_reply *reply)
{
    unsigned char message[NIC_MESSAGE_MAX];
    struct nicd_client *c = r->client;
    nicd_send(c, message, nic_reply_write(message, c->session, r->id, reply, c->key));
}

/* ---- queues ---- */

static size_t bytes_of(const struct nic_request *m)
{
    return (size_t)(m->raw.bytes + m->file_bytes + m->out.bytes);
}

void nicd_request_queue(struct nicd_client *c, uint64_t id, const struct nic_request *m)
{
    struct nicd *s = c->server;
    const bool large = bytes_of(m) > s->set.memory;
    struct nicd_request *r = calloc(1, sizeof *r);
    if (!r)
        return; /* the client does not wait for ever */
    *r = (struct nicd_request){
        .server = s, .client = c, .id = id, .m = *m, .wait_sent = zmpi_seconds()};
    if (large || s->queued >= s->set.queue) {
        tell(r, &(struct nic_reply){.outcome = large ? NIC_TOO_LARGE : NIC_BUSY});
        free(r);
        return;
    }
    *c->last = r;
    c->last = &r->next;
    s->queued++;
}

/* ---- the end ---- */

static void end_with(struct nicd_request *r, const struct nic_reply *reply)
{
    tell(r, reply);
    nicd_request_end(r);
}

/* ---- streams that wait for their places ---- */

/* These streams are counted separately. If they shared the limit with requests, a rank that waits
 * for memory could wait for places that its own next request must help to find. */
static void wait_for_place(struct nicd_request *r)
{
    struct nicd *s = r->server;
    if (s->held + r->stream_size > s->set.memory) {
        end_with(r, &(struct nic_reply){.outcome = NIC_BUSY});
        return;
    }
    nicd_request_give(r);
    r->held = true;
    s->held += r->stream_size;
    tell(r, &r->reply);
}

void nicd_request_place(struct nicd_client *c, uint64_t id, const struct nic_place_at *at)
{
    struct nicd_request *r = c->server->all;
    while (r && (r->client != c || r->id != id || !r->held || r->has_place))
        r = r->later;
    if (!r) {
        unsigned char message[NIC_MESSAGE_MAX];
        const struct nic_reply gone = {.outcome = NIC_BUSY};
        nicd_send(c, message, nic_reply_write(message, c->session, id, &gone, c->key));
    } else if (at->offset == 0) {
        end_with(r, &(struct nic_reply){.outcome = NIC_DONE});
    } else {
        r->at = *at;
        r->has_place = true;
        r->place_time = zmpi_seconds();
        r->wait_sent = r->place_time;
        nicd_work(c->server, r);
    }
}

/* ---- data ---- */

static void piece_done(struct nic_op *op, int error, size_t got);

/* Starts the next piece that has not been started; false if there is none. */
static bool ask(struct nicd_request *r, struct nic_op *op, enum nic_kind kind)
{
    const bool in = kind == NIC_READ;
    const size_t all = in ? (size_t)r->m.raw.bytes + r->m.file_bytes : (size_t)r->reply.size;
    const size_t left = all - r->asked;
    const struct nic_remote *remote = in ? &r->m.raw : &r->m.out;
    if (left == 0)
        return false;
    *op = (struct nic_op){.kind = kind,
                          .peer = r->client->peer,
                          .buffer = (in ? r->in : r->out)->at + r->asked,
                          .bytes = left < NICD_PIECE ? left : NICD_PIECE,
                          .desc = (in ? &r->in_memory : &r->out_memory)->desc,
                          .address = remote->address + r->asked,
                          .key = remote->key,
                          .done = piece_done,
                          .owner = r};
    r->asked += op->bytes;
    r->flying++;
    nic_post(&r->server->fabric, op);
    return true;
}

static void transfer(struct nicd_request *r, enum nic_kind kind)
{
    r->asked = 0;
    r->moved = zmpi_seconds();
    for (int i = 0; i < 2; i++)
        ask(r, &r->op[i], kind);
}

static void piece_done(struct nic_op *op, int error, size_t got)
{
    struct nicd_request *r = op->owner;
    const enum nic_kind kind = op->kind;
    (void)got;
    r->flying--;
    r->moved = zmpi_seconds();
    if (error)
        r->error = error;
    if (!r->error && !r->client->gone && ask(r, op, kind))
        return;
    if (r->flying > 0)
        return;
    if (r->error)
        nicd_client_drop(r->client, fi_strerror(r->error));
    if (r->error || r->client->gone)
        nicd_request_end(r);
    else if (kind == NIC_READ)
        nicd_work(r->server, r);
    else
        end_with(r, &r->reply);
}

/* ---- in and out of the engine ---- */

static bool admit(struct nicd_request *r)
{
    struct nicd *s = r->server;
    const size_t in = (size_t)r->m.raw.bytes + r->m.file_bytes, out = (size_t)r->m.out.bytes;
    r->here = &s->all;
    r->later = s->all;
    if (r->later)
        r->later->here = &r->later;
    s->all = r;
    s->admitted++;
    s->used += r->block_bytes = in + out;
    r->client->active++;
    r->in = nic_block_take(&s->blocks, in);
    r->out = nic_block_take(&s->blocks, out);
    if (r->in && r->out) { /* kept blocks may be larger than needed */
        s->used += r->in->bytes + r->out->bytes - r->block_bytes;
        r->block_bytes = r->in->bytes + r->out->bytes;
    }
    nicd_keep_the_rest(s);
    return r->in && r->out && !nic_memory_open(&s->fabric, r->in->at, in, FI_READ, &r->in_memory) &&
           !nic_memory_open(&s->fabric, r->out->at, out ? out : 1, FI_WRITE, &r->out_memory);
}

/* The client whose turn it is waits until there is room: otherwise large requests would wait for
 * ever. */
void nicd_requests_admit(struct nicd *s)
{
    while (s->queued > 0 && s->admitted < s->set.threads + 2) {
        while (!s->next_client->first)
            s->next_client = s->next_client->next;
        const size_t beyond = s->parked > s->set.memory ? s->parked - s->set.memory : 0;
        if (s->used + beyond + bytes_of(&s->next_client->first->m) > s->set.memory)
            return;
        struct nicd_request *r = nicd_unqueue(s->next_client);
        s->next_client = s->next_client->next;
        if (admit(r))
            transfer(r, NIC_READ);
        else
            end_with(r, &(struct nic_reply){.outcome = NIC_TOO_LARGE});
    }
}

int nicd_requests_finish(struct nicd *s)
{
    int n = 0;
    pthread_mutex_lock(&s->lock);
    struct nicd_request *r = s->finished, *next;
    s->finished = NULL;
    pthread_mutex_unlock(&s->lock);
    for (; r; r = next, n++) {
        next = r->next;
        if (r->client->gone)
            nicd_request_end(r);
        else if (r->reply.outcome == NIC_HELD)
            wait_for_place(r);
        else if (r->reply.outcome == NIC_DONE && !r->reply.status && r->reply.size > 0)
            transfer(r, NIC_WRITE);
        else
            end_with(r, &r->reply);
    }
    return n;
}

static void tell_to_wait(struct nicd_request *r, double now)
{
    unsigned char message[NIC_MESSAGE_MAX];
    struct nicd_client *c = r->client;
    if (c->gone || (r->held && !r->has_place) || now - r->wait_sent < r->server->set.timeout / 4)
        return;
    if (now - r->wait_sent > r->server->set.timeout)
        r->late = true;
    r->wait_sent = now;
    nicd_send(c, message, nic_empty_write(message, NIC_WAIT, c->session, r->id, c->key));
}

void nicd_requests_tick(struct nicd *s, double now)
{
    struct nicd_client *c = s->next_client;
    for (unsigned i = 0; i < s->client_count; i++, c = c->next)
        for (struct nicd_request *r = c->first; r; r = r->next)
            tell_to_wait(r, now);
    struct nicd_request *next;
    for (struct nicd_request *r = s->all; r; r = next) {
        if (r->held && !r->has_place && now - r->client->heard > NICD_PATIENCE * s->set.timeout) {
            next = r->later;
            nicd_request_end(r); /* the client is gone, or finds out and does the work itself */
            continue;
        }
        tell_to_wait(r, now);
        if (r->flying > 0 && !r->parked && now - r->moved > s->set.timeout) {
            r->parked = true;
            s->parked += r->block_bytes;
            s->used -= r->block_bytes;
            s->admitted--;
            nicd_client_drop(r->client, "it takes and gives no data");
        }
        next =
            r->later; /* looked up only now: other requests of that client may have gone with it */
    }
}
