/* stuck.c - for the plug-in: the call of nic_progress whose number ZMPI_TEST_STUCK gives does not
 * return. */
#include <stdlib.h>
#include <unistd.h>

#include "common/fabric.h"

int __real_nic_progress(struct nic_fabric *f);
int __wrap_nic_progress(struct nic_fabric *f);

int __wrap_nic_progress(struct nic_fabric *f)
{
    static int n;
    const char *stuck = getenv("ZMPI_TEST_STUCK");
    volatile int for_ever = stuck && ++n == atoi(stuck);
    while (for_ever) /* what really happens takes a core */
        usleep(10000);
    return __real_nic_progress(f);
}
