/* good.h - a device that stores its input unchanged: enough to test how devices are found and
 * chosen. */
#ifndef ZMPI_TEST_PLUGIN_GOOD_H
#define ZMPI_TEST_PLUGIN_GOOD_H

#include <string.h>

#include "device.h"
#include "layout/stream.h"

const struct zmpi_device *zmpi_device_plugin(void);

static const char *probe_fine(void)
{
    return NULL;
}

/* Cheaper than anything: `auto` must take it if it is allowed to. */
static double cost_nothing(const struct zmpi_work *work)
{
    (void)work;
    return 0;
}

static enum zmpi_status copy_compress(const struct zmpi_job *job, void *dst, size_t dst_capacity,
                                      const void *src, size_t *size)
{
    size_t bytes = job->array.extent[0] * job->array.extent[1] * job->array.extent[2] *
                   (job->array.type == ZMPI_F64 ? 8 : 4);
    if (dst_capacity < bytes)
        return ZMPI_ERR_SPACE;
    memcpy(dst, src, bytes);
    *size = bytes;
    return ZMPI_OK;
}

static enum zmpi_status copy_decompress(void *dst, size_t dst_capacity, const void *src,
                                        size_t src_size, const unsigned char *need, int threads)
{
    (void)need;
    (void)threads;
    if (dst_capacity < src_size)
        return ZMPI_ERR_SPACE;
    memcpy(dst, src, src_size);
    return ZMPI_OK;
}

#define GOOD_DEVICE(device_name)                                                                   \
    {                                                                                              \
        .size = sizeof(struct zmpi_device), .abi = ZMPI_DEVICE_ABI, .memory = ZMPI_MEMORY_HOST,    \
        .encoders = 1u << ZMPI_FLE, .name = (device_name), .probe = probe_fine,                    \
        .cost = cost_nothing, .compress = copy_compress, .decompress = copy_decompress,            \
    }

#endif
