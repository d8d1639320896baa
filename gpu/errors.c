/* errors.c - what went wrong in a CUDA call, for the one line that zmpi logs. */
#include "gpu.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char problem[160];
static char cause[160]; /* why the device is broken */
static atomic_bool broken;
static atomic_flag breaking = ATOMIC_FLAG_INIT;

bool gpu_ok(cudaError_t error, const char *call)
{
    if (error == cudaSuccess)
        return true;
    snprintf(problem, sizeof problem, "%.*s: %s", (int)strcspn(call, "("), call,
             cudaGetErrorString(error));
    cudaGetLastError();
    /* An error that is still there belongs to the context, and all later calls will fail. */
    if (cudaPeekAtLastError() != cudaSuccess && !atomic_flag_test_and_set(&breaking)) {
        snprintf(cause, sizeof cause, "%s", problem);
        atomic_store(&broken, true);
    }
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
