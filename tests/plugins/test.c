/* test.c - a plug-in with nothing wrong. */
#include "good.h"

const struct zmpi_device *zmpi_device_plugin(void)
{
    static const struct zmpi_device device = GOOD_DEVICE("test");
    return &device;
}
