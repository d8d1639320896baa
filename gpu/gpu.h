/*
 * gpu.h - what the files of the CUDA plug-in share. plugin.c is the device that zmpi sees; the
 * kernels are kernels.h's.
 *
 * Several threads may call at once. A call borrows a lane (a stream with pinned host memory) and
 * blocks of device memory, which are kept for the next one: to allocate takes too long to be done
 * each time.
 */
#ifndef ZMPI_GPU_H
#define ZMPI_GPU_H

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device.h"

#ifndef ZMPI_CUDA_DRIVER /* the emulator is its own */
#define ZMPI_CUDA_DRIVER "libcuda.so.1"
#endif

/* ---- errors.c ---- */

/* Did the CUDA call succeed? If not, the thread's problem is its name and the error. */
#define GPU_OK(call) gpu_ok((call), #call)
bool gpu_ok(cudaError_t error, const char *call);
/* The same for what has failed, and for the driver's errors: the runtime's last one stays. */
void gpu_note(cudaError_t error, const char *call);
/* Of this thread's last failure; "" if there was none. */
const char *gpu_problem(void);
void gpu_problem_clear(void);
/* Did an error make the device useless for the rest of the process? */
bool gpu_broken(void);

/* ---- driver.c ---- */

/* Of an address; unknown memory is the host's. */
struct gpu_memory {
    bool known, gpu; /* to CUDA; managed memory is the GPU's */
    int device;
    void *context; /* NULL: of a pool */
};

/* Makes no context. false: CUDA does not answer. */
bool gpu_query(const void *address, struct gpu_memory *memory);
/* That no other memory of the process has, or will have: a program that resets the device takes
 * what is ours with it. 0: it has none. */
unsigned long long gpu_number(const void *address);
/* Is it the memory that had this number? */
bool gpu_is_still(const void *address, unsigned long long number);
/* Has the process a CUDA context? Without one there is no device memory, and the first call that
 * needs one takes long. Does not start the driver. */
bool gpu_in_use(void);
/* Which of the GPUs threads without a context are given, if the process uses none yet. */
void gpu_prefer(unsigned number);

/* ---- where.c ---- */

struct gpu_place {
    enum zmpi_memory memory;
    void *context;
    int device;  /* of the GPU's memory; -1: unknown */
    bool pinned; /* copies need no staging, at least of the beginning */
};

struct gpu_place gpu_place_of(const void *address);
enum zmpi_memory gpu_where(const void *address);

/* ---- driver.c: the thread's context ---- */

/* One that can work with what is at `place` becomes the current one; false: the problem says why.
 */
bool gpu_context_push(const struct gpu_place *place, void **context);
bool gpu_context_push_own(void *context);
/* The one before becomes it again. */
void gpu_context_pop(void);

/* ---- lanes.c ---- */

#ifdef ZMPI_GPU_PIECE /* tests make it small */
enum { GPU_PIECE = ZMPI_GPU_PIECE };
#else
enum { GPU_PIECE = 4 << 20 }; /* bytes of a pinned buffer */
#endif
enum { GPU_AHEAD = 3 }; /* slices that are under way at a time */
enum { GPU_ANSWER = 256 };

/* A stream that copies, and two buffers for memory that is not pinned. */
struct gpu_way {
    cudaStream_t stream;
    struct gpu_buffer {
        unsigned char *pinned;
        cudaEvent_t copied; /* the last copy from or to it is done */
        bool busy;          /* which must be asked */
        void *to;           /* where what comes from the device is wanted */
        size_t bytes;       /* of that; 0: nothing */
    } buffer[2];
    unsigned next; /* buffer */
    bool direct;   /* the device may still write the program's memory */
};

struct gpu_lane {
    struct gpu_lane *next;
    void *context;
    int device;
    bool pools; /* cudaMallocAsync works */
    bool fresh; /* it was made for this call, or memory was: the time says nothing */
    cudaStream_t stream;
    struct gpu_way way;        /* of the same stream */
    unsigned char *answer;     /* pinned; kernels' results */
    unsigned long long number; /* of that memory */

    /* Beside the stream, made when a call asks for them by gpu_lane_split. */
    bool split;
    struct gpu_way up, down; /* up has the buffers of `way` */
    cudaEvent_t arrived, done[GPU_AHEAD];
};

/* A lane for what is at `place`, whose context becomes the thread's; NULL: the problem says why. */
struct gpu_lane *gpu_lane_borrow(const struct gpu_place *place);
/* From now on the call copies by `up`, after what the lane's stream does so far (memory of a pool
 * is had by that), and by `down`, after what it waits for. */
bool gpu_lane_split(struct gpu_lane *lane);
/* What is started on the lane's stream from now on comes after what the way does so far. */
bool gpu_lane_follow(struct gpu_lane *lane, const struct gpu_way *way);
/* After all that was started on it is done, or given up. */
void gpu_lane_return(struct gpu_lane *lane);

/* ---- memory.c ---- */

/* Device memory for the lane's work, aligned to 256 bytes; NULL: the problem says why. */
void *gpu_block_take(struct gpu_lane *lane, size_t bytes);
void gpu_block_give(void *block); /* NULL is allowed; no work may be using it */
void gpu_blocks_free(void);       /* those that nobody has */

/* ---- transfer.c: copies between host and device, on a lane ---- */

/* Started in order, like other work of the way's stream; src is not needed any more on return,
 * unless it is pinned: then until the lane is returned. */
bool gpu_upload(struct gpu_way *way, void *device, const void *host, size_t bytes, bool pinned);
/* Started in order; there after gpu_drain. */
bool gpu_fetch(struct gpu_way *way, void *host, const void *device, size_t bytes, bool pinned);
bool gpu_drain(struct gpu_way *way);
/* All that was started on the lane's stream is done. */
bool gpu_wait(struct gpu_lane *lane);
enum zmpi_status gpu_copy(void *dst, const void *src, const struct zmpi_box *box);

#endif
