/* runtime_kit.h - for tests of the fake CUDA runtime: its answers, and a kernel. */
#ifndef ZMPI_TEST_RUNTIME_KIT_H
#define ZMPI_TEST_RUNTIME_KIT_H

#include <stdint.h>

#include <criterion/criterion.h>

#include <cuda_runtime.h>

#include "device_code.h"

#define OK(call)                                                                                   \
    do {                                                                                           \
        const cudaError_t ok_ = (cudaError_t)(call);                                               \
        cr_assert_eq(ok_, cudaSuccess, "%s: %s", #call, cudaGetErrorString(ok_));                  \
    } while (0)
#define FAILS(call, error)                                                                         \
    do {                                                                                           \
        const cudaError_t got_ = (cudaError_t)(call);                                              \
        cr_assert_eq(got_, error, "%s: %s", #call, cudaGetErrorName(got_));                        \
    } while (0)

struct add_args {
    uint32_t *p;
    uint32_t n, by;
};

ZD_KERNEL(add, struct add_args, a)
{
    const uint32_t i = zd_bid() * zd_bdim() + zd_tid();
    if (i < a.n)
        zd_st_u32(&a.p[i], zd_ld_u32(&a.p[i]) + a.by);
}

#endif
