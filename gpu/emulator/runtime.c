/* The fake CUDA runtime (cuda_runtime.h): errors by name, what the device is like. */
#include "runtime.h"

#include <stdio.h>

/* ---- errors ---- */

static const struct {
    cudaError_t error;
    const char *name, *text;
} error_texts[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration",
     "invalid configuration argument"},
    {cudaErrorInvalidPitchValue, "cudaErrorInvalidPitchValue", "invalid pitch argument"},
    {cudaErrorInvalidDevicePointer, "cudaErrorInvalidDevicePointer", "invalid device pointer"},
    {cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection",
     "invalid copy direction for memcpy"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
     "CUDA driver version is insufficient for CUDA runtime version"},
    {cudaErrorDevicesUnavailable, "cudaErrorDevicesUnavailable",
     "CUDA-capable device(s) is/are busy or unavailable"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorNoKernelImageForDevice, "cudaErrorNoKernelImageForDevice",
     "no kernel image is available for execution on the device"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress",
     "an illegal memory access was encountered"},
    {cudaErrorLaunchOutOfResources, "cudaErrorLaunchOutOfResources",
     "too many resources requested for launch"},
    {cudaErrorHostMemoryAlreadyRegistered, "cudaErrorHostMemoryAlreadyRegistered",
     "part or all of the requested memory range is already mapped"},
    {cudaErrorHostMemoryNotRegistered, "cudaErrorHostMemoryNotRegistered",
     "pointer does not correspond to a registered memory region"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorUnknown, "cudaErrorUnknown", "unknown error"},
};

static unsigned error_index(cudaError_t error)
{
    const unsigned count = sizeof error_texts / sizeof *error_texts;
    for (unsigned i = 0; i < count; i++)
        if (error_texts[i].error == error)
            return i;
    return count - 1;
}

const char *cudaGetErrorName(cudaError_t error)
{
    return error_texts[error_index(error)].name;
}

const char *cudaGetErrorString(cudaError_t error)
{
    return error_texts[error_index(error)].text;
}

/* ---- the device ---- */

cudaError_t cudaGetDeviceCount(int *count)
{
    const cudaError_t e = zmpi_rt_enter_without_context(__func__);
    *count = e == cudaSuccess ? zmpi_rt_devices() : 0;
    return zmpi_rt_leave(e);
}

static cudaError_t check_device(int device)
{
    return device < 0 || device >= zmpi_rt_devices() ? cudaErrorInvalidDevice : cudaSuccess;
}

static const struct {
    enum cudaDeviceAttr attribute;
    int value;
} attributes[] = {
    {cudaDevAttrMaxThreadsPerBlock, 1024},
    {cudaDevAttrMaxGridDimX, 0x7fffffff},
    {cudaDevAttrMaxSharedMemoryPerBlock, (int)SHARED_DEFAULT},
    {cudaDevAttrMaxSharedMemoryPerBlockOptin, (int)SHARED_MOST},
    {cudaDevAttrMaxSharedMemoryPerMultiprocessor, (int)SHARED_MOST + 1024},
    {cudaDevAttrWarpSize, 32},
    {cudaDevAttrMultiProcessorCount, MULTIPROCESSORS},
    {cudaDevAttrIntegrated, 0},
    {cudaDevAttrCanMapHostMemory, 1},
    {cudaDevAttrComputeMode, 0},
    {cudaDevAttrL2CacheSize, 1 << 20},
    {cudaDevAttrMaxThreadsPerMultiProcessor, THREADS_EACH},
    {cudaDevAttrAsyncEngineCount, 2},
    {cudaDevAttrUnifiedAddressing, 1},
    {cudaDevAttrComputeCapabilityMajor, 9},
    {cudaDevAttrComputeCapabilityMinor, 0},
    {cudaDevAttrManagedMemory, 1},
    {cudaDevAttrPageableMemoryAccess, 0},
    {cudaDevAttrConcurrentManagedAccess, 1},
    {cudaDevAttrHostRegisterSupported, 1},
    {cudaDevAttrMemoryPoolsSupported, 1},
};

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    cudaError_t e = zmpi_rt_enter_without_context(__func__);
    if (e == cudaSuccess)
        e = check_device(device);
    if (e == cudaSuccess) {
        e = cudaErrorInvalidValue;
        for (unsigned i = 0; i < sizeof attributes / sizeof *attributes; i++) {
            if (attributes[i].attribute == attribute) {
                *value = attribute == cudaDevAttrMemoryPoolsSupported ? zmpi_rt_pools()
                                                                      : attributes[i].value;
                e = cudaSuccess;
            }
        }
    }
    return zmpi_rt_leave(e);
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
    cudaError_t e = zmpi_rt_enter_without_context(__func__);
    if (e == cudaSuccess)
        e = check_device(device);
    if (e == cudaSuccess)
        *properties = (struct cudaDeviceProp){
            .name = "zmpi emulator",
            .totalGlobalMem = zmpi_rt_memory_size(),
            .sharedMemPerBlock = SHARED_DEFAULT,
            .sharedMemPerBlockOptin = SHARED_MOST,
            .sharedMemPerMultiprocessor = SHARED_MOST + 1024,
            .warpSize = 32,
            .maxThreadsPerBlock = 1024,
            .maxThreadsPerMultiProcessor = THREADS_EACH,
            .major = 9,
            .multiProcessorCount = MULTIPROCESSORS,
            .asyncEngineCount = 2,
            .l2CacheSize = 1 << 20,
            .memoryBusWidth = 64,
            .canMapHostMemory = 1,
            .unifiedAddressing = 1,
            .managedMemory = 1,
            .concurrentManagedAccess = 1,
            .memoryPoolsSupported = 1,
        };
    return zmpi_rt_leave(e);
}

cudaError_t cudaDeviceGetPCIBusId(char *id, int size, int device)
{
    cudaError_t e = zmpi_rt_enter_without_context(__func__);
    if (e == cudaSuccess)
        e = check_device(device);
    if (e == cudaSuccess && snprintf(id, (size_t)size, "0000:%02x:00.0", device) >= size)
        e = cudaErrorInvalidValue;
    return zmpi_rt_leave(e);
}

cudaError_t cudaDeviceSynchronize(void)
{
    cudaError_t e = zmpi_rt_enter(__func__);
    if (e == cudaSuccess)
        e = zmpi_rt_wait_all();
    return zmpi_rt_leave(e);
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}
