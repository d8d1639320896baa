/* nic_engine.c - the simulated engine as one of zmpi-nicd's (daemon/engine.h): one piece of
 * hardware, that threads take in turn. */
#include "nic_engine.h"

#include <pthread.h>

#include "engine_sim.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct zmpi_rtl *rtl;

const char *zmpi_rtl_engine_start(void)
{
    rtl = zmpi_rtl_open(8);
    return rtl ? NULL : "no memory for the simulated engine";
}

enum zmpi_status zmpi_rtl_engine_compress(const struct zmpi_job *job, void *dst,
                                          size_t dst_capacity, const void *src, size_t *size)
{
    pthread_mutex_lock(&lock);
    enum zmpi_status status =
        rtl ? zmpi_rtl_compress(rtl, job, dst, dst_capacity, src, size) : ZMPI_ERR_DEVICE;
    if (status == ZMPI_ERR_DEVICE) {
        /* Chunks that are left in it would come out in the next call. */
        zmpi_rtl_close(rtl);
        rtl = zmpi_rtl_open(8);
    }
    pthread_mutex_unlock(&lock);
    return status;
}
