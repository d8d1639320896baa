/*
 * replay.c FILE - for a daemon with a place for one client: its client is silent, somebody else
 * sends greetings that were recorded, and the client is not dismissed for them; but it is for a
 * client that can use its session.
 */
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fabric.h"
#include "common/keys.h"

enum { RECEIVES = 16, SLOTS = 400 };

struct client {
    struct nic_fabric fabric;
    fi_addr_t daemon;
    unsigned char nonce[NIC_NONCE], key[NIC_KEY];
    unsigned char hello[NIC_MESSAGE_MAX];
    size_t hello_size;
    uint64_t session;
    bool welcomed, dismissed;
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

static void open_client(struct client *c)
{
    const char *what;
    struct nic_hello hello = {.codec = nic_codec()};
    memset(c, 0, sizeof *c);
    check(!nic_fabric_open(&c->fabric, place.provider, NULL, &place, RECEIVES + SLOTS, &what),
          "opening the fabric");
    check(!nic_peer_add(&c->fabric, place.address, &c->daemon), "the daemon's address");
    for (int i = 0; i < RECEIVES; i++)
        post(c, NIC_RECEIVE, NULL, NIC_MESSAGE_MAX);
    hello.address_size = c->fabric.address_size;
    memcpy(hello.address, c->fabric.address, hello.address_size);
    check(nic_random(c->nonce, NIC_NONCE), "random numbers");
    memcpy(hello.nonce, c->nonce, NIC_NONCE);
    c->hello_size = nic_hello_write(c->hello, &hello, place.secret);
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

int main(int argc, char **argv)
{
    static struct client client, other;
    char message[256];
    check(argc == 2 && !nic_libfabric() && nic_place_read(argv[1], &place, message), "the file");
    open_client(&client);
    post(&client, NIC_SEND, client.hello, client.hello_size);
    progress(&client, NULL, &client.welcomed, 20);
    check(client.welcomed, "the client is welcome");
    send_alive(&client);
    progress(&client, NULL, NULL, 0.3);

    open_client(&other);
    for (int i = 0; i < 200; i++)
        post(&other, NIC_SEND, other.hello, other.hello_size);
    progress(&client, &other, &client.dismissed, 1);
    check(!client.dismissed, "greetings dismissed the client");
    check(other.welcomed, "greetings were not answered");
    send_alive(&other);
    progress(&client, &other, &client.dismissed, 20);
    check(client.dismissed, "another client got no place");
    nic_fabric_close(&client.fabric);
    nic_fabric_close(&other.fabric);
    return 0;
}
