/* engine_rtl_sim.c - the simulated engine as a plug-in of zmpi-nicd (engine.h): one piece of
 * hardware, which threads use in turn. The daemon's cores decode. */
#include <pthread.h>

#include "daemon/engine.h"
#include "rtl/sim/engine_sim.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct zmpi_rtl *rtl;

static const char *start(void)
{
    rtl = zmpi_rtl_open(8);
    return rtl ? NULL : "no memory for the simulated engine";
}

static enum zmpi_status compress(const struct zmpi_job *job, void *dst, size_t dst_capacity,
                                 const void *src, size_t *size)
{
    pthread_mutex_lock(&lock);
    enum zmpi_status status =
        rtl ? zmpi_rtl_compress(rtl, job, dst, dst_capacity, src, size) : ZMPI_ERR_DEVICE;
    if (status == ZMPI_ERR_DEVICE) {
        /* Chunks that stay in it would come out in the next call. */
        zmpi_rtl_close(rtl);
        rtl = zmpi_rtl_open(8);
    }
    pthread_mutex_unlock(&lock);
    return status;
}

static enum zmpi_status decompress(void *dst, size_t dst_capacity, const void *src, size_t src_size,
                                   int threads)
{
    return zmpi_device_cpu()->decompress(dst, dst_capacity, src, src_size, NULL, threads);
}

extern __attribute__((visibility("default"))) nic_engine_get zmpi_nic_engine;

const struct nic_engine *zmpi_nic_engine(unsigned abi)
{
    static const struct nic_engine engine = {"rtl-sim",
                                             "the engine in hardware, simulated: slow, for tests",
                                             start, compress, decompress};
    return abi == ZMPI_NIC_ENGINE_ABI ? &engine : NULL;
}
