/*
 * fabric.h - what of libfabric the daemon and the plug-in use: a reliable endpoint, its peers,
 * messages of up to NIC_MESSAGE_MAX bytes, reads and writes of a peer's memory.
 *
 * Everything of one struct nic_fabric belongs to one thread. `done` of an operation is called by
 * nic_progress and by nothing else, once for each nic_post, until nic_fabric_close.
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

/* NULL if libfabric is there, else what is missing. To be asked before anything else. */
const char *nic_libfabric(void);

/* Memory that peers may read or write. */
struct nic_memory {
    struct fid_mr *mr; /* NULL: not registered */
    void *desc;
    uint64_t address, key; /* for the peer */
};

enum nic_kind { NIC_SEND, NIC_RECEIVE, NIC_READ, NIC_WRITE };

struct nic_op {
    struct fi_context2 context; /* first: what comes back from libfabric is its address */
    enum nic_kind kind;
    fi_addr_t peer;
    void *buffer;
    size_t bytes;
    void *desc;
    uint64_t address, key; /* of a read or write: where at the peer */
    /* error: 0 or a libfabric number; got: bytes of a received message. */
    void (*done)(struct nic_op *op, int error, size_t got);
    void *owner;
    double since; /* nic_post */
    struct nic_op *next;
};

/* A message on its way, in memory that the provider may send from. */
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
    int wait_fd; /* readable when there is something to do; -1: the provider has none */
    unsigned char address[NIC_ADDRESS_MAX];
    size_t address_size;
    struct nic_memory slot_memory;
    unsigned char *slot_bytes;
    struct nic_slot *slots;
    struct nic_slot *free_slots;           /* linked by op.next */
    struct nic_op *waiting, **waiting_end; /* posted, not yet taken by the provider */
    double waited;                         /* when nic_wait was called last */
    unsigned woken;                        /* so often in a row for nothing, and at once */
};

/*
 * Open an endpoint of `provider` ("tcp;ofi_rxm", "shm", "verbs;ofi_rxm", ...). node: where a daemon
 * listens, "" for wherever the provider likes; or NULL for a client, which is going to talk to
 * `peer`. slots: messages under way at most. 0, or a libfabric error and *what failed.
 */
int nic_fabric_open(struct nic_fabric *f, const char *provider, const char *node,
                    const struct nic_place *peer, size_t slots, const char **what);
/* Nothing is delivered to any memory afterwards, if the provider keeps libfabric's promises. */
void nic_fabric_close(struct nic_fabric *f);

int nic_peer_add(struct nic_fabric *f, const void *address, fi_addr_t *peer);
void nic_peer_remove(struct nic_fabric *f, fi_addr_t peer);

/* access: FI_REMOTE_READ, FI_REMOTE_WRITE for a peer's accesses, FI_READ, FI_WRITE for own ones. */
int nic_memory_open(struct nic_fabric *f, void *at, size_t bytes, uint64_t access,
                    struct nic_memory *memory);
void nic_memory_close(struct nic_memory *memory);

/* A slot, or NULL if all are under way; it is the caller's until nic_slot_give. */
struct nic_slot *nic_slot_take(struct nic_fabric *f);
void nic_slot_give(struct nic_fabric *f, struct nic_slot *slot);

/* Start an operation. What the provider does not take now waits; a write is done when it is in the
 * peer's memory. */
void nic_post(struct nic_fabric *f, struct nic_op *op);
/* Post what waits, finish what is done. Returns how many operations that were. < 0: the endpoint
 * does not work any more. */
int nic_progress(struct nic_fabric *f);
/* Sleep until something may be done, `event` (an eventfd, drained here) is written to, or at most
 * `milliseconds`. idle: calls since something was done; where the provider cannot wake us up, the
 * more of them the longer the sleep. */
void nic_wait(struct nic_fabric *f, int event, unsigned idle, int milliseconds);

#endif
