/* badabi.c - built for another version of the interface. */
#include "good.h"

const struct zmpi_device *zmpi_device_plugin(void)
{
    static struct zmpi_device device = GOOD_DEVICE("badabi");
    device.abi = 77;
    return &device;
}
