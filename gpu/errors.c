/* errors.c - what went wrong in a CUDA call, for the one line that zmpi logs. */
#include "gpu.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char problem[160];
static char cause[160]; /* why the device is broken */
static atomic_bool broken;
static atomic_flag breaking = ATOMIC_FLAG_INIT;

/* Errors of which CUDA says "the process must be terminated and relaunched" (driver_types.h), and
 * errors after which memory may have changed. The runtime's last error does not tell: reading it
 * clears it, and the next call sets it again. */
static bool breaks(cudaError_t error)
{
    switch (error) {
    case cudaErrorECCUncorrectable:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
        return true;
    default:
        return false;
    }
}

void gpu_note(cudaError_t error, const char *call)
{
    snprintf(problem, sizeof problem, "%.*s: %s", (int)strcspn(call, "("), call,
             cudaGetErrorString(error));
    if (breaks(error) && !atomic_flag_test_and_set(&breaking)) {
        snprintf(cause, sizeof cause, "%s", problem);
        atomic_store(&broken, true);
    }
}

bool gpu_ok(cudaError_t error, const char *call)
{
    if (error == cudaSuccess)
        return true;
    gpu_note(error, call);
    cudaGetLastError(); /* it was ours */
    return false;
}

const char *gpu_problem(void)
{
    return gpu_broken() ? cause : problem;
}

void gpu_problem_clear(void)
{
    problem[0] = 0;
}

bool gpu_broken(void)
{
    return atomic_load(&broken);
}
