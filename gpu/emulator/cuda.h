/* The part of the CUDA driver's interface that the plug-in uses, kept by runtime_context.c. Numbers
 * are CUDA's; as in cuda_runtime.h, results have those of cudaError. */
#ifndef ZMPI_EMULATOR_CUDA_H
#define ZMPI_EMULATOR_CUDA_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cudaError_enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_DEINITIALIZED = 4,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_INVALID_DEVICE = 101,
    CUDA_ERROR_INVALID_CONTEXT = 201
} CUresult;

typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct zmpi_emu_context *CUcontext;

typedef enum CUpointer_attribute_enum {
    CU_POINTER_ATTRIBUTE_CONTEXT = 1,
    CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
    CU_POINTER_ATTRIBUTE_BUFFER_ID = 7,
    CU_POINTER_ATTRIBUTE_IS_MANAGED = 8,
    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9
} CUpointer_attribute;

typedef enum CUmemorytype_enum { CU_MEMORYTYPE_HOST = 1, CU_MEMORYTYPE_DEVICE = 2 } CUmemorytype;

CUresult cuInit(unsigned flags);
CUresult cuDeviceGetCount(int *count);
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active);
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device);
/* As cudaDeviceReset of any runtime in the process. */
CUresult cuDevicePrimaryCtxReset_v2(CUdevice device);
/* Of its own, not the one that the runtime uses; it becomes the current one. */
CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device);
CUresult cuCtxDestroy_v2(CUcontext context);
CUresult cuCtxGetCurrent(CUcontext *context);
CUresult cuCtxGetDevice(CUdevice *device);
CUresult cuCtxPushCurrent_v2(CUcontext context);
CUresult cuCtxPopCurrent_v2(CUcontext *context);
CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes, void **data,
                                CUdeviceptr p);

#ifdef __cplusplus
}
#endif

#endif
