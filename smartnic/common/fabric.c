/* fabric.c - an endpoint of libfabric (fabric.h). */
#define _GNU_SOURCE // ppoll
#include "common/fabric.h"

#include <poll.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* All messages have the same tag. Endpoints already separate clients and daemons. */
#define TAG      UINT64_C(0x434e495a)
#define API      FI_VERSION(1, 11)
#define BATCH    16 /* completions taken at a time */
#define PATIENCE 10 /* seconds for which a provider may answer "try again" */

/* ---- opening ---- */

/* What every provider must offer. With all these mr_modes one program works with tcp, shm, verbs,
 * efa and cxi. */
static struct fi_info *hints_for(const char *provider)
{
    struct fi_info *h = fi_allocinfo();
    if (!h)
        return NULL;
    h->ep_attr->type = FI_EP_RDM;
    h->caps = FI_MSG | FI_TAGGED | FI_RMA | FI_SEND | FI_RECV | FI_READ | FI_WRITE |
              FI_REMOTE_READ | FI_REMOTE_WRITE;
    h->mode = FI_CONTEXT | FI_CONTEXT2;
    h->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    h->domain_attr->threading = FI_THREAD_DOMAIN;
    h->domain_attr->av_type = FI_AV_MAP;
    h->domain_attr->resource_mgmt = FI_RM_ENABLED;
    h->fabric_attr->prov_name = strdup(provider);
    if (!h->fabric_attr->prov_name) {
        fi_freeinfo(h);
        return NULL;
    }
    return h;
}

static int find(struct nic_fabric *f, const char *provider, const char *node,
                const struct nic_place *peer)
{
    struct fi_info *h = hints_for(provider);
    if (!h)
        return -FI_ENOMEM;
    if (peer && (h->dest_addr = malloc(peer->address_size)) != NULL) { /* freed with the hints */
        memcpy(h->dest_addr, peer->address, peer->address_size);
        h->dest_addrlen = peer->address_size;
        h->addr_format = peer->format;
    }
    const bool source = node && *node;
    const char *port =
        source && strchr(node, ':') && strcmp(provider, "shm") != 0 ? strrchr(node, ':') + 1 : NULL;
    char *host = source ? strndup(node, port ? (size_t)(port - 1 - node) : strlen(node)) : NULL;
    int error = source && !host ? -FI_ENOMEM
                                : fi_getinfo(API, host, source ? (port ? port : "0") : NULL,
                                             source ? FI_SOURCE : 0, h, &f->info);
    free(host);
    fi_freeinfo(h);
    return error;
}

/* Opens a queue that can be waited on, if the provider has such. */
static int open_queue(struct nic_fabric *f)
{
    struct fi_cq_attr attr = {.format = FI_CQ_FORMAT_TAGGED, .wait_obj = FI_WAIT_FD};
    f->wait_fd = -1;
    int error = fi_cq_open(f->domain, &attr, &f->cq, NULL);
    if (!error && fi_control(&f->cq->fid, FI_GETWAIT, &f->wait_fd) != 0)
        f->wait_fd = -1;
    if (!error)
        return 0;
    attr.wait_obj = FI_WAIT_NONE;
    return fi_cq_open(f->domain, &attr, &f->cq, NULL);
}

static int open_slots(struct nic_fabric *f, size_t slots)
{
    const size_t bytes = slots * NIC_MESSAGE_MAX;
    f->slots = calloc(slots, sizeof *f->slots);
    f->slot_bytes = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (!f->slots || !f->slot_bytes)
        return -FI_ENOMEM;
    for (size_t i = 0; i < slots; i++) {
        f->slots[i].bytes = f->slot_bytes + i * NIC_MESSAGE_MAX;
        nic_slot_give(f, &f->slots[i]);
    }
    return nic_memory_open(f, f->slot_bytes, bytes, FI_SEND | FI_RECV, &f->slot_memory);
}

int nic_fabric_open(struct nic_fabric *f, const char *provider, const char *node,
                    const struct nic_place *peer, size_t slots, const char **what)
{
    struct fi_av_attr av = {.type = FI_AV_MAP};
    memset(f, 0, sizeof *f);
    f->waiting_end = &f->waiting;
    f->wait_fd = -1;
    f->address_size = sizeof f->address - 1; /* some addresses are text */
    int error;
    if ((*what = "fi_getinfo", error = find(f, provider, node, peer)) ||
        (*what = "fi_fabric", error = fi_fabric(f->info->fabric_attr, &f->fabric, NULL)) ||
        (*what = "fi_domain", error = fi_domain(f->fabric, f->info, &f->domain, NULL)) ||
        (*what = "fi_av_open", error = fi_av_open(f->domain, &av, &f->av, NULL)) ||
        (*what = "fi_cq_open", error = open_queue(f)) ||
        (*what = "fi_endpoint", error = fi_endpoint(f->domain, f->info, &f->ep, NULL)) ||
        (*what = "fi_ep_bind", error = fi_ep_bind(f->ep, &f->av->fid, 0)) ||
        (error = fi_ep_bind(f->ep, &f->cq->fid, FI_TRANSMIT | FI_RECV)) ||
        (*what = "fi_enable", error = fi_enable(f->ep)) ||
        (*what = "fi_getname", error = fi_getname(&f->ep->fid, f->address, &f->address_size)) ||
        (*what = "fi_mr_reg", error = open_slots(f, slots)))
        nic_fabric_close(f);
    return error;
}

static void close_fid(struct fid *fid)
{
    if (fid)
        fi_close(fid);
}

void nic_fabric_close(struct nic_fabric *f)
{
    close_fid(f->ep ? &f->ep->fid : NULL);
    nic_memory_close(&f->slot_memory);
    close_fid(f->cq ? &f->cq->fid : NULL);
    close_fid(f->av ? &f->av->fid : NULL);
    close_fid(f->domain ? &f->domain->fid : NULL);
    close_fid(f->fabric ? &f->fabric->fid : NULL);
    if (f->info)
        fi_freeinfo(f->info);
    free(f->slots);
    free(f->slot_bytes);
    memset(f, 0, sizeof *f);
}

/* ---- peers and memory ---- */

int nic_peer_add(struct nic_fabric *f, const void *address, fi_addr_t *peer)
{
    return fi_av_insert(f->av, address, 1, peer, 0, NULL) == 1 ? 0 : -FI_EINVAL;
}

void nic_peer_remove(struct nic_fabric *f, fi_addr_t peer)
{
    fi_av_remove(f->av, &peer, 1, 0);
}

int nic_memory_open(struct nic_fabric *f, void *at, size_t bytes, uint64_t access,
                    struct nic_memory *memory)
{
    const int mode = f->info->domain_attr->mr_mode;
    const bool remote = (access & (FI_REMOTE_READ | FI_REMOTE_WRITE)) != 0;
    uint64_t key = 0;
    memset(memory, 0, sizeof *memory);
    if (!remote && !(mode & FI_MR_LOCAL))
        return 0;
    /* Where we choose the keys, nobody must be able to guess them. */
    if (!(mode & FI_MR_PROV_KEY) && !nic_random(&key, sizeof key))
        return -FI_EOTHER;
    if (f->info->domain_attr->mr_key_size < sizeof key)
        key &= ((uint64_t)1 << 8 * f->info->domain_attr->mr_key_size) - 1;
    int error = fi_mr_reg(f->domain, at, bytes, access, 0, key, 0, &memory->mr, NULL);
    if (error) {
        memory->mr = NULL;
        return error;
    }
    memory->desc = fi_mr_desc(memory->mr);
    memory->key = fi_mr_key(memory->mr);
    memory->address = mode & FI_MR_VIRT_ADDR ? (uint64_t)(uintptr_t)at : 0;
    return 0;
}

void nic_memory_close(struct nic_memory *memory)
{
    if (memory->mr)
        fi_close(&memory->mr->fid);
    memory->mr = NULL;
}

/* ---- operations ---- */

struct nic_slot *nic_slot_take(struct nic_fabric *f)
{
    struct nic_slot *slot = f->free_slots;
    if (slot) {
        f->free_slots = (struct nic_slot *)slot->op.next;
        slot->op = (struct nic_op){.buffer = slot->bytes, .desc = f->slot_memory.desc};
    }
    return slot;
}

void nic_slot_give(struct nic_fabric *f, struct nic_slot *slot)
{
    slot->op.next = (struct nic_op *)f->free_slots;
    f->free_slots = slot;
}

static ssize_t start(struct nic_fabric *f, struct nic_op *op)
{
    switch (op->kind) {
    case NIC_SEND:
        return fi_tsend(f->ep, op->buffer, op->bytes, op->desc, op->peer, TAG, &op->context);
    case NIC_RECEIVE:
        return fi_trecv(f->ep, op->buffer, op->bytes, op->desc, FI_ADDR_UNSPEC, TAG, 0,
                        &op->context);
    case NIC_READ:
        return fi_read(f->ep, op->buffer, op->bytes, op->desc, op->peer, op->address, op->key,
                       &op->context);
    case NIC_WRITE:
        break;
    }
    struct iovec local = {op->buffer, op->bytes};
    struct fi_rma_iov remote = {op->address, op->bytes, op->key};
    struct fi_msg_rma message = {.msg_iov = &local,
                                 .desc = &op->desc,
                                 .iov_count = 1,
                                 .addr = op->peer,
                                 .rma_iov = &remote,
                                 .rma_iov_count = 1,
                                 .context = &op->context};
    return fi_writemsg(f->ep, &message, FI_COMPLETION | FI_DELIVERY_COMPLETE);
}

static void wait_longer(struct nic_fabric *f, struct nic_op *op)
{
    op->next = NULL;
    *f->waiting_end = op;
    f->waiting_end = &op->next;
}

void nic_post(struct nic_fabric *f, struct nic_op *op)
{
    op->since = zmpi_seconds();
    wait_longer(f, op);
}

/* Tries each waiting operation once, so that a peer that accepts nothing does not delay others. */
static int start_waiting(struct nic_fabric *f)
{
    int ended = 0;
    struct nic_op *op = f->waiting, *next;
    f->waiting = NULL;
    f->waiting_end = &f->waiting;
    for (; op; op = next) {
        next = op->next;
        ssize_t error = start(f, op);
        if (error == -FI_EAGAIN && zmpi_seconds() - op->since < PATIENCE) {
            wait_longer(f, op);
        } else if (error) {
            op->done(op, (int)-error, 0);
            ended++;
        }
    }
    return ended;
}

static int take_error(struct nic_fabric *f)
{
    struct fi_cq_err_entry e = {0};
    ssize_t n = fi_cq_readerr(f->cq, &e, 0);
    if (n == -FI_EAGAIN)
        return 0;
    if (n < 0)
        return -1;
    struct nic_op *op = e.op_context;
    if (op)
        op->done(op, e.err ? e.err : FI_EOTHER, 0);
    return 1;
}

int nic_progress(struct nic_fabric *f)
{
    struct fi_cq_tagged_entry entry[BATCH];
    int ended = start_waiting(f);
    ssize_t n = fi_cq_read(f->cq, entry, BATCH);
    if (n == -FI_EAGAIN)
        return ended;
    if (n == -FI_EAVAIL) {
        int more = take_error(f);
        return more < 0 ? more : ended + more;
    }
    if (n < 0)
        return -1;
    for (ssize_t i = 0; i < n; i++) {
        struct nic_op *op = entry[i].op_context;
        op->done(op, 0, entry[i].len);
    }
    return ended + (int)n;
}

/* Sleeps up to 1 ms, because nothing wakes us; less if there was work recently. */
static int nap(unsigned idle)
{
    return idle < 50 ? 0 : idle < 100 ? 20 : idle < 1000 ? 200 : 1000;
}

static void drain(int event)
{
    uint64_t n;
    ssize_t ignored = read(event, &n, sizeof n);
    (void)ignored;
}

/*
 * Does the provider wake us again and again for nothing? It does while a connection waits that it
 * cannot accept for lack of descriptors.
 */
static bool is_woken_for_nothing(struct nic_fabric *f, unsigned idle)
{
    const double now = zmpi_seconds();
    const bool at_once = now - f->waited < 4e-3; /* our own sleep is shorter */
    f->waited = now;
    if (idle <= 1)
        f->woken = 0;
    else if (!at_once)
        f->woken -= f->woken / 4; /* on a crowded machine our sleep may take longer */
    else if (f->woken < 400)
        f->woken++;
    return f->woken > 100;
}

void nic_wait(struct nic_fabric *f, int event, unsigned idle, int milliseconds)
{
    struct pollfd fd[2] = {{.fd = event, .events = POLLIN},
                           {.fd = f->cq ? f->wait_fd : -1, .events = POLLIN}};
    struct timespec t = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    struct fid *queue = f->cq ? &f->cq->fid : NULL;
    /* What the provider did not accept is tried again soon. */
    bool polled = f->waiting || f->wait_fd < 0 || is_woken_for_nothing(f, idle);
    if (polled && queue) {
        t = (struct timespec){0, nap(idle) * 1000L};
        if (t.tv_nsec == 0)
            sched_yield();
    } else if (queue && fi_trywait(f->fabric, &queue, 1) != 0) {
        return;
    }
    if (ppoll(fd, polled ? 1 : 2, &t, NULL) > 0 && fd[0].revents)
        drain(event);
}
