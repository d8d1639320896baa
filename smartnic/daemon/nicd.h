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

/* Time-outs: that a client waits for all; after which one that says nothing is thought to be dead,
 * if something is kept for it (it says something each four: client.c). */
enum { NICD_PATIENCE = 20 };

/* What is asked for at once; two are under way, so that one is there when the next is asked for. */
enum { NICD_PIECE = 1 << 20 };

/* Folders in which it may write. */
enum { NICD_ROOTS = 16 };

struct nicd_root {
    char *path; /* without links */
    int fd;
};

struct nicd_settings {
    const struct nic_engine *engine;
    const char *provider, *listen;
    size_t memory;             /* bytes of data and results that are here at once */
    unsigned queue;            /* requests that wait */
    unsigned clients, threads; /* at most */
    double timeout;            /* seconds, for clients */
    struct nicd_root root[NICD_ROOTS];
    unsigned root_count;
    bool sync; /* what is written goes to the device at once */
    bool verbose;
};

struct nicd;

struct nicd_request {
    struct nicd_request *next;          /* of the client's queue; of those that the workers have */
    struct nicd_request *later, **here; /* all that are admitted */
    struct nicd *server;
    struct nicd_client *client;
    uint64_t id;
    struct nic_request m;
    struct nic_block *in, *out;
    struct nic_memory in_memory, out_memory;
    size_t block_bytes;       /* bytes of in and out */
    struct nic_op op[2];      /* pieces under way */
    unsigned flying;          /* so many */
    int error;                /* of one of them */
    size_t asked;             /* bytes that are here, there, or under way */
    double moved;             /* last time that a piece arrived */
    _Atomic double wait_sent; /* last time that the client was told to wait */
    bool parked;              /* the client has stopped: what it holds is not counted any more */
    struct nic_reply reply;

    /* Of one whose stream goes to a file: */
    char *path; /* malloc */
    unsigned char file_id[NIC_FILE_ID];
    unsigned char *stream; /* malloc */
    size_t stream_size;
    bool held; /* the stream waits for its place, or has it: */
    bool has_place;
    struct nic_place_at at;
    double place_time;
    atomic_bool late; /* the client will not have waited */
};

struct nicd_client {
    struct nicd_client *next, *previous; /* in a circle */
    struct nicd *server;
    uint64_t session, last_id;
    unsigned char key[NIC_KEY], nonce[NIC_NONCE]; /* the nonce: of its greeting */
    unsigned char address[NIC_ADDRESS_MAX];
    fi_addr_t peer;
    double heard;
    bool proven;                        /* a message with the session's key has come */
    uint64_t served, served_before;     /* its requests; all that were before it came */
    struct nicd_request *first, **last; /* queued */
    unsigned active;                    /* requests admitted, messages under way */
    bool gone;                          /* freed when nothing is active any more */
};

struct nicd {
    struct nicd_settings set;
    struct nic_fabric fabric;
    struct nic_place place;
    struct nic_blocks blocks;
    struct nicd_client *next_client; /* of the circle: whose request is next; NULL: no clients */
    unsigned client_count, proven_count;
    unsigned queued, admitted;
    struct nicd_request *all; /* admitted */
    size_t used, parked;      /* bytes of admitted requests; of those that are parked */
    size_t held;              /* of streams that wait for their places, or are being written */
    int event;                /* wakes the fabric's thread */
    double ticked;
    uint64_t served; /* requests */

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t work;
    struct nicd_request *ready, **ready_end, *finished;
    unsigned running, ready_count;
    bool stop;
    pthread_t *thread;
    unsigned thread_count;
};

/* clients.c */
/* The first of the client's queue, which must have one. */
struct nicd_request *nicd_unqueue(struct nicd_client *c);
/* Lets blocks be kept for other requests, as far as there is memory. */
void nicd_keep_the_rest(struct nicd *s);
/* The engine has done its part: its blocks are for others. */
void nicd_request_give(struct nicd_request *r);
void nicd_request_end(struct nicd_request *r);
/* Those that wait for their turn or their place. */
void nicd_requests_forget(struct nicd_client *c);
/* At the end: all clients, with what they have queued. */
void nicd_clients_free(struct nicd *s);
/* Tell a client; one that cannot be told finds out by itself. */
void nicd_send(struct nicd_client *c, const unsigned char *bytes, size_t size);
/* Forget a client and what it has queued. Who drops a client holds on to it (active), so that it is
 * there until that is over. */
void nicd_client_drop(struct nicd_client *c, const char *why);
/* One active thing less. */
void nicd_client_release(struct nicd_client *c);

/* serve.c: greetings and messages */
bool nicd_listen(struct nicd *s, char message[256]);
/* From here on until stop is set; false if the fabric failed. */
bool nicd_serve(struct nicd *s, const atomic_bool *stop);
void nicd_close(struct nicd *s);

/* request.c */
void nicd_request_queue(struct nicd_client *c, uint64_t id, const struct nic_request *m);
void nicd_request_place(struct nicd_client *c, uint64_t id, const struct nic_place_at *at);
/* Take from the queues what there is memory for, clients in turn. */
void nicd_requests_admit(struct nicd *s);
/* What workers have finished goes back. Returns how many that were. */
int nicd_requests_finish(struct nicd *s);
/* Signs of life to those who wait; requests whose client has stopped are parked. */
void nicd_requests_tick(struct nicd *s, double now);

/* files.c */
/* May the daemon write below this folder from now on? */
bool nicd_root_add(struct nicd_settings *s, const char *folder);
/* Is there the file of a request whose data are here? 0 or an errno. */
int nicd_file_find(struct nicd_request *r);
/* The held stream to its place. */
struct nic_reply nicd_file_write(struct nicd_request *r);

/* workers.c */
bool nicd_workers_start(struct nicd *s);
void nicd_workers_stop(struct nicd *s);
void nicd_work(struct nicd *s, struct nicd_request *r);

#endif
