/* The fake CUDA runtime: launches. */
#include "runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct launch {
    struct work work;
    const struct zmpi_emu_context *context;
    int device;
    struct zmpi_emu_grid grid;
    _Alignas(16) char args[];
};

/* Kernels that may have more dynamic shared memory than the default limit. */
#define MAX_ALLOWED 64
static struct {
    zmpi_emu_kernel *kernel;
    size_t bytes;
} allowed[MAX_ALLOWED];

static const struct launch *running;

/* A kernel's stores go through the second mapping. */
static const char *find_access(void **p, size_t size)
{
    const struct allocation *a = zmpi_rt_find(*p);
    if (a == NULL)
        return "not memory of CUDA's";
    if (!a->there)
        return "of a pool, and its allocation does not come before";
    if (a->cut_off)
        return "of a pool, and its context was reset";
    if (a->type == cudaMemoryTypeDevice &&
        (a->pooled ? a->device != running->device : a->context != running->context))
        return "memory of another context";
    const size_t offset = (size_t)((char *)*p - a->p);
    if (size > a->size - offset)
        return "over the end of an allocation";
    *p = a->writable + offset;
    return NULL;
}

static void run_launch(struct work *work)
{
    const struct launch *launch = (struct launch *)work;
    struct zmpi_emu_config config;
    const cudaError_t e = zmpi_rt_fault("kernel");
    if (e != cudaSuccess) {
        zmpi_rt_stick(e);
        return;
    }
    zmpi_emu_defaults(&config);
    config.find = find_access;
    running = launch;
    zmpi_rt_open(0);
    if (zmpi_emu_run(&config, &launch->grid) != 0) {
        fprintf(stderr, "zmpi emulator: %s\n", zmpi_emu_message());
        zmpi_rt_stick(cudaErrorLaunchFailure);
    }
    zmpi_rt_close();
}

static void destroy_launch(struct work *work)
{
    free(work);
}

static size_t shared_limit(zmpi_emu_kernel *kernel)
{
    for (unsigned i = 0; i < MAX_ALLOWED; i++)
        if (allowed[i].kernel == kernel)
            return allowed[i].bytes;
    return SHARED_DEFAULT;
}

static cudaError_t launch(const struct zmpi_emu_grid *grid, struct zmpi_emu_stream *stream)
{
    if (grid->grid == 0 || grid->grid > 0x7fffffff || grid->block == 0 || grid->block > 1024)
        return cudaErrorInvalidConfiguration;
    if (stream->context != NULL && stream->context != zmpi_rt_context())
        return cudaErrorInvalidResourceHandle;
    if (grid->shared_bytes > shared_limit(grid->kernel))
        return cudaErrorInvalidValue;
    struct launch *work = malloc(sizeof *work + grid->args_size);
    if (work == NULL)
        return cudaErrorMemoryAllocation;
    work->work = (struct work){.run = run_launch, .destroy = destroy_launch, .kernel = 1};
    work->context = zmpi_rt_context();
    work->device = zmpi_rt_device();
    work->grid = *grid;
    memcpy(work->args, grid->args, grid->args_size);
    work->grid.args = work->args;
    zmpi_rt_queue(stream, &work->work);
    return cudaSuccess;
}

int zmpi_emu_launch(const struct zmpi_emu_grid *grid, struct zmpi_emu_stream *handle)
{
    struct zmpi_emu_stream *stream;
    cudaError_t e = zmpi_rt_enter("cudaLaunchKernel");
    if (e == cudaSuccess)
        e = zmpi_rt_known_stream(handle, &stream);
    if (e == cudaSuccess)
        e = launch(grid, stream);
    return (int)zmpi_rt_leave(e);
}

int zmpi_emu_allow_shared(zmpi_emu_kernel *kernel, size_t shared_bytes)
{
    cudaError_t e = zmpi_rt_enter("cudaFuncSetAttribute");
    unsigned i = 0;
    while (i < MAX_ALLOWED && allowed[i].kernel != NULL && allowed[i].kernel != kernel)
        i++;
    if (e == cudaSuccess && (i == MAX_ALLOWED || shared_bytes > SHARED_MOST))
        e = cudaErrorInvalidValue;
    if (e == cudaSuccess) {
        allowed[i].kernel = kernel;
        allowed[i].bytes = shared_bytes;
    }
    return (int)zmpi_rt_leave(e);
}

int zmpi_emu_occupancy(int *blocks, zmpi_emu_kernel *kernel, unsigned block, size_t shared_bytes)
{
    cudaError_t e = zmpi_rt_enter("cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    if (e == cudaSuccess && (block == 0 || block > 1024))
        e = cudaErrorInvalidValue;
    if (e == cudaSuccess) {
        const size_t by_threads = THREADS_EACH / block;
        const size_t by_shared = SHARED_MOST / (shared_bytes + 1024);
        *blocks = shared_bytes > shared_limit(kernel) ? 0
                  : by_threads < by_shared            ? (int)by_threads
                                                      : (int)by_shared;
    }
    return (int)zmpi_rt_leave(e);
}
