/*
 * raw.c CASE FILE... - processes that talk to zmpi-nicd by themselves, as the plug-in would not.
 *
 *     replay FILE             for a daemon with a place for one client: its client is silent,
 *                             somebody else sends greetings that were recorded, and the client is
 *                             not dismissed for them; but it is for a client that can use its
 *                             session
 *     refused FILE            other versions, more greetings than there is room for, requests that
 *                             make no sense, are too large, too many, or whose data cannot be read
 *     silent FILE CONTAINER   who keeps a place busy, and then neither asks nor answers
 */
#include <rdma/fi_errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "common/fabric.h"
#include "common/keys.h"
#include "common/protocol.h"
#include "container/container.h"

enum { RECEIVES = 16, SLOTS = 400, FLOATS = 150000, IDS = 100 };

struct client {
    struct nic_fabric fabric;
    fi_addr_t daemon;
    unsigned char nonce[NIC_NONCE], key[NIC_KEY];
    unsigned char hello[NIC_MESSAGE_MAX];
    size_t hello_size;
    uint64_t session, last_id;
    unsigned welcomes;
    bool welcomed, dismissed, refused, sent;
    enum nic_reason reason;
    bool answered[IDS];
    enum nic_outcome outcome[IDS];
    struct nic_memory raw, out;
};

static struct nic_place place;

static void check(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "FAIL: %s\n", what);
    exit(1);
}

static void received(struct nic_op *op, int error, size_t got)
{
    struct client *c = op->owner;
    struct nic_head head;
    struct nic_welcome m;
    if (!error && nic_head_read(op->buffer, got, &head)) {
        if (head.type == NIC_WELCOME && nic_welcome_read(op->buffer, &m) &&
            memcmp(m.client_nonce, c->nonce, NIC_NONCE) == 0) {
            nic_session_key(place.secret, m.client_nonce, m.server_nonce, c->key);
            c->session = head.session;
            c->welcomed = true;
            c->welcomes++;
        }
        struct nic_refused refused;
        if (head.type == NIC_REFUSED && nic_refused_read(op->buffer, &refused) &&
            memcmp(refused.client_nonce, c->nonce, NIC_NONCE) == 0) {
            c->refused = true;
            c->reason = refused.reason;
        }
        struct nic_reply reply;
        if (head.type == NIC_REPLY && head.session == c->session && head.id < IDS &&
            nic_reply_read(op->buffer, &reply)) {
            c->answered[head.id] = true;
            c->outcome[head.id] = reply.outcome;
        }
        c->dismissed |= head.type == NIC_BYE && head.session == c->session;
    }
    if (error != FI_ECANCELED)
        nic_post(&c->fabric, op);
}

static void sent(struct nic_op *op, int error, size_t got)
{
    struct client *c = op->owner;
    (void)error, (void)got;
    c->sent = true;
    nic_slot_give(&c->fabric, (struct nic_slot *)op);
}

static void post(struct client *c, enum nic_kind kind, const void *bytes, size_t size)
{
    struct nic_slot *slot = nic_slot_take(&c->fabric);
    check(slot != NULL, "a slot");
    if (kind == NIC_SEND)
        memcpy(slot->bytes, bytes, size);
    slot->op.kind = kind;
    slot->op.bytes = size;
    slot->op.peer = c->daemon;
    slot->op.done = kind == NIC_SEND ? sent : received;
    slot->op.owner = c;
    nic_post(&c->fabric, &slot->op);
}

/* Another greeting of this client; codec: beside ours. */
static void make_hello(struct client *c, uint32_t codec)
{
    struct nic_hello hello = {.codec = nic_codec() + codec};
    hello.address_size = c->fabric.address_size;
    memcpy(hello.address, c->fabric.address, hello.address_size);
    check(nic_random(c->nonce, NIC_NONCE), "random numbers");
    memcpy(hello.nonce, c->nonce, NIC_NONCE);
    c->hello_size = nic_hello_write(c->hello, &hello, place.secret);
}

static void open_client(struct client *c)
{
    const char *what;
    memset(c, 0, sizeof *c);
    check(!nic_fabric_open(&c->fabric, place.provider, NULL, &place, RECEIVES + SLOTS, &what),
          "opening the fabric");
    check(!nic_peer_add(&c->fabric, place.address, &c->daemon), "the daemon's address");
    for (int i = 0; i < RECEIVES; i++)
        post(c, NIC_RECEIVE, NULL, NIC_MESSAGE_MAX);
    make_hello(c, 0);
}

/* Progress of both until *done, or for so long. */
static void progress(struct client *a, struct client *b, const bool *done, double seconds)
{
    const double end = zmpi_seconds() + seconds;
    for (unsigned idle = 0; zmpi_seconds() < end && !(done && *done); idle++) {
        check(nic_progress(&a->fabric) >= 0 && (!b || nic_progress(&b->fabric) >= 0), "progress");
        nic_wait(&a->fabric, -1, idle, 1);
    }
}

static void send_alive(struct client *c)
{
    unsigned char message[NIC_MESSAGE_MAX];
    post(c, NIC_SEND, message, nic_empty_write(message, NIC_WAIT, c->session, 0, c->key));
}

static void send_hello(struct client *c)
{
    post(c, NIC_SEND, c->hello, c->hello_size);
}

static void greet(struct client *c)
{
    open_client(c);
    send_hello(c);
    progress(c, NULL, &c->welcomed, 20);
    check(c->welcomed, "the client is welcome");
}

static void leave(struct client *c)
{
    nic_memory_close(&c->raw);
    nic_memory_close(&c->out);
    nic_fabric_close(&c->fabric);
}

static void replay(void)
{
    static struct client client, other;
    greet(&client);
    send_alive(&client);
    progress(&client, NULL, NULL, 0.3);

    open_client(&other);
    for (int i = 0; i < 200; i++)
        send_hello(&other);
    progress(&client, &other, &client.dismissed, 1);
    check(!client.dismissed, "greetings dismissed the client");
    check(other.welcomes == 1, "of a greeting and its copies not one was answered");
    send_alive(&other);
    progress(&client, &other, &client.dismissed, 20);
    check(client.dismissed, "another client got no place");
    leave(&client);
    leave(&other);
}

/* ---- refused ---- */

static float data[FLOATS + 2000];
static unsigned char capacity[(FLOATS + 2000) * 5];

static void refusal(uint32_t codec, unsigned version, enum nic_reason reason)
{
    static struct client c;
    open_client(&c);
    make_hello(&c, codec);
    c.hello[4] += (unsigned char)version;
    nic_mac(place.secret, c.hello, c.hello_size - NIC_MAC, c.hello + c.hello_size - NIC_MAC);
    send_hello(&c);
    progress(&c, NULL, &c.refused, 20);
    check(c.refused && c.reason == reason, "another version was not refused for what it is");
    leave(&c);
}

/* More unused greetings than the daemon remembers: it forgets the oldest. */
static void flood(void)
{
    static struct client c;
    open_client(&c);
    for (int i = 0; i < 70; i++) {
        c.welcomed = false;
        make_hello(&c, 0);
        send_hello(&c);
        progress(&c, NULL, &c.welcomed, 20);
        check(c.welcomed, "a greeting was not answered");
    }
    leave(&c);
}

/* A request of so many floats, whose data and result are where they are said to be. */
static struct nic_request request_of(struct client *c, size_t count)
{
    struct nic_request m = {.job = {.array = {ZMPI_F32, {1, 1, count}},
                                    .bound = {ZMPI_ABS, 0.5},
                                    .abs_bound = 0.5,
                                    .keep = 1e30,
                                    .encoder = ZMPI_FLE,
                                    .threads = 1}};
    m.raw.bytes = 4 * count;
    m.out.bytes = zmpi_compress_capacity(&m.job.array);
    m.raw_hash = zmpi_hash(data, m.raw.bytes <= sizeof data ? m.raw.bytes : 0, 0);
    if (!c->raw.mr)
        check(!nic_memory_open(&c->fabric, data, sizeof data, FI_REMOTE_READ, &c->raw) &&
                  !nic_memory_open(&c->fabric, capacity, sizeof capacity, FI_REMOTE_WRITE, &c->out),
              "registering memory");
    m.raw.address = c->raw.address;
    m.raw.key = c->raw.key;
    m.out.address = c->out.address;
    m.out.key = c->out.key;
    return m;
}

static void send_request(struct client *c, uint64_t id, const struct nic_request *m)
{
    unsigned char message[NIC_MESSAGE_MAX];
    post(c, NIC_SEND, message, nic_request_write(message, c->session, id, m, c->key));
}

static void send_place(struct client *c, uint64_t id, unsigned wrong)
{
    unsigned char message[NIC_MESSAGE_MAX];
    const struct nic_place_at at = {.offset = 512};
    const size_t size = nic_place_at_write(message, c->session, id, &at, c->key);
    message[44] = (unsigned char)wrong; /* must be 0 */
    nic_mac(c->key, message, size - NIC_MAC, message + size - NIC_MAC);
    post(c, NIC_SEND, message, size);
}

static void reply(struct client *c, uint64_t id, enum nic_outcome outcome, const char *what)
{
    progress(c, NULL, &c->answered[id], 20);
    check(c->answered[id] && c->outcome[id] == outcome, what);
    c->answered[id] = false;
}

/* The daemon has forgotten this client: it does not even answer a place for nothing. */
static void forgotten(struct client *c, const char *what)
{
    progress(c, NULL, NULL, 0.3);
    send_place(c, 98, 0);
    progress(c, NULL, &c->answered[98], 0.5);
    check(!c->answered[98], what);
    leave(c);
}

static void requests(void)
{
    static struct client c;
    greet(&c);
    struct nic_request m = request_of(&c, 1000);
    send_request(&c, 7, &m);
    reply(&c, 7, NIC_DONE, "a good request");
    send_request(&c, 7, &m); /* again */
    send_place(&c, 99, 0);
    reply(&c, 99, NIC_BUSY, "a place of nothing");
    check(!c.answered[7], "a request that was there before");
    m = request_of(&c, (size_t)1 << 20);
    send_request(&c, 8, &m);
    reply(&c, 8, NIC_TOO_LARGE, "what is too large");
    /* One request is there, one may wait for memory: of a burst the daemon serves the first, and
     * not all. */
    unsigned busy = 0;
    m = request_of(&c, FLOATS);
    for (uint64_t id = 10; id < 20; id++)
        send_request(&c, id, &m);
    for (uint64_t id = 10; id < 20; id++) {
        progress(&c, NULL, &c.answered[id], 20);
        check(c.answered[id] && (c.outcome[id] == NIC_DONE || c.outcome[id] == NIC_BUSY),
              "one of many");
        busy += c.outcome[id] == NIC_BUSY;
    }
    check(c.outcome[10] == NIC_DONE && busy > 0, "the first of many, or too many");
    m.raw.key ^= 0x5A5A5A;
    m.raw.address ^= 0x5A5A5A0000;
    send_request(&c, 20, &m);
    forgotten(&c, "data that cannot be read");

    greet(&c);
    m = request_of(&c, 1000);
    m.job.array.extent[2]++;
    send_request(&c, 1, &m);
    forgotten(&c, "a request that makes no sense");
    greet(&c);
    send_place(&c, 1, 1);
    forgotten(&c, "a place that makes no sense");
}

/* ---- silent ---- */

/* A request whose stream is kept for this container. */
static void keep(struct client *c, const char *container)
{
    unsigned char head[ZMPI_HEADER_BYTES];
    struct zmpi_header header;
    const int fd = open(container, O_RDONLY);
    check(fd >= 0 && read(fd, head, sizeof head) == sizeof head && !close(fd) &&
              zmpi_header_decode(&header, head) == ZMPI_OK,
          "the container");
    struct nic_request m = request_of(c, 1000);
    unsigned char *behind = (unsigned char *)data + m.raw.bytes;
    memcpy(behind, header.id, NIC_FILE_ID);
    memcpy(behind + NIC_FILE_ID, container, strlen(container));
    m.file_bytes = NIC_FILE_ID + strlen(container);
    m.raw_hash = zmpi_hash(data, m.raw.bytes + m.file_bytes, 0);
    send_request(c, 1, &m);
    reply(c, 1, NIC_HELD, "a stream that waits for its place");
}

static void silent(const char *container)
{
    static struct client busy, other;
    greet(&busy);
    keep(&busy, container);
    open_client(&other);
    send_hello(&other);
    progress(&busy, &other, &other.refused, 20);
    check(other.refused && other.reason == NIC_TOO_MANY_CLIENTS, "a place that is busy was given");
    leave(&other);
    /* What was kept for it is gone. */
    progress(&busy, NULL, NULL, 20 * place.timeout + 0.5);
    send_place(&busy, 1, 0);
    reply(&busy, 1, NIC_BUSY, "kept for one that was silent");
    leave(&busy);

    /* It asks, and sends no data: its place is free for another client. */
    greet(&busy);
    const struct nic_request m = request_of(&busy, FLOATS);
    busy.sent = false;
    send_request(&busy, 1, &m);
    progress(&busy, NULL, &busy.sent, 5); /* no more of it, which would give the data */
    usleep((useconds_t)(4e6 * place.timeout));
    greet(&other);
    keep(&other, container);
    progress(&busy, NULL, &busy.answered[1], 0.5);
    check(!busy.answered[1], "who gave no data got an answer");
    leave(&other);
    leave(&busy);
}

int main(int argc, char **argv)
{
    char message[256];
    check(argc > 2 && !nic_libfabric() && nic_place_read(argv[2], &place, message), "the file");
    if (strcmp(argv[1], "replay") == 0)
        replay();
    else if (strcmp(argv[1], "refused") == 0) {
        refusal(0, 1, NIC_OTHER_VERSION);
        refusal(1, 0, NIC_OTHER_CODEC);
        flood();
        requests();
    } else {
        check(argc == 4, "a container");
        silent(argv[3]);
    }
    return 0;
}
