/* gpuonly.c - takes no host buffers: `auto` must not choose it for one. The memory that it says is
 * its own is a part of the process's. */
#include "good.h"
#include <stdio.h>
#include <stdlib.h>

static enum zmpi_memory where(const void *address)
{
    const char *own = getenv("ZMPI_TEST_GPU_MEMORY"); /* an address and bytes behind it */
    char *end = NULL;
    uintptr_t begin = own ? (uintptr_t)strtoull(own, &end, 16) : 0;
    size_t bytes = own ? (size_t)strtoull(end, NULL, 10) : 0;
    return (uintptr_t)address - begin < bytes ? ZMPI_MEMORY_GPU : ZMPI_MEMORY_HOST;
}

static enum zmpi_status copy(void *dst, const void *src, const struct zmpi_box *box)
{
    for (size_t z = 0; z < box->planes; z++)
        for (size_t y = 0; y < box->rows; y++)
            memcpy((char *)dst + z * box->dst_plane + y * box->dst_row,
                   (const char *)src + z * box->src_plane + y * box->src_row, box->bytes);
    return ZMPI_OK;
}

static enum zmpi_status range(enum zmpi_type type, const void *src, size_t count, double threshold,
                              struct zmpi_range *found)
{
    (void)type, (void)src, (void)count, (void)threshold, (void)found;
    return ZMPI_ERR_UNSUPPORTED;
}

static void *take(const void *beside, size_t bytes)
{
    (void)beside, (void)bytes;
    return NULL;
}

static void give(void *memory)
{
    (void)memory;
}

static void prefer(unsigned number)
{
    char text[32];
    snprintf(text, sizeof text, "%u", number);
    setenv("ZMPI_TEST_GPU_PREFERRED", text, 1);
}

static void give_all(void)
{
}

const struct zmpi_device *zmpi_device_plugin(void)
{
    static struct zmpi_device device = GOOD_DEVICE("gpuonly");
    device.memory = ZMPI_MEMORY_GPU;
    device.where = where;
    device.copy = copy;
    device.range = range;
    device.take = take;
    device.give = give;
    device.prefer = prefer;
    device.give_all = give_all;
    return &device;
}
