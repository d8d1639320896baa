/* client_state.h - what the thread that talks to zmpi-nicd (client.c) shares with the threads that
 * ask (ask.c). */
#ifndef ZMPI_NIC_CLIENT_STATE_H
#define ZMPI_NIC_CLIENT_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "plugin/client.h"

struct client {
    pthread_mutex_t lock;
    pthread_cond_t done;
    const char *path;
    pthread_t thread;
    pid_t pid; /* the process that has the thread; 0: none yet */
    pid_t tid;
    int event;              /* wakes the thread */
    struct nic_call *fresh; /* calls that the thread has not seen yet */
    bool quit, stuck;
    double timeout;   /* the last one that the thread has read */
    atomic_uint tick; /* increases as long as the thread is alive */

    /* Only the thread uses these: */
    struct nic_place place;
    struct nic_fabric fabric;
    enum { CLOSED, GREETED, WELCOMED } state;
    fi_addr_t daemon;
    unsigned char nonce[NIC_NONCE], key[NIC_KEY];
    uint64_t session, last_id, most;
    double greeted, replied; /* when it was sent; when the last reply came */
    struct nic_call *active;
    unsigned held;     /* number of streams that the daemon keeps for us in this session */
    char failure[200]; /* "" if there is none */
    bool dismissed;    /* the daemon gave our place to others: greet again */
    bool rejected;     /* the daemon has no place for us */
};

/* The thread. */
void *nic_client_run(void *client);

#endif
