/* The fake CUDA runtime: contexts, of which each thread has a stack, and what the driver says of
 * them (runtime_reset.c ends them). As with CUDA, each device has a primary context, which the
 * runtime uses and makes at the first call that needs one, on the device that the thread has
 * chosen. Where a program has made a context of its own current, the runtime works in that one. */
#include "runtime.h"

#include <stdlib.h>

#include "cuda.h"

enum { MOST_DEVICES = 16, DEEPEST = 16 };

struct zmpi_emu_context {
    struct zmpi_emu_context *next;
    int device;
    int primary, active;
};

static struct zmpi_emu_context primary[MOST_DEVICES];
static struct zmpi_emu_context *own; /* that programs have made */

static _Thread_local struct zmpi_emu_context *stack[DEEPEST];
static _Thread_local int depth;
static _Thread_local int chosen; /* by cudaSetDevice; 0 to begin with */

static struct zmpi_emu_context *top(void)
{
    return depth > 0 ? stack[depth - 1] : NULL;
}

static struct zmpi_emu_context *primary_of(int device)
{
    struct zmpi_emu_context *c = &primary[device];
    *c = (struct zmpi_emu_context){.device = device, .primary = 1, .active = 1};
    return c;
}

/* CUDA crashes where another handle than one of these is used. */
static int exists(const struct zmpi_emu_context *context)
{
    for (int i = 0; i < MOST_DEVICES; i++)
        if (context == &primary[i])
            return 1;
    for (const struct zmpi_emu_context *c = own; c != NULL; c = c->next)
        if (context == c)
            return 1;
    return 0;
}

/* What cuCtxSetCurrent does. */
static void set_top(struct zmpi_emu_context *c)
{
    if (depth == 0)
        depth = 1;
    stack[depth - 1] = c;
}

static cudaError_t check_device(int device)
{
    return device < 0 || device >= zmpi_rt_devices() || device >= MOST_DEVICES
               ? cudaErrorInvalidDevice
               : cudaSuccess;
}

struct zmpi_emu_context *zmpi_rt_context(void)
{
    if (top() == NULL)
        set_top(primary_of(chosen));
    top()->active = 1; /* again, after a reset */
    return top();
}

int zmpi_rt_device(void)
{
    return zmpi_rt_context()->device;
}

struct zmpi_emu_context *zmpi_rt_chosen_context(void)
{
    return top() != NULL ? top() : &primary[chosen];
}

struct zmpi_emu_context *zmpi_rt_primary_context(int device)
{
    return check_device(device) == cudaSuccess ? &primary[device] : NULL;
}

int zmpi_rt_is_own_context(const struct zmpi_emu_context *context)
{
    return exists(context) && !context->primary;
}

void zmpi_rt_end_context(struct zmpi_emu_context *context)
{
    context->active = 0;
    if (context->primary)
        return;
    depth -= top() == context;
    struct zmpi_emu_context **at = &own;
    while (*at != context)
        at = &(*at)->next;
    *at = context->next;
    free(context);
}

unsigned zmpi_emu_contexts(void)
{
    unsigned n = 0;
    for (const struct zmpi_emu_context *c = own; c != NULL; c = c->next)
        n++;
    for (int i = 0; i < MOST_DEVICES; i++)
        n += primary[i].active != 0;
    return n;
}

/* ---- the runtime ---- */

cudaError_t cudaGetDevice(int *device)
{
    const cudaError_t e = zmpi_rt_enter_without_context(__func__);
    if (e == cudaSuccess)
        *device = top() != NULL ? top()->device : chosen;
    return zmpi_rt_leave(e);
}

cudaError_t cudaSetDevice(int device)
{
    cudaError_t e = zmpi_rt_enter_without_context(__func__);
    if (e == cudaSuccess)
        e = check_device(device);
    if (e == cudaSuccess) {
        chosen = device;
        set_top(primary_of(device));
    }
    return zmpi_rt_leave(e);
}

/* ---- the driver ---- */

static CUresult enter(const char *function)
{
    const cudaError_t e = zmpi_rt_enter_driver(function);
    return (CUresult)e;
}

static CUresult leave(CUresult result)
{
    zmpi_rt_leave_driver();
    return result;
}

CUresult cuInit(unsigned flags)
{
    (void)flags;
    const cudaError_t e = zmpi_rt_enter_without_context(__func__);
    return leave((CUresult)e);
}

CUresult cuDeviceGetCount(int *count)
{
    const CUresult e = enter(__func__);
    *count = e == CUDA_SUCCESS ? zmpi_rt_devices() : 0;
    return leave(e);
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active)
{
    CUresult e = enter(__func__);
    if (e == CUDA_SUCCESS)
        e = (CUresult)check_device(device);
    if (e == CUDA_SUCCESS) {
        *flags = 0;
        *active = primary[device].active;
    }
    return leave(e);
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    CUresult e = enter(__func__);
    if (e == CUDA_SUCCESS)
        e = (CUresult)zmpi_rt_stuck();
    if (e == CUDA_SUCCESS)
        e = (CUresult)check_device(device);
    if (e == CUDA_SUCCESS)
        *context = primary_of(device);
    return leave(e);
}

CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device)
{
    (void)flags;
    CUresult e = enter(__func__);
    if (e == CUDA_SUCCESS)
        e = (CUresult)check_device(device);
    struct zmpi_emu_context *c = e == CUDA_SUCCESS ? calloc(1, sizeof *c) : NULL;
    if (e == CUDA_SUCCESS && (c == NULL || depth == DEEPEST))
        e = CUDA_ERROR_INVALID_VALUE;
    if (e == CUDA_SUCCESS) {
        *c = (struct zmpi_emu_context){.next = own, .device = device, .active = 1};
        *context = stack[depth++] = own = c;
    }
    return leave(e);
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
    const CUresult e = enter(__func__);
    if (e == CUDA_SUCCESS)
        *context = top();
    return leave(e);
}

CUresult cuCtxGetDevice(CUdevice *device)
{
    CUresult e = enter(__func__);
    if (e == CUDA_SUCCESS && top() == NULL)
        e = CUDA_ERROR_INVALID_CONTEXT;
    if (e == CUDA_SUCCESS)
        *device = top()->device;
    return leave(e);
}

CUresult cuCtxPushCurrent_v2(CUcontext context)
{
    CUresult e = enter(__func__);
    if (e == CUDA_SUCCESS && (!exists(context) || depth == DEEPEST))
        e = CUDA_ERROR_INVALID_CONTEXT;
    if (e == CUDA_SUCCESS)
        stack[depth++] = context;
    return leave(e);
}

CUresult cuCtxPopCurrent_v2(CUcontext *context)
{
    CUresult e = enter(__func__);
    if (e == CUDA_SUCCESS && depth == 0)
        e = CUDA_ERROR_INVALID_CONTEXT;
    if (e == CUDA_SUCCESS)
        *context = stack[--depth];
    return leave(e);
}
