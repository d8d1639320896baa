/*
 * fuzz.c - fuzz target: any bytes are a message of the SmartNIC service or are refused; what a
 * request asks for, the codec can be asked.
 *
 * The first byte of the input chooses: bit 0: put the keyed hash right. The rest is the message.
 */
#include <stdlib.h>

#include "messages.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { DATA_MAX = 1 << 16 };

static void compress(const struct nic_request *r)
{
    size_t coded = 0, capacity = (size_t)r->out.bytes;
    unsigned char *src = malloc((size_t)r->raw.bytes), *dst = malloc(capacity ? capacity : 1);
    if (src && dst) {
        for (size_t i = 0; i < r->raw.bytes; i++)
            src[i] = (unsigned char)(i * i >> 3);
        enum zmpi_status status = zmpi_device_cpu()->compress(&r->job, dst, capacity, src, &coded);
        if (status == ZMPI_OK && (coded > capacity || zmpi_stream_verify(dst, coded, NULL)))
            abort();
    }
    free(src);
    free(dst);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nic_head head;
    struct nic_request request;
    if (size < 1 || size > 1 + 2 * NIC_MESSAGE_MAX)
        return 0;
    unsigned char *m = malloc(size);
    if (!m)
        return 0;
    memcpy(m, data + 1, --size);
    if ((data[0] & 1) && size >= NIC_MAC)
        test_seal(m, size);
    if (nic_head_read(m, size, &head) && nic_message_check(m, size, test_key) &&
        test_read(head.type, m, &request) && head.type == NIC_REQUEST &&
        request.raw.bytes <= DATA_MAX)
        compress(&request);
    free(m);
    return 0;
}
