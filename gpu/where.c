/* where.c - in whose memory a buffer is. */
#define _GNU_SOURCE /* pipe2 */
#include "gpu.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

/*
 * The runtime makes a context for a process that asks it about an address: hundreds of megabytes of
 * the GPU's memory, in every process of a program that never uses it. The driver can tell without
 * (CUDA driver API, 6.7 and 6.8). It is loaded by the runtime, not by us; where it is not the
 * driver's own library that is behind the runtime, the runtime is asked.
 */
static struct {
    int (*current)(void **context);
    int (*primary)(int device, unsigned *flags, int *active);
    int devices;
} driver;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void find_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (!library || cudaGetDeviceCount(&driver.devices) != cudaSuccess)
        return;
    *(void **)&driver.current = dlsym(library, "cuCtxGetCurrent");
    *(void **)&driver.primary = dlsym(library, "cuDevicePrimaryCtxGetState");
}

bool gpu_in_use(void)
{
    void *context = NULL;
    unsigned flags;
    pthread_once(&once, find_driver);
    if (!driver.current || !driver.primary || (!driver.current(&context) && context))
        return true;
    for (int i = 0; i < driver.devices; i++) {
        int active = 0;
        if (driver.primary(i, &flags, &active) || active)
            return true;
    }
    return false;
}

/* Can the CPU read it? The kernel tells without a signal. */
static bool host_reads(const void *address)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return true;
    bool reads = write(ends[1], address, 1) == 1 || errno != EFAULT;
    close(ends[0]);
    close(ends[1]);
    return reads;
}

struct gpu_place gpu_place_of(const void *address)
{
    struct gpu_place place = {.memory = ZMPI_MEMORY_HOST, .device = -1};
    struct cudaPointerAttributes a;
    cudaError_t error = gpu_in_use() ? cudaPointerGetAttributes(&a, address) : cudaErrorNoDevice;
    if (error == cudaSuccess) {
        place.pinned = a.type == cudaMemoryTypeHost;
        if (a.type == cudaMemoryTypeDevice || a.type == cudaMemoryTypeManaged)
            place = (struct gpu_place){ZMPI_MEMORY_GPU, a.device, true};
    } else if (error != cudaErrorNoDevice) {
        /* A device that has failed answers nothing, and what is the host's must not be lost. */
        gpu_ok(error, "cudaPointerGetAttributes");
        if (error != cudaErrorInvalidValue && !host_reads(address))
            place.memory = ZMPI_MEMORY_GPU;
    }
    if (place.device < 0 && cudaGetDevice(&place.device) != cudaSuccess)
        place.device = 0;
    return place;
}

enum zmpi_memory gpu_where(const void *address)
{
    return gpu_place_of(address).memory;
}
