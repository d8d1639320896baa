/*
 * decoder.c - a device that codes as the CPU does, until it is told to fail. The environment, which
 * is looked at anew by each call, says when:
 *
 *     ZMPI_TEST_DECODER=KIND:N      in the Nth call of decompress in the process
 *     ZMPI_TEST_DECODER=KIND:0      in all of them
 *     ZMPI_TEST_DECODER_COST=S      seconds that it expects to decode anything in [0]
 *
 * KIND: fail, memory, unsupported (with a part of the array overwritten), damaged (it says that the
 * stream is), garbage and zeros (as if nothing were wrong). It leaves the number of its calls in
 * ZMPI_TEST_DECODER_CALLS, if there is such a variable: not in programs of several threads.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "layout/stream.h"

__attribute__((visibility("default"))) const struct zmpi_device *zmpi_device_plugin(void);

static atomic_int calls;

static const char *probe(void)
{
    return NULL;
}

/* For `auto`: decodes, and does not compress. */
static double cost(const struct zmpi_work *work)
{
    const char *set = getenv("ZMPI_TEST_DECODER_COST");
    return work->decompress ? atof(set ? set : "0") : 1e9;
}

static enum zmpi_status compress(const struct zmpi_job *job, void *dst, size_t dst_capacity,
                                 const void *src, size_t *size)
{
    return zmpi_device_cpu()->compress(job, dst, dst_capacity, src, size);
}

/* The kind of this call's fault, with its length; NULL: none. */
static const char *fault(size_t *length)
{
    char text[20];
    const char *set = getenv("ZMPI_TEST_DECODER"), *colon = set ? strchr(set, ':') : NULL;
    const int now = atomic_fetch_add(&calls, 1) + 1, when = colon ? atoi(colon + 1) : -1;
    snprintf(text, sizeof text, "%d", now);
    if (getenv("ZMPI_TEST_DECODER_CALLS"))
        setenv("ZMPI_TEST_DECODER_CALLS", text, 1);
    *length = colon ? (size_t)(colon - set) : 0;
    return when == 0 || when == now ? set : NULL;
}

static enum zmpi_status decompress(void *dst, size_t dst_capacity, const void *src, size_t src_size,
                                   const unsigned char *need, int threads)
{
    static const struct {
        const char *name;
        enum zmpi_status status;
        int byte;
    } kinds[] = {{"fail", ZMPI_ERR_DEVICE, 1},
                 {"memory", ZMPI_ERR_MEMORY, 2},
                 {"unsupported", ZMPI_ERR_UNSUPPORTED, 3},
                 {"damaged", ZMPI_ERR_CHECKSUM, 4},
                 {"garbage", ZMPI_OK, 0x5A},
                 {"zeros", ZMPI_OK, 0}};
    size_t length;
    const char *kind = fault(&length);
    for (size_t i = 0; kind && i < sizeof kinds / sizeof *kinds; i++)
        if (strlen(kinds[i].name) == length && memcmp(kind, kinds[i].name, length) == 0) {
            memset(dst, kinds[i].byte, kinds[i].status ? dst_capacity / 2 : dst_capacity);
            return kinds[i].status;
        }
    return zmpi_device_cpu()->decompress(dst, dst_capacity, src, src_size, need, threads);
}

const struct zmpi_device *zmpi_device_plugin(void)
{
    static const struct zmpi_device device = {.size = sizeof device,
                                              .abi = ZMPI_DEVICE_ABI,
                                              .memory = ZMPI_MEMORY_HOST,
                                              .encoders = 1u << ZMPI_FLE,
                                              .name = "decoder",
                                              .probe = probe,
                                              .cost = cost,
                                              .compress = compress,
                                              .decompress = decompress};
    return &device;
}
