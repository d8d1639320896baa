/*
 * nicd.h - inside zmpi-nicd. One thread owns the fabric, the clients and their requests; workers
 * run the engine. A request goes
 *
 *     queued --memory free--> pulled in pieces --> engine --> pushed in pieces --> replied
 *                                                         \-> held --place known--> written -->
 * replied
 */
#ifndef ZMPI_NICD_H
#define ZMPI_NICD_H

#include <pthread.h>
#include <stdatomic.h>

#include "common/blocks.h"
#include "daemon/engine.h"
#include "common/fabric.h"
#include "common/place.h"

/* Numbers of time-outs: how long a client waits in all; and when a silent client is taken for dead,
 * if something is kept for it (it sends four messages in each time-out: client.c). */
enum { NICD_PATIENCE = 20 };

/* Bytes of one read. Two are under way, so that one is there when the next is started. */
enum { NICD_PIECE = 1 << 20 };

/* Folders below which it may write. */
enum { NICD_ROOTS = 16 };

struct nicd_root {
    char *path; /* resolved: without links */
    int fd;
};

struct nicd_settings {
    const struct nic_engine *engine;
    const char *provider, *listen;
    size_t memory;             /* most bytes of data and results at a time */
    unsigned queue;            /* most requests that wait */
    unsigned clients, threads; /* at most */
    double timeout;            /* seconds, for clients */
    struct nicd_root root[NICD_ROOTS];
    unsigned root_count;
    bool sync; /* sync every record to the device */
    bool verbose;
};

struct nicd;

struct nicd_request {
    struct nicd_request *next;          /* links in the client's queue; in the workers' queue */
    struct nicd_request *later, **here; /* links of all admitted requests */
    struct nicd *server;
    struct nicd_client *client;
    uint64_t id;
    struct nic_request m;
    struct nic_block *in, *out;
    struct nic_memory in_memory, out_memory;
    size_t block_bytes;       /* bytes of in and out */
    struct nic_op op[2];      /* pieces under way */
    unsigned flying;          /* number of pieces */
    int error;                /* bytes of one piece */
    size_t asked;             /* bytes that are here, there, or under way */
    double moved;             /* when the last piece arrived */
    _Atomic double wait_sent; /* when the client was last told to wait */
    bool parked;              /* the client has stopped, so its memory is not counted any more */
    struct nic_reply reply;

    /* For a request whose stream goes to a file: */
    char *path; /* malloc */
    unsigned char file_id[NIC_FILE_ID];
    unsigned char *stream; /* malloc */
    size_t stream_size;
    bool held; /* the stream waits for its place, or has it: */
    bool has_place;
    struct nic_place_at at;
    double place_time;
    atomic_bool late; /* after that the client has given up */
};

struct nicd_client {
    struct nicd_client *next, *previous; /* in a circle */
    struct nicd *server;
    uint64_t session, last_id;
    unsigned char key[NIC_KEY], nonce[NIC_NONCE]; /* the nonce of its greeting */
    unsigned char address[NIC_ADDRESS_MAX];
    fi_addr_t peer;
    double heard;
    bool proven;                        /* it has sent a message with the session's key */
    uint64_t served, served_before;     /* number of its last request; earlier ones have all come */
    struct nicd_request *first, **last; /* queued */
    unsigned active;                    /* requests admitted, messages under way */
    bool gone;                          /* to be freed when nothing is active any more */
};

struct nicd {
    struct nicd_settings set;
    struct nic_fabric fabric;
    struct nic_place place;
    struct nic_blocks blocks;
    struct nicd_client *next_client; /* the client in the circle whose request is next; NULL: no
                                      * clients */
    unsigned client_count, proven_count;
    unsigned queued, admitted;
    struct nicd_request *all; /* admitted */
    size_t used, parked;      /* bytes of admitted requests; of parked ones */
    size_t held;              /* bytes of streams that wait for their places or are being written */
    int event;                /* wakes the fabric's thread */
    double ticked;
    uint64_t served; /* requests */

    pthread_mutex_t lock; /* protects what follows */
    pthread_cond_t work;
    struct nicd_request *ready, **ready_end, *finished;
    unsigned running, ready_count;
    bool stop;
    pthread_t *thread;
    unsigned thread_count;
};

/* clients.c */
/* The first request of the client's queue, which must not be empty. */
struct nicd_request *nicd_unqueue(struct nicd_client *c);
/* Keeps memory for later requests, as far as there is memory. */
void nicd_keep_the_rest(struct nicd *s);
/* The engine has finished a request: others may use its blocks. */
void nicd_request_give(struct nicd_request *r);
void nicd_request_end(struct nicd_request *r);
/* Ends the requests that wait for their turn or their place. */
void nicd_requests_forget(struct nicd_client *c);
/* At the end: drops all clients, with what they have queued. */
void nicd_clients_free(struct nicd *s);
/* Sends a message to a client. A client that cannot be reached finds out by itself. */
void nicd_send(struct nicd_client *c, const unsigned char *bytes, size_t size);
/* Drops a client and what it has queued. The caller must keep the client active, so that it is
 * there until the caller is done. */
void nicd_client_drop(struct nicd_client *c, const char *why);
/* Ends one activity of a client. */
void nicd_client_release(struct nicd_client *c);

/* serve.c: greetings and messages */
bool nicd_listen(struct nicd *s, char message[256]);
/* Runs until stop is set; false if the fabric failed. */
bool nicd_serve(struct nicd *s, const atomic_bool *stop);
void nicd_close(struct nicd *s);

/* request.c */
void nicd_request_queue(struct nicd_client *c, uint64_t id, const struct nic_request *m);
void nicd_request_place(struct nicd_client *c, uint64_t id, const struct nic_place_at *at);
/* Takes requests from the queues for which there is memory, clients in turn. */
void nicd_requests_admit(struct nicd *s);
/* Sends back what workers have finished. Returns the number of requests. */
int nicd_requests_finish(struct nicd *s);
/* Sends signs of life to waiting clients; parks requests whose client has stopped. */
void nicd_requests_tick(struct nicd *s, double now);

/* files.c */
/* Allows the daemon to write below this folder; false: `message` says why not. */
bool nicd_root_add(struct nicd_settings *s, const char *folder);
/* Does the file of a request exist, whose data are here? Returns 0 or an errno. */
int nicd_file_find(struct nicd_request *r);
/* Writes the held stream to its place. */
struct nic_reply nicd_file_write(struct nicd_request *r);

/* workers.c */
bool nicd_workers_start(struct nicd *s);
void nicd_workers_stop(struct nicd *s);
void nicd_work(struct nicd *s, struct nicd_request *r);

#endif
