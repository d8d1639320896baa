/* errors.c - what went wrong in a CUDA call, for the one line that zmpi logs. */
#include "gpu.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char problem[160];
static atomic_bool broken;

bool gpu_ok(cudaError_t error, const char *call)
{
    if (error == cudaSuccess)
        return true;
    snprintf(problem, sizeof problem, "%.*s: %s", (int)strcspn(call, "("), call,
             cudaGetErrorString(error));
    cudaGetLastError();
    /* An error that is still there belongs to the context, and all later calls will fail. */
    if (cudaPeekAtLastError() != cudaSuccess)
        atomic_store(&broken, true);
    return false;
}

const char *gpu_problem(void)
{
    return problem;
}

void gpu_problem_clear(void)
{
    problem[0] = 0;
}

bool gpu_broken(void)
{
    return atomic_load(&broken);
}
