/* gpuonly.c - takes no host buffers: `auto` must not choose it for one. */
#include "good.h"

const struct zmpi_device *zmpi_device_plugin(void)
{
    static struct zmpi_device device = GOOD_DEVICE("gpuonly");
    device.memory = ZMPI_MEMORY_GPU;
    return &device;
}
