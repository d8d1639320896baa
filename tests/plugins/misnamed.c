/* misnamed.c - calls itself what it is not: it must not pass for the CPU. */
#include "good.h"

const struct zmpi_device *zmpi_device_plugin(void)
{
    static const struct zmpi_device device = GOOD_DEVICE("cpu");
    return &device;
}
