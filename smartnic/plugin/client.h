/*
 * client.h - the plug-in's side of the protocol. One thread of the process owns the fabric and the
 * session, and serves the threads that compress. These never call libfabric, so it cannot block
 * them for longer than the time-out.
 */
#ifndef ZMPI_NIC_CLIENT_H
#define ZMPI_NIC_CLIENT_H

#include "common/blocks.h"
#include "common/fabric.h"
#include "common/place.h"

/* One request. The caller fills in the first three fields and zeroes the rest. A stream that the
 * daemon then keeps gets its place by the same call, sent once more with `placing` and `at`. */
struct nic_call {
    struct nic_request request;  /* without addresses and keys */
    struct nic_block *raw, *out; /* out NULL: the stream does not come back */
    bool placing;
    struct nic_place_at at;
    struct nic_call *next;
    struct nic_memory raw_memory, out_memory;
    uint64_t session, id; /* the session in which it was sent */
    bool unsent;          /* sent before, in another session */
    bool sent;            /* sent in some session: the daemon may know where the blocks are */
    double begun, heard;
    bool done;
    /* The result, when it is done: */
    bool failed; /* failed: `problem` says why; the daemon may still write to `out` */
    char problem[200];
    struct nic_reply reply; /* if it has not failed */
    double took;            /* seconds since it was begun, or since the reply before, if that came
                             * later */
};

/*
 * Sends the request. False: it has failed already, and is done. place: the value of ZMPI_NIC.
 */
bool nic_client_start(const char *place, struct nic_call *call);
/* Waits for the reply, or for the time-out. False: the thread is stuck; then *call and its blocks
 * must not be touched any more, and asking again is useless. */
bool nic_client_wait(struct nic_call *call);
bool nic_client_done(const struct nic_call *call);

#endif
