/*
 * fabric.h - the part of libfabric that daemon and plug-in use: a reliable endpoint, its peers,
 * messages of up to NIC_MESSAGE_MAX bytes, reads and writes of a peer's memory.
 *
 * One thread owns everything of a struct nic_fabric. Only nic_progress calls an operation's `done`,
 * once for each nic_post, until nic_fabric_close.
 */
#ifndef ZMPI_NIC_FABRIC_H
#define ZMPI_NIC_FABRIC_H

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "common/place.h"

/* NULL if libfabric is there, else what is missing. Call this before anything else. */
const char *nic_libfabric(void);

/* Memory that peers may read or write. */
struct nic_memory {
    struct fid_mr *mr; /* NULL: not registered */
    void *desc;
    uint64_t address, key; /* for the peer */
};

enum nic_kind { NIC_SEND, NIC_RECEIVE, NIC_READ, NIC_WRITE };

struct nic_op {
    struct fi_context2 context; /* must be first: libfabric returns its address */
    enum nic_kind kind;
    fi_addr_t peer;
    void *buffer;
    size_t bytes;
    void *desc;
    uint64_t address, key; /* for a read or write: the peer's address */
    /* error: 0 or a libfabric number; got: the bytes of a received message. */
    void (*done)(struct nic_op *op, int error, size_t got);
    void *owner;
    double since; /* nic_post */
    struct nic_op *next;
};

/* A message on its way, in memory from which the provider may send. */
struct nic_slot {
    struct nic_op op;
    unsigned char *bytes; /* NIC_MESSAGE_MAX */
};

struct nic_fabric {
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_cq *cq;
    struct fid_ep *ep;
    int wait_fd; /* readable when there is work; -1: the provider has no such descriptor */
    unsigned char address[NIC_ADDRESS_MAX];
    size_t address_size;
    struct nic_memory slot_memory;
    unsigned char *slot_bytes;
    struct nic_slot *slots;
    struct nic_slot *free_slots;           /* linked by op.next */
    struct nic_op *waiting, **waiting_end; /* posted, but the provider has not accepted them yet */
    double waited;                         /* when nic_wait was called last */
    unsigned woken; /* how often in a row it woke us at once and for nothing */
};

/*
 * Opens an endpoint of `provider` ("tcp;ofi_rxm", "shm", "verbs;ofi_rxm", ...). node: the address
 * on which a daemon listens ("": the provider chooses), or NULL for a client, which will talk to
 * `peer`. slots: the largest number of messages under way. Returns 0, or a libfabric error and
 * *what failed.
 */
int nic_fabric_open(struct nic_fabric *f, const char *provider, const char *node,
                    const struct nic_place *peer, size_t slots, const char **what);
/* Afterwards nothing arrives in any memory, if the provider keeps libfabric's promises. */
void nic_fabric_close(struct nic_fabric *f);

int nic_peer_add(struct nic_fabric *f, const void *address, fi_addr_t *peer);
void nic_peer_remove(struct nic_fabric *f, fi_addr_t peer);

/* access: FI_REMOTE_READ and FI_REMOTE_WRITE for a peer's accesses, FI_READ and FI_WRITE for our
 * own. */
int nic_memory_open(struct nic_fabric *f, void *at, size_t bytes, uint64_t access,
                    struct nic_memory *memory);
void nic_memory_close(struct nic_memory *memory);

/* Returns a slot, or NULL if all are under way. It belongs to the caller until nic_slot_give. */
struct nic_slot *nic_slot_take(struct nic_fabric *f);
void nic_slot_give(struct nic_fabric *f, struct nic_slot *slot);

/* Starts an operation. If the provider does not accept it now, it waits. A write is done when the
 * data are in the peer's memory. */
void nic_post(struct nic_fabric *f, struct nic_op *op);
/* Posts what waits and finishes what is done. Returns how many operations that were; < 0: the
 * endpoint has failed. */
int nic_progress(struct nic_fabric *f);
/* Sleeps until there may be work, until `event` (an eventfd, which this drains) is written to, or
 * for at most `milliseconds`. idle: the number of calls since the last work. If the provider cannot
 * wake us, the sleep gets longer with it. */
void nic_wait(struct nic_fabric *f, int event, unsigned idle, int milliseconds);

#endif
