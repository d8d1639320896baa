/*
 * protocol.h - the messages between zmpi-nicd and a process that compresses or reads
 * (docs/internals/smartnic.md part 2). Data go by RMA; these small control messages each end with a
 * keyed hash.
 *
 * A receiver calls nic_head_read, finds the key for it, calls nic_message_check, then the message's
 * own nic_*_read.
 */
#ifndef ZMPI_NIC_PROTOCOL_H
#define ZMPI_NIC_PROTOCOL_H

#include "device.h"
#include "common/keys.h"

enum { NIC_VERSION = 6 };

/* docs/internals/smartnic.md has the messages' sizes; none is larger than this. */
enum { NIC_ADDRESS_MAX = 128, NIC_HEAD = 32, NIC_MESSAGE_MAX = 256 };

enum nic_type {
    NIC_HELLO = 1, /* client: here I am */
    NIC_WELCOME,   /* daemon: this is your session */
    NIC_REFUSED,   /* daemon: there will be no session */
    NIC_REQUEST,   /* client: compress this, or decode it */
    NIC_REPLY,     /* daemon: done */
    NIC_WAIT,      /* daemon: not done yet, but alive; client: alive, still wants what is kept */
    NIC_BYE,       /* client: I am done; daemon: others need your place, come again */
    NIC_PLACE      /* client: write what you keep to this place */
};

struct nic_head {
    unsigned version;
    enum nic_type type;
    uint64_t session; /* 0: none yet */
    uint64_t id;      /* of a request, rising; else 0 */
};

/* HELLO and REFUSED have these fields in all versions, so that two versions can tell. */
struct nic_hello {
    unsigned char nonce[NIC_NONCE];
    uint32_t codec; /* nic_codec() */
    size_t address_size;
    unsigned char address[NIC_ADDRESS_MAX]; /* of the client, fi_getname; zeros behind it */
};

struct nic_welcome {
    unsigned char client_nonce[NIC_NONCE], server_nonce[NIC_NONCE];
    uint64_t most; /* most bytes of one request's data and of room for its result */
};

enum nic_reason { NIC_OTHER_VERSION = 1, NIC_OTHER_CODEC, NIC_TOO_MANY_CLIENTS };

struct nic_refused {
    unsigned char client_nonce[NIC_NONCE];
    enum nic_reason reason;
    uint32_t codec;
};

/* Memory of the client that the daemon may read, or write. */
struct nic_remote {
    uint64_t address, key, bytes;
};

/* Behind the data of a request whose stream goes to a file: the container's id, and its path. */
enum { NIC_FILE_ID = 16, NIC_FILE_MAX = NIC_FILE_ID + 4095 };

struct nic_request {
    bool decode;         /* raw is a stream, out.bytes its array's size; job is all 0 */
    struct zmpi_job job; /* the daemon chooses `threads` */
    struct nic_remote raw, out;
    uint64_t raw_hash; /* zmpi_hash, seed 0, of what is at raw */
    size_t file_bytes; /* bytes of the path behind the data; 0: the stream comes back. Otherwise
                        * out.bytes is the most that it may take, and `out` has no address. */
};

/* Head of a record, without a list: docs/format.md 2.2. */
enum { NIC_RECORD_HEAD = 64 + 8 + 16 * 4 };

struct nic_place_at {
    uint64_t offset; /* 0: nowhere, drop it */
    size_t head_size;
    unsigned char head[NIC_RECORD_HEAD];
};

enum nic_outcome {
    NIC_DONE = 1,  /* done: status, size and hash tell the result */
    NIC_BUSY,      /* too many requests are waiting */
    NIC_TOO_LARGE, /* too large for the daemon's memory */
    NIC_LOST,      /* the data did not arrive as they were sent */
    NIC_HELD,      /* size and ends tell the result; the stream waits for its place */
    NIC_WRITTEN,
    NIC_NOT_WRITTEN /* size is an errno */
};

struct nic_reply {
    enum nic_outcome outcome;
    enum zmpi_status status;
    uint64_t size, hash; /* of the stream, or the array, if status is ZMPI_OK */
    unsigned char head[ZMPI_CODED_HEAD], tail[ZMPI_CODED_TAIL]; /* NIC_HELD */
};

/* The codec's version. Only the same version surely makes the same bytes. */
uint32_t nic_codec(void);

/* Each of these writes a whole message to dst (NIC_MESSAGE_MAX bytes) and returns its size. */
size_t nic_hello_write(unsigned char *dst, const struct nic_hello *m,
                       const unsigned char key[NIC_KEY]);
size_t nic_welcome_write(unsigned char *dst, uint64_t session, const struct nic_welcome *m,
                         const unsigned char key[NIC_KEY]);
size_t nic_refused_write(unsigned char *dst, const struct nic_refused *m,
                         const unsigned char key[NIC_KEY]);
size_t nic_request_write(unsigned char *dst, uint64_t session, uint64_t id,
                         const struct nic_request *m, const unsigned char key[NIC_KEY]);
size_t nic_reply_write(unsigned char *dst, uint64_t session, uint64_t id, const struct nic_reply *m,
                       const unsigned char key[NIC_KEY]);
size_t nic_place_at_write(unsigned char *dst, uint64_t session, uint64_t id,
                          const struct nic_place_at *m, const unsigned char key[NIC_KEY]);
/* NIC_WAIT or NIC_BYE, which have no fields. */
size_t nic_empty_write(unsigned char *dst, enum nic_type type, uint64_t session, uint64_t id,
                       const unsigned char key[NIC_KEY]);

/* Is it a message of a known kind and the right size? Of other versions only HELLO and REFUSED
 * count. */
bool nic_head_read(const unsigned char *src, size_t size, struct nic_head *head);
/* Was it written with this key? */
bool nic_message_check(const unsigned char *src, size_t size, const unsigned char key[NIC_KEY]);

/* For messages that passed these two. They return false if a field has a forbidden value. */
bool nic_hello_read(const unsigned char *src, struct nic_hello *m);
bool nic_welcome_read(const unsigned char *src, struct nic_welcome *m);
bool nic_refused_read(const unsigned char *src, struct nic_refused *m);
bool nic_request_read(const unsigned char *src, struct nic_request *m);
bool nic_reply_read(const unsigned char *src, struct nic_reply *m);
bool nic_place_at_read(const unsigned char *src, struct nic_place_at *m);

/* May this job be sent? Every job of the codec may, once the bound of a ratio has been found. */
bool nic_job_valid(const struct zmpi_job *job);

#endif
