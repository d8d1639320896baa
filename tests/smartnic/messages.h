/* messages.h - one good message of each kind, for the tests of the protocol. */
#ifndef ZMPI_TEST_NIC_MESSAGES_H
#define ZMPI_TEST_NIC_MESSAGES_H

#include <string.h>

#include "common/protocol.h"

enum { MESSAGE_KINDS = NIC_PLACE };

static const unsigned char test_key[NIC_KEY] = "the key of the tests";

static inline struct nic_request test_request(void)
{
    return (struct nic_request){
        .job = {.array = {ZMPI_F32, {3, 5, 70}},
                .bound = {ZMPI_PSNR, 60},
                .abs_bound = 0.5,
                .finer = {0.375, 0.25},
                .keep = 1e20,
                .encoder = 1,
                .threads = 1,
                .axes = ZMPI_AXES_GIVEN | 5},
        .raw = {0x1122334455667788, 0x99, 3 * 5 * 70 * 4},
        .out = {0xAABB, 0xCC, 4096},
        .raw_hash = 0xDEADBEEF,
        .file_bytes = NIC_FILE_ID + 30,
    };
}

/* A stream to be decoded. */
static inline struct nic_request test_decode(void)
{
    return (struct nic_request){.decode = true,
                                .raw = {0x1122334455667788, 0x99, 900},
                                .out = {0xAABB, 0xCC, 4200},
                                .raw_hash = 0xDEADBEEF};
}

static inline size_t test_message(enum nic_type type, unsigned char *dst)
{
    const struct nic_hello hello = {.nonce = "client's nonce",
                                    .codec = nic_codec(),
                                    .address_size = 16,
                                    .address = "an address"};
    const struct nic_welcome welcome = {
        .client_nonce = "client's nonce", .server_nonce = "server's nonce", .most = 1 << 28};
    const struct nic_refused refused = {
        .client_nonce = "client's nonce", .reason = NIC_OTHER_CODEC, .codec = 7};
    const struct nic_request request = test_request();
    const struct nic_reply reply = {NIC_HELD, ZMPI_OK, 1234, 0x5678, "head", "tail"};
    const struct nic_place_at at = {.offset = 512, .head_size = 100, .head = "a record's head"};
    switch (type) {
    case NIC_HELLO:
        return nic_hello_write(dst, &hello, test_key);
    case NIC_WELCOME:
        return nic_welcome_write(dst, 42, &welcome, test_key);
    case NIC_REFUSED:
        return nic_refused_write(dst, &refused, test_key);
    case NIC_REQUEST:
        return nic_request_write(dst, 42, 3, &request, test_key);
    case NIC_REPLY:
        return nic_reply_write(dst, 42, 3, &reply, test_key);
    case NIC_PLACE:
        return nic_place_at_write(dst, 42, 3, &at, test_key);
    case NIC_WAIT:
    case NIC_BYE:
        break;
    }
    return nic_empty_write(dst, type, 42, 3, test_key);
}

/* Reads the body by its kind; true if it was taken. */
static inline bool test_read(enum nic_type type, const unsigned char *src,
                             struct nic_request *request)
{
    struct nic_hello hello;
    struct nic_welcome welcome;
    struct nic_refused refused;
    struct nic_reply reply;
    struct nic_place_at at;
    switch (type) {
    case NIC_HELLO:
        return nic_hello_read(src, &hello);
    case NIC_WELCOME:
        return nic_welcome_read(src, &welcome);
    case NIC_REFUSED:
        return nic_refused_read(src, &refused);
    case NIC_REQUEST:
        return nic_request_read(src, request);
    case NIC_REPLY:
        return nic_reply_read(src, &reply);
    case NIC_PLACE:
        return nic_place_at_read(src, &at);
    default:
        return true;
    }
}

/* Makes the keyed hash right again. */
static inline void test_seal(unsigned char *message, size_t size)
{
    nic_mac(test_key, message, size - NIC_MAC, message + size - NIC_MAC);
}

#endif
