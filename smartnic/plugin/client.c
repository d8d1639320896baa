/* client.c - the thread that talks to zmpi-nicd (client.h). */
#define _GNU_SOURCE
#include "plugin/client_state.h"

#include <errno.h>
#include <poll.h>
#include <rdma/fi_errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Receives posted at a time, and messages on their way out. */
enum { RECEIVES = 16, SENDS = 64 };

/* A daemon that says "wait" may do so for this many time-outs. */
enum { PATIENCE = 20 };

static void fail(struct client *c, const char *what, const char *why)
{
    if (!c->failure[0])
        snprintf(c->failure, sizeof c->failure, "zmpi-nicd of %.80s: %.60s%s%.40s", c->path, what,
                 *why ? ": " : "", why);
}

/* ---- calls ---- */

static void finish(struct client *c, struct nic_call *call)
{
    nic_memory_close(&call->raw_memory);
    nic_memory_close(&call->out_memory);
    pthread_mutex_lock(&c->lock);
    call->done = true;
    pthread_cond_broadcast(&c->done);
    pthread_mutex_unlock(&c->lock);
}

static void unlink_call(struct client *c, struct nic_call *call)
{
    struct nic_call **p = &c->active;
    while (*p != call)
        p = &(*p)->next;
    *p = call->next;
}

static void finish_with(struct client *c, struct nic_call *call, const struct nic_reply *reply)
{
    unlink_call(c, call);
    c->held += reply->outcome == NIC_HELD;
    c->held -= call->placing;
    call->reply = *reply;
    const double now = zmpi_seconds();
    call->took = now - (call->begun > c->replied ? call->begun : c->replied);
    c->replied = now;
    finish(c, call);
}

static void close_session(struct client *c)
{
    if (c->state != CLOSED)
        nic_fabric_close(&c->fabric);
    c->state = CLOSED;
    c->held = 0;
    c->failure[0] = 0;
    c->dismissed = c->rejected = false;
}

/* Ends the session. Waiting threads are told before anything is closed, because a provider whose
 * peer died at the wrong moment may not return from closing. */
static void end_session(struct client *c)
{
    struct nic_call *call;
    while ((call = c->active) != NULL) {
        c->active = call->next;
        call->failed = true;
        memcpy(call->problem, c->failure, sizeof call->problem);
        finish(c, call);
    }
    close_session(c);
}

/* Asks again, in a new session, what was asked before. (If the daemon keeps something for us, the
 * session stays.) */
static void renew_session(struct client *c)
{
    for (struct nic_call *call = c->active; call; call = call->next) {
        nic_memory_close(&call->raw_memory);
        nic_memory_close(&call->out_memory);
        call->unsent = true;
    }
    close_session(c);
}

static void go_away(struct client *c)
{
    while (c->active)
        finish_with(c, c->active, &(struct nic_reply){.outcome = NIC_BUSY});
    close_session(c);
}

/* ---- messages ---- */

static void sent(struct nic_op *op, int error, size_t got)
{
    struct client *c = op->owner;
    (void)got;
    nic_slot_give(&c->fabric, (struct nic_slot *)op);
    if (error)
        fail(c, "cannot be reached", fi_strerror(error));
}

static bool send_message(struct client *c, const unsigned char *bytes, size_t size)
{
    struct nic_slot *slot = nic_slot_take(&c->fabric);
    if (!slot)
        return false;
    memcpy(slot->bytes, bytes, size);
    slot->op.kind = NIC_SEND;
    slot->op.bytes = size;
    slot->op.peer = c->daemon;
    slot->op.done = sent;
    slot->op.owner = c;
    nic_post(&c->fabric, &slot->op);
    return true;
}

static void on_welcome(struct client *c, const struct nic_head *head, const unsigned char *src)
{
    struct nic_welcome m;
    if (c->state != GREETED || !nic_welcome_read(src, &m) ||
        memcmp(m.client_nonce, c->nonce, NIC_NONCE) != 0)
        return;
    nic_session_key(c->place.secret, m.client_nonce, m.server_nonce, c->key);
    c->session = head->session;
    c->most = m.most;
    c->last_id = 0;
    c->state = WELCOMED;
}

static void on_refused(struct client *c, const struct nic_head *head, const unsigned char *src)
{
    struct nic_refused m;
    char why[60];
    if (c->state != GREETED || !nic_refused_read(src, &m) ||
        memcmp(m.client_nonce, c->nonce, NIC_NONCE) != 0)
        return;
    if (m.reason == NIC_TOO_MANY_CLIENTS) {
        c->rejected = true;
        return;
    }
    if (m.reason == NIC_OTHER_VERSION)
        snprintf(why, sizeof why, "it speaks protocol version %u, not %d", head->version,
                 NIC_VERSION);
    else
        snprintf(why, sizeof why, "it is of zmpi %u.%u.%u, not %s", m.codec >> 16,
                 m.codec >> 8 & 255, m.codec & 255, zmpi_version());
    fail(c, "refuses us", why);
}

static void on_reply(struct client *c, const struct nic_head *head, const unsigned char *src)
{
    struct nic_reply reply;
    struct nic_call *call = c->active;
    while (call && (call->unsent || call->id != head->id))
        call = call->next;
    if (!call)
        return; /* a late reply */
    call->heard = zmpi_seconds();
    if (head->type == NIC_REPLY && nic_reply_read(src, &reply))
        finish_with(c, call, &reply);
}

/* Messages that are not from our daemon or not of this session are ignored. */
static void on_message(struct client *c, const unsigned char *src, size_t size)
{
    struct nic_head head;
    if (!nic_head_read(src, size, &head))
        return;
    const bool greeting = head.type == NIC_WELCOME || head.type == NIC_REFUSED;
    if (!greeting && (c->state != WELCOMED || head.session != c->session))
        return;
    if (!nic_message_check(src, size, greeting ? c->place.secret : c->key))
        return;
    if (head.type == NIC_WELCOME)
        on_welcome(c, &head, src);
    else if (head.type == NIC_REFUSED)
        on_refused(c, &head, src);
    else if (head.type == NIC_BYE)
        c->dismissed = true;
    else
        on_reply(c, &head, src);
}

static void received(struct nic_op *op, int error, size_t got)
{
    struct client *c = op->owner;
    if (!error)
        on_message(c, op->buffer, got);
    if (error != FI_ECANCELED)
        nic_post(&c->fabric, op);
}

/* ---- a session ---- */

static void receive(struct client *c)
{
    for (int i = 0; i < RECEIVES; i++) {
        struct nic_slot *slot = nic_slot_take(&c->fabric);
        slot->op.kind = NIC_RECEIVE;
        slot->op.bytes = NIC_MESSAGE_MAX;
        slot->op.done = received;
        slot->op.owner = c;
        nic_post(&c->fabric, &slot->op);
    }
}

static void greet(struct client *c)
{
    unsigned char message[NIC_MESSAGE_MAX];
    struct nic_hello hello = {.codec = nic_codec(), .address_size = c->fabric.address_size};
    memcpy(hello.address, c->fabric.address, hello.address_size);
    if (!nic_random(c->nonce, NIC_NONCE)) {
        fail(c, "no random numbers", "");
        return;
    }
    memcpy(hello.nonce, c->nonce, NIC_NONCE);
    c->greeted = zmpi_seconds();
    send_message(c, message, nic_hello_write(message, &hello, c->place.secret));
}

/* Reads the file again each time, because another daemon may have made it since. If a daemon is
 * being restarted, this waits as long as for one that says "wait". */
static void open_session(struct client *c)
{
    char message[256];
    const char *what;
    if (!nic_place_read(c->path, &c->place, message)) {
        snprintf(c->failure, sizeof c->failure, "%.190s", message);
        return;
    }
    pthread_mutex_lock(&c->lock);
    c->timeout = c->place.timeout;
    pthread_mutex_unlock(&c->lock);
    if (c->place.starting)
        return;
    int error =
        nic_fabric_open(&c->fabric, c->place.provider, NULL, &c->place, RECEIVES + SENDS, &what);
    if (error) {
        fail(c, what, fi_strerror(-error));
        return;
    }
    c->state = GREETED;
    error = nic_peer_add(&c->fabric, c->place.address, &c->daemon);
    if (error) {
        fail(c, "its address is none for this provider", c->place.provider);
        return;
    }
    receive(c);
    greet(c);
}

static void send_call(struct client *c, struct nic_call *call)
{
    unsigned char message[NIC_MESSAGE_MAX];
    struct nic_request *m = &call->request;
    const size_t bytes = (size_t)m->raw.bytes + m->file_bytes;
    if (bytes + m->out.bytes > c->most) {
        finish_with(c, call, &(struct nic_reply){.outcome = NIC_TOO_LARGE});
        return;
    }
    if (!c->fabric.free_slots)
        return;
    int error =
        nic_memory_open(&c->fabric, call->raw->at, bytes, FI_REMOTE_READ, &call->raw_memory);
    if (!error && call->out)
        error = nic_memory_open(&c->fabric, call->out->at, (size_t)m->out.bytes, FI_REMOTE_WRITE,
                                &call->out_memory);
    if (error) {
        fail(c, "fi_mr_reg", fi_strerror(-error));
        return;
    }
    m->raw.address = call->raw_memory.address;
    m->raw.key = call->raw_memory.key;
    m->out.address = call->out_memory.address;
    m->out.key = call->out_memory.key;
    call->id = ++c->last_id;
    call->session = c->session;
    call->sent = true;
    call->unsent = false;
    call->heard = zmpi_seconds();
    send_message(c, message, nic_request_write(message, c->session, call->id, m, c->key));
}

static void send_place(struct client *c, struct nic_call *call)
{
    unsigned char message[NIC_MESSAGE_MAX];
    call->heard = zmpi_seconds();
    call->unsent = !send_message(
        c, message, nic_place_at_write(message, c->session, call->id, &call->at, c->key));
}

static void look_at_clock(struct client *c)
{
    const double now = zmpi_seconds(), timeout = c->place.timeout;
    if (c->state == GREETED && now - c->greeted > timeout)
        fail(c, "no answer", "");
    for (struct nic_call *call = c->active; call; call = call->next)
        if (!call->unsent && now - call->heard > timeout)
            fail(c, "has fallen silent", "");
        else if (now - call->begun > PATIENCE * timeout)
            fail(c, "takes too long", "");
}

/* ---- the thread ---- */

static void take_fresh(struct client *c)
{
    pthread_mutex_lock(&c->lock);
    struct nic_call *call = c->fresh, *next;
    c->fresh = NULL;
    pthread_mutex_unlock(&c->lock);
    for (; call; call = next) {
        next = call->next;
        if (call->placing && (c->state != WELCOMED || call->session != c->session)) {
            call->failed = true; /* the daemon that kept it is gone */
            snprintf(call->problem, sizeof call->problem, "zmpi-nicd went away with the data");
            finish(c, call);
            continue;
        }
        call->next = c->active;
        call->begun = zmpi_seconds();
        call->unsent = true;
        c->active = call;
    }
}

static void work(struct client *c, unsigned *idle)
{
    struct nic_call *next;
    if (c->state == CLOSED)
        open_session(c);
    for (struct nic_call *call = c->active; call && c->state == WELCOMED; call = next) {
        next = call->next;
        if (call->unsent && !c->failure[0])
            (call->placing ? send_place : send_call)(c, call);
    }
    int done = c->failure[0] || c->state == CLOSED ? 0 : nic_progress(&c->fabric);
    if (done < 0)
        fail(c, "the fabric does not work any more", "");
    look_at_clock(c);
    if (c->failure[0] || c->dismissed || c->rejected) {
        (c->failure[0] ? end_session : c->dismissed ? renew_session : go_away)(c);
        return;
    }
    *idle = done > 0 ? 0 : *idle + 1;
    if (done == 0 && c->active)
        nic_wait(&c->fabric, c->event, *idle, 20);
}

/* There is no answer: a daemon that does not get it finds out by itself. */
static void say(struct client *c, enum nic_type what)
{
    unsigned char message[NIC_MESSAGE_MAX];
    const double until = zmpi_seconds() + 0.2;
    if (c->state == WELCOMED &&
        send_message(c, message, nic_empty_write(message, what, c->session, 0, c->key)))
        while (nic_progress(&c->fabric) == 0 && zmpi_seconds() < until)
            nic_wait(&c->fabric, -1, 0, 10);
}

static bool quitting(struct client *c)
{
    pthread_mutex_lock(&c->lock);
    const bool quit = c->quit;
    pthread_mutex_unlock(&c->lock);
    return quit;
}

void *nic_client_run(void *context)
{
    struct client *c = context;
    unsigned idle = 0;
    pthread_mutex_lock(&c->lock);
    c->tid = (pid_t)syscall(SYS_gettid);
    pthread_mutex_unlock(&c->lock);
    while (!quitting(c)) {
        atomic_fetch_add(&c->tick, 1);
        take_fresh(c);
        if (c->active) {
            work(c, &idle);
            continue;
        }
        struct pollfd fd = {.fd = c->event, .events = POLLIN};
        uint64_t n;
        const int ready = poll(&fd, 1, c->held > 0 ? (int)(4000 * c->place.timeout) : -1);
        if (ready > 0 && read(c->event, &n, sizeof n) < 0)
            continue;
        if (ready == 0)
            say(c, NIC_WAIT);
    }
    take_fresh(c); /* these get a message, too */
    say(c, NIC_BYE);
    end_session(c);
    return NULL;
}
