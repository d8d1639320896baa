/* engine_flare_sim.c - FLARE's simulated engine as a plug-in of zmpi-nicd (engine.h): one piece of
 * hardware, which threads use in turn, for chunks of encoder 3's profile FLARE. The daemon's cores
 * make the rest of a stream.
 *
 * ZMPI_FLARE_NETWORK names a file that zmpi enhance wrote: its streams are decoded to what the
 * network makes of them, which runs in the engine. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "container/container.h"
#include "daemon/engine.h"
#include "enhance/enhance.h"
#include "interp/flare/flare.h"
#include "layout/plan.h"
#include "layout/stream.h"
#include "rtl/sim/flare_sim.h"

enum { ARRAYS = 4 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct flare_sim *sim;
static bool broken; /* it did not answer, so it gets no more work */
static struct zmpi_enhancer enhancer;
static bool enhances;

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

/* ---- the network ---- */

static bool run_piece(const struct zmpi_net *net, const unsigned char *in, size_t h, size_t w,
                      int8_t *out)
{
    enum { BESIDE = 128 }; /* a value that is its neighbours' mean */
    static struct flare_net loaded;
    static bool loads = true;
    pthread_mutex_lock(&lock);
    if (loads || memcmp(loaded.weight, net->weight, sizeof net->weight) != 0 ||
        memcmp(loaded.bias, net->bias, sizeof net->bias) != 0 ||
        memcmp(loaded.shift, net->shift, sizeof net->shift) != 0) {
        memcpy(loaded.weight, net->weight, sizeof net->weight);
        memcpy(loaded.bias, net->bias, sizeof net->bias);
        memcpy(loaded.shift, net->shift, sizeof net->shift);
        flare_sim_net(sim, &loaded);
        loads = false;
    }
    broken = broken || !flare_sim_piece(sim, in, BESIDE, h, w, out);
    const bool good = !broken;
    pthread_mutex_unlock(&lock);
    return good;
}

static enum zmpi_status read_file(void *context, uint64_t offset, void *dst, size_t size)
{
    const ssize_t n = pread(*(int *)context, dst, size, (off_t)offset);
    return n < 0 ? ZMPI_ERR_IO : (size_t)n < size ? ZMPI_ERR_TRUNCATED : ZMPI_OK;
}

/* NULL, or what is wrong. */
static const char *load_network(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat s;
    struct zmpi_container c;
    if (fd < 0)
        return "the file that ZMPI_FLARE_NETWORK names cannot be read";
    const struct zmpi_reader in = {.read = read_file,
                                   .context = &fd,
                                   .file_size = fstat(fd, &s) == 0 ? (uint64_t)s.st_size : 0};
    zmpi_container_init(&c);
    enum zmpi_status status = zmpi_container_open(&c, &in);
    if (!status)
        status = zmpi_enhancer_read(&c, &in, &enhancer, &enhances);
    zmpi_container_free(&c);
    close(fd);
    if (status || !enhances)
        return "the file that ZMPI_FLARE_NETWORK names has no network: zmpi enhance writes one";
    zmpi_net_use(run_piece);
    return NULL;
}

static const char *start(void)
{
    const char *path = secure_getenv("ZMPI_FLARE_NETWORK");
    static const struct zmpi_flare_engine engine = {encode, decode};
    sim = flare_sim_open(ARRAYS);
    if (!sim)
        return "no memory for the simulated engine";
    zmpi_flare_use(&engine);
    return path && *path ? load_network(path) : NULL;
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
    struct zmpi_stream s;
    if (!enhances)
        return zmpi_device_cpu()->decompress(dst, dst_capacity, src, src_size, NULL, threads);
    enum zmpi_status status = zmpi_stream_parse(&s, src, src_size);
    if (!status && dst_capacity < s.info.decoded_bytes)
        status = ZMPI_ERR_SPACE;
    if (!status)
        status = zmpi_enhancer_find(&enhancer, &s, &s.enhanced);
    if (!status)
        status = zmpi_stream_decode(&s, NULL, threads, dst, NULL);
    pthread_mutex_lock(&lock);
    if (broken)
        status = ZMPI_ERR_DEVICE;
    pthread_mutex_unlock(&lock);
    return status;
}

extern __attribute__((visibility("default"))) nic_engine_get zmpi_nic_engine;

const struct nic_engine *zmpi_nic_engine(unsigned abi)
{
    static const struct nic_engine engine = {
        "flare-sim", "FLARE's engine in hardware, simulated: interp:flare alone, slow, for tests",
        start, compress, decompress};
    return abi == ZMPI_NIC_ENGINE_ABI ? &engine : NULL;
}
