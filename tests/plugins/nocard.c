/* nocard.c - works, on a machine that has the card. Tells that it was probed. */
#include "good.h"

#include <stdlib.h>

static const char *probe_no_card(void)
{
    setenv("ZMPI_TEST_NOCARD_PROBED", "1", 1);
    return "no card found";
}

static double cost_from_environment(const struct zmpi_work *work)
{
    const char *cost = getenv("ZMPI_TEST_NOCARD_COST");
    return cost ? strtod(cost, NULL) : cost_nothing(work);
}

const struct zmpi_device *zmpi_device_plugin(void)
{
    static struct zmpi_device device = GOOD_DEVICE("nocard");
    device.probe = probe_no_card;
    device.cost = cost_from_environment;
    return &device;
}
