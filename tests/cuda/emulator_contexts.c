/* emulator_contexts.c - the fake CUDA runtime and its driver: when there is a context, and what
 * belongs to it. */
#include <stdlib.h>

#include <cuda.h>

#include "runtime_kit.h"

/* The first call that needs a context makes that of the chosen device. Queries make none. */
Test(runtime, contexts)
{
    int value, active;
    unsigned flags, known;
    unsigned long long id[2];
    void *p, *q;
    CUcontext now, own;
    CUpointer_attribute what[] = {CU_POINTER_ATTRIBUTE_CONTEXT, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                  CU_POINTER_ATTRIBUTE_BUFFER_ID};
    void *answer[] = {&now, &known, &id[0]};
    setenv("ZMPI_EMU_DEVICES", "2", 1);
    FAILS(cuPointerGetAttributes(3, what, answer, (uintptr_t)&value), cudaErrorInitializationError);
    cr_assert_not(zmpi_emu_started());
    OK(cudaGetDeviceCount(&value));
    cr_assert(zmpi_emu_started());
    OK(cuPointerGetAttributes(3, what, answer, (uintptr_t)&value));
    cr_assert(!now && !known && !id[0]);
    OK(cuCtxGetCurrent(&now));
    cr_assert_null(now);
    cr_assert_eq(zmpi_emu_contexts(), 0);
    OK(cudaSetDevice(1));
    OK(cuCtxGetDevice(&value));
    cr_assert_eq(value, 1);
    OK(cuDevicePrimaryCtxGetState(1, &flags, &active));
    cr_assert(active);
    OK(cudaMalloc(&p, 64));

    /* In another context the runtime works, and its kernels find only that context's memory. */
    struct add_args args = {p, 4, 1};
    OK(cuCtxCreate_v2(&own, 0, 1));
    cr_assert_eq(zmpi_emu_contexts(), 2);
    OK(cudaMalloc(&q, 64));
    OK(cuPointerGetAttributes(3, what, answer, (uintptr_t)q));
    cr_assert_eq(now, own);
    OK(ZD_LAUNCH(add, 1, 32, 0, NULL, args));
    FAILS(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
    OK(cuCtxPopCurrent_v2(&now));
    cr_assert_eq(now, own);
    OK(cuCtxDestroy_v2(own));
    FAILS(cuCtxPushCurrent_v2(own), CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cuCtxDestroy_v2(own), CUDA_ERROR_INVALID_CONTEXT);
    cr_assert_eq(zmpi_emu_contexts(), 1);

    /* A reset removes what belongs to the context, and no number comes back. */
    answer[2] = &id[1];
    cudaStream_t stream = NULL;
    OK(cudaDeviceReset());
    OK(cuPointerGetAttributes(3, what, answer, (uintptr_t)p));
    cr_assert_eq(known, 0);
    OK(cudaStreamCreate(&stream));
    OK(cudaMalloc(&p, 64));
    OK(cuPointerGetAttributes(3, what, answer, (uintptr_t)p));
    cr_assert_gt(id[1], id[0]);
    OK(cudaDeviceReset());
    FAILS(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
}
