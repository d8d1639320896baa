/* The fake CUDA runtime: memory of all kinds. Device memory is mapped twice. At the address that
 * the program knows, only kernels can read it and only copies can write it; its end (rounded up to
 * 256 bytes) lies before a page that nothing can touch. Kernels' zd_st_* stores use the second
 * mapping, so that a plain assignment, which would escape the store buffers, faults. */
#include "runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cuda.h"

#define FILLED                                                                                     \
    ((size_t)16 << 20) /* of new memory, with what is neither zero nor anybody's data              \
                        */

static struct {
    struct allocation *list;
    size_t count, capacity;
    size_t device_bytes; /* in use */
    unsigned long long ids;
} memory;

struct allocation *zmpi_rt_find(const void *p)
{
    for (size_t i = 0; i < memory.count; i++)
        if ((uintptr_t)p - (uintptr_t)memory.list[i].p < memory.list[i].size)
            return &memory.list[i];
    return NULL;
}

static cudaError_t add(struct allocation allocation)
{
    if (memory.count == memory.capacity) {
        const size_t capacity = memory.capacity == 0 ? 16 : 2 * memory.capacity;
        struct allocation *list = realloc(memory.list, capacity * sizeof *list);
        if (list == NULL)
            return cudaErrorMemoryAllocation;
        memory.list = list;
        memory.capacity = capacity;
    }
    memory.list[memory.count++] = allocation;
    return cudaSuccess;
}

static void unmap(const struct allocation *a)
{
    if (a->map == NULL)
        return;
    munmap(a->map, a->map_size);
    if (a->writable != a->p)
        munmap(a->writable - (a->p - a->map), a->map_size);
}

static void drop(struct allocation *allocation)
{
    if (allocation->type == cudaMemoryTypeDevice)
        memory.device_bytes -= allocation->size;
    unmap(allocation);
    *allocation = memory.list[--memory.count];
}

static char *map_pages(size_t size, int file)
{
    const int flags = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
    void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, file, 0);
    return map == MAP_FAILED ? NULL : map;
}

/* Maps a file of `size` bytes twice. */
static int map_twice(size_t size, char **first, char **second)
{
    const int file = memfd_create("device memory", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, (off_t)size) != 0)
        return 0;
    *first = map_pages(size, file);
    *second = map_pages(size, file);
    close(file);
    return *first != NULL && *second != NULL;
}

/* New pages for a->size bytes, which end just before the guard page. */
static int map(struct allocation *a)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t rounded = (a->size + 255) / 256 * 256;
    const size_t pages = (rounded + page - 1) / page * page;
    char *second = NULL;
    a->map_size = pages + page;
    if (a->type != cudaMemoryTypeDevice)
        second = a->map = map_pages(a->map_size, -1);
    else if (!map_twice(a->map_size, &a->map, &second))
        return 0;
    if (a->map == NULL)
        return 0;
    a->p = a->map + pages - rounded;
    a->writable = second + (pages - rounded);
    memset(a->map, 0xa5, pages < FILLED ? pages : FILLED);
    mprotect(a->map + pages, page, PROT_NONE);
    if (a->type == cudaMemoryTypeDevice)
        mprotect(a->map, pages, PROT_NONE);
    return 1;
}

static cudaError_t allocate(enum cudaMemoryType type, void **p, size_t size, int pooled)
{
    *p = NULL;
    if (size == 0)
        return cudaSuccess;
    if (type != cudaMemoryTypeHost && size > zmpi_rt_memory_size() - memory.device_bytes)
        return cudaErrorMemoryAllocation;
    struct allocation a = {.size = size,
                           .type = type,
                           .device = zmpi_rt_device(),
                           .context = zmpi_rt_context(),
                           .id = ++memory.ids,
                           .pooled = pooled,
                           .there = !pooled};
    if (!map(&a))
        return cudaErrorMemoryAllocation;
    const cudaError_t e = add(a);
    if (e != cudaSuccess) {
        unmap(&a);
        return e;
    }
    if (type == cudaMemoryTypeDevice)
        memory.device_bytes += size;
    *p = a.p;
    return cudaSuccess;
}

/* type: the kind that must have been allocated. Managed memory is freed like the device's. */
cudaError_t zmpi_rt_free(void *p, enum cudaMemoryType type)
{
    if (p == NULL)
        return cudaSuccess;
    struct allocation *a = zmpi_rt_find(p);
    if (a == NULL || a->p != p || a->map == NULL)
        return cudaErrorInvalidValue;
    if ((a->type == cudaMemoryTypeHost) != (type == cudaMemoryTypeHost))
        return cudaErrorInvalidValue;
    drop(a);
    return cudaSuccess;
}

void zmpi_rt_free_all(const struct zmpi_emu_context *context)
{
    for (size_t i = memory.count; i-- > 0;) {
        struct allocation *a = &memory.list[i];
        a->cut_off |= a->pooled && a->context == context;
        if (a->context == context && !a->pooled)
            drop(a);
    }
}

static void protect(int protection)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t i = 0; i < memory.count; i++)
        if (memory.list[i].type == cudaMemoryTypeDevice)
            mprotect(memory.list[i].map, memory.list[i].map_size - page, protection);
}

void zmpi_rt_open(int writable)
{
    protect(writable ? PROT_READ | PROT_WRITE : PROT_READ);
}

void zmpi_rt_close(void)
{
    protect(PROT_NONE);
}

/* ---- the interface ---- */

cudaError_t cudaMalloc(void **p, size_t size)
{
    cudaError_t e = zmpi_rt_enter(__func__);
    if (e == cudaSuccess)
        e = allocate(cudaMemoryTypeDevice, p, size, 0);
    return zmpi_rt_leave(e);
}

struct come_work {
    struct work work;
    unsigned long long id;
};

static void run_come(struct work *work)
{
    for (size_t i = 0; i < memory.count; i++)
        memory.list[i].there |= memory.list[i].id == ((struct come_work *)work)->id;
}

static void destroy_work(struct work *work)
{
    free(work);
}

/* The memory has its address at once; later work of the stream may use it. */
cudaError_t cudaMallocAsync(void **p, size_t size, cudaStream_t handle)
{
    cudaError_t e = zmpi_rt_enter(__func__);
    struct zmpi_emu_stream *stream = zmpi_rt_stream(handle);
    struct come_work *work = e == cudaSuccess ? calloc(1, sizeof *work) : NULL;
    if (e == cudaSuccess && stream == NULL)
        e = cudaErrorInvalidResourceHandle;
    if (e == cudaSuccess && work == NULL)
        e = cudaErrorMemoryAllocation;
    if (e == cudaSuccess)
        e = size == 0 ? cudaErrorInvalidValue : allocate(cudaMemoryTypeDevice, p, size, 1);
    if (e == cudaSuccess) {
        *work = (struct come_work){{.run = run_come, .destroy = destroy_work}, memory.ids};
        zmpi_rt_queue(stream, &work->work);
    } else {
        free(work);
    }
    return zmpi_rt_leave(e);
}

cudaError_t cudaMallocManaged(void **p, size_t size, unsigned flags)
{
    cudaError_t e = zmpi_rt_enter(__func__);
    if (e == cudaSuccess && flags != cudaMemAttachGlobal)
        e = cudaErrorInvalidValue;
    if (e == cudaSuccess)
        e = allocate(cudaMemoryTypeManaged, p, size, 0);
    return zmpi_rt_leave(e);
}

cudaError_t cudaHostAlloc(void **p, size_t size, unsigned flags)
{
    cudaError_t e = zmpi_rt_enter(__func__);
    (void)flags;
    if (e == cudaSuccess)
        e = allocate(cudaMemoryTypeHost, p, size, 0);
    return zmpi_rt_leave(e);
}

cudaError_t cudaMallocHost(void **p, size_t size)
{
    cudaError_t e = zmpi_rt_enter(__func__);
    if (e == cudaSuccess)
        e = allocate(cudaMemoryTypeHost, p, size, 0);
    return zmpi_rt_leave(e);
}

/* Waits, as CUDA does, for all work that could use the memory, except for memory of pools. */
static cudaError_t free_waiting(void *p, enum cudaMemoryType type)
{
    const struct allocation *a = zmpi_rt_find(p);
    const cudaError_t e = a != NULL && a->pooled ? cudaSuccess : zmpi_rt_wait_all();
    const cudaError_t freed = zmpi_rt_free(p, type);
    return e != cudaSuccess ? e : freed;
}

cudaError_t cudaFree(void *p)
{
    cudaError_t e = zmpi_rt_enter(__func__);
    if (e == cudaSuccess)
        e = free_waiting(p, cudaMemoryTypeDevice);
    return zmpi_rt_leave(e);
}

cudaError_t cudaFreeHost(void *p)
{
    cudaError_t e = zmpi_rt_enter(__func__);
    if (e == cudaSuccess)
        e = free_waiting(p, cudaMemoryTypeHost);
    return zmpi_rt_leave(e);
}

struct free_work {
    struct work work;
    void *p;
};

static void run_free(struct work *work)
{
    zmpi_rt_free(((struct free_work *)work)->p, cudaMemoryTypeDevice);
}

cudaError_t cudaFreeAsync(void *p, cudaStream_t handle)
{
    cudaError_t e = zmpi_rt_enter(__func__);
    struct zmpi_emu_stream *stream = zmpi_rt_stream(handle);
    const struct allocation *a = zmpi_rt_find(p);
    if (e == cudaSuccess && stream == NULL)
        e = cudaErrorInvalidResourceHandle;
    if (e == cudaSuccess && (a == NULL || a->p != p || a->type != cudaMemoryTypeDevice))
        e = cudaErrorInvalidValue;
    if (e == cudaSuccess) {
        struct free_work *work = calloc(1, sizeof *work);
        if (work == NULL) {
            e = cudaErrorMemoryAllocation;
        } else {
            *work = (struct free_work){{.run = run_free, .destroy = destroy_work}, p};
            zmpi_rt_queue(stream, &work->work);
        }
    }
    return zmpi_rt_leave(e);
}

cudaError_t cudaHostRegister(void *p, size_t size, unsigned flags)
{
    cudaError_t e = zmpi_rt_enter(__func__);
    (void)flags;
    if (e == cudaSuccess && (p == NULL || size == 0))
        e = cudaErrorInvalidValue;
    for (size_t i = 0; e == cudaSuccess && i < memory.count; i++)
        if ((char *)p < memory.list[i].p + memory.list[i].size &&
            memory.list[i].p < (char *)p + size)
            e = cudaErrorHostMemoryAlreadyRegistered;
    if (e == cudaSuccess)
        e = add((struct allocation){.p = p,
                                    .size = size,
                                    .type = cudaMemoryTypeHost,
                                    .device = zmpi_rt_device(),
                                    .context = zmpi_rt_context(),
                                    .there = 1,
                                    .writable = p});
    return zmpi_rt_leave(e);
}

cudaError_t cudaHostUnregister(void *p)
{
    cudaError_t e = zmpi_rt_enter(__func__);
    struct allocation *a = zmpi_rt_find(p);
    if (e == cudaSuccess && (a == NULL || a->p != p || a->map != NULL))
        e = cudaErrorHostMemoryNotRegistered;
    if (e == cudaSuccess) {
        e = zmpi_rt_wait_all();
        drop(zmpi_rt_find(p));
    }
    return zmpi_rt_leave(e);
}

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
    cudaError_t e = zmpi_rt_enter(__func__);
    const struct allocation *a = zmpi_rt_find(host);
    if (e == cudaSuccess && (a == NULL || a->type != cudaMemoryTypeHost || flags != 0))
        e = cudaErrorInvalidValue;
    if (e == cudaSuccess)
        *device = host;
    return zmpi_rt_leave(e);
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
    const cudaError_t e = zmpi_rt_enter(__func__);
    if (e == cudaSuccess) {
        *total = zmpi_rt_memory_size();
        *available = *total - memory.device_bytes;
    }
    return zmpi_rt_leave(e);
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *p)
{
    const cudaError_t e = zmpi_rt_enter(__func__);
    if (e == cudaSuccess) {
        void *here = (void *)(uintptr_t)p;
        const struct allocation *a = zmpi_rt_find(p);
        *attributes = (struct cudaPointerAttributes){
            .type = a == NULL ? cudaMemoryTypeUnregistered : a->type,
            .device = a == NULL ? -2 : a->device, /* as CUDA's: no device */
            .devicePointer = a == NULL ? NULL : here,
            .hostPointer = a != NULL && a->type == cudaMemoryTypeDevice ? NULL : here,
        };
    }
    return zmpi_rt_leave(e);
}

/* ---- the driver ---- */

/* For memory that CUDA does not know, all attributes are 0. For memory of a pool the context is
 * NULL. */
static CUresult tell(const struct allocation *a, CUpointer_attribute attribute, void *data)
{
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        *(CUcontext *)data = a == NULL || a->pooled ? NULL : a->context;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned *)data = a == NULL                       ? 0
                            : a->type == cudaMemoryTypeHost ? CU_MEMORYTYPE_HOST
                                                            : CU_MEMORYTYPE_DEVICE;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        *(unsigned long long *)data = a == NULL ? 0 : a->id;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *(int *)data = a != NULL && a->type == cudaMemoryTypeManaged;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)data = a == NULL ? 0 : a->device;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes, void **data,
                                CUdeviceptr p)
{
    CUresult e = (CUresult)zmpi_rt_enter_driver(__func__);
    if (e == CUDA_SUCCESS)
        e = (CUresult)zmpi_rt_stuck();
    for (unsigned i = 0; e == CUDA_SUCCESS && i < count; i++)
        e = tell(zmpi_rt_find((const void *)(uintptr_t)p), attributes[i], data[i]);
    zmpi_rt_leave_driver();
    return e;
}
