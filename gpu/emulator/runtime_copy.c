/* The fake CUDA runtime: copies and fills. A copy from pageable host memory takes the data at once,
 * and a copy to it is complete at return. All other copies happen when the stream comes to them. */
#include "runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows of a box: one side. */
struct side {
    char *p;
    size_t pitch, slice; /* from row to row, from plane to plane */
};

struct copy {
    struct work work;
    struct side dst, src;
    size_t width, height, depth;
    int value; /* of a fill, whose src.p is NULL */
    int to_device, from_device;
    char *staged; /* what was taken of pageable memory; freed with the work */
};

static void copy_rows(const struct copy *c)
{
    for (size_t z = 0; z < c->depth; z++) {
        for (size_t y = 0; y < c->height; y++) {
            char *to = c->dst.p + z * c->dst.slice + y * c->dst.pitch;
            if (c->src.p == NULL)
                memset(to, c->value, c->width);
            else
                memmove(to, c->src.p + z * c->src.slice + y * c->src.pitch, c->width);
        }
    }
}

/* Has the stream come to the allocation of this pool memory, and not yet to its release? */
static int is_there(const struct side *side, int device)
{
    const struct allocation *a = zmpi_rt_find(side->p);
    return a == NULL ? !device : a->there;
}

static void run_copy(struct work *work)
{
    const struct copy *c = (struct copy *)work;
    cudaError_t e = zmpi_rt_fault("copy");
    if (e == cudaSuccess && (!is_there(&c->dst, c->to_device) ||
                             (c->src.p != NULL && !is_there(&c->src, c->from_device)))) {
        fprintf(stderr, "zmpi emulator: a copy from or to memory that is not there\n");
        e = cudaErrorIllegalAddress;
    }
    if (e != cudaSuccess) {
        zmpi_rt_stick(e);
        return;
    }
    zmpi_rt_open(1);
    copy_rows(c);
    zmpi_rt_close();
}

static void destroy_copy(struct work *work)
{
    free(((struct copy *)work)->staged);
    free(work);
}

/* A side's bytes, from the first to behind the last. */
static size_t span(const struct copy *c, const struct side *side)
{
    return (c->depth - 1) * side->slice + (c->height - 1) * side->pitch + c->width;
}

/* Is this side in the kind of memory that the call says, and all of it inside one allocation? */
static cudaError_t check_side(const struct copy *c, const struct side *side, int must_be_host,
                              int must_be_device)
{
    const struct allocation *a = zmpi_rt_find(side->p);
    if (a == NULL)
        return must_be_device ? cudaErrorInvalidValue : cudaSuccess;
    if (span(c, side) > a->size - (size_t)(side->p - a->p))
        return cudaErrorInvalidValue;
    if (must_be_host && a->type == cudaMemoryTypeDevice)
        return cudaErrorInvalidValue;
    if (must_be_device && a->type == cudaMemoryTypeHost)
        return cudaErrorInvalidValue;
    return cudaSuccess;
}

static cudaError_t check_copy(const struct copy *c, enum cudaMemcpyKind kind)
{
    if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    if ((c->height > 1 || c->depth > 1) && (c->dst.pitch < c->width || c->src.pitch < c->width))
        return cudaErrorInvalidPitchValue;
    const int host_from = kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice;
    const int host_to = kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost;
    const int any = kind == cudaMemcpyDefault;
    cudaError_t e = check_side(c, &c->dst, host_to, !any && !host_to);
    if (e == cudaSuccess)
        e = check_side(c, &c->src, host_from, !any && !host_from);
    return e;
}

static int stage(struct copy *c)
{
    const size_t row = c->width, plane = row * c->height;
    struct copy take = *c;
    c->staged = take.dst.p = malloc(plane * c->depth);
    if (c->staged == NULL)
        return 0;
    take.dst.pitch = row;
    take.dst.slice = plane;
    copy_rows(&take);
    c->src = take.dst;
    return 1;
}

static int is_device(const void *p)
{
    const struct allocation *a = zmpi_rt_find(p);
    return a != NULL && a->type == cudaMemoryTypeDevice;
}

static cudaError_t queue_copy(const struct copy *what, cudaStream_t handle, int wait)
{
    struct zmpi_emu_stream *stream = zmpi_rt_stream(handle);
    if (stream == NULL)
        return cudaErrorInvalidResourceHandle;
    struct copy *c = malloc(sizeof *c);
    if (c == NULL)
        return cudaErrorMemoryAllocation;
    *c = *what;
    c->to_device = is_device(c->dst.p);
    c->from_device = c->src.p != NULL && is_device(c->src.p);
    c->work = (struct work){.run = run_copy, .destroy = destroy_copy};
    if (c->src.p != NULL && c->to_device != c->from_device)
        c->work.copies = c->to_device ? COPY_UP : COPY_DOWN;
    const int to_pageable = zmpi_rt_find(c->dst.p) == NULL;
    const int from_pageable = c->src.p != NULL && zmpi_rt_find(c->src.p) == NULL;
    if (from_pageable && !to_pageable && !stage(c)) {
        free(c);
        return cudaErrorMemoryAllocation;
    }
    zmpi_rt_queue(stream, &c->work);
    return wait || to_pageable ? zmpi_rt_wait(stream) : cudaSuccess;
}

/* wait: the host waits for it, as cudaMemcpy does except for copies inside the device. */
static cudaError_t copy(const struct copy *c, enum cudaMemcpyKind kind, cudaStream_t stream,
                        int wait)
{
    if (c->width == 0 || c->height == 0 || c->depth == 0)
        return cudaSuccess;
    const cudaError_t e = check_copy(c, kind);
    if (e != cudaSuccess)
        return e;
    const struct allocation *to = zmpi_rt_find(c->dst.p), *from = zmpi_rt_find(c->src.p);
    const int inside = to != NULL && to->type == cudaMemoryTypeDevice && from != NULL &&
                       from->type == cudaMemoryTypeDevice;
    return queue_copy(c, stream, wait && !inside);
}

/* ---- the interface ---- */

static struct side side(const void *p, size_t pitch, size_t slice)
{
    return (struct side){(char *)(uintptr_t)p, pitch, slice};
}

static struct copy flat(void *dst, const void *src, size_t size)
{
    return (struct copy){
        .dst = side(dst, 0, 0), .src = side(src, 0, 0), .width = size, .height = 1, .depth = 1};
}

cudaError_t cudaMemcpy(void *dst, const void *src, size_t size, enum cudaMemcpyKind kind)
{
    cudaError_t e = zmpi_rt_enter(__func__);
    const struct copy c = flat(dst, src, size);
    if (e == cudaSuccess)
        e = copy(&c, kind, cudaStreamLegacy, 1);
    return zmpi_rt_leave(e);
}

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t size, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    cudaError_t e = zmpi_rt_enter(__func__);
    const struct copy c = flat(dst, src, size);
    if (e == cudaSuccess)
        e = copy(&c, kind, stream, 0);
    return zmpi_rt_leave(e);
}

cudaError_t cudaMemcpy2DAsync(void *dst, size_t dst_pitch, const void *src, size_t src_pitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind,
                              cudaStream_t stream)
{
    cudaError_t e = zmpi_rt_enter(__func__);
    const struct copy c = {.dst = side(dst, dst_pitch, 0),
                           .src = side(src, src_pitch, 0),
                           .width = width,
                           .height = height,
                           .depth = 1};
    if (e == cudaSuccess)
        e = copy(&c, kind, stream, 0);
    return zmpi_rt_leave(e);
}

/* A position's x is in bytes, because there are no CUDA arrays. */
static struct side box(const struct cudaPitchedPtr *ptr, const struct cudaPos *at)
{
    const size_t slice = ptr->pitch * ptr->ysize;
    return side((char *)ptr->ptr + at->z * slice + at->y * ptr->pitch + at->x, ptr->pitch, slice);
}

cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream)
{
    cudaError_t e = zmpi_rt_enter(__func__);
    if (e == cudaSuccess && (p->srcArray != NULL || p->dstArray != NULL))
        e = cudaErrorInvalidValue;
    if (e == cudaSuccess) {
        const struct copy c = {.dst = box(&p->dstPtr, &p->dstPos),
                               .src = box(&p->srcPtr, &p->srcPos),
                               .width = p->extent.width,
                               .height = p->extent.height,
                               .depth = p->extent.depth};
        e = copy(&c, p->kind, stream, 0);
    }
    return zmpi_rt_leave(e);
}

static cudaError_t fill(void *p, int value, size_t size, cudaStream_t stream)
{
    struct copy c = flat(p, NULL, size);
    c.value = value;
    if (size == 0)
        return cudaSuccess;
    const struct allocation *a = zmpi_rt_find(p);
    if (a == NULL || size > a->size - (size_t)((char *)p - a->p))
        return cudaErrorInvalidValue;
    return queue_copy(&c, stream, 0);
}

cudaError_t cudaMemset(void *p, int value, size_t size)
{
    cudaError_t e = zmpi_rt_enter(__func__);
    if (e == cudaSuccess)
        e = fill(p, value, size, cudaStreamLegacy);
    return zmpi_rt_leave(e);
}

cudaError_t cudaMemsetAsync(void *p, int value, size_t size, cudaStream_t stream)
{
    cudaError_t e = zmpi_rt_enter(__func__);
    if (e == cudaSuccess)
        e = fill(p, value, size, stream);
    return zmpi_rt_leave(e);
}
