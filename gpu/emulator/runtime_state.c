/* The fake CUDA runtime (cuda_runtime.h): its lock, its settings from the environment, and which
 * calls fail. */
#include "runtime.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- state ---- */

#define MAX_FAULTS 16

struct fault {
    char name[40];
    unsigned long first, calls;
    int and_later;
    cudaError_t error;
};

static struct {
    pthread_mutex_t lock;
    int begun;   /* the environment was read */
    int started; /* so was the driver; the first call that asks for more than a version starts it */
    int devices, pools;
    size_t memory;
    uint64_t early; /* 0: work happens as late as possible; else the seed that decides when */
    cudaError_t stuck;
    struct fault faults[MAX_FAULTS];
    unsigned fault_count;
} rt = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local cudaError_t last_error;

static cudaError_t usual_error(const char *name)
{
    if (strstr(name, "Alloc") != NULL || strstr(name, "Malloc") != NULL)
        return cudaErrorMemoryAllocation;
    if (strcmp(name, "cudaLaunchKernel") == 0)
        return cudaErrorLaunchOutOfResources;
    if (strcmp(name, "kernel") == 0 || strcmp(name, "copy") == 0)
        return cudaErrorLaunchFailure;
    return cudaErrorUnknown;
}

/* One of NAME[:n[+]][:error], up to a comma; NULL if it is not. */
static const char *parse_fault(const char *text, struct fault *fault)
{
    const size_t length = strcspn(text, ":,");
    if (length == 0 || length >= sizeof fault->name)
        return NULL;
    *fault = (struct fault){.first = 1};
    memcpy(fault->name, text, length);
    fault->error = usual_error(fault->name);
    text += length;
    for (int field = 0; *text == ':' && field < 2; field++) {
        char *end;
        const unsigned long number = strtoul(text + 1, &end, 10);
        if (end == text + 1 || number == 0)
            return NULL;
        if (field == 0) {
            fault->first = number;
            fault->and_later = *end == '+';
            end += fault->and_later;
        } else {
            fault->error = (cudaError_t)number;
        }
        text = end;
    }
    return *text == '\0' || *text == ',' ? text : NULL;
}

static int set_faults(const char *text)
{
    rt.fault_count = 0;
    while (text != NULL && *text != '\0') {
        if (rt.fault_count == MAX_FAULTS)
            return -1;
        text = parse_fault(text, &rt.faults[rt.fault_count++]);
        if (text == NULL)
            return -1;
        text += *text == ',';
    }
    return 0;
}

int zmpi_emu_set_faults(const char *what)
{
    pthread_mutex_lock(&rt.lock);
    rt.begun |= 2;
    const int result = set_faults(what);
    pthread_mutex_unlock(&rt.lock);
    return result;
}

void zmpi_emu_set_early(uint64_t seed)
{
    rt.early = seed * UINT64_C(0x9e3779b97f4a7c15);
}

uint64_t zmpi_rt_early(uint64_t n)
{
    if (rt.early == 0)
        return 0;
    rt.early = rt.early * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (rt.early >> 33) % n;
}

static void begin(void)
{
    const char *devices = getenv("ZMPI_EMU_DEVICES"), *memory = getenv("ZMPI_EMU_MEMORY"),
               *pools = getenv("ZMPI_EMU_POOLS"), *early = getenv("ZMPI_EMU_EARLY");
    rt.devices = devices == NULL ? 1 : atoi(devices);
    rt.pools = pools == NULL ? 1 : atoi(pools);
    rt.memory = memory == NULL ? (size_t)1 << 30 : (size_t)strtoull(memory, NULL, 0);
    if ((rt.begun & 2) == 0 && set_faults(getenv("ZMPI_EMU_FAIL")) != 0) {
        fprintf(stderr, "zmpi emulator: ZMPI_EMU_FAIL=%s: not NAME[:n[+]][:error],...\n",
                getenv("ZMPI_EMU_FAIL"));
        abort();
    }
    if (early != NULL)
        zmpi_emu_set_early(strtoull(early, NULL, 0));
    rt.begun |= 1;
}

/* ---- for the other files ---- */

cudaError_t zmpi_rt_fault(const char *name)
{
    cudaError_t error = cudaSuccess;
    for (unsigned i = 0; i < rt.fault_count; i++) {
        struct fault *fault = &rt.faults[i];
        if (strcmp(fault->name, name) != 0)
            continue;
        fault->calls++;
        if (fault->calls == fault->first || (fault->and_later && fault->calls > fault->first))
            error = fault->error;
    }
    return error;
}

/* Is it an error that CUDA returns from every later call too? driver_types.h says so of these. */
static int sticks(cudaError_t error)
{
    return error == cudaErrorIllegalAddress || error == cudaErrorLaunchTimeout ||
           error == cudaErrorAssert ||
           (error >= cudaErrorHardwareStackError && error <= cudaErrorLaunchFailure);
}

void zmpi_rt_stick(cudaError_t error)
{
    if (rt.stuck == cudaSuccess)
        rt.stuck = error;
}

cudaError_t zmpi_rt_stuck(void)
{
    return rt.stuck;
}

void zmpi_rt_unstick(void)
{
    rt.stuck = cudaSuccess;
}

static cudaError_t without_device(void)
{
    if (rt.devices < 0)
        return cudaErrorInsufficientDriver;
    return rt.devices == 0 ? cudaErrorNoDevice : cudaSuccess;
}

static void lock(void)
{
    pthread_mutex_lock(&rt.lock);
    if ((rt.begun & 1) == 0)
        begin();
}

cudaError_t zmpi_rt_enter_without_context(const char *function)
{
    lock();
    rt.started = 1;
    cudaError_t error = without_device();
    if (error == cudaSuccess)
        error = rt.stuck;
    if (error == cudaSuccess)
        error = zmpi_rt_fault(function);
    if (sticks(error))
        zmpi_rt_stick(error);
    return error;
}

cudaError_t zmpi_rt_enter_driver(const char *function)
{
    lock();
    cudaError_t error = rt.started ? without_device() : cudaErrorInitializationError;
    if (error == cudaSuccess)
        error = zmpi_rt_fault(function);
    return error;
}

void zmpi_rt_leave_driver(void)
{
    pthread_mutex_unlock(&rt.lock);
}

cudaError_t zmpi_rt_leave_cleared(void)
{
    last_error = cudaSuccess;
    return zmpi_rt_leave(cudaSuccess);
}

cudaError_t zmpi_rt_leave(cudaError_t error)
{
    if (error != cudaSuccess)
        last_error = error;
    pthread_mutex_unlock(&rt.lock);
    return error;
}

int zmpi_rt_devices(void)
{
    return rt.devices;
}

int zmpi_emu_started(void)
{
    return rt.started;
}

int zmpi_rt_pools(void)
{
    return rt.pools;
}

size_t zmpi_rt_memory_size(void)
{
    return rt.memory;
}

/* ---- errors ---- */

cudaError_t cudaPeekAtLastError(void)
{
    return last_error;
}

cudaError_t cudaGetLastError(void)
{
    const cudaError_t error = last_error;
    last_error = cudaSuccess; /* the next call reports a sticky error */
    return error;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    lock();
    *version = rt.devices > 0 ? CUDART_VERSION : rt.devices == 0 ? 0 : 11000;
    return zmpi_rt_leave(cudaSuccess);
}
