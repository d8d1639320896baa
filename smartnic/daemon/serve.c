/* serve.c - zmpi-nicd greets clients, takes their messages, and runs the daemon's loop. */
#include "daemon/nicd.h"

#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/log.h"

/* Receives posted at a time, and messages on their way out. */
enum { RECEIVES = 64, SENDS = 1024 };

/* The number of sessions that were welcomed and have proven nothing yet. Somebody who has seen a
 * HELLO on the network can send it again, but cannot use the session; it takes no place from a
 * client. */
enum { GREETED_MOST = 64 };

/* ---- sending ---- */

/* ---- clients ---- */

/* Drops a client, and frees it at once if nothing is done for it. */
static void dismiss(struct nicd_client *c, const char *why)
{
    c->active++;
    nicd_client_drop(c, why);
    nicd_client_release(c);
}

/* The one of these clients that has been silent for longest, if nothing is done for it. */
static struct nicd_client *silent(struct nicd *s, bool proven)
{
    struct nicd_client *c = s->next_client, *oldest = NULL;
    for (unsigned i = 0; i < s->client_count; i++, c = c->next)
        if (c->proven == proven && !c->first && c->active == 0 &&
            (!oldest || c->heard < oldest->heard))
            oldest = c;
    return oldest;
}

static void send_bye(struct nicd_client *c, const char *why)
{
    unsigned char message[NIC_MESSAGE_MAX];
    nicd_send(c, message, nic_empty_write(message, NIC_BYE, c->session, 0, c->key));
    dismiss(c, why);
}

static bool is_full(const struct nicd *s)
{
    return s->proven_count >= s->set.clients;
}

/* Is there room for another greeting? It may replace the oldest greeting. It replaces a client only
 * once it has proven itself. */
static bool may_greet(struct nicd *s)
{
    if (is_full(s) && !silent(s, true))
        return false;
    if (s->client_count - s->proven_count < GREETED_MOST)
        return true;
    struct nicd_client *oldest = silent(s, false);
    if (oldest)
        dismiss(oldest, "greeted, and never came");
    return oldest != NULL;
}

/* The first message with the session's key: from now on the session counts. False: there is no
 * place. */
static bool prove(struct nicd_client *c)
{
    struct nicd *s = c->server;
    if (c->proven)
        return true;
    if (is_full(s)) {
        struct nicd_client *oldest = silent(s, true);
        if (!oldest)
            return false;
        send_bye(oldest, "silent for longest, another one comes");
    }
    c->proven = true;
    s->proven_count++;
    return true;
}

static struct nicd_client *add_client(struct nicd *s, const struct nic_hello *hello)
{
    struct nicd_client *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->server = s;
    c->last = &c->first;
    memcpy(c->nonce, hello->nonce, NIC_NONCE);
    c->heard = zmpi_seconds();
    c->served_before = s->served;
    if (!nic_random(&c->session, sizeof c->session) ||
        nic_peer_add(&s->fabric, hello->address, &c->peer)) {
        free(c);
        return NULL;
    }
    struct nicd_client *at = s->next_client ? s->next_client : c;
    if (!s->next_client)
        s->next_client = c->next = c->previous = c;
    c->next = at;
    c->previous = at->previous;
    at->previous->next = c;
    at->previous = c;
    s->client_count++;
    return c;
}

static struct nicd_client *find_client(struct nicd *s, uint64_t session)
{
    struct nicd_client *c = s->next_client;
    for (unsigned i = 0; i < s->client_count; i++, c = c->next)
        if (c->session == session)
            return c;
    return NULL;
}

/* ---- messages ---- */

static void refuse(struct nicd_client *c, const struct nic_hello *hello, enum nic_reason reason)
{
    unsigned char message[NIC_MESSAGE_MAX];
    struct nic_refused m = {.reason = reason, .codec = nic_codec()};
    memcpy(m.client_nonce, hello->nonce, NIC_NONCE);
    nicd_send(c, message, nic_refused_write(message, &m, c->server->place.secret));
    dismiss(c, "refused");
}

/* A client makes a new nonce for each greeting: a known one was recorded and sent again. */
static bool is_repeated(struct nicd *s, const struct nic_hello *hello)
{
    struct nicd_client *c = s->next_client;
    for (unsigned i = 0; i < s->client_count; i++, c = c->next)
        if (memcmp(c->nonce, hello->nonce, NIC_NONCE) == 0)
            return true;
    return false;
}

static void on_hello(struct nicd *s, const struct nic_head *head, const unsigned char *src,
                     size_t size)
{
    unsigned char message[NIC_MESSAGE_MAX];
    struct nic_hello hello;
    struct nic_welcome welcome = {.most = s->set.memory};
    if (!nic_message_check(src, size, s->place.secret) || !nic_hello_read(src, &hello) ||
        is_repeated(s, &hello))
        return;
    const bool same = head->version == NIC_VERSION && hello.codec == nic_codec();
    const bool admitted = same && may_greet(s);
    struct nicd_client *c = add_client(s, &hello);
    if (!c)
        return;
    if (head->version != NIC_VERSION) {
        refuse(c, &hello, NIC_OTHER_VERSION);
    } else if (hello.codec != nic_codec()) {
        refuse(c, &hello, NIC_OTHER_CODEC);
    } else if (!admitted || !nic_random(welcome.server_nonce, NIC_NONCE)) {
        refuse(c, &hello, NIC_TOO_MANY_CLIENTS);
    } else {
        memcpy(welcome.client_nonce, hello.nonce, NIC_NONCE);
        nic_session_key(s->place.secret, hello.nonce, welcome.server_nonce, c->key);
        zmpi_log(ZMPI_LOG_INFO, "client %016llx: welcome", (unsigned long long)c->session);
        nicd_send(c, message, nic_welcome_write(message, c->session, &welcome, s->place.secret));
    }
}

/* The daemon does not answer messages that are not from its clients, so that nobody learns anything
 * by trying. */
static void on_message(struct nicd *s, const unsigned char *src, size_t size)
{
    struct nic_head head;
    struct nic_request request;
    struct nic_place_at at;
    if (!nic_head_read(src, size, &head))
        return;
    if (head.type == NIC_HELLO) {
        on_hello(s, &head, src, size);
        return;
    }
    struct nicd_client *c = find_client(s, head.session);
    if (!c || head.version != NIC_VERSION || !nic_message_check(src, size, c->key))
        return;
    c->heard = zmpi_seconds();
    if (head.type == NIC_BYE) {
        dismiss(c, "bye");
    } else if (!prove(c)) {
        send_bye(c, "came when there was no place any more");
    } else if (head.type == NIC_REQUEST && head.id > c->last_id) {
        c->last_id = head.id;
        if (nic_request_read(src, &request))
            nicd_request_queue(c, head.id, &request);
        else
            dismiss(c, "sent a request that makes no sense");
    } else if (head.type == NIC_PLACE) {
        if (nic_place_at_read(src, &at))
            nicd_request_place(c, head.id, &at);
        else
            dismiss(c, "sent a place that makes no sense");
    }
}

static void received(struct nic_op *op, int error, size_t got)
{
    struct nicd *s = op->owner;
    if (!error)
        on_message(s, op->buffer, got);
    if (error != FI_ECANCELED)
        nic_post(&s->fabric, op);
}

static bool receive(struct nicd *s)
{
    for (int i = 0; i < RECEIVES; i++) {
        struct nic_slot *slot = nic_slot_take(&s->fabric);
        if (!slot)
            return false;
        slot->op.kind = NIC_RECEIVE;
        slot->op.bytes = NIC_MESSAGE_MAX;
        slot->op.done = received;
        slot->op.owner = s;
        nic_post(&s->fabric, &slot->op);
    }
    return true;
}

/* ---- the daemon ---- */

bool nicd_listen(struct nicd *s, char message[256])
{
    const char *what;
    int error =
        nic_fabric_open(&s->fabric, s->set.provider, s->set.listen, NULL, RECEIVES + SENDS, &what);
    if (error) {
        snprintf(message, 256, "cannot listen on '%.60s' by provider %.40s: %s: %s", s->set.listen,
                 s->set.provider, what, fi_strerror(-error));
        return false;
    }
    s->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    snprintf(s->place.provider, sizeof s->place.provider, "%s", s->set.provider);
    s->place.format = s->fabric.info->addr_format;
    memcpy(s->place.address, s->fabric.address, s->fabric.address_size);
    s->place.address_size = s->fabric.address_size;
    s->place.timeout = s->set.timeout;
    s->blocks.most = s->set.memory;
    s->ready_end = &s->ready;
    if (s->event >= 0 && nic_random(s->place.secret, NIC_KEY) && receive(s) &&
        nicd_workers_start(s))
        return true;
    snprintf(message, 256, "cannot start: no memory, threads or random numbers");
    return false;
}

bool nicd_serve(struct nicd *s, const atomic_bool *stop)
{
    unsigned idle = 0;
    const double beat = s->set.timeout / 8 < 0.05 ? s->set.timeout / 8 : 0.05;
    while (!atomic_load(stop)) {
        int done = nic_progress(&s->fabric);
        if (done < 0)
            return false;
        done += nicd_requests_finish(s);
        nicd_requests_admit(s);
        const double now = zmpi_seconds();
        if (now - s->ticked > beat) {
            s->ticked = now;
            nicd_requests_tick(s, now);
        }
        idle = done > 0 ? 0 : idle + 1;
        if (done == 0)
            nic_wait(&s->fabric, s->event, idle, 1 + (int)(2000 * beat));
    }
    return true;
}

void nicd_close(struct nicd *s)
{
    nicd_workers_stop(s);
    nic_fabric_close(&s->fabric);
    nicd_clients_free(s);
    nic_blocks_limit(&s->blocks, 0);
    close(s->event);
}
