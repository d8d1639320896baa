/* engine_flare_sim.c - FLARE's simulated engine as a plug-in of zmpi-nicd (engine.h): one piece of
 * hardware, which threads use in turn, for chunks of encoder 3's profile FLARE. The daemon's cores
 * make the rest of a stream. */
#include <pthread.h>

#include "daemon/engine.h"
#include "interp/flare.h"
#include "layout/plan.h"
#include "layout/stream.h"
#include "rtl/sim/flare_sim.h"

enum { ARRAYS = 4 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct flare_sim *sim;
static bool broken; /* it did not answer, so it gets no more work */

static size_t encode(const size_t extent[3], int32_t *value, unsigned char *dst, size_t most)
{
    struct flare_sim_chunk c = {.extent = {extent[0], extent[1], extent[2]}, .value = value};
    pthread_mutex_lock(&lock);
    const size_t size = broken ? 0 : flare_sim_encode(sim, &c, dst, most);
    broken |= !size;
    pthread_mutex_unlock(&lock);
    return size;
}

static bool decode(const size_t extent[3], const unsigned char *src, size_t size, int32_t *value)
{
    struct flare_sim_chunk c = {.extent = {extent[0], extent[1], extent[2]}, .value = value};
    pthread_mutex_lock(&lock);
    const bool good = !broken && flare_sim_decode(sim, &c, src, size);
    pthread_mutex_unlock(&lock);
    return good;
}

static const char *start(void)
{
    static const struct zmpi_flare_engine engine = {encode, decode};
    sim = flare_sim_open(ARRAYS);
    if (!sim)
        return "no memory for the simulated engine";
    zmpi_flare_use(&engine);
    return NULL;
}

static enum zmpi_status compress(const struct zmpi_job *job, void *dst, size_t dst_capacity,
                                 const void *src, size_t *size)
{
    struct zmpi_plan plan;
    size_t tile[3];
    if (job->encoder != ZMPI_INTERP || job->variant != ZMPI_VARIANT_FLARE)
        return ZMPI_ERR_UNSUPPORTED;
    enum zmpi_status status = zmpi_plan_make(&job->array, &plan);
    if (status)
        return status;
    zmpi_flare_tile(plan.words, tile);
    if (!flare_sim_fits(tile))
        return ZMPI_ERR_UNSUPPORTED;
    status = zmpi_device_cpu()->compress(job, dst, dst_capacity, src, size);
    pthread_mutex_lock(&lock);
    if (broken)
        status = ZMPI_ERR_DEVICE;
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
    static const struct nic_engine engine = {
        "flare-sim", "FLARE's engine in hardware, simulated: interp:flare alone, slow, for tests",
        start, compress, decompress};
    return abi == ZMPI_NIC_ENGINE_ABI ? &engine : NULL;
}
