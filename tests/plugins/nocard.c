/* nocard.c - works, on a machine that has the card. */
#include "good.h"

static const char *probe_no_card(void)
{
    return "no card found";
}

const struct zmpi_device *zmpi_device_plugin(void)
{
    static struct zmpi_device device = GOOD_DEVICE("nocard");
    device.probe = probe_no_card;
    return &device;
}
