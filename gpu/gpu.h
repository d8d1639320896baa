/*
 * gpu.h - what the files of the CUDA plug-in share. plugin.c is the device that zmpi sees; the
 * kernels are kernels.h's.
 *
 * Several threads may call at once. A call borrows a lane (a stream with pinned host memory) and
 * blocks of device memory, which are kept for the next one: cudaMalloc is too slow to be called
 * each time, and waits for all of the device's work.
 */
#ifndef ZMPI_GPU_H
#define ZMPI_GPU_H

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device.h"

/* ---- errors.c ---- */

/* Did the CUDA call succeed? If not, the thread's problem is its name and the error. */
#define GPU_OK(call) gpu_ok((call), #call)
bool gpu_ok(cudaError_t error, const char *call);
/* Of this thread's last failure; "" if there was none. */
const char *gpu_problem(void);
void gpu_problem_clear(void);
/* Did an error make the device useless for the rest of the process? */
bool gpu_broken(void);

/* ---- where.c ---- */

struct gpu_place {
    enum zmpi_memory memory;
    int device;  /* of the GPU's memory; the thread's current one for the host's; -1: unknown */
    bool pinned; /* copies need no staging */
};

struct gpu_place gpu_place_of(const void *address);
enum zmpi_memory gpu_where(const void *address);
/* Has the process a CUDA context? Without one there is no device memory, and the first call that
 * needs one takes long. */
bool gpu_in_use(void);

/* ---- lanes.c ---- */

enum { GPU_PIECE = 4 << 20 }; /* bytes of a pinned buffer */

struct gpu_lane {
    struct gpu_lane *next;
    int device, before; /* the thread's current device, when the lane was borrowed */
    bool fresh;         /* it was made for this call, or memory was: the time says nothing */
    cudaStream_t stream;
    cudaEvent_t event[2]; /* the last copy from or to pinned[i] is done */
    unsigned char *pinned[2];
    unsigned char *answer; /* pinned; kernels' results */
};

/* A lane of the device, which becomes the thread's current one; NULL: the problem says why. */
struct gpu_lane *gpu_lane_borrow(int device);
/* After all that was started on it is done, or given up. */
void gpu_lane_return(struct gpu_lane *lane);

/* ---- memory.c ---- */

/* Device memory of the thread's current device, aligned to 256 bytes; NULL: the problem says why.
 * *fresh (may be NULL) is set if it had to be allocated. */
void *gpu_block_take(int device, size_t bytes, bool *fresh);
void gpu_block_give(void *block); /* NULL is allowed; no work may be using it */

/* ---- transfer.c: copies between host and device, on a lane ---- */

/* Started in order, like other work of the lane's stream; src is not needed any more on return,
 * unless it is pinned: then until gpu_wait. */
bool gpu_upload(struct gpu_lane *lane, void *device, const void *host, size_t bytes, bool pinned);
/* Done on return. */
bool gpu_download(struct gpu_lane *lane, void *host, const void *device, size_t bytes, bool pinned);
bool gpu_wait(struct gpu_lane *lane);
enum zmpi_status gpu_copy(void *dst, const void *src, const struct zmpi_box *box);

#endif
