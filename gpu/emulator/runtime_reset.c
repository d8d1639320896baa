/* The fake CUDA runtime: how contexts end, by a reset or one by one. */
#include "runtime.h"

#include "cuda.h"

/* Memory, streams and events of the context are gone, whoever made them. Memory of pools stays
 * (CUDA runtime API, cudaDeviceReset). */
static void end(struct zmpi_emu_context *c)
{
    zmpi_rt_wait_all();
    zmpi_rt_free_all(c);
    zmpi_rt_end_streams(c);
    zmpi_rt_end_events(c);
    zmpi_rt_end_context(c);
}

cudaError_t cudaDeviceReset(void)
{
    zmpi_rt_enter_without_context(__func__);
    struct zmpi_emu_context *c = zmpi_rt_chosen_context();
    if (!zmpi_rt_is_own_context(c))
        end(c);
    zmpi_rt_unstick();
    return zmpi_rt_leave_cleared();
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device)
{
    CUresult e = (CUresult)zmpi_rt_enter_driver(__func__);
    struct zmpi_emu_context *c = e == CUDA_SUCCESS ? zmpi_rt_primary_context(device) : NULL;
    if (e == CUDA_SUCCESS && c == NULL)
        e = (CUresult)cudaErrorInvalidDevice;
    if (e == CUDA_SUCCESS)
        end(c);
    zmpi_rt_leave_driver();
    return e;
}

/* The next context may get the same address. */
CUresult cuCtxDestroy_v2(CUcontext context)
{
    CUresult e = (CUresult)zmpi_rt_enter_driver(__func__);
    if (e == CUDA_SUCCESS && !zmpi_rt_is_own_context(context))
        e = CUDA_ERROR_INVALID_CONTEXT;
    if (e == CUDA_SUCCESS)
        end(context);
    zmpi_rt_leave_driver();
    return e;
}
