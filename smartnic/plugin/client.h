/*
 * client.h - the plug-in's side of the protocol: one thread of the process owns the fabric and the
 * session, and serves the threads that compress. Those never call libfabric, so it cannot block
 * them for longer than the timeout.
 */
#ifndef ZMPI_NIC_CLIENT_H
#define ZMPI_NIC_CLIENT_H

#include "common/blocks.h"
#include "common/fabric.h"
#include "common/place.h"

/* One request. The caller fills in the first three and zeroes the rest. What the daemon then keeps
 * gets its place by the same call, asked once more with `placing` and `at`. */
struct nic_call {
    struct nic_request request;  /* but for the addresses and keys */
    struct nic_block *raw, *out; /* out NULL: the stream does not come back */
    bool placing;
    struct nic_place_at at;
    struct nic_call *next;
    struct nic_memory raw_memory, out_memory;
    uint64_t session, id; /* in which it was sent */
    bool unsent;          /* not in this one */
    bool sent;            /* in any: the daemon may know where the blocks are */
    double begun, heard;
    bool done;
    /* What came of it, when it is done: */
    bool failed; /* `problem` says why; the daemon may still write to `out` */
    char problem[200];
    struct nic_reply reply; /* not failed */
    double took;            /* since it was begun, or the reply before it came */
};

/*
 * Send the request. False: it has failed already, and is done. place: what ZMPI_NIC names.
 */
bool nic_client_start(const char *place, struct nic_call *call);
/* Wait for the reply, or for the end of the timeout. False: the thread is stuck, *call and its
 * blocks are not to be touched any more, and there is no use in asking again. */
bool nic_client_wait(struct nic_call *call);
bool nic_client_done(const struct nic_call *call);

#endif
