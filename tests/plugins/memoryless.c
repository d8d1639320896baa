/* memoryless.c - a device that says it has memory, but not how to read it. */
#include "good.h"

const struct zmpi_device *zmpi_device_plugin(void)
{
    static struct zmpi_device device = GOOD_DEVICE("memoryless");
    device.memory = ZMPI_MEMORY_GPU;
    return &device;
}
