/*
 * driver.c - questions that only the driver can answer, and contexts, without leaving traces in the
 * program.
 *
 * The runtime makes a context for any thread that asks it about an address: hundreds of megabytes
 * on a GPU that the process may never use. cuPointerGetAttributes needs no context. For memory that
 * it does not know it answers with zeros (CUDA driver API, Unified Addressing). cudaSetDevice would
 * replace a context that the program may have made itself by the device's primary one; pushing and
 * popping a context leaves the thread's as they were. The runtime's calls work in the current
 * context (CUDA runtime API, Interactions with the CUDA Driver API).
 *
 * This file never loads the driver's library: the runtimes do, ours and the program's. As long as
 * nobody has, there is no GPU memory, and the program may still set CUDA_VISIBLE_DEVICES.
 */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include "gpu.h"

#include <cuda.h>
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>

enum { MOST_DEVICES = 64 };

static struct {
    CUresult (*current)(CUcontext *context);
    CUresult (*current_device)(CUdevice *device);
    CUresult (*push)(CUcontext context);
    CUresult (*pop)(CUcontext *context);
    CUresult (*devices)(int *count);
    CUresult (*state)(CUdevice device, unsigned *flags, int *active);
    CUresult (*retain)(CUcontext *context, CUdevice device);
    CUresult (*query)(unsigned count, CUpointer_attribute *what, void **answer, CUdeviceptr p);
} driver;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool found;
static atomic_ullong looked; /* number of loaded libraries when the driver was not among them */
static CUcontext kept[MOST_DEVICES]; /* primary contexts, which live as long as the process */
static atomic_uint preferred;

static bool load(void *library)
{
    const struct {
        const char *name;
        void *where;
    } symbol[] = {
        {"cuCtxGetCurrent", &driver.current},         {"cuCtxGetDevice", &driver.current_device},
        {"cuCtxPushCurrent_v2", &driver.push},        {"cuCtxPopCurrent_v2", &driver.pop},
        {"cuDeviceGetCount", &driver.devices},        {"cuDevicePrimaryCtxGetState", &driver.state},
        {"cuDevicePrimaryCtxRetain", &driver.retain}, {"cuPointerGetAttributes", &driver.query}};
    bool all = library != NULL;
    for (size_t i = 0; all && i < sizeof symbol / sizeof *symbol; i++) {
        *(void **)symbol[i].where = dlsym(library, symbol[i].name);
        all = *(void **)symbol[i].where != NULL;
    }
    return all;
}

/* How many libraries the process has loaded so far, from the first one's entry. */
static int count_loaded(struct dl_phdr_info *info, size_t size, void *count)
{
    (void)size;
    *(unsigned long long *)count = info->dlpi_adds;
    return 1;
}

/* Has anybody loaded the driver? Every buffer asks this, and dlopen searches folders. So it looks
 * again only after another library has been loaded. */
static bool find(void)
{
    unsigned long long loaded = 0;
    if (atomic_load_explicit(&found, memory_order_acquire))
        return true;
    dl_iterate_phdr(count_loaded, &loaded);
    if (loaded == atomic_load_explicit(&looked, memory_order_relaxed))
        return false;
    pthread_mutex_lock(&lock);
    bool all = atomic_load(&found) || load(dlopen(ZMPI_CUDA_DRIVER, RTLD_LAZY | RTLD_NOLOAD));
    atomic_store_explicit(&found, all, memory_order_release);
    if (!all)
        atomic_store_explicit(&looked, loaded, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
    return all;
}

static bool good(CUresult result, const char *call)
{
    /* Since CUDA 10.1 the driver's results have the runtime's numbers. */
    if (result)
        gpu_note((cudaError_t)result, call);
    return !result;
}

/* Before the driver was started, and when the process ends, there is no GPU memory. */
static bool asleep(CUresult result)
{
    return result == CUDA_ERROR_NOT_INITIALIZED || result == CUDA_ERROR_DEINITIALIZED;
}

bool gpu_query(const void *address, struct gpu_memory *m)
{
    CUpointer_attribute what[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                  CU_POINTER_ATTRIBUTE_CONTEXT,
                                  CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    unsigned type = 0;
    unsigned managed = 0; /* one byte or four, by the driver's version */
    CUcontext context = NULL;
    int device = -1;
    void *answer[] = {&type, &managed, &context, &device};
    *m = (struct gpu_memory){.device = -1};
    CUresult result = find() ? driver.query(sizeof what / sizeof *what, what, answer,
                                            (CUdeviceptr)(uintptr_t)address)
                             : CUDA_ERROR_NOT_INITIALIZED;
    if (asleep(result))
        return true;
    if (!good(result, "cuPointerGetAttributes"))
        return false;
    if (type)
        *m = (struct gpu_memory){.known = true,
                                 .gpu = managed || type == CU_MEMORYTYPE_DEVICE,
                                 .context = context,
                                 .device = device};
    return true;
}

unsigned long long gpu_number(const void *address)
{
    CUpointer_attribute what[] = {CU_POINTER_ATTRIBUTE_BUFFER_ID};
    unsigned long long number = 0;
    void *answer[] = {&number};
    if (!find() || driver.query(1, what, answer, (CUdeviceptr)(uintptr_t)address))
        return 0;
    return number;
}

bool gpu_is_still(const void *address, unsigned long long number)
{
    struct gpu_memory m;
    return number ? gpu_number(address) == number : gpu_query(address, &m) && m.known;
}

static bool active(int device)
{
    unsigned flags;
    int is = 0;
    return !driver.state(device, &flags, &is) && is;
}

bool gpu_in_use(void)
{
    CUcontext context = NULL;
    int devices = 0;
    if (!find() || driver.devices(&devices))
        return false;
    bool used = !driver.current(&context) && context;
    for (int i = 0; i < devices && !used; i++)
        used = active(i);
    return used;
}

void gpu_prefer(unsigned number)
{
    atomic_store(&preferred, number);
}

/* Chooses the GPU for a thread without a context: the one that the process uses elsewhere. If that
 * is none or several, the node's ranks take GPUs in turn. */
static int choose_device(int devices)
{
    const int mine = (int)(atomic_load(&preferred) % (unsigned)devices);
    int used = mine;
    for (int i = devices; i-- > 0 && !active(mine);)
        if (active(i))
            used = i;
    return used;
}

/* Taken once, and again after the program has reset the device. */
static CUresult primary(int device, CUcontext *context)
{
    CUresult result = CUDA_SUCCESS;
    if (device >= MOST_DEVICES)
        return CUDA_ERROR_INVALID_DEVICE;
    pthread_mutex_lock(&lock);
    if (!kept[device] || !active(device))
        result = driver.retain(&kept[device], device);
    *context = kept[device];
    pthread_mutex_unlock(&lock);
    return result;
}

/* The context of the memory. Memory of pools belongs to the device, not to a context, and host
 * memory works with any: for these the thread's own context, if it has one there. */
static CUresult context_for(const struct gpu_place *place, int devices, CUcontext *context)
{
    CUdevice device;
    const bool here = place->memory == ZMPI_MEMORY_GPU && place->device >= 0;
    if (place->memory == ZMPI_MEMORY_GPU && place->context) {
        *context = (CUcontext)place->context;
        return CUDA_SUCCESS;
    }
    CUresult result = driver.current(context);
    if (!result && *context && here && (driver.current_device(&device) || device != place->device))
        *context = NULL;
    if (!result && !*context)
        result = primary(here ? place->device : choose_device(devices), context);
    return result;
}

bool gpu_context_push(const struct gpu_place *place, void **context)
{
    CUcontext wanted = NULL;
    int devices = 0;
    if (!GPU_OK(cudaGetDeviceCount(&devices))) /* and starts the driver */
        return false;
    if (devices == 0 || !find()) {
        gpu_note(cudaErrorInitializationError, ZMPI_CUDA_DRIVER);
        return false;
    }
    if (!good(context_for(place, devices, &wanted), "a context") ||
        !good(driver.push(wanted), "cuCtxPushCurrent"))
        return false;
    *context = wanted;
    return true;
}

bool gpu_context_push_own(void *context)
{
    return find() && !driver.push((CUcontext)context);
}

void gpu_context_pop(void)
{
    CUcontext context;
    driver.pop(&context);
}
