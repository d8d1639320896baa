/*
 * plugin.c - the CUDA device, as zmpi sees it: libzmpi_cuda.so. It works as cuSZp does (section 3
 * of the paper): the array is in the GPU's memory or goes there, one kernel compresses it, and
 * exactly the payload comes back.
 */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/rate.h"
#include "calls.h"
#include "layout/stream.h"

/* Compute capability of the oldest GPUs for which the kernels are built. */
enum { LEAST_MAJOR = 7, LEAST_MINOR = 5 };

__attribute__((visibility("default"))) const struct zmpi_device *zmpi_device_plugin(void);

/* ---- what there is ---- */

static char missing[200];

static bool new_enough(int device)
{
    int major = 0, minor = 0;
    return cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) ==
               cudaSuccess &&
           cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) ==
               cudaSuccess &&
           (major > LEAST_MAJOR || (major == LEAST_MAJOR && minor >= LEAST_MINOR));
}

static const char *explain(cudaError_t error)
{
    int driver = 0;
    if (error == cudaErrorNoDevice)
        return "no NVIDIA GPU is visible to this process";
    if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0)
        return "no NVIDIA driver (libcuda.so.1) on this machine";
    if (error == cudaErrorInsufficientDriver)
        snprintf(missing, sizeof missing,
                 "the NVIDIA driver is too old: it can CUDA %d.%d, this plug-in needs %d.%d",
                 driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000,
                 CUDART_VERSION % 1000 / 10);
    else
        snprintf(missing, sizeof missing, "CUDA does not start: %s", cudaGetErrorString(error));
    return missing;
}

/* Starts the driver, which reads CUDA_VISIBLE_DEVICES then, but makes no context: a program that
 * never uses a GPU keeps its memory. */
static const char *probe(void)
{
    int devices = 0;
    cudaError_t error = cudaGetDeviceCount(&devices);
    if (error != cudaSuccess) {
        cudaGetLastError();
        return explain(error);
    }
    if (devices == 0)
        return explain(cudaErrorNoDevice);
    for (int i = 0; i < devices; i++)
        if (new_enough(i))
            return NULL;
    snprintf(missing, sizeof missing, "no GPU of compute capability %d.%d or later", LEAST_MAJOR,
             LEAST_MINOR);
    return missing;
}

/* ---- time of a call from host memory and back ---- */

static struct zmpi_rate compress_rate, decompress_rate;

/* The first estimate: one core copies to pinned memory, which is slower than PCIe and the kernel;
 * the host starts a kernel and waits twice. cost adds 0.3 s for a process's first use of a GPU. */
static double guess(size_t bytes)
{
    return 60e-6 + (double)bytes / 9e9;
}

static double cost(const struct zmpi_work *work)
{
    if (gpu_broken())
        return HUGE_VAL;
    return zmpi_rate_expect(work->decompress ? &decompress_rate : &compress_rate, work->bytes,
                            guess(work->bytes)) +
           (gpu_in_use() ? 0 : 0.3);
}

static enum zmpi_status compress(const struct zmpi_job *job, void *dst, size_t dst_capacity,
                                 const void *src, size_t *size)
{
    double start = zmpi_seconds();
    bool typical = true;
    size_t bytes = 0;
    enum zmpi_status status = gpu_compress(job, dst, dst_capacity, src, size, &typical);
    if (!status && typical && !zmpi_array_bytes(&job->array, &bytes))
        zmpi_rate_learn(&compress_rate, bytes, guess(bytes), zmpi_seconds() - start);
    return status;
}

static enum zmpi_status decompress(void *dst, size_t dst_capacity, const void *src, size_t src_size,
                                   const unsigned char *need, int threads)
{
    double start = zmpi_seconds();
    bool typical = need == NULL;
    size_t bytes = 0;
    (void)threads;
    enum zmpi_status status =
        gpu_decompress(dst, dst_capacity, src, src_size, need, &bytes, &typical);
    if (!status && typical)
        zmpi_rate_learn(&decompress_rate, bytes, guess(bytes), zmpi_seconds() - start);
    return status;
}

/* ---- memory ---- */

static void *take(const void *beside, size_t bytes)
{
    struct gpu_place place = gpu_place_of(beside);
    struct gpu_lane *lane = gpu_lane_borrow(&place);
    if (!lane)
        return NULL;
    void *memory = gpu_block_take(lane, bytes);
    gpu_lane_return(lane);
    return memory;
}

static const char *problem(void)
{
    return gpu_problem()[0] ? gpu_problem() : NULL;
}

const struct zmpi_device *zmpi_device_plugin(void)
{
    static const struct zmpi_device device = {
        .size = sizeof device,
        .abi = ZMPI_DEVICE_ABI,
        .memory = ZMPI_MEMORY_HOST | ZMPI_MEMORY_GPU,
        .encoders = 1u << ZMPI_FLE,
        .name = "cuda",
        .probe = probe,
        .cost = cost,
        .compress = compress,
        .decompress = decompress,
        .problem = problem,
        .where = gpu_where,
        .copy = gpu_copy,
        .range = gpu_range,
        .take = take,
        .give = gpu_block_give,
        .prefer = gpu_prefer,
        .give_all = gpu_blocks_free,
    };
    return &device;
}
